"""Render one environment to an image, without a display."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """Return an RGB image, uint8, shape `(height, width, 3)`, that the robots fill unless the camera is placed.

    Raises:
        HostError: MuJoCo is set up to draw to a display, and there is none.
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
