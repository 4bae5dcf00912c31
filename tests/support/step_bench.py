"""A plan with every kind of law, and signals for it, so that steps can be compared: engines, bindings, phases."""

import functools
from typing import ClassVar

import numpy as np
import oracle
import warp as wp
from isaacsim.core.experimental.actuators import (
    Clamping,
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
    Controller,
    ControllerPD,
    ControllerPID,
    Delay,
)
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import Plan, compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from isaacsim.core.experimental.actuators.laws.contract.base import (
    Component,
    Electrical,
    Feedback,
    Passive,
    Transmission,
)
from isaacsim.core.experimental.actuators.laws.contract.law import within
from isaacsim.core.experimental.actuators.laws.transmission_gear import TransmissionGear
from isaacsim.core.experimental.actuators.specs.stages import parts_of

ROBOTS, DT = 3, wp.constant(0.01)
NAMES = ("hip", "knee", "ankle", "toe")
# columns of the joints in arrays that have two more
COLUMNS, WIDTH = (5, 0, 2, 3), 6
TABLE = [-1.0, 0.0, 0.0, 1.0], [5.0, 20.0, 9.0, 10.0]


@wp.func
def slew_clamp(effort: float, position: float, velocity: float, dt: float, last: float, step: float, most: float):
    limited = within(within(effort, last - step, last + step), -most, most)
    return limited, limited


@wp.func
def slew_step(rate: float, most: float):
    return rate * DT, most


class ClampingSlew(Clamping):
    """A limit with a state and a prepare function: the effort changes by at most `rate` a second."""

    PARAMETERS: ClassVar = ("rate", "most")
    STATE: ClassVar = ("last",)
    PREPARE = slew_step
    LAW = slew_clamp


@wp.func
def leaky_effort(
    q: float,
    qd: float,
    q_target: float,
    qd_target: float,
    ff: float,
    dt: float,
    level: float,
    count: float,
    gain: float,
):
    now = 0.9 * level + gain * (q_target - q)
    return now + ff + 0.0 * (qd + qd_target), now, count + 1.0


class ControllerLeaky(Controller):
    PARAMETERS: ClassVar = ("gain",)
    STATE: ClassVar = ("level", "count")
    LAW = leaky_effort


@wp.func
def drooped(effort: float, position: float, velocity: float, share: float):
    return effort - share * effort


class ElectricalDroop(Electrical):
    """An electrical law; of joints without it the sign of a zero would change."""

    PARAMETERS: ClassVar = ("share",)
    LAW = drooped


@wp.func
def dragged(effort: float, position: float, velocity: float, drag: float):
    return effort - drag * velocity


class PassiveDrag(Passive):
    PARAMETERS: ClassVar = ("drag",)
    LAW = dragged


@wp.func
def lagging(effort: float, position: float, velocity: float, dt: float, slip: float, rate: float, stiffness: float):
    stretched = slip + dt * (velocity - rate * slip)
    return effort - stiffness * stretched, stretched


class PassiveLag(Passive):
    PARAMETERS: ClassVar = ("rate", "stiffness")
    STATE: ClassVar = ("slip",)
    LAW = lagging


@wp.func
def balanced(q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, load: float, gain: float):
    return gain * (q_target - q) + ff + 0.0 * (qd + qd_target) - load


class ControllerBalanced(Controller):
    PARAMETERS: ClassVar = ("gain",)
    ASKS: ClassVar = ("load",)
    LAW = balanced


@wp.func
def loaded_clamp(effort: float, position: float, velocity: float, load: float, most: float):
    bound = most + wp.abs(load)
    return within(effort, -bound, bound)


class ClampingLoaded(Clamping):
    PARAMETERS: ClassVar = ("most",)
    ASKS: ClassVar = ("load",)
    LAW = loaded_clamp


@wp.func
def sticking(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    held: float,
    share: float,
):
    momentum = 0.5 * held + inertia * velocity
    return effort - (share * load if load_is_whole > 0.5 else momentum), momentum


