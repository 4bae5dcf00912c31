"""The message of a robot without actuators names what drives its joints, and how to get motors."""

from typing import Any

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.files.usd.other_drives import follows, mujoco_actuators
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from small_stages import pendulum

ROBOT = "/World/Robot"


def warning_of(stage: Any) -> str:
    with aa.Simulation(stage), pytest.warns(UserWarning) as caught:
        assert aa.ArticulationActuators(ROBOT).actuators == []
    assert len(caught) == 1 and caught[0].filename == __file__
    return str(caught[0].message)


def test_drives_of_usd_are_named_with_their_gains_in_si() -> None:
    made = pendulum()
    made.drive(f"{ROBOT}/hinge", stiffness=1.0, damping=0.5, maxForce=20.0)
    said = warning_of(made.stage)
    assert f"<{ROBOT}>: no actuator found" in said
    assert "driven by drives of USD, hinge (stiffness 57.2958, damping 28.6479). Describe motors" in said
    assert "[PDControlConfig(57.2958, 28.6479), MaxEffortClampingConfig(20)]" in said


@pytest.mark.filterwarnings("ignore:MjcActuator prims that no joint drive stands for")
def test_actuators_of_mujoco_are_named() -> None:
    made = pendulum()
    made.drive(f"{ROBOT}/hinge", stiffness=0.0, damping=0.0)
    for name, target in (("motor", f"{ROBOT}/hinge"), ("other", "/World/Elsewhere")):
        made.stage.DefinePrim(f"/World/{name}", "MjcActuator").CreateRelationship("mjc:target").SetTargets([target])
    assert "driven by MjcActuator prims, of hinge. Describe motors, `motors = {'hinge': " in warning_of(made.stage)


def test_nothing_is_said_to_be_nothing() -> None:
    made = pendulum()
    said = warning_of(made.stage)
    assert "driven by nothing else." in said
    known = {name: getattr(aa, name) for name in ("MaxEffortClampingConfig", "PDControlConfig")}
    proposed = eval(said.split("`motors = ")[1].split("`")[0], known)
    with aa.Simulation(made.stage):
        assert aa.ArticulationActuators.from_configs(ROBOT, proposed).actuated_dof_indices == [0]


def test_a_host_without_stage_has_none_to_find() -> None:
    with aa.use_host(ArraysHost(["hip"])):
        with pytest.warns(UserWarning, match="there is no USD stage to find any on. Describe motors"):
            aa.ArticulationActuators("/Robot")
        aa.ArticulationActuators("/Robot", _skip_discovery=True)


def test_joints_that_follow_others_need_no_motor() -> None:
    made = pendulum()
    made.body(f"{ROBOT}/other")
    prim = made.joint(f"{ROBOT}/follow", "Revolute", f"{ROBOT}/base", f"{ROBOT}/other")
    prim.AddAppliedSchema("NewtonMimicAPI")
    prim.CreateRelationship("newton:mimicJoint").SetTargets([f"{ROBOT}/hinge"])
    assert "`motors = {'hinge': [PDControlConfig(100, 10)]}` say" in warning_of(made.stage)
    # a drive of the follower is no motor to copy
    made.drive(f"{ROBOT}/follow", stiffness=1.0, damping=0.5)
    assert "`motors = {'hinge': [PDControlConfig(100, 10)]}` say" in warning_of(made.stage)
    # warnings are errors here
    with aa.Simulation(made.stage) as sim:
        sim.play()
        motors = {"hinge": [aa.PDControlConfig(20.0, 2.0), aa.MaxEffortClampingConfig(10.0)]}
        assert aa.ArticulationActuators.from_configs(ROBOT, motors).actuated_dof_indices == [1]


HINGE = "/World/Robot/hinge"


@pytest.mark.parametrize("schema", ["NewtonMimicAPI", "MjcEqualityJointAPI", "PhysxMimicJointAPI:rotX"])
def test_joints_that_follow(schema: str) -> None:
    made = pendulum()
    assert not follows(made.stage, HINGE)
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema(schema)
    assert follows(made.stage, HINGE)
    made.attribute(HINGE, "newton:mimicEnabled", False)
    assert not follows(made.stage, HINGE)


def test_actuators_of_mujoco_by_what_they_act_on() -> None:
    made = pendulum()
    made.stage.DefinePrim("/World/idle", "MjcActuator")
    made.stage.DefinePrim("/World/motor", "MjcActuator").CreateRelationship("mjc:target").SetTargets([HINGE])
    assert mujoco_actuators(made.stage) == {HINGE: "/World/motor"}
