"""`identify`: from logs of a robot to its motors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...specs.configs import DelayConfig
from ...specs.motors import MotorConfig
from .decoupling import Decoupled, Links
from .fit import Fit, error_of, fit_joint
from .given_motors import given_motors
from .identified import Estimate, Identified, ModelScore, Replay, mean_error
from .log import MotorLog
from .parameters import OF_LOG, OF_MOTOR, PARAMETERS, value_of, with_values
from .replay import replay
from .rollout import settings_of

_T = TypeVar("_T")

MODELS: dict[str, tuple[str, ...]] = {
    "as in the file": (),
    "viscous friction": ("viscous",),
    "Coulomb friction": ("viscous", "coulomb"),
    "breakaway": ("viscous", "coulomb", "breakaway", "stribeck_velocity"),
    "load": ("viscous", "coulomb", "breakaway", "stribeck_velocity", "load_friction"),
}
"""The ladder of models, from simple to rich: the parameters of friction of each, by its name."""

# the model with which the biases of encoders are found
_FIRST = "Coulomb friction"
# slowest sampling at which an armature is seen [s]
_SEES_ARMATURE = 0.0101
# a richer model has to be better by this share
_BETTER = 0.95
# share of a single log that is held out
_HELD_OUT = 0.25
_CORRELATED = 0.98
# a value below this share of its scale is none
_NONE = 1e-6
# distance from a position limit, of the range of a joint, and share of a log that may be so near
_NEAR, _OFTEN = 0.002, 0.01
_ROUNDS = 2
# other levels of dry friction at which fits start [N·m or N]
_LEVELS = (1.0, 20.0)
# tolerance of these rounds, which the ladder fits again
_ROUGH = 1e-3

Progress = Callable[[str, float], None]
"""Told what is being done, and the share of all work that is done, 0 … 1."""


def identify(
    robot: str | os.PathLike[str],
    logs: Sequence[MotorLog],
    motors: Mapping[str, MotorConfig] | None = None,
    *,
    gains: bool = False,
    shared: Sequence[str] = (),
    models: Sequence[str] = tuple(MODELS),
    held_out: int | None = None,
    progress: Progress | None = None,
) -> Identified:
    """Identify the motors of a robot from logs of its commands and positions.

    Each joint is a scalar simulation with the package's own step, along the log that the other joints follow, see
    `decoupling.py`. Models are tried from simple to rich, and the simplest one that no richer one beats clearly is
    kept. At the end the whole robot is simulated under the commands of each log, and what disagrees is said.

    Args:
        robot: Path of a USD, MJCF or URDF file of a robot with a fixed base.
        logs: Logs; joints of the robot that they lack keep still and keep their motors.
        motors: Motors to start from, by pattern of joint names; None means those of the file.
        gains: Whether to fit those of `kp`, `kd`, `torque_constant` and `resistance` that the motors have, too; else
            they are known. What is a setting of a log is always known.
        shared: Parameters that all joints have alike, such as `delay`: the median of the joints.
        models: Names of the models to try, of `MODELS`, in that order.
        held_out: How many logs, the last ones, motors are not fitted to. None means a quarter of them, and of a single
            log its last quarter.
        progress: Told of the progress.

    Raises:
        ValueError: Logs of other joints than the first, a robot with a floating base, a joint without a motor, or a
            name that is unknown.
        ModuleNotFoundError: The extra `identify` is not installed.
    """
    began = time.monotonic()
    if not logs:
        raise ValueError("logs = []: must be at least one log. Give one.")
    if unknown := [name for name in (*shared, *models) if name not in (*PARAMETERS, *MODELS)]:
        raise ValueError(f"{', '.join(unknown)}: must be of {', '.join(PARAMETERS)}, or models: {', '.join(MODELS)}.")
    joints = tuple(logs[0].joints)
    even = [one.columns(joints).evenly(one.dt) for one in logs]
    training, validation = _split(even, held_out)
    given = given_motors(robot, motors, joints)
    work = _Work(joints, [given[name] for name in joints], tuple(shared), progress or (lambda _words, _share: None))
    links = Links(robot, joints)
    try:
        work.start(links.armatures, even, gains)
        fits = work.find_biases(links, training)
        fixed_bias = np.array([fit.values.get("encoder_bias", 0.0) for fit in fits])
        cases = [[links.decouple(log, fixed_bias) for log in part] for part in (training, validation)]
        limited = _at_limits(even, links.limits)
    finally:
        links.close()
    scores, by_model = work.ladder(models, fits, cases[0], cases[1])
    chosen = _choice(scores)
    fits = by_model[chosen]
    found = {name: work.motor(j, fits[j].values) for j, name in enumerate(joints)}
    work.progress("simulating the whole robot", 0.85)
    of_others = {name: motor for name, motor in given.items() if name not in joints}
    replays = _replays(robot, {**of_others, **found}, even, training, validation)
    shipped = [one for one in _replays(robot, given, even, [], validation) if one.held_out]
    result = Identified(
        os.fspath(robot),
        joints,
        {**of_others, **found},
        work.estimates(fits),
        scores,
        chosen,
        replays,
        mean_error(shipped),
        [*limited, *work.warnings(fits)],
        time.monotonic() - began,
    )
    work.progress("done", 1.0)
    return result


def _split(logs: Sequence[MotorLog], held_out: int | None) -> tuple[list[MotorLog], list[MotorLog]]:
    """Return logs to fit to, and logs that are held out."""
    if len(logs) > 1 or held_out is not None:
        count = max(1, len(logs) // 4) if held_out is None else held_out
        if not 0 <= count < len(logs):
            raise ValueError(f"held_out = {count}: must be less than the {len(logs)} logs, and at least 0.")
        return list(logs[: len(logs) - count]), list(logs[len(logs) - count :])
    (log,) = logs
    cut = int(len(log.time) * (1 - _HELD_OUT))

    def part(rows: slice, words: str) -> MotorLog:
        signals = {name: one[rows] for name, one in log.signals.items()}
        return MotorLog(log.time[rows], log.joints, signals, f"{log.source} ({words})", log.settings)

    return [part(slice(0, cut), "first three quarters")], [part(slice(cut, None), "last quarter")]


def _replays(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    logs: Sequence[MotorLog],
    training: Sequence[MotorLog],
    validation: Sequence[MotorLog],
) -> list[Replay]:
    """Return replays of all parts of logs; of a log in two parts, from its start on."""
    if len(logs) == 1 and validation:
        whole = replay(robot, motors, logs[0], held_out=True)
        rows = len(whole.positions) - len(validation[0].time)
        cut = [Replay(one, whole.positions[:rows], False) for one in training]
        return [*cut, Replay(validation[0], whole.positions[rows:], True)]
    return [
        replay(robot, motors, log, held_out=held)
        for part, held in ((training, False), (validation, True))
        for log in part
    ]


def _at_limits(logs: Sequence[MotorLog], limits: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return a warning for each joint that rests against a position limit, which a fit does not know."""
    found = []
    for j, (joint, (low, high)) in enumerate(limits.items()):
        near = _NEAR * (high - low)
        shares = [np.mean((log.position[:, j] < low + near) | (log.position[:, j] > high - near)) for log in logs]
        if np.isfinite(near) and max(shares) > _OFTEN:
            found.append(
                f"{joint}: it is at a position limit in {max(shares):.0%} of a log, and a fit knows no limits. Log "
                "motions within them."
            )
    return found


