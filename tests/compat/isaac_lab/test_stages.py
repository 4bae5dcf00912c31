"""Groups into a stage and back, and the same motion from either."""

from pathlib import Path

import checkpoint_files
import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat import isaac_lab
from neural_twin import random_network, write_network
from places import ROBOTS
from pxr import Sdf, Usd
from refusals import refused
from stages import stage_of

PANDA = "/World/Panda"
SHOULDER = isaac_lab.DCMotorCfg(
    joint_names_expr=["panda_joint[12]"],
    stiffness={"panda_joint1": 300.0, "panda_joint2": 500.0},
    damping=20.0,
    saturation_effort=12.0,
    actuator_effort_limit=8.7,
    actuator_velocity_limit=25.0,
    gear_ratio=10.0,
    armature=0.2,
    friction=0.1,
)
ELBOW = isaac_lab.ImplicitActuatorCfg(
    joint_names_expr=["panda_joint[345]"],
    stiffness=200.0,
    damping=None,
    joint_effort_limit=60.0,
    joint_velocity_limit=3.0,
)
WRIST = isaac_lab.DelayedPDActuatorCfg(
    joint_names_expr=["panda_joint6", "panda_joint7"],
    stiffness=40.0,
    damping=3.0,
    actuator_effort_limit={".*6": 11.0, ".*7": np.inf},
    min_delay=2,
    max_delay=2,
    # it is not cut at the joint's
    rules="documentation",
)
GROUPS = {"shoulder": SHOULDER, "elbow": ELBOW, "wrist": WRIST}


def driven(make, file: Path) -> np.ndarray:
    with aa.Simulation(file) as sim:
        sim.play()
        robot = aa.Articulation(PANDA)
        made = make()
        found: list[np.ndarray] = []
        for step in range(5):
            robot.set_dof_position_targets(np.linspace(-0.5, 0.5, 7, dtype=np.float32) * (step + 1) / 5)
            sim.step(30)
            found.append(robot.get_dof_positions().numpy()[0].copy())
        made.close()
    return np.array(found)


@pytest.mark.parametrize(("written", "asked"), [("/World", PANDA), (PANDA, "/World"), (PANDA, PANDA)])
def test_groups_are_found_wherever_the_robot_has_them(written, asked) -> None:
    stage = stage_of(ROBOTS / "franka_panda.usda")
    isaac_lab.to_usd(GROUPS, stage, written, overwrite_existing=True)
    assert isaac_lab.groups_of(stage, asked).keys() == GROUPS.keys()
    Sdf.CopySpec(stage.GetRootLayer(), PANDA, stage.GetRootLayer(), "/World/Other")
    stage.GetPrimAtPath("/World/Other").RemoveProperty("isaacLab:actuatorGroups")
    refused(ValueError, lambda: isaac_lab.groups_of(stage, "/World/Other"), "Write groups into the stage")


def test_a_stage_with_groups_moves_as_the_groups_do(tmp_path) -> None:
    file = tmp_path / "panda.usda"
    stage = stage_of(ROBOTS / "franka_panda.usda")
    lost = isaac_lab.to_usd(GROUPS, stage, PANDA, overwrite_existing=True)
    stage.Export(str(file))
    assert lost == [
        "shoulder: gear_ratio: limits are those at the joint",
        "shoulder: patterns of joint_names_expr, stiffness: prims name each joint",
        "elbow: patterns of joint_names_expr: prims name each joint",
        "wrist: patterns of joint_names_expr, actuator_effort_limit: prims name each joint",
    ]
    by_groups = driven(lambda: aa.ArticulationActuators.from_groups(PANDA, GROUPS), ROBOTS / "franka_panda.usda")
    np.testing.assert_allclose(driven(lambda: aa.ArticulationActuators(PANDA), file), by_groups, atol=1e-6)
    again = driven(lambda: aa.ArticulationActuators.from_groups(PANDA, isaac_lab.groups_of(stage, PANDA)), file)
    np.testing.assert_allclose(again, by_groups, atol=1e-6)


