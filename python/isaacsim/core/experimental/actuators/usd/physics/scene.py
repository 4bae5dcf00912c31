"""What the embedded physics knows of robots and their surroundings, as plain data.

Everything is SI, rad and m; quaternions are (w, x, y, z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...specs.linear_actuators import NO_BOUNDS, Bounds
from ...specs.motors import MotorConfig

# properties of joints, see `usd.joint_properties`, and the fields of an axis that have them; the later are the stronger
FIELDS = {
    "lower_limits": "lower",
    "upper_limits": "upper",
    "armatures": "armature",
    "dynamic_frictions": "friction",
    "static_frictions": "friction",
    "viscous_frictions": "damping",
    "stiffnesses": "drive_stiffness",
    "dampings": "drive_damping",
    "max_efforts": "drive_limit",
    "position_targets": "position_target",
    "velocity_targets": "velocity_target",
    "max_velocities": "max_velocity",
}


@dataclass
class Axis:
    """One degree of freedom of a joint."""

    name: str
    joint: str
    # in multiple-apply schemas of the joint, see `usd.joint_properties`
    usd_name: str
    linear: bool
    # the joint's origin, and the axis, in the frame of the body that it carries
    anchor: np.ndarray
    direction: np.ndarray
    lower: float = -math.inf
    upper: float = math.inf
    armature: float = 0.0
    friction: float = 0.0
    # how hard its dry friction is, as MuJoCo's solref and solimp; as hard as can be where there are none
    hardness: dict[str, list[float]] = field(default_factory=dict)
    damping: float = 0.0
    # of a spring, and where it rests
    stiffness: float = 0.0
    rest: float = 0.0
    # time constant [s] and damping ratio that MuJoCo finds stiffness and damping for
    springdamper: tuple[float, float] = (0.0, 0.0)
    drive_stiffness: float = 0.0
    drive_damping: float = 0.0
    drive_limit: float = math.inf
    position_target: float = 0.0
    velocity_target: float = 0.0
    # between which the drive holds its targets, which may be others
    position_range: Bounds = NO_BOUNDS
    velocity_range: Bounds = NO_BOUNDS
    max_velocity: float = math.inf
    # its position where the body is at its place in the parent
    reference: float = 0.0
    # at the beginning
    position: float = 0.0
    velocity: float = 0.0


@dataclass
class Body:
    """One rigid body and the joint that carries it.

    `kind` is fixed, free, ball or axes; `position` and `quaternion` place it in its parent while its axes are at their
    references. `anchor` and `turn`, a quaternion, place the frame of its joint in the body.
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
    # what part of its weight is taken from it
    weightless: float = 0.0
    # of a free or ball joint, on each of its axes
    armature: float = 0.0
    # of its origin in the world, and of its turning in its own frame; of a free body
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(6))
    turn: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that carry it, each once: several have an axis or more each."""
        return tuple(dict.fromkeys(axis.joint for axis in self.axes)) or (self.joint,)


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
    # known of what is to be drawn
    color: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 1.0)
    vertices: np.ndarray | None = None
    faces: np.ndarray | None = None
    # bits of what it is, and of what it touches: two shapes touch where a bit of one's first is in the other's second
    touches: tuple[int, int] = (1, 1)
    # not drawn: a collider that something else shows
    hidden: bool = False


@dataclass
class Mimic:
    """A joint that follows another: `follower = c0 + c1·leader + c2·leader² + …`; without a leader it stays at `c0`."""

    follower: Axis
    leader: Axis | None
    coefficients: tuple[float, float, float, float, float]
    # how hard it is, as MuJoCo's solref and solimp; its defaults where there are none
    hardness: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Loop:
    """A joint that closes a loop: a constraint between two bodies, -1 is the world, and no degree of freedom.

    `kind` is fixed, hinge or ball. A frame, position and quaternion, is given in each of the bodies; a hinge turns
    about the z axis of both.
    """

    joint: str
    kind: str
    bodies: tuple[int, int]
    frames: tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    # as that of `Mimic`
    hardness: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Tendon:
    """A length and what it does: the sum of some axes times coefficients, or a way through points on bodies.

    Args:
        name: Its own.
        path: Axes and coefficients; or strands of points, each a body's number, -1 is the world, and a place [m] on it.
        limits: Lower and upper limit of the length, or None.
        rest: Lengths between which its spring is slack; negative where that is its length in the reference position.
        values: stiffness, damping, frictionloss, armature.
        hardness: Of its friction, as that of `Mimic`.
    """

    name: str
    path: list[tuple[Axis, float]] | list[list[tuple[int, np.ndarray]]]
    limits: tuple[float, float] | None
    rest: tuple[float, float]
    values: dict[str, float]
    hardness: dict[str, list[float]] = field(default_factory=dict)


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
    loops: list[Loop]
    tendons: list[Tendon]
    articulations: list[Articulation]
    # pairs of body numbers, -1 is the world
    no_contact: list[tuple[int, int]]
    # an `MjSpec` that MuJoCo read by itself: it has all of this but the drives, and paths and axes are its names
    spec: Any = None
    # what such a file says of its motors, by pattern, and of what is to be warned who takes them
    motors: dict[str, MotorConfig] = field(default_factory=dict)
    not_in_motors: list[str] = field(default_factory=list)
    # where its free and ball joints begin, by name, if not at their places: positions and velocities as MuJoCo has them
    begin: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    # root bodies that are to begin on the ground, which `hosts.mujoco.standing` added
    on_ground: list[str] = field(default_factory=list)
