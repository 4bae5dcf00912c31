"""Cfgs of hobby servos: the servo that BAM identified, as a group and in a stage."""

import dataclasses
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat import isaac_lab
from isaacsim.core.experimental.actuators.compat.isaac_lab.groups import resolve_groups
from isaacsim.core.experimental.actuators.compat.isaac_lab.resolve import DEFAULTS
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from places import ROBOTS
from refusals import cases, refused
from stages import stage_of

MOTOR = isaac_lab.BamMotorCfg(
    model="m6",
    **{"kt": 0.4, "resistance": 2.5, "error_gain": 0.15, "max_pwm": 0.9},
    **{"friction_base": 0.01, "friction_viscous": 0.02, "friction_stribeck": 0.005, "dtheta_stribeck": 2.5},
    **{"alpha": 1.5, "load_friction_motor": 0.1, "load_friction_motor_quad": 0.03},
)
SERVO = isaac_lab.BamActuatorCfg(
    joint_names_expr=["elbow", "wrist"], motor=MOTOR, kp_fw=8.0, vin=7.5, armature={"elbow": 0.004, "wrist": 0.002}
)
NAMES = ["elbow", "wrist"]


def resolved(cfg):
    robot = {name: np.full((1, 2), value, np.float32) for name, value in DEFAULTS.items()}
    return resolve_groups({"arm": cfg}, NAMES, robot, "cpu", "documentation")


def test_stages_of_a_servo() -> None:
    groups = resolved(SERVO)
    assert [name for _, name in groups.actuators] == NAMES
    for (actuator, _), armature in zip(groups.actuators, (0.004, 0.002), strict=True):
        assert actuator.controller == aa.ServoControlConfig(8.0, 0.15, 7.5, 0.9)
        (limit,) = actuator.clamping
        assert limit.max_effort == pytest.approx(7.5 * 0.4 / 2.5)
        winding, friction = actuator.others
        assert winding == aa.ElectricalConfig(0.4, 2.5, voltage=7.5, command="voltage")
        assert isinstance(friction, aa.FrictionConfig) and not friction.quadratic_when_opposed
        assert (friction.coulomb, friction.static, friction.viscous) == (0.01, pytest.approx(0.015), 0.02)
        assert (friction.motor_load, friction.quadratic_motor_load) == (0.1, 0.03)
        assert friction.assumed_inertia == pytest.approx(armature) and actuator.delay is None
    ((name, columns, values),) = groups.properties
    assert (name, columns) == ("armature", [0, 1])
    np.testing.assert_allclose(values, [[0.004, 0.002]], rtol=1e-6)


def test_effort_of_a_servo() -> None:
    quiet = dataclasses.replace(MOTOR, model="m1", friction_base=0.0, friction_viscous=0.0, max_current=0.5)
    for motor, most in ((dataclasses.replace(quiet, max_current=0.0), np.inf), (quiet, 0.5)):
        arrays = aa.ActuatedArrays(NAMES, resolved(SERVO.replace(motor=motor)).actuators)
        position, velocity, target = (
            np.array([values], np.float32) for values in ([0.1, 0.2], [0.5, -0.5], [0.4, 1.5])
        )
        duty = np.clip(8.0 * 0.15 * (target - position), -0.9, 0.9)
        current = np.clip((7.5 * duty - 0.4 * velocity) / 2.5, -most, most)
        np.testing.assert_allclose(arrays.step(position, velocity, target, 0.002), 0.4 * current, rtol=1e-5)


def test_limit_and_delay_of_the_cfg() -> None:
    groups = resolved(SERVO.replace(actuator_effort_limit=0.3, min_delay=1, max_delay=4))
    actuator = groups.actuators[0][0]
    assert actuator.clamping[0].max_effort == pytest.approx(0.3) and actuator.delay.buf_depth == 4
    assert {pattern: (one.low, one.high) for pattern, one in groups.delays.items()} == {
        "elbow": (1, 4),
        "wrist": (1, 4),
    }


def test_backlash() -> None:
    cfg = isaac_lab.BamBacklashActuatorCfg(**vars(SERVO), backlash={"elbow": 0.02})
    for (actuator, _), backlash, armature in zip(resolved(cfg).actuators, (0.02, 0.0), (0.004, 0.002), strict=True):
        winding, play, friction = sorted(actuator.others, key=lambda one: list(KINDS).index(one.KIND))
        assert isinstance(winding, aa.ElectricalConfig) and isinstance(friction, aa.FrictionConfig)
        assert isinstance(play, aa.ElasticTransmissionConfig)
        assert (play.ratio, play.offset, play.targets) == (1.0, 0.0, "joint")
        np.testing.assert_allclose([play.backlash, play.rotor_inertia], [backlash, armature], rtol=1e-6)


