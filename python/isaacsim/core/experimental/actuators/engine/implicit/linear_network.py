"""A network as a linear law about the state at the start of a step, for efforts of the end of the step.

    F(q, v) = τ₀ + a·(q − q₀) + b·(v − v₀)              τ₀ the effort at q₀, v₀; a and b its slopes there
    a, b ← a·k, b·k                                     k ≤ 1 the largest with 1 − h·A_ii·(h·a + b) ≥ 0.1

The slopes are central differences. Those of a motor that drives itself would make the equations singular, which k
prevents; it is 1 where h·a + b is negative. A network that remembers the past sees that before the step.
Source: newton.actuators 1.8, implicit effort mode of networks.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ...laws.controller_pd import ControllerPD
from ...laws.networks.neural import ControllerNeural
from ..calls import Contents, contents, planned_state, step_of, unchanged
from ..launches import Launches
from ..step.binding import Indices

wp.set_module_options({"enable_backward": False})

# signs of the differences of position and velocity, state by state
_ASIDE = ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
_STEP = wp.constant(2.0**-10)
# number of states that stay converted
_KEPT = 4


class LinearNetwork:
    """The linear law of a network, of `N` joints: PD with the slopes as gains.

    The targets of `law` are `position` and `velocity`. The part is the actuator with the network as its only stage, as
    `step_of` takes it; `step` is its compiled step. All arrays are float32 `(N,)`, of the start of the step.
    """

    def __init__(self, part: Any, position: wp.array, velocity: wp.array, commands: Sequence[wp.array]) -> None:
        count, device = part.num_actuators, part.device

        def zeros(*shape: int) -> wp.array:
            return wp.zeros(shape or (count,), dtype=wp.float32, device=device)

        self._label, self._count = part.label, count
        self._start, self._effort, self._found = (position, velocity), zeros(), zeros(len(_ASIDE), count)
        self._aside = zeros(), zeros()
        self.law = ControllerPD(zeros(), zeros(), zeros())
        self.step = step_of(part, zeros())
        order = wp.array(np.arange(count, dtype=np.uint32), dtype=wp.uint32, device=device)
        self.step.bind(Indices([*self._aside, *commands], [order] * 5, self._effort, order, None, self._label))
        self._spare = self.step.new_state()
        self._states: dict[int, tuple[Any, list[Contents], Any]] = {}
        self._launches = Launches(device)

    def refresh(self, state: object, own_inverse: wp.array, dt: float) -> None:
        """Compute slopes and effort at the start of a step; the state, of before the step, stays as it is.

        `own_inverse` is the response of each joint to its own impulse [1/(kg·m²) or 1/kg], float32 `(N,)`.
        """
        self.step.use(self._converted(state), self._spare)
        self._launches.for_arguments(own_inverse, dt)
        for number, (of_position, of_velocity) in enumerate(_ASIDE):
            inputs = [number, of_position, of_velocity, *self._start]
            outputs = [*self._aside, self._effort, self._found]
            self._launches.run(number, _step_aside_kernel, self._count, inputs, outputs)
            self.step.step(dt)
        law = self.law
        inputs = [dt, ControllerNeural.IMPLICIT_JACOBIAN_MARGIN, *self._start, own_inverse, self._effort, self._found]
        self._launches.run("slopes", _slopes_kernel, self._count, inputs, [law.kp, law.kd, law.const_effort])

    def _converted(self, state: Any) -> Any:
        known = self._states.get(id(state))
        if known is not None and unchanged(known[1]):
            return known[2]
        held = [] if state is None else [contents(vars(one)) for one in (state, state.controller_state)]
        self._states[id(state)] = state, held, planned_state(self.step, self._label, state)
        if len(self._states) > _KEPT:
            del self._states[next(iter(self._states))]
        return self._states[id(state)][2]


@wp.kernel
def _step_aside_kernel(
    number: int,
    of_position: float,
    of_velocity: float,
    position: wp.array[float],
    velocity: wp.array[float],
    aside_position: wp.array[float],
    aside_velocity: wp.array[float],
    effort: wp.array[float],
    found: wp.array2d[float],
):
    i = wp.tid()
    if number > 0:
        found[number - 1, i] = effort[i]
    effort[i] = 0.0
    aside_position[i] = position[i] + of_position * _STEP * (1.0 + wp.abs(position[i]))
    aside_velocity[i] = velocity[i] + of_velocity * _STEP * (1.0 + wp.abs(velocity[i]))


@wp.kernel
def _slopes_kernel(
    dt: float,
    margin: float,
    position: wp.array[float],
    velocity: wp.array[float],
    own_inverse: wp.array[float],
    effort: wp.array[float],
    found: wp.array2d[float],
    kp: wp.array[float],
    kd: wp.array[float],
    const_effort: wp.array[float],
):
    i = wp.tid()
    q_step = _STEP * (1.0 + wp.abs(position[i]))
    v_step = _STEP * (1.0 + wp.abs(velocity[i]))
    # distances as single precision has them
    a = (found[1, i] - found[2, i]) / ((position[i] + q_step) - (position[i] - q_step))
    b = (found[3, i] - effort[i]) / ((velocity[i] + v_step) - (velocity[i] - v_step))
    slope = dt * a + b
    largest = (1.0 - margin) / (dt * wp.max(own_inverse[i], 1.0e-12))
    if slope > largest:
        a = a * largest / slope
        b = b * largest / slope
    kp[i] = -a
    kd[i] = -b
    const_effort[i] = found[0, i]
