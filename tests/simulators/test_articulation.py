"""The articulation over arrays, on the host of arrays: selection, getters, setters, buffers."""

import itertools
from collections.abc import Iterable

import numpy as np
import pytest
import warp as wp
from calls import calls
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.articulation import ArrayArticulation, DofArrays, Robot
from refusals import cases, refused

NAMES = ["hip", "knee", "ankle"]
ROBOTS = 4
# the flat arrays behind getters and setters
STATE = ("positions", "velocities", "position_targets", "velocity_targets", "efforts")
MOVED_ALONG = {"positions": "position_targets", "velocities": "velocity_targets"}
SETTERS, GETTERS = ([f"{verb}_dof_{name}" for name in STATE] for verb in ("set", "get"))
# rows, columns as users write them, and as lists
INDICES = [
    (None, None, [0, 1, 2, 3], [0, 1, 2]),
    ([1], None, [1], [0, 1, 2]),
    (None, [2, 0], [0, 1, 2, 3], [2, 0]),
    ([3, 1], [1], [3, 1], [1]),
    (2, 1, [2], [1]),
    ([True, False, False, True], [False, True, True], [0, 3], [1, 2]),
    (wp.array([0, 2], dtype=wp.int32, device="cpu"), np.array([0]), [0, 2], [0]),
    ([], None, [], [0, 1, 2]),
]


@pytest.fixture
def host() -> ArraysHost:
    made = ArraysHost(NAMES, ROBOTS)
    made.play()
    for start, array in enumerate(vars(made.arrays()).values()):
        array[:] = 100 * start + np.arange(array.size)
    return made


@pytest.fixture
def legs(host: ArraysHost) -> ArrayArticulation:
    return host.articulation("/Robot_.*")


def grid(host: ArraysHost, name: str) -> np.ndarray:
    return getattr(host.arrays(), name).reshape(ROBOTS, len(NAMES)).copy()


def grids(host: ArraysHost, names: Iterable[str]) -> dict[str, np.ndarray]:
    return {name: grid(host, name) for name in names}


@cases(
    "paths, expected",
    ("/Robot_0", [0]),
    ("/Robot_.*", [0, 1, 2, 3]),
    ("/Robot_[13]", [1, 3]),
    (["/Robot_2", "/Robot_0"], [2, 0]),
    (["/Robot_2", "/Robot_.*"], [2, 0, 1, 3]),
    ("/Robot", [0, 1, 2, 3]),
    ("Robot_1", [1]),
    ("/Robot_1/", [1]),
)
def test_paths_select_robots(host, paths, expected) -> None:
    assert host.articulation(paths).paths == [f"/Robot_{i}" for i in expected]


@cases(
    "paths, message",
    ("/Nobody", r"articulation path '/Nobody' matches none .*/Robot"),
    ("/Robot_", "matches none"),
    ("/Robot_1/knee", "matches none"),
    (["/Robot_0", "/Nobody"], "'/Nobody' matches none"),
    ("/Robot_[", "must be a regular expression"),
    ([], "articulation paths are empty"),
)
def test_path_without_a_robot_is_refused(host, paths, message) -> None:
    refused(ValueError, lambda: host.articulation(paths), message)


@pytest.mark.parametrize("path", ["/Robot_{}", "/World/envs/env_{}/Robot"])
def test_a_list_of_paths_costs_as_much_as_it_is_long(path) -> None:
    def select(count: int) -> int:
        robots = [Robot(path.format(i), (), (), ("/World/Robot", ()), env=i, offset=0) for i in range(count)]
        host = Mixed()
        host.robots = lambda: robots
        return calls(ArrayArticulation, host, [robot.path for robot in robots])

    select(16)
    assert select(256) < 5 * select(64)


class Mixed:
    generation = 0

    def robots(self) -> list[Robot]:
        return [
            Robot("/A", ("/A/x",), ("x",), ("/A", ("/A/x",)), env=0, offset=0),
            Robot("/B", ("/B/y",), ("y",), ("/B", ("/B/y",)), env=0, offset=1),
        ]

    def arrays(self) -> DofArrays:
        return DofArrays.zeros(2)


