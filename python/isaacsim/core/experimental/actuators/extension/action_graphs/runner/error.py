"""Problems of the action graphs of a stage."""

from __future__ import annotations

from collections.abc import Sequence


class GraphError(ValueError):
    """Action graphs cannot be run; `issues` lists every problem found, one line each."""

    def __init__(self, issues: Sequence[str]) -> None:
        self.issues = tuple(issues)
        super().__init__("\n".join(self.issues))

    def __reduce__(self) -> tuple[object, ...]:
        # other processes get what was given, and notes
        return type(self), (self.issues,), vars(self)
