"""Numbers in another precision: scalars, tuples and arrays of any number type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...omnigraph.node_ports import NodePorts

if TYPE_CHECKING:
    from ...omnigraph.database import Database


class ToFloat:
    """Converts numbers to single precision."""

    PORTS = NodePorts(inputs={"value": "any"}, outputs={"converted": "any"})

    @staticmethod
    def compute(db: Database) -> bool:
        """Convert."""
        return _convert(db, np.float32)


class ToDouble:
    """Converts numbers to double precision."""

    PORTS = NodePorts(inputs={"value": "any"}, outputs={"converted": "any"})

    @staticmethod
    def compute(db: Database) -> bool:
        """Convert."""
        return _convert(db, np.float64)


def _convert(db: Database, dtype: type[np.floating]) -> bool:
    value = np.asarray(db.inputs.value)
    if value.dtype.kind not in "biuf":
        raise ValueError(f"value = {db.inputs.value!r}: must be a number or several. Connect one.")
    converted = value.astype(dtype)
    db.outputs.converted = converted if converted.ndim else converted.item()
    return True
