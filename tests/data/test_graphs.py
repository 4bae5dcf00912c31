"""The graphs of `data/graphs`: what their script writes, what they do, and the efforts of calls made by hand."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner
from places import REPOSITORY

FOLDER = REPOSITORY / "data" / "graphs"
SCRIPT = REPOSITORY / "tools" / "write_graphs.py"
NAMES = ["feedforward", "manual_stepping", "pd_from_usd"]
ROBOTS = {"feedforward": "/World/Arm", "manual_stepping": "/World/Pendulum", "pd_from_usd": "/World/Panda"}
POSE = np.array([0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4])
Recorded = tuple[np.ndarray, np.ndarray]
ByHand = Callable[[Simulation, Any], Callable[[int], None]]


def motion(name: str, by_hand: ByHand | None = None, steps: int = 60) -> Recorded:
    """Efforts and positions over time, by the graph or by what is called before each step."""
    efforts, positions = [], []
    with Simulation(FOLDER / f"{name}.usda") as sim:
        robot = Articulation(ROBOTS[name])
        sim.bus.on_pre_step(lambda dt, context: efforts.append(robot.get_dof_efforts().numpy()[0]), order=1)
        sim.play()
        runner = GraphRunner(sim) if by_hand is None else None
        before = by_hand(sim, robot) if by_hand is not None else None
        for step in range(steps):
            if runner is not None:
                runner.run()
            else:
                before(step)
                sim.step()
            positions.append(robot.get_dof_positions().numpy()[0])
        assert runner is None or runner.errors == []
    return np.array(efforts), np.array(positions)


def pd_from_usd(sim: Simulation, arm) -> Callable[[int], None]:
    wrapper = ArticulationActuators("/World/Panda")

    def before(step: int) -> None:
        assert wrapper.faults == []
        if step % 4 == 0:
            arm.set_dof_position_targets(POSE)

    return before


def manual_stepping(sim: Simulation, pendulum) -> Callable[[int], None]:
    wrapper = ArticulationActuators("/World/Pendulum", auto_step_pre_physics=False)

    def before(step: int) -> None:
        pendulum.set_dof_position_targets([0.5])
        wrapper.step_actuators(sim.dt)

    return before


def feedforward(sim: Simulation, arm) -> Callable[[int], None]:
    wrapper = ArticulationActuators("/World/Arm")
    wrapper.set_dof_feedforward_effort_targets([-8.829, 0.0])

    def before(step: int) -> None:
        # it works as long as somebody holds it
        assert wrapper.faults == []

    return before


BY_HAND: dict[str, ByHand] = {
    "feedforward": feedforward,
    "manual_stepping": manual_stepping,
    "pd_from_usd": pd_from_usd,
}


@pytest.mark.parametrize("name", NAMES)
def test_graph_and_calls_by_hand_give_the_same_bits(name) -> None:
    graph, calls = motion(name), motion(name, BY_HAND[name])
    assert np.abs(graph[0]).max() > 1.0
    np.testing.assert_array_equal(graph[0], calls[0])
    np.testing.assert_array_equal(graph[1], calls[1])


def test_pd_takes_the_arm_to_its_targets() -> None:
    _, positions = motion("pd_from_usd", steps=720)
    np.testing.assert_allclose(positions[-1], POSE, atol=0.08)


@pytest.mark.slow
def test_manual_steps_swing_the_pendulum_up() -> None:
    """To where 20 N·m/rad times the error equals the weight of 1 kg at 0.5 m."""
    efforts, positions = motion("manual_stepping", steps=1200)
    angle = positions[-1, 0]
    assert 20 * (0.5 - angle) == pytest.approx(9.81 * 0.5 * np.sin(angle), rel=1e-3)
    assert efforts[-1, 0] == pytest.approx(20 * (0.5 - angle), rel=1e-3)


def test_feedforward_keeps_the_arm_level() -> None:
    """Without it the shoulder would sink."""
    _, positions = motion("feedforward", steps=240)
    np.testing.assert_allclose(positions[-1], 0.0, atol=1e-4)


def test_folder_holds_these_graphs() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.usda")) == NAMES


@pytest.mark.skipif(not SCRIPT.exists(), reason="the packaged extension has the files without the script")
def test_files_are_what_the_script_writes(tmp_path) -> None:
    folder = tmp_path / "graphs"
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == [str(folder / f"{name}.usda") for name in NAMES] and done.stderr == ""
    assert sorted(path.stem for path in folder.iterdir()) == NAMES
    for path in folder.iterdir():
        assert path.read_bytes() == (FOLDER / path.name).read_bytes()
