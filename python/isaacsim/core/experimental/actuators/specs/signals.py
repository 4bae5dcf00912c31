"""Signals that a law may ask for, beyond those that all laws of its kind get.

A class names them in `ASKS`. Whoever hosts the robot writes them, one number per robot and joint, before each step;
where nobody does, they keep their neutral values, which say that nothing is known. They are of the joint, for laws that
work in the coordinates of a motor, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Signal:
    """A line of the table.

    Args:
        name: As laws ask for it.
        unit: Its unit, empty for a number without one.
        neutral: Its value where nobody writes it.
        words: What it is.
    """

    name: str
    unit: str
    neutral: float
    words: str


SIGNALS: Final[dict[str, Signal]] = {
    signal.name: signal
    for signal in (
        # 1 / (M^-1)_ii, M the mass matrix of the robot
        Signal("inertia", "kg·m² or kg", 0.0, "effective inertia of the joint, 0 where it is not known"),
        Signal("load", "N·m or N", 0.0, "effort that balances gravity, Coriolis forces and others at the joint"),
        Signal("load_is_whole", "", 0.0, "1 where the load includes contacts and coupling, else 0"),
    )
}
"""The signals by name; the core numbers them in this order."""
