"""Functions shared by the modules beside this one."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from ...laws.contract import catalogue, newton_classes
from ...specs.arguments import require_type


@functools.cache
def warn_once(name: str, instead: str) -> None:
    """Say what to write instead of a function, at its first call."""
    warnings.warn(
        f"{name} comes from inside the documented extension and is kept for programs that import it. Write {instead}.",
        DeprecationWarning,
        stacklevel=3,
    )


def built(component_class: Any, kwargs: Any, n: int, device: Any, kind: str) -> Any:
    """Return a controller or clamp made of scalar arguments, each repeated for `n` actuators.

    Raises:
        ValueError: The class is of another kind, or an argument is missing or out of range.
        TypeError: The arguments are no dictionary.
    """
    require_type("kwargs", kwargs, dict, "a dictionary of arguments")
    ours = newton_classes.component_class(component_class)
    catalogue.require_kind(ours, kind)
    return newton_classes.as_newton_instance(catalogue.from_arguments(ours, kwargs, n, device))