def test_what_prims_hold() -> None:
    """Limits at the joint, the longest delay; the drives of implicit groups; what no prim can hold comes back too."""
    stage = stage_of(ROBOTS / "franka_panda.usda")
    wrist = isaac_lab.RemotizedPDActuatorCfg(
        joint_names_expr=["panda_joint[67]"],
        stiffness=1.0,
        damping=0.1,
        min_delay=1,
        max_delay=4,
        joint_parameter_lookup=[[-1.0, 2.0, 30.0], [1.0, 3.0, 50.0]],
        rules="documentation",
    )
    lost = isaac_lab.to_usd(
        {"shoulder": SHOULDER, "wrist": wrist, "elbow": ELBOW}, stage, PANDA, overwrite_existing=True
    )
    assert "wrist: delays from 1 to 4 steps: a prim has one delay, 4" in lost
    assert any("transmission ratios" in line for line in lost)
    motors = aa.motors_of(stage, PANDA)
    motor = motors["panda_joint6|panda_joint7"]
    assert motor.delay is not None and motor.delay.delay_steps == 4
    (clamp,) = motor.clamping
    assert vars(clamp) == {"lookup_positions": [-1.0, 1.0], "lookup_efforts": [30.0, 50.0]}
    (clamp,) = motors["panda_joint2"].clamping
    assert [round(value, 4) for value in vars(clamp).values()] == [120.0, 2.5, 87.0]
    assert motors["panda_joint2"].armature == pytest.approx(0.2)
    drive = stage.GetPrimAtPath(f"{PANDA}/joints/panda_joint4")
    assert np.degrees(drive.GetAttribute("drive:angular:physics:stiffness").Get()) == pytest.approx(200.0)
    assert drive.GetAttribute("drive:angular:physics:maxForce").Get() == 60.0
    assert np.radians(drive.GetAttribute("physxJointAxis:angular:maxJointVelocity").Get()) == pytest.approx(3.0)
    assert isaac_lab.groups_of(stage, PANDA) == {"shoulder": SHOULDER, "wrist": wrist, "elbow": ELBOW}


@pytest.mark.parametrize("said", [True, False])
def test_a_normalization_that_the_file_of_a_gru_lacks(said, tmp_path) -> None:
    file = write_network(tmp_path / "net.safetensors", random_network("gru", 2), {})
    cfg = isaac_lab.ActuatorNetGRUCfg(
        joint_names_expr=["hinge"], network_file=str(file), vel_normalization=(0.0, 2.0) if said else (0.0, 1.0)
    )
    stage = stage_of(ROBOTS / "pendulum.usda")
    lost = isaac_lab.to_usd({"leg": cfg}, stage, "/World/Pendulum", overwrite_existing=True)
    assert [line.partition(":")[2].partition(":")[0] for line in lost] == ([" normalization"] if said else [])
    assert isaac_lab.groups_of(stage, "/World/Pendulum")["leg"].vel_normalization == [0.0, 2.0 if said else 1.0]


