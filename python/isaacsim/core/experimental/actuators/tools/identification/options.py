"""`FitOptions`: what identification fits, within which ranges, and how."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...specs.motor_catalogue import motor_figures
from ...specs.patterns import pattern_problem
from .models import MODELS
from .parameters import PARAMETERS, Fitted, rule_of

_REMEDY = "Correct it."


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options of `identify`: the parameters to fit, their ranges, and the method.

    The parameters are `armature`, `delay`, `command_lag`, `effort_lag`, `encoder_bias`, `kp`, `kd`, `torque_constant`,
    `resistance`, `supply_resistance`, `max_effort`, `viscous`, `coulomb`, `breakaway` (by how much the static level
    exceeds the Coulomb level), `stribeck_velocity`, `startup`, those of a spring with backlash, `rotor_inertia`,
    `stiffness`, `spring_damping` and `backlash`, and shares of loads that add to dry friction: `load_friction` (of
    motor and joint alike), `motor_load`, `external_load`, `stribeck_motor_load`, `stribeck_external_load`,
    `quadratic_motor_load` and `quadratic_external_load`. A name can also be the kind and the field of a stage, such as
    `electrical.inductance`, which then needs bounds. `knee_.*/viscous` is the parameter of the joints of that pattern.
    If several entries name the same parameter, the first one that matches a joint applies.

    Args:
        gains: True to also fit those of `kp`, `kd`, `torque_constant` and `resistance` that the motors have and that
            are not 0; False keeps them. None fits them if positions then are clearly better, on logs held out, too. A
            setting of a log always keeps its value.
        parameters: Names of further parameters to fit.
        shared: Names of parameters that joints have in common: each gets the median of these joints.
        bounds: Smallest and largest value, by name, in the unit of the parameter (SI).
        priors: Known value and its standard deviation, by name, in the unit of the parameter (SI).
        models: Friction models to try: `as in the file`, `viscous friction`, `Coulomb friction`, `supply`, `breakaway`,
            `load`, `loads of motor and joint`, `quadratic loads`. The default is all of them.
        held_out: Number of logs, from the end, that are used only to judge the result. What is fitted is chosen by
            blocks all over the other logs, and then fitted again to all of these.
        refine: Largest number of rounds in which the fits of several joints are refined with the whole robot.
        search: 0. The random search of 1.0 has gone, for fits begin with the best of 512 starts.
        seed: Seed of starts, and of networks.
        mass_error: How uncertain the masses of the links are, which widens the intervals of values: a share.
        residual: Folder for networks that learn what the best physical model leaves, of each joint with PD control. One
            is kept if it makes positions on held-out logs clearly better. It takes the place of the PD controller, with
            its gains; velocity targets and feedforward then do not act. Needs Torch. None learns none.
        ray: True to fit the joints on the Ray cluster at `RAY_ADDRESS`, or in processes of this machine if that is not
            set.

    Raises:
        ValueError: An unknown name, bounds that are not finite or do not rise, a prior without a standard deviation,
            a negative number of rounds or generations, or a pattern that is not a regular expression.
    """

    gains: bool | None = None
    parameters: Sequence[str] = ()
    shared: Sequence[str] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    priors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    models: Sequence[str] = tuple(MODELS)
    held_out: int = 0
    refine: int = 1
    search: int = 0
    seed: int = 0
    mass_error: float = 0.02
    residual: str | os.PathLike[str] | None = None
    ray: bool = False

    def __post_init__(self) -> None:
        if unknown := [name for name in self.models if name not in MODELS]:
            raise ValueError(f"models: {', '.join(unknown)}: must be of {', '.join(MODELS)}. {_REMEDY}")
        if self.refine < 0:
            raise ValueError(f"refine = {self.refine}: must be a number, at least 0. {_REMEDY}")
        if not 0.0 <= self.mass_error < 1.0:
            raise ValueError(f"mass_error = {self.mass_error}: must be a share of the masses, 0 … 1. {_REMEDY}")
        if self.search:
            raise ValueError(
                f"search = {self.search}: must be 0, for fits begin with the best of 512 starts over gains, Coulomb "
                "friction and delay. Leave it out."
            )
        self._require_ranges()
        for key in self._keys:
            pattern, name = _parts(key)
            if problem := pattern_problem(pattern):
                raise ValueError(f"{key}: what stands before the / {problem}")
            rule_of(name, self._bounds(name))

    def _require_ranges(self) -> None:
        for name, (low, high) in self.bounds.items():
            if not -math.inf < low < high < math.inf:
                raise ValueError(f"bounds of {name} = ({low:g}, {high:g}): must be finite, and rise. {_REMEDY}")
        for name, (value, spread) in self.priors.items():
            if not (math.isfinite(value) and 0 < spread < math.inf):
                given = f"prior of {name} = ({value:g}, {spread:g})"
                raise ValueError(f"{given}: must be a value and a standard deviation > 0. {_REMEDY}")

    @property
    def _keys(self) -> tuple[str, ...]:
        """All names of parameters, with their patterns."""
        return (*self.parameters, *self.shared, *self.bounds, *self.priors)

    def require_joints(self, joints: Sequence[str]) -> None:
        """Raise a ValueError if a pattern matches none of the joints."""
        for key in self._keys:
            if not any(_matches(key, joint) for joint in joints):
                raise ValueError(f"{key}: must match one of the joints {', '.join(joints)}. {_REMEDY}")

    def rules(self, joint: str) -> dict[str, Fitted]:
        """Return the line of each parameter of a joint, with its bounds and its prior."""
        found = {}
        for name in dict.fromkeys((*PARAMETERS, *(_parts(key)[1] for key in self.parameters))):
            rule = rule_of(name, self._given(self.bounds, name, joint) or self._bounds(name))
            if (known := self._given(self.priors, name, joint)) is not None:
                rule = dataclasses.replace(rule, start=known[0], spread=known[1])
            found[name] = rule
        return found

    def further(self, joint: str) -> list[str]:
        """Return the names of the further parameters of a joint."""
        return [_parts(key)[1] for key in self.parameters if _matches(key, joint)]

    def alike(self, name: str, joints: Sequence[str]) -> list[list[int]]:
        """Return the numbers of joints that have a parameter alike, in groups."""
        keys = [key for key in self.shared if _parts(key)[1] == name]
        return [[j for j, joint in enumerate(joints) if _matches(key, joint)] for key in keys]

    @staticmethod
    def _given(pairs: Mapping[str, tuple[float, float]], name: str, joint: str) -> tuple[float, float] | None:
        """Return the first pair of a parameter of a joint; a rotor behind a spring has that of the armature."""
        names = (name, "armature") if name == "rotor_inertia" else (name,)
        found = (pair for one in names for key, pair in pairs.items() if _parts(key)[1] == one and _matches(key, joint))
        return next(found, None)

    def _bounds(self, name: str) -> tuple[float, float] | None:
        """Return some bounds of a parameter that the table lacks."""
        if name in PARAMETERS:
            return None
        return next((bounds for key, bounds in self.bounds.items() if _parts(key)[1] == name), None)


def _parts(key: str) -> tuple[str, str]:
    """Return the pattern of joint names, and the name of the parameter."""
    pattern, _, name = key.rpartition("/")
    return pattern or ".*", name


def _matches(key: str, joint: str) -> bool:
    return re.fullmatch(_parts(key)[0], joint) is not None


# share of a published value that it may be off: one standard deviation
_SPREADS = {"armature": 0.2, "torque_constant": 0.1, "resistance": 0.1}


def published_priors(motor: str) -> dict[str, tuple[float, float]]:
    """Return values and standard deviations of the parameters of a motor in the catalogue, for `FitOptions.priors`.

    Standard deviations are shares of the values: 20 % of `armature`, 10 % of `torque_constant` and `resistance`.

    Args:
        motor: Its name, as `actuators motors` lists it.

    Returns:
        Value and standard deviation (SI), by name of the parameter.

    Raises:
        ValueError: There is no such motor, or none of its parameters is published.
    """
    figures = motor_figures(motor)
    published = {name: getattr(figures, name) for name in _SPREADS}
    found = {name: (value, _SPREADS[name] * value) for name, value in published.items() if value is not None}
    if not found:
        raise ValueError(f"{motor}: must have a published {', '.join(_SPREADS)}. Give priors by name.")
    return found
