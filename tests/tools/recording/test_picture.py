"""Picture of a recording: contents of panels, and labels."""

import sys

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from places import REPOSITORY
from refusals import cases, refused


def recorded(signals=None, gain: float = 10.0) -> aa.Recording:
    motor = [aa.PDControlConfig(gain, 0.0), aa.DelayConfig(delay_steps=2), aa.MaxEffortClampingConfig(5.0)]
    leg = aa.ActuatedArrays(["hip", "knee"], {".*": motor})
    q, qd, target = np.zeros((3, 2), np.float32)
    with leg.record() if signals is None else leg.record(signals) as log:
        for step in range(20):
            q[:], qd[:] = 0.01 * step, 0.1
            target[:] = 0.2, 0.2 if step < 10 else 0.9
            leg.step(q, qd, target, 0.01)
    return log


def words(panel) -> set[str]:
    return {text.get_text() for text in panel.texts}


def explained(panel) -> list[str]:
    return [text.get_text() for text in panel.get_legend().get_texts()]


def test_one_joint_in_three_panels(tmp_path) -> None:
    log = recorded()
    figure = log.plot("knee", path=tmp_path / "knee.png")
    assert (tmp_path / "knee.png").stat().st_size > 10000
    position, effort, motion, other = figure.axes
    assert words(position) == {"target", "delayed target", "position"}
    assert words(effort) == {"computed", "applied", "limit"} and effort.get_title("left") == "Effort"
    assert explained(effort) == ["limited by ClampingMaxEffort"]
    (shade,) = effort.patches
    # the command of step 10 arrives in step 12
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == pytest.approx((0.12, 0.2))
    assert (motion.get_ylabel(), other.get_ylabel()) == ("power [W]", "velocity [rad/s or m/s]")
    drawn = {tuple(line.get_ydata()) for line in effort.lines}
    assert tuple(log.applied_efforts[:, 0, 1]) in drawn and tuple(log.computed_efforts[:, 0, 1]) in drawn
    assert log.plot(1).get_suptitle() == "robot 0: knee"


def test_all_joints_are_labelled_and_apart() -> None:
    figure = recorded().plot()
    for panel in figure.axes:
        assert words(panel) == {"hip", "knee"}
        low, high = sorted(text.xy[1] for text in panel.texts)
        assert high - low >= 0.0749
    # both end at the same position, and move apart equally
    position = figure.axes[0]
    low, high = position.get_ylim()
    places = [text.xy[1] for text in position.texts]
    assert np.mean(places) == pytest.approx((0.19 - low) / (high - low), abs=1e-3)


def test_what_the_law_asks_for_does_not_crush_what_is_applied() -> None:
    figure = recorded(gain=1000.0).plot("knee")
    assert figure.axes[1].get_ylim() == pytest.approx((-10.0, 10.0))
    assert "computed reaches 780, beyond the panel" in figure.axes[1].get_title("left")


@cases("signals", ("positions",), ("computed_efforts",), ("velocities",), ("faults",))
def test_what_was_not_recorded_is_left_out(signals) -> None:
    assert sum(len(panel.lines) for panel in recorded(signals).plot().axes) == (0 if signals == ("faults",) else 2)


def test_what_is_not_there_is_refused() -> None:
    log = recorded()
    refused(ValueError, lambda: log.plot("toe"), r"joint = 'toe': must be one of \['hip', 'knee'\], or its number")
    refused(ValueError, lambda: log.plot(robot=1), "robot = 1: must be below 1")
    with aa.ActuatedArrays(["hip"], {"hip": [aa.PDControlConfig(1.0, 0.0)]}).record() as empty:
        pass
    refused(ValueError, empty.plot, "no step was recorded")


def test_without_matplotlib_the_extra_is_named(monkeypatch) -> None:
    log = recorded()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    refused(ModuleNotFoundError, log.plot, r"A plot needs matplotlib.*pip install .*\[examples\]")


def rubbed() -> aa.Recording:
    """Two joints with friction that hold still in the first half and slide in the second."""
    friction = aa.FrictionConfig(1.0, assumed_inertia=0.1)
    motor = [aa.PDControlConfig(10.0, 0.0), aa.MaxEffortClampingConfig(5.0), friction]
    leg = aa.ActuatedArrays(["hip", "knee"], {".*": motor})
    q, qd, target = np.zeros((3, 2), np.float32)
    with leg.record() as log:
        for step in range(20):
            qd[:] = 0.0 if step < 10 else 0.5
            target[:] = q + np.float32(0.05)
            leg.step(q, qd, target, 0.01)
            q += qd * np.float32(0.01)
    return log


def test_efforts_of_motor_and_friction_are_drawn_and_sticking_is_shaded() -> None:
    log = rubbed()
    effort = log.plot("knee").axes[1]
    assert words(effort) == {"computed", "motor", "friction", "limit"} and effort.get_title("left") == "Effort"
    assert explained(effort) == ["sticks"]
    drawn = {tuple(line.get_ydata()) for line in effort.lines}
    assert tuple(log.motor_efforts[:, 0, 1]) in drawn and tuple(log.passive_efforts[:, 0, 1]) in drawn
    (shade,) = effort.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == pytest.approx((0.0, 0.09))
    both = log.plot().axes[1]
    assert both.get_title("left") == "Effort before friction" and not both.patches
    assert explained(both) == ["before the clamps"]
    assert tuple(log.motor_efforts[:, 0, 0]) in {tuple(line.get_ydata()) for line in both.lines}


def test_units_are_those_of_the_joints(tmp_path) -> None:
    with aa.Simulation(REPOSITORY / "data" / "robots" / "arm_2dof.usda") as simulation:
        simulation.play()
        arm = aa.ArticulationActuators("/World/Arm")
        with arm.record() as log:
            simulation.step(3)
    log.save(tmp_path / "arm.npz")
    turn, slide = log.joints
    for one in (log, aa.Recording.load(tmp_path / "arm.npz")):
        units = {joint: [panel.get_ylabel() for panel in one.plot(joint).axes[:2]] for joint in (turn, slide, None)}
        assert units[turn] == ["position [rad]", "effort [N·m]"] and units[slide] == ["position [m]", "effort [N]"]
        # each label has the unit of its joint
        assert units[None] == ["position", "effort"]
        position, effort, power = one.plot().axes
        assert words(position) == {f"{turn} [rad]", f"{slide} [m]"}
        assert words(effort) == {f"{turn} [N·m]", f"{slide} [N]"} and words(power) == {turn, slide}
    assert recorded().plot("knee").axes[0].get_ylabel() == "position [rad or m]"
