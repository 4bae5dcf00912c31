"""`Joints`: the joints of logs, each fitted by itself."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from ...base.extras import needs
from ...specs.configs import Config, DelayConfig
from ...specs.encoder import EncoderConfig
from ...specs.motors import MotorConfig
from ..progress import Progress
from .decoupling import Decoupled, Links
from .fit import Bench, Fit, Way
from .fixed_point import fixed_point
from .identified import ColumnUse, Estimate, ModelScore
from .log import SIGNALS, MotorLog
from .models import BETTER, FIRST, LOAD, MODELS, SIMPLE, is_clearly_better, is_rich_in_loads
from .options import FitOptions
from .parameters import GAINS, OF_LOG, has_place, other_friction, value_of, with_inertia, with_values
from .residuals import Part
from .rollout import settings_of, substeps_of
from .start import starts
from .supply import SharedSupply, shared_supply

_T = TypeVar("_T")

BIASES, GAINS_TOO = "encoder_bias", "gains"
"""Groups of parameters that are fitted where they pay, or that options ask for."""

# slowest sampling at which an armature is seen [s]
_SEES_ARMATURE = 0.0101
_CORRELATED = 0.98
# friction that is none, of its scale
_FEW = 0.05
# largest standard error of a value that logs tell, of the value or of its scale, and by how much errors may grow with
# a known value in its place
_TOLD, _NO_WORSE = 0.5, 1.01
# end of the range of values of a supply [V or Ω]
_LARGEST = 1e3
# a value below this share of its scale is none
_NONE = 1e-6
# smallest sum of squares
_LEAST = 1e-30
# largest number of rounds in which biases of encoders are found, and change at which they end [rad or m]
_ROUNDS, _SMALL = 8, 1e-3
# number of parts in which logs are left out, and errors of a joint in them that are worse, of those of another model
_FOLDS, _WORSE = 4, 1.05
# tolerances of these rounds, which the ladder fits again, and of the ladder, whose best model is fitted again
_ROUGH, CLOSE = 1e-3, 1e-4


class Joints:
    """The joints of logs, their known motors, and what is fitted; ValueError for a parameter that a motor cannot have.

    `armatures`, shape `(joints,)`, are those of the robot file [kg·m² or kg].
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
        self._sees_armature = max(log.dt for log in logs) <= _SEES_ARMATURE
        self._step = max(log.dt / substeps_of(log.dt) for log in logs)
        self._known = [
            self._known_of(bench, float(armature)) for bench, armature in zip(self._benches, armatures, strict=True)
        ]
        self._part: Part = "fitted"
        self._held: Mapping[int, frozenset[str]] = {}
        self._effects: Mapping[int, tuple[str, ...]] = {}
        # gains of each joint that were found before, and their standard errors
        self._found: Sequence[tuple[Mapping[str, float], Mapping[str, float]]] = [({}, {})] * len(self._benches)
        # the load of a single joint on a bench is known, and shows the bias
        self._groups = (BIASES,) * (len(motors) == 1) + (GAINS_TOO,) * bool(options.gains)

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
        return self._with(_groups=tuple(dict.fromkeys((*self._groups, group))))

    def holding(self, names: Mapping[int, Collection[str]]) -> Joints:
        """Return joints of which some, by number, keep further parameters as they are known."""
        held = {j: self._held.get(j, frozenset()) | frozenset(names.get(j, ())) for j in range(len(self._benches))}
        return self._with(_held=held)

    def keeping_gains(self, fits: Sequence[Fit]) -> Joints:
        """Return joints whose gains stay as they were fitted, unless options ask for them."""
        if self._options.gains is not None:
            return self
        names = [[name for name in GAINS if name in fit.errors] for fit in fits]
        found = [
            ({name: fit.values[name] for name in own}, {name: fit.errors[name] for name in own})
            for fit, own in zip(fits, names, strict=True)
        ]
        return self._with(_found=found)

    def adding(self, names: Sequence[str], joints: Sequence[int], keeping: Sequence[Fit] | None = None) -> Joints:
        """Return joints of which some, by number, have parameters besides those of a model of friction.

        Their gains are those of fits to keep, else they are fitted again if they were, and behind a spring as known.
        """
        kept = [({}, {})] * len(self._benches) if keeping is None else self.keeping_gains(keeping)._found
        found = [kept[j] if j in joints else gains for j, gains in enumerate(self._found)]
        held = GAINS if "stiffness" in names else ()
        added = {**self._effects, **{j: (*self._effects.get(j, ()), *names) for j in joints}}
        return self.holding(dict.fromkeys(joints, held))._with(_effects=added, _found=found)

    def may_have(self, j: int, names: Collection[str]) -> bool:
        """Return whether a joint may have these parameters and logs may tell them: armatures, of those of a spring."""
        motor = self._benches[j].motor
        # of a spring in the file, what options ask for is fitted
        is_open = "stiffness" not in names or (self._sees_armature and math.isnan(value_of(motor, "stiffness")))
        return is_open and all(has_place(motor, name) for name in names) and not self._is_sprung(j)

    def _is_sprung(self, j: int) -> bool:
        """Return whether a spring between rotor and joint is fitted."""
        return "stiffness" in (*self._effects.get(j, ()), *self._options.further(self._benches[j].joint))

    def on_all(self) -> Joints:
        """Return joints that are fitted to all samples of logs, after what is fitted was chosen."""
        return self._with(_part="all")

    def _with(self, **changes: object) -> Joints:
        found = copy.copy(self)
        # which a copy for another process lacks
        vars(found).update(changes, _progress=self._progress)
        return found

    def _added(self, j: int, group: str) -> list[str]:
        """Return the parameters of a joint that are fitted only with a group."""
        names = self._names_in(j, (*self._groups, group))
        return [name for name in names if name not in self._names_in(j, self._groups)]

    def promise(self, group: str, fits: Sequence[Fit], cases: Sequence[Decoupled]) -> float:
        """Return what a further group of parameters promises by the slopes at fits, of their sum of squares."""

        def one(j: int) -> tuple[float, float]:
            values, added = fits[j].values, self._added(j, group)
            further = {name: self._known[j].get(name, self._benches[j].rules[name].start) for name in added}
            return self._benches[j].promise(cases, {**values, **further}, list(fits[j].errors), added)

        gained, costs = zip(*self.each(one), strict=True)
        return sum(gained) / max(sum(costs), _LEAST)

    @property
    def benches(self) -> Sequence[Bench]:
        """The joints by themselves."""
        return self._benches

    def _known_of(self, bench: Bench, armature: float) -> dict[str, float]:
        """Return what is known of a joint: by its motor, and if that does not say it, by the robot file."""
        known = {name: value for name in bench.rules if not math.isnan(value := value_of(bench.motor, name))}
        rule = bench.rules["armature"]
        known.setdefault("armature", armature)
        if not self._sees_armature and math.isfinite(rule.spread):
            known["armature"] = rule.start
        known.setdefault("delay", 0.0)
        known.setdefault("encoder_bias", 0.0)
        return known

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
        # behind a spring it is that of the rotor
        sees_armature = self._sees_armature and has_place(bench.motor, "armature") and not self._is_sprung(j)
        biases, armature = ("encoder_bias",) * (BIASES in groups), ("armature",) * sees_armature
        found = ("delay", *biases, *armature, *gains, *further)
        left = {*self._settings, *self._held.get(j, ()), *self._found[j][0]}
        return tuple(name for name in dict.fromkeys(found) if name not in left)

    def names_of(self, j: int, model: str) -> tuple[str, ...]:
        """Return what is fitted of a joint with a model of friction; nothing with the motor of the file."""
        motor, added = self._benches[j].motor, self._effects.get(j, ())
        if not MODELS[model] and not added:
            return ()
        # a supply is one of all joints
        own = [
            name
            for name in MODELS[FIRST if self._is_sprung(j) else model]
            if (self._has_own_supply if name == "supply_resistance" else has_place(motor, name))
        ]
        found = dict.fromkeys((*self._names_in(j, self._groups), *own, *added))
        return tuple(name for name in found if name not in self._held.get(j, ()))

    @property
    def _has_own_supply(self) -> bool:
        return len(self._benches) == 1 and has_place(self._benches[0].motor, "supply_resistance")

    def find_biases(
        self, links: Links, training: Sequence[MotorLog], first: list[Fit] | None = None
    ) -> tuple[np.ndarray, list[Fit]]:
        """Return biases of encoders [rad or m], which the decoupling depends on and tells in turn, and first fits."""
        found: list[tuple[np.ndarray, list[Fit]]] = []

        def biases(given: np.ndarray) -> np.ndarray:
            self._progress("finding delays and biases", 0.05 + 0.3 * len(found) / _ROUNDS)
            cases = [links.decouple(log, given) for log in training]
            fits = self.fit(FIRST, cases, found[-1][1] if found else first, _ROUGH, "near" if found else "whole")
            found.append((np.array([fit.values["encoder_bias"] for fit in fits]), fits))
            return found[-1][0]

        boxes = [bench.box(["encoder_bias"]) for bench in self._benches]
        lower, upper = (np.concatenate([getattr(one, end) for one in boxes]) for end in ("lower", "upper"))
        known = [
            first[j].values if first and "encoder_bias" in self.names_of(j, FIRST) else self._known[j]
            for j in range(len(self._benches))
        ]
        start = np.array([values["encoder_bias"] for values in known])
        is_asked = any(BIASES in self._options.further(bench.joint) for bench in self._benches)
        # a bias at the end of its range tells that the logs do not show biases
        best = fixed_point(biases, start, lower, upper, _ROUNDS, _SMALL, inside=not is_asked)
        return min(found, key=lambda one: float(np.abs(one[0] - best).max()))

    def score(self, model: str, fits: Sequence[Fit]) -> ModelScore:
        """Return the errors of fits with a model of friction."""
        found = (float(np.nanmean([getattr(fit, part) for fit in fits])) for part in ("error", "held_out"))
        return ModelScore(model, self.names_of(0, model), *found)

    def ladder(self, first: list[Fit], cases: Sequence[Decoupled]) -> tuple[list[Rung], Rung]:
        """Return the models of friction that were tried, from simple to rich, and the one to keep.

        Models beyond the first one keep its gains: under its weight, friction of a load holds a joint as a gain does.
        """
        keeping, models = self.keeping_gains(first), self._models()
        tried, best = list[Rung](), None
        for count, name in enumerate(models):
            if is_rich_in_loads(name) and LOAD in models and best is not None and best.score.name != LOAD:
                # what one term of loads does not explain, several do not
                continue
            self._progress(f"fitting: {name}", 0.35 + 0.4 * count / len(models))
            rung = self._rung(name, keeping, first, cases)
            tried.append(rung)
            # models with more parameters start where this one ended
            if set(MODELS[FIRST]) <= set(MODELS[name]):
                first = rung.fits
            if best is None or _is_worth_more(rung, best):
                best = rung
        assert best is not None
        return tried, best

    def _rung(self, name: str, keeping: Joints, first: list[Fit], cases: Sequence[Decoupled]) -> Rung:
        """Try a model of friction, one beyond the first with the gains of that."""
        joints = self if name in SIMPLE or not MODELS[name] else keeping
        # with the first one, biases were found
        fits = joints.fit(name, cases, first, CLOSE, "near" if name == FIRST else "whole")
        return Rung(joints, fits, joints.score(name, fits), cases)

    def errors_left_out(
        self, model: str, fits: list[Fit], cases: Sequence[Decoupled], of: Sequence[int] | None = None
    ) -> np.ndarray:
        """Return the errors of the joints on logs that they were not fitted to [rad or m], shape `(joints,)`.

        The logs are left out in turn, in at most so many parts as `_FOLDS`; fits to all of them are where fits start.
        """
        of = range(len(self._benches)) if of is None else of
        ordered = sorted(cases, key=lambda case: case.log.source)
        folds, joints, parts = min(len(cases), _FOLDS), self.on_all(), list[list[float]]()
        for fold in range(folds):
            left_out = ordered[fold::folds]
            others = [case for case in ordered if case not in left_out]

            def error(k: int) -> float:
                fit = joints.fit_of(of[k], model, others, fits, _ROUGH, "quick")  # noqa: B023
                return self._benches[of[k]].error(left_out, fit.values)  # noqa: B023

            parts.append(self.each(error, len(of)))
        return np.nanmean(parts, axis=0)

    def untold(self, fits: Sequence[Fit], names: Collection[str] | None = None) -> dict[int, list[str]]:
        """Return the names of parameters of each joint that logs do not tell, by its number.

        Standard errors are half of them or more, they are at ends of ranges, or gains like friction or an armature.
        """
        found: dict[int, list[str]] = {}
        for estimate in self._estimates(fits):
            j, name = self._names.index(estimate.joint), estimate.name
            is_asked = name in fits[j].errors and (names is None or name in names)
            if is_asked and not _is_told(estimate, fits[j], self._benches[j].rules[name].scale):
                found.setdefault(j, []).append(name)
        for j, untold in found.items():
            if "breakaway" in fits[j].errors.keys() - {*untold}:
                # which is what comes on top of it
                found[j] = [name for name in untold if name != "coulomb"]
        return found

    def settled(
        self, model: str, fits: list[Fit], cases: Sequence[Decoupled]
    ) -> tuple[Joints, list[Fit], dict[str, list[str]]]:
        """Return joints that keep what logs do not tell as it is known, their fits, and the names of what they keep.

        A joint whose positions are worse with the known values takes those that were fitted. A delay that is shorter
        than a physics step of rollouts stays as it is known, if that is as short.
        """
        early = [
            j
            for j, (fit, known) in enumerate(zip(fits, self._known, strict=True))
            if "delay" in fit.errors and max(fit.values["delay"], known["delay"]) < self._step
        ]
        base = self.holding(dict.fromkeys(early, ("delay",)))
        fits = base.fit(model, cases, fits, way="near", of=early)
        untold = base.untold(fits)
        again = base.holding(untold).fit(model, cases, fits, way="near", of=list(untold))
        told = {j: names for j, names in untold.items() if again[j].error <= _NO_WORSE * fits[j].error}
        kept = {self._names[j]: names for j, names in told.items()}
        return base.holding(told), [again[j] if j in told else fit for j, fit in enumerate(fits)], kept

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
        way: Way = "whole",
        of: Sequence[int] | None = None,
    ) -> list[Fit]:
        """Return fits of the joints `of`, by number and in order, all for None; others have those before.

        Those before, of a simpler model or near ones, are where fits start.
        """
        of = range(len(self._benches)) if of is None else of
        fits = iter(self.each(lambda k: self.fit_of(of[k], model, cases, before, tolerance, way), len(of)))
        return [next(fits) if j in of else (before or [])[j] for j in range(len(self._benches))]

    def fit_of(
        self,
        j: int,
        model: str,
        cases: Sequence[Decoupled],
        before: list[Fit] | None,
        tolerance: float,
        way: Way = "whole",
    ) -> Fit:
        """Return the fit of a joint; arguments as for `fit`."""
        bench = self._benches[j]
        names = self.names_of(j, model) if bench.moves(cases) else ()
        start = self._starts(j, names, before)
        alike = self._alike(j, names, before)
        for name in alike:
            del start[name]
        gains, errors = self._found[j] if names else ({}, {})
        fixed = {**self._fixed(j, names), **alike, **gains}
        # what a fit nearby found of columns
        left_out = before[j].left_out if before is not None and way in ("near", "quick") and before[j].errors else None
        first = self._tried_starts(j, start, fixed, cases, before, way)
        if len(first) > 1:
            # only the best one is worth small steps
            rough = [bench.fit(cases, values, fixed, tolerance, "rough", self._part) for values in first]
            best, way = min(rough, key=lambda fit: fit.held_out).values, "near"
            first = [{name: best[name] for name in start}]
        fit = bench.fit(cases, first[0], fixed, tolerance, way, self._part, left_out)
        return dataclasses.replace(fit, values={**fixed, **fit.values}, errors={**fit.errors, **errors})

    def _fixed(self, j: int, names: Sequence[str]) -> dict[str, float]:
        """Return the values of parameters of a joint that are known and not fitted."""
        fixed = {name: value for name, value in self._known[j].items() if name in OF_LOG and name not in names}
        return fixed | self._settings | ({"armature": 0.0} if self._is_sprung(j) else {})

    def _tried_starts(
        self,
        j: int,
        start: dict[str, float],
        fixed: Mapping[str, float],
        cases: Sequence[Decoupled],
        before: list[Fit] | None,
        way: Way,
    ) -> list[dict[str, float]]:
        """Return the values at which a fit of a joint may start."""
        bench = self._benches[j]
        if before is None:
            return starts(bench, cases, start, fixed, self._options.seed) if start else [start]
        rules = {name: bench.rules[name] for name in start}
        has_little_friction = any(
            rule.kind == "passive" and not start[name] > _FEW * rule.scale for name, rule in rules.items()
        )
        if way != "whole" or not has_little_friction:
            return [start]
        # what a simpler model lacks has led astray
        fresh = self._starts(j, list(start), None)
        return [start, {name: fresh[name] if name != "delay" else value for name, value in start.items()}]

    def refit(self, model: str, cases: Sequence[Decoupled], fits: Sequence[Fit]) -> list[Fit]:
        """Return fits to other logs near fits of the ladder, whose gains are those of its first model."""
        joints = self
        if any(gains for gains, _ in self._found):
            free = self._with(_found=[({}, {})] * len(self._benches))
            joints = free.keeping_gains(free.fit(FIRST, cases, list(fits), CLOSE, "quick"))
        return joints.fit(model, cases, list(fits), CLOSE, "quick")

    def _alike(self, j: int, names: Sequence[str], before: list[Fit] | None) -> dict[str, float]:
        """Return the values that a joint shares with others, from the fits before."""
        found: dict[str, float] = {}
        if before is not None:
            for name in (name for name in self._benches[j].rules if name in names):
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

    def each(self, function: Callable[[int], _T], count: int | None = None) -> list[_T]:
        """Return the results of a function of the number of a joint, or of numbers below `count`."""
        return each(function, len(self._benches) if count is None else count, self._options.ray)

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
        supply, estimates = self.supply(fits, cases), self._estimates(fits)
        if supply is not None:
            joints, motor = ", ".join(self._names), self._benches[0].motor
            names, units = ("supply.voltage", "supply_resistance"), ("V", "Ω")
            estimates += [
                Estimate(joints, name, value, unit, error, (0.0, _LARGEST), value_of(motor, name))
                for name, unit, value, error in zip(names, units, supply.numbers, supply.errors, strict=True)
            ]
        return self._supplied(fits, cases, supply), estimates

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
            rollouts = self._benches[j].rollout(fits[j].values, len(cases)).run(cases, j, [fits[j].values])
            return [positions[0] for positions, _ in rollouts]

        return [np.stack(columns, axis=1) for columns in zip(*self.each(one), strict=True)]

    def ends_at_bounds(self, fits: Sequence[Fit], name: str) -> bool:
        """Return whether a parameter of any joint is at the end of its range."""
        return any(one.name == name and one.is_at_bound for one in self._estimates(fits))

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

    def _estimates(self, fits: Sequence[Fit]) -> list[Estimate]:
        """Return a line for each parameter that was fitted."""
        found = []
        for bench, known, fit in zip(self._benches, self._known, fits, strict=True):
            for name, value in fit.values.items():
                alike = self._options.alike(name, self._names)
                if name in fit.errors or any(bench.column in group for group in alike):
                    rule, error, start = bench.rules[name], fit.errors.get(name, math.nan), known.get(name, math.nan)
                    found.append(Estimate(bench.joint, name, value, rule.unit, error, rule.bounds, start))
        return found

    def warnings(self, fits: Sequence[Fit]) -> list[str]:
        """Return sentences on what the logs do not determine."""
        found = []
        for one in self._estimates(fits):
            if one.is_at_bound:
                found.append(f"{one.joint}: {one.name} = {one.value:.4g} {one.unit} is at the end of its range.")
        for j, names in self.untold(fits).items():
            found.append(f"{self._names[j]}: the logs do not tell {', '.join(names)}.")
        for joint, fit in zip(self._names, fits, strict=True):
            names = list(fit.errors)
            for a, b in np.argwhere(np.triu(np.abs(fit.correlations), 1) > _CORRELATED):
                found.append(f"{joint}: the logs hardly tell {names[a]} from {names[b]}.")
        return [*self._of_logs(fits), *self._of_motors(), *found]

    def _of_logs(self, fits: Sequence[Fit]) -> list[str]:
        found = []
        if self._options.gains is None and any(name in GAINS for fit in fits for name in fit.errors):
            found.append(
                "The known gains do not fit the logs: fitted gains have clearly smaller errors on what is held out. "
                "Check them, or keep them with --keep-gains."
            )
        if not self._sees_armature:
            found.append(
                "The logs have fewer than 100 samples per second, which do not show armatures: they are kept, or those "
                "of priors."
            )
        if any(isinstance(bench.motor.delay, DelayConfig) for bench in self._benches):
            found.append("Delays in physics steps were replaced by delays in seconds.")
        return found

    def _of_motors(self) -> list[str]:
        found = []
        for bench in self._benches:
            if (friction := other_friction(bench.motor)) is not None:
                kept = f"its {type(friction).__name__} stays as it is"
                found.append(f"{bench.joint}: {kept}; --fit passive.FIELD with --bounds fits a number of it.")
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


