"""What the catalogue of motors says of parameters, as knowledge before a fit."""

from __future__ import annotations

from ...specs.motor_catalogue import motor_figures

# share of a published value that it may be off: one standard deviation
_SPREADS = {"armature": 0.2, "torque_constant": 0.1, "resistance": 0.1}


def published_priors(motor: str) -> dict[str, tuple[float, float]]:
    """Return values and standard deviations of the parameters of a motor of the catalogue, by name.

    Standard deviations are shares of the values, by experience: 20 % of an armature, 10 % of what is of the winding.

    Args:
        motor: Its name, as `actuators motors` lists it.

    Raises:
        ValueError: There is no such motor, or none of its parameters is published.
    """
    figures = motor_figures(motor)
    published = {name: getattr(figures, name) for name in _SPREADS}
    found = {name: (value, _SPREADS[name] * value) for name, value in published.items() if value is not None}
    if not found:
        raise ValueError(f"{motor}: must have a published {', '.join(_SPREADS)}. Give priors by name.")
    return found
