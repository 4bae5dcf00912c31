"""Robots as gains meet them: inertias and gravity over poses, limits, and what each pair of gains does there."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ...engine.actuator import Actuator
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.authoring import motors_of_robot
from ...simulators.binding import Binding
from ...simulators.dof_properties import DofType
from ...simulators.simulation import Simulation
from ...specs.configs import ClampingConfig, MaxEffortClampingConfig, PDControlConfig, PIDControlConfig
from ...specs.encoder import EncoderConfig
from ...specs.joint_side import gains_at_joint, ratio_of
from ...specs.motors import MotorConfig
from ...specs.patterns import first_matching, matched, pattern_of
from ..feedback import config_of, largest_efforts, of_passive_stages
from ..plots.step_response import SETTLED
from ..stability.frequency import CIRCLE, joint_loops, margins
from ..stability.implicit import Implicit
from ..stability.loop import Loop
from ..stability.timing import Timing
from ..trials.trial import room_of

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

LATER: Final = 1.28
"""Factor of the gains that are stable with one more step of latency, for inertias 20 % smaller."""
LEFT: Final = 0.1
"""Share of the effort limit that gravity may leave at least."""

# natural frequency times step, and damping ratio, of the plane
_PLANE = np.geomspace(2e-3, 1.4, 44), np.geomspace(0.1, 30.0, 36)
# step of inertias, a factor
_STEP = 1.05
# relative distance of the median inertias of joints that are alike
_ALIKE = 0.05
# room that poses keep from the limits, of the range of a joint
_AWAY = 0.1


class Plane:
    """What a joint of inertia 1 does with gains of each natural frequency and damping ratio.

    Margins, and whether it is stable a step later; overshoot; and times by the natural frequency: settling, integral of
    time times error, and bandwidth.
    """

    def __init__(self, dt: float, weight: float, timing: Timing, implicit: Implicit) -> None:
        self._dt = dt
        frequency, ratio = map(np.ravel, np.meshgrid(_PLANE[0] / dt, _PLANE[1], indexing="ij"))
        gains = np.array([frequency**2, 2.0 * ratio * frequency, 0.0 * ratio])
        opened, followed = joint_loops(gains, dt, weight, timing, implicit)
        maps, states = _maps(gains, dt, weight, timing, implicit)
        is_stable, step = _radii(maps) <= 1.0, len(timing.pattern(dt)) * dt
        errors, times = _steps(maps, states, np.where(is_stable, _leaps(gains, step), 1), step)
        # a step later it has to be stable, too; an effort at the end of the step is not late
        later = maps if implicit.mask[0] else _maps(LATER * gains, dt, weight, timing.later(dt), implicit)[0]
        gain, phase = np.where(is_stable, margins(opened), 0.0)
        falls = np.abs(followed) < math.sqrt(0.5)
        # the last fall, for a resonance has several
        last = falls.shape[1] - np.argmax(~falls[:, ::-1], axis=1) - 1
        bandwidth = CIRCLE[last] / (2.0 * math.pi * dt * float(timing.periods(dt)[0]))
        late = np.abs(errors) > SETTLED
        at = errors.shape[1] - 1 - np.argmax(late[:, ::-1], axis=1)
        settling = times * (at + 1.0)
        itae = (np.abs(errors) * np.arange(errors.shape[1])).sum(axis=1) * times**2
        values = {
            "late": 1.0 * (_radii(later) < 1.0),
            "gain": np.minimum(gain, 100.0),
            "phase": np.minimum(phase, 180.0),
            "overshoot": np.where(is_stable, errors.max(axis=1), 9.0),
            "settling": np.where(is_stable, settling * frequency, 1e6),
            "itae": np.where(is_stable, itae * frequency**2, 1e9),
            "bandwidth": np.where(is_stable, bandwidth / frequency, 1e-6),
        }
        self._values = {name: value.reshape(len(_PLANE[0]), -1) for name, value in values.items()}

    def at(self, name: str, frequency: np.ndarray, ratio: np.ndarray) -> np.ndarray:
        """Return a value, interpolated; times in seconds."""
        grid = self._values[name]
        places = []
        for value, axis in zip((frequency * self._dt, ratio), _PLANE, strict=True):
            place = np.log(np.maximum(value, 1e-12) / axis[0]) / math.log(axis[1] / axis[0])
            places.append(np.clip(place, 0.0, len(axis) - 1.001))
        (row, column), (down, right) = zip(*((place.astype(int), place % 1.0) for place in places), strict=True)
        above = grid[row, column] * (1 - right) + grid[row, column + 1] * right
        below = grid[row + 1, column] * (1 - right) + grid[row + 1, column + 1] * right
        power = {"settling": -1.0, "itae": -2.0, "bandwidth": 1.0}.get(name, 0.0)
        return (above * (1 - down) + below * down) * frequency**power


def _maps(
    gains: np.ndarray, dt: float, weight: float, timing: Timing, implicit: Implicit
) -> tuple[np.ndarray, np.ndarray]:
    """Return the maps of a joint of inertia 1 with each of some gains `(3, K)`, and its states as its target jumps."""
    parts = []
    # with more at once, long latencies would be represented by fewer steps
    every = max(1, min(48, int(90.0 / (1.0 + timing.latency_steps(dt).sum()))))
    for first in range(0, gains.shape[1], every):
        some = gains[:, first : first + every]
        alike = np.zeros(some.shape[1], int)
        parts.append(Loop(np.eye(len(alike)), some, weight, timing[alike], implicit[alike]).alone(dt))
    maps, states = (np.concatenate(part) for part in zip(*parts, strict=True))
    return maps, states


def _radii(maps: np.ndarray) -> np.ndarray:
    return np.abs(np.linalg.eigvals(maps)).max(axis=-1)


def _leaps(gains: np.ndarray, step: float) -> np.ndarray:
    """Return how many steps of maps are between two samples of a step response, powers of 2."""
    frequency = np.sqrt(gains[0])
    wanted = 0.05 * np.maximum(1.0, gains[1] / frequency) / (step * frequency)
    return 2 ** np.log2(np.maximum(wanted, 1.0)).astype(int)


def _steps(maps: np.ndarray, states: np.ndarray, leaps: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return step responses from -1 to 0, `(K, samples)`, and the times between samples."""
    errors = np.zeros((len(maps), 500))
    with np.errstate(over="ignore", invalid="ignore"):
        for leap in np.unique(leaps):
            mine = np.flatnonzero(leaps == leap)
            powers, state = np.linalg.matrix_power(maps[mine], int(leap)), states[mine, :, None]
            for sample in range(errors.shape[1]):
                errors[mine, sample] = state[:, 0, 0]
                state = powers @ state
    return np.clip(np.nan_to_num(errors, nan=9.0), -9.0, 9.0), step * leaps


