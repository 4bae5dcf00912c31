import dataclasses
from collections.abc import Mapping

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from hidden_motors import ARM, PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.excitation import excitation
from isaacsim.core.experimental.actuators.tools.identification.excitation_plan import ExcitationPlan
from isaacsim.core.experimental.actuators.tools.identification.given_motors import given_motors
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of
from isaacsim.core.experimental.actuators.tools.identification.parts import replay
from places import LOGS, ROBOTS

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
JOINTS = ["shoulder", "extension"]
COULOMB = FitOptions(models=["Coulomb friction"])
GAINS = {"kp": 800.0, "kd": 20.0}


@pytest.mark.slow
def test_two_coupled_joints_are_identified() -> None:
    true = {
        "shoulder": hidden_motor(coulomb=2.0, viscous=1.0, armature=0.2, bias=0.01, **GAINS),
        "extension": hidden_motor(coulomb=3.0, viscous=4.0, armature=0.2, bias=0.005, **GAINS),
    }
    logs = [hidden_log(ARM, true, JOINTS, seed=seed, size=0.3) for seed in (0, 1)]
    told: list[float] = []
    found = identify(
        ARM,
        logs,
        {".*": known_motor(**GAINS)},
        FitOptions(shared=["delay"], models=["as in the file", "viscous friction", "Coulomb friction"]),
        progress=lambda _, share: told.append(share),
    )
    assert found.chosen == "Coulomb friction"
    assert [one.name for one in found.models] == ["as in the file", "viscous friction", "Coulomb friction"]
    assert [one.held_out for one in found.replays] == [False, False]
    for joint in JOINTS:
        for name, tolerance in (("coulomb", 0.05), ("viscous", 0.15), ("delay", 0.1)):
            wanted = value_of(true[joint], name)
            assert value_of(found.motors[joint], name) == pytest.approx(wanted, rel=tolerance), (joint, name)
    assert len({one.value for one in found.estimates if one.name == "delay"}) == 1 and found.error < 2e-3
    assert found.error < 0.1 * found.shipped and not found.disagrees and told == sorted(told) and told[-1] == 1.0


@pytest.mark.slow
def test_friction_is_found_in_a_log_that_often_rests() -> None:
    known = {"hinge": known_motor()}
    sent = excitation(PENDULUM, known, ExcitationPlan(seconds=12.0, rate=100.0, kinds=["holds"]))
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], dt=0.01, command=sent.command)
    found = identify(PENDULUM, [log], known, FitOptions(models=["Coulomb friction"], held_out=0))
    assert value_of(found.motors["hinge"], "coulomb") == pytest.approx(0.4, rel=0.05) and found.error < 5e-4


@pytest.mark.slow
def test_slow_logs_keep_armatures() -> None:
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], dt=0.02)
    found = identify(PENDULUM, [log], {"hinge": known_motor()}, COULOMB)
    assert "armature" not in {one.name for one in found.estimates}
    assert any("do not show armatures" in one for one in found.warnings)
    prior = FitOptions(models=["Coulomb friction"], priors={"armature": (0.03, 0.003)})
    assert value_of(identify(PENDULUM, [log], {"hinge": known_motor()}, prior).motors["hinge"], "armature") == 0.03


@pytest.mark.slow
def test_slow_logs_tell_less_damping_than_is_known() -> None:
    """Gain and viscous friction are one sum there, which the known gain of 2 would exceed: 0.7 is found."""
    time = np.arange(600) / 30
    command = (0.4 * np.sin(0.6 * time**1.7) + 0.2 * np.sign(np.sin(1.3 * time)))[:, None]
    hidden = hidden_motor(kp=20.0, kd=0.7, viscous=0.0, coulomb=0.3, armature=0.0, bias=0.0, delay=0.0)
    log = hidden_log(PENDULUM, {"hinge": hidden}, ["hinge"], dt=1 / 30, noise=0.0, command=command)
    found = identify(PENDULUM, [log], {"hinge": known_motor(kp=20.0, kd=2.0)}, COULOMB)
    # the steps of the simulation that made the log are ten times as long
    assert sum(value_of(found.motors["hinge"], name) for name in ("kd", "viscous")) == pytest.approx(0.7, rel=0.2)
    assert found.error < 0.05 * found.shipped


