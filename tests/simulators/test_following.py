"""Signals that laws ask for, from a simulator into what its actuators read."""

from typing import Any, ClassVar

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ArticulationActuators, PDControlConfig, Simulation
from isaacsim.core.experimental.actuators.engine.entry import ActuatorConfig
from isaacsim.core.experimental.actuators.laws.contract.base import Passive
from isaacsim.core.experimental.actuators.simulators.binding import Binding
from isaacsim.core.experimental.actuators.simulators.port import JointViews, nothing

from tests.support.places import ROBOTS

pytest.importorskip("mujoco")


@wp.func
def told(effort: float, position: float, velocity: float, inertia: float, load: float, scale: float) -> float:
    """Return what was asked for, instead of an effort."""
    return scale * (inertia + 100.0 * load)


class PassiveTold(Passive):
    ASKS: ClassVar[tuple[str, ...]] = ("inertia", "load")
    PARAMETERS: ClassVar[tuple[str, ...]] = ("scale",)
    LAW: ClassVar[Any] = told


def config(robots: int, scale: float) -> ActuatorConfig:
    return ActuatorConfig(PDControlConfig(0.0, 0.0), others=[PassiveTold(wp.full(robots, scale, dtype=wp.float32))])


@pytest.mark.parametrize("copies", [1, 2])
def test_laws_are_told_what_the_simulator_knows(copies) -> None:
    with Simulation(ROBOTS / "arm_2dof.usda", num_envs=copies) as sim:
        paths = sim.articulation("/.*").paths
        # of two joints in another order
        pairs = [(config(copies, 2.0), "extension"), (config(copies, 1.0), "shoulder")]
        with ArticulationActuators.from_actuators(paths, pairs) as actuators:
            for _ in range(2):
                sim.play()
                robot = sim.articulation(paths)
                robot.set_dof_positions(np.linspace(0.1, 0.6, 2 * copies).reshape(copies, 2))
                sim.step(3)
                known = robot.joint_signals(["inertia", "load"]).arrays
                told_now = (known["inertia"] + 100.0 * known["load"]) * np.array([1.0, 2.0], np.float32)
                assert (known["inertia"] > 0).all() and (np.abs(known["load"]) > 1e-3).all()
                sim.step()
                np.testing.assert_allclose(actuators.applied_efforts, told_now, rtol=1e-5)
                sim.stop()


class Robots:
    paths: ClassVar[list[str]] = ["/A", "/B"]
    num_dofs, dof_names = 3, ("a", "b", "c")

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        self.inertia = np.zeros((2, 3), np.float32)
        self.refreshed = 0

    def _refresh(self) -> None:
        self.refreshed += 1

    def joint_signals(self, names: list[str]) -> JointViews:
        return JointViews({"inertia": self.inertia} if "inertia" in names else {}, self._refresh)

    def __getattr__(self, name: str):
        if name.startswith(("get_", "set_")) or name == "dof_paths":
            return lambda *_, **__: None
        raise AttributeError(name)


def test_what_is_not_known_keeps_its_neutral_value() -> None:
    robots = Robots()
    some, other = (wp.zeros((2, 1), dtype=wp.float32, device="cpu") for _ in range(2))
    load = wp.full((2, 1), 7.0, dtype=wp.float32, device="cpu")
    wanted = {"inertia": [([1], some), ([0], other)], "load": [([1], load)]}
    follow = Binding(robots).following(wanted, [2, 0])  # pyright: ignore[reportArgumentType]
    robots.inertia[:] = [[1, 2, 3], [4, 5, 6]]
    follow()
    assert robots.refreshed == 1
    assert some.numpy().ravel().tolist() == [1, 4] and other.numpy().ravel().tolist() == [3, 6]
    assert load.numpy().ravel().tolist() == [7, 7]


def test_nothing_is_done_where_nobody_asks_or_knows() -> None:
    """So that a step stays as short as it was."""
    binding = Binding(Robots())  # pyright: ignore[reportArgumentType]
    assert binding.following({}, [0]) is nothing
    binding.articulation = object()  # pyright: ignore[reportAttributeAccessIssue]
    assert binding.following({"inertia": []}, [0]) is nothing