class PassiveStick(Passive):
    PARAMETERS: ClassVar = ("share",)
    STATE: ClassVar = ("held",)
    ASKS: ClassVar = ("inertia", "load", "load_is_whole")
    LAW = sticking


@wp.func
def skewed(position: float, velocity: float, bias: float, gain: float):
    return position + bias, gain * velocity


class FeedbackSkewed(Feedback):
    PARAMETERS: ClassVar = ("bias", "gain")
    LAW = skewed


@wp.func
def filtered(position: float, velocity: float, dt: float, seen: float, share: float, furthest: float):
    velocity_seen = seen + share * (velocity - seen)
    return position - dt * velocity if position < furthest else wp.nan, velocity_seen, velocity_seen


class FeedbackFiltered(Feedback):
    PARAMETERS: ClassVar = ("share", "furthest")
    STATE: ClassVar = ("seen",)
    LAW = filtered


@wp.func
def soft_prepare(ratio: float, stiffness: float, furthest: float):
    return ratio, 1.0 / stiffness, furthest


@wp.func
def soft_signals(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    load: float,
    twist: float,
    ratio: float,
    compliance: float,
    furthest: float,
):
    """Return the signals of a motor before a twisted gear, which carries the load and slips far out."""
    speed = ratio * velocity if wp.abs(position) < furthest else wp.nan
    forward = (feedforward - load) / ratio
    return ratio * position + twist, speed, ratio * position_target, ratio * velocity_target, forward


@wp.func
def soft_effort(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    load: float,
    twist: float,
    ratio: float,
    compliance: float,
    furthest: float,
):
    return ratio * effort, 0.5 * twist + 0.5 * compliance * effort


class TransmissionSoft(Transmission):
    """A gear with a state, which says where the motor is; it asks for the load, and fails far out."""

    PARAMETERS: ClassVar = ("ratio", "stiffness", "furthest")
    STATE: ClassVar = ("twist",)
    ASKS: ClassVar = ("load",)
    PREPARE = soft_prepare
    MOTOR = soft_signals
    LAW = soft_effort


"""Those of them between motor and joint."""

SENSORS = (FeedbackSkewed, FeedbackFiltered)
"""Those of them that say what a controller sees."""

ASKING = (ControllerBalanced, ClampingLoaded, PassiveStick)
"""Those of them that ask for signals."""

MADE_UP = (*SENSORS, *ASKING, ControllerLeaky, ElectricalDroop, ClampingSlew, PassiveDrag, PassiveLag, TransmissionSoft)
"""Laws that a test makes built-in ones."""


def floats(*values: float, device="cpu") -> wp.array:
    return wp.array(values, dtype=wp.float32, device=device)


def full(*values: float, dtype=wp.float32, device="cpu") -> wp.array:
    """An array by robot, of its values or of one for all."""
    return wp.array(values if len(values) == ROBOTS else values * ROBOTS, dtype=dtype, device=device)


def entry(name: str, *components: Component) -> ActuatorEntry:
    return ActuatorEntry(f"/A/{name}", (name,), **parts_of(components))


def entries(device="cpu") -> list[ActuatorEntry]:
    of = functools.partial(full, device=device)
    pid = ControllerPID(of(30), of(20), of(2), of(0.05), of(1, 2, 3))
    knee = [ClampingDCMotor(of(25), of(2), of(20)), ClampingPositionBased(None, *TABLE), ClampingMaxEffort(of(12))]
    slew = [ClampingSlew(of(300), of(8)), ClampingMaxEffort(of(7))]
    return [
        entry("hip", ControllerPD(of(10), of(1)), ClampingMaxEffort(of(9))),
        entry("knee", pid, *knee, Delay(of(0, 1, 3, dtype=wp.int32), 3)),
        entry("ankle", ControllerLeaky(of(20)), *slew, Delay(of(2, dtype=wp.int32), 5)),
        entry("toe", ControllerPD(of(5), of(0)), ClampingSlew(of(100), of(4))),
    ]


