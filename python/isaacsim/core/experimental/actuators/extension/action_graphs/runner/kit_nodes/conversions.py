"""Numbers in another precision: scalars, tuples and arrays of any number type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...omnigraph.node_ports import NodePorts

if TYPE_CHECKING:
    from ...omnigraph.database import Database


class ToDouble:
    """Converts numbers to double precision."""

    PORTS = NodePorts(inputs={"value": "any"}, outputs={"converted": "any"})
    DTYPE: type[np.floating] = np.float64

    @classmethod
    def compute(cls, db: Database) -> bool:
        """Convert."""
        value = np.asarray(db.inputs.value)
        if value.dtype.kind not in "biuf":
            raise ValueError(f"value = {db.inputs.value!r}: must be a number or several. Connect one.")
        converted = value.astype(cls.DTYPE)
        db.outputs.converted = converted if converted.ndim else converted.item()
        return True


class ToFloat(ToDouble):
    """Converts numbers to single precision."""

    DTYPE = np.float32
