"""The scene of the embedded physics as plain data: robots and their environment.

Values are SI, rad and m; quaternions are (w, x, y, z).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...base.errors import listed
from ...specs.arguments import number_of, require_type
from ...specs.linear_actuators import NO_BOUNDS, Bounds
from ...specs.motors import MotorConfig
from ...specs.patterns import assigned

# properties of joints, see `files.usd.joint_properties`, and the fields of an axis; later ones override
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

NAMELESS = "fixed"
"""Name of the joint of a fixed body for which a file has none."""


@dataclass
class Axis:
    """One degree of freedom of a joint."""

    name: str
    joint: str
    # name in multiple-apply schemas of the joint, see `files.usd.joint_properties`
    usd_name: str
    linear: bool
    # origin and direction in the frame of the carried body
    anchor: np.ndarray
    direction: np.ndarray
    lower: float = -math.inf
    upper: float = math.inf
    armature: float = 0.0
    friction: float = 0.0
    # MuJoCo's solref and solimp of its dry friction; as hard as possible if empty
    hardness: dict[str, list[float]] = field(default_factory=dict)
    damping: float = 0.0
    # spring, and its rest position
    stiffness: float = 0.0
    rest: float = 0.0
    # time constant [s] and damping ratio, from which MuJoCo computes stiffness and damping
    springdamper: tuple[float, float] = (0.0, 0.0)
    drive_stiffness: float = 0.0
    drive_damping: float = 0.0
    drive_limit: float = math.inf
    # constant effort, while the drive has gains
    drive_effort: float = 0.0
    position_target: float = 0.0
    velocity_target: float = 0.0
    # ranges to which the drive clamps its targets
    position_range: Bounds = NO_BOUNDS
    velocity_range: Bounds = NO_BOUNDS
    max_velocity: float = math.inf
    # position at which the body is at its pose in the parent
    reference: float = 0.0
    # initial state
    position: float = 0.0
    velocity: float = 0.0


@dataclass
class Body:
    """One rigid body, its pose in the parent with axes at their references, and the joint that carries it.

    `kind` is fixed, free, ball or axes; `anchor` and the quaternion `turn` are the frame of the joint in the body.
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
    # part of its weight that is compensated
    weightless: float = 0.0
    # armature of a free or ball joint, on each of its axes
    armature: float = 0.0
    # of a free body: linear velocity of its origin in the world, angular velocity in its own frame
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(6))
    turn: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that carry it, each once."""
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
    # known for drawn shapes
    color: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 1.0)
    vertices: np.ndarray | None = None
    faces: np.ndarray | None = None
    # own and contact mask: two shapes touch if the own mask of one has a bit of the contact mask of the other
    touches: tuple[int, int] = (1, 1)
    # True for a collider that is not drawn
    hidden: bool = False


@dataclass
class Mimic:
    """A joint that follows another: `follower = c0 + c1·leader + c2·leader² + …`; without a leader it stays at `c0`."""

    follower: Axis
    leader: Axis | None
    coefficients: tuple[float, float, float, float, float]
    # MuJoCo's solref and solimp; its defaults if empty
    hardness: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Loop:
    """A fixed, hinge (about z) or ball constraint between frames of two bodies, -1 is the world; it is no DOF."""

    joint: str
    kind: str
    bodies: tuple[int, int]
    frames: tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    # see `Mimic`
    hardness: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Tendon:
    """A tendon, whose length is a weighted sum of axes, or that of a path through points on bodies.

    A path is axes and coefficients, or strands of points: number of a body, -1 is the world, and position [m] on it.
    `limits` bound the length, if any; the spring is slack within `rest`, negative for the length in the reference
    position. `values` are stiffness, damping, frictionloss and armature; `hardness` is that of friction, see `Mimic`.
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
    """All that the embedded physics simulates of a stage or file."""

    gravity: np.ndarray
    bodies: list[Body]
    shapes: list[Shape]
    mimics: list[Mimic]
    loops: list[Loop]
    tendons: list[Tendon]
    articulations: list[Articulation]
    # pairs of body numbers, -1 is the world
    no_contact: list[tuple[int, int]]
    # an `MjSpec` of a file that MuJoCo read: it has all of this except the drives, and paths and axes are its names
    spec: Any = None
    # its actuators that are no drive and that a motor of an axis replaces, by the name of the axis
    actuators: dict[str, list[str]] = field(default_factory=dict)
    # motors of such a file by pattern, and parts of the file that they lack
    motors: dict[str, MotorConfig] = field(default_factory=dict)
    not_in_motors: list[str] = field(default_factory=list)
    # initial positions and velocities of its free and ball joints by name, in MuJoCo's layout, if not at their poses
    begin: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    # values of such a file that are not read, because another one means the same and differs
    two_values: list[str] = field(default_factory=list)
    # root bodies that begin on the ground, which `simulators.mujoco.standing` added
    on_ground: list[str] = field(default_factory=list)


# tolerance of joint limits for initial positions [rad or m]
OFF = 1e-3
# remedy on a stage
BEGIN_ELSEWHERE = (
    "Author the joint state that they shall begin in, `state:angular:physics:position` in degrees or "
    "`state:linear:physics:position`, or call set_dof_positions after play()."
)


def warn_of_beginnings(
    where: str, joints: Iterable[tuple[str, float, float, float]], remedy: str, *, stacklevel: int
) -> None:
    """Warn once of all joints that begin outside their limits, given by name, position and limits [rad or m].

    `where` is the file and a colon, empty if the joints are paths; `stacklevel` is that of the caller.
    """
    outside = [
        f"{name} ({position:.4g}, limits {lower:.4g} … {upper:.4g})"
        for name, position, lower, upper in joints
        if not lower - OFF <= position <= upper + OFF
    ]
    if outside:
        warnings.warn(
            f"{where}joints begin outside their limits, in rad or m, and are pushed back at once: {listed(outside)}. "
            f"{remedy}",
            stacklevel=stacklevel + 1,
        )


def begin_at(axes: Sequence[Axis], positions: Mapping[str, float]) -> None:
    """Set initial positions of joints [rad or m], by pattern of names, and their position targets with them.

    A `ValueError` has a line for each wrong pattern, ambiguous joint and position outside limits; nothing changes then.
    """
    require_type("initial_positions", positions, Mapping, "a dictionary of positions by pattern of joint names")
    values = {pattern: number_of(f"initial_positions[{pattern!r}]", value) for pattern, value in positions.items()}
    names = list(dict.fromkeys(axis.name for axis in axes))
    patterns, problems = assigned(values, names, "initial_positions", every=False)
    begun = [(axis, values[patterns[axis.name]]) for axis in axes if axis.name in patterns]
    problems += [problem for axis, value in begun if (problem := _problem(axis, value))]
    if problems:
        raise ValueError("\n".join(problems))
    for axis, value in begun:
        axis.position, axis.position_target = value, value


def _problem(axis: Axis, value: float) -> str:
    if math.isfinite(value) and axis.lower - OFF <= value <= axis.upper + OFF:
        return ""
    unit = "m" if axis.linear else "rad"
    return (
        f"initial_positions: {axis.name} = {value:g}: must be within its limits, {axis.lower:.4g} … {axis.upper:.4g} "
        f"{unit}. Correct it."
    )
