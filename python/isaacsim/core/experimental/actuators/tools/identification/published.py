"""Published values of the catalogue of motors as priors of a fit."""

from __future__ import annotations

from ...specs.motor_catalogue import motor_figures

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