def test_robots_with_different_joints_are_refused() -> None:
    refused(ValueError, lambda: ArrayArticulation(Mixed(), "/."), r"</B> has joints \['y'\], </A> has \['x'\]")


def test_length_is_the_number_of_robots(legs) -> None:
    assert len(legs) == ROBOTS


def test_names_and_counts_are_known_before_play() -> None:
    robots = ArraysHost(NAMES, ROBOTS).articulation("/Robot_.*")
    assert (robots.dof_names, robots.num_dofs, robots.device) == (NAMES, 3, "cpu")


def test_paths_of_joints_are_per_robot(legs) -> None:
    assert legs.dof_paths == [[f"/Robot_{i}/joints/{name}" for name in NAMES] for i in range(ROBOTS)]


@pytest.mark.parametrize(("names", "expected"), [("knee", [1]), (["ankle", "hip"], [2, 0]), ([], []), (("hip",), [0])])
def test_joint_names_become_columns(legs, names, expected) -> None:
    columns = legs.get_dof_indices(names)
    assert (columns.numpy().tolist(), columns.dtype) == (expected, wp.int32)


def test_unknown_joint_lists_the_known_ones(legs) -> None:
    with pytest.raises(ValueError, match=r"'toe': not in </Robot_0>\. Available: \['hip', 'knee', 'ankle'\]"):
        legs.get_dof_indices(["hip", "toe"])


def test_joints_of_one_name_go_by_path() -> None:
    paths = ["/R/left/knee", "/R/right/knee", "/R/hip"]
    robots = ArraysHost(["knee", "knee", "hip"], path="/R", dof_paths=paths).articulation("/R")
    assert robots.get_dof_indices(["/R/right/knee", "hip"]).numpy().tolist() == [1, 2]
    words = r"'knee': not in </R>\. Available: \['/R/left/knee', '/R/right/knee', 'hip'\]"
    refused(ValueError, lambda: robots.get_dof_indices("knee"), words)


@pytest.mark.parametrize(("env_ids", "rows"), [([2], [1]), ([0, 3], [0]), ([1], []), ([], [])])
def test_environments_become_rows(host, env_ids, rows) -> None:
    assert host.articulation(["/Robot_0", "/Robot_2"]).envs_to_rows(env_ids) == rows


@pytest.mark.parametrize("name", STATE)
@pytest.mark.parametrize(("indices", "dof_indices", "rows", "columns"), INDICES)
def test_getter_returns_the_rows_and_columns_asked_for(host, legs, name, indices, dof_indices, rows, columns) -> None:
    got = getattr(legs, f"get_dof_{name}")(indices=indices, dof_indices=dof_indices).numpy()
    np.testing.assert_array_equal(got, grid(host, name)[np.ix_(rows, columns)])


@pytest.mark.parametrize("name", STATE)
@pytest.mark.parametrize(("indices", "dof_indices", "rows", "columns"), INDICES)
def test_setter_writes_those_and_no_others(host, legs, name, indices, dof_indices, rows, columns) -> None:
    expected = grid(host, name)
    expected[np.ix_(rows, columns)] = -1.5
    getattr(legs, f"set_dof_{name}")(-1.5, indices=indices, dof_indices=dof_indices)
    np.testing.assert_array_equal(grid(host, name), expected)


@pytest.mark.parametrize("name", STATE)
def test_setter_places_rows_in_the_order_of_indices(host, legs, name) -> None:
    getattr(legs, f"set_dof_{name}")([[1, 2], [3, 4]], indices=[3, 0], dof_indices=[2, 1])
    assert (grid(host, name)[3, [2, 1]].tolist(), grid(host, name)[0, [2, 1]].tolist()) == ([1, 2], [3, 4])


@pytest.mark.parametrize(("name", "also"), MOVED_ALONG.items())
def test_setting_state_moves_its_targets_along(host, legs, name, also) -> None:
    """As Isaac Sim does, so that drives do not pull back; for what was set only."""
    expected = grid(host, also)
    expected[2, 1] = 0.25
    getattr(legs, f"set_dof_{name}")(0.25, indices=[2], dof_indices=[1])
    np.testing.assert_array_equal(grid(host, also), expected)


