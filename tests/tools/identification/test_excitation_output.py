import numpy as np
import pytest
from hidden_motors import PENDULUM
from isaacsim.core.experimental.actuators.tools.identification import excitation_output
from isaacsim.core.experimental.actuators.tools.identification.excitation import Excitation, excitation
from isaacsim.core.experimental.actuators.tools.identification.excitation_plan import ExcitationPlan
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from places import ROBOTS


@pytest.fixture(scope="module")
def found() -> Excitation:
    return excitation(ROBOTS / "arm_2dof.usda", plan=ExcitationPlan(seconds=8.0, rate=100.0, kinds=["holds"]))


def test_a_table_becomes_a_log_with_positions(found, tmp_path) -> None:
    excitation_output.save_excitation(found, tmp_path / "commands.csv")
    head, *lines = (tmp_path / "commands.csv").read_text().splitlines()
    assert head == "time,shoulder/command,extension/command" and len(lines) == len(found.time)
    text = [f"{head},shoulder/position,extension/position", *(f"{line},0.1,0.2" for line in lines)]
    (tmp_path / "log.csv").write_text("\n".join(text))
    log = read_logs([tmp_path / "log.csv"], ["shoulder", "extension"])[0]
    np.testing.assert_allclose(log.command, found.command, atol=1e-6)
    np.testing.assert_allclose(log.time, found.time, atol=1e-6)


def test_arrays_are_for_programs(found, tmp_path) -> None:
    excitation_output.save_excitation(found, tmp_path / "commands.npz")
    with np.load(tmp_path / "commands.npz") as arrays:
        assert set(arrays) == {"time", "joints", "command"}
        assert arrays["joints"].tolist() == ["shoulder", "extension"]
        np.testing.assert_array_equal(arrays["command"], found.command)
        np.testing.assert_array_equal(arrays["time"], found.time)


def test_files_are_checked_first(found, tmp_path) -> None:
    with pytest.raises(ValueError, match=r"commands.txt: must end in .csv, .npz"):
        excitation_output.save_excitation(found, tmp_path / "commands.txt")
    with pytest.raises(FileNotFoundError, match="its folder must be there"):
        excitation_output.require_excitation(tmp_path / "there" / "commands.csv")


def test_a_picture_has_a_panel_per_joint_and_two_of_limits(found, tmp_path) -> None:
    pytest.importorskip("matplotlib")
    drawn = excitation_output.plot_excitation(found, tmp_path / "plot.png")
    titles = [panel.get_title("left") for panel in drawn.axes]
    assert titles == ["shoulder", "extension", "Speed, share of the limit", "Effort, share of the limit"]
    assert (tmp_path / "plot.png").stat().st_size > 1000
    assert "holds" in {text.get_text() for text in drawn.axes[0].texts}


def test_a_joint_without_an_effort_limit_is_drawn() -> None:
    pytest.importorskip("matplotlib")
    plan = ExcitationPlan(seconds=8.0, rate=100.0, kinds=["steps"])
    assert len(excitation_output.plot_excitation(excitation(PENDULUM, plan=plan)).axes) == 3
    with pytest.raises(ValueError, match="must end with"):
        excitation_output.plot_excitation(excitation(PENDULUM, plan=plan), "plot.docx")
