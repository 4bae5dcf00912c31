"""Rollouts: joints that their motors move along a log, with the package's own step, in C++."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base import native
from ...base.memory import numpy_view
from ...engine.plan import ParameterView
from ...loops.arrays import ActuatedArrays
from ...specs.configs import Config, DelayConfig, TransmissionConfig
from ...specs.encoder import EncoderConfig
from ...specs.late import TimedDelayConfig
from ...specs.motors import MotorConfig
from .decoupling import Decoupled
from .log import MotorLog
from .outputs import OUTPUTS
from .parameters import OF_LOG, PARAMETERS, fields_of

if TYPE_CHECKING:
    from ...engine.step.interface import Step

# longest physics step of a rollout [s]
_LONGEST = 0.00084
# variants that fill a vector register; the core computes one alone in almost the time of all of them
_LANES = 8


def substeps_of(dt: float, longest: float = _LONGEST) -> int:
    """Return the number of physics steps from one sample of a log to the next, in rollouts and replays."""
    return max(1, int(np.ceil(dt / longest)))


def late_by(dt: float) -> float:
    """Return by how much held commands are later than interpolated ones [s], a mean over physics steps."""
    return 0.5 * (dt - dt / substeps_of(dt))


def settings_of(log: MotorLog) -> dict[str, float]:
    """Return the settings of a log that are parameters of motors."""
    return {name: value for name, value in log.settings.items() if name in PARAMETERS}


def bare_stages(motor: MotorConfig) -> list[Config]:
    """Return stages without delay and encoder, but one at a joint behind a spring: controllers would see the rotor."""
    has_spring = any(isinstance(one, TransmissionConfig) and not one.IS_RIGID for one in motor.stages)
    stages = [one for one in motor.stages if not isinstance(one, DelayConfig | TimedDelayConfig | EncoderConfig)]
    encoders = [one for one in motor.stages if isinstance(one, EncoderConfig)] if has_spring else []
    return stages + [EncoderConfig(velocity="register", side=one.side) for one in encoders]


class Rollout:
    """A joint with several variants of its motor, which follow logs.

    `names` are parameters that differ between variants, counted over all logs side by side. `run` takes delay and bias
    of the encoder instead of the motor. `columns` of logs are simulated, and `power`; those that the motor has are
    `outputs`. A physics step is at most `longest` [s]; None means that of replays.
    """

    def __init__(
        self,
        joint: str,
        motor: MotorConfig,
        names: Sequence[str],
        variants: int,
        columns: Collection[str] = (),
        longest: float | None = None,
    ) -> None:
        if native.core is None:
            raise ValueError("identification needs the native core. Run `actuators doctor` for what is missing.")
        self._names, self._longest = tuple(names), longest or _LONGEST
        # with copies of the first variant
        self._rows = -(-variants // _LANES) * _LANES
        # positions, velocities, targets and efforts
        self._arrays = [np.zeros((self._rows, 1), np.float32) for _ in range(4)]
        self._actuators = ActuatedArrays([joint], {joint: bare_stages(motor)}, self._rows)
        # that of the log comes with each step
        self._actuators.set_mass_matrix(np.ones((1, 1)))
        q, qd, target, out = self._arrays
        self._actuators.step(q, qd, target, 1e-3, out=out)
        parts = self._actuators._assembly.parts
        if len(parts) != 1 or not hasattr(parts[0][1], "core"):
            raise ValueError(f"{joint}: its motor is not computed by the native core, so that it cannot be fitted.")
        step: Any = parts[0][1]
        self._views: dict[str, ParameterView] = {}
        for view in step.plan.views:
            # the first stage of a kind has it
            self._views.setdefault(f"{view.component.KIND}.{view.attribute}", view)
        if missing := [name for name in fields_of(names, dict.fromkeys(names, 0.0)) if name not in self._views]:
            raise ValueError(
                f"{joint}: {', '.join(missing)}: must be in its motor and act in the simulation of one joint. "
                "Do not fit it."
            )
        self._core = native.core.Rollout(step.core, *self._arrays, self._signals())
        self._watched = _watched(step, columns)
        self.outputs: tuple[str, ...] = tuple(self._watched)
        """Columns of logs that it simulates."""

    def _signals(self) -> list[tuple[np.ndarray, int]]:
        """Return the arrays of what a log tells with each step, each with its number in the core."""
        signals = self._actuators._assembly.signals
        for _, array in signals.get("load_is_whole", ()):
            array.numpy()[:] = 1.0
        # a joint by itself is coupled to none
        numbers = {"inertia": 0, "coupled_inertia": 0, "load": 1, "supply_voltage": 2}
        return [(array.numpy(), number) for name, number in numbers.items() for _, array in signals.get(name, ())]

    def run(
        self,
        cases: Sequence[Decoupled],
        column: int,
        values: Sequence[Mapping[str, float]],
        outputs: Sequence[str] = (),
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return positions that encoders measure, `(variants, samples)`, and outputs right after each sample,
        `(outputs, variants, samples)`, of each log; NaN after a fault.

        As many logs of equal time steps as fit are simulated side by side; settings of a log override values.
        """
        room = max(1, self._rows // len(values))
        found: list[tuple[np.ndarray, np.ndarray]] = [(np.empty(0), np.empty(0))] * len(cases)
        alike: dict[float, list[int]] = {}
        for k, case in enumerate(cases):
            alike.setdefault(case.dt, []).append(k)
        for numbers in alike.values():
            for first in range(0, len(numbers), room):
                some = numbers[first : first + room]
                for k, one in zip(some, self._run([cases[k] for k in some], column, values, outputs), strict=True):
                    found[k] = one
        return found

    def _run(
        self, cases: Sequence[Decoupled], column: int, values: Sequence[Mapping[str, float]], outputs: Sequence[str]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return `run` of logs that there is room for, and that have one time step."""
        self._actuators.reset()
        rows = self._rows // len(cases)
        # with copies of the first variant, and what is left follows the last log
        filled = [*values, *[values[0]] * (rows - len(values))]
        pairs = list(itertools.product(cases, filled))
        pairs += [(cases[-1], values[0])] * (self._rows - len(pairs))
        every = [{**variant, **settings_of(case.log)} for case, variant in pairs]
        self._set(every)
        of_log = {name: np.array([one.get(name, 0.0) for one in every]) for name in OF_LOG}
        bias, dt = of_log["encoder_bias"], cases[0].dt
        start, speed = np.array([(case.log.position[0, column], case.velocity[0, column]) for case, _ in pairs]).T
        samples = max(len(case.log.time) for case in cases)
        starts = np.stack([bias, of_log["delay"] + late_by(dt), of_log["armature"], start - bias, speed])
        out, seen = np.empty((self._rows, samples)), np.empty((len(outputs), self._rows, samples))
        watched = [self._watched[name] for name in outputs]
        along = [case.along(column) for case in cases]
        self._core.run(along, starts, dt, substeps_of(dt, self._longest), out, watched, seen)
        found = []
        for k, case in enumerate(cases):
            own, end = slice(k * rows, k * rows + len(values)), len(case.log.time)
            found.append((out[own, :end], seen[:, own, :end]))
        return found

    def _set(self, every: Sequence[Mapping[str, float]]) -> None:
        """Set the parameters of laws, to the values of each row."""
        fields = [fields_of(self._names, values) for values in every]
        for name in fields[0]:
            live = getattr(self._views[name].component, self._views[name].attribute).numpy()
            live[:] = [row[name] for row in fields]


def _watched(step: Step, columns: Collection[str]) -> dict[str, np.ndarray]:
    """Return the arrays of a step that hold columns of logs, a number per variant, by name of the column."""
    found: dict[str, np.ndarray] = {}
    if "effort" in columns:
        step.observe(True)
        found["effort"] = step.motor_efforts().reshape(-1)
    for stateful, arrays in zip(step.plan.stateful, step.now.laws, strict=True):
        for name in columns:
            state = "power" if name == "power" else OUTPUTS[name].state if name in OUTPUTS else ""
            if state in stateful.names:
                found[name] = numpy_view(arrays[stateful.names.index(state)])
    return found