@pytest.mark.parametrize("name", STATE)
def test_setter_touches_no_other_quantity(host, legs, name) -> None:
    others = {*vars(host.arrays())} - {name, MOVED_ALONG.get(name)}
    before = grids(host, others)
    getattr(legs, f"set_dof_{name}")(-1.5)
    np.testing.assert_equal(grids(host, others), before)


@pytest.mark.parametrize("getter", GETTERS)
def test_getter_returns_a_copy(host, legs, getter) -> None:
    before = grids(host, vars(host.arrays()))
    getattr(legs, getter)().fill_(-1.0)
    np.testing.assert_equal(grids(host, before), before)


@pytest.mark.parametrize("getter", GETTERS)
def test_getter_returns_float32_on_the_cpu(legs, getter) -> None:
    got = getattr(legs, getter)()
    assert (got.dtype, str(got.device)) == (wp.float32, "cpu")


@pytest.mark.parametrize("setter", SETTERS)
@cases(
    "values, arguments, message",
    (np.nan, {}, "must be finite"),
    ([1.0, 2.0], {}, r"must fit \(4, 3\)"),
    ([1.0, 2.0], {"indices": [0], "dof_indices": [0, 1, 2]}, r"must fit \(1, 3\)"),
    (0.0, {"indices": [4]}, "robot index 4"),
    (0.0, {"dof_indices": [3]}, "DOF index 3"),
    (0.0, {"indices": [-1]}, "robot index -1"),
    (0.0, {"indices": [True, False]}, "robot mask"),
)
def test_wrong_arguments_change_nothing(host, legs, setter, values, arguments, message) -> None:
    before = grids(host, vars(host.arrays()))
    refused(ValueError, lambda: getattr(legs, setter)(values, **arguments), message)
    np.testing.assert_equal(grids(host, before), before)


@pytest.mark.parametrize("getter", [*GETTERS, "get_dof_gains"])
@pytest.mark.parametrize("arguments", [{"indices": [4]}, {"dof_indices": [-1]}])
def test_getter_refuses_indices_out_of_range(legs, getter, arguments) -> None:
    refused(ValueError, lambda: getattr(legs, getter)(**arguments), "must be in 0 … ")


@cases(
    "given, expected",
    ({"stiffnesses": 7.0}, (7.0, None)),
    ({"dampings": 3.0}, (None, 3.0)),
    ({"stiffnesses": 7.0, "dampings": 3.0}, (7.0, 3.0)),
    ({"stiffnesses": 0.0, "dampings": 0.0, "update_default_gains": False}, (0.0, 0.0)),
    ({}, (None, None)),
)
def test_gains_are_set_as_far_as_given(host, legs, given, expected) -> None:
    wanted = [grid(host, "stiffnesses"), grid(host, "dampings")]
    for array, value in zip(wanted, expected, strict=True):
        if value is not None:
            array[1, 2] = value
    legs.set_dof_gains(**given, indices=[1], dof_indices=[2])
    np.testing.assert_array_equal([grid(host, "stiffnesses"), grid(host, "dampings")], wanted)


def test_gains_are_read_back_bit_equal(legs, rng) -> None:
    gains = rng.uniform(0, 1e4, (2, ROBOTS, 3)).astype(np.float32)
    legs.set_dof_gains(*gains)
    np.testing.assert_array_equal([got.numpy() for got in legs.get_dof_gains()], gains)


@pytest.mark.parametrize("bad", [np.nan, [1.0, 2.0]])
def test_wrong_damping_leaves_the_stiffness_alone(host, legs, bad) -> None:
    before = grid(host, "stiffnesses")
    refused(ValueError, lambda: legs.set_dof_gains(1.0, bad), "dampings")
    np.testing.assert_array_equal(grid(host, "stiffnesses"), before)