@dataclass(eq=False)
class Plant:
    """A robot with its motors as gains meet it; arrays over joints `(J,)` and poses `(P, J)`.

    `loops` are those of all poses, and with intervals those of the ends of the spread as well; `closed` is how many of
    them are closed together. `motors` are numbers: equal ones are of equal motors.
    """

    joints: list[str]
    loops: list[Loop]
    gravity: np.ndarray
    slopes: np.ndarray
    armature: np.ndarray
    rotor: np.ndarray
    effort_limit: np.ndarray
    friction: np.ndarray
    quantum: np.ndarray
    spring: np.ndarray
    turns: np.ndarray
    dt: float
    closed: int
    motors: np.ndarray
    planes: dict[object, Plane] = field(default_factory=dict[object, Plane])

    def __post_init__(self) -> None:
        # behind a spring, the rotor is no part of the mass matrix, and moves with the joint all the same
        free = np.array([loop.inertias for loop in self.loops]) + self.rotor
        held = np.array([loop.held_inertias for loop in self.loops]) + self.rotor
        # in steps, so that legs which differ by their random poses alone have the same gains
        free, held = (
            _STEP ** turn(np.log(value) / math.log(_STEP)) for turn, value in ((np.floor, free), (np.ceil, held))
        )
        # joints that are alike, such as those of two legs, stand in each other's poses
        medians = np.median(held, axis=0)
        self.alike: list[np.ndarray] = []
        for joint in range(len(self.joints)):
            near = np.abs(medians / medians[joint] - 1.0) < _ALIKE
            mine = np.flatnonzero(near & (self.motors == self.motors[joint]) & (self.turns == self.turns[joint]))
            taken = np.concatenate([np.array([], int), *self.alike])
            if joint not in taken:
                self.alike.append(mine[~np.isin(mine, taken)])
        # the slope of gravity is a stiffness, and those of the spread are those of the poses
        slopes, gravity = np.resize(self.slopes, held.shape), np.abs(self.gravity)
        free, held, slopes, gravity = map(self._in_each_others_poses, (free, held, slopes, gravity))
        # rounding puts a single joint a little above itself
        self.lowest, self.held = np.minimum(free, held).min(axis=0), held
        self.lightest, self.highest, self.nominal = (of(held, axis=0) for of in (np.min, np.max, np.median))
        order = [np.argsort(value, axis=0)[[0, -1]] for value in (held, slopes, slopes / held)]
        self.extreme = np.concatenate(order)
        self.pulls = np.take_along_axis(slopes, self.extreme, axis=0), np.take_along_axis(held, self.extreme, axis=0)
        self.viscous = self.loops[0].viscous
        # what a step has besides gravity
        self.available = np.maximum(self.effort_limit - gravity.max(axis=0), LEFT * self.effort_limit)

    def _in_each_others_poses(self, values: np.ndarray) -> np.ndarray:
        """Return values over poses `(P, J)` with those of all joints that are alike, `(K·P, J)`."""
        turns, columns = max(map(len, self.alike)), np.arange(len(self.joints))
        found = []
        for turn in range(turns):
            for group in self.alike:
                columns[group] = np.roll(group, turn)
            found.append(values[:, columns])
        return np.concatenate(found)

    def together(self, values: np.ndarray, of: Callable[[np.ndarray], float]) -> np.ndarray:
        """Return values of joints `(J,)`, of joints that are alike that of a function of them all."""
        values = values.copy()
        for group in self.alike:
            values[group] = of(values[group])
        return values

    def plane(self, joint: int, without: str = "") -> Plane:
        """Return the plane of a joint, without what may bound it: `delay` or `physics step`."""
        loop, dt = self.loops[0], self.dt
        timing, implicit = loop.timing[[joint]], loop.implicit[[joint]]
        if without == "delay":
            timing = Timing.prompt(1)
        if without == "physics step":
            dt = dt / 2.0
        if implicit.mask[0]:
            stepped = [each.implicit.inertias[joint] / each.inertias[joint] for each in self.loops]
            implicit = Implicit.of_joint(round(float(np.median(stepped)), 1), float(implicit.load_shares[0]))
        key = dt, timing.values.tobytes(), implicit.values.tobytes()
        if key not in self.planes:
            self.planes[key] = Plane(dt, loop.weight, timing, implicit)
        return self.planes[key]

    def values(self, joint: int, kp: np.ndarray, kd: np.ndarray, without: str = "") -> dict[str, np.ndarray]:
        """Return the worst over all inertias of a joint with each of some gains; kd with the friction of the joint."""
        plane = self.plane(joint, without)
        stiffness, inertia = (values[:, joint, None] for values in self.pulls)
        looped = np.geomspace(self.lowest[joint], self.highest[joint], 6)[:, None]
        if without == "inertia range":
            looped = inertia = np.array([[self.nominal[joint]]])
            stiffness = np.array([[np.median(stiffness)]])

        def worst(name: str, of: Callable[..., np.ndarray], pull: np.ndarray, each: np.ndarray) -> np.ndarray:
            stiff = np.maximum(kp + pull, 1e-3 * kp)
            frequency = np.sqrt(stiff / each)
            return of(plane.at(name, frequency, kd / (2.0 * each * frequency)), axis=0)

        shown = {name: worst(name, np.min, 0.0 * looped, looped) for name in ("late", "gain", "phase")}
        moves = {"overshoot": np.max, "settling": np.max, "itae": np.mean, "bandwidth": np.min}
        return shown | {name: worst(name, of, stiffness, inertia) for name, of in moves.items()}

    def damping(self, joint: int, kp: np.ndarray, ratio: np.ndarray | float) -> np.ndarray:
        """Return the damping with which a ratio is that of all poses at least."""
        stiffness, inertia = (values[:, joint, None] for values in self.pulls)
        return 2.0 * ratio * np.sqrt(np.maximum(kp + stiffness, kp) * inertia).max(axis=0)

    def saturated(self, joint: int, kp: np.ndarray, kd: np.ndarray, step: float) -> np.ndarray:
        """Return how long a step saturates the motor at the largest inertia [s]: it is pushed with all that is left.

        The effort asked is kp·(step − a·t²/2) − kd·a·t with the acceleration a.
        """
        most = self.available[joint]
        if not math.isfinite(most):
            return np.zeros_like(kp)
        acceleration = most / self.highest[joint]
        squared, linear, left = kp * acceleration / 2.0, kd * acceleration, kp * step - most
        return np.where(left > 0.0, 2.0 * left / (linear + np.sqrt(linear**2 + 4.0 * squared * np.maximum(left, 0))), 0)

    def step(self, joint: int, wanted: float | None) -> float:
        """Return the step that must not saturate, the default if none is wanted [rad or m]."""
        return default_step(self.turns[joint]) if wanted is None else wanted


