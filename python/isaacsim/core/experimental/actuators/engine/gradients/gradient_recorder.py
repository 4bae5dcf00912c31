"""Interface of what records steps of a pipeline for gradients, and the error of what has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from ...base import native
from ...base.memory import Array, Tensor, numpy_view
from ...laws.contract.base import Component
from ...laws.contract.law import LawClass


class States(NamedTuple):
    """Arrays of a state: rings of the delay, none without one; its counters; arrays of the laws, in their order."""

    rings: Sequence[Tensor]
    num_pushes: Tensor
    write_idx: Tensor
    laws: Sequence[Tensor]


class StepInputs(NamedTuple):
    """Inputs of a step.

    Signals are five arrays, each with the indices of the joints in it. Parameters and states have a number per joint,
    and so have the signals that a law asks for, which precede its parameters. The state is `States`, or what the
    engine's recorder takes.
    """

    signals: Sequence[Array | None]
    indices: Sequence[Array]
    parameters: Sequence[Array]
    state: Any
    lag: Array | None
    dt: float


class StepGradients(NamedTuple):
    """Gradients of a step, None for none: by efforts and computed efforts; the others are added to.

    `after` and `before` have gradients by rings of the delay, then by states of laws; `numbers` by those of a network.
    """

    efforts: Sequence[Array | None]
    effort_index: Array
    signals: Sequence[Array | None]
    indices: Sequence[Array]
    parameters: Sequence[Array | None]
    after: Sequence[Array | None]
    before: Sequence[Array | None]
    numbers: Array | None = None


class GradientRecorder(Protocol):
    """Records steps of a pipeline and runs their backward passes."""

    def note(self, inputs: StepInputs, /) -> Any:
        """Copy the inputs of a step before it runs, and return the record."""

    def efforts(self, noted: Any, /) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts, and efforts before the limits, of a recorded step; NaN on a fault."""
        ...

    def back(self, noted: Any, by: StepGradients, /) -> None:
        """Run the backward pass of a recorded step."""


class CoreGradients:
    """The recorder of the native core, which takes NumPy arrays; arguments are those of `native.core.Gradients`."""

    def __init__(self, *arguments: object) -> None:
        self._core = native.core.Gradients(*arguments)

    def note(self, inputs: StepInputs) -> Any:
        """Copy the inputs of a step before it runs, and return the record."""
        state = inputs.state
        return self._core.note(
            *inputs._replace(state=native.core.State(*state) if isinstance(state, States) else state)
        )

    def efforts(self, noted: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts, and efforts before the limits, of a recorded step; NaN on a fault."""
        return self._core.efforts(noted)

    def back(self, noted: Any, by: StepGradients) -> None:
        """Run the backward pass of a recorded step."""
        self._core.back(noted, *by)


class OuterLaws:
    """Values of the laws of a recorder around that of the rest: they are the last ones among all."""

    def __init__(self, *laws: LawClass | type[Component]) -> None:
        self.names = [name for law in laws for name in (*law.ASKS, *law.PARAMETERS)]
        """Names of their signals and parameters."""
        # the row that was written last precedes the rings of a law
        self._arrays = sum(len(law.STATE) + len(law.LATE) + bool(law.LATE) for law in laws)

    def split(self, inputs: StepInputs) -> tuple[StepInputs, dict[str, np.ndarray], Sequence[Array]]:
        """Return the inputs of the rest; copies of signals and parameters by name; and the state arrays."""
        parameters, state = inputs.parameters, inputs.state
        values = dict(zip(self.names, map(flat, parameters[-len(self.names) :]), strict=True))
        rest = state._replace(laws=state.laws[: -self._arrays])
        inputs = inputs._replace(parameters=parameters[: -len(self.names)], state=rest)
        return inputs, values, state.laws[-self._arrays :]

    def split_gradients(self, by: StepGradients) -> tuple[StepGradients, OuterGradients]:
        """Return the gradients of the rest, and those of these laws."""
        mine, arrays = slice(-len(self.names), None), slice(-self._arrays, None)
        values = dict(zip(self.names, by.parameters[mine], strict=True))
        rest = by._replace(
            parameters=by.parameters[: mine.start], after=by.after[: arrays.start], before=by.before[: arrays.start]
        )
        return rest, OuterGradients(values, by.after[arrays], by.before[arrays])


class OuterGradients(NamedTuple):
    """Gradients of laws: by signals and parameters by name, and by states after and before a step; None for none."""

    values: dict[str, Array | None]
    after: Sequence[Array | None]
    before: Sequence[Array | None]


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


def give(to: Array | None, values: np.ndarray, index: Array | None = None) -> None:
    """Add values to the elements of an array on the CPU: all, or those at indices, which may come twice."""
    if to is None:
        return
    view = numpy_view(to).reshape(-1)
    if index is None:
        view += values.astype(np.float32)
    else:
        np.add.at(view, numpy_view(index), values.astype(np.float32))


def taken(array: Array | None, count: int) -> np.ndarray:
    """Return the gradients by a state after the step, float64 `(count,)`, and set them to zero; zeros of none."""
    if array is None:
        return np.zeros(count)
    view = numpy_view(array).reshape(-1)
    gradients = view.astype(np.float64)
    view[:] = 0.0
    return gradients
