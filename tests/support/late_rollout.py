"""Steps of an actuator with what acts late or is held, in float64 and on a tape: encoder, delays, rate."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import isaacsim.core.experimental.actuators as actuators
import numpy as np
import oracle
import warp as wp
from isaacsim.core.experimental.actuators import Actuator
from isaacsim.core.experimental.actuators.specs.signals import SIGNALS as STAGE_SIGNALS
from isaacsim.core.experimental.actuators.specs.stages import KINDS, acts_at_joint, parts_of

SIGNALS = ("joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act")
MAX_STEPS = 6
Values = dict[str, np.ndarray]
States = Callable[[Actuator, int], list[tuple[Any, Any]]]


def array(values, grad: bool = True, dtype=wp.float32) -> wp.array:
    return wp.array(np.asarray(values), dtype=dtype, device="cpu", requires_grad=grad)


def swapped(actuator: Actuator, steps: int) -> list[tuple]:
    two = [actuator.state(), actuator.state()]
    return [(two[k % 2], two[1 - k % 2]) for k in range(steps)]


def in_place(actuator: Actuator, steps: int) -> list[tuple]:
    return [(state := actuator.state(), state)] + [(state, state)] * (steps - 1)


def one_each(actuator: Actuator, steps: int) -> list[tuple]:
    return list(itertools.pairwise([actuator.state() for _ in range(steps + 1)]))


class _Past:
    """Results of earlier steps of each joint; the first one stands for all before it."""

    def __init__(self, steps: int, count: int) -> None:
        self._rows, self._number, self._every = np.zeros((steps, count)), np.zeros(count, int), np.arange(count)

    def late(self, now: np.ndarray, lag: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Add a result of some joints, and return that of `lag` steps ago, interpolated."""
        every, last = self._every, self._number
        self._rows[last[who], every[who]] = now[who]
        lag = np.minimum(lag, MAX_STEPS)
        whole = np.floor(lag).astype(int)
        newer, older = (self._rows[np.maximum(last - back, 0), every] for back in (whole, whole + 1))
        self._number = last + who
        return newer + (lag - whole) * (older - newer)


