"""The catalogue with other lines, for as long as a test lasts."""

from __future__ import annotations

import pytest
from isaacsim.core.experimental.actuators.components import catalogue


def replace_laws(patch: pytest.MonkeyPatch, lines: tuple[catalogue.Law, ...]) -> None:
    """Put these lines in the place of the catalogue's, and look them up anew each time."""
    patch.setattr(catalogue, "LAWS", lines)
    for name in ("laws", "effort_laws", "_by_class"):
        found = getattr(catalogue, name)
        patch.setattr(catalogue, name, getattr(found, "__wrapped__", found))
