"""Groups of Isaac Lab as a side: the motion of `from_groups`, and notes on what differs from Isaac Lab."""

import dataclasses
import warnings
from contextlib import contextmanager

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.compat import isaac_lab
from isaacsim.core.experimental.actuators.tools.comparison import run as run_module
from isaacsim.core.experimental.actuators.tools.comparison.compare import Comparison, compare
from isaacsim.core.experimental.actuators.tools.comparison.plan import Plan, plan_of
from isaacsim.core.experimental.actuators.tools.comparison.run import Run, run
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, both_driven_alike, side_of
from neural_twin import random_network, write_network
from physics_engines import ENGINES, installed
from places import ROBOTS
from pxr import Usd
from refusals import cases, refused
from seeded_faults import ARM, joint_motors, usd_file

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
BOTH = {"joint_names_expr": [".*"]}
GAINS = {"stiffness": {"shoulder": 150.0, "extension": 900.0}, "damping": {"shoulder": 15.0, "extension": 60.0}}
FRICTIONS = {"friction": 2.0, "dynamic_friction": 1.0, "viscous_friction": 0.5}
MOTOR = isaac_lab.BamMotorCfg(
    model="m4",
    **{"kt": 1.4, "resistance": 0.5, "error_gain": 0.15, "friction_base": 0.2, "friction_viscous": 0.3},
    **{"load_friction_motor": 0.1, "friction_stribeck": 0.1, "dtheta_stribeck": 2.5},
)
SERVO = {"motor": MOTOR, "kp_fw": 32.0, "vin": 24.0, "armature": 0.3, "rules": "documentation"}
CFGS: dict[str, dict] = {
    "implicit": {"all": isaac_lab.ImplicitActuatorCfg(**BOTH, **GAINS, joint_effort_limit=15.0, armature=0.2)},
    "ideal": {"all": isaac_lab.IdealPDActuatorCfg(**BOTH, **GAINS, actuator_effort_limit=20.0, friction=0.5)},
    "motor": {
        "all": isaac_lab.DCMotorCfg(
            **BOTH,
            **GAINS,
            **{"saturation_effort": 4.0, "actuator_effort_limit": 3.0, "actuator_velocity_limit": 20.0},
            gear_ratio=10.0,
            armature={"shoulder": 0.5},
        )
    },
    "frictions": {"all": isaac_lab.IdealPDActuatorCfg(**BOTH, **GAINS, **FRICTIONS)},
    "mixed": {
        "turns": isaac_lab.DelayedPDActuatorCfg(
            joint_names_expr=["sh.*"], stiffness=150.0, damping=15.0, min_delay=3, max_delay=3, joint_velocity_limit=0.4
        ),
        "slides": isaac_lab.ImplicitActuatorCfg(
            joint_names_expr=["ex.*"], stiffness=900.0, damping=60.0, friction=1.0, joint_velocity_limit=0.1
        ),
    },
    "table": {
        "all": isaac_lab.RemotizedPDActuatorCfg(
            **BOTH, **GAINS, rules="3.0", joint_parameter_lookup=[[-1.0, 1.0, 20.0], [1.0, 1.0, 5.0]]
        )
    },
    "servo": {"all": isaac_lab.BamActuatorCfg(**BOTH, **SERVO)},
    "play": {"all": isaac_lab.BamBacklashActuatorCfg(**BOTH, **SERVO, backlash=0.02)},
    "one": {"turns": isaac_lab.IdealPDActuatorCfg(joint_names_expr=["shoulder"], stiffness=150.0, damping=15.0)},
}


def short(first: Side, second: Side) -> Plan:
    return plan_of(first, second, seconds=0.6)


def compared(first: Side, second: Side) -> Comparison:
    first, second, _ = both_driven_alike(first, second)
    return compare(first, second, short(first, second))


