"""Attributes of components as views of the parameters of a plan.

A compiled plan owns the parameters of its components; values that all robots share are stored once. Reading the
attribute materializes the parameter: every robot gets its own value, and the attribute is the live array. A value
written to it acts at the next step. The live array is a strided view of the row of the plan if one stride reaches the
joints of all robots, otherwise an array `(robots, joints)` of its own, a *piece*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..base.memory import Tensor
from ..laws.contract.base import Component
from .plan import ParameterView, Plan, Row, check_array, check_values

if TYPE_CHECKING:
    from .step.interface import Step


class Parameters:
    """The parameters of the components of some plans."""

    def __init__(self, num_robots: int, device: wp.DeviceLike) -> None:
        self._num_robots, self._device = num_robots, device
        # step and view by component and attribute
        self._views: dict[tuple[int, str], tuple[Step, ParameterView]] = {}
        # rows with a value per robot, by identity
        self._materialized: dict[int, wp.array] = {}
        # pieces by row and slots
        self._pieces: dict[tuple[int, tuple[int, ...]], wp.array] = {}

    @property
    def num_pieces(self) -> int:
        """Number of pieces; after a change `target` returns other arrays."""
        return len(self._pieces)

    def bind(self, plan: Plan, step: Step) -> None:
        """Bind the attributes of the components of a plan; parameters given per robot are materialized now."""
        for view in plan.views:
            self._views[id(view.component), view.attribute] = step, view
            vars(view.component).pop(view.attribute, None)
        for component in plan.components:
            vars(component)["parameter_source"] = self
        for view in plan.views:
            if view.row.per_robot:
                self.parameter(view.component, view.attribute)

    def parameter(self, component: Component, attribute: str) -> wp.array:
        """Materialize a parameter, and return its live values, one per robot and target."""
        step, view = self._views[id(component), attribute]
        array, slots = self._row(step, view.row), view.slots
        # a stride that also leads from the last joint of a robot to the first joint of the next
        stride = array.shape[1] // len(slots)
        if list(slots) == list(range(slots[0], array.shape[1], stride)):
            live: Tensor = array.flatten()[slots[0] :: stride]
        else:
            key = id(view.row), view.slots
            if key not in self._pieces:
                values = np.ascontiguousarray(step.values(view.row)[:, list(view.slots)])
                piece = wp.array(values, dtype=_dtype_of(view), device=self._device)
                step.take_piece(view.row, view.slots, piece)
                self._pieces[key] = piece
            live = self._pieces[key].flatten()
        vars(component)[attribute] = live
        return live

    def target(self, step: Step, view: ParameterView, at: int) -> tuple[wp.array, int]:
        """Materialize a parameter, and return the array `(robots, columns)` and the column of one joint."""
        piece = self._pieces.get((id(view.row), view.slots))
        return (self._row(step, view.row), view.slots[at]) if piece is None else (piece, at)

    def values(self, step: Step, view: ParameterView) -> np.ndarray:
        """Current values of a parameter, `(robots, joints of its actuator)`, without materializing it."""
        return step.values(view.row)[:, list(view.slots)]

    def read_parameter(self, component: Component, attribute: str) -> np.ndarray:
        """Current values of a component's parameter, without materializing it."""
        return self.values(*self._views[id(component), attribute]).ravel()

    def copied(self, component: Component, attribute: str) -> wp.array:
        """Return a copy of the values of a component's parameter."""
        if (live := vars(component).get(attribute)) is not None:
            return wp.clone(live)
        _, view = self._views[id(component), attribute]
        values = self.read_parameter(component, attribute)
        return wp.array(values, dtype=_dtype_of(view), device=self._device)

    def assign(self, component: Component, attribute: str, values: object) -> None:
        """Copy an array, one value per robot and target, into a parameter; it acts at the next step."""
        _, view = self._views[id(component), attribute]
        owner = type(component).__name__
        subject = f"{owner}: {attribute}"
        dtype = _dtype_of(view)
        if not isinstance(values, wp.array) or values.dtype is not dtype:
            has = values.dtype.__name__ if isinstance(values, wp.array) else type(values).__name__
            raise TypeError(f"{subject} = {has}: must be a Warp array of {dtype.__name__}. Convert it.")
        check_array(owner, self._num_robots, len(view.slots), attribute, values)
        check_values(owner, component, attribute, values.numpy())
        # `values` may overlap the live array
        live = vars(component).get(attribute)
        live = self.parameter(component, attribute) if live is None else live
        live.assign(values.numpy().copy())

    def _row(self, step: Step, row: Row) -> wp.array:
        if id(row) not in self._materialized:
            self._materialized[id(row)] = step.materialize(row)
        return self._materialized[id(row)]


def _dtype_of(view: ParameterView) -> type:
    return wp.int32 if view.row.shared.dtype == np.int32 else wp.float32
