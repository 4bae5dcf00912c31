"""Graphs in a simulation: when they run, what time it is, and how it ends."""

import math
from typing import Any

import numpy as np
import pytest
from graph_stages import ACTUATORS, GRAPH, ON_DEMAND, SETTINGS, STATE, STEP, TICK, graph, node, pulse, stage_with, wire
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphError, GraphRunner
from refusals import cases, refused

RECORD = "test.Record"
ROBOT = "custom string inputs:robotPath = '/World/Pendulum'"
TICKING = graph(
    node("T", TICK) + node("Frame", RECORD, pulse("T.outputs:tick"), wire("token inputs:value", "T.outputs:time"))
)
TIME = wire("token inputs:value", "N.outputs:simulationTime")
STEPPING = graph(
    node("S", STEP)
    + node("N", "isaacsim.core.nodes.IsaacReadSimulationTime")
    + node("Step", RECORD, pulse("S.outputs:step"), TIME),
    settings=ON_DEMAND,
    name="Steps",
)
MOTORS = graph(node("T", TICK) + node("M", ACTUATORS, pulse("T.outputs:tick"), ROBOT))
Runs = list[tuple[str, Any]]


def simulation(*graphs: str, dt: float = 1 / 240) -> Simulation:
    return Simulation(stage_with(*graphs, robot="pendulum"), dt)


@cases(
    "dt, frame_rate, substeps",
    (1 / 240, None, 4),
    (1 / 1000, None, 17),
    (1 / 60, None, 1),
    (1 / 30, None, 1),
    (1 / 240, 30.0, 8),
    (1 / 240, 240.0, 1),
    (0.01, 40.0, 2),
)
def test_frame_is_a_whole_number_of_steps(dt, frame_rate, substeps) -> None:
    """60 Hz where nothing is said, one step at least."""
    with simulation(graph(node("T", TICK)), dt=dt) as sim:
        runner = GraphRunner(sim) if frame_rate is None else GraphRunner(sim, frame_rate)
        assert runner.substeps == substeps and runner.frame_rate == pytest.approx(1 / (substeps * dt))


@cases("frame_rate", 0.0, -60.0, math.nan, math.inf)
def test_frame_rate_must_be_one(frame_rate) -> None:
    with simulation(graph(node("T", TICK))) as sim, pytest.raises(ValueError, match=f"frame_rate = {frame_rate}: must"):
        GraphRunner(sim, frame_rate)


def test_frames_come_before_the_first_of_their_steps(runs) -> None:
    with simulation(STEPPING, TICKING) as sim:
        sim.play()
        GraphRunner(sim, 120.0).run(5)
    assert [name for name, _ in runs] == ["Frame", "Step", "Step", "Frame", "Step", "Step", "Frame", "Step"]


def test_times_are_those_of_the_simulation(runs) -> None:
    with simulation(TICKING, STEPPING) as sim, GraphRunner(sim, 120.0) as runner:
        sim.play()
        runner.run(4)
        tick, step = (f"{path}.outputs:" for path in (f"{GRAPH}/T", "/World/Steps/S"))
        frames, steps = runner.graph(GRAPH), runner.graph("/World/Steps")
        assert frames.read(f"{tick}deltaSeconds") == 2 / 240 and frames.read(f"{tick}frame") == 1.0
        assert steps.read(f"{step}deltaSimulationTime") == 1 / 240
    assert [value for name, value in runs if name == "Frame"] == [0.0, 2 / 240]
    assert [value for name, value in runs if name == "Step"] == [step * (1 / 240) for step in range(4)]


def test_frames_go_on_where_they_were(runs) -> None:
    with simulation(TICKING) as sim, GraphRunner(sim) as runner:
        sim.play()
        for _ in range(5):
            runner.run()
        sim.step(7)
        runner.run(1)
    assert [value for _, value in runs] == [0.0, 4 / 240, 12 / 240]


def test_play_starts_anew_and_simulated_time_goes_on(runs) -> None:
    """Frames are counted since play; the other clock is not reset on stop."""
    with simulation(TICKING, STEPPING) as sim, GraphRunner(sim) as runner:
        for _ in range(2):
            sim.play()
            runner.run(3)
            sim.stop()
    assert [value for name, value in runs if name == "Frame"] == [0.0, 0.0]
    assert [value for name, value in runs if name == "Step"] == pytest.approx([step / 240 for step in range(6)])


def test_graph_on_demand_without_a_demand_does_not_run(runs) -> None:
    with simulation(TICKING.replace(SETTINGS, ON_DEMAND)) as sim, GraphRunner(sim) as runner:
        sim.play()
        runner.run(8)
        assert runner.graph(GRAPH).evaluations == 0 and runs == []