def default_step(turns: bool) -> float:
    """Return the step of a joint that must not saturate, without a wish [rad or m]."""
    return 0.05 if turns else 0.005


@contextlib.contextmanager
def opened(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    dt: float | None,
    count: int,
    seed: int,
    engine: str = "mujoco",
) -> Iterator[tuple[Simulation, PhysicsArticulation, ArticulationActuators]]:
    """Open copies of a robot on a stand, with motors, each in a random pose within its limits."""
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        # margins and motion themselves show it
        warnings.filterwarnings("ignore", r".* (will vibrate at dt|may chatter|have no effort limit|begin outside)")
        copies = robot, dt, count
        if engine == "physx":
            # imported here: MJCF and URDF need no USD
            from ...files.usd.stage import copies_of

            copies = copies_of(robot, count), dt, 1
        simulation = stack.enter_context(Simulation(*copies, engine=engine, fixed_base=True))
        simulation.disable_contacts()
        robots = simulation.articulation("/")
        actuators = stack.enter_context(ArticulationActuators.from_configs("/", motors))
        simulation.play()
        if len(robots.paths) != count:
            raise ValueError(f"{robot}: {len(robots.paths) // count} robots: must be one. Give a file of one robot.")
        room = room_of(robots)
        span = np.where(np.isfinite(room.upper - room.lower), room.upper - room.lower, 2.0 * math.pi)
        lower = np.where(np.isfinite(room.lower), room.lower, room.initial - span / 2)
        lower = np.where(np.isfinite(room.upper) & ~np.isfinite(room.lower), room.upper - span, lower)
        drawn = np.random.default_rng(seed).uniform(_AWAY, 1.0 - _AWAY, (count, span.shape[1]))
        poses = lower + drawn * span
        # the pose of the file is the first
        poses[0] = room.pose[0]
        robots.set_dof_positions(poses.astype(np.float32))
        robots.set_dof_position_targets(poses.astype(np.float32))
        yield simulation, robots, actuators


