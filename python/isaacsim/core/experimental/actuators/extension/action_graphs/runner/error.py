"""Problems of the action graphs of a stage."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class GraphError(ValueError):
    """Action graphs cannot be run; `issues` lists every problem found, one line each."""

    def __init__(self, issues: Sequence[str]) -> None:
        self.issues = tuple(issues)
        super().__init__("\n".join(self.issues))

    def __reduce__(self) -> tuple[object, ...]:
        # other processes get what was given, and notes
        return type(self), (self.issues,), vars(self)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name, if any is near, and all there are."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    return (f"Did you mean {near[0]}? " if near else "") + f"Available: {', '.join(known) or 'none'}."
