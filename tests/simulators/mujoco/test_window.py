"""The window of MuJoCo's own viewer, by a stand-in for what needs a display."""

import contextlib
from types import SimpleNamespace
from typing import Any

import mujoco
import mujoco.viewer
import numpy as np
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from places import ROBOTS


class Viewer:
    """As `mujoco.viewer.launch_passive` gives, without a window."""

    def __init__(self, model, data, *, key_callback, show_left_ui: bool, show_right_ui: bool) -> None:
        self.model, self.data, self.press = model, data, key_callback
        self.lock = contextlib.nullcontext
        self.cam, self.opt = mujoco.MjvCamera(), mujoco.MjvOption()
        self.user_scn = mujoco.MjvScene(model, 1000)
        self.texts: Any = None
        self.running, self.synced = True, 0

    def is_running(self) -> bool:
        """Until it is closed."""
        return self.running

    def set_texts(self, texts) -> None:
        """Note them."""
        self.texts = texts

    def sync(self) -> None:
        """Count."""
        self.synced += 1

    def close(self) -> None:
        """Be closed."""
        self.running = False


def test_window_shows_robot_ghost_and_efforts(monkeypatch) -> None:
    """And keys act in the thread of the loop."""
    opened: list[Viewer] = []
    launch = lambda *given, **named: opened.append(Viewer(*given, **named)) or opened[-1]  # noqa: E731
    monkeypatch.setattr(mujoco.viewer, "launch_passive", launch)
    monkeypatch.setenv("DISPLAY", ":99")
    with Simulation(ROBOTS / "arm_2dof.usda") as sim:
        sim.play()
        actuators = ArticulationActuators("/World/Arm")
        Articulation("/World/Arm").set_dof_position_targets([1.0, 0.2])
        with sim.view() as view:
            (viewer,) = opened
            assert view.url is None and view.is_running
            sim.step(2)
            view.sync()
            np.testing.assert_allclose(viewer.data.qpos, sim.data().qpos)
            ghosts = viewer.user_scn.geoms[: viewer.user_scn.ngeom]
            there = mujoco.MjData(viewer.model)
            there.qpos[:] = np.float32([1.0, 0.2])
            mujoco.mj_kinematics(viewer.model, there)
            boom = viewer.model.body("/World/Arm/boom").id
            expected = there.geom_xpos[viewer.model.geom_bodyid == boom]
            assert all(min(np.linalg.norm(ghost.pos - place) for ghost in ghosts) < 1e-5 for place in expected)
            assert {ghost.rgba[3] < 0.5 for ghost in ghosts} == {True}
            assert "shoulder" in viewer.texts[2] and "ClampingMaxEffort" in viewer.texts[3]
            viewer.press(259)
            assert sim.data().qpos.any()
            view.sync()
            assert not sim.data().qpos.any()
            viewer.running = False
            view.run()
        assert sim.playing and not view.is_running
        actuators.close()


def test_keys_without_a_meaning_are_let_be() -> None:
    """Others pause, step and reset."""
    from isaacsim.core.experimental.actuators.tools.viewing.native import Window

    asked: list[str] = []
    window = SimpleNamespace(_ask=asked.append)
    for key in (32, 65, 262):
        Window._on_key(window, key)  # pyright: ignore[reportArgumentType]
    assert asked == ["pause", "step"]