def mixed_plan(device="cpu") -> Plan:
    return compile_plan(entries(device), ROBOTS)


def built_in_entries(robots: int = ROBOTS) -> list[ActuatorEntry]:
    """The same joints with built-in laws only: every one of them, the limits of one joint in an order of its own."""

    of = functools.partial(wp.full, robots, dtype=wp.float32, device="cpu")
    lags = wp.array(np.arange(robots) % 4, dtype=wp.int32, device="cpu")
    const = wp.array(np.arange(robots) % 3 + 1, dtype=wp.float32, device="cpu")
    pid = ControllerPID(of(30), of(20), of(2), of(0.05), const)
    knee = [ClampingDCMotor(of(25), of(2), of(20)), ClampingPositionBased(None, *TABLE), ClampingMaxEffort(of(12))]
    ankle = [ClampingMaxEffort(of(7)), ClampingDCMotor(of(9), of(3), of(5))]
    toe = ControllerPID(of(5), of(3), of(0.5), of(1))
    return [
        entry("hip", ControllerPD(of(10), of(1)), ClampingMaxEffort(of(9))),
        entry("knee", pid, *knee, Delay(lags, 3)),
        entry("ankle", ControllerPD(of(20), of(0.5)), *ankle, Delay(of(2, dtype=wp.int32), 5)),
        entry("toe", toe, ClampingPositionBased(None, [0.0], [4.0])),
    ]


def built_in_plan(robots: int = ROBOTS) -> Plan:
    return compile_plan(built_in_entries(robots), robots)


def joint_entries(device="cpu") -> list[ActuatorEntry]:
    """The same joints with laws before and after the limits; the ankle is a passive joint."""

    of = functools.partial(full, device=device)
    knee = [ClampingDCMotor(of(25), of(2), of(20)), ClampingMaxEffort(of(12))]
    behind = [ElectricalDroop(of(0.25)), PassiveLag(of(3), of(2, 3, 4)), PassiveDrag(of(0.5))]
    return [
        entry("hip", ControllerPD(of(10), of(1)), ClampingMaxEffort(of(9)), PassiveDrag(of(1, 2, 3))),
        entry("knee", ControllerPD(of(30), of(2)), *knee, Delay(of(0, 1, 3, dtype=wp.int32), 3), *behind),
        entry("ankle", PassiveDrag(of(0.5)), PassiveLag(of(5), of(40))),
        entry("toe", ControllerLeaky(of(20)), ClampingSlew(of(100), of(4))),
    ]


def asking_entries(device="cpu") -> list[ActuatorEntry]:
    """The same joints with laws that ask for signals; the ankle is a passive joint, the toe asks for nothing."""

    of = functools.partial(full, device=device)
    limits, delay = [ClampingLoaded(of(3)), ClampingMaxEffort(of(9))], Delay(of(2, dtype=wp.int32), 2)
    return [
        entry("hip", ControllerPD(of(10), of(1)), *limits, PassiveStick(of(0.5))),
        entry("knee", ControllerBalanced(of(20)), ClampingMaxEffort(of(12)), delay),
        entry("ankle", PassiveStick(of(0.25))),
        entry("toe", ControllerPD(of(5), of(0)), ClampingMaxEffort(of(4))),
    ]


def sensing_entries(device="cpu") -> list[ActuatorEntry]:
    of = functools.partial(full, device=device)
    hip = [FeedbackFiltered(of(0.5), of(1.5)), PassiveDrag(of(0.5))]
    knee = [ClampingDCMotor(of(25), of(2), of(20)), FeedbackSkewed(of(0.1, 0.2, 0.3), of(1.5))]
    return [
        entry("hip", ControllerPD(of(10), of(1)), ClampingMaxEffort(of(9)), *hip),
        entry("knee", ControllerPD(of(30), of(2)), Delay(of(2, dtype=wp.int32), 2), *knee),
        entry("ankle", ControllerLeaky(of(20)), ClampingSlew(of(300), of(8)), FeedbackFiltered(of(0.25), of(2))),
        entry("toe", ControllerPD(of(5), of(1)), ClampingMaxEffort(of(4))),
    ]


