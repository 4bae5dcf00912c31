"""An array of single values."""

from __future__ import annotations

from typing import Any

from ...omnigraph.node_ports import NodePorts
from ...omnigraph.ogn_types import parse_type

# what `auto` makes of the first value
_ARRAYS = {bool: "bool[]", int: "int[]", float: "double[]", str: "token[]"}


class ConstructArray:
    """The first `arraySize` of the inputs as an array; when there are fewer, the last one repeats."""

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
        if (size := db.inputs.arraySize) < 0:
            raise ValueError(f"arraySize = {size}: must be >= 0. Correct it.")
        used = [names[min(position, len(names) - 1)] for position in range(size)]
        values = [getattr(db.inputs, name) for name in used]
        if missing := [name for name, value in zip(used, values, strict=True) if value is None]:
            raise ValueError(f"{missing[0]} has no value: each of the first {size} must have one. Set or connect it.")
        kind = db.inputs.arrayType
        if kind == "auto":
            kind = _ARRAYS.get(type(values[0]), kind) if values else "double[]"
        if not kind.endswith("[]"):
            raise ValueError(f"arrayType = {kind!r}: must name an array here, double[] for instance. Set it.")
        db.outputs.array = parse_type(kind).convert(values)
        return True
