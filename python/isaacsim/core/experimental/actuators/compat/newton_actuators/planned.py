"""What the seven classes have in common: a plan of ours behind the attributes and hooks of newton-actuators."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import NoneType, SimpleNamespace
from typing import Any, ClassVar

import warp as wp

from ...components.base import Clamping, Controller
from ...components.delay import Delay
from ...pipeline.actuator import Actuator as Plan
from ...specs.arguments import require_type
from ...untraced import untraced
from .base import Actuator, require_as_many

_HOOKS = ("has_transmission", "_run_controller", "_run_state_manager", "_run_transmission")


class Of:
    """An attribute that is one of something inside: what is set there acts at the next step.

    Args:
        find: Returns the something.
        name: What the attribute is called there.
    """

    def __init__(self, find: Callable[[Any], Any], name: str) -> None:
        self._find, self._name = find, name

    def __get__(self, one: Any, owner: type | None = None) -> Any:
        return self if one is None else getattr(self._find(one), self._name)

    def __set__(self, one: Any, value: Any) -> None:
        setattr(self._find(one), self._name, value)


def plan_of(one: Any) -> Plan:
    """The plan of an actuator."""
    return one._plan


def controller_of(one: Any) -> Any:
    """Its controller."""
    return one._plan.controller


def clamp_of(one: Any) -> Any:
    """Its clamp."""
    return one._plan.clamping[0]


def require_lengths(input_indices: wp.array, **arrays: wp.array | None) -> None:
    """Refuse what is no array, and the first of these arrays which has not one value per actuator."""
    require_type("input_indices", input_indices, wp.array, "a Warp array")
    count = len(input_indices)
    for name, array in arrays.items():
        require_type(name, array, (wp.array, NoneType), "a Warp array")
        if array is not None and len(array) != count:
            raise ValueError(
                f"{name} has length {len(array)}: must match num_actuators, {count}. Give one value per actuator."
            )


class PlannedActuator(Actuator):
    """An actuator whose step is that of a plan.

    A subclass that overrides a hook is stepped hook by hook, and else in one call.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        controller: The control law.
        clamp: The limit.
        delay: Command delay, or None.
        names: Names of positions, velocities, their targets, feedforward and efforts.
    """

    REQUIRED: ClassVar[tuple[str, ...]] = ()
    """Arguments without a default."""
    DEFAULTS: ClassVar[dict[str, Any]] = {}
    """Arguments with one."""
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    """Arguments that are passed on where they are given."""
    _has_hooks: ClassVar[bool] = False

    state_pos_attr = Of(plan_of, "state_pos_attr")
    state_vel_attr = Of(plan_of, "state_vel_attr")
    control_target_pos_attr = Of(plan_of, "control_target_pos_attr")
    control_output_attr: Any = Of(plan_of, "control_output_attr")
    max_force = Of(clamp_of, "max_effort")

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        controller: Controller,
        clamp: Clamping,
        delay: Delay | None,
        names: tuple[str, str, str, str, str | None, str],
    ) -> None:
        require_as_many(input_indices, output_indices)
        self._plan = Plan(
            input_indices,
            controller,
            delay,
            [clamp],
            None,
            input_indices,
            output_indices,
            *names,
            label=type(self).__name__,
        )
        super().__init__(input_indices, output_indices, names[-1])

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._has_hooks = any(getattr(cls, hook) is not getattr(PlannedActuator, hook) for hook in _HOOKS)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the constructor, with defaults where `args` has none; others are dropped.

        Raises:
            ValueError: A required one is missing.
        """
        for name in cls.REQUIRED:
            if name not in args:
                raise ValueError(f"{cls.__name__} requires {name!r}. Give it.")
        given = {name: args[name] for name in (*cls.REQUIRED, *cls.OPTIONAL) if name in args}
        return given | {name: args.get(name, default) for name, default in cls.DEFAULTS.items()}

    def is_stateful(self) -> bool:
        """Whether `step` needs states."""
        return self._plan.is_stateful()

    def is_graphable(self) -> bool:
        """Whether `step` can be captured in a CUDA graph: unless Torch runs a network."""
        return self._plan.is_graphable()

    @untraced
    def step(
        self,
        sim_state: Any,
        sim_control: Any,
        current_act_state: Any = None,
        next_act_state: Any = None,
        dt: float | None = None,
    ) -> None:
        """Add the efforts of this step to the output array; see `Actuator.step`.

        Raises:
            ValueError: A stateful actuator without both states, a law that integrates without a time step, or an array
                that is not there or does not fit. Nothing has been written then.
        """
        if self._has_hooks:
            super().step(sim_state, sim_control, current_act_state, next_act_state, dt)
        else:
            self._advance(sim_state, sim_control, current_act_state, next_act_state, dt)

    def _run_controller(
        self,
        sim_state: Any,
        sim_control: Any,
        controller_output: wp.array,
        output_indices: wp.array,
        current_state: Any,
        dt: float | None,
    ) -> None:
        if self._plan.effort_indices is not output_indices:
            self._plan.effort_indices = output_indices
        self._advance(sim_state, self._writing_to(controller_output, sim_control), current_state, self._unused, dt)

    def _run_state_manager(
        self, sim_state: Any, sim_control: Any, current_state: Any, next_state: Any, dt: float | None
    ) -> None:
        self._advance(sim_state, self._writing_to(self._nowhere, sim_control), current_state, next_state, dt)

    def _advance(self, sim_state: Any, sim_control: Any, now: Any, after: Any, dt: float | None) -> None:
        """The whole step."""
        self._plan.step(sim_state, sim_control, now, after, dt)

    def _writing_to(self, efforts: wp.array, sim_control: Any) -> Any:
        """The arrays of a control object, with another one for the efforts."""
        plan = self._plan
        names = plan.control_target_pos_attr, plan.control_target_vel_attr, plan.control_feedforward_attr
        arrays = {name: getattr(sim_control, name, None) for name in names if name is not None}
        return SimpleNamespace(**arrays | {plan.control_output_attr: efforts})

    @cached_property
    def _unused(self) -> Any:
        """A state that is written and never read."""
        return self.state()

    @property
    def _nowhere(self) -> wp.array:
        """Efforts that nobody reads, as many as the output indices reach."""
        indices = self._plan.effort_indices
        if self._reached is None or self._reached[0] is not indices:
            largest = max(indices.numpy().ravel().tolist(), default=-1)
            self._reached = indices, wp.zeros(largest + 1, dtype=wp.float32, device=indices.device)
        return self._reached[1]

    _reached: tuple[wp.array, wp.array] | None = None
