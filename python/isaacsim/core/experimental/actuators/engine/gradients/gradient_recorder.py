"""Interface of what records steps of a pipeline for gradients, and the error of what has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from ...base.memory import Array, numpy_view


def refuse(label: str, why: str) -> NoReturn:
    """Raise the error of an actuator without gradients."""
    raise NotImplementedError(f"{label}: requires_grad = True: {why}.")


def gathered(signal: Array | None, index: Array) -> np.ndarray:
    """Return the elements of an array on the CPU at indices; zeros of a signal that is absent."""
    places = numpy_view(index)
    return np.zeros(len(places), np.float32) if signal is None else numpy_view(signal).ravel()[places]


def flat(array: Array) -> np.ndarray:
    """Return a copy of an array on the CPU with one axis, float32."""
    return np.array(numpy_view(array), np.float32).ravel()


def give(to: Array | None, index: Array, values: np.ndarray) -> None:
    """Add values to the elements of an array on the CPU at indices, which may come twice; to none that is absent."""
    if to is not None:
        np.add.at(numpy_view(to).reshape(-1), numpy_view(index), values.astype(np.float32))


def taken(array: Array | None, count: int) -> np.ndarray:
    """Return the gradients by a state after the step, float64 `(count,)`, and set them to zero; zeros of none."""
    if array is None:
        return np.zeros(count)
    view = numpy_view(array).reshape(-1)
    found = view.astype(np.float64)
    view[:] = 0.0
    return found


class GradientRecorder(Protocol):
    """Records steps of a pipeline and runs their backward passes: `native.core.Gradients` or `WarpGradients`.

    The core takes NumPy arrays. Signals are five arrays, each with the indices of the joints in it. Parameters and
    states have a number per joint, and so have the signals that a law asks for, which precede its parameters.
    """

    def note(
        self,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        parameters: Sequence[Array],
        state: Any,
        lag: Array | None,
        dt: float,
        /,
    ) -> Any:
        """Copy the inputs of a step before it runs, and return the record."""
        ...

    def efforts(self, noted: Any, /) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts, and efforts before the limits, of a recorded step; NaN on a fault."""
        ...

    # the arguments are those of the core
    def back(
        self,
        noted: Any,
        efforts: Sequence[Array | None],
        effort_index: Array,
        signals: Sequence[Array | None],
        indices: Sequence[Array],
        parameters: Sequence[Array | None],
        after: Sequence[Array | None],
        before: Sequence[Array | None],
        numbers: Array | None = None,
        /,
    ) -> None:
        """Run the backward pass of a recorded step; arrays are gradients, None for none."""
        ...