RATIOS = (2.0, 3.0, -4.0)
"""Of the gears of `geared_entries`, by robot."""


def geared_entries(*, soft: bool = True, device="cpu") -> list[ActuatorEntry]:
    """The same joints behind gears; the toe has none, and without `soft` the ankle neither."""

    of = functools.partial(full, device=device)
    hip = [FeedbackSkewed(of(0.1, 0.2, 0.3), of(1.5)), TransmissionGear(of(*RATIOS), of(0.1), of(0))]
    pid = ControllerPID(of(30), of(20), of(2), of(0.05), of(1, 2, 3))
    knee = [ClampingDCMotor(of(25), of(2), of(20)), ClampingPositionBased(None, *TABLE), ClampingMaxEffort(of(12))]
    behind = [ElectricalDroop(of(0.25)), TransmissionGear(of(0.5), of(-0.2), of(1)), PassiveLag(of(3), of(2))]
    twisted = [TransmissionSoft(of(3), of(40), of(1.5))] if soft else []
    return [
        entry("hip", ControllerPD(of(10), of(1)), ClampingMaxEffort(of(9)), *hip, PassiveDrag(of(0.5))),
        entry("knee", pid, *knee, Delay(of(0, 1, 3, dtype=wp.int32), 3), *behind),
        entry("ankle", ControllerLeaky(of(20)), ClampingSlew(of(300), of(8)), *twisted, PassiveDrag(of(1))),
        entry("toe", ControllerPD(of(5), of(1)), ClampingMaxEffort(of(4)), PassiveDrag(of(1))),
    ]


class JointTwin:
    """The same for one robot, in float64."""

    def __init__(self, robot: int) -> None:
        self.hip = oracle.Joint(10, 1, clamps=[("max", 9)])
        self.knee = oracle.Joint(30, 2, delay_steps=(0, 1, 3)[robot])
        self.toe = Leaky(20, 0)
        self.drag, self.stiffness = 1.0 + robot, 2.0 + robot
        self.slips, self.last = {1: 0.0, 2: 0.0}, 0.0
        self.motor: list[float] = []

    def step(self, inputs: np.ndarray) -> list[float]:
        """Efforts of inputs `(5, joints)`."""
        found = inputs.astype(np.float64)
        good = np.isfinite(found).all(axis=0)
        qd = found[1]
        joints = ((self.hip, 0), (self.knee, 1), (self.toe, 3))
        hip, knee, toe = (joint.step(*found[:, n], dt=DT) for joint, n in joints)
        for n, rate in ((1, 3), (2, 5)):
            if good[n]:
                self.slips[n] += DT * (qd[n] - rate * self.slips[n])
        if good[3]:
            toe = self.last = float(np.clip(np.clip(toe, self.last - 100 * DT, self.last + 100 * DT), -4, 4))
        knee = oracle.dc_motor_clamp(knee * 0.75, qd[1], 25, 2, 20) if good[1] else 0.0
        motor = [hip, float(np.clip(knee, -12, 12)), 0.0, toe]
        joint = [self.drag * qd[0], self.stiffness * self.slips[1] + 0.5 * qd[1], 0.5 * qd[2] + 40 * self.slips[2], 0.0]
        self.motor = [float(effort) if ok else 0.0 for effort, ok in zip(motor, good, strict=True)]
        return [effort - loss if ok else 0.0 for effort, loss, ok in zip(self.motor, joint, good, strict=True)]


