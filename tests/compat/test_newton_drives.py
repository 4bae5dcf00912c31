"""newton opens every file that we ship or write, drives all the joints that we drive, and with the same efforts.

Of laws that newton does not know it runs what stands in for them, which does the same as far as the line says.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.compat.isaac_lab import DCMotorCfg, DelayedPDActuatorCfg, to_usd
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.tools.inspection.lint import fix
from newton_drives import Ours, Theirs, compare_with_newton, motion
from places import ROBOTS
from pxr import Sdf
from refusals import cases

with quiet_warp(), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("newton", reason="newton is not installed")
if tuple(map(int, version("newton").split(".")[:2])) < (1, 8):
    pytest.skip("files are opened by newton 1.8", allow_module_level=True)
TOLERANCE = 1e-5
ANYMAL, ARM = "/World/Anymal", "/World/Arm"
JOINTS = [f"{ARM}/joints/{name}" for name in ("shoulder", "extension")]
GEAR = 5.0
MOTORS = {
    ".*_H.*": [
        aa.PDControlConfig({"L.*": 60.0, "R.*": 70.0}, 2.0),
        aa.DCMotorClampingConfig(120.0, 7.5, 80.0),
        aa.DelayConfig(2),
    ],
    # in another order than they act, and with a delay of none
    "[LR]F_KFE": [
        aa.PIDControlConfig(90.0, 5.0, 3.0, 0.2),
        aa.MaxEffortClampingConfig(30.0),
        aa.DCMotorClampingConfig(60.0, 1.0, 40.0),
        aa.DelayConfig(0),
    ],
    "[LR]H_KFE": [aa.PDControlConfig(80.0, 2.0, 1.5), aa.MaxEffortClampingConfig("joint")],
}
GROUPS = {
    "legs": DelayedPDActuatorCfg(
        joint_names_expr=[".*H.."], stiffness=40.0, damping=5.0, max_delay=3, actuator_effort_limit=30.0
    ),
    "knees": DCMotorCfg(
        joint_names_expr=[".*KFE"],
        stiffness=40.0,
        damping=5.0,
        actuator_effort_limit=80.0,
        saturation_effort=120.0,
        actuator_velocity_limit=7.5,
    ),
}


def saved() -> dict:
    aa.save_motors("motors.json", MOTORS)
    return aa.load_motors("motors.json")


def written(folder: Path, robot: str, edit: Callable) -> Path:
    file = folder / f"{robot}.usda"
    stage = open_stage(ROBOTS / f"{robot}.usda")
    flat = type(stage).Open(stage.Flatten())
    edit(flat)
    flat.GetRootLayer().Export(str(file))
    return file


def require_same(file: Path, joints: int) -> None:
    found = compare_with_newton(file)
    assert found.newtons == found.ours and len(found.ours) == joints and found.efforts.min() > 1.0
    assert found.difference <= TOLERANCE


@pytest.mark.parametrize(
    ("robot", "joints"),
    {
        "anymal_c": 12,
        "arm_2dof": 2,
        "franka_panda": 7,
        # one finger follows the other
        "i2rt_yam": 7,
        "pendulum": 1,
        "so101": 6,
        "unitree_g1": 29,
        "unitree_go1": 12,
    }.items(),
)
def test_shipped_robots(robot, joints) -> None:
    require_same(ROBOTS / f"{robot}.usda", joints)


def test_no_shipped_robot_is_left_out() -> None:
    (mark,) = (mark for mark in test_shipped_robots.pytestmark if mark.name == "parametrize")
    assert {robot for robot, _ in mark.args[1]} == {file.stem for file in ROBOTS.glob("*.usda")}


@cases(
    "edit",
    lambda stage: aa.add_motors(ANYMAL, MOTORS, stage=stage, overwrite_existing=True),
    lambda stage: to_usd(GROUPS, stage, ANYMAL, overwrite_existing=True),
    lambda stage: aa.add_motors(ANYMAL, saved(), stage=stage, overwrite_existing=True),
    ids=["motors", "groups", "saved motors"],
)
def test_files_that_we_write(edit, tmp_path) -> None:
    require_same(written(tmp_path, "anymal_c", edit), 12)


def test_motors_of_an_mjcf_file(tmp_path) -> None:
    with aa.Simulation(ROBOTS / "arm_2dof.xml") as sim:
        motors = aa.motors_of(sim)
    require_same(
        written(tmp_path, "arm_2dof", lambda stage: aa.add_motors(ARM, motors, stage=stage, overwrite_existing=True)), 2
    )


@cases("law", aa.GearedPDControlConfig(2.0, 0.1, GEAR, 1.5), aa.GearedPIDControlConfig(2.0, 3.0, 0.1, 0.5, GEAR, 1.5))
def test_a_geared_motor_is_driven_at_the_joint(law, tmp_path) -> None:
    motors = {".*": [law, aa.MaxEffortClampingConfig(200.0)]}
    file = written(tmp_path, "arm_2dof", lambda stage: aa.add_motors(ARM, motors, stage=stage, overwrite_existing=True))
    theirs, ours = Theirs(file, JOINTS), Ours(file, ARM, JOINTS)
    largest = 0.0
    for q, qd, target, qd_target, feedforward in motion(2, 60):
        found = theirs.efforts(q, qd, target, qd_target, feedforward)
        expected = ours.efforts(q, qd, GEAR * target, GEAR * qd_target, feedforward / GEAR)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        largest = max(largest, np.abs(expected).max())
    ours.wrapper.close()
    assert largest > 20.0


@pytest.mark.parametrize("stall", [60.0, float("inf")])
def test_a_motor_that_is_cut_off_is_limited(stall, tmp_path) -> None:
    motors = {".*": [aa.PDControlConfig(60.0, 4.0), aa.DCMotorCutoffClampingConfig(stall, 2.0, 40.0)]}
    file = written(tmp_path, "arm_2dof", lambda stage: aa.add_motors(ARM, motors, stage=stage, overwrite_existing=True))
    theirs, ours = Theirs(file, JOINTS), Ours(file, ARM, JOINTS)
    slow = np.clip(motion(2, 60), -1.9, 1.9)
    found = np.array([(theirs.efforts(*one), ours.efforts(*one)) for one in slow])
    ours.wrapper.close()
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-5, atol=1e-4)
    assert np.abs(found).max() == 40.0


def one_prim(stage) -> None:
    names = [prim.GetName() for prim in stage.GetPrimAtPath(f"{ANYMAL}/Actuators").GetChildren()]
    stage.RemovePrim(f"{ANYMAL}/Actuators")
    aa.add_actuator(
        ANYMAL, names, "all", aa.PDControlConfig(60.0, 4.0), clamping=[aa.MaxEffortClampingConfig(30.0)], stage=stage
    )


def test_a_file_that_lint_corrects(tmp_path) -> None:
    file = written(tmp_path, "anymal_c", one_prim)
    found = compare_with_newton(file)
    assert (len(found.ours), len(found.newtons)) == (12, 1)
    fix(file, tmp_path / "fixed.usda")
    require_same(tmp_path / "fixed.usda", 12)


def geared_as_before(stage) -> None:
    """As version 0.2 wrote it: values before the gear in attributes of newton, and nothing that stands in."""
    for name in ("shoulder", "extension"):
        prim = stage.GetPrimAtPath(f"{ARM}/Actuators/{name}")
        prim.RemoveAppliedSchema("NewtonPDControlAPI")
        prim.AddAppliedSchema("ArticulationGearedPDControlAPI")
        for attribute, value in {"kp": 2.0, "kd": 0.1, "gear": GEAR}.items():
            prim.CreateAttribute(f"newton:{attribute}", Sdf.ValueTypeNames.Float).Set(value)


def test_a_file_that_newton_refuses(tmp_path) -> None:
    """Its motors are laws of ours alone; lint says so, and puts what stands in for them beside them."""
    file, fixed = written(tmp_path, "arm_2dof", geared_as_before), tmp_path / "fixed.usda"
    with pytest.raises(ValueError, match="has no drive schema"):
        Theirs(file, JOINTS)
    corrected, left = fix(file, fixed)
    assert {one.rule for one in corrected} == {"no-stand-in", "earlier-name"} and {one.severity for one in left} == {
        "note"
    }
    assert aa.motors_of(fixed) == aa.motors_of(file) and Theirs(fixed, JOINTS).driven == JOINTS
    stage = open_stage(fixed)
    stage.GetAttributeAtPath(f"{ARM}/Actuators/shoulder.actuator:geared:kp").Set(4.0)
    stage.GetRootLayer().Export(str(tmp_path / "retuned.usda"))
    (finding,) = (one for one in aa.lint(tmp_path / "retuned.usda") if one.severity == "warning")
    assert finding.rule == "no-stand-in" and "newton:kp = 100" in finding.remedy