def plant_of(
    actuators: ArticulationActuators,
    robots: Any,
    dt: float,
    motors: Mapping[str, MotorConfig],
    closed: int,
) -> Plant:
    """Return the robot in the poses of all copies, the first of which are closed together."""
    owner, count = actuators._loops(), len(robots.paths)
    names, joints = list(robots.dof_names), owner.joints
    if not joints:
        raise ValueError(f"{robots.paths[0]}: no joint alone has a law with gains: must have one. Describe its motor.")
    columns = list(map(names.index, joints))
    loops = owner.loops(np.arange(count))
    armature = robots.get_dof_armatures().numpy()[0, columns].astype(float)

    def of_motors(read: Callable[[Actuator], npt.ArrayLike]) -> np.ndarray:
        values = dict.fromkeys(joints, 0.0)
        for actuator in actuators.actuators:
            mine = actuator.dof_names
            values |= dict(zip(mine, np.broadcast_to(read(actuator), len(mine)), strict=True))
        return np.array([float(values[joint]) for joint in joints])

    stiffness, _, rotor, *_ = loops[0].springs
    spread = np.array([_spread(motors, joint) for joint in joints]).T
    if spread.any():
        ends = [loop.changed(armature=part) for part in spread for loop in loops]
        # those that are closed together first
        loops = [*loops[:closed], *ends[:closed], *ends[count : count + closed], *loops[closed:], *ends]
        closed *= 3
    highest = np.max([loop.held_inertias for loop in loops], axis=0) + rotor
    friction = np.max([level.numpy()[0, columns] for level in robots.get_dof_friction_properties()[:2]], axis=0)
    noise, resolution, of_register = (
        of_motors(functools.partial(_of_encoder, parameter=name))
        for name in ("noise", "resolution", "velocity_resolution")
    )
    kinds = [repr(motors[joint]) for joint in joints]
    timing = loops[0].timing
    period = timing.periods(dt) * dt
    quantum = np.where(timing.differences, (resolution + 2.0 * noise) / period, of_register) * timing.filter_shares(dt)
    return Plant(
        joints,
        loops,
        robots.get_dof_gravity_compensation_forces().numpy()[:, columns].astype(float),
        robots.gravity_slopes()[:, columns].astype(float),
        armature + rotor,
        rotor,
        of_motors(lambda actuator: largest_efforts(actuator, count)[0]),
        friction + of_motors(lambda actuator: of_passive_stages(actuator, "coulomb", count)[0]),
        quantum,
        np.where(stiffness > 0.0, np.sqrt(stiffness / highest), np.inf),
        np.array([robots.dof_types[column] is DofType.Rotation for column in columns]),
        dt,
        closed,
        np.array(list(map(kinds.index, kinds))),
    )


