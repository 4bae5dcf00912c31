"""Config of the torque-speed envelope of a motor, and its forms in data sheets and robot files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, Unpack

from .config import MAX_TABLE_ROWS, ClampingConfig, checked_table, table_conflicts
from .fields import Description, Parameter, complaint, described, parameter

# speeds at which the voltage circle is evaluated
_CIRCLE_ROWS = 129
_POSITIVE = Parameter("", "float", "", None, lower=0.0, above=True)
_NOT_NEGATIVE = Parameter("", "float", "", None, lower=0.0)
_LIMIT = Parameter("", "float", "", None, lower=0.0, infinite=True)
_SPEED_LIMIT = Parameter("", "float", "", None, lower=0.0, above=True, infinite=True)


def _of_envelope(name: str, unit: str, /, **rule: Unpack[Description]) -> Description:
    return described("envelope", name, unit, math.inf) | {"lower": 0.0, "infinite": True} | rule


def _column(name: str, unit: str) -> Description:
    return described("envelope", name, unit, (), type="float[]") | {"most": MAX_TABLE_ROWS}


@dataclass
class EnvelopeClampingConfig(ClampingConfig):
    """Two-sided torque-speed envelope: a table, the line of a DC motor that follows the supply, and a power limit.

    The effort of a motor at velocity v lies between `lower(v)` and `upper(v) = −lower(−v)`:

    `upper(v) = clip(stall_effort·(V/nominal_voltage − v/no_load_velocity), −most(−v), most(v))`

    `most(v)` is the table at v, scaled by the signal derating; where the effort drives, v > 0, also at most
    `max_driving_effort` with the same scale, and `max_power/v`. V is the signal voltage of the supply; it moves the
    line, and the table stays. Efforts at v > 0 drive, at v < 0 they brake. The schema is our own. `from_dc_motor`,
    `from_unitree`, `from_pmsm` and `from_physx` return the envelopes of these models.

    Raises:
        ValueError: The columns of the table differ in length, velocities decrease, an effort is not finite, or the
            upper bound is below the lower one.
    """

    SCHEMA: ClassVar[str] = "ActuatorEnvelopeClampingAPI"

    lookup_velocities: list[float] = parameter(**_column("lookupVelocities", "rad/s or m/s"))
    """Velocities along the effort [rad/s or m/s], not decreasing, 100 000 at most: positive where the effort drives,
    negative where it brakes."""
    lookup_efforts: list[float] = parameter(**_column("lookupEfforts", "N·m or N"))
    """Largest effort at each velocity [N·m or N], linear between rows; the end rows hold outside. A negative one forces
    the motor to brake. An empty table limits nothing."""
    stall_effort: float = parameter(**_of_envelope("stallEffort", "N·m or N"))
    """Effort of the line at rest, at nominal voltage [N·m or N]; inf switches the line off."""
    no_load_velocity: float = parameter(**_of_envelope("noLoadVelocity", "rad/s or m/s", above=True))
    """Speed at which the line is 0, at nominal voltage [rad/s or m/s]; inf for a line that does not fall."""
    nominal_voltage: float = parameter(**_of_envelope("nominalVoltage", "V"))
    """Voltage of these figures [V]; inf or 0 for a line that does not follow the supply."""
    max_power: float = parameter(**_of_envelope("maxPower", "W"))
    """Largest mechanical power where the effort drives [W]; inf means no limit."""
    max_driving_effort: float = parameter(**_of_envelope("maxDrivingEffort", "N·m or N"))
    """Largest effort where it drives [N·m or N]; inf means no limit other than the table."""

    def __post_init__(self) -> None:
        self.lookup_velocities, self.lookup_efforts = checked_table(self, "lookup_velocities", "lookup_efforts")

    def conflicts(self) -> list[str]:
        """Return the problems of the two columns."""
        velocities, efforts = list(self.lookup_velocities), list(self.lookup_efforts)
        if not velocities and not efforts:
            return []
        if problems := table_conflicts(self, "lookup_velocities", "lookup_efforts"):
            return problems
        for row, (velocity, effort) in enumerate(zip(velocities, efforts, strict=True)):
            subject = f"lookup_efforts[{row}] = {effort!r} at velocity {velocity!r}"
            if effort < 0.0 and velocity <= 0.0:
                return [
                    f"{subject}: must be at least 0 where the effort brakes, at negative velocities. Correct the row."
                ]
            # it would force more braking than it allows
            if effort < 0.0 and effort < (least := -_interpolated(-velocity, velocities, efforts)):
                return [
                    f"{subject}: must be at least {least:g}, minus the limit at the opposite velocity. Correct either."
                ]
        return []

    def bounds(self, of: Literal["effort", "speed"]) -> dict[str, float]:
        """Largest efforts along the motion, or the no-load speed."""
        if of == "speed":
            return {"no_load_velocity": self.no_load_velocity}
        table = {"lookup_efforts": max(self.lookup_efforts)} if len(self.lookup_efforts) else {}
        return {**table, "stall_effort": self.stall_effort, "max_driving_effort": self.max_driving_effort}

    def idle(self) -> dict[str, str]:
        """Fields of the line, where there is no stall effort."""
        why = "an infinite actuator:envelope:stallEffort switches the line off. Author the stall effort."
        unused = ("no_load_velocity", "nominal_voltage")
        if isinstance(self.stall_effort, float) and math.isinf(self.stall_effort):
            return {name: why for name in unused if 0.0 < getattr(self, name) < math.inf}
        return {}

    @classmethod
    def from_dc_motor(
        cls, stall: float, no_load_velocity: float, peak: float | None = None, *, nominal_voltage: float = math.inf
    ) -> Self:
        """Return the envelope of a DC motor, that of `DCMotorClampingConfig`, which also follows the supply.

        Args:
            stall: Effort at rest [N·m or N].
            no_load_velocity: Speed without load [rad/s or m/s].
            peak: Largest effort in both directions [N·m or N]; None means the stall effort.
            nominal_voltage: Voltage of these figures [V]; inf for a supply that does not matter.

        Raises:
            ValueError: A number is not finite or out of range.

        Example:
            >>> EnvelopeClampingConfig.from_dc_motor(60.0, 9.0, 40.0).lookup_efforts
            [40.0]
        """
        peak = stall if peak is None else peak
        _require(cls, "from_dc_motor", stall=stall, no_load_velocity=no_load_velocity, peak=peak)
        return cls([0.0], [peak], stall, no_load_velocity, nominal_voltage)

    @classmethod
    def from_unitree(
        cls,
        full_effort_velocity: float,
        no_load_velocity: float,
        driving_effort: float,
        braking_effort: float | None = None,
        *,
        nominal_voltage: float = math.inf,
    ) -> Self:
        """Return the envelope of `UnitreeActuatorCfg`: one limit that drives and one that brakes, both fall with speed.

        Both limits hold up to `full_effort_velocity` and fall from there to 0 at `no_load_velocity`, and stay 0. At
        rest the effort brakes.

        Args:
            full_effort_velocity: Speed up to which the limits are constant, X1 [rad/s].
            no_load_velocity: Speed from which on there is no effort, X2 [rad/s].
            driving_effort: Limit where effort and velocity have the same sign, Y1 [N·m].
            braking_effort: Limit elsewhere, Y2 [N·m]; None means Y1.
            nominal_voltage: Voltage of these figures [V]; inf for a supply that does not matter.

        Raises:
            ValueError: A number is not finite or out of range, or X1 is not below X2.

        Source: unitree_rl_lab, `unitree_actuators.py`.

        Example:
            >>> EnvelopeClampingConfig.from_unitree(13.5, 30.0, 20.2, 23.4).lookup_efforts
            [0.0, 23.4]
        """
        braking = driving_effort if braking_effort is None else braking_effort
        _require(cls, "from_unitree", no_load_velocity=no_load_velocity, driving_effort=driving_effort)
        found = complaint(f"{cls.__name__}.from_unitree.full_effort_velocity", full_effort_velocity, _NOT_NEGATIVE)
        if found or (found := complaint(f"{cls.__name__}.from_unitree.braking_effort", braking, _NOT_NEGATIVE)):
            raise ValueError(found)
        if not full_effort_velocity < no_load_velocity:
            raise ValueError(
                f"{cls.__name__}.from_unitree.full_effort_velocity = {full_effort_velocity!r}: must be below "
                f"no_load_velocity, {no_load_velocity!r}. Correct either."
            )
        rows = [(-no_load_velocity, 0.0), (-full_effort_velocity, braking)]
        if braking < driving_effort:
            # the table limits both directions
            rows += [(0.0, braking), (0.0, driving_effort)]
        stall = driving_effort * no_load_velocity / (no_load_velocity - full_effort_velocity)
        velocities, efforts = (list(column) for column in zip(*rows, strict=True))
        return cls(velocities, efforts, stall, no_load_velocity, nominal_voltage, max_driving_effort=driving_effort)

    @classmethod
    def from_pmsm(
        cls,
        flux_linkage: float,
        pole_pairs: int,
        resistance: float,
        inductance: float,
        voltage: float,
        max_current: float,
        *,
        gear_ratio: float = 1.0,
    ) -> Self:
        """Return the envelope of a permanent-magnet synchronous motor without field weakening: its voltage circle.

        The current i_q of an effort `1.5·pole_pairs·flux_linkage·i_q` satisfies, at the electrical speed ω_e,
        `(R·i_q + ω_e·λ)² + (ω_e·L·i_q)² ≤ V²/3`, and `|i_q| ≤ max_current`. Another voltage of the supply moves the
        line of L = 0, which the circle lies below: the envelope is exact for L = 0, and an upper bound otherwise.

        Args:
            flux_linkage: Flux linkage λ of the magnets, amplitude per phase [V·s].
            pole_pairs: Pole pairs.
            resistance: Resistance R of a phase [Ω].
            inductance: Inductance L of a phase [H].
            voltage: Voltage V of the DC bus [V].
            max_current: Largest amplitude of the current [A].
            gear_ratio: Turns of the rotor per turn of the joint.

        Raises:
            ValueError: A number is not finite or out of range.

        Source: R. Krishnan, Permanent Magnet Synchronous and Brushless DC Motor Drives, 2010, ch. 3.

        Example:
            >>> envelope = EnvelopeClampingConfig.from_pmsm(0.005, 14, 0.1, 5e-5, 24.0, 30.0, gear_ratio=6.0)
            >>> round(max(envelope.lookup_efforts), 6)
            18.9
        """
        positive = {"flux_linkage": flux_linkage, "pole_pairs": pole_pairs, "resistance": resistance}
        positive |= {"voltage": voltage, "max_current": max_current, "gear_ratio": gear_ratio}
        _require(cls, "from_pmsm", **positive)
        if found := complaint(f"{cls.__name__}.from_pmsm.inductance", inductance, _NOT_NEGATIVE):
            raise ValueError(found)
        phase = voltage / math.sqrt(3.0)
        constant = 1.5 * pole_pairs * flux_linkage * gear_ratio
        electrical_no_load = phase / flux_linkage
        no_load = electrical_no_load / (pole_pairs * gear_ratio)
        velocities: list[float] = []
        efforts: list[float] = []
        for row in range(_CIRCLE_ROWS):
            share = 2.0 * row / (_CIRCLE_ROWS - 1) - 1.0
            speed = share * electrical_no_load
            back_emf, reactance = speed * flux_linkage, speed * inductance
            square = resistance**2 + reactance**2
            root = math.sqrt((resistance * phase) ** 2 + reactance**2 * (phase**2 - back_emf**2))
            current = (root - resistance * back_emf) / square
            velocities.append(share * no_load)
            efforts.append(constant * min(max_current, max(current, 0.0)))
        return cls(velocities, efforts, constant * phase / resistance, no_load, voltage)

    @classmethod
    def from_physx(
        cls,
        max_force: float = math.inf,
        velocity_dependent_resistance: float = 0.0,
        max_actuator_velocity: float = math.inf,
        speed_effort_gradient: float = 0.0,
    ) -> Self:
        """Return the envelope of PhysX's drives, `|F| ≤ max_force − r·|v|` and `|v| ≤ v_max − g·|F|`.

        `upper(v) = max(0, min(max_force − r·|v|, (v_max − |v|)/g))` in both directions of the velocity.

        Args:
            max_force: Largest effort [N·m or N]; inf means no limit.
            velocity_dependent_resistance: Loss of effort per speed r [N·m·s/rad or N·s/m].
            max_actuator_velocity: Largest speed v_max [rad/s or m/s]; inf means no limit.
            speed_effort_gradient: Loss of speed per effort g [rad/s/(N·m) or m/s/N]; with 0 all effort is available up
                to the largest speed, and none beyond.

        Raises:
            ValueError: A number is out of range, or the effort at rest has no limit but its fall has.

        Source: PhysX SDK 5.6, `PxPerformanceEnvelope`; schema `PhysxDrivePerformanceEnvelopeAPI`.

        Example:
            >>> envelope = EnvelopeClampingConfig.from_physx(40.0, 1.0, 20.0, 0.25)
            >>> list(zip(envelope.lookup_velocities, envelope.lookup_efforts))[3:]
            [(13.333333333333334, 26.666666666666664), (20.0, 0.0)]
        """
        subject = f"{cls.__name__}.from_physx"
        for name, value, rule in (
            ("max_force", max_force, _LIMIT),
            ("velocity_dependent_resistance", velocity_dependent_resistance, _NOT_NEGATIVE),
            ("max_actuator_velocity", max_actuator_velocity, _SPEED_LIMIT),
            ("speed_effort_gradient", speed_effort_gradient, _NOT_NEGATIVE),
        ):
            if found := complaint(f"{subject}.{name}", value, rule):
                raise ValueError(found)
        rows = _physx_rows(max_force, velocity_dependent_resistance, max_actuator_velocity, speed_effort_gradient)
        if math.isinf(rows[0][1]):
            if len(rows) == 1:
                return cls()
            raise ValueError(
                f"{subject}.max_force = inf: must be finite where only the speed is limited. Give the largest effort."
            )
        rows = [*((-velocity, effort) for velocity, effort in rows[:0:-1]), *rows]
        velocities, efforts = (list(column) for column in zip(*rows, strict=True))
        return cls(velocities, efforts)

    def to_physx(self) -> tuple[float, float, float, float]:
        """Return the arguments of `from_physx` with this envelope.

        A robot on PhysX takes them with `set_dof_max_efforts` and `set_dof_drive_model_properties`, which limit its
        drives.

        Raises:
            ValueError: PhysX has no such envelope: it has a line, a power or driving limit, its two directions differ,
                or it is not the lower one of two falling lines.
        """
        limits = _limits_of_physx(self.lookup_velocities, self.lookup_efforts)
        made = type(self).from_physx(*limits)
        others = self.stall_effort, self.max_power, self.max_driving_effort
        same = _alike(self.lookup_velocities, made.lookup_velocities) and _alike(
            self.lookup_efforts, made.lookup_efforts
        )
        if not same or not all(map(math.isinf, others)):
            raise ValueError(
                f"{type(self).__name__}: must be a table of PhysX's form, as from_physx returns, and nothing else. "
                "Run it as an actuator, which needs no envelope of PhysX."
            )
        return limits


def physx_limits(envelope: EnvelopeClampingConfig) -> tuple[float, float, float, float] | None:
    """Return `to_physx` of an envelope; None if PhysX has no such envelope."""
    try:
        return envelope.to_physx()
    except ValueError:
        return None


def _limits_of_physx(velocities: Sequence[float], efforts: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the arguments of `from_physx` that fit the corners of a table from rest on."""
    rows = [row for row in zip(velocities, efforts, strict=True) if row[0] >= 0.0] or [(0.0, math.inf)]
    (_, most), (end, _) = rows[0], rows[-1]
    if len(rows) == 2 and end > 0.0:
        return most, most / end, math.inf, 0.0
    if len(rows) == 3 and rows[1][0] > 0.0 and rows[1][1] > 0.0:
        velocity, effort = rows[1]
        return most, max(most - effort, 0.0) / velocity, end, max(end - velocity, 0.0) / effort
    return most, 0.0, math.inf, 0.0