@cases("paths", "/Robot_.*", "/Robot_2", "/Robot_[02]", "/Robot_[13]", ["/Robot_3", "/Robot_0"], "/Robot_[013]")
@pytest.mark.parametrize("name", ["positions", "velocities", "position_targets", "velocity_targets"])
def test_buffers_hold_the_rows_after_refresh(host, paths, name) -> None:
    robots = host.articulation(paths)
    buffers = robots.buffers()
    getattr(host.arrays(), name)[:] += 0.5
    buffers.refresh()
    np.testing.assert_array_equal(getattr(buffers, name), getattr(robots, f"get_dof_{name}")().numpy())


@pytest.mark.parametrize("paths", ["/Robot_.*", "/Robot_2", "/Robot_[02]", ["/Robot_3", "/Robot_0"], "/Robot_[013]"])
@pytest.mark.parametrize("name", ["efforts", "position_targets", "velocity_targets"])
def test_what_is_written_to_buffers_arrives_after_commit(host, paths, name) -> None:
    robots = host.articulation(paths)
    expected = grid(host, name)
    values = np.arange(len(robots) * 3, dtype=np.float32).reshape(-1, 3) - 50
    expected[[int(path[-1]) for path in robots.paths]] = values
    buffers = robots.buffers()
    buffers.refresh()
    getattr(buffers, name)[:] = values
    buffers.commit()
    np.testing.assert_array_equal(grid(host, name), expected)


def test_efforts_of_others_survive_the_round_trip(host) -> None:
    buffers = host.articulation("/Robot_[013]").buffers()
    host.arrays().efforts[:] = 7.0
    buffers.refresh()
    buffers.efforts[:, 0] = 1.0
    buffers.commit()
    np.testing.assert_array_equal(grid(host, "efforts"), [[1, 7, 7], [1, 7, 7], [7, 7, 7], [1, 7, 7]])


@pytest.mark.parametrize("paths", ["/Robot_.*", "/Robot_2", "/Robot_[02]"])
def test_evenly_spaced_rows_are_the_hosts_memory(host, paths) -> None:
    assert np.shares_memory(host.articulation(paths).buffers().positions, host.arrays().positions)


@pytest.mark.parametrize("paths", [list(order) for order in itertools.permutations(["/Robot_0", "/Robot_1"])])
def test_buffers_are_in_the_order_of_the_paths(host, paths) -> None:
    first = host.articulation(paths).buffers().positions[:, 0]
    assert first.tolist() == [3.0 * int(path[-1]) for path in paths]


def test_buffers_of_robots_without_joints_are_empty() -> None:
    host = ArraysHost([], 2)
    host.play()
    assert host.articulation("/Robot_.*").buffers().positions.shape == (2, 0)


CALLS = [*((getter, ()) for getter in [*GETTERS, "get_dof_gains", "buffers"]), *((s, (0.0,)) for s in SETTERS)]


@pytest.mark.parametrize(("method", "arguments"), [*CALLS, ("set_dof_gains", (0.0, 0.0))])
@pytest.mark.parametrize("stopped", [False, True])
def test_state_needs_running_physics(method, arguments, stopped) -> None:
    host = ArraysHost(NAMES)
    if stopped:
        host.play()
        host.stop()
    with pytest.raises(HostError, match=r"physics is not running.*Call play\(\)"):
        getattr(host.articulation("/Robot"), method)(*arguments)


def test_articulation_made_before_play_works_after() -> None:
    host = ArraysHost(NAMES)
    robots = host.articulation("/Robot")
    host.play()
    host.stop()
    host.play()
    robots.set_dof_positions(0.5)
    assert host.arrays().positions.tolist() == [0.5] * 3


class Growing(ArraysHost):
    def grow(self) -> None:
        self._robots = ArraysHost([*NAMES, "toe"]).robots()


def test_articulation_follows_robots_made_anew() -> None:
    host = Growing(NAMES)
    robots = host.articulation("/Robot")
    host.grow()
    host.play()
    assert (robots.num_dofs, robots.get_dof_positions().numpy().shape) == (4, (1, 4))
