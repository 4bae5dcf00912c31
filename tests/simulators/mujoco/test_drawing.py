"""Drawn triangles: closed, oriented outwards, of MuJoCo's size."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.simulators.mujoco.drawing import GHOST_SCALE, Drawing
from places import ROBOTS

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
    """A body with geometry on a hinge."""
    file = tmp_path / "robot.xml"
    body = f'<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0"/>{geoms}</body>'
    file.write_text(f"<mujoco>{MESH}<worldbody>{body}</worldbody></mujoco>")
    with Simulation(file) as sim:
        sim.play()
        return Drawing(sim._host)


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Enclosed volume; negative where triangles are oriented inwards."""
    a, b, c = (vertices[faces[:, corner]].astype(float) for corner in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes_have_their_volume(tmp_path, kind) -> None:
    """To what 32 corners of a circle leave of it."""
    size, expected = SHAPES[kind]
    (piece,) = drawing_of(tmp_path, f'<geom type="{kind}" {size} rgba="0.2 0.4 0.6 1"/>').pieces
    assert volume(piece.vertices, piece.faces) == pytest.approx(expected, rel=0.025)
    assert piece.color == (0.2, 0.4, 0.6, 1.0) and piece.robot


@pytest.mark.parametrize("kind", SHAPES)
def test_ghost_is_inside_the_robot(tmp_path, kind) -> None:
    """About the middle of each geometry, by more than the corners of what is round; no surface is where another is."""
    size, _ = SHAPES[kind]
    (piece,) = drawing_of(tmp_path, f'<geom type="{kind}" {size} pos="0.3 0 0"/>').pieces
    middle = np.float32([0.3, 0, 0])
    np.testing.assert_allclose(piece.ghost - middle, GHOST_SCALE * (piece.vertices - middle), atol=1e-6)
    assert np.cos(np.pi / 32) > GHOST_SCALE


def test_what_is_near_its_target_is_not_away() -> None:
    """In the size of the robot; what nothing moves never is."""
    with Simulation(ROBOTS / "arm_2dof.usda") as sim:
        sim.play()
        drawing = Drawing(sim._host)
        drawing.poses(0)
        for shoulder, moved in ((0.0, False), (0.02, False), (0.5, True)):
            drawing.target_poses(0, np.array([shoulder, np.nan]))
            away = drawing.away()
            assert away.any() == moved and away[drawing.model.body("/World/Arm/boom").id] == moved
            assert not away[drawing.model.body("/World/Arm/base").id]


def test_sharp_edges_stay_sharp(tmp_path) -> None:
    """A cube has three vertices at each corner, a ball one at each point."""
    (cube,) = drawing_of(tmp_path, '<geom type="box" size="1 1 1"/>').pieces
    (ball,) = drawing_of(tmp_path, '<geom type="sphere" size="1"/>').pieces
    assert len(cube.vertices) == 24
    assert len(ball.vertices) == 18 * 32


def test_what_has_one_colour_is_one_piece(tmp_path) -> None:
    """Placed where its geometry is; what is hidden is not there."""
    one, other = '<geom size="0.1" pos="0 0 1"/>', '<geom size="0.1" pos="0 0 -1"/>'
    hidden = '<geom size="0.5" group="3"/><geom size="0.5" rgba="1 0 0 0"/>'
    (piece,) = drawing_of(tmp_path, one + other + hidden).pieces
    np.testing.assert_allclose([piece.vertices.min(axis=0)[2], piece.vertices.max(axis=0)[2]], [-1.1, 1.1], atol=1e-5)


def test_bodies_are_where_mujoco_puts_them() -> None:
    """Of the drawn model, which has what physics leaves out."""
    with Simulation(ROBOTS / "unitree_go1.usda") as sim:
        sim.play()
        sim.step(10)
        drawing, data = Drawing(sim._host), sim.data()
        np.testing.assert_allclose(drawing.poses(0), np.hstack([data.xpos, data.xquat]), atol=1e-9)
        meshes = drawing.model.geom_type == mujoco.mjtGeom.mjGEOM_MESH
        assert meshes.any() and len(drawing.pieces) > 10 and drawing.ground == 0.0