def _of_encoder(actuator: Actuator, parameter: str) -> np.ndarray:
    """Return a parameter of the encoder of each joint of the first robot; 0 without one."""
    encoder = next((config for config in map(config_of, actuator.stages) if isinstance(config, EncoderConfig)), None)
    values = np.asarray(0.0 if encoder is None else getattr(encoder, parameter), float)
    return np.broadcast_to(values, actuator.num_actuators)[: len(actuator.dof_names)]


def _spread(motors: Mapping[str, MotorConfig], joint: str) -> tuple[float, float]:
    """Return by how much the armature of a joint may be smaller and larger than it is, by its interval."""
    motor, armature = motors[joint], float(_of(motors[joint].armature, joint) or 0.0)
    low, high = motor.intervals.get("armature", (armature, armature))
    return low - armature, high - armature


def _of(value: object, joint: str) -> Any:
    """Return the value of a joint of one by pattern."""
    number = first_matching(value, joint) if isinstance(value, Mapping) else None
    return value if number is None else number


def with_law(
    robot: str | os.PathLike[str], motors: Mapping[str, MotorConfig] | None, dt: float | None
) -> dict[str, MotorConfig]:
    """Return a motor by joint, each with a control law to be tuned: PD with gains of 0 where there is none."""
    with Simulation(robot, dt, fixed_base=True) as simulation:
        robots: PhysicsArticulation = simulation.articulation("/")
        names = list(robots.dof_names)
        known = motors_of_robot(simulation) if motors is None else dict(motors)
        follow = Binding(robots).following_dofs(simulation.stage, matched(known, names))
        if not any(motor.controller is not None for motor in known.values()):
            simulation.play()
            limits = dict(zip(names, robots.get_dof_max_efforts().numpy()[0].tolist(), strict=True))
            known = _with_pd(known, {joint: limit for joint, limit in limits.items() if joint not in follow})
    return {
        name: _alone(motor, name)
        for name in names
        for pattern, motor in known.items()
        if name not in follow and re.fullmatch(pattern, name)
    }