def test_effort_set_at_a_physics_step_acts_in_that_step() -> None:
    controller = "isaacsim.core.nodes.IsaacArticulationController"
    push = node("C", controller, pulse("S.outputs:step"), ROBOT, "custom double[] inputs:effortCommand = [3]")

    def velocity(*nodes: str) -> float:
        with simulation(graph("".join(nodes), settings=ON_DEMAND)) as sim:
            sim.play()
            GraphRunner(sim).run(1)
            return Articulation("/World/Pendulum").get_dof_velocities().numpy()[0, 0]

    # 1 kg at 0.5 m, and 0.01 kg·m² of its own
    assert velocity(node("S", STEP), push) == pytest.approx(3 / 0.26 / 240, rel=1e-3)
    assert velocity(node("S", STEP)) == 0.0


def test_actuators_work_from_the_first_step_on() -> None:
    efforts = []
    with simulation(MOTORS) as sim, GraphRunner(sim) as runner:
        pendulum = Articulation("/World/Pendulum")
        sim.bus.on_pre_step(lambda dt, context: efforts.append(pendulum.get_dof_efforts().numpy()[0, 0]), order=1)
        sim.play()
        pendulum.set_dof_position_targets(0.25)
        runner.run(1)
    # kp = 20
    assert efforts == [5.0]


def test_nodes_see_the_simulation_of_their_runner() -> None:
    with simulation(MOTORS) as sim, GraphRunner(sim) as runner:
        sim.play()
        with Simulation(stage_with(robot="arm_2dof")) as other:
            other.play()
            runner.run(1)
        assert runner.errors == []


def test_one_graph_drives_all_copies() -> None:
    with Simulation(stage_with(MOTORS, robot="pendulum"), num_envs=3) as sim, GraphRunner(sim, 240.0) as runner:
        sim.play()
        Articulation("/World/Pendulum").set_dof_position_targets([[0.1], [0.2], [0.3]])
        runner.run(2)
        # of the first step, kp = 20
        efforts = runner.graph(GRAPH).read(f"{GRAPH}/M.outputs:appliedEfforts")
        np.testing.assert_allclose(efforts, [2, 4, 6], rtol=1e-6)


def test_close_gives_the_robot_back() -> None:
    with simulation(MOTORS) as sim:
        pendulum = Articulation("/World/Pendulum")
        sim.play()
        pendulum.set_dof_gains(7.0, 1.0)
        with GraphRunner(sim) as runner:
            runner.run(1)
            assert pendulum.get_dof_gains()[0].numpy() == 0.0
        assert pendulum.get_dof_gains()[0].numpy() == 7.0
        runner.close()


@cases("steps", 0, 5)
def test_running_needs_play(steps) -> None:
    with simulation(graph(node("T", TICK))) as sim, GraphRunner(sim) as runner:
        if steps:
            refused(HostError, lambda: runner.run(steps), r"call play\(\) before run\(\)")
        else:
            runner.run(steps)
        assert runner.graph(GRAPH).evaluations == 0


def test_steps_must_be_a_number_of_steps() -> None:
    with simulation(graph(node("T", TICK))) as sim, pytest.raises(ValueError, match="steps = -1: must be"):
        GraphRunner(sim).run(-1)


def test_stage_without_graphs_is_an_error() -> None:
    with simulation() as sim, pytest.raises(GraphError, match="no OmniGraph prim that is active"):
        GraphRunner(sim)


def test_unknown_graph_is_an_error_with_the_nearest() -> None:
    with simulation(graph(node("T", TICK))) as sim, pytest.raises(GraphError, match=f"Did you mean {GRAPH}?"):
        GraphRunner(sim).graph("/World/ActionGraf")


def test_errors_of_all_graphs_are_told(runs) -> None:
    broken = [
        graph(node("T", TICK) + node("S", STATE, pulse("T.outputs:tick")).replace("ActionGraph", name), name=name)
        for name in ("ActionGraph", "Second")
    ]
    with simulation(*broken) as sim, GraphRunner(sim) as runner:
        sim.play()
        runner.run(8)
        assert [message.split(">")[0] for message in runner.errors] == [f"<{GRAPH}/S", "</World/Second/S"]


def test_error_in_automatic_steps_stops_the_run(monkeypatch) -> None:
    with simulation(MOTORS) as sim, GraphRunner(sim) as runner:
        sim.play()
        with monkeypatch.context() as patch, pytest.raises(ArithmeticError):
            patch.setattr(ArticulationActuators, "step_actuators", lambda *_: 1 / 0)
            runner.run(1)
        runner.run(4)
        assert "stopped stepping on ZeroDivisionError" in runner.errors[0]


@cases(
    "path, said",
    ("/World/((((.*)*)*)*)*Q", "can take years to try"),
    ("/World/" + "(" * 4000 + ")" * 4000, "must be a regular expression"),
    ("/World" * 5000, "has 30000 characters, must have at most 10000"),
)
def test_hostile_robot_path_is_an_error_of_its_node(path, said) -> None:
    robot = f"custom string inputs:robotPath = '{path}'"
    with simulation(graph(node("T", TICK) + node("M", ACTUATORS, pulse("T.outputs:tick"), robot))) as sim:
        with GraphRunner(sim) as runner:
            sim.play()
            runner.run(8)
            (message,) = runner.errors
    assert message.startswith(f"<{GRAPH}/M>: Articulation Actuators failed with ValueError: articulation path '/World")
    assert said in message and "RecursionError" not in message
