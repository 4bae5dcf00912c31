"""Numbers in another precision: scalars, tuples and arrays of any number type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...omnigraph.node_ports import NodePorts


class ToFloat:
    """The same numbers in single precision."""

    PORTS = NodePorts(inputs={"value": "any"}, outputs={"converted": "any"})

    @staticmethod
    def compute(db: Any) -> bool:
        """Convert."""
        return _convert(db, np.float32)


class ToDouble:
    """The same numbers in double precision."""

    PORTS = NodePorts(inputs={"value": "any"}, outputs={"converted": "any"})

    @staticmethod
    def compute(db: Any) -> bool:
        """Convert."""
        return _convert(db, np.float64)


def _convert(db: Any, dtype: type[np.floating]) -> bool:
    value = np.asarray(db.inputs.value)
    if value.dtype.kind not in "biuf":
        raise ValueError(f"value = {db.inputs.value!r}: must be a number or several. Connect one.")
    converted = value.astype(dtype)
    db.outputs.converted = converted if converted.ndim else converted.item()
    return True
