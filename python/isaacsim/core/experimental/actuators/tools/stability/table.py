"""Stability margins of robots, as rows, text and JSON, and their computation from numbers."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.values import ArrayLike, as_numbers
from ...laws.contract.coupling import coupled_inertias
from ...specs.arguments import names_of, number_of, require_type
from ...specs.config import Config
from ...specs.fields import violations
from ...specs.implicit import ImplicitConfig
from ...specs.stages import parts_of
from ..contents import for_json
from ..plots.units import heading, numbers_of
from .chatter import AssumedInertia
from .implicit import Implicit, is_sensed, mode_of
from .loop import Loop, require_step
from .springs import UnresolvedSpring
from .timing import Timing

_COLUMNS = {
    "effort_mode": "Effort mode",
    "kp": "kp",
    "kd": "kd",
    "ki": "ki",
    "latency": "Latency",
    "inertia": "Inertia",
    "margin": "Margin",
    "armature": "Armature",
    "smallest_armature": "Smallest armature",
    "largest_step": "Largest step",
}
_SECONDS = ("latency", "largest_step")

QUANTITIES = {
    "kp": "stiffness",
    "kd": "damping",
    "ki": "integral",
    **dict.fromkeys(("inertia", "armature", "smallest_armature"), "inertia"),
}
"""Quantities of columns of a table of `JointStability`, fields of `Units`."""

IMPLICIT_REMEDY = 'effort_mode="implicit"'
"""The remedy that an effort at the end of the step is, in words."""


@dataclass(frozen=True)
class JointStability:
    """One driven joint of one robot; the other joints move freely.

    Args:
        robot: Path of the robot.
        joint: Name of the joint.
        kp: Proportional gain at the joint, behind gear and transmission [N·m/rad or N/m].
        kd: Derivative gain at the joint [N·m·s/rad or N·s/m].
        ki: Integral gain at the joint [N·m/(rad·s) or N/(m·s)].
        inertia: Inertia at the motor, `1 / diag(M⁻¹)`, with couplings that the simulator tells [kg·m² or kg].
        margin: Gain margin, the factor by which all its gains may grow; below 1 it vibrates. At 0 smaller gains do not
            help, only more damping.
        armature: Its armature [kg·m² or kg].
        smallest_armature: Smallest armature with which the robot is stable if all joints have theirs, 0 if none is
            needed, infinite if none is enough; for a stable robot at most the present one.
        largest_step: Largest stable physics step [s]; 0 if none is, as where a latency in seconds is too long.
        latency: How late its effort acts on what was measured, on average [s]: latency of the encoder, delay of the
            effort, and half of what the period of its controller is longer than the physics step.
        effort_mode: `"implicit"` if its effort is that of the end of the physics step, else `"explicit"`.
        stepped_inertia: Inertia with which an implicit effort is solved [kg·m² or kg]; 0 for an explicit one.
        load_share: Share of what else moved an implicit joint in a step that the next one takes for its load, less than
            that of `ImplicitConfig` if joints are coupled; 0 if the simulator tells the whole load, and for an explicit
            joint.
        turns: True if the joint turns, False if it slides, None if that is unknown.
    """

    robot: str
    joint: str
    kp: float
    kd: float
    ki: float
    inertia: float
    margin: float
    armature: float
    smallest_armature: float
    largest_step: float
    latency: float = 0.0
    effort_mode: str = "explicit"
    stepped_inertia: float = 0.0
    load_share: float = 0.0
    turns: bool | None = None


@dataclass(frozen=True)
class RobotStability:
    """All driven joints of a robot together, whose loops act on each other.

    Args:
        robot: Path of the robot.
        margin: Gain margin, the factor by which all gains may grow; below 1 the robot vibrates.
        spectral_radius: Largest magnitude of the eigenvalues of a physics step.
        largest_step: Largest stable physics step [s].
        velocity_weight: Velocity weight of the simulator, see `stability_of`.
        implicit_helps: True if it vibrates, and would not with `effort_mode="implicit"`.
        is_known: False if laws without known gains move some of its joints: numbers are those of the others alone.
    """

    robot: str
    margin: float
    spectral_radius: float
    largest_step: float
    velocity_weight: float = 1.0
    implicit_helps: bool = False
    is_known: bool = True

    @property
    def stable(self) -> bool:
        """True if it does not vibrate by the gains that are known."""
        return self.margin >= 1.0

    @property
    def verdict(self) -> str:
        """`"stable"` or `"vibrating"`, and `"unknown"` if it would be stable but for joints whose gains are unknown."""
        return "vibrating" if not self.stable else "stable" if self.is_known else "unknown"


@dataclass(frozen=True)
class Stability:
    """Stability margins of robots.

    Args:
        dt: Physics step [s].
        joints: Joints driven by PD or PID laws, robot by robot.
        robots: Each robot as a whole.
        unknown: Joints without gains: their law is a network, one's own, behind a linkage or none; and implicit joints
            of which no inertia is known, so that they get no effort.
        left_out: Laws, by their names in motor files and the joints, that change efforts, are no limits and are not in
            the equations, each with the reason: friction, for instance, or a spring before the joint. A rigid gear is
            in the equations.
        chatter: Joints whose friction assumes more than twice their inertia, or whose effort at the end of the step
            assumes more than their inertia, so that they may chatter instead of coming to rest; friction is in neither
            margins nor `stable`.
        springs: Joints whose elastic transmission oscillates so fast that the physics step damps it, with the damping
            ratio.
        sensed: Joints whose effort is explicit although their actuator is implicit, as their controller gets what a
            sensor measured before the step.
    """

    dt: float
    joints: tuple[JointStability, ...]
    robots: tuple[RobotStability, ...]
    unknown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    chatter: tuple[AssumedInertia, ...] = ()
    springs: tuple[UnresolvedSpring, ...] = ()
    sensed: tuple[str, ...] = ()

    @property
    def stable(self) -> bool:
        """True if no robot vibrates by the gains that are known; `verdict` of a robot says whether all are."""
        return all(robot.stable for robot in self.robots)

    def to_json(self) -> str:
        """Return everything as a JSON object; infinity is the text `inf`."""
        robots = [dataclasses.asdict(robot) | {"verdict": robot.verdict} for robot in self.robots]
        return json.dumps(for_json({**dataclasses.asdict(self), "robots": robots, "stable": self.stable}))

    def __str__(self) -> str:
        lines = [line for robot in self.robots for line in self._lines(robot)]
        lines += [f"explicit, as a sensor measures them: {', '.join(self.sensed)}"] if self.sensed else []
        lines += [f"left out: {one}" for one in self.left_out]
        lines += [f"may chatter: {one}" for one in self.chatter]
        return "\n".join([*lines, *(f"not resolved: {one}" for one in self.springs)])

    def _lines(self, robot: RobotStability) -> list[str]:
        name = robot.robot or "robot"
        title = (
            f"{name} {robot.verdict} at dt = {self.dt:g} s: margin {robot.margin:.3g}, spectral radius "
            f"{robot.spectral_radius:.6g}, largest step {robot.largest_step:.3g} s"
        )
        mine = [joint for joint in self.joints if joint.robot == robot.robot]
        if not (mine or robot.is_known):
            return [f"{name} unknown at dt = {self.dt:g} s: no joint has gains that are known"]
        turns = [joint.turns for joint in mine]
        hidden = idle_columns(self.joints)
        columns = [_column(name, mine, turns) for name in _COLUMNS if name not in hidden]
        lines = _aligned([["Joint", "", *(joint.joint for joint in mine)], *columns])
        remedy = [f"{name} would be stable with {IMPLICIT_REMEDY}"] * robot.implicit_helps
        return [title, *lines, *remedy]


def _aligned(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: names are left-aligned, numbers right-aligned."""
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def idle_columns(joints: Sequence[JointStability]) -> set[str]:
    """Return the columns that tables leave out: integral gains, latencies and effort modes that no joint has."""
    there = {
        "ki": any(joint.ki for joint in joints),
        "latency": any(joint.latency for joint in joints),
        "effort_mode": any(map(_is_implicit, joints)),
    }
    return {name for name, is_there in there.items() if not is_there}