class Twin:
    """The same for one robot, in float64."""

    def __init__(self, robot: int) -> None:
        table = ("table", *TABLE)
        self.joints = [
            oracle.Joint(10, 1, clamps=[("max", 9)]),
            oracle.Joint(
                30,
                2,
                ki=20,
                integral_max=0.05,
                const_effort=1.0 + robot,
                clamps=[("dc", 25, 2, 20), table, ("max", 12)],
                delay_steps=(0, 1, 3)[robot],
            ),
            Leaky(20, 2),
            oracle.Joint(5, 0),
        ]
        self.slews = {2: [300 * DT, 8, 0.0], 3: [100 * DT, 4, 0.0]}

    def step(self, inputs: np.ndarray) -> list[float]:
        """Efforts of inputs `(5, joints)`."""
        efforts = []
        for number, joint in enumerate(self.joints):
            effort = joint.step(*inputs[:, number].astype(np.float64), dt=DT)
            if number in self.slews and np.isfinite(inputs[:, number]).all():
                step, most, last = self.slews[number]
                effort = np.clip(np.clip(effort, last - step, last + step), -most, most)
                self.slews[number][2] = effort
            efforts.append(float(np.clip(effort, -7, 7)) if number == 2 else effort)
        return efforts


class Leaky(oracle.Joint):
    """`ControllerLeaky` behind a delay, in float64."""

    def __init__(self, gain: float, delay_steps: int) -> None:
        super().__init__(0, 0, delay_steps=delay_steps)
        self.gain, self.level = gain, 0.0

    def step(self, q, qd, q_target, qd_target, feedforward, dt=1.0):
        # without gains this is the delayed feedforward
        forward = super().step(q, qd, q_target, qd_target, feedforward, dt)
        if not np.isfinite([q, qd, q_target, qd_target, feedforward]).all():
            return 0.0
        acting = self.commands[max(len(self.commands) - 1 - self.delay_steps, 0)]
        self.level = 0.9 * self.level + self.gain * (acting[0] - q)
        return self.level + forward


def draw(rng: np.random.Generator, faults: bool = True) -> np.ndarray:
    """Inputs `(5, robots, joints)`, some of them not finite."""
    inputs = rng.normal(size=(5, ROBOTS, len(NAMES))).astype(np.float32)
    if faults:
        bad = rng.random(inputs.shape) < 0.03
        inputs[bad] = rng.choice([np.nan, np.inf, -np.inf], size=bad.sum())
    return inputs


class Bench:
    def __init__(self, step, kind: str = "columns", device="cpu") -> None:
        self.step_of_plan, self.kind, count = step, kind, step.plan.num_robots * len(NAMES)
        shape = (step.plan.num_robots, WIDTH) if kind == "columns" else (count + 3,)
        self.arrays = [wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(6)]
        self.at = np.random.default_rng(3).permutation(count + 3)[:count].astype(np.uint32)
        self.computed = wp.zeros(shape, dtype=wp.float32, device=device)
        if kind == "columns":
            step.bind(Columns(COLUMNS, self.arrays[:5], self.arrays[5]))
        else:
            at = wp.array(self.at, dtype=wp.uint32, device=device)
            step.bind(Indices(self.arrays[:5], [at] * 5, self.arrays[5], at, self.computed))

    def feed(self, inputs: np.ndarray) -> None:
        """Lay inputs `(5, robots, joints)` down."""
        for array, values in zip(self.arrays, inputs, strict=False):
            laid = np.full(array.shape, np.nan, np.float32)
            if self.kind == "columns":
                laid[:, COLUMNS] = values
            else:
                laid[self.at] = values.ravel()
            array.assign(laid)
        self.arrays[5].zero_()
        self.computed.zero_()

    def efforts(self) -> np.ndarray:
        found = self.arrays[5].numpy()
        return found[:, COLUMNS].copy() if self.kind == "columns" else found[self.at].reshape(-1, len(NAMES))

    def step(self, inputs: np.ndarray) -> np.ndarray:
        self.feed(inputs)
        self.step_of_plan.step(DT)
        return self.efforts()