def by_groups(groups: dict, side: Side, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Run:
    @contextmanager
    def opened(_: Side):
        with warnings.catch_warnings(), aa.Simulation(side.file, side.dt, engine=side.engine) as simulation:
            warnings.simplefilter("ignore")
            robot = simulation.articulation("/")
            with aa.ArticulationActuators.from_groups("/", groups) as actuators:
                yield simulation, robot, actuators

    with monkeypatch.context() as patched:
        patched.setattr(run_module, "opened", opened)
        return run(Side(side.file, side.engine, side.dt, {}, {}, side.joints), plan)


@cases("engine", *ENGINES)
@cases("name", *CFGS)
def test_it_moves_as_with_groups(name, engine, monkeypatch) -> None:
    side = side_of(ARM, engine=installed(engine), groups=CFGS[name])
    plan = short(side, side)
    ours, theirs = run(side, plan), by_groups(CFGS[name], side, plan, monkeypatch)
    np.testing.assert_array_equal(ours.motion.positions, theirs.motion.positions)
    assert np.ptp(ours.motion.positions, axis=0).max() > 0.05
    left_out = () if name == "implicit" else ("effort limit",)
    for field, values in ours.values.properties.items():
        if field not in left_out:
            assert values == theirs.values.properties[field], field


def test_a_network_has_the_scales_of_its_cfg(tmp_path, monkeypatch) -> None:
    file = write_network(tmp_path / "net.safetensors", random_network("mlp", 4), {})
    cfg = isaac_lab.ActuatorNetMLPCfg(
        **{
            "joint_names_expr": [".*"],
            "network_file": str(file),
            "saturation_effort": 90.0,
            "actuator_velocity_limit": 9.0,
        },
        **{"pos_scale": -2.0, "vel_scale": 0.1, "torque_scale": 30.0, "input_order": "pos_vel", "input_idx": [0, 2]},
    )
    side = side_of(ARM, groups={"all": cfg})
    plan = short(side, side)
    ours, theirs = run(side, plan), by_groups({"all": cfg}, side, plan, monkeypatch)
    np.testing.assert_array_equal(ours.motion.positions, theirs.motion.positions)
    assert np.isfinite(ours.motion.positions).all()


def test_delays_that_are_drawn_have_the_largest() -> None:
    side = side_of(ARM, groups={"legs": isaac_lab.DelayedPDActuatorCfg(**BOTH, **GAINS, min_delay=1, max_delay=3)})
    assert side.motors["shoulder"].delay == aa.DelayConfig(3)
    assert side.remarks == (
        "The motors of Isaac Lab's cfgs are this package's implementation of its models; Isaac Lab does not run.",
        "Isaac Lab draws a delay of 1 to 3 steps for the group legs at each reset: 3 here.",
    )


def test_what_a_cfg_leaves_out_is_that_of_the_robot() -> None:
    values = {"stiffness": {"shoulder": 9.0}, "damping": 1.0, "armature": {"sh.*": 0.5}}
    cfg = {"all": isaac_lab.IdealPDActuatorCfg(**BOTH, **values)}
    file = ROBOTS / "arm_2dof.xml"
    documented, coded = (side_of(file, groups=cfg, rules=rules) for rules in ("documentation", "code"))
    assert documented.motors["extension"].controller == aa.PDControlConfig(2000.0, 1.0)
    assert coded.motors["extension"].controller == aa.PDControlConfig(0.0, 1.0)
    assert documented.motors["shoulder"].armature == 0.5
    assert documented.motors["shoulder"].clamping == [aa.MaxEffortClampingConfig(60.0)]


def test_a_joint_in_no_group_has_no_motor_of_the_file() -> None:
    side = side_of(ARM, groups=CFGS["one"])
    assert side.remarks[-1] == "Joints in no group keep their drives: extension."
    found = compared(side_of(ARM), side)
    assert found.blames[0].cause == "gains" and ("extension", "PD.kp") in found.blames[0].found
    assert found.unexplained == 0.0


def test_drives_against_an_implicit_group(tmp_path) -> None:
    file = ROBOTS / "arm_2dof.xml"
    cfg = isaac_lab.ImplicitActuatorCfg(**BOTH, stiffness=300.0, damping=None)
    drives, lab = side_of(file), side_of(file, groups={"all": cfg})
    assert dict(lab.properties) == {"stiffness": {"shoulder": 300.0, "extension": 300.0}}
    found = compared(drives, lab)
    assert [one.cause for one in found.blames] == ["gains"] and found.unexplained == 0.0
    motors, implicit, changed = both_driven_alike(side_of(ARM), side_of(ARM, groups={"all": cfg}))
    assert changed == ["shoulder", "extension"] and dict(implicit.properties) == {}
    assert implicit.motors["shoulder"].controller == aa.PDControlConfig(300.0, 0.0)
    found = compare(motors, implicit, short(motors, implicit))
    assert {"gains", "effort mode"} <= {one.cause for one in found.blames} and found.unexplained == 0.0


def test_exchanged_joints_keep_the_armature_that_cfgs_leave_out(tmp_path) -> None:
    robot = usd_file(tmp_path, joint_motors())
    shoulder, extension = (
        isaac_lab.IdealPDActuatorCfg(joint_names_expr=[name], stiffness=kp, damping=kd, actuator_effort_limit=most)
        for name, kp, kd, most in (("extension", 200.0, 20.0, 25.0), ("shoulder", 800.0, 60.0, 20.0))
    )
    side = side_of(robot, groups={"turns": shoulder, "slides": extension})
    assert [one.armature for one in side.motors.values()] == [None, None]
    motors = {name: dataclasses.replace(one, delay=None) for name, one in joint_motors().items()}
    found = compared(side_of(robot, motors), side)
    assert [one.cause for one in found.blames] == ["joint order"] and found.unexplained == 0.0


def test_a_motor_without_the_speed_curve_of_the_cfg(tmp_path) -> None:
    stage = Usd.Stage.Open(ARM)
    limit = aa.MaxEffortClampingConfig(30.0)
    aa.add_motors("/World/Arm", {".*": [aa.PDControlConfig(900.0, 60.0), limit]}, stage=stage, overwrite_existing=True)
    stage.Export(str(tmp_path / "arm.usda"))
    stage.Reload()
    limits = {"saturation_effort": 30.0, "actuator_effort_limit": 30.0, "actuator_velocity_limit": 0.7}
    cfg = isaac_lab.DCMotorCfg(**BOTH, stiffness=900.0, damping=60.0, **limits)
    found = compared(side_of(tmp_path / "arm.usda"), side_of(tmp_path / "arm.usda", groups={"all": cfg}))
    assert [one.cause for one in found.blames] == ["limits"] and found.unexplained == 0.0


@cases(
    "given, why",
    ({"groups": {}, "motors": {}}, "motors and groups are both given: must be one of them"),
    ({"groups": 3}, "groups = 3: must be a dictionary"),
    ({"groups": {"a": CFGS["ideal"]["all"], "b": CFGS["ideal"]["all"]}}, "joint shoulder is in groups 'a' and 'b'"),
    (
        {"groups": {"a": isaac_lab.IdealPDActuatorCfg(**BOTH, stiffness="x", damping=1.0)}},
        "stiffness = 'x': must be a num",
    ),
)
def test_what_is_no_side(given, why) -> None:
    refused(ValueError, lambda: side_of(ARM, **given), why)
