"""Config of the linkage between the shafts of motors and the joints that they move, and linkages of known geometry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, Unpack

from ..base.errors import shown
from .config import MAX_TABLE_ROWS, Config
from .fields import Description, complaint, described, parameter, parameters_of, required

_Joint = TypeVar("_Joint", int, str)

MOST_JOINTS = 8
"""Largest number of joints of a linkage with coefficients; a table is over one or two."""


def _of_linkage(name: str, unit: str, /, **rule: Unpack[Description]) -> Description:
    return described("linkage", name, unit, (), type="float[]") | {"most": MAX_TABLE_ROWS} | rule


@dataclass
class LinkageConfig(Config):
    """Angle of one motor's shaft as a function of the joints that it moves, alone or together with other motors.

    `shaft = Σ coefficients·q + offset`, or a table over the positions of one or two joints. The torque of the shaft
    acts on each joint with the slope of that function, so power is kept. Each motor is at one of `joints`, with a
    `LinkageConfig` of the same joints. Joints that are left without a motor, as those of a finger whose tendon passes
    several, get an idle shaft, which no effort turns: what the motors do not see of their motion is free. A table
    needs as many motors as joints. Controller, limits and transmission of an actuator are those of its motor, whose
    shaft the linkage turns; friction, position tables and readings of the simulator are those of the joint. Targets
    and feedforward are converted before the delay, unless those of the transmission are the motor's: targets are those
    of the shaft at the targets of all joints, and a feedforward is the one whose efforts at the joints are nearest,
    in least squares, to those asked for. The schema is our own.

    Raises:
        ValueError: There is not one function, of as many joints, or a number is not finite; a line for each.

    Example:
        >>> pitch, roll = LinkageConfig.differential("pitch", "roll")
        >>> roll.joints, roll.coefficients
        (['pitch', 'roll'], [1.0, -1.0])
    """

    SCHEMA: ClassVar[str] = "ActuatorLinkageAPI"
    KIND: ClassVar[str] = "linkage"

    joints: list[str] = required(**described("linkage", "joints", "", None, type="token[]"))
    """Names of the joints that the shaft depends on, the same for all motors of a linkage, one to eight."""
    coefficients: list[float] = parameter(**_of_linkage("coefficients", ""))
    """Angle of the shaft per position of each joint; empty with a table."""
    offset: float = parameter(**described("linkage", "offset", "rad or m", 0.0))
    """Angle of the shaft where all joints are at 0 [rad], of `coefficients`."""
    lower: list[float] = parameter(**_of_linkage("lower", "rad or m"))
    """First position of each joint in the table [rad or m]."""
    upper: list[float] = parameter(**_of_linkage("upper", "rad or m"))
    """Last position of each joint in the table [rad or m]; beyond, the shaft goes on with the slope at the end."""
    rows: int = parameter(**described("linkage", "rows", "", 0, type="int", lower=0, upper=10_000))
    """Number of positions of the first joint in the table, evenly spaced; those of a second joint vary faster."""
    angles: list[float] = parameter(**_of_linkage("angles", "rad or m"))
    """Angle of the shaft at each node of the table [rad]."""
    slopes: list[float] = parameter(**_of_linkage("slopes", ""))
    """Change of that angle per change of the first joint at each node, then likewise of the second one."""
    unilateral: bool = parameter(**described("linkage", "unilateral", "", False, type="bool"))
    """True for a cable, which pulls and never pushes: behind the limits of its motor, a negative effort becomes 0."""

    def __post_init__(self) -> None:
        if isinstance(self.joints, str):
            self.joints = [self.joints]
        described = parameters_of(self)
        found = (complaint(f"LinkageConfig.{name}", getattr(self, name), one) for name, one in described.items())
        problems = [one for one in found if one] or [f"LinkageConfig.{one}" for one in self.conflicts()]
        if problems:
            raise ValueError("\n".join(problems))
        self.joints = list(self.joints)
        for name in ("coefficients", "lower", "upper", "angles", "slopes"):
            setattr(self, name, [float(one) for one in getattr(self, name)])

    @property
    def is_table(self) -> bool:
        """True if the shaft is a table over the joints."""
        return len(self.angles) > 0

    @property
    def counts(self) -> tuple[int, int]:
        """Number of positions of the first and of the second joint in the table."""
        return self.rows, len(self.angles) // self.rows if self.rows else 0

    def conflicts(self) -> list[str]:
        """Return what is wrong between joints, coefficients and table."""
        count, names = len(self.joints), ", ".join(map(shown, self.joints))
        if not 1 <= count <= MOST_JOINTS or len(set(self.joints)) < count:
            return [f"joints has {names or 'none'}: must be one to {MOST_JOINTS} names, each once. Correct them."]
        if bool(len(self.coefficients)) == self.is_table:
            return ["coefficients must be given, or a table with angles, and not both. Give one of them."]
        if self.is_table:
            return self._table_conflicts(count, names)
        return [] if len(self.coefficients) == count else [_numbers("coefficients", self.coefficients, count)]

    def _table_conflicts(self, count: int, names: str) -> list[str]:
        if count > 2:
            return [f"joints has {names}: must be one or two with a table. Give coefficients instead."]
        ends = {"lower": self.lower, "upper": self.upper}
        if found := [_numbers(name, values, count) for name, values in ends.items() if len(values) != count]:
            return found
        if any(not low < high for low, high in zip(self.lower, self.upper, strict=True)):
            return [f"lower = {list(self.lower)}: must be below upper, {list(self.upper)}. Correct either."]
        nodes = self.counts[:count]
        if min(nodes) < 2 or math.prod(nodes) != len(self.angles):
            return [
                f"rows = {self.rows} with {len(self.angles)} angles: must be at least 2 positions of each joint. "
                "Correct rows."
            ]
        wanted = count * len(self.angles)
        return [] if len(self.slopes) == wanted else [_numbers("slopes", self.slopes, wanted)]

    # linkages of known geometry

    @classmethod
    def tendon(cls, coefficients: Mapping[str, float], offset: float = 0.0, unilateral: bool = False) -> Self:
        """Return the shaft of a tendon over several joints, such as those of a finger.

        Args:
            coefficients: Length that a unit of motion of each joint takes up, by name of the joint: the radius of its
                pulley for a length in metres, or a ratio for an angle.
            offset: Length or angle of the tendon where all joints are at 0.
            unilateral: True for a cable, which only pulls; springs of the joints or another tendon bring it back.

        Example:
            >>> LinkageConfig.tendon({"FFJ2": 1.0, "FFJ1": 1.0}).joints
            ['FFJ2', 'FFJ1']
        """
        return cls(list(coefficients), list(coefficients.values()), offset, unilateral=unilateral)

    @classmethod
    def screw_gripper(cls, lead: float, first: str, second: str) -> Self:
        """Return the shaft of a screw that moves two fingers by the same way each, as the sum of their ways.

        `shaft = (2π/lead)·(q1 + q2)/2`: half of the force of the nuts is on either finger. The fingers stay free
        against each other, unless an equality of the simulator holds them together.

        Args:
            lead: Way of a finger per turn of the screw [m].
            first: Joint of a finger.
            second: Joint of the other one.

        Raises:
            ValueError: `lead` is not a finite number other than 0.
        """
        if not (math.isfinite(lead) and lead):
            raise ValueError(f"lead = {shown(lead)}: must be a finite way per turn [m] other than 0. Correct it.")
        half = math.pi / lead
        return cls([first, second], [half, half])

    @classmethod
    def underactuated_finger(cls, radii: Mapping[str, float], unilateral: bool = True) -> Self:
        """Return the shaft of a cable over the pulleys of a finger, whose length is `Σ radius·q`.

        The finger closes around what it touches: the cable pulls at each joint with its force times the radius.

        Args:
            radii: Radius of the pulley at each joint [m], by name of the joint.
            unilateral: True if the cable only pulls, as cables do.
        """
        return cls.tendon(radii, unilateral=unilateral)

    @classmethod
    def differential(cls, first: str, second: str, ratio: float = 1.0) -> tuple[Self, Self]:
        """Return the two shafts of a differential: the first joint moves both alike, the second one against each other.

        `shaft 1 = ratio·(q1 + q2)`, `shaft 2 = ratio·(q1 − q2)`: wrists of bevel gears, hips and ankles with crossed
        motors.

        Args:
            first: Joint that both motors turn alike.
            second: Joint that they turn against each other.
            ratio: Turns of a shaft per turn of a joint.
        """
        joints = [first, second]
        return cls(joints, [ratio, ratio]), cls(joints, [ratio, -ratio])

    @classmethod
    def table(
        cls,
        joints: Sequence[str],
        shaft: Callable[..., float],
        lower: Sequence[float],
        upper: Sequence[float],
        nodes: int = 65,
    ) -> Self:
        """Return the shaft that a function of one or two joints describes, as a table.

        Args:
            joints: The joints.
            shaft: Angle of the shaft [rad] at their positions [rad or m]; smooth, and NaN where there is none.
            lower: First position of each joint [rad or m].
            upper: Last position of each joint.
            nodes: Number of positions of each joint, at least 2.

        Raises:
            ValueError: The function has no value at some position, or an argument does not fit.
        """
        if nodes < 2 or not len(joints) == len(lower) == len(upper):
            raise ValueError(
                f"nodes = {nodes}, lower = {list(lower)}, upper = {list(upper)} of joints {', '.join(joints)}: must be "
                "at least 2 nodes, and a first and a last position of each joint. Correct them."
            )
        axes = [
            [low + (high - low) * at / (nodes - 1) for at in range(nodes)]
            for low, high in zip(lower, upper, strict=True)
        ]
        points = list(itertools.product(*axes))
        steps = [1e-4 * (high - low) for low, high in zip(lower, upper, strict=True)]
        slopes = [_slope(shaft, point, at, step) for at, step in enumerate(steps) for point in points]
        angles = [shaft(*point) for point in points]
        for point, angle in zip(points, angles, strict=True):
            if not math.isfinite(angle):
                raise ValueError(
                    f"shaft{point} = {angle}: must be finite. The linkage does not reach that position; narrow "
                    "lower and upper."
                )
        return cls(list(joints), lower=list(lower), upper=list(upper), rows=nodes, angles=angles, slopes=slopes)

    @classmethod
    def four_bar(
        cls, joint: str, crank: float, rod: float, rocker: float, base: float, lower: float, upper: float, **table: Any
    ) -> Self:
        """Return the shaft of a crank that turns a joint through a rod, as at knees: a planar four-bar linkage.

        The crank turns about the origin, the rocker about the point (base, 0); both angles are measured from the line
        between them. Of the two ways to assemble it, the crank has the larger angle: with equal crank and rocker and
        equal rod and base it is a parallelogram, at joint positions between 0 and π.

        Args:
            joint: The joint, of which the rocker is a part.
            crank: Length of the crank on the shaft [m].
            rod: Length of the rod [m].
            rocker: Length of the rocker [m].
            base: Distance of joint and shaft [m].
            lower: First position of the joint, which is the angle of the rocker [rad].
            upper: Last one.
            table: `nodes` of the table.

        Raises:
            ValueError: The rod does not reach at some position.
        """

        def shaft(q: float) -> float:
            return _crank(base + rocker * math.cos(q), rocker * math.sin(q), crank, rod)

        return cls.table([joint], shaft, [lower], [upper], **table)

    @classmethod
    def parallel_ankle(
        cls,
        pitch: str,
        roll: str,
        *,
        crank: float,
        rod: float,
        anchor: Sequence[float],
        motor: Sequence[float],
        lower: Sequence[float],
        upper: Sequence[float],
        **table: Any,
    ) -> tuple[Self, Self]:
        """Return the two shafts of an ankle whose motors in the shank move the foot by a rod on either side.

        Axes of the shank at the ankle: x forwards, y to the left, z up. The foot turns by pitch about y, then by roll
        about x. A crank turns about y at the point `motor` and points backwards, along −x, where its angle is 0; a
        positive angle moves its end up. Ball joints connect its end by the rod to the point `anchor` of the foot. This
        is the left motor; the right one is its mirror image, with y negated.

        Args:
            pitch: Joint between shank and cross.
            roll: Joint between cross and foot.
            crank: Length of the crank [m].
            rod: Length of the rod [m].
            anchor: Point of the foot that the left rod holds, from the ankle, while both joints are at 0 [m].
            motor: Axis of the left crank, from the ankle [m].
            lower: First position of pitch and of roll [rad].
            upper: Last one.
            table: `nodes` of the table.

        Raises:
            ValueError: A rod does not reach at some position.
        """

        def shaft_of(side: float) -> Callable[[float, float], float]:
            def shaft(p: float, r: float) -> float:
                x, y, z = anchor[0], side * anchor[1], anchor[2]
                y, z = y * math.cos(r) - z * math.sin(r), y * math.sin(r) + z * math.cos(r)
                x, z = x * math.cos(p) + z * math.sin(p), -x * math.sin(p) + z * math.cos(p)
                # in the plane of the crank, whose angle is measured from −x towards z
                across = y - side * motor[1]
                reach = rod * rod - across * across
                if reach <= 0.0:
                    return math.nan
                return _crank(motor[0] - x, z - motor[2], crank, math.sqrt(reach))

            return shaft

        joints = [pitch, roll]
        left, right = (cls.table(joints, shaft_of(side), lower, upper, **table) for side in (1.0, -1.0))
        return left, right


def led_by_tendon(joints: set[_Joint], driven: Collection[_Joint], acts: bool, holds: bool) -> set[_Joint]:
    """Return the joints of a tendon that it moves: by a motor on it, or where one of them is driven and it holds."""
    others = joints.difference(driven)
    return others if len(joints) > 1 and (acts or (holds and others < joints)) else set[_Joint]()


def _crank(x: float, y: float, crank: float, rod: float) -> float:
    """Return the larger angle of a crank about the origin whose end has the distance `rod` from a point, or NaN."""
    distance = math.hypot(x, y)
    cosine = (crank * crank + distance * distance - rod * rod) / (2.0 * crank * distance) if distance else math.nan
    if not abs(cosine) <= 1.0:
        return math.nan
    return math.atan2(y, x) + math.acos(cosine)


def _slope(shaft: Callable[..., float], point: Sequence[float], number: int, step: float) -> float:
    """Return the change of a shaft per change of one of its joints, by differences with an error of fourth order."""
    at = [shaft(*(one + k * step * (n == number) for n, one in enumerate(point))) for k in (-2, -1, 1, 2)]
    return (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * step)


def _numbers(name: str, values: Sequence[float], count: int) -> str:
    return f"{name} has {len(values)} values: must be {count}. Complete it."