def test_networks_whose_file_says_less_than_the_cfg(tmp_path) -> None:
    file = tmp_path / "net.pt"
    said = {"pos_scale": 2.0, "vel_scale": 0.5, "torque_scale": 4.0, "input_order": "pos_vel", "input_idx": [0]}
    file.write_bytes(checkpoint_files.checkpoint_file("torchscript", "mlp", said))
    fields = {
        **said,
        **{
            "joint_names_expr": ["hinge"],
            "network_file": str(file),
            "saturation_effort": 9.0,
            "actuator_velocity_limit": 9.0,
        },
    }
    stage = stage_of(ROBOTS / "pendulum.usda")
    cfg = isaac_lab.ActuatorNetMLPCfg(**fields)
    assert isaac_lab.to_usd({"leg": cfg}, stage, "/World/Pendulum", overwrite_existing=True) == []
    assert isaac_lab.groups_of(stage, "/World/Pendulum") == {"leg": cfg}
    other = cfg.replace(pos_scale=3.0, torque_scale=5.0)
    (line,) = isaac_lab.to_usd({"leg": other}, stage, "/World/Pendulum", overwrite_existing=True)
    assert line.startswith("leg: pos_scale, effort_scale: must be in the file of the network")
    filled = cfg.replace(history_fill="first")
    (line,) = isaac_lab.to_usd({"leg": filled}, stage, "/World/Pendulum", overwrite_existing=True)
    assert line.startswith("leg: history_fill: must be in the file of the network")
    assert isaac_lab.groups_of(stage, "/World/Pendulum") == {"leg": filled}
    # as Isaac Lab has its networks: the defaults of metadata would not fit this one
    file = write_network(tmp_path / "bare.safetensors", random_network("mlp", 6), {})
    bare = cfg.replace(network_file=str(file), input_idx=[0, 1, 2])
    (line,) = isaac_lab.to_usd({"leg": bare}, stage, "/World/Pendulum", overwrite_existing=True)
    assert line.startswith("leg: pos_scale, vel_scale, input_order, history_fill, effort_scale, input_idx: must be")


def test_nothing_is_written_where_something_is_wrong() -> None:
    stage = stage_of(ROBOTS / "franka_panda.usda")
    before = stage.GetRootLayer().ExportToString()
    refused(ValueError, lambda: isaac_lab.to_usd(GROUPS, stage, PANDA), "is driven by")
    with pytest.raises(ValueError, match="is in groups 'a' and 'b'"):
        isaac_lab.to_usd({"a": WRIST, "b": WRIST}, stage, PANDA, overwrite_existing=True)
    refused(ValueError, lambda: isaac_lab.groups_of(stage, PANDA), "Write groups into the stage with to_usd")
    assert stage.GetRootLayer().ExportToString() == before
    # a stronger layer authors the armature: what was written before is taken back
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        joint = stage.GetPrimAtPath(f"{PANDA}/joints/panda_joint1")
        joint.CreateAttribute("physxJointAxis:angular:armature", Sdf.ValueTypeNames.Float).Set(0.7)
    refused(RuntimeError, lambda: isaac_lab.to_usd(GROUPS, stage, PANDA, overwrite_existing=True), "has no effect")
    assert stage.GetRootLayer().ExportToString() == before


def test_a_text_that_holds_no_groups() -> None:
    stage = stage_of(ROBOTS / "pendulum.usda")
    root = stage.GetPrimAtPath("/World/Pendulum")
    text = root.CreateAttribute("isaacLab:actuatorGroups", Sdf.ValueTypeNames.String)
    for wrong in ("{", "[]", '{"leg": {}}', '{"leg": {"class": "os.system"}}', '{"leg": {"class": "DCMotorCfg"}}'):
        text.Set(wrong)
        with pytest.raises(ValueError, match=r"must hold groups, but .* Write them anew with to_usd"):
            isaac_lab.groups_of(stage, "/World/Pendulum")


def test_groups_in_place_of_a_motor_do_not_take_its_friction_for_the_joint() -> None:
    stage = Usd.Stage.Open(Usd.Stage.Open(str(ROBOTS / "pendulum.usda")).Flatten())
    joint = next(prim for prim in stage.Traverse() if prim.GetName() == "hinge" and "Joint" in prim.GetTypeName())
    joint.CreateAttribute("newton:friction", Sdf.ValueTypeNames.Float).Set(0.125)
    motor = [aa.PDControlConfig(20.0, 2.0), aa.FrictionConfig(0.5, 0.25)]
    aa.add_motors("/World/Pendulum", {"hinge": motor}, stage=stage, overwrite_existing=True)
    leg = isaac_lab.ImplicitActuatorCfg(joint_names_expr=["hinge"], stiffness=20.0, damping=2.0)
    isaac_lab.to_usd({"leg": leg}, stage, "/World/Pendulum", overwrite_existing=True)
    assert joint.GetAttribute("newton:friction").Get() == 0.125
    assert not joint.GetAttribute("newton:damping").HasAuthoredValue()
