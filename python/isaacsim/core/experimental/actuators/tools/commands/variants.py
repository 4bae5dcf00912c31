"""Variants on the command line: `SET=CHOICE`."""

from __future__ import annotations

from collections.abc import Iterable


def choices(given: Iterable[str]) -> dict[str, str]:
    """Return the choices by variant set.

    Raises:
        ValueError: One is not of this form.
    """
    found = {}
    for text in given:
        name, between, choice = text.partition("=")
        if not (name and between):
            raise ValueError(f"variant {text!r}: must be SET=CHOICE. Write gripper=none, say.")
        found[name] = choice
    return found