def _with_pd(known: Mapping[str, MotorConfig], limits: Mapping[str, float]) -> dict[str, MotorConfig]:
    """Return motors with a PD law without gains, for joints without a motor, too, by their effort limits."""
    bare = [joint for joint in limits if not matched(known, [joint])]
    limit: list[ClampingConfig] = [MaxEffortClampingConfig("joint")]
    motors = {pattern_of(joint): MotorConfig(clamping=limit * math.isfinite(limits[joint])) for joint in bare}
    law = PDControlConfig(kp=0.0, kd=0.0)
    return {pattern: dataclasses.replace(motor, controller=law) for pattern, motor in {**known, **motors}.items()}


def _alone(motor: MotorConfig, joint: str) -> MotorConfig:
    """Return the motor of one joint of a motor of several, whose numbers may be by pattern."""

    def of_joint(config: Any) -> Any:
        numbers = {field.name: _of(getattr(config, field.name), joint) for field in dataclasses.fields(config)}
        return dataclasses.replace(config, **numbers | ({"intervals": config.intervals} if config is motor else {}))

    parts: dict[str, Any] = {name: list(map(of_joint, getattr(motor, name))) for name in ("clamping", "others")}
    for name in ("controller", "delay"):
        parts[name] = None if (part := getattr(motor, name)) is None else of_joint(part)
    return dataclasses.replace(of_joint(motor), **parts)


def with_gains(motor: MotorConfig, gains: tuple[float, float, float], integral_max: float) -> MotorConfig:
    """Return a motor with gains at its joint, those of its own units; ValueError if its law takes no such gains."""
    law: Any = motor.controller
    ratio = float(ratio_of(motor))
    kp, kd, ki = (round_to(gain / ratio**2) for gain in gains)
    if ki:
        law = PIDControlConfig(kp=kp, ki=ki, kd=kd, integral_max=integral_max, const_effort=law.const_effort)
        return dataclasses.replace(motor, controller=law)

    def at_joint(proportional: float, derivative: float) -> np.ndarray:
        tried = dataclasses.replace(motor, controller=dataclasses.replace(law, kp=proportional, kd=derivative))
        return np.array(gains_at_joint(tried) or [math.nan] * 3, float)[:2]

    none, each = at_joint(0.0, 0.0), (at_joint(1.0, 0.0), at_joint(0.0, 1.0))
    kp, kd = (round_to(max(0.0, wanted - none[at]) / (each[at][at] - none[at])) for at, wanted in enumerate(gains[:2]))
    return dataclasses.replace(motor, controller=dataclasses.replace(law, kp=kp, kd=kd))


def round_to(number: float, digits: int = 3) -> float:
    """Return a number with few digits, as people write gains."""
    return float(f"{number:.{digits}g}")


def by_pattern(motors: Mapping[str, MotorConfig]) -> dict[str, MotorConfig]:
    """Return motors of joints by pattern, equal ones together."""
    groups: dict[str, list[str]] = {}
    for joint, motor in motors.items():
        groups.setdefault(repr(motor), []).append(joint)
    return {"|".join(map(pattern_of, joints)): motors[joints[0]] for joints in groups.values()}
