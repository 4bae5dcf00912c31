"""The common part of the seven classes: a plan of ours behind the attributes and hooks of newton-actuators."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import warp as wp

from ...base.untraced import untraced
from ...engine.actuator import Actuator as Plan
from ...laws.clamping_max_effort import ClampingMaxEffort
from ...laws.contract.base import Clamping, Controller
from ...laws.delay import Delay
from .arguments import INPUT, OUTPUT, STATE_POS, STATE_VEL, TARGET_POS, TARGET_VEL, Argument, Resolved
from .base import Actuator, require_as_many, require_length

_HOOKS = ("has_transmission", "_run_controller", "_run_state_manager", "_run_transmission")
_INDICES = {
    "input_indices": "Indices of positions, velocities and targets, uint32, shape `(N,)`.",
    "output_indices": "Indices of efforts, uint32, shape `(N,)`.",
}


class PlannedActuator(Actuator):
    """An actuator whose step is that of a plan.

    A class is declared by its law, limit, state and arguments; constructor, documentation, attributes and
    `resolve_arguments` follow. A subclass that overrides a hook is stepped hook by hook, others in one call.
    """

    LAW: ClassVar[type[Controller]]
    """Its control law."""
    GEARED: ClassVar[type[Controller] | None] = None
    """Its control law if a gear is given."""
    LIMIT: ClassVar[type[Clamping]] = ClampingMaxEffort
    """Its limit."""
    State: ClassVar[Any] = None
    """Class of its states, made of the arrays of its law's."""
    ARGUMENTS: ClassVar[Mapping[str, Argument]] = {}
    """Its arguments after the indices, in order; the names of arrays follow those that the class declares."""
    NAMES: ClassVar[Mapping[str, Argument]] = {
        "state_pos_attr": STATE_POS,
        "state_vel_attr": STATE_VEL,
        "control_target_pos_attr": TARGET_POS,
        "control_target_vel_attr": TARGET_VEL,
        "control_input_attr": INPUT,
        "control_output_attr": OUTPUT,
    }
    """Its names of arrays."""
    _signature: ClassVar[inspect.Signature]
    _has_hooks: ClassVar[bool] = False

    state_pos_attr, state_vel_attr, control_target_pos_attr = STATE_POS, STATE_VEL, TARGET_POS
    control_target_vel_attr, control_input_attr = TARGET_VEL, INPUT
    control_output_attr: Any = OUTPUT

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls._has_hooks = any(getattr(cls, hook) is not getattr(PlannedActuator, hook) for hook in _HOOKS)
        if declared := {name: one for name, one in vars(cls).items() if isinstance(one, Argument)}:
            cls._declare(declared)
        elif "__init__" in vars(cls):
            # a subclass of the user's has its own
            cls.__signature__ = None

    @classmethod
    def _declare(cls, declared: Mapping[str, Argument]) -> None:
        """Derive signature and documentation from the arguments of a class."""
        cls.ARGUMENTS = dict(sorted({**declared, **cls.NAMES}.items(), key=lambda item: item[1].keyword_only))
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in _INDICES]
        for name, one in cls.ARGUMENTS.items():
            kind = inspect.Parameter.KEYWORD_ONLY if one.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(inspect.Parameter(name, kind, default=one.default))
        cls._signature = inspect.Signature(parameters)
        cls.__signature__: inspect.Signature | None = cls._signature
        meanings = _INDICES | {name: one.meaning for name, one in cls.ARGUMENTS.items()}
        lines = [f"    {name}: {meaning}" for name, meaning in meanings.items()]
        cls.__doc__ = "\n".join([inspect.cleandoc(cls.__doc__ or ""), "", "Args:", *lines])

    def __init__(self, *args: object, **kwargs: object) -> None:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}.") from None
        bound.apply_defaults()
        given = bound.arguments
        inputs, outputs = given["input_indices"], given["output_indices"]
        require_as_many(inputs, outputs)
        for name, one in self.ARGUMENTS.items():
            if one.is_array:
                require_length(name, given[name], len(inputs))
            if one.is_plain:
                setattr(self, name, given[name])
        law, clamp, delay = self._law(given), self.LIMIT(**self._values(given, "clamp")), self._delay(given)
        names = self._values(given, "plan")
        self._plan = Plan(inputs, law, delay, [clamp], None, inputs, outputs, **names, label=type(self).__name__)
        super().__init__(inputs, outputs, given["control_output_attr"])

    def _values(self, given: Mapping[str, object], part: str) -> dict[str, Any]:
        """Return the arguments that a part of the plan takes, by their names there."""
        return {one.field: given[name] for name, one in self.ARGUMENTS.items() if one.part == part}

    def _law(self, given: Mapping[str, object]) -> Controller:
        gains = self._values(given, "controller")
        if self.GEARED is not None and gains["gear"] is not None:
            return self.GEARED(**gains)
        gains.pop("gear", None)
        return self.LAW(**gains)

    def _delay(self, given: Mapping[str, object]) -> Delay | None:
        return None

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, Any]:
        """Return the arguments of the constructor, with defaults where `args` has none; others are dropped.

        Raises:
            ValueError: A required one is missing.
        """
        found: dict[str, Any] = {}
        for name, one in cls.ARGUMENTS.items():
            if one.resolved is Resolved.REQUIRED and name not in args:
                raise ValueError(f"{cls.__name__} requires {name!r}. Give it.")
            if one.resolved is not Resolved.DROPPED and name in args:
                found[name] = args[name]
            elif not isinstance(one.resolved, Resolved):
                found[name] = one.resolved
        return found

    def is_stateful(self) -> bool:
        """Return True if `step` needs states."""
        return self._plan.is_stateful()

    def is_graphable(self) -> bool:
        """Return True if `step` can be captured in a CUDA graph: unless Torch runs a network."""
        return self._plan.is_graphable()

    def state(self) -> Any:
        """Return a fresh state, or None if the actuator has none."""
        if self.State is None:
            return None
        return self.State(*vars(self._plan.controller.state(self.num_actuators, self._plan.device)).values())

    @untraced
    def step(
        self,
        sim_state: object,
        sim_control: object,
        current_act_state: object = None,
        next_act_state: object = None,
        dt: float | None = None,
    ) -> None:
        """Add the efforts of this step to the output array; see `Actuator.step`.

        Raises:
            ValueError: A stateful actuator without both states, a law that integrates without a time step, or an array
                that is absent or does not fit. Nothing has been written then.
        """
        if self._has_hooks:
            super().step(sim_state, sim_control, current_act_state, next_act_state, dt)
        else:
            self._advance(sim_state, sim_control, current_act_state, next_act_state, dt)

    def _run_controller(
        self,
        sim_state: object,
        sim_control: object,
        controller_output: wp.array,
        output_indices: wp.array,
        current_state: object,
        dt: float | None,
    ) -> None:
        if self._plan.effort_indices is not output_indices:
            self._plan.effort_indices = output_indices
        self._advance(sim_state, self._writing_to(controller_output, sim_control), current_state, self._unused, dt)

    def _run_state_manager(
        self, sim_state: object, sim_control: object, current_state: object, next_state: object, dt: float | None
    ) -> None:
        self._advance(sim_state, self._writing_to(self._nowhere, sim_control), current_state, next_state, dt)

    def _advance(self, sim_state: object, sim_control: object, now: Any, after: Any, dt: float | None) -> None:
        """Run the whole step."""
        self._plan.step(sim_state, sim_control, now, after, dt)

    def _writing_to(self, efforts: wp.array, sim_control: object) -> SimpleNamespace:
        """Return the arrays of a control object, with another one for the efforts."""
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
        """Efforts that are never read, as many as the output indices reach."""
        indices = self._plan.effort_indices
        if self._reached is None or self._reached[0] is not indices:
            largest = max(indices.numpy().ravel().tolist(), default=-1)
            self._reached = indices, wp.zeros(largest + 1, dtype=wp.float32, device=indices.device)
        return self._reached[1]

    _reached: tuple[wp.array, wp.array] | None = None
