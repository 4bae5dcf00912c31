"""`Joints`: the joints of logs, each fitted by itself."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ...specs.configs import Config, DelayConfig
from ...specs.encoder import EncoderConfig
from ...specs.motors import MotorConfig
from ..progress import Progress
from .decoupling import Decoupled, Links
from .fit import Bench, Fit
from .fixed_point import fixed_point
from .identified import ColumnUse, Estimate, ModelScore
from .log import SIGNALS, MotorLog
from .models import FIRST, MODELS
from .options import FitOptions
from .parameters import GAINS, OF_LOG, has_place, value_of, with_inertia, with_values
from .rollout import settings_of
from .spread import each
from .start import searched, tried
from .supply import SharedSupply, shared_supply

_T = TypeVar("_T")

BIASES, GAINS_TOO = "encoder_bias", "gains"
"""Groups of parameters that are fitted where they pay, or that options ask for."""

# slowest sampling at which an armature is seen [s]
_SEES_ARMATURE = 0.0101
_CORRELATED = 0.98
# end of the range of values of a supply [V or Ω]
_LARGEST = 1e3
# a value below this share of its scale is none
_NONE = 1e-6
# smallest sum of squares
_LEAST = 1e-30
# largest number of rounds in which biases of encoders are found, and change at which they end [rad or m]
_ROUNDS, _SMALL = 8, 1e-3
# tolerance of these rounds, which the ladder fits again
_ROUGH = 1e-3


class Joints:
    """The joints of logs, what is known of their motors, and what is fitted.

    Args:
        motors: Motor of each joint, by name.
        options: What is fitted.
        armatures: Armatures of the joints in the robot file [kg·m² or kg], shape `(joints,)`.
        logs: All logs.
        progress: Told of the progress.

    Raises:
        ValueError: A parameter that the motor of a joint cannot have.
    """

    def __init__(
        self,
        motors: Mapping[str, MotorConfig],
        options: FitOptions,
        armatures: np.ndarray,
        logs: Sequence[MotorLog],
        progress: Progress,
    ) -> None:
        self._options, self._progress = options, progress
        self._names = tuple(motors)
        options.require_joints(self._names)
        self._is_supplied = len(motors) > 1 and all("volts" in log.signals for log in logs)
        self._benches = [
            Bench(joint, j, motor, options.rules(joint), self._is_supplied)
            for j, (joint, motor) in enumerate(motors.items())
        ]
        self._settings = {name: value for log in logs for name, value in settings_of(log).items()}
        self._sees_armature = max(one.dt for one in logs) <= _SEES_ARMATURE
        self._known = [
            {name: value for name in bench.rules if not np.isnan(value := value_of(bench.motor, name))}
            for bench in self._benches
        ]
        for bench, armature in zip(self._benches, armatures, strict=True):
            self._complete(bench, float(armature))
        # the load of a single joint on a bench is known, and shows the bias
        self._groups = (*((BIASES,) if len(motors) == 1 else ()), *((GAINS_TOO,) if options.gains else ()))

    @property
    def open_groups(self) -> tuple[str, ...]:
        """Groups of parameters that are fitted only where they pay: `BIASES` and `GAINS_TOO`."""
        # without its volts, a supply that sags looks like wrong gains
        is_open = self._options.gains is None and not self._has_own_supply
        groups = (BIASES, *((GAINS_TOO,) if is_open else ()))
        return tuple(group for group in groups if any(self._added(j, group) for j in range(len(self._benches))))

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of parameters that are fitted."""
        return self._groups

    def fitting(self, group: str) -> Joints:
        """Return joints of which a further group of parameters is fitted."""
        found = copy.copy(self)
        found._progress = self._progress
        found._groups = tuple(dict.fromkeys((*self._groups, group)))
        return found

    def _added(self, j: int, group: str) -> list[str]:
        """Return the parameters of a joint that are fitted only with a group."""
        names = self._names_in(j, (*self._groups, group))
        return [name for name in names if name not in self._names_in(j, self._groups)]

    def promise(self, group: str, fits: Sequence[Fit], cases: Sequence[Decoupled]) -> float:
        """Return what a further group of parameters promises by the slopes at fits, of their sum of squares.

        Args:
            group: The group.
            fits: Fits without it.
            cases: The logs.
        """

        def one(j: int) -> tuple[float, float]:
            values, added = fits[j].values, self._added(j, group)
            further = {name: self._known[j].get(name, self._benches[j].rules[name].start) for name in added}
            return self._benches[j].promise(cases, {**values, **further}, list(fits[j].errors), added)

        gained, costs = zip(*self._each(one), strict=True)
        return sum(gained) / max(sum(costs), _LEAST)

    @property
    def benches(self) -> Sequence[Bench]:
        """The joints by themselves."""
        return self._benches

    def _complete(self, bench: Bench, armature: float) -> None:
        """Add what is known of a joint if its motor does not say it."""
        values, rule = self._known[bench.column], bench.rules["armature"]
        values.setdefault("armature", armature)
        if not self._sees_armature and math.isfinite(rule.spread):
            values["armature"] = rule.start
        values.setdefault("delay", 0.0)
        values.setdefault("encoder_bias", 0.0)

    def _names_in(self, j: int, groups: Sequence[str]) -> tuple[str, ...]:
        """Return what is fitted of a joint with any model of friction, and groups of parameters."""
        bench, known = self._benches[j], self._known[j]
        # a gain of 0 is none
        gains = [name for name in GAINS if GAINS_TOO in groups and known.get(name)]
        further = self._options.further(bench.joint)
        for name in further:
            if not has_place(bench.motor, name):
                # says what is missing
                with_values(bench.motor, {name: 0.0})
        sees_armature = self._sees_armature and has_place(bench.motor, "armature")
        biases = ("encoder_bias",) if BIASES in groups else ()
        found = ("delay", *biases, *(("armature",) if sees_armature else ()), *gains, *further)
        return tuple(name for name in dict.fromkeys(found) if name not in self._settings)

    def names_of(self, j: int, model: str) -> tuple[str, ...]:
        """Return what is fitted of a joint with a model of friction; nothing with the motor of the file."""
        if not MODELS[model]:
            return ()
        # a supply is one of all joints
        own = [name for name in MODELS[model] if name != "supply_resistance" or self._has_own_supply]
        return tuple(dict.fromkeys((*self._names_in(j, self._groups), *own)))

    @property
    def _has_own_supply(self) -> bool:
        return len(self._benches) == 1 and has_place(self._benches[0].motor, "supply_resistance")

    def find_biases(
        self, links: Links, training: Sequence[MotorLog], first: list[Fit] | None = None
    ) -> tuple[np.ndarray, list[Fit]]:
        """Return biases of the encoders [rad or m] with which the joints are decoupled, and fits with the first model.

        The decoupling depends on the biases, and what each joint by itself finds of its own bias on the decoupling.

        Args:
            links: The links of the robot.
            training: The logs that they are fitted to.
            first: Fits where the first round starts; None means the motors.
        """
        found: list[tuple[np.ndarray, list[Fit]]] = []

        def biases(given: np.ndarray) -> np.ndarray:
            self._progress("finding delays and biases", 0.05 + 0.3 * len(found) / _ROUNDS)
            cases = [links.decouple(log, given) for log in training]
            fits = self.fit(FIRST, cases, found[-1][1] if found else first, _ROUGH, near=bool(found))
            found.append((np.array([fit.values["encoder_bias"] for fit in fits]), fits))
            return found[-1][0]

        boxes = [bench.box(["encoder_bias"]) for bench in self._benches]
        lower, upper = (np.concatenate([getattr(one, end) for one in boxes]) for end in ("lower", "upper"))
        known = [
            first[j].values if first and "encoder_bias" in self.names_of(j, FIRST) else self._known[j]
            for j in range(len(self._benches))
        ]
        start = np.array([values["encoder_bias"] for values in known])
        best = fixed_point(biases, start, lower, upper, _ROUNDS, _SMALL)
        return min(found, key=lambda one: float(np.abs(one[0] - best).max()))

    def score(self, model: str, fits: Sequence[Fit], validation: Sequence[Decoupled]) -> ModelScore:
        """Return the errors of fits with a model of friction."""
        errors = self._each(lambda j: self._benches[j].error(validation, fits[j].values))
        found = float(np.mean([fit.error for fit in fits])), float(np.mean(errors))
        return ModelScore(model, self.names_of(0, model), *found)

    def ladder(
        self, first: list[Fit], training: Sequence[Decoupled], validation: Sequence[Decoupled]
    ) -> tuple[list[ModelScore], dict[str, list[Fit]]]:
        """Return the score of each model, and its fits, which start at the values of the first ones."""
        scores, found = list[ModelScore](), dict[str, list[Fit]]()
        models = self._models()
        for count, name in enumerate(models):
            self._progress(f"fitting: {name}", 0.35 + 0.4 * count / len(models))
            # with this one, biases were found
            fits = found[name] = self.fit(name, training, first, near=name == FIRST)
            scores.append(self.score(name, fits, validation))
            # models with more parameters start where this one ended
            if set(MODELS[FIRST]) <= set(MODELS[name]):
                first = fits
        return scores, found

    def _models(self) -> list[str]:
        """Return the names of the models to try, without those that add nothing for these motors."""
        found, before = [], None
        for name in (model for model in MODELS if model in self._options.models):
            names = self.names_of(0, name)
            if names != before:
                found.append(name)
            before = names
        return found

    def fit(
        self,
        model: str,
        cases: Sequence[Decoupled],
        before: list[Fit] | None,
        tolerance: float = 1e-6,
        near: bool = False,
    ) -> list[Fit]:
        """Return the fits of all joints; those before, of a simpler model or `near` ones, are where they start."""

        def one(j: int) -> Fit:
            names, known = self.names_of(j, model), self._known[j]
            start = self._starts(j, names, before)
            fixed = {name: value for name, value in known.items() if name in OF_LOG and name not in names}
            fixed |= self._settings
            for name, value in self._alike(j, before).items():
                if name in start:
                    start.pop(name)
                    fixed[name] = value
            if before is None:
                start = tried(self._benches[j], cases, start, fixed)
                if self._options.search:
                    options = self._options
                    start = searched(self._benches[j], cases, start, fixed, options.search, options.seed)
            fit = self._benches[j].fit(cases, start, fixed, tolerance, near)
            return dataclasses.replace(fit, values={**fixed, **fit.values})

        return self._each(one)

    def _alike(self, j: int, before: list[Fit] | None) -> dict[str, float]:
        """Return the values that a joint shares with others, from the fits before."""
        found: dict[str, float] = {}
        if before is not None:
            for name in self._benches[j].rules:
                for group in self._options.alike(name, self._names):
                    values = [before[k].values[name] for k in group if name in before[k].values]
                    if j in group and values:
                        found[name] = float(np.median(values))
        return found

    def _starts(self, j: int, names: Sequence[str], before: list[Fit] | None) -> dict[str, float]:
        """Return where the parameters of a joint start."""
        found = {}
        for name in names:
            known = before[j].values if before is not None else {}
            if name in ("motor_load", "external_load") and "load_friction" in known:
                known = {**known, name: known["load_friction"]}
            found[name] = known.get(name, self._known[j].get(name) or self._benches[j].rules[name].start)
        return found

    def _each(self, function: Callable[[int], _T]) -> list[_T]:
        """Return the results of a function of the number of a joint."""
        return each(function, len(self._benches), self._options.ray)

    def __getstate__(self) -> dict[str, object]:
        """Return the parts that are copied to other processes; progress is reported in this one."""
        return {**vars(self), "_progress": None}

    def motors(self, fits: Sequence[Fit], cases: Sequence[Decoupled]) -> dict[str, MotorConfig]:
        """Return the motors with fitted values, by joint name.

        Friction gets the smallest inertia that its joint has along the logs, for simulators that tell it none; a value
        that is too small is safe.
        """
        return self._supplied(fits, cases, self.supply(fits, cases))

    def motors_and_estimates(
        self, fits: Sequence[Fit], cases: Sequence[Decoupled]
    ) -> tuple[dict[str, MotorConfig], list[Estimate]]:
        """Return `motors`, and a line for each number that was fitted, of the supply that the joints share, too."""
        supply = self.supply(fits, cases)
        return self._supplied(fits, cases, supply), [*self._estimates(fits), *self._supply_estimates(supply)]

    def _supplied(
        self, fits: Sequence[Fit], cases: Sequence[Decoupled], supply: SharedSupply | None
    ) -> dict[str, MotorConfig]:
        """Return `motors` behind a supply."""
        found, least = {}, np.maximum(np.min([case.least for case in cases], axis=0), 0.0)
        for bench, known, fit in zip(self._benches, self._known, fits, strict=True):
            kept = {name: one for name, one in fit.values.items() if abs(one) > _NONE * bench.rules[name].scale}
            kept |= {name: 0.0 for name in fit.values if name not in kept and known.get(name)}
            inertia = float(least[bench.column]) + fit.values["armature"]
            found[bench.joint] = with_inertia(with_values(bench.motor, kept), inertia)
        return found if supply is None else {name: supply.given_to(motor) for name, motor in found.items()}

    def supply(self, fits: Sequence[Fit], cases: Sequence[Decoupled]) -> SharedSupply | None:
        """Return the supply that the joints share; None if logs do not tell it."""
        return shared_supply(self._benches, fits, cases) if self._is_supplied else None

    def alone(self, fits: Sequence[Fit], cases: Sequence[Decoupled]) -> list[np.ndarray]:
        """Return the positions of the joints, each by itself, `(samples, joints)` for each log [rad or m]."""

        def one(j: int) -> list[np.ndarray]:
            rollout = self._benches[j].rollout(fits[j].values, 1)
            return [rollout.run(case, j, [fits[j].values])[0] for case in cases]

        return [np.stack(columns, axis=1) for columns in zip(*self._each(one), strict=True)]

    def columns(self, fits: Sequence[Fit]) -> list[ColumnUse]:
        """Return a line for each column of logs besides commands and positions, and each joint.

        A column that is fitted in some logs only has two.
        """
        found = []
        for joint, fit in zip(self._names, fits, strict=True):
            found += [ColumnUse(joint, name, SIGNALS[name], "", *sizes) for name, sizes in fit.columns.items()]
            left = {name: "in some logs, " * (name in fit.columns) + why for name, why in fit.left_out.items()}
            found += [ColumnUse(joint, name, SIGNALS[name], why) for name, why in left.items()]
        return found

    def _supply_estimates(self, supply: SharedSupply | None) -> list[Estimate]:
        """Return lines for the supply that the joints share, if logs tell it."""
        if supply is None:
            return []
        lines = zip(("supply.voltage", "supply_resistance"), ("V", "Ω"), supply.numbers, supply.errors, strict=True)
        joints, motor = ", ".join(self._names), self._benches[0].motor
        return [
            Estimate(joints, name, value, unit, error, (0.0, _LARGEST), value_of(motor, name))
            for name, unit, value, error in lines
        ]

    def _estimates(self, fits: Sequence[Fit]) -> list[Estimate]:
        """Return a line for each parameter that was fitted."""
        return [
            Estimate(
                bench.joint,
                name,
                value,
                bench.rules[name].unit,
                fit.errors.get(name, float("nan")),
                bench.rules[name].bounds,
                known.get(name, float("nan")),
            )
            for bench, known, fit in zip(self._benches, self._known, fits, strict=True)
            for name, value in fit.values.items()
            if name in fit.errors or any(bench.column in group for group in self._options.alike(name, self._names))
        ]

    def warnings(self, fits: Sequence[Fit]) -> list[str]:
        """Return sentences on what the logs do not determine."""
        return [*self._of_logs(), *self._of_values(fits), *self._of_pairs(fits)]

    def _of_logs(self) -> list[str]:
        found = []
        if self._options.gains is None and GAINS_TOO in self._groups:
            found.append(
                "The gains that were given do not fit: those that were fitted make errors on what is held out clearly "
                "smaller. Check them; --keep-gains keeps them nevertheless."
            )
        if not self._sees_armature:
            found.append(
                "The logs have fewer than 100 samples per second, which do not show armatures: they are kept, or those "
                "of priors."
            )
        if any(isinstance(bench.motor.delay, DelayConfig) for bench in self._benches):
            found.append("Delays in physics steps were replaced by delays in seconds.")
        late = [bench.joint for bench in self._benches if any(map(_is_late, bench.motor.stages))]
        if late:
            joints = ", ".join(late)
            found.append(f"{joints}: resolution, latency, noise and filter of the encoder are left out of the fit.")
        wound = any(has_place(bench.motor, "supply_resistance") for bench in self._benches)
        if len(self._benches) > 1 and wound and not self._is_supplied:
            found.append(
                "The supply is one of all joints: volts in the logs, or a log of one joint, tell its resistance."
            )
        return found

    def _of_values(self, fits: Sequence[Fit]) -> list[str]:
        found = []
        for one in self._estimates(fits):
            j = self._names.index(one.joint)
            if one.is_at_bound:
                found.append(f"{one.joint}: {one.name} = {one.value:.4g} {one.unit} is at the end of its range.")
            known = max(abs(one.value), self._benches[j].rules[one.name].scale)
            if one.name in fits[j].errors and not one.standard_error <= known:
                found.append(f"{one.joint}: the logs do not tell {one.name}; the value has no meaning.")
        return found

    def _of_pairs(self, fits: Sequence[Fit]) -> list[str]:
        found = []
        for joint, fit in zip(self._names, fits, strict=True):
            names = list(fit.errors)
            for a, b in np.argwhere(np.triu(np.abs(fit.correlations), 1) > _CORRELATED):
                found.append(f"{joint}: the logs hardly tell {names[a]} from {names[b]}.")
        return found


def _is_late(stage: Config) -> bool:
    """Return whether a stage is an encoder with more than a bias, which rollouts do not have."""
    plain = EncoderConfig(velocity="register")
    return isinstance(stage, EncoderConfig) and dataclasses.replace(stage, bias=0.0, side=plain.side) != plain
