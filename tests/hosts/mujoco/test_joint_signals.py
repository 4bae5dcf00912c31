"""Signals of joints for laws, effective inertia and load, compared with the equations of motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")

from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.hosts.mujoco import joint_signals

from tests.support.places import ROBOTS

SIGNALS = ("inertia", "load")
FILES = {"arm_2dof": "/World/Arm", "unitree_go1": "/World/Go1", "franka_panda": "/World/Panda"}


def expected(robot: Any) -> dict[str, np.ndarray]:
    """Of the state as it is."""
    count = robot.num_dofs
    inverse = np.linalg.inv(robot.get_mass_matrices().numpy().astype(float))
    efforts = robot.get_dof_gravity_compensation_forces().numpy()
    efforts = efforts + robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()
    return {"inertia": 1.0 / np.einsum("rii->ri", inverse)[:, -count:], "load": efforts[:, -count:]}


def robot_of(sim: Simulation) -> Any:
    """The robots of a simulation."""
    return sim.articulation([robot.path for robot in sim._host.robots()])


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("file", FILES)
def test_they_are_those_of_the_equations_of_motion(file: str, copies: int) -> None:
    """Before a step, at a reset, and after steps, then with those of the state before the step."""
    with Simulation(ROBOTS / f"{file}.usda", num_envs=copies) as sim:
        sim.play()
        robot = robot_of(sim)
        rng = np.random.default_rng(0)
        views = robot.joint_signals(SIGNALS)
        for steps in (0, 1, 7):
            if steps:
                sim.step(steps - 1)
                robot.set_dof_positions(rng.uniform(-0.3, 0.3, (copies, robot.num_dofs)))
                wanted = expected(robot)
                sim.step()
            else:
                wanted = expected(robot)
            views.refresh()
            np.testing.assert_allclose(views.arrays["inertia"], wanted["inertia"], rtol=2e-5)
            if file == "arm_2dof":
                np.testing.assert_allclose(views.arrays["load"], wanted["load"], rtol=1e-4, atol=1e-4)
        sim.reset([0])
        np.testing.assert_allclose(views.arrays["inertia"][0], expected(robot)["inertia"][0], rtol=2e-5)


def test_numpy_computes_what_the_core_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a robot with branches and a floating base."""
    found = []
    for native in (joint_signals.core, None):
        if native is None:
            monkeypatch.setattr(joint_signals, "core", None)
        with Simulation(ROBOTS / "unitree_go1.usda", num_envs=2) as sim:
            sim.play()
            sim.step(5)
            found.append(robot_of(sim).joint_signals(["inertia"]).arrays["inertia"].copy())
    assert found[0].min() > 0.0
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_some_robots_have_copies_that_are_refreshed() -> None:
    """Where they do not stand evenly spaced."""
    with Simulation(ROBOTS / "arm_2dof.usda", num_envs=4) as sim:
        sim.play()
        paths = [robot.path for robot in sim._host.robots()]
        some, every = sim.articulation([paths[0], paths[1], paths[3]]), sim.articulation(paths)
        views, whole = some.joint_signals(SIGNALS), every.joint_signals(SIGNALS)
        every.set_dof_positions(np.arange(8.0).reshape(4, 2) / 10)
        sim.step()
        views.refresh()
        for name in SIGNALS:
            np.testing.assert_array_equal(views.arrays[name], whole.arrays[name][[0, 1, 3]])


def test_what_nobody_knows_is_left_out() -> None:
    """Its neutral value holds."""
    with Simulation(ROBOTS / "arm_2dof.usda") as sim:
        sim.play()
        assert set(robot_of(sim).joint_signals(["load", "weather"]).arrays) == {"load"}
