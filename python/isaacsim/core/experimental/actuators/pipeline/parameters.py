"""How an attribute of a component becomes a parameter of the plan that runs it, and stays one.

Once compiled, a component's parameters are the plan's: what all robots share is held once. Reading the attribute gives
every robot a value of its own and returns the live array; a value written to it acts at the next step. The live array
is memory that steps read: in the row of the plan where one stride reaches the joints of all robots, else a piece
`(robots, joints)` of the actuator's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from .plan import ParameterView, Plan, Row, check_array, check_values


class Parameters:
    """The parameters of some components, shown as their attributes.

    Args:
        num_robots: Number of robots.
        device: Warp device of the plans.
    """

    def __init__(self, num_robots: int, device: Any) -> None:
        self._num_robots, self._device = num_robots, device
        # each with the step that runs it, by component and attribute
        self._views: dict[tuple[int, str], tuple[Any, ParameterView]] = {}
        # rows with a value per robot, by identity
        self._materialized: dict[int, wp.array] = {}
        # values of joints that stand apart, by row and slots
        self._pieces: dict[tuple[int, tuple[int, ...]], wp.array] = {}

    @property
    def num_pieces(self) -> int:
        """Number of parameters that have moved out of their row, each of which `target` finds elsewhere since."""
        return len(self._pieces)

    def show(self, plan: Plan, step: Any) -> None:
        """Let the components of a plan show its parameters: those given per robot at once, the others when asked."""
        for view in plan.views:
            self._views[id(view.component), view.attribute] = step, view
            vars(view.component).pop(view.attribute, None)
        for component in plan.components:
            vars(component)["parameter_source"] = self
        for view in plan.views:
            if view.row.per_robot:
                self.parameter(view.component, view.attribute)

    def parameter(self, component: Any, attribute: str) -> wp.array:
        """The live values of a component's parameter, one per robot and target; from now on robots may differ."""
        step, view = self._views[id(component), attribute]
        array, slots = self._row(step, view.row), view.slots
        # from joint to joint as far as from a robot's last joint to the first one of the next
        stride = array.shape[1] // len(slots)
        if list(slots) == list(range(slots[0], array.shape[1], stride)):
            live: Any = array.flatten()[slots[0] :: stride]
        else:
            live = self._piece(step, view).flatten()
        vars(component)[attribute] = live
        return live

    def target(self, step: Any, view: ParameterView, at: int) -> tuple[Any, int]:
        """Where the numbers of a parameter are to be written, and in which column, for one joint of its actuator.

        The array is `(robots, columns)`; from now on robots may differ.
        """
        piece = self._pieces.get((id(view.row), view.slots))
        return (self._row(step, view.row), view.slots[at]) if piece is None else (piece, at)

    def values(self, step: Any, view: ParameterView) -> np.ndarray:
        """The numbers of a parameter as they are, `(robots, joints of its actuator)`; robots go on to share them."""
        return step.values(view.row)[:, list(view.slots)]

    def read_parameter(self, component: Any, attribute: str) -> np.ndarray:
        """The values of a component's parameter without making them differ from robot to robot."""
        return self.values(*self._views[id(component), attribute]).ravel()

    def copied(self, component: Any, attribute: str) -> wp.array:
        """The values of a component's parameter in an array of their own."""
        if (live := vars(component).get(attribute)) is not None:
            return wp.clone(live)
        _, view = self._views[id(component), attribute]
        values = self.read_parameter(component, attribute)
        return wp.array(values, dtype=_dtype_of(view), device=self._device)

    def assign(self, component: Any, attribute: str, values: Any) -> None:
        """Copy an array into a parameter, one value per robot and target; it acts at the next step.

        Raises:
            TypeError: It is no Warp array, or one of another type.
            ValueError: It has another length, or holds a value out of range.
        """
        _, view = self._views[id(component), attribute]
        owner = type(component).__name__
        subject = f"{owner}: {attribute}"
        dtype = _dtype_of(view)
        if not isinstance(values, wp.array) or values.dtype is not dtype:
            has = values.dtype.__name__ if isinstance(values, wp.array) else type(values).__name__
            raise TypeError(f"{subject} = {has}: must be a Warp array of {dtype.__name__}. Convert it.")
        check_array(owner, self._num_robots, len(view.slots), attribute, values)
        check_values(owner, component, attribute, values.numpy())
        # what is shown already may be among the values
        live = vars(component).get(attribute)
        live = self.parameter(component, attribute) if live is None else live
        live.assign(values.numpy().copy())

    def _piece(self, step: Any, view: ParameterView) -> wp.array:
        key = id(view.row), view.slots
        if key not in self._pieces:
            values = np.ascontiguousarray(step.values(view.row)[:, list(view.slots)])
            piece = wp.array(values, dtype=_dtype_of(view), device=self._device)
            step.take_piece(view.row, view.slots, piece)
            self._pieces[key] = piece
        return self._pieces[key]

    def _row(self, step: Any, row: Row) -> wp.array:
        if id(row) not in self._materialized:
            self._materialized[id(row)] = step.materialize(row)
        return self._materialized[id(row)]


def _dtype_of(view: ParameterView) -> Any:
    return wp.int32 if view.row.shared.dtype == np.int32 else wp.float32
