"""Combinations of stages that do not work, on one line each."""

from __future__ import annotations

from .gear_losses import loss_problems
from .servo import voltage_problems
from .stages import Staged
from .thermal import heat_problems


def combination_problems(staged: Staged, subject: str) -> list[str]:
    """Return what is wrong between the stages of a motor; `subject` begins each message."""
    checks = voltage_problems, heat_problems, loss_problems
    return [problem for check in checks for problem in check(staged, subject)]