@dataclass(frozen=True)
class Mechanics:
    """A robot as its simulator steps it; joints without names have numbers."""

    # with the armatures, `(J, J)`, all joints driven [kg·m² or kg]
    mass_matrix: np.ndarray
    # within it, a number or `(J,)` [kg·m² or kg]
    armature: npt.ArrayLike = 0.0
    joints: Sequence[str] | None = None
    robot: str = ""
    # of the velocity after the step in the position update, see `stability_of`
    velocity_weight: float = 1.0
    # else a joint slides; None if that is unknown
    turns: Sequence[bool | None] | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= number_of("velocity_weight", self.velocity_weight) <= 1.0:
            raise ValueError(
                f"velocity_weight = {self.velocity_weight}: must be in 0.5 … 1. Take 1 for a semi-implicit step."
            )
        # the class is frozen
        object.__setattr__(self, "mass_matrix", _mass_matrix(self.mass_matrix))

    @property
    def names(self) -> list[str]:
        """Names of the joints; ValueError if there are more or fewer than joints."""
        count = len(self.mass_matrix)
        found = [str(at) for at in range(count)] if self.joints is None else names_of("joints", self.joints)
        if len(found) != count:
            raise ValueError(f"joints has {len(found)} names: must have {count}, one per row of the mass matrix.")
        return found