def _choice(scores: Sequence[ModelScore]) -> str:
    """Return the simplest model that no richer one beats clearly, on what it was fitted to and on what was held out."""
    best = scores[0]
    for score in scores[1:]:
        measures = [(score.training, best.training), (score.validation, best.validation)]
        if all(np.isnan(new) or new < _BETTER * old for new, old in measures):
            best = score
    return best.name


@dataclass
class _Work:
    """The joints that are fitted, and what is known of them."""

    joints: tuple[str, ...]
    motors: list[MotorConfig]
    shared: tuple[str, ...]
    progress: Progress

    def start(self, armatures: np.ndarray, logs: Sequence[MotorLog], gains: bool) -> None:
        """Collect the values that the motors have, and what is fitted with any friction."""
        self.settings = {name: value for log in logs for name, value in settings_of(log).items()}
        self.sees_armature = max(one.dt for one in logs) <= _SEES_ARMATURE
        self.known = [
            {name: value for name in PARAMETERS if not np.isnan(value := value_of(motor, name))}
            for motor in self.motors
        ]
        own = [name for name in OF_MOTOR if gains and all(name in values for values in self.known)]
        self.common = ("delay", "encoder_bias", *(("armature",) if self.sees_armature else ()))
        self.common += tuple(name for name in own if name not in self.settings)
        for values, armature in zip(self.known, armatures, strict=True):
            values.setdefault("armature", float(armature))
            values.setdefault("delay", 0.0)
            values.setdefault("encoder_bias", 0.0)

    def find_biases(self, links: Links, training: Sequence[MotorLog]) -> list[Fit]:
        """Return fits with the first model; the decoupling depends on the biases of all encoders."""
        names, fits = (*self.common, *MODELS[_FIRST]), None
        for count in range(_ROUNDS):
            self.progress("finding delays and biases", 0.05 + 0.15 * count)
            bias = (
                [values["encoder_bias"] for values in self.known]
                if fits is None
                else [one.values["encoder_bias"] for one in fits]
            )
            cases = [links.decouple(log, np.array(bias)) for log in training]
            fits = self.fit(names, cases, fits, _ROUGH)
        assert fits is not None
        return fits

    def ladder(
        self,
        models: Sequence[str],
        first: list[Fit],
        training: Sequence[Decoupled],
        validation: Sequence[Decoupled],
    ) -> tuple[list[ModelScore], dict[str, list[Fit]]]:
        """Return the score of each model, and its fits, which start at the values of the first ones."""
        scores, found = list[ModelScore](), dict[str, list[Fit]]()
        for count, name in enumerate(model for model in MODELS if model in models):
            self.progress(f"fitting: {name}", 0.35 + 0.5 * count / len(models))
            names = (*self.common, *MODELS[name]) if MODELS[name] else ()
            fits = found[name] = self.fit(names, training, first)
            errors = self.each(lambda j, fits=fits: self.error(j, fits[j], validation))
            score = float(np.mean([fit.error for fit in fits])), float(np.mean(errors))
            scores.append(ModelScore(name, names, *score))
            # models with more parameters start where this one ended
            if set(MODELS[_FIRST]) <= set(names):
                first = fits
        return scores, found

    def fit(
        self, names: Sequence[str], cases: Sequence[Decoupled], before: list[Fit] | None, tolerance: float = 1e-6
    ) -> list[Fit]:
        """Return the fits of all joints; those of a simpler model are where they start."""

        def one(j: int, shared: Mapping[str, float]) -> Fit:
            start = self.starts(j, names, before)
            fixed = {name: value for name, value in self.known[j].items() if name in OF_LOG and name not in names}
            fixed |= self.settings
            for name, value in shared.items():
                start.pop(name)
                fixed[name] = value
            fit = fit_joint(self.joints[j], j, self.motors[j], cases, start, fixed, tolerance)
            return Fit({**fixed, **fit.values}, fit.errors, fit.correlations, fit.error)

        if before is None:
            return self.each(lambda j: self.first(j, names, cases, tolerance))
        common = [name for name in self.shared if name in names]
        values = {name: float(np.median([fit.values[name] for fit in before])) for name in common}
        return self.each(lambda j: one(j, values))

    def first(self, j: int, names: Sequence[str], cases: Sequence[Decoupled], tolerance: float) -> Fit:
        """Return the best fit of a joint from several levels of dry friction, where that is not known.

        A log with rests has several minima: a level that is too low to hold the joint anywhere has no slope towards
        one that does.
        """
        start, known = self.starts(j, names, None), self.known[j]
        fixed = {name: value for name, value in known.items() if name in OF_LOG and name not in names} | self.settings
        levels = [start["coulomb"]] if known.get("coulomb") else [start["coulomb"], *_LEVELS]
        fits = [
            fit_joint(self.joints[j], j, self.motors[j], cases, {**start, "coulomb": level}, fixed, tolerance)
            for level in levels
        ]
        best = min(fits, key=lambda fit: fit.error)
        return Fit({**fixed, **best.values}, best.errors, best.correlations, best.error)

    def starts(self, j: int, names: Sequence[str], before: list[Fit] | None) -> dict[str, float]:
        """Return where the parameters of a joint start."""
        found = {}
        for name in names:
            own = self.known[j].get(name, 0.0)
            found[name] = own if own else PARAMETERS[name].start
            if before is not None and name in before[j].values:
                found[name] = before[j].values[name]
        return found

    def error(self, j: int, fit: Fit, cases: Sequence[Decoupled]) -> float:
        """Return the error of a fit on other logs [rad or m]."""
        return error_of(self.joints[j], j, self.motors[j], cases, fit.values)

    def each(self, function: Callable[[int], _T]) -> list[_T]:
        """Return the results of a function of the number of a joint, on all cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(function, range(len(self.joints))))

    def motor(self, j: int, values: Mapping[str, float]) -> MotorConfig:
        """Return the motor of a joint with fitted values."""
        kept = {name: value for name, value in values.items() if abs(value) > _NONE * PARAMETERS[name].scale}
        kept |= {name: 0.0 for name in values if name not in kept and self.known[j].get(name)}
        return with_values(self.motors[j], kept)

    def estimates(self, fits: Sequence[Fit]) -> list[Estimate]:
        """Return a line for each parameter that was fitted."""
        return [
            Estimate(
                joint,
                name,
                value,
                PARAMETERS[name].unit,
                fit.errors.get(name, float("nan")),
                PARAMETERS[name].bounds,
                self.known[j].get(name, float("nan")),
            )
            for j, (joint, fit) in enumerate(zip(self.joints, fits, strict=True))
            for name, value in fit.values.items()
            if name in fit.errors or name in self.shared
        ]

    def warnings(self, fits: Sequence[Fit]) -> list[str]:
        """Return what the logs do not tell."""
        found = []
        if not self.sees_armature:
            found.append("The logs have fewer than 100 samples per second, which do not show armatures: they are kept.")
        if any(isinstance(motor.delay, DelayConfig) for motor in self.motors):
            found.append("Delays in physics steps were replaced by delays in seconds.")
        for joint, fit in zip(self.joints, fits, strict=True):
            names = list(fit.errors)
            for name in names:
                low, high = PARAMETERS[name].bounds
                value, rule = fit.values[name], PARAMETERS[name]
                if value >= high - 1e-6 * rule.scale or (low and value <= low + 1e-6 * rule.scale):
                    found.append(f"{joint}: {name} = {value:.4g} {rule.unit} is at the end of its range.")
                if not np.isfinite(fit.errors[name]) or fit.errors[name] > max(abs(value), rule.scale):
                    found.append(f"{joint}: the logs do not tell {name}; the value has no meaning.")
            for a, b in np.argwhere(np.triu(np.abs(fit.correlations), 1) > _CORRELATED):
                found.append(f"{joint}: the logs hardly tell {names[a]} from {names[b]}.")
        return found
