import time
from concurrent.futures import CancelledError
from types import SimpleNamespace

import numpy as np
import pytest
from hidden_motors import ARM, PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators import motors_of
from isaacsim.core.experimental.actuators.tools.identification.identified import Identified, ModelScore
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.output import save_identified
from isaacsim.core.experimental.actuators.tools.identification.parameters import with_inertia
from isaacsim.core.experimental.actuators.tools.identification.parts import (
    Shipped,
    replay,
    replays_of,
    split,
    where_moving,
)
from physics_engines import installed
from refusals import cases, refused


def log_of(source: str, samples: int = 41) -> MotorLog:
    still = np.full((samples, 1), 0.1)
    return MotorLog(np.arange(samples) * 0.01, ["hinge"], {"command": still, "position": still}, source, {"kp": 3.0})


@cases("count, held_out", (2, 0), (3, 2))
def test_the_last_logs_are_held_out(count, held_out) -> None:
    logs = [log_of(str(number)) for number in range(count)]
    training, validation = split(logs, held_out)
    assert [one.source for one in (*training, *validation)] == [one.source for one in logs]
    assert len(validation) == held_out
    refused(ValueError, lambda: split(logs, count), f"held_out = {count}: must be less than the {count} logs")


@cases("count", 1, 5)
def test_replays_beside_other_work_are_the_same(count) -> None:
    pytest.importorskip("scipy")
    motors, logs = {"hinge": known_motor()}, [log_of(str(number)) for number in range(count)]
    wanted = replays_of(PENDULUM, motors, [], logs)
    with Shipped(PENDULUM, motors, logs) as shipped:
        np.testing.assert_array_equal(shipped.errors(), [one.errors for one in wanted])


def test_errors_before_are_of_logs_in_which_a_joint_moves() -> None:
    still, moving = (SimpleNamespace(moves=lambda joint, at=at: joint < at) for at in (0, 1))
    found = where_moving(np.array([[1.0, 3.0], [2.0, 4.0]]), [still, moving])
    np.testing.assert_array_equal(found, [2.0, np.nan])


def test_what_is_not_waited_for_ends_early() -> None:
    pytest.importorskip("scipy")
    with Shipped(PENDULUM, {"hinge": known_motor()}, [log_of("a.csv", 100_000)]) as shipped:
        began = time.monotonic()
    assert time.monotonic() - began < 1.0
    refused(CancelledError, shipped.errors)


JOINTS = ["extension", "shoulder"]


def test_the_motors_that_made_a_log_repeat_it() -> None:
    motors = {"shoulder": hidden_motor(bias=0.03), "extension": hidden_motor(bias=-0.01)}
    log = hidden_log(ARM, motors, JOINTS, seconds=3.0, noise=0.0)
    found = replay(ARM, motors, log, held_out=True)
    assert found.held_out and found.errors.shape == (2,) and found.errors.max() < 2e-3
    worse = replay(ARM, {**motors, "shoulder": hidden_motor(coulomb=4.0)}, log, held_out=False)
    assert worse.errors[1] > 10 * found.errors[1]


def test_a_part_of_a_log_begins_in_motion() -> None:
    motors = {"shoulder": hidden_motor(), "extension": hidden_motor()}
    log = hidden_log(ARM, motors, JOINTS, seconds=3.0, noise=0.0)
    rows = slice(500, None)
    late = MotorLog(log.time[rows], JOINTS, {name: one[rows] for name, one in log.signals.items()})
    found = replay(ARM, motors, late, held_out=True)
    assert np.abs(found.positions[:20] - late.position[:20]).max() < 0.02 and found.errors.max() < 5e-3


def test_errors_are_those_of_physx(tmp_path) -> None:
    installed("physx")
    gains = {"kp": 800.0, "kd": 20.0, "armature": 0.2}
    true = {name: hidden_motor(coulomb=8.0, bias=0.01, **gains) for name in JOINTS}
    log = hidden_log(ARM, true, JOINTS, seconds=4.0, size=0.3)
    found = {name: with_inertia(hidden_motor(coulomb=1.0, viscous=1.0, bias=0.01, **gains), 0.7) for name in JOINTS}
    models = [ModelScore("Coulomb friction", (), 0.0, 0.0)]
    save_identified(Identified(ARM, tuple(JOINTS), found, [], models, models[0].name), tmp_path / "motors.usda")
    motors = motors_of(tmp_path / "motors.usda")
    ours, theirs = (replay(ARM, motors, log, held_out=True, engine=engine).errors for engine in ("mujoco", "physx"))
    assert ours.min() > 2e-3
    np.testing.assert_allclose(theirs, ours, rtol=0.05)
