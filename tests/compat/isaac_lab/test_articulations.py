"""Whole cfgs of articulations: the groups in them, and the state in which joints begin."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuatorCfg, groups_of, to_usd
from places import ROBOTS
from refusals import cases, refused
from stages import stage_of

PATH = "/World/Arm"
GROUP = IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=50.0, damping=4.0, actuator_effort_limit=30.0)


@dataclass
class InitialStateCfg:
    """With the fields and defaults of Isaac Lab 2.3."""

    pos: tuple[float, ...] = (0.0, 0.0, 0.0)
    rot: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    lin_vel: tuple[float, ...] = (0.0, 0.0, 0.0)
    ang_vel: tuple[float, ...] = (0.0, 0.0, 0.0)
    joint_pos: Any = field(default_factory=lambda: {".*": 0.0})
    joint_vel: Any = field(default_factory=lambda: {".*": 0.0})


@dataclass
class ArticulationCfg:
    prim_path: str = "{ENV_REGEX_NS}/Robot"
    spawn: Any = None
    init_state: InitialStateCfg = field(default_factory=InitialStateCfg)
    actuators: Any = field(default_factory=lambda: {"arm": GROUP})
    soft_joint_pos_limit_factor: float = 1.0


def begun(**state) -> ArticulationCfg:
    return ArticulationCfg(init_state=InitialStateCfg(**state))


def state_of(robot) -> list[list[list[float]]]:
    found = robot.get_dof_positions(), robot.get_dof_position_targets(), robot.get_dof_velocities()
    return [[[round(float(one), 6) for one in row] for row in array.numpy()] for array in found]


@pytest.mark.parametrize("running", [False, True])
def test_joints_begin_as_the_cfg_says(running) -> None:
    cfg = begun(joint_pos={"shou.*": 0.4}, joint_vel={"extension": 0.25})
    begin = [[[0.4, 0.0]] * 3, [[0.4, 0.0]] * 3, [[0.0, 0.25]] * 3]
    with Simulation(ROBOTS / "arm_2dof.usda", num_envs=3) as sim:
        if running:
            sim.play()
        actuators = ArticulationActuators.from_groups(PATH, cfg)
        if not running:
            sim.play()
        robot = Articulation(PATH)
        assert actuators.actuated_dof_indices == [0, 1] and state_of(robot) == begin
        sim.step(30)
        moved = state_of(robot)[0]
        sim.reset([1])
        assert state_of(robot)[0] == [moved[0], [0.4, 0.0], moved[2]]
        sim.reset()
        assert state_of(robot) == begin
        sim.stop()
        sim.play()
        assert state_of(robot) == begin
        actuators.close()
        sim.reset()
        assert state_of(robot)[0] != begin[0]


def test_what_is_not_taken_is_named() -> None:
    cfg = begun(pos=(0.0, 0.0, 0.6), rot=(0.0, 1.0, 0.0, 0.0))
    cfg.spawn, cfg.soft_joint_pos_limit_factor = SimpleNamespace(usd_path="arm.usd"), 0.9
    said = "ArticulationCfg: init_state.pos, init_state.rot, spawn, soft_joint_pos_limit_factor are not taken"
    with Simulation(ROBOTS / "arm_2dof.usda"), pytest.warns(UserWarning, match=said) as told:
        ArticulationActuators.from_groups(PATH, cfg)
    assert [one.filename for one in told] == [__file__]


@cases(
    "state, said",
    ({"joint_pos": {"knee": 0.1}}, "init_state.joint_pos: 'knee' matches no joint"),
    ({"joint_pos": {".*": 0.1, "shoulder": 0.2}}, "init_state.joint_pos: shoulder is matched by"),
    ({"joint_pos": {"shoulder": 99.0}}, "init_state.joint_pos: shoulder = 99: must be within its limits"),
    ({"joint_vel": {"shoulder": float("nan")}}, r"init_state.joint_vel\['shoulder'\] = nan: must be finite"),
    ({"joint_vel": {"shoulder": "fast"}}, r"init_state.joint_vel\['shoulder'\] = 'fast': must be a number"),
    ({"joint_vel": 0.1}, "init_state.joint_vel = 0.1: must be a dictionary"),
)
def test_a_state_that_cannot_be_is_refused(state, said) -> None:
    with Simulation(ROBOTS / "arm_2dof.usda") as sim:
        refused(ValueError, lambda: ArticulationActuators.from_groups(PATH, begun(**state)), said)
        sim.play()
        np.testing.assert_array_equal(Articulation(PATH).get_dof_velocities().numpy(), [[0.0, 0.0]])


def test_no_groups_in_it() -> None:
    with Simulation(ROBOTS / "arm_2dof.usda"), pytest.raises(ValueError, match="groups = None: must be a dictionary"):
        ArticulationActuators.from_groups(PATH, ArticulationCfg(actuators=None))


def test_a_stage_gets_the_groups() -> None:
    stage = stage_of(ROBOTS / "arm_2dof.usda")
    cfg = begun(joint_pos={"shoulder": 0.4}, pos=(0.0, 0.0, 0.6))
    lost = to_usd(cfg, stage, PATH, overwrite_existing=True)
    said = [f"ArticulationCfg: init_state.{name}: motors have no such thing" for name in ("joint_pos", "pos")]
    assert lost[:2] == said and list(groups_of(stage, PATH)) == ["arm"]