def test_joint_has_no_armature_behind_backlash() -> None:
    cfg = isaac_lab.BamBacklashActuatorCfg(
        **vars(SERVO) | {"joint_names_expr": ["hinge"], "armature": 0.004, "actuator_effort_limit": 5.0}, backlash=0.02
    )
    with aa.Simulation(ROBOTS / "pendulum.usda") as sim:
        sim.play()
        robot = aa.Articulation("/World/Pendulum")
        before = robot.get_dof_armatures().numpy()
        with aa.ArticulationActuators.from_groups("/World/Pendulum", {"servo": cfg}):
            assert not robot.get_dof_armatures().numpy().any()
            sim.step(20)
            assert np.isfinite(robot.get_dof_positions().numpy()).all()
        np.testing.assert_array_equal(robot.get_dof_armatures().numpy(), before)
    stage = stage_of(ROBOTS / "pendulum.usda")
    assert isaac_lab.to_usd({"servo": cfg}, stage, "/World/Pendulum", overwrite_existing=True) == []
    assert isaac_lab.groups_of(stage, "/World/Pendulum") == {"servo": cfg}
    hinge = stage.GetPrimAtPath("/World/Pendulum/joints/hinge")
    assert hinge.GetAttribute("physxJointAxis:angular:armature").Get() == pytest.approx(0.004)
    assert [type(one) for one in aa.motors_of(stage)["hinge"].others].count(aa.ElasticTransmissionConfig) == 1


@pytest.mark.parametrize("motor", [SimpleNamespace(**vars(MOTOR)), type("Motor", (), vars(MOTOR))()])
def test_cfg_of_isaac_lab(motor) -> None:
    """Objects of other classes with these names are read, defaults of the class and a class of no model among them."""
    fields = {field.name: getattr(SERVO, field.name) for field in dataclasses.fields(SERVO)} | {"motor": motor}
    theirs = type("BamActuatorCfg", (), fields)()
    expected = [str(vars(one)) for one, _ in resolved(SERVO).actuators]
    assert [str(vars(one)) for one, _ in resolved(theirs).actuators] == expected


@cases(
    "values, message",
    ({"vin_range": (7.0, 8.0)}, "vin_range = (7.0, 8.0): must be None. Leave it out, and randomize the voltage"),
    ({"vin_drop_gain_range": (0.0, 0.1)}, "give the robot a SupplyConfig"),
    ({"delay_hold_prob": 0.5}, "delay_hold_prob = 0.5: must be 0.0. Leave it out: a delay is drawn at each reset"),
    ({"delay_update_period": 3}, "delay_update_period = 3: must be 0."),
    ({"friction": 0.1}, "friction = 0.1: must be None, for the motor has friction. Leave it out."),
    ({"vin": dataclasses.MISSING}, "vin is missing: must be given for a servo. Set it."),
    ({"motor": SimpleNamespace(model="m1", resistance=2.0)}, "motor.kt is missing: must be given for a servo. Set it."),
    ({"motor": dataclasses.replace(MOTOR, model="m9")}, "model = 'm9': must be one of m1"),
    ({"motor": dataclasses.replace(MOTOR, resistance=-1.0)}, "resistance = -1.0"),
)
def test_what_is_not_run_is_refused(values, message) -> None:
    assert message in refused(ValueError, lambda: resolved(SERVO.replace(**values)))


def test_play_that_is_a_joint_is_refused() -> None:
    """As Isaac Lab's development branch has it: its cfg has no value of the play."""
    theirs = type("BamBacklashActuatorCfg", (), dict(vars(SERVO)))
    for kind in (theirs, type("Own", (theirs,), {})):
        with pytest.raises(ValueError, match="its play is that of a joint passive_<joint>_backlash"):
            resolved(kind())


def test_into_a_stage_and_back() -> None:
    stage = stage_of(ROBOTS / "pendulum.usda")
    cfg = SERVO.replace(joint_names_expr=["hinge"], armature=0.004, max_delay=2)
    lost = isaac_lab.to_usd({"servo": cfg}, stage, "/World/Pendulum", overwrite_existing=True)
    assert lost == ["servo: delays from 0 to 2 steps: a prim has one delay, 2"]
    assert isaac_lab.groups_of(stage, "/World/Pendulum") == {"servo": cfg}
    motor = aa.motors_of(stage)["hinge"]
    assert isinstance(motor.controller, aa.ServoControlConfig) and motor.controller.kp == 8.0
    assert motor.armature == pytest.approx(0.004)
    assert [type(one) for one in motor.others] == [aa.ElectricalConfig, aa.FrictionConfig]
