"""An array of single values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...omnigraph.node_ports import NodePorts
from ...omnigraph.ogn_types import parse_type

if TYPE_CHECKING:
    from ...omnigraph.database import Database

# no robot has more joints
MAX_SIZE = 100_000
# what `auto` makes of the first value
_ARRAYS = {bool: "bool[]", int: "int[]", float: "double[]", str: "token[]"}


class ConstructArray:
    """The first `arraySize` inputs, at most 100 000, as an array; the last input repeats where there are fewer."""

    PORTS = NodePorts(
        inputs={"arraySize": ("int", 1), "arrayType": ("token", "auto"), "input0": "any"},
        outputs={"array": "any"},
        more=(r"inputs:input\d+", "any"),
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Gather the values."""
        size = db.inputs.arraySize
        if not 0 <= size <= MAX_SIZE:
            raise ValueError(f"arraySize = {size}: must be >= 0 and <= {MAX_SIZE}. Correct it.")
        values = _values(db, size)
        kind = db.inputs.arrayType
        if kind == "auto":
            kind = _ARRAYS.get(type(values[0]), kind) if values else "double[]"
        # nested arrays of any type would double in size at each node
        if not kind.endswith("[]") or kind in ("any[]", "bundle[]"):
            raise ValueError(f"arrayType = {kind!r}: must name an array here, double[] for instance. Set it.")
        array = parse_type(kind).convert(values)
        db.outputs.array = np.concatenate([array, np.repeat(array[-1:], size - len(array), axis=0)])
        return True


def _values(db: Database, size: int) -> list[object]:
    """The first `size` inputs by number, as far as there are that many."""
    number_of = {port.name: port.name.removeprefix("input") for port in db.DESCRIPTION.group("inputs")}
    names = sorted((name for name in number_of if number_of[name].isdecimal()), key=lambda name: int(number_of[name]))
    values = [getattr(db.inputs, name) for name in names[:size]]
    for name, value in zip(names, values, strict=False):
        if value is None:
            raise ValueError(f"{name} has no value: each of the first {size} must have one. Set or connect it.")
    return values