class LateRollout:
    """Steps of an actuator, its laws in order, with other inputs at each; `at_motor` for an encoder before a gear."""

    def __init__(
        self,
        laws: Sequence[str],
        ranges: Mapping[str, tuple[float, float]],
        *,
        steps: int = 8,
        dt: float = 0.02,
        count: int = 24,
        seed: int = 0,
        whole: Sequence[str] = (),
        at_motor: bool = False,
    ) -> None:
        rng, self.at_motor = np.random.default_rng(seed), at_motor
        self.laws, self.steps, self.dt, self.count = list(laws), steps, float(np.float32(dt)), count
        self.values: Values = {
            f"{name} {k}": rng.normal(0, 1, count).astype(np.float32) for k in range(steps) for name in SIGNALS
        }
        for law in laws:
            for name in getattr(actuators, law).PARAMETERS:
                low, high = ranges.get(f"{law} {name}", ranges.get(name, (0.0, 0.0)))
                drawn = rng.uniform(low, high, count).astype(np.float32)
                self.values[f"{law} {name}"] = np.rint(drawn) if name in whole else drawn
        self.weights = rng.normal(0, 1, (steps, count)).astype(np.float32)
        self.acting = np.zeros((steps, count))
        """Efforts in the last evaluation of `loss`."""

    # in float64

    def loss(self, values: Values) -> np.ndarray:
        states = {law: self._fresh(law) for law in self.laws}
        pasts = {law: [_Past(self.steps, self.count) for _ in range(3)] for law in self.laws}
        for k in range(self.steps):
            self.acting[k] = self._step(k, values, states, pasts)
        return (self.weights * self.acting).sum(axis=0)

    def _fresh(self, law: str) -> list[np.ndarray]:
        component = getattr(actuators, law)
        return [np.full(self.count, component.START.get(name, 0.0)) for name in component.STATE]

    def _law(self, law: str, given: Sequence, dt, values: Values, state: Sequence) -> list[np.ndarray]:
        component = getattr(actuators, law)
        numbers = [values[f"{law} {name}"] for name in component.PARAMETERS]
        # joints of an actuator alone are robots, which are numbered
        every = np.arange(self.count, dtype=float)
        signals = [STAGE_SIGNALS[name] for name in component.ASKS]
        asked = [every if one.is_number else 0 * every + one.neutral for one in signals]
        return list(oracle.LAWS[law](*given, dt, *asked, *state, *numbers))

    def _step(self, k: int, values: Values, states: dict, pasts: dict[str, list[_Past]]) -> np.ndarray:
        q, qd, *commands = (values[f"{name} {k}"].astype(float) for name in SIGNALS)
        due, dt, effort = np.ones(self.count, bool), np.full(self.count, self.dt), np.zeros(self.count)
        if "RateHold" in self.laws:
            given = [values[f"RateHold {name}"] for name in ("decimation", "frequency")]
            period, clock = oracle.period_of(self.dt, *given), states["RateHold"][0]
            due, dt = np.isnan(clock) | (clock + 1 >= period - 1e-3), period * self.dt
        seen, acting = [q, qd], [q, qd]
        gear = [values[f"TransmissionGear {name}"] for name in actuators.TransmissionGear.PARAMETERS if self._is_geared]
        if gear:
            acting = list(oracle.MOTORS["TransmissionGear"](q, qd, 0 * q, 0 * q, 0 * q, *gear))[:2]
        seen = acting if self.at_motor else seen
        for law in self.laws:
            kind = KINDS[getattr(actuators, law).KIND]

            def keep(new: Sequence[np.ndarray], law: str = law, who: np.ndarray = due) -> None:
                states[law] = [np.where(who, one, old) for one, old in zip(new, states[law], strict=True)]

            if kind.senses:
                *measured, lag, a, b, c = self._law(law, seen, dt, values, states[law])
                keep([a, b, c])
                seen = [past.late(one, lag, due) for past, one in zip(pasts[law], measured, strict=False)]
            elif kind.name == "delay":
                lag, *new = self._law(law, [], dt, values, states[law])
                keep(new)
                commands = [past.late(one, lag, due) for past, one in zip(pasts[law], commands, strict=True)]
            elif kind.name == "controller":
                motor = [*seen, *commands]
                if gear:
                    motor = list(oracle.MOTORS["TransmissionGear"](*motor, *gear))
                motor = [*(seen if self.at_motor else motor[:2]), *motor[2:]]
                effort, *new = self._law(law, motor, dt, values, states[law])
                keep(new)
            else:
                own = [q, qd] if acts_at_joint(getattr(actuators, law)) or kind.converts else acting
                effort, *new = self._law(law, [effort, *own], self.dt, values, states[law])
                if kind.name == "effort_delay":
                    effort, new = pasts[law][0].late(effort, new[0], np.ones(self.count, bool)), []
                states[law] = new
        return effort

    @property
    def _is_geared(self) -> bool:
        return "TransmissionGear" in self.laws

    def differences(self) -> Values:
        """The gradients by central differences."""
        exact = {name: value.astype(np.float64) for name, value in self.values.items()}
        found: Values = {}
        for name, value in exact.items():
            width = 1e-6 * (1.0 if np.abs(value).max() > 0.05 else 0.02)
            ends = [self.loss(exact | {name: value + sign * width}) for sign in (1, -1)]
            found[name] = (ends[0] - ends[1]) / (2 * width)
        self.loss(exact)
        return found

    def actuator(self, **more) -> tuple[Actuator, dict[str, wp.array]]:
        parameters = {name: array(values) for name, values in self.values.items() if name.split()[0] in self.laws}
        made = []
        for law in self.laws:
            component = getattr(actuators, law)
            given = {name: parameters[f"{law} {name}"] for name in component.PARAMETERS}
            made.append(component(**given, **({"max_steps": MAX_STEPS} if component.LATE else {})))
        for one in made:
            if self.at_motor and KINDS[one.KIND].senses:
                one.side = "motor"
        indices = array(np.arange(self.count), False, wp.uint32)
        return Actuator(indices, **(parts_of(made) | more), requires_grad=True), parameters

    def on_tape(self, states: States = swapped, **more) -> tuple[np.ndarray, Values]:
        """Efforts of all steps, and the gradients; `states` gives those before and after each step."""
        actuator, parameters = self.actuator(**more)
        signals = {name: array(value) for name, value in self.values.items() if name.split()[0] in SIGNALS}
        efforts = [array(np.zeros(self.count)) for _ in range(self.steps)]
        with wp.Tape() as tape:
            for k, (now, after) in enumerate(states(actuator, self.steps)):
                control = {name: signals[f"{name} {k}"] for name in SIGNALS} | {"joint_f": efforts[k]}
                actuator.step(control, control, now, after, self.dt)
        for effort, weights in zip(efforts, self.weights, strict=True):
            effort.grad.assign(weights)
        tape.backward()
        found = {name: one.grad.numpy().copy() for name, one in (signals | parameters).items()}
        return np.array([one.numpy() for one in efforts]), found


def assert_same(found: Values, expected: Values, skipped: Sequence[str] = (), tolerance: float = 1e-4) -> None:
    """Compare gradients, relative to the largest of each kind; by parameters in `skipped` there are none."""
    for name, values in expected.items():
        if name.split()[-1] in skipped:
            assert not found[name].any(), name
            continue
        scale = max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(found[name], values, atol=tolerance * scale, rtol=0, err_msg=name)
