"""What the embedded physics knows of robots and their surroundings, as plain data.

Everything is SI, rad and m; quaternions are (w, x, y, z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...specs.motors import MotorConfig


@dataclass
class Axis:
    """One degree of freedom of a joint."""

    name: str
    joint: str
    # in multiple-apply schemas of the joint, see `usd.joint_properties`; empty where it is not known
    usd_name: str
    linear: bool
    direction: np.ndarray
    lower: float
    upper: float
    armature: float
    friction: float
    damping: float
    stiffness: float
    rest: float
    drive_stiffness: float
    drive_damping: float
    drive_limit: float
    position: float
    velocity: float
    position_target: float
    velocity_target: float
    velocity_limit: float = math.inf


@dataclass
class Body:
    """One rigid body and the joint that carries it.

    `kind` is fixed, free, ball or axes; `position` and `quaternion` place it in its parent at joint position zero;
    `anchor` is the joint's origin in the body frame.
    """

    path: str
    joint: str
    parent: int
    kind: str
    position: np.ndarray
    quaternion: np.ndarray
    anchor: np.ndarray
    axes: list[Axis]
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(6))


@dataclass
class Shape:
    """One geometry, fixed to body `body` (-1 is the world)."""

    path: str
    body: int
    kind: str
    size: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    collides: bool
    friction: float
    color: tuple[float, float, float, float]
    vertices: np.ndarray | None = None
    faces: np.ndarray | None = None


@dataclass
class Mimic:
    """A joint that follows another: `follower = offset + ratio · leader`."""

    follower: Axis
    leader: Axis
    offset: float
    ratio: float


@dataclass
class Articulation:
    """One robot: its root prim, the numbers of its bodies, the root first, and its axes, breadth-first."""

    path: str
    bodies: list[int]
    axes: list[Axis]


@dataclass
class Scene:
    """Everything the embedded physics needs to know of a stage or file."""

    gravity: np.ndarray
    bodies: list[Body]
    shapes: list[Shape]
    mimics: list[Mimic]
    articulations: list[Articulation]
    # pairs of body numbers, -1 is the world
    no_contact: list[tuple[int, int]]
    # an `MjSpec` that MuJoCo read by itself: it has all of this but the drives, and paths and axes are its names
    spec: Any = None
    # what such a file says of its motors, by pattern, and what of its actuators no motor stands for
    motors: dict[str, MotorConfig] = field(default_factory=dict)
    not_motors: list[str] = field(default_factory=list)