@pytest.mark.slow
def test_a_joint_at_its_limit_is_named() -> None:
    """The extension cannot go below 0, where its command goes."""
    log = hidden_log(ARM, {name: hidden_motor() for name in JOINTS}, JOINTS, seconds=2.0)
    found = identify(ARM, [log], {".*": known_motor()}, FitOptions(models=["viscous friction"], held_out=0))
    assert any(one.startswith("extension: it is at a position limit") for one in found.warnings), found.warnings


def test_links_that_are_wrong_are_noticed() -> None:
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"])
    found = identify(ARM, [type(log)(log.time, ["shoulder"], log.signals)], {".*": known_motor()}, COULOMB)
    assert found.error > 5e-3


def test_milliseconds_are_refused() -> None:
    """Steps of minutes would be simulated for ever."""
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], seconds=1.0)
    slow = dataclasses.replace(log, time=1e3 * log.time)
    with pytest.raises(ValueError, match=r"time steps by 4 and reaches 996: must be in s, .* --columns time=:ms"):
        identify(PENDULUM, [slow], {"hinge": known_motor()})


def test_bad_arguments_are_refused() -> None:
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], seconds=1.0)
    with pytest.raises(ValueError, match="at least one log"):
        identify(PENDULUM, [])
    with pytest.raises(ValueError, match=r"knee/kp: must match one of the joints hinge"):
        identify(PENDULUM, [log], {"hinge": known_motor()}, FitOptions(parameters=["knee/kp"]))
    with pytest.raises(ValueError, match=r"supply_resistance: the motor has no winding with a voltage"):
        identify(PENDULUM, [log], {"hinge": known_motor()}, FitOptions(parameters=["supply_resistance"]))
    with pytest.raises(ValueError, match="hinge: no motor with a control law"):
        identify(PENDULUM, [log], {"hinge": aa.MotorConfig()})
    with pytest.raises(ValueError, match="held_out = 1: must be less than the 1 logs"):
        identify(PENDULUM, [log], {"hinge": known_motor()}, FitOptions(held_out=1))


@pytest.mark.slow
def test_gains_limits_and_what_joints_share() -> None:
    true = {name: hidden_motor(coulomb=2.0, viscous=1.0, armature=0.2, bias=0.0, kp=700.0, kd=25.0) for name in JOINTS}
    for motor in (true["shoulder"],):
        motor.clamping = [aa.MaxEffortClampingConfig(80.0)]
    logs = [hidden_log(ARM, true, JOINTS, seed=seed, size=0.3) for seed in (0, 1)]
    options = FitOptions(
        gains=True,
        parameters=["shoulder/max_effort", "encoder_bias"],
        shared=[".*/coulomb"],
        bounds={"encoder_bias": (-1e-3, 1e-3)},
        priors={"armature": (0.2, 0.01)},
        models=["Coulomb friction"],
    )
    found = identify(ARM, logs, {".*": known_motor(kp=800.0, kd=20.0)}, options)
    for joint in JOINTS:
        assert value_of(found.motors[joint], "kp") == pytest.approx(700.0, rel=0.05)
        assert abs(value_of(found.motors[joint], "encoder_bias")) <= 1e-3
    assert value_of(found.motors["shoulder"], "max_effort") == pytest.approx(80.0, rel=0.06)
    assert value_of(found.motors["extension"], "max_effort") == 500.0
    assert len({one.value for one in found.estimates if one.name == "coulomb"}) == 1


def servo(torque_constant: float, resistance: float, *others: object) -> aa.MotorConfig:
    winding = aa.ElectricalConfig(torque_constant, resistance, command="voltage")
    return aa.MotorConfig(aa.ServoControlConfig(4.0, 1.0, 12.0, kd=0.05), armature=0.02, others=[winding, *others])


