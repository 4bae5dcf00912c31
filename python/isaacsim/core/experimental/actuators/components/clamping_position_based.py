"""Symmetric effort limit that depends on the joint position.

    limit(q) = efforts over positions, linear between rows     positions  [rad or m], not decreasing
    effort   = clip(effort, −limit(q), limit(q))               efforts    [N·m or N], >= 0

Edges: outside the table the end rows hold, nothing wraps around; where two rows share a position, the first of them
holds at that very position; a table of one row is a constant limit.
Source: NewtonPositionBasedClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingPositionBased.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportOperatorIssue=false, reportReturnType=false

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import warp as wp

from ..specs.configs import PositionBasedClampingConfig
from .base import Clamping
from .law import bounded

wp.set_module_options({"enable_backward": False})


@wp.func
def table_limit(position: float, positions: wp.array[float], efforts: wp.array[float], start: int, count: int) -> float:
    """Return the limit [N·m or N] at `position` from the `count` rows that begin at `start`."""
    # the first row at or beyond the position
    row = wp.int32(0)
    while row < count and positions[start + row] < position:
        row += 1
    if row == 0:
        return efforts[start]
    if row == count:
        return efforts[start + count - 1]
    before = positions[start + row - 1]
    share = (position - before) / (positions[start + row] - before)
    low = efforts[start + row - 1]
    return low + share * (efforts[start + row] - low)


@wp.kernel
def _position_based_kernel(
    # Params:
    table_positions: wp.array[float],
    table_efforts: wp.array[float],
    # In:
    positions: wp.array[float],
    position_indices: wp.array[wp.uint32],
    efforts_in: wp.array[float],
    # Out:
    efforts_out: wp.array[float],
):
    slot = wp.tid()
    position = positions[position_indices[slot]]
    limit = table_limit(position, table_positions, table_efforts, 0, table_positions.shape[0])
    efforts_out[slot] = bounded(efforts_in[slot], -limit, limit)


class ClampingPositionBased(Clamping):
    """Position-dependent limit, one table for all actuators.

    Args:
        lookup_table_path: Text file with a position and an effort per line, separated by blanks or a comma; empty
            lines and lines that begin with `#` are skipped.
        lookup_positions: Positions [rad or m], not decreasing; instead of the file.
        lookup_efforts: Largest effort at each position [N·m or N].

    Raises:
        ValueError: Not exactly one of file and lists, or a bad table; a file is read here and errors name its line.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"lookup_table_path", "lookup_positions", "lookup_efforts"}

    def __init__(
        self,
        lookup_table_path: str | os.PathLike[str] | None = None,
        lookup_positions: Sequence[float] | None = None,
        lookup_efforts: Sequence[float] | None = None,
    ) -> None:
        if (lookup_table_path is None) == (lookup_positions is None and lookup_efforts is None):
            raise ValueError("give either lookup_table_path, or lookup_positions and lookup_efforts.")
        if lookup_table_path is not None:
            table = _read_table(Path(lookup_table_path))
        else:
            positions = [] if lookup_positions is None else list(lookup_positions)
            table = PositionBasedClampingConfig(positions, [] if lookup_efforts is None else list(lookup_efforts))
        self.lookup_table_path = lookup_table_path
        self.lookup_positions, self.lookup_efforts = table.lookup_positions, table.lookup_efforts
        self._table: tuple[wp.array, wp.array] | None = None

    @classmethod
    def from_config(cls, config: PositionBasedClampingConfig, num_actuators: int, device: Any) -> Self:
        """Return the component of a config."""
        return cls(lookup_positions=config.lookup_positions, lookup_efforts=config.lookup_efforts)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Keep the arguments that are given and check the table."""
        names = ("lookup_table_path", "lookup_positions", "lookup_efforts")
        given = {name: args[name] for name in names if args.get(name) is not None}
        cls(**given)
        return given

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Put the table on the device."""
        self._table = (
            wp.array(self.lookup_positions, dtype=wp.float32, device=device),
            wp.array(self.lookup_efforts, dtype=wp.float32, device=device),
        )

    def modify_forces(
        self,
        src_forces: wp.array,
        dst_forces: wp.array,
        positions: wp.array,
        velocities: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        device: Any = None,
    ) -> None:
        """Write the limited efforts [N·m or N] into `dst_forces`; both arrays have shape `(N,)`."""
        assert self._table is not None
        wp.launch(
            _position_based_kernel,
            dim=len(dst_forces),
            inputs=[*self._table, positions, pos_indices, src_forces],
            outputs=[dst_forces],
            device=device or dst_forces.device,
        )


def _read_table(path: Path) -> PositionBasedClampingConfig:
    """Return the table of a text file.

    Raises:
        ValueError: A line does not begin with two numbers, or the table is bad; the message names file and line.
    """
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
