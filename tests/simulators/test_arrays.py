"""The host of arrays only: paths, life cycle, and what it leaves alone."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from refusals import cases, refused

NAMES = ["hip", "knee"]


@cases(
    "arguments, paths",
    ({}, ["/Robot"]),
    ({"num_robots": 3}, ["/Robot_0", "/Robot_1", "/Robot_2"]),
    ({"path": "/World/Leg"}, ["/World/Leg"]),
    ({"path": "/World/Leg", "num_robots": 2}, ["/World/Leg_0", "/World/Leg_1"]),
)
def test_robots_are_named_after_the_path(arguments, paths) -> None:
    assert ArraysHost(NAMES, **arguments).articulation("/.*" if "path" not in arguments else "/World/.*").paths == paths


def test_joints_are_below_their_robot() -> None:
    robots = ArraysHost(NAMES, 2).articulation("/Robot_.*")
    assert robots.dof_paths == [[f"/Robot_{i}/joints/{name}" for name in NAMES] for i in range(2)]


def test_given_joint_paths_move_with_the_robot() -> None:
    robots = ArraysHost(["a", "b"], 2, dof_paths=["/Robot/links/a", "/Joints/b"]).articulation("/Robot_1")
    assert robots.dof_paths == [["/Robot_1/links/a", "/Joints/b"]]


def test_prototype_keeps_the_given_paths() -> None:
    robots = ArraysHost(["a"], 2, dof_paths=["/Robot/links/a"]).articulation("/Robot_.*")
    assert (robots.prototype_path, robots.prototype_dof_paths) == ("/Robot", ["/Robot/links/a"])


def test_robots_are_environments_of_their_own() -> None:
    assert ArraysHost(NAMES, 4).articulation(["/Robot_3", "/Robot_1"]).envs_to_rows([1, 2]) == [1]


def test_arrays_are_zero_after_play() -> None:
    host = ArraysHost(NAMES, 3)
    host.play()
    assert not any(array.any() for array in vars(host.arrays()).values())


def test_arrays_are_float32_of_all_joints() -> None:
    host = ArraysHost(NAMES, 3)
    host.play()
    assert {(array.dtype, array.shape) for array in vars(host.arrays()).values()} == {(np.dtype(np.float32), (6,))}


@pytest.mark.parametrize("stopped", [False, True])
def test_there_are_no_arrays_unless_playing(stopped) -> None:
    host = ArraysHost(NAMES)
    if stopped:
        host.play()
        host.stop()
    assert host.arrays() is None


def test_play_announces_ready_with_arrays_in_place() -> None:
    host = ArraysHost(NAMES)
    seen: list[bool] = []
    host.bus.on_ready(lambda: seen.append(host.arrays() is not None))
    host.play()
    assert seen == [True]


def test_play_is_all_or_nothing() -> None:
    host = ArraysHost(NAMES)
    heard: list[str] = []
    host.bus.on_ready(lambda: heard.append("ready"))
    host.bus.on_ready(lambda: 1 / 0)
    host.bus.on_stop(lambda: heard.append("stop"))
    refused(ZeroDivisionError, host.play)
    assert (heard, host.bus.ready, host.arrays()) == (["ready", "stop"], False, None)


def test_stop_announces_with_arrays_gone() -> None:
    host = ArraysHost(NAMES)
    host.play()
    seen: list[bool] = []
    host.bus.on_stop(lambda: seen.append(host.arrays() is None))
    host.stop()
    assert seen == [True]


def test_step_passes_its_dt_on() -> None:
    host = ArraysHost(NAMES)
    seen: list[float] = []
    host.bus.on_pre_step(lambda dt, _context: seen.append(dt))
    host.play()
    host.step(0.125)
    assert seen == [0.125]


def test_step_leaves_efforts_for_the_caller() -> None:
    host = ArraysHost(NAMES)
    host.play()
    host.arrays().efforts[:] = 5.0
    host.step(0.01)
    assert host.arrays().efforts.tolist() == [5.0, 5.0]


def test_play_starts_from_zero_again() -> None:
    host = ArraysHost(NAMES)
    host.play()
    host.arrays().positions[:] = 1.0
    host.stop()
    host.play()
    assert not host.arrays().positions.any()


def test_stage_is_what_was_given() -> None:
    stage = object()
    assert (ArraysHost(NAMES).stage, ArraysHost(NAMES, stage=stage).stage) == (None, stage)


def test_robot_without_joints_is_possible() -> None:
    host = ArraysHost([])
    host.play()
    assert host.articulation("/Robot").get_dof_positions().numpy().shape == (1, 0)
