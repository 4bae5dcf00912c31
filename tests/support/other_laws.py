"""The catalogue with other lines, for as long as a test lasts."""

import pytest
from isaacsim.core.experimental.actuators.laws.contract import catalogue


def replace_laws(patch: pytest.MonkeyPatch, lines: tuple[catalogue.Law, ...]) -> None:
    """Put these lines in the place of the catalogue's, and look them up anew each time."""
    patch.setattr(catalogue, "LAWS", lines)
    # of all that the catalogue remembers, only classes do not depend on its lines
    for name, found in vars(catalogue).copy().items():
        if hasattr(found, "cache_info") and name not in ("component_class", "snake_case"):
            patch.setattr(catalogue, name, found.__wrapped__)