def stability_of(
    mass_matrix: npt.ArrayLike,
    dt: float,
    kp: npt.ArrayLike,
    kd: npt.ArrayLike,
    ki: npt.ArrayLike = 0.0,
    *,
    armature: npt.ArrayLike = 0.0,
    joints: Sequence[str] | None = None,
    robot: str = "",
    velocity_weight: float = 1.0,
    latency: npt.ArrayLike = 0.0,
    stages: Iterable[Config] = (),
) -> Stability:
    """Return the stability margins of a robot, from numbers alone.

    Args:
        mass_matrix: Mass matrix with the armatures, shape `(J, J)`, all joints driven [kg·m² or kg].
        dt: Physics step [s], over which each effort is constant.
        kp: Proportional gains, a number or shape `(J,)` [N·m/rad or N/m].
        kd: Derivative gains, a number or shape `(J,)` [N·m·s/rad or N·s/m].
        ki: Integral gains, a number or shape `(J,)`; default 0 [N·m/(rad·s) or N/(m·s)].
        armature: Armature within the mass matrix, a number or shape `(J,)`; default 0 [kg·m² or kg].
        joints: Names of the joints; default their numbers.
        robot: Name of the robot.
        velocity_weight: Weight w of the velocity after the step in the simulator's position update,
            `q⁺ = q + dt·((1 − w)·v + w·v⁺)`; default 1, as in MuJoCo. PhysX has (n + 1)/(2·n) with n solver position
            iterations.
        latency: How late controllers get their measurements, a number or shape `(J,)`; default 0 [s]. Very many steps
            of it are computed as fewer, within 1 %.
        stages: Stages of all joints, of which an encoder, an effort delay, a rate of the controller and an effort mode
            count; default none. Their latencies add to `latency`. `ImplicitConfig()` makes joints without encoder and
            `latency` implicit, with its assumed inertia, or with the coupled inertia of the mass matrix if that is 0.

    Raises:
        ValueError: `dt` is not a finite number > 0, a gain or latency is negative or not finite, `velocity_weight` is
            not in 0.5 … 1, shapes do not fit, the mass matrix is not positive definite, a stage has a wrong value, is
            the second of its kind, or cannot be beside an effort mode.
        TypeError: One of the stages is none.

    Example:
        >>> from isaacsim.core.experimental.actuators import ImplicitConfig, stability_of
        >>> print(stability_of([[0.25]], 1 / 200, kp=100.0, kd=120.0).joints[0].margin < 1)
        True
        >>> stability_of([[0.25]], 1 / 200, kp=100.0, kd=6.0).stable
        True
        >>> stability_of([[0.25]], 1 / 200, kp=100.0, kd=6.0, latency=0.05).stable
        False
        >>> stability_of([[0.25]], 1 / 200, kp=2e4, kd=120.0, stages=[ImplicitConfig()]).stable
        True
    """
    require_step(dt)
    count, given = len(matrix := _mass_matrix(mass_matrix)), list(stages)
    late = _numbers("latency", latency, count)
    timing, measured = _timing_of(given, count).later(late), (late > 0.0) | is_sensed(given)
    mode = mode_of(given)
    implicit = None if mode is None else _implicit(matrix, mode, measured)
    at_once = ~measured & (timing.latencies(dt) == 0.0)
    mechanics = Mechanics(matrix, armature, joints, robot, velocity_weight)
    table = stability_with(timing, mechanics, dt, (kp, kd, ki), implicit=implicit, may_be_implicit=at_once)
    late_modes = measured & (mode is not None)
    sensed = [row.joint for row, found in zip(table.joints, late_modes, strict=True) if found]
    return dataclasses.replace(table, sensed=tuple(sensed))


