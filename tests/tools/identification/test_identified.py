import dataclasses

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.identified import (
    ColumnUse,
    Identified,
    ModelScore,
    Replay,
)
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog


def replayed(error: float, held_out: bool) -> Replay:
    position = np.zeros((3, 2))
    log = MotorLog(np.arange(3) * 0.01, ["hip", "knee"], {"command": position, "position": position})
    return Replay(log, position + [[0.0, 2 * error]], held_out)


def identified(*replays: Replay, validation: float = 0.001) -> Identified:
    models = [ModelScore("simple", (), 0.5, 0.5), ModelScore("rich", ("coulomb",), 0.002, validation)]
    return Identified("robot.usda", ("hip", "knee"), {}, [], models, "rich", replays)


def test_errors_are_those_of_each_joint() -> None:
    np.testing.assert_allclose(replayed(-0.01, True).errors, [0.0, 0.02])


def test_the_error_is_that_of_what_is_held_out_or_of_all() -> None:
    assert identified(replayed(0.5, False), replayed(0.01, True)).error == pytest.approx(0.01)
    assert identified(replayed(0.03, False), replayed(0.01, False)).error == pytest.approx(0.02)
    assert np.isnan(identified().error)


def test_a_robot_that_is_far_worse_than_its_joints_disagrees() -> None:
    good, bad = identified(replayed(0.002, True)), identified(replayed(0.01, True))
    assert (good.disagrees, bad.disagrees) == (False, True)
    assert not dataclasses.replace(bad, models=[ModelScore("rich", (), 0.01, float("nan"))]).disagrees


def test_columns_are_fitted_or_have_a_reason() -> None:
    assert identified().fitted_columns == ["position"]
    columns = [
        ColumnUse("hip", "current", "A", "", 2.0, 0.1),
        ColumnUse("knee", "current", "A", "the motor has no ElectricalConfig"),
        *(ColumnUse(joint, "velocity", "rad/s", "it follows from positions") for joint in ("hip", "knee")),
    ]
    found = dataclasses.replace(identified(), columns=columns)
    assert found.fitted_columns == ["position", "current"]
    assert found.unused_columns == [
        "current of knee is not fitted: the motor has no ElectricalConfig.",
        "velocity of hip, knee is not fitted: it follows from positions.",
    ]