@pytest.mark.slow
def test_a_current_tells_the_winding_of_a_servo() -> None:
    friction, encoder = hidden_motor(coulomb=0.1, viscous=0.05, bias=0.0).others
    true = servo(0.8, 2.0, friction, encoder)
    logged = {"columns": ["current", "velocity"]}
    logs = [hidden_log(PENDULUM, {"hinge": true}, ["hinge"], seed=seed, **logged) for seed in (0, 1)]
    found = identify(PENDULUM, logs, {"hinge": servo(0.6, 3.0)}, FitOptions(gains=True, models=["Coulomb friction"]))
    for name, value in (("torque_constant", 0.8), ("resistance", 2.0), ("viscous", 0.05)):
        assert value_of(found.motors["hinge"], name) == pytest.approx(value, rel=0.03), name
    assert found.fitted_columns == ["position", "current"]
    assert found.unused_columns == ["velocity of hinge is not fitted: it follows from positions."]
    assert found.error < 1e-3


@pytest.mark.slow
def test_a_torque_constant_that_no_column_tells_is_said() -> None:
    true, known = hidden_motor(), known_motor()
    true.others, known.others = [*true.others, aa.ElectricalConfig(0.8, 2.0)], [aa.ElectricalConfig(0.5, 2.0)]
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"])
    options = FitOptions(parameters=["torque_constant"], models=["Coulomb friction"])
    found = identify(PENDULUM, [log], {"hinge": known}, options)
    assert found.warnings[0] == "Kept as in the file, for the logs do not tell: torque_constant of hinge."
    assert found.warnings[1].startswith("No intervals of hinge") and len(found.warnings) == 2
    assert value_of(found.motors["hinge"], "torque_constant") == 0.5 and found.fitted_columns == ["position"]


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e3, -1.0])
def test_a_column_of_another_unit_or_sign_is_left_out(scale) -> None:
    true, known = hidden_motor(), known_motor()
    true.others, known.others = [*true.others, aa.ElectricalConfig(0.8, 2.0)], [aa.ElectricalConfig(0.8, 2.0)]
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"], columns=["current"])
    wrong = type(log)(log.time, log.joints, {**log.signals, "current": scale * log.signals["current"]})
    found = identify(PENDULUM, [wrong], {"hinge": known}, COULOMB)
    (said,) = found.unused_columns
    assert said.startswith("current of hinge is not fitted: simulated less measured is")
    assert found.fitted_columns == ["position"]
    assert value_of(found.motors["hinge"], "coulomb") == pytest.approx(0.4, rel=0.05) and found.error < 1e-3


@pytest.mark.slow
@pytest.mark.skipif(not (LOGS / "arm_logs").exists(), reason="the logs of a real arm are not at hand")
def test_motors_of_a_real_arm_are_found_without_options() -> None:
    """Of an SO-101, whose gripper rests in one log: simulated from the first sample on under other commands."""
    robot = str(ROBOTS / "so101.usda")
    names = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
    given = given_motors(robot, None, names)
    fit, judge = (read_logs(sorted((LOGS / "arm_logs" / part).glob("*.csv")), names) for part in ("fit", "judge"))
    found = identify(robot, fit)
    assert found.chosen == "Coulomb friction"
    assert not any(np.nan_to_num(value_of(motor, "encoder_bias")) for motor in found.motors.values())
    # which holds the elbow under its weight
    assert 0.2 < value_of(found.motors["elbow_flex"], "startup") < 1.2
    # of joints without load the gains that are known
    for joint in ("wrist_roll", "gripper"):
        assert value_of(found.motors[joint], "kp") == value_of(given[joint], "kp")

    def error(motors: Mapping[str, aa.MotorConfig]) -> float:
        logs = [log.evenly(log.dt) for log in judge]
        return float(np.mean([replay(robot, motors, log, held_out=True).errors[:5] for log in logs]))

    assert error(found.motors) < 6.3e-3 < 20e-3 < error(given)