def _alike(column: Sequence[float], other: Sequence[float]) -> bool:
    close = 1e-5 * max(map(abs, column), default=0.0)
    return len(column) == len(other) and all(
        math.isclose(one, same, abs_tol=close) for one, same in zip(column, other, strict=True)
    )


def _require(cls: type[object], method: str, **positive: object) -> None:
    found = [complaint(f"{cls.__name__}.{method}.{name}", value, _POSITIVE) for name, value in positive.items()]
    if problems := [one for one in found if one]:
        raise ValueError("\n".join(problems))


def _interpolated(at: float, points: Sequence[float], values: Sequence[float]) -> float:
    """Return the value of a table, with the larger one at a step."""
    if at < points[0] or at > points[-1]:
        return values[0] if at < points[0] else values[-1]
    found = [value for point, value in zip(points, values, strict=True) if point == at]
    if found:
        return max(found)
    row = next(row for row, point in enumerate(points) if point > at)
    share = (at - points[row - 1]) / (points[row] - points[row - 1])
    return values[row - 1] + share * (values[row] - values[row - 1])


def _physx_rows(most: float, resistance: float, fastest: float, gradient: float) -> list[tuple[float, float]]:
    """Return velocity and effort of the corners of PhysX's envelope, from rest to the speed without effort."""
    end = min(fastest, most / resistance if resistance > 0.0 else math.inf)
    if math.isinf(end):
        return [(0.0, most)]
    if gradient == 0.0:
        at_end = [(end, most - resistance * end)] if end * resistance < most else []
        return [(0.0, most), *at_end, (end, 0.0)]
    at_rest, share = fastest / gradient, resistance * gradient
    rows = [(0.0, min(most, at_rest))]
    if math.isfinite(at_rest) and math.isfinite(most) and share != 1.0:
        # where both lines meet
        meet = (fastest - most * gradient) / (1.0 - share)
        rows += [(meet, most - resistance * meet)] if 0.0 < meet < end else []
    return [*rows, (end, 0.0)]