def stability_with(
    timing: Timing,
    mechanics: Mechanics,
    dt: float,
    gains: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    *,
    implicit: Implicit | None = None,
    may_be_implicit: np.ndarray | None = None,
) -> Stability:
    """Return the stability margins of a robot with a timing for each joint; for the rest see `stability_of`.

    Of the joints in the mask `may_be_implicit`, `RobotStability.implicit_helps` tells.
    """
    require_step(dt)
    matrix, robot, weight = mechanics.mass_matrix, mechanics.robot, mechanics.velocity_weight
    count = len(matrix)
    given = dict(zip(("kp", "kd", "ki", "armature"), (*gains, mechanics.armature), strict=True))
    values = np.array([_numbers(name, value, count) for name, value in given.items()])
    names = mechanics.names
    modes = Implicit.none(count) if implicit is None else implicit
    loop = Loop(np.linalg.inv(matrix), values[:3], weight, timing, modes)
    whole = RobotStability(robot, loop.margin(dt), loop.radius(dt), loop.largest_step(dt), weight)
    if may_be_implicit is not None and not whole.stable:
        others = may_be_implicit & ~modes.mask
        helps = bool(others.any()) and loop.with_implicit(others).is_stable(dt)
        whole = dataclasses.replace(whole, implicit_helps=helps)
    alone = list(map(loop.joint, range(count)))
    columns = (
        *(*values[:3], loop.inertias, [one.margin(dt) for one in alone]),
        *(values[3], loop.smallest_armatures(dt, values[3]), [one.largest_step(dt) for one in alone]),
        timing.latencies(dt),
    )
    numbers: list[list[Any]] = np.array(columns).T.tolist()
    turns = [None] * count if mechanics.turns is None else mechanics.turns
    joints = enumerate(zip(names, numbers, turns, strict=True))
    rows = [_with_mode(JointStability(robot, name, *row, turns=kind), modes, at) for at, (name, row, kind) in joints]
    return Stability(dt, tuple(rows), (whole,))


def _with_mode(row: JointStability, modes: Implicit, at: int) -> JointStability:
    """Return a row with the effort mode of its joint."""
    if not modes.mask[at]:
        return row
    inertia, share = float(modes.inertias[at]), float(modes.load_shares[at])
    return dataclasses.replace(row, effort_mode="implicit", stepped_inertia=inertia, load_share=share)


def _implicit(matrix: np.ndarray, mode: ImplicitConfig, measured: np.ndarray) -> Implicit:
    """Return the implicit joints: all that are not measured late."""
    assumed = np.where(measured, np.nan, mode.assumed_inertia)
    if mode.assumed_inertia:
        return Implicit.known(0.0, 0.0, assumed, mode.load_share)
    inverse = np.linalg.inv(matrix)
    return Implicit.known(coupled_inertias(inverse), 1.0 / np.diag(inverse), assumed, mode.load_share)


def _timing_of(stages: Iterable[Config], count: int) -> Timing:
    """Return the timing that stages make for joints."""
    given = list(stages)
    for stage in given:
        require_type("stages", stage, Config, "configs of stages")
    # refuses two of a kind
    parts_of(given)
    if problems := [one for stage in given for one in violations(stage, type(stage).__name__)]:
        raise ValueError("\n".join(problems))
    return Timing.of(given, count)


