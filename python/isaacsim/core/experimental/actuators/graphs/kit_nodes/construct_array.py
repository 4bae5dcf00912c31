"""An array of single values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...omnigraph.node_ports import NodePorts
from ...omnigraph.ogn_types import parse_type

# more are no values of joints
MAX_SIZE = 100_000
# what `auto` makes of the first value
_ARRAYS = {bool: "bool[]", int: "int[]", float: "double[]", str: "token[]"}


class ConstructArray:
    """The first `arraySize` of the inputs, 100 000 at most, as an array; when there are fewer, the last one repeats."""

    PORTS = NodePorts(
        inputs={"arraySize": ("int", 1), "arrayType": ("token", "auto"), "input0": "any"},
        outputs={"array": "any"},
        more=(r"inputs:input\d+", "any"),
    )

    @staticmethod
    def compute(db: Any) -> bool:
        """Gather the values."""
        names = [port.name for port in db.DESCRIPTION.group("inputs") if port.name.removeprefix("input").isdecimal()]
        names.sort(key=lambda name: int(name.removeprefix("input")))
        size = db.inputs.arraySize
        if not 0 <= size <= MAX_SIZE:
            raise ValueError(f"arraySize = {size}: must be >= 0 and <= {MAX_SIZE}. Correct it.")
        used = names[:size]
        values = [getattr(db.inputs, name) for name in used]
        if missing := [name for name, value in zip(used, values, strict=True) if value is None]:
            raise ValueError(f"{missing[0]} has no value: each of the first {size} must have one. Set or connect it.")
        kind = db.inputs.arrayType
        if kind == "auto":
            kind = _ARRAYS.get(type(values[0]), kind) if values else "double[]"
        # arrays of anything may hold themselves twice, and double at each node
        if not kind.endswith("[]") or kind in ("any[]", "bundle[]"):
            raise ValueError(f"arrayType = {kind!r}: must name an array here, double[] for instance. Set it.")
        array = parse_type(kind).convert(values)
        db.outputs.array = np.concatenate([array, np.repeat(array[-1:], size - len(array), axis=0)])
        return True
