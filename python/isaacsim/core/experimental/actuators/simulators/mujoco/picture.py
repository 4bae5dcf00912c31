"""Show an environment: as an image without a display, as triangles for other viewers, in MuJoCo's own window."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import atexit
import copy
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ...base.errors import HostError
from .model import LOOK

if TYPE_CHECKING:
    from .host import MujocoHost


# how far below what touches it the ground is drawn, so that it does not shine through, in the robots' sizes
_BELOW = 5e-3
# groups of geometry that are shown, as in MuJoCo's own viewer
SHOWN_GROUPS = 3
# what of the picture the robots fill
_FILLED = 0.8
# how far the light is from the robots, in their sizes
_SHADOWS = 6.0
# the ground's grid reads best with fields of about this share of the robots' size
_FIELDS = 0.35


@dataclass(frozen=True)
class Camera:
    """Position of the camera; see `Simulation.render`."""

    lookat: Sequence[float] | None = None
    distance: float | None = None
    azimuth: float = 135.0
    elevation: float = -20.0


def render(host: MujocoHost, env: int, width: int, height: int, view: Camera) -> np.ndarray:
    """An RGB image, uint8, `(height, width, 3)`, that the robots fill unless the camera is placed.

    A `HostError` says that MuJoCo is set up to draw to a display, and there is none.
    """
    model = host.drawn()
    data = mujoco.MjData(model)
    host.pose(model, data, env)
    for compute in (mujoco.mj_kinematics, mujoco.mj_comPos):
        compute(model, data)
    if mujoco.GLContext.__module__ == "mujoco.glfw" and not has_display():
        # GLFW would end the process
        raise HostError(
            "MuJoCo draws to a display here and there is none. Install EGL (Debian: libegl1, libgl1-mesa-dri), and "
            "set the environment variable MUJOCO_GL=egl where mujoco is imported before this package."
        )
    points = points_of(model, data, robots_of(host))
    box = box_of(points)
    lay_ground(model, box)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    camera.azimuth, camera.elevation = view.azimuth, view.elevation
    camera.lookat[:] = box.mean(axis=0) if view.lookat is None else view.lookat
    fitted = _distance(points - camera.lookat, view.azimuth, view.elevation, model.vis.global_.fovy, width / height)
    camera.distance = fitted if view.distance is None else view.distance
    # the default buffer is smaller than many pictures
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    with mujoco.Renderer(model, height, width) as renderer:
        renderer.update_scene(data, camera)
        return renderer.render()


def robots_of(host: MujocoHost) -> np.ndarray:
    """Bodies of all robots, or all bodies where there are no robots."""
    found = list(host.bodies_of().values())
    return np.unique(np.concatenate(found)) if found else np.arange(host.model.nbody)


def is_shown(model: mujoco.MjModel) -> np.ndarray:
    """Mask of the drawn geometry."""
    alpha = np.where(model.geom_matid < 0, 1.0, model.mat_rgba[model.geom_matid, 3] if model.nmat else 1.0)
    return (model.geom_group < SHOWN_GROUPS) & (model.geom_rgba[:, 3] * alpha > 0)


def points_of(model: mujoco.MjModel, data: mujoco.MjData, bodies: np.ndarray) -> np.ndarray:
    """Points [m] that span what is drawn of some bodies, `(points, 3)`; planes do not count."""
    seen = is_shown(model) & np.isin(model.geom_bodyid, bodies) & (model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE)
    if not seen.any():
        return np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    return np.concatenate([_corners(model, data, geom) for geom in np.flatnonzero(seen).tolist()])


def box_of(points: np.ndarray) -> np.ndarray:
    """Lower and upper corner of the box around points, `(2, 3)`."""
    return np.array([points.min(axis=0), points.max(axis=0)])


def _corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> np.ndarray:
    """Points of the world that span a geometry: of a mesh its own, else the corners of a box around it."""
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        points = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
    else:
        center, half = model.geom_aabb[geom].reshape(2, 3)
        points = center + half * np.array([*np.ndindex(2, 2, 2)]) * 2.0 - half
    return data.geom_xpos[geom] + points @ data.geom_xmat[geom].reshape(3, 3).T


def lay_ground(model: mujoco.MjModel, box: np.ndarray) -> None:
    """Fit what goes with the size of robots: how far one sees, how wide the fields of the ground are, where it is."""
    size = float(np.linalg.norm(box[1] - box[0])) / 2
    model.stat.extent, model.stat.center[:] = size, box.mean(axis=0)
    # shadows are as fine as the robots when they are drawn from close by
    for light in range(model.nlight):
        if model.light(light).name == LOOK:
            model.light_pos[light] = box.mean(axis=0) - _SHADOWS * size * model.light_dir[light]
    # a power of two: fields that stay where they are while robots move
    model.mat_texrepeat[model.material(LOOK).id] = 1.0 / 2.0 ** round(math.log2(2 * _FIELDS * size))
    if ground := [geom for geom in range(model.ngeom) if model.geom(geom).name == LOOK]:
        model.geom_pos[ground[0], 2] = min(0.0, float(box[0, 2])) - _BELOW * size


def _distance(points: np.ndarray, azimuth: float, elevation: float, fovy: float, aspect: float) -> float:
    """Distance of a camera from its target at which it sees points, given relative to the target."""
    turn, tilt = np.radians([azimuth, elevation])
    ahead = np.array([np.cos(tilt) * np.cos(turn), np.cos(tilt) * np.sin(turn), np.sin(tilt)])
    right = np.array([np.sin(turn), -np.cos(turn), 0.0])
    high = _FILLED * math.tan(math.radians(fovy) / 2)
    wide = np.maximum(np.abs(points @ right) / (high * aspect), np.abs(points @ np.cross(right, ahead)) / high)
    return float((wide - points @ ahead).max())


def has_display() -> bool:
    """Return True if windows can be opened."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


