"""The shipped node types, each with known numbers."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from graph_stages import CONTROLLER, GRAPH, ON_DEMAND, SETTINGS, STATE, STEP, TICK, graph, node, pulse, stage_with, wire
from isaacsim.core.experimental.actuators import Articulation, Simulation
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import Graph, load_graphs
from isaacsim.core.experimental.actuators.extension.action_graphs.runner.graph import Clock
from refusals import cases

RECORD = "test.Record"
Runs = list[tuple[str, Any]]


def evaluate(*nodes: str, settings: str = SETTINGS, clock: Clock | None = None) -> Graph:
    (made,) = load_graphs(stage_with(graph("".join(nodes), settings=settings)))
    made.evaluate(clock or Clock())
    return made


def shown(runs: Runs, pure_type: str, port: str, *ports: str):
    record = node("A", RECORD, pulse("T.outputs:tick"), wire("token inputs:value", f"P.{port}"))
    made = evaluate(node("T", TICK), node("P", pure_type, *ports), record)
    assert made.errors == []
    return runs[-1][1]


NOW = Clock(time=1.5, delta=0.0625, frame=24.0, total_time=9.5)


def test_playback_tick_tells_the_time(runs) -> None:
    made = evaluate(node("T", TICK), node("A", RECORD, pulse("T.outputs:tick")), clock=NOW)
    assert [made.read(f"{GRAPH}/T.outputs:{port}") for port in ("time", "deltaSeconds", "frame")] == [1.5, 0.0625, 24.0]
    assert len(runs) == 1


@cases("period, ticks", ("", [1, 2, 3, 4, 5, 6]), (" = 1", [1, 2, 3, 4, 5, 6]), (" = 4", [1, 5]))
def test_tick_has_a_period(runs, period, ticks) -> None:
    nodes = node("T", "omni.graph.action.OnTick", f"custom uint inputs:framePeriod{period}")
    (made,) = load_graphs(stage_with(graph(nodes + node("A", RECORD, pulse("T.outputs:tick")))))
    happened = []
    for frame in range(1, 7):
        before = len(runs)
        made.evaluate(NOW)
        happened += [frame] * (len(runs) - before)
    assert happened == ticks
    names = ("time", "deltaSeconds", "frame", "absoluteSimTime", "isPlaying")
    assert [made.read(f"{GRAPH}/T.outputs:{name}") for name in names] == [1.5, 0.0625, 24.0, 9.5, True]


def test_physics_step_tells_durations(runs) -> None:
    made = evaluate(node("S", STEP) + node("A", RECORD, pulse("S.outputs:step")), settings=ON_DEMAND, clock=NOW)
    assert made.read(f"{GRAPH}/S.outputs:deltaSimulationTime") == 0.0625
    assert made.read(f"{GRAPH}/S.outputs:deltaSystemTime") == 0.0
    made.evaluate(NOW)
    assert made.read(f"{GRAPH}/S.outputs:deltaSystemTime") > 0.0 and len(runs) == 2


@cases("reset, expected", ("", 9.5), (" = 0", 9.5), (" = 1", 1.5))
def test_simulation_time_is_reset_on_stop_or_not(runs, reset, expected) -> None:
    nodes = node("P", "isaacsim.core.nodes.IsaacReadSimulationTime", f"custom bool inputs:resetOnStop{reset}")
    wired = wire("token inputs:value", "P.outputs:simulationTime")
    evaluate(node("T", TICK), nodes, node("A", RECORD, pulse("T.outputs:tick"), wired), clock=NOW)
    assert runs == [("A", expected)]


@cases("condition, way", (0, "No"), (1, "Yes"))
def test_branch_goes_one_way(runs, condition, way) -> None:
    made = evaluate(
        node("T", TICK),
        node("C", "omni.graph.nodes.ConstantBool", f"custom bool inputs:value = {condition}"),
        node("B", "omni.graph.action.Branch", pulse("T.outputs:tick"), wire("bool inputs:condition", "C.inputs:value")),
        node("Yes", RECORD, pulse("B.outputs:execTrue")),
        node("No", RECORD, pulse("B.outputs:execFalse")),
    )
    assert [name for name, _ in runs] == [way] and made.errors == []


@cases(
    "kind, text, value",
    ("String", "'/World/Robot'", "/World/Robot"),
    ("Token", "'knee'", "knee"),
    ("Bool", "1", True),
    ("Int", "-7", -7),
    ("Double", "0.1", 0.1),
    ("Float", "0.1", float(np.float32(0.1))),
)
def test_constant_is_its_input(runs, kind, text, value) -> None:
    port = f"custom {kind.lower()} inputs:value = {text}"
    got = shown(runs, f"omni.graph.nodes.Constant{kind}", "inputs:value", port)
    assert got == value and type(got) is type(value)


ARRAY = "omni.graph.nodes.ConstructArray"
NUMBERED = [f"int input{i} = {i}" for i in range(11)]


def custom(ports: list[str]) -> list[str]:
    return [re.sub(r"^(?!reorder)(\S+) ", r"custom \1 inputs:", port) for port in ports]


@cases(
    "ports, expected",
    (["int arraySize = 2", "double input0 = 1", "int input1 = 2"], [1, 2]),
    # the last one repeats, more than asked for are left out, ten comes after nine
    (["int arraySize = 3", "int input0 = 4", "int input1 = 5"], [4, 5, 5]),
    (["int input0 = 4", "int input1 = 5"], [4]),
    (["int arraySize = 11", *NUMBERED], list(range(11))),
    (["int arraySize = 3", *NUMBERED[:3], 'reorder properties = ["inputs:input2", "inputs:input1"]'], [0, 1, 2]),
    (["int arraySize = 0"], []),
    (["token input0 = 'a'"], ["a"]),
    (["token arrayType = 'double[3][]'", "double3 input0 = (1, 2, 3)"], [[1, 2, 3]]),
    (["int arraySize = 3", "token input0 = 'a'"], ["a", "a", "a"]),
    (["int arraySize = 100000", "int input0 = 7"], [7] * 100_000),
    (["token arrayType = 'double[3][]'", "int arraySize = 2", "double3 input0 = (1, 2, 3)"], [[1, 2, 3], [1, 2, 3]]),
)
def test_array_is_made_of_its_inputs(runs, ports, expected) -> None:
    np.testing.assert_array_equal(shown(runs, ARRAY, "outputs:array", *custom(ports)), expected)


@cases("array_type, dtype", ("auto", np.float64), ("float[]", np.float32), ("half[]", np.float16))
def test_array_has_its_type(runs, array_type, dtype) -> None:
    ports = [f"custom token inputs:arrayType = '{array_type}'", "custom double inputs:input0 = 0.1"]
    assert shown(runs, ARRAY, "outputs:array", *ports).dtype == dtype


@cases(
    "ports, message",
    (["int arraySize = -1"], "arraySize = -1: must be >= 0 and <= 100000."),
    (["int arraySize = 2000000000", "int input0 = 1"], "must be >= 0 and <= 100000."),
    (["token arrayType = 'any[]'", "int[] input0 = [1]"], "'any[]': must name an array"),
    (["int arraySize = 2", "int input0 = 1", "int input1"], "input1 has no"),
    (["double3 input0 = (1, 2, 3)"], "arrayType = 'auto': must name an array here"),
    (["token arrayType = 'double'", "int input0 = 1"], "arrayType = 'double': must name"),
    (["token arrayType = 'int[]'", "token input0 = 'a'"], "must be int[]. Give integers"),
)
def test_array_that_cannot_be_made_is_an_error(runs, ports, message) -> None:
    made = evaluate(
        node("T", TICK),
        node("P", ARRAY, *custom(ports)),
        node("A", RECORD, pulse("T.outputs:tick"), wire("token inputs:value", "P.outputs:array")),
    )
    assert message in made.errors[0] and runs == []


@cases(
    "name, port, expected, dtype",
    ("ToFloat", "double[] inputs:value = [0.1, 2]", np.float32([0.1, 2]), np.float32),
    ("ToFloat", "double inputs:value = 0.1", float(np.float32(0.1)), None),
    ("ToFloat", "int inputs:value = 3", 3.0, None),
    ("ToDouble", "float[] inputs:value = [0.5]", [0.5], np.float64),
    ("ToDouble", "bool inputs:value = 1", 1.0, None),
    ("ToDouble", "float3 inputs:value = (1, 2, 3)", [1.0, 2.0, 3.0], np.float64),
)
def test_number_is_converted(runs, name, port, expected, dtype) -> None:
    got = shown(runs, f"omni.graph.nodes.{name}", "outputs:converted", f"custom {port}")
    np.testing.assert_array_equal(got, expected)
    assert type(got) is float if dtype is None else got.dtype == dtype


@cases("port, value", ("token inputs:value = 'a'", "'a'"), ("token inputs:value", "None"))
def test_text_is_not_converted(runs, port, value) -> None:
    made = evaluate(
        node("T", TICK),
        node("P", "omni.graph.nodes.ToFloat", f"custom {port}"),
        node("A", RECORD, pulse("T.outputs:tick"), wire("token inputs:value", "P.outputs:converted")),
    )
    assert f"value = {value}: must be a number or several." in made.errors[0] and runs == []


@pytest.fixture
def arm() -> Iterator:
    with Simulation(stage_with(robot="arm_2dof")) as sim:
        sim.play()
        yield Articulation("/World/Arm")


ROBOT = "custom string inputs:robotPath = '/World/Arm'"


def control(*ports: str) -> Graph:
    return evaluate(node("T", TICK), node("C", CONTROLLER, pulse("T.outputs:tick"), *ports))


def test_controller_sets_each_kind_of_command(arm) -> None:
    commands = [
        "custom double[] inputs:positionCommand = [0.5, 0.25]",
        "custom double[] inputs:velocityCommand = [1, 2]",
        "custom double[] inputs:effortCommand = [3, 4]",
    ]
    assert control(ROBOT, *commands).errors == []
    np.testing.assert_array_equal(arm.get_dof_position_targets().numpy(), [[0.5, 0.25]])
    np.testing.assert_array_equal(arm.get_dof_velocity_targets().numpy(), [[1, 2]])
    np.testing.assert_array_equal(arm.get_dof_efforts().numpy(), [[3, 4]])


@cases(
    "joints",
    "custom token[] inputs:jointNames = ['extension']",
    "custom int[] inputs:jointIndices = [1]",
    "custom int[] inputs:jointIndices = [0]\n custom token[] inputs:jointNames = ['extension']",
)
def test_controller_sets_the_joints_it_names(arm, joints) -> None:
    arm.set_dof_position_targets([0.5, 0.25])
    arm.set_dof_velocity_targets([1, 2])
    assert control(ROBOT, joints, "custom double[] inputs:positionCommand = [0.125]").errors == []
    np.testing.assert_array_equal(arm.get_dof_position_targets().numpy(), [[0.5, 0.125]])
    np.testing.assert_array_equal(arm.get_dof_velocity_targets().numpy(), [[1, 2]])


@cases(
    "robot",
    "custom rel inputs:targetPrim = </World/Arm>",
    "custom rel inputs:targetPrim = </World/Nothing>\n custom string inputs:robotPath = '/World/A.*'",
)
def test_controller_finds_the_robot(arm, robot) -> None:
    assert control(robot, "custom double[] inputs:positionCommand = [1, 2]").errors == []
    np.testing.assert_array_equal(arm.get_dof_position_targets().numpy(), [[1, 2]])


@cases(
    "ports, message",
    ([], "robotPath is empty, and so is targetPrim"),
    (["custom string inputs:robotPath = '/World/Leg'"], "'/World/Leg' matches none of the articulations"),
    ([ROBOT, "custom double[] inputs:positionCommand = [1]"], "positionCommand has 1 values for 2 joints"),
    ([ROBOT, "custom token[] inputs:jointNames = ['elbow']"], "joint 'elbow': not in </World/Arm>. Available: "),
    (
        [ROBOT, "custom int[] inputs:jointIndices = [2]", "custom double[] inputs:positionCommand = [1]"],
        "DOF index 2: must be in 0 … 1.",
    ),
    ([ROBOT, "custom double[] inputs:velocityCommand = [1, nan]"], "= nan: must be finite"),
)
def test_wrong_command_is_an_error(arm, ports, message) -> None:
    assert message in control(*ports).errors[0]


def test_state_shows_the_joints(arm) -> None:
    arm.set_dof_positions([0.5, 0.25])
    arm.set_dof_velocities([1, 2])
    picked = "custom int[] inputs:jointIndices = [1, 0]"
    made = evaluate(node("T", TICK), node("S", STATE, pulse("T.outputs:tick"), ROBOT, picked))
    assert made.errors == [] and list(made.read(f"{GRAPH}/S.outputs:jointNames")) == ["extension", "shoulder"]
    np.testing.assert_array_equal(made.read(f"{GRAPH}/S.outputs:jointPositions"), [0.25, 0.5])
    np.testing.assert_array_equal(made.read(f"{GRAPH}/S.outputs:jointVelocities"), [2, 1])


def test_state_of_another_joint_is_an_error(arm) -> None:
    picked = "custom int[] inputs:jointIndices = [-1]"
    made = evaluate(node("T", TICK), node("S", STATE, pulse("T.outputs:tick"), ROBOT, picked))
    assert "DOF index -1: must be in 0 … 1." in made.errors[0]


def test_several_robots_are_commanded_and_shown_at_once() -> None:
    nodes = node("C", CONTROLLER, pulse("T.outputs:tick"), ROBOT, "custom double[] inputs:positionCommand = [1, 2]")
    nodes += node("S", STATE, pulse("T.outputs:tick"), ROBOT)
    with Simulation(stage_with(robot="arm_2dof"), num_envs=2) as sim:
        sim.play()
        arms = Articulation("/World/Arm")
        arms.set_dof_positions([[0.5, 0.25], [0.0, 1.0]])
        made = evaluate(node("T", TICK), nodes)
        np.testing.assert_array_equal(arms.get_dof_position_targets().numpy(), [[1, 2], [1, 2]])
        np.testing.assert_array_equal(made.read(f"{GRAPH}/S.outputs:jointPositions"), [0.5, 0.25, 0.0, 1.0])
