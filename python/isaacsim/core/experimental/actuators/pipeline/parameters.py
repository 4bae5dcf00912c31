"""How an attribute of a component becomes a parameter of the plan that runs it, and stays one.

Once compiled, a component's parameters are the plan's: what all robots share is held once; reading the attribute gives
every robot a value of its own and returns the live array, and writing to that acts at the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from .plan import Plan, Row, Shown, check_array, check_values


class Parameters:
    """The parameters of some components, shown as their attributes.

    Args:
        num_robots: Number of robots.
        device: Warp device of the plans.
        on_mirror: Called when there is one more array to `pour`.
    """

    def __init__(self, num_robots: int, device: Any, on_mirror: Callable[[], None]) -> None:
        self._num_robots, self._device, self._on_mirror = num_robots, device, on_mirror
        # each with the step that runs it, by component and attribute
        self._shown: dict[tuple[int, str], tuple[Any, Shown]] = {}
        # rows with a value per robot, by identity
        self._spread: dict[int, Any] = {}
        self.mirrors: list[tuple[Any, Shown, wp.array]] = []
        """What is copied into the plan before each step: arrays that no single stride reaches."""

    def show(self, plan: Plan, step: Any) -> None:
        """Let the components of a plan show its parameters: those given per robot at once, the others when asked."""
        for shown in plan.shown:
            self._shown[id(shown.component), shown.attribute] = step, shown
            vars(shown.component).pop(shown.attribute, None)
            vars(shown.component)["parameter_source"] = self
        for shown in plan.shown:
            if shown.row.per_robot:
                self.parameter(shown.component, shown.attribute)

    def parameter(self, component: Any, attribute: str) -> wp.array:
        """The live values of a component's parameter, one per robot and target; from now on robots may differ."""
        step, shown = self._shown[id(component), attribute]
        array = self._row(step, shown.row)
        view = array[:, shown.slots[0]]
        if len(shown.slots) > 1:
            # no single stride reaches several joints of every robot: a copy that is poured in before each step
            rows = np.stack([array[:, slot].numpy() for slot in shown.slots], axis=1)
            view = wp.array(rows.ravel(), dtype=array.dtype, device=array.device)
            self.mirrors.append((array, shown, view))
            self._on_mirror()
        vars(component)[attribute] = view
        return view

    def target(self, step: Any, shown: Shown, at: int) -> tuple[Any, int]:
        """Where the numbers of a parameter are to be written, and in which column, for one joint of its actuator.

        The array is `(robots, columns)`; from now on robots may differ.
        """
        for _, mirrored, view in self.mirrors:
            if mirrored is shown:
                return view.reshape((self._num_robots, len(shown.slots))), at
        return self._row(step, shown.row), shown.slots[at]

    def values(self, step: Any, shown: Shown) -> np.ndarray:
        """The numbers of a parameter as they are, `(robots, joints of its actuator)`; robots go on to share them."""
        if id(shown.row) in self._spread or shown.row.per_robot:
            targets = [self.target(step, shown, at) for at in range(len(shown.slots))]
            return np.stack([array.numpy()[:, column] for array, column in targets], axis=1)
        return np.tile(shown.row.shared[list(shown.slots)], (self._num_robots, 1))

    def read_parameter(self, component: Any, attribute: str) -> np.ndarray:
        """The values of a component's parameter without making them differ from robot to robot."""
        return self.values(*self._shown[id(component), attribute]).ravel()

    def copied(self, component: Any, attribute: str) -> wp.array:
        """The values of a component's parameter in an array of their own."""
        if (live := vars(component).get(attribute)) is not None:
            return wp.clone(live)
        _, shown = self._shown[id(component), attribute]
        values = self.read_parameter(component, attribute)
        return wp.array(values, dtype=_dtype_of(shown), device=self._device)

    def assign(self, component: Any, attribute: str, values: Any) -> None:
        """Copy an array into a parameter, one value per robot and target; it acts at the next step.

        Raises:
            TypeError: It is no Warp array, or one of another type.
            ValueError: It has another length, or holds a value out of range.
        """
        _, shown = self._shown[id(component), attribute]
        owner = type(component).__name__
        subject = f"{owner}: {attribute}"
        dtype = _dtype_of(shown)
        if not isinstance(values, wp.array) or values.dtype is not dtype:
            has = values.dtype.__name__ if isinstance(values, wp.array) else type(values).__name__
            raise TypeError(f"{subject} = {has}: must be a Warp array of {dtype.__name__}. Convert it.")
        check_array(owner, self._num_robots, len(shown.slots), attribute, values)
        check_values(owner, component, attribute, values.numpy())
        # what is shown already may be among the values
        live = vars(component).get(attribute)
        live = self.parameter(component, attribute) if live is None else live
        live.assign(values.numpy().copy())

    def pour(self) -> None:
        """Copy what the mirrors hold into their rows, before a step."""
        for array, shown, flat in self.mirrors:
            rows: Any = flat.reshape((self._num_robots, len(shown.slots)))
            for place, slot in enumerate(shown.slots):
                wp.copy(array[:, slot], rows[:, place])

    def _row(self, step: Any, row: Row) -> Any:
        if id(row) not in self._spread:
            self._spread[id(row)] = step.spread(row)
        return self._spread[id(row)]


def _dtype_of(shown: Shown) -> Any:
    return wp.int32 if shown.row.shared.dtype == np.int32 else wp.float32