# corners around what is round, and across a half of it
_AROUND, _ACROSS = 32, 9
# edges [rad] sharper than that are drawn as such
_SHARP = math.radians(35)
# a ghost is that much smaller than the robot, about the middle of each geometry: it is hidden where both are, and the
# corners of what is round do not come through by turns
GHOST_SCALE = 0.96
# what is not as far from its target has no ghost, in the robots' sizes
_AWAY = 0.04


@dataclass(frozen=True)
class Piece:
    """What has one color, red, green, blue and opacity, 0 … 1, and is fixed to a body, a row of the poses.

    Vertices are in its frame [m], two for a point with two normals; faces are triangles; the ghost shares vertices.
    """

    body: int
    robot: bool
    color: tuple[float, float, float, float]
    vertices: np.ndarray
    faces: np.ndarray
    ghost: np.ndarray


class Drawing:
    """The drawn bodies of a simulation that plays."""

    def __init__(self, host: MujocoHost) -> None:
        self._host = host
        self.model = host.drawn()
        """The drawn model."""
        self.data, self.shadow = mujoco.MjData(self.model), mujoco.MjData(self.model)
        """Data of that model as `poses` and `target_poses` left them."""
        robots = robots_of(host)
        self.robots = {path: bodies.tolist() for path, bodies in host.bodies_of().items()}
        """Bodies of each robot, by its path in the prototype."""
        self.pieces = list(_pieces(self.model, robots))
        """Drawn parts of bodies, without planes."""
        host.pose(self.model, self.data)
        mujoco.mj_kinematics(self.model, self.data)
        self.box = box_of(points_of(self.model, self.data, robots))
        """Lower and upper corner of the robots in the world at first [m]."""
        self._corners = np.zeros((self.model.nbody, 8, 3))
        for body in {piece.body for piece in self.pieces}:
            box = box_of(np.concatenate([piece.vertices for piece in self.pieces if piece.body == body]))
            self._corners[body] = box[np.array([*np.ndindex(2, 2, 2)]), np.arange(3)]
        lay_ground(self.model, self.box)
        planes = self.model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
        heights = self.model.geom_pos[planes & (self.model.geom_bodyid == 0), 2]
        self.ground = float(heights.max()) if heights.size else float(self.box[0, 2])
        """Height of the ground [m]."""

    def poses(self, env: int) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of each body, `(bodies, 7)`."""
        self._host.pose(self.model, self.data, env)
        return self._forward(self.data)

    def target_poses(self, env: int, targets: np.ndarray) -> np.ndarray:
        """Return the poses with axes at their targets, in the order of the robots; NaN leaves an axis where it is."""
        self._host.pose(self.model, self.shadow, env)
        there = np.isfinite(targets)
        self.shadow.qpos[self._host.position_columns[there]] = targets[there]
        return self._forward(self.shadow)

    def away(self) -> np.ndarray:
        """Return a mask of the bodies visibly away from their targets, `(bodies,)`, at the last poses of both."""
        here, there = (
            np.einsum("bij,bkj->bki", data.xmat.reshape(-1, 3, 3), self._corners) + data.xpos[:, None]
            for data in (self.data, self.shadow)
        )
        far = np.linalg.norm(here - there, axis=2).max(axis=1)
        return far > _AWAY * np.linalg.norm(self.box[1] - self.box[0])

    def _forward(self, data: mujoco.MjData) -> np.ndarray:
        mujoco.mj_kinematics(self.model, data)
        return np.hstack([data.xpos, data.xquat])


def _pieces(model: mujoco.MjModel, robots: np.ndarray) -> Iterator[Piece]:
    """Drawn parts of each body, by color."""
    found: dict[tuple[int, tuple[float, ...]], list[tuple[np.ndarray, ...]]] = {}
    for geom in np.flatnonzero(is_shown(model)).tolist():
        triangles = _triangles(model, geom)
        if triangles is not None:
            vertices, faces = triangles
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
            turned, middle = vertices @ turn.reshape(3, 3).T, model.geom_pos[geom]
            part = turned + middle, faces, GHOST_SCALE * turned + middle
            found.setdefault((int(model.geom_bodyid[geom]), _color(model, geom)), []).append(part)
    for (body, color), parts in found.items():
        starts = np.cumsum([0, *(len(vertices) for vertices, *_ in parts)])
        faces = np.concatenate([faces + start for (_, faces, _), start in zip(parts, starts, strict=False)])
        vertices, ghost = (np.concatenate([part[at] for part in parts]).astype(np.float32) for at in (0, 2))
        yield Piece(body, body in robots, color, vertices, faces.astype(np.uint32), ghost)  # pyright: ignore[reportArgumentType]


def _color(model: mujoco.MjModel, geom: int) -> tuple[float, ...]:
    """As MuJoCo chooses it: that of the material, unless the geometry has one of its own."""
    material, own = model.geom_matid[geom], model.geom_rgba[geom]
    is_plain = np.allclose(own, [0.5, 0.5, 0.5, 1.0])
    return tuple((model.mat_rgba[material] if material >= 0 and is_plain else own).astype(float).round(3).tolist())


def _triangles(model: mujoco.MjModel, geom: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Vertices and faces of a geometry in its own frame; None of a plane and of what is computed."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        points = _part(model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum, mesh)
        return _creased(points, _part(model.mesh_face, model.mesh_faceadr, model.mesh_facenum, mesh))
    if kind == mujoco.mjtGeom.mjGEOM_HFIELD:
        return _height_field(model, model.geom_dataid[geom])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        corners = size * (2.0 * np.array([*np.ndindex(2, 2, 2)]) - 1.0)
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return _creased(corners, np.array([side[a : a + 2] + side[:1] for side in sides for a in (1, 2)])[:, [2, 0, 1]])
    bend = np.linspace(-math.pi / 2, math.pi / 2, 2 * _ACROSS)
    ball = np.stack([np.cos(bend), np.sin(bend)], axis=-1)
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return _turned(ball * size[0])
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        vertices, faces = _turned(ball)
        return vertices * size, faces
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return _turned(ball * size[0] + np.where(bend < 0, -size[1], size[1])[:, None] * [0.0, 1.0])
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return _creased(*_turned(np.array([[0, -1], [1, -1], [1, 1], [0, 1]]) * size[:2]))
    return None


def _part(values: np.ndarray, starts: np.ndarray, counts: np.ndarray, number: int) -> np.ndarray:
    return values[starts[number] : starts[number] + counts[number]]


def _turned(profile: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Surface of revolution about z of a line of points (radius, height), given from below."""
    angles = np.linspace(0, 2 * math.pi, _AROUND, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    rings = [np.c_[radius * circle, np.full(_AROUND, height)] for radius, height in profile]
    here = np.arange(_AROUND)
    beside = (here + 1) % _AROUND
    faces = []
    for ring in range(len(profile) - 1):
        a, b = ring * _AROUND, (ring + 1) * _AROUND
        faces += [np.c_[a + here, a + beside, b + beside], np.c_[a + here, b + beside, b + here]]
    return np.concatenate(rings), np.concatenate(faces)


def _height_field(model: mujoco.MjModel, number: int) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = int(model.hfield_nrow[number]), int(model.hfield_ncol[number])
    first, size = model.hfield_adr[number], model.hfield_size[number]
    x, y = np.meshgrid(np.linspace(-size[0], size[0], columns), np.linspace(-size[1], size[1], rows))
    heights = model.hfield_data[first : first + rows * columns] * size[2]
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    faces = [np.c_[corner, corner + 1, corner + columns + 1], np.c_[corner, corner + columns + 1, corner + columns]]
    return np.c_[x.ravel(), y.ravel(), heights], np.concatenate(faces)


def _creased(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Duplicate vertices on sharp edges, so that these are not smoothed."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    faces, normals = faces[sizes > 0], (normals / np.maximum(sizes, 1e-30)[:, None])[sizes > 0]
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    order = np.lexsort(edges.T)
    owners = np.repeat(np.arange(len(faces)), 3)[order]
    joined = (edges[order][1:] == edges[order][:-1]).all(axis=1)
    one, other = owners[:-1][joined], owners[1:][joined]
    flat = (normals[one] * normals[other]).sum(axis=1) > math.cos(_SHARP)
    one, other = one[flat], other[flat]
    patch = np.arange(len(faces))
    while True:
        # every face takes the smallest number around it, until nothing changes
        least = patch.copy()
        np.minimum.at(least, one, patch[other])
        np.minimum.at(least, other, patch[one])
        least = least[least]
        if (least == patch).all():
            break
        patch = least
    places = np.stack([faces.ravel(), np.repeat(patch, 3)], axis=-1)
    kept, numbers = np.unique(places, axis=0, return_inverse=True)
    return vertices[kept[:, 0]], numbers.reshape(-1, 3)


_GHOST = np.array([0.94, 0.59, 0.16, 0.3], np.float32)
# how far right of the middle robots are drawn, in their sizes
_ASIDE = 0.3
# how long the last frame may take [s of wall clock]
_LAST_FRAME = 10.0
_ROBOTS = mujoco.mjtCatBit.mjCAT_DYNAMIC.value


class DrawingWindow:
    """A window that shows a drawing after its `poses`; a viewer thread calls `on_key` with keys as GLFW has them."""

    def __init__(self, drawing: Drawing, on_key: Callable[[int], None]) -> None:
        import mujoco.viewer

        self._drawing = drawing
        self._data, self._ghost = mujoco.MjData(drawing.model), mujoco.MjData(drawing.model)
        self._ghosts = copy.copy(drawing.model)
        self._ghosts.geom_matid[:] = -1
        others = set(threading.enumerate())
        self._viewer = mujoco.viewer.launch_passive(
            drawing.model, self._data, key_callback=on_key, show_left_ui=False, show_right_ui=False
        )
        self._threads = set(threading.enumerate()) - others
        # before GLFW ends
        atexit.register(self.close)
        low, high = drawing.box
        with self._viewer.lock():
            camera = self._viewer.cam
            camera.lookat[:], camera.distance = (low + high) / 2, 1.5 * np.linalg.norm(high - low)
            camera.azimuth, camera.elevation = 135.0, -20.0
            # text covers the left
            turn = np.radians(camera.azimuth)
            camera.lookat[:] -= _ASIDE * np.linalg.norm(high - low) * np.array([np.sin(turn), -np.cos(turn), 0.0])

    @property
    def is_open(self) -> bool:
        """True until the window is closed."""
        return self._viewer.is_running()

    def show(self) -> None:
        """Show the drawing as it is."""
        drawing, viewer = self._drawing, self._viewer
        with viewer.lock():
            self._data.qpos[:] = drawing.data.qpos
            # what is derived of them the viewer draws, and does not compute
            mujoco.mj_forward(drawing.model, self._data)
            self._ghost.qpos[:] = drawing.shadow.qpos
            mujoco.mj_forward(drawing.model, self._ghost)
            # what has no opacity is not added
            self._ghosts.geom_rgba[:] = _GHOST * drawing.away()[drawing.model.geom_bodyid, None]
            scene: Any = viewer.user_scn
            scene.ngeom = 0
            mujoco.mjv_addGeoms(self._ghosts, self._ghost, viewer.opt, mujoco.MjvPerturb(), _ROBOTS, scene)
            for geom in scene.geoms[: scene.ngeom]:
                # what is transparent has no shadow
                geom.transparent, geom.mat = True, GHOST_SCALE * geom.mat
        viewer.sync()

    def write(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show lines of two columns; it takes until the viewer has drawn what it draws."""
        left, right = ("\n".join(column) for column in zip(*lines, strict=True))
        self._viewer.set_texts((None, None, left, right))

    def close(self) -> None:
        """Close it, and wait until nothing draws any more, for then GLFW would end the process."""
        atexit.unregister(self.close)
        self._viewer.close()
        for thread in self._threads:
            thread.join(_LAST_FRAME)
