"""Drawn triangles: closed, oriented outwards, of MuJoCo's size; the window, by a stand-in for a display."""

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import mujoco.viewer
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators
from isaacsim.core.experimental.actuators.simulators.mujoco.picture import GHOST_SCALE, Drawing
from places import ROBOTS
from played import played

SHAPES = {
    "sphere": ('size="0.3"', 4 / 3 * np.pi * 0.3**3),
    "capsule": ('size="0.2 0.4"', np.pi * 0.2**2 * 0.8 + 4 / 3 * np.pi * 0.2**3),
    "ellipsoid": ('size="0.1 0.2 0.3"', 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
    "cylinder": ('size="0.2 0.4"', np.pi * 0.2**2 * 0.8),
    "box": ('size="0.1 0.2 0.3"', 8 * 0.1 * 0.2 * 0.3),
    "mesh": ('mesh="cube"', 8.0),
}
MESH = '<asset><mesh name="cube" vertex="-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1"/></asset>'


def drawing_of(tmp_path: Path, geoms: str) -> Drawing:
    file = tmp_path / "robot.xml"
    body = f'<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0"/>{geoms}</body>'
    file.write_text(f"<mujoco>{MESH}<worldbody>{body}</worldbody></mujoco>")
    with played(file) as sim:
        return Drawing(sim._host)


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, corner]].astype(float) for corner in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes_have_their_volume(tmp_path: Path, kind: str) -> None:
    size, expected = SHAPES[kind]
    (piece,) = drawing_of(tmp_path, f'<geom type="{kind}" {size} rgba="0.2 0.4 0.6 1"/>').pieces
    assert volume(piece.vertices, piece.faces) == pytest.approx(expected, rel=0.025)
    assert piece.color == (0.2, 0.4, 0.6, 1.0) and piece.robot


@pytest.mark.parametrize("kind", SHAPES)
def test_ghost_is_inside_the_robot(tmp_path: Path, kind: str) -> None:
    """About the middle of each geometry, by more than the corners of what is round; no surface is where another is."""
    size, _ = SHAPES[kind]
    (piece,) = drawing_of(tmp_path, f'<geom type="{kind}" {size} pos="0.3 0 0"/>').pieces
    middle = np.float32([0.3, 0, 0])
    np.testing.assert_allclose(piece.ghost - middle, GHOST_SCALE * (piece.vertices - middle), atol=1e-6)
    assert np.cos(np.pi / 32) > GHOST_SCALE


def test_what_is_near_its_target_is_not_away() -> None:
    with played(ROBOTS / "arm_2dof.usda") as sim:
        drawing = Drawing(sim._host)
        drawing.poses(0)
        for shoulder, moved in ((0.0, False), (0.02, False), (0.5, True)):
            drawing.target_poses(0, np.array([shoulder, np.nan]))
            away = drawing.away()
            assert away.any() == moved and away[drawing.model.body("/World/Arm/boom").id] == moved
            assert not away[drawing.model.body("/World/Arm/base").id]


def test_sharp_edges_stay_sharp(tmp_path: Path) -> None:
    (cube,) = drawing_of(tmp_path, '<geom type="box" size="1 1 1"/>').pieces
    (ball,) = drawing_of(tmp_path, '<geom type="sphere" size="1"/>').pieces
    assert len(cube.vertices) == 24 and len(ball.vertices) == 18 * 32


def test_what_has_one_colour_is_one_piece(tmp_path: Path) -> None:
    one, other = '<geom size="0.1" pos="0 0 1"/>', '<geom size="0.1" pos="0 0 -1"/>'
    hidden = '<geom size="0.5" group="3"/><geom size="0.5" rgba="1 0 0 0"/>'
    (piece,) = drawing_of(tmp_path, one + other + hidden).pieces
    np.testing.assert_allclose([piece.vertices.min(axis=0)[2], piece.vertices.max(axis=0)[2]], [-1.1, 1.1], atol=1e-5)


def test_bodies_are_where_mujoco_puts_them() -> None:
    with played(ROBOTS / "unitree_go1.usda") as sim:
        sim.step(10)
        drawing, data = Drawing(sim._host), sim.data()
        np.testing.assert_allclose(drawing.poses(0), np.hstack([data.xpos, data.xquat]), atol=1e-9)
        meshes = drawing.model.geom_type == mujoco.mjtGeom.mjGEOM_MESH
        assert meshes.any() and len(drawing.pieces) > 10 and drawing.ground == 0.0


class Viewer:
    def __init__(self, model: Any, data: Any, *, key_callback: Any, show_left_ui: bool, show_right_ui: bool) -> None:
        self.model, self.data, self.press = model, data, key_callback
        self.lock = contextlib.nullcontext
        self.cam, self.opt = mujoco.MjvCamera(), mujoco.MjvOption()
        self.user_scn = mujoco.MjvScene(model, 1000)
        self.texts: Any = None
        self.running, self.synced = True, 0

    def is_running(self) -> bool:
        return self.running

    def set_texts(self, texts: Any) -> None:
        self.texts = texts

    def sync(self) -> None:
        self.synced += 1

    def close(self) -> None:
        self.running = False


def test_window_shows_robot_ghost_and_efforts(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Viewer] = []
    launch = lambda *given, **named: opened.append(Viewer(*given, **named)) or opened[-1]  # noqa: E731
    monkeypatch.setattr(mujoco.viewer, "launch_passive", launch)
    monkeypatch.setenv("DISPLAY", ":99")
    with played(ROBOTS / "arm_2dof.usda") as sim:
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
            expected = there.geom_xpos[viewer.model.geom_bodyid == viewer.model.body("/World/Arm/boom").id]
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
    from isaacsim.core.experimental.actuators.tools.viewing.native import Window

    asked: list[str] = []
    window = SimpleNamespace(_ask=asked.append)
    for key in (32, 65, 262):
        Window._on_key(window, key)  # pyright: ignore[reportArgumentType]
    assert asked == ["pause", "step"]
