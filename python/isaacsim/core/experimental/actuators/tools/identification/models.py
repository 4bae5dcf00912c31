"""The ladder of friction models that identification tries, from simple to rich, and which one it keeps."""

from __future__ import annotations

import numpy as np

from .identified import ModelScore

_LEVELS = ("viscous", "coulomb", "supply_resistance", "breakaway", "stribeck_velocity")
_LOADS = ("motor_load", "external_load", "stribeck_motor_load", "stribeck_external_load")

MODELS: dict[str, tuple[str, ...]] = {
    "as in the file": (),
    "viscous friction": _LEVELS[:1],
    "Coulomb friction": _LEVELS[:2],
    "supply": _LEVELS[:3],
    "breakaway": _LEVELS,
    "load": (*_LEVELS, "load_friction"),
    "loads of motor and joint": (*_LEVELS, *_LOADS),
    "quadratic loads": (*_LEVELS, *_LOADS, "quadratic_motor_load", "quadratic_external_load"),
}
"""The ladder, from simple to rich: the parameters of each model, by its name. The last three are M4, M5 and M6 of BAM,
M4 with one load term. A supply is fitted only to the log of a single joint with a winding."""

FIRST = "Coulomb friction"
"""The model with which the biases of encoders are found."""

LOAD = "load"
"""The model with one term for loads."""

SIMPLE = ("viscous friction", FIRST)
"""Models whose parameters each motion tells."""


BETTER = 0.95
"""The share of the errors that a richer model may leave."""


def is_rich_in_loads(model: str) -> bool:
    """Return True for a model with several terms for loads."""
    return set(MODELS[model]) >= {*_LOADS}


def is_clearly_better(score: ModelScore, other: ModelScore, share: float = BETTER) -> bool:
    """Return True if errors are less than a share of others, on what was fitted to and on what was held out, if any."""
    measures = [(score.training, other.training), (score.validation, other.validation)]
    return all(np.isnan(new) or new < share * old for new, old in measures)
