"""Options of the effort mode that solves for the efforts of several joints at the end of the step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from .arguments import number_of

_NUMBERS = ("residual_tol", "update_tol", "derivative_floor")
_COUNTS = {"max_iters": 1, "ls_iterations": 0}


@dataclass
class ImplicitOptions:
    """Options of Newton's method in `Actuator.set_effort_mode_implicit`, with the names of newton."""

    class WarmStart(StrEnum):
        """Impulse with which the iteration begins."""

        EXPLICIT = "explicit"
        """That of the explicit effort."""
        ZERO = "zero"
        """None."""

    max_iters: int = 8
    """Largest number of iterations, at least 1."""
    residual_tol: float = 1.0e-5
    """Length of the residual below which the iteration ends [N·m·s or N·s]; the first one is always taken."""
    update_tol: float = 1.0e-5
    """Length of a change of the impulses below which it ends [N·m·s or N·s]."""
    fd_epsilon: float = 1.0e-4
    """Difference by which slopes are computed, relative to the velocity.

    As laws are computed in single precision, it is at least 2⁻⁶, and 2⁻¹¹ from the second iteration on.
    """
    derivative_floor: float = 1.0e-8
    """Smallest pivot of the linear equations."""
    warm_start: WarmStart = WarmStart.EXPLICIT
    """Where the iteration begins; also "explicit" or "zero"."""
    ls_iterations: int = 8
    """Largest number of step lengths that an iteration tries, each half the one before; 0 takes whole steps."""

    def require_valid(self) -> None:
        """Check all values, and make `warm_start` a `WarmStart`."""
        try:
            self.warm_start = self.WarmStart(self.warm_start)
        except ValueError:
            known = " or ".join(repr(one.value) for one in self.WarmStart)
            raise ValueError(f"warm_start = {self.warm_start!r}: must be {known}. Name one.") from None
        for name, least in _COUNTS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} = {value!r}: must be an integer >= {least}. Give a number of tries.")
        for name in _NUMBERS:
            self._require(name, 0.0 <= number_of(name, getattr(self, name)) < math.inf, "finite and >= 0")
        self._require("fd_epsilon", 0.0 < number_of("fd_epsilon", self.fd_epsilon) < math.inf, "finite and > 0")

    def _require(self, name: str, is_valid: bool, rule: str) -> None:
        if not is_valid:
            raise ValueError(f"{name} = {getattr(self, name)}: must be {rule}. Give another number.")
