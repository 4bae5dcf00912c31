"""Motors by pattern: which joints they drive, with which values, and the same efforts as by every other way."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from checkpoint_files import write_mlp
from isaacsim.core.experimental.actuators import (
    ActuatorConfig,
    Articulation,
    ArticulationActuators,
    ClampingMaxEffort,
    ControllerPD,
    DCMotorClampingConfig,
    Delay,
    DelayConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    NeuralControlConfig,
    PDControlConfig,
    PositionBasedClampingConfig,
    Simulation,
    add_motors,
    motors_of,
    use_host,
)
from isaacsim.core.experimental.actuators.hosts.arrays import ArraysHost
from places import ROBOTS as FILES
from stages import stage_of

NAMES = ["l_hip", "r_hip", "l_knee", "r_knee"]
ROBOTS = 3
ALL = "/Robot_.*"


@pytest.fixture
def host() -> Iterator[Any]:
    """Three robots whose targets are 1 everywhere, physics running."""
    made = ArraysHost(NAMES, ROBOTS)
    with use_host(made):
        made.play()
        arrays = made.arrays()
        assert arrays is not None
        arrays.position_targets[:] = 1.0
        yield made


def efforts(host: Any, motors: Any, steps: int = 1) -> np.ndarray:
    """Efforts of all robots and joints after some steps of these motors."""
    with ArticulationActuators.from_configs(ALL, motors):
        for _ in range(steps):
            host.step(0.01)
        return host.arrays().efforts.reshape(ROBOTS, -1).copy()


def problems(motors: Any) -> list[str]:
    with pytest.raises(ValueError) as caught:
        ArticulationActuators.from_configs(ALL, motors)
    return str(caught.value).splitlines()


def test_patterns_match_names_in_full(host: Any) -> None:
    """`hip` is no pattern for `l_hip`; every joint takes the motor of its pattern."""
    assert efforts(host, {".*_hip": [PDControlConfig(5.0, 0.0)], "[lr]_knee": [PDControlConfig(7.0, 0.0)]}).tolist() == [
        [5, 5, 7, 7]
    ] * 3
    assert "'hip' matches no joint" in problems({"hip": [PDControlConfig(5.0, 0.0)]})[0]


def test_actuators_are_one_for_each_motor_in_joint_order(host: Any) -> None:
    """Labels are the patterns, values robot-major over the joints."""
    motors = {".*_knee": [PDControlConfig(7.0, 0.0)], ".*_hip": MotorConfig(PDControlConfig({"l.*": 1, "r.*": 2}, 0))}
    with ArticulationActuators.from_configs(ALL, motors) as wrapper:
        assert [one.label for one in wrapper.actuators] == [".*_hip", ".*_knee"]
        assert [one.dof_names for one in wrapper.actuators] == [tuple(NAMES[:2]), tuple(NAMES[2:])]
        assert wrapper.actuators[0].controller.kp.numpy().tolist() == [1, 2] * ROBOTS


def test_gains_by_pattern_robot_and_joint(host: Any) -> None:
    """Each joint and robot has its own; delays too."""
    motors = {
        ".*_hip": [PDControlConfig({"l.*": 5.0, "r.*": 6.0}, 0.0), DelayConfig({"l.*": 0, "r.*": 2})],
        "l_knee": [PDControlConfig(np.array([1.0, 2.0, 3.0]), 0.0)],
        "r_knee": [PDControlConfig(wp.array([[4.0], [5.0], [6.0]], device="cpu"), 0.0, [7, 8, 9])],
    }
    expected = [[5, 6, 1, 11], [5, 6, 2, 13], [5, 6, 3, 15]]
    assert efforts(host, motors).tolist() == expected
    both = {".*_hip": [PDControlConfig(np.arange(6.0).reshape(3, 2), 0.0)], ".*_knee": [PDControlConfig(0, 0)]}
    assert efforts(host, both)[:, :2].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_delays_differ_between_joints(host: Any) -> None:
    """The ring is as long as the longest of them."""
    motors = {".*": [PDControlConfig(1.0, 0.0), DelayConfig({"l.*": 0, "r.*": 2})]}
    seen = []
    with ArticulationActuators.from_configs(ALL, motors):
        for target in (1.0, 2.0, 3.0):
            host.arrays().position_targets[:] = target
            host.step(0.01)
            seen.append(host.arrays().efforts[:2].tolist())
    assert seen == [[1, 1], [2, 1], [3, 1]]


def test_joints_without_a_motor_are_named_and_keep_their_drives(host: Any) -> None:
    """One warning for all of them."""
    host.arrays().stiffnesses[:] = 3.0
    with pytest.warns(UserWarning, match="</Robot_0>: joints r_hip, r_knee have no motor") as caught:
        wrapper = ArticulationActuators.from_configs(ALL, {"l_.*": [PDControlConfig(1.0, 0.0)]})
    assert len(caught) == 1 and caught[0].filename == __file__
    assert host.arrays().stiffnesses[:4].tolist() == [0, 3, 0, 3]
    wrapper.close()


def test_a_motor_without_controller_leaves_the_drive_in_place(host: Any) -> None:
    """It covers its joints nevertheless, and drives none of them."""
    host.arrays().stiffnesses[:] = 3.0
    with ArticulationActuators.from_configs(ALL, {"l_.*": [PDControlConfig(1.0, 0.0)], "r_.*": MotorConfig()}) as made:
        assert made.actuated_dof_indices == [0, 2]
        assert host.arrays().stiffnesses[:4].tolist() == [0, 3, 0, 3]


def test_every_problem_is_told_at_once(host: Any, tmp_path: Path) -> None:
    """Patterns, parts, values, shapes and files, each with its motor."""
    found = problems(
        {
            "hip": [PDControlConfig(-1.0, 0.0)],
            "(": [PDControlConfig(1.0, 0.0)],
            "l_hip": [PDControlConfig({"x": 1.0}, [1.0, 2.0]), DelayConfig(-1)],
            "[lr]_hip": [PDControlConfig(np.ones(2), np.zeros((3, 3)))],
            "r_knee": [MaxEffortClampingConfig(3.0)],
            "l_knee": [PDControlConfig(1, 1), MaxEffortClampingConfig(3.0), MaxEffortClampingConfig(4.0)],
            "l_kne.": [NeuralControlConfig(tmp_path / "none.pt")],
            "r_kne.": MotorConfig(PDControlConfig({"r.*": 1.0}, {"l.*": 1.0}), armature=-1.0, friction={"r.*": -2.0}),
            "r_hip": "motor",
        }
    )
    expected = [
        "'(' must be a regular expression",
        "'hip' matches no joint",
        "l_hip is matched by 'l_hip' and '[lr]_hip'",
        "motors['hip'].controller.kp = -1.0",
        "motors['l_hip'].delay.delay_steps = -1",
        "motors['[lr]_hip']: PDControlConfig.kp has shape (2,): must be (robots,) = (3,)",
        "motors['[lr]_hip']: PDControlConfig.kd has shape (3, 3): must be (robots,) = (3,) or (robots, joints) = (3, 2)",
        "motors['r_knee'] has limits or a delay and no controller",
        "motors['l_knee'] has MaxEffortClampingConfig twice",
        "motors['l_kne.']: model_path = ",
        "motors['r_kne.'].armature = -1.0",
        "motors['r_kne.'].friction['r.*'] = -2.0",
        "motors['r_hip']: motor = 'motor'",
    ]
    text = "\n".join(found)
    assert [part for part in expected if part not in text] == []
    coverage = problems({".*": [PDControlConfig({"x": 1.0, "l.*": 1.0}, 0.0)]})
    assert len(coverage) == 2 and "'x' matches no joint" in coverage[0] and "r_hip, r_knee are matched by none" in coverage[1]


def test_motors_are_a_dictionary(host: Any) -> None:
    """A list says nothing of joints."""
    assert "must be a dictionary" in problems([PDControlConfig(1.0, 0.0)])[0]


def test_a_problem_leaves_nothing_behind(host: Any) -> None:
    """Neither callbacks nor drives taken."""
    host.arrays().stiffnesses[:] = 3.0
    before = host.bus.num_callbacks
    problems({".*": [PDControlConfig(-1.0, 0.0)]})
    assert host.bus.num_callbacks == before and (host.arrays().stiffnesses == 3.0).all()


def test_networks_are_read_from_where_the_program_says(host: Any, tmp_path: Path) -> None:
    """Relative to where the program is; one file serves all joints."""
    write_mlp(tmp_path / "net.pt")
    from_file = efforts(host, {".*": [NeuralControlConfig("net.pt")]})
    assert from_file.any() and (from_file == from_file[0, 0]).all()


# the same by every way

MOTORS = {
    "[xy]": [PDControlConfig({"x": 12.5, "y": 8.1}, 0.7, 0.3), MaxEffortClampingConfig(3.0)],
    "z": [
        PDControlConfig(20.0, 2.0),
        MaxEffortClampingConfig(4.0),
        DCMotorClampingConfig(9.0, 2.0, 5.0),
        PositionBasedClampingConfig([-0.1, 0.1], [4.5, 3.5]),
        DelayConfig(2),
    ],
}
