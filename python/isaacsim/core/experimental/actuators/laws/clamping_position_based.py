"""Symmetric effort limit that depends on the joint position.

    limit(q) = efforts over positions, linear between rows     positions  [rad or m], not decreasing
    effort   = clip(effort, −limit(q), limit(q))               efforts    [N·m or N], >= 0

Edges: outside the table the end rows hold; positions do not wrap around; if two rows share a position, the first row
holds at that position; a table of one row is a constant limit.
Source: NewtonPositionBasedClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingPositionBased.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import warp as wp

from ..specs.arguments import path_of, require_file
from ..specs.configs import PositionBasedClampingConfig
from .contract.base import Clamping
from .contract.law import bounded


@wp.func
def position_based_clamp(effort: float, position: float, velocity: float, limit: float) -> float:
    """Return `effort` limited to `±limit` [N·m or N], the value of the curve at `position`."""
    return bounded(effort, -limit, limit)


class ClampingPositionBased(Clamping):
    """Position-dependent limit, one table for all actuators.

    Args:
        lookup_table_path: Text file with a position and an effort per line, separated by spaces or a comma; empty
            lines and lines that begin with `#` are skipped.
        lookup_positions: Positions [rad or m], not decreasing; instead of the file.
        lookup_efforts: Largest effort at each position [N·m or N].

    Raises:
        ValueError: Not exactly one of file and lists is given, or the table is invalid; errors name the line of a file.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"lookup_table_path", "lookup_positions", "lookup_efforts"}
    COORDINATES: ClassVar[str] = "joint"
    CURVES: ClassVar[Mapping[str, str]] = {"limit": "position"}
    LAW = position_based_clamp

    def __init__(
        self,
        lookup_table_path: str | os.PathLike[str] | None = None,
        lookup_positions: Sequence[float] | None = None,
        lookup_efforts: Sequence[float] | None = None,
    ) -> None:
        if (lookup_table_path is None) == (lookup_positions is None and lookup_efforts is None):
            raise ValueError("give either lookup_table_path, or lookup_positions and lookup_efforts.")
        if lookup_table_path is not None:
            table = _read_table(path_of("lookup_table_path", lookup_table_path))
        else:
            table = PositionBasedClampingConfig(_column(lookup_positions), _column(lookup_efforts))
        self.lookup_table_path = lookup_table_path
        self.lookup_positions, self.lookup_efforts = table.lookup_positions, table.lookup_efforts

    @classmethod
    def from_config(cls, config: PositionBasedClampingConfig, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config."""
        return cls(lookup_positions=config.lookup_positions, lookup_efforts=config.lookup_efforts)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, object]:
        """Keep the arguments that are given and check the table."""
        names = ("lookup_table_path", "lookup_positions", "lookup_efforts")
        given = {name: args[name] for name in names if args.get(name) is not None}
        cls(**given)
        return given

    def curve(self, name: str) -> tuple[list[float], list[float]]:
        """Return positions [rad or m] and limits [N·m or N] of the table."""
        return self.lookup_positions, self.lookup_efforts


def _column(given: object) -> Any:
    """Return a column of the table; an iterator becomes a list, because it can only be read once."""
    return [] if given is None else list(given) if isinstance(given, Iterator) else given


def _read_table(path: Path) -> PositionBasedClampingConfig:
    """Return the table of a text file; a `ValueError` names file and line."""
    require_file(path)
    positions, efforts = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            position, effort, *_ = line.replace(",", " ").split()
            positions.append(float(position))
            efforts.append(float(effort))
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number}: {line!r}: must begin with a position and an effort. Correct the line."
            ) from error
    try:
        return PositionBasedClampingConfig(positions, efforts)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