def _mass_matrix(given: ArrayLike) -> np.ndarray:
    matrix = as_numbers(given, "mass_matrix")
    count = len(matrix) if matrix.ndim else 0
    matrix = matrix.astype(float) if matrix.shape == (count, count) else matrix
    if matrix.shape != (count, count) or not _is_positive_definite(matrix):
        raise ValueError(
            f"mass_matrix of shape {matrix.shape}: must be (J, J), symmetric and positive definite. Take that of the "
            "driven joints."
        )
    return matrix


def _numbers(name: str, given: ArrayLike, count: int) -> np.ndarray:
    """Return one value per joint."""
    values = as_numbers(given, name)
    if values.shape not in ((), (count,)) or not (np.isfinite(values) & (values >= 0.0)).all():
        raise ValueError(f"{name} = {given}: must be a finite number >= 0, or {count} of them, one per joint.")
    return np.broadcast_to(values, count)


def _is_positive_definite(matrix: np.ndarray) -> bool:
    if not (
        np.isfinite(matrix).all()
        and np.allclose(matrix, matrix.T, rtol=1e-4, atol=1e-6 * np.abs(matrix).max(initial=0.0))
    ):
        return False
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def cures_of(table: Stability, robot: RobotStability) -> str:
    """Return the stable gains of a vibrating robot in words: its margin, and the gains of the vibrating joints.

    Rounded down; empty if the robot is stable, or smaller gains do not help.
    """
    if robot.stable or not robot.margin:
        return ""
    short = [one for one in table.joints if one.robot == robot.robot and one.armature < one.smallest_armature]
    gains = "; ".join(f"{one.joint} {lowered(one, robot)}" for one in short)
    return f"all gains times {_below(robot.margin)}" + (f", which makes {gains}" if gains else "")


def late_joints(table: Stability) -> list[str]:
    """Return in words what damping joints need that vibrate because their effort acts late."""
    robots = {robot.robot: robot for robot in table.robots}
    needs = ((one, least_damping(one, robots[one.robot], table.dt)) for one in table.joints if one.latency)
    return [
        f"The effort of {one.joint} acts {one.latency:.3g} s late: its kp = {one.kp:.3g} needs more than kd = "
        f"{least:.3g}, and it has {one.kd:.3g}. Damp it, or lower kp."
        for one, least in needs
        if one.kd <= least and not robots[one.robot].stable
    ]


def least_damping(joint: JointStability, robot: RobotStability, dt: float) -> float:
    """Return the derivative gain below which a joint vibrates at any inertia, as its effort comes too late.

    An effort at the end of the step does not.
    """
    return 0.0 if _is_implicit(joint) else joint.kp * (joint.latency + (1.0 - robot.velocity_weight) * dt)


def lowered(joint: JointStability, robot: RobotStability) -> str:
    """Return the gains of a joint times the margin of its robot, in words, rounded down."""
    gains = {name: getattr(joint, name) for name in ("kp", "kd", "ki")}
    return ", ".join(f"{name} = {_below(robot.margin * value)}" for name, value in gains.items() if value)


def _is_implicit(joint: JointStability) -> bool:
    return joint.effort_mode == "implicit"


def _column(name: str, joints: Sequence[JointStability], turns: Sequence[bool | None]) -> list[str]:
    """Return a column of the table: its heading, the unit below that, and a value of each joint."""
    values = [value if isinstance(value := getattr(joint, name), str) else f"{value:.4g}" for joint in joints]
    quantity = QUANTITIES.get(name)
    if quantity is None:
        return [_COLUMNS[name], "[s]" if name in _SECONDS else "", *values]
    return [_COLUMNS[name], heading("", quantity, turns).strip(), *numbers_of(values, quantity, turns)]


def _below(number: float) -> str:
    """Return three digits of a number, not rounded up."""
    if not number > 0.0:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return f"{math.floor(number / digit) * digit:.3g}"