def each(function: Callable[[int], _T], count: int, on_ray: bool = False) -> list[_T]:
    """Return the results of a function for the numbers 0 … count - 1, on all cores of this machine or of Ray."""
    if not on_ray:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(function, range(count)))
    with needs("identification on Ray", "ray"):
        import ray  # pyright: ignore[reportMissingImports]
    if not ray.is_initialized():
        if "RAY_ADDRESS" in os.environ:
            ray.init()
        else:
            ray.init("local", num_cpus=os.cpu_count(), log_to_driver=False)
    task = ray.remote(function)
    return ray.get([task.remote(number) for number in range(count)])


@dataclasses.dataclass(frozen=True, eq=False)
class Rung:
    """A model of friction that was tried: joints that were fitted to the logs, their fits, errors and its name."""

    joints: Joints
    fits: list[Fit]
    score: ModelScore
    cases: Sequence[Decoupled]

    @functools.cached_property
    def errors_left_out(self) -> np.ndarray:
        """Errors of the joints on logs that they were not fitted to [rad or m], shape `(joints,)`."""
        return self.joints.errors_left_out(self.score.name, self.fits, self.cases)


def _is_worth_more(rung: Rung, best: Rung) -> bool:
    """Return whether a model is clearly better than the best one, and on logs left out not worse for any joint."""
    if not is_clearly_better(rung.score, best.score):
        return False
    if rung.score.name in SIMPLE or len(rung.cases) == 1:
        return True
    # blocks of the logs of a fit have its motions: a model may explain these, and no others
    new, old = rung.errors_left_out, best.errors_left_out
    return bool(np.nanmean(new) < BETTER * np.nanmean(old)) and not (new > _WORSE * old).any()


def _is_told(estimate: Estimate, fit: Fit, scale: float) -> bool:
    """Return whether logs tell a value; a gain has to differ from friction and an armature, too."""
    known, order = max(abs(estimate.value), scale), list(fit.errors)
    at = order.index(estimate.name)
    if estimate.name in GAINS:
        known = abs(estimate.value)
        others = [order.index(other) for other in ("viscous", "coulomb", "armature") if other in order]
        # behind the correlations are gains that were found before
        if at < len(fit.correlations) and np.abs(fit.correlations[at, others]).max(initial=0.0) > _CORRELATED:
            return False
    return not estimate.is_at_bound and estimate.standard_error <= _TOLD * known


def _is_late(stage: Config) -> bool:
    """Return whether a stage is an encoder with more than a bias, which rollouts do not have."""
    plain = EncoderConfig(velocity="register")
    return isinstance(stage, EncoderConfig) and dataclasses.replace(stage, bias=0.0, side=plain.side) != plain
