"""The models of Isaac Lab on our plan: the same constructors, `compute` and `reset`, on arrays of any library.

Arrays are used in place, see `ActuatedArrays`. Attributes such as `stiffness` are arrays `(num_envs, num_joints)` of
Torch if the program has imported it, or else of the library of the given values; those that the law reads are the
plan's own, so that writes act at the next step. Unlike in Isaac Lab, the speed at which a DC motor brakes with its full
effort follows its limits when they change.

Limits have the names of Isaac Lab 3.0; those of 2.3 do the same with a `DeprecationWarning`. A subclass may override
`_clip_effort(effort, joint_vel)`, or with efforts alone as in 2.3, with the attributes of Isaac Lab's models:
`_joint_vel`, and of a DC motor `_saturation_effort` and `_vel_at_effort_lim`. The plan then computes the efforts
without applying its own limits. It may override `compute` too, and assign `computed_effort` and `applied_effort` there.
"""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np
import warp as wp

from ...base.callers import level_outside
from ...base.errors import NotCopied
from ...base.memory import Array, Tensor, apart, warp_view
from ...base.quiet_warp import device_of
from ...base.untraced import untraced
from ...base.values import ArrayLike, Indices, as_integers, as_numpy, resolve_indices
from ...engine.random.random_numbers import Draw, Draws, key_of
from ...loops.arrays import ActuatedArrays
from ...loops.foreign import given_back, is_immutable, taken
from ...specs.arguments import names_of, whole_of
from ...specs.distributions import Uniform
from .kinds import Cfg, has_later_names
from .motors import actuators_of, delay_range
from .resolve import EARLIER, EXPLICIT_EFFORT_LIMIT_SIM, LATER, PROPERTIES, Rules, resolve


class Action(Protocol):
    """Arrays of its input that a model reads and writes."""

    joint_positions: Tensor
    joint_velocities: Tensor
    joint_efforts: Tensor


@dataclass
class ArticulationActions:
    """Targets and efforts of joints, arrays `(num_envs, num_joints)` or None; any object with these fields will do."""

    joint_positions: Tensor = None
    """Position targets [rad or m]."""
    joint_velocities: Tensor = None
    """Velocity targets [rad/s or m/s]."""
    joint_efforts: Tensor = None
    """Feedforward efforts, and after `compute` the efforts to apply [N·m or N]."""
    joint_indices: Tensor = None
    """Numbers of the joints; ignored."""


_Action = TypeVar("_Action", bound=Action)

# no law of Isaac Lab depends on the step
_ANY_DT = 1.0
# attributes that are parameters of the plan: component and name there
_GAINS = {"stiffness": ("controller", "kp"), "damping": ("controller", "kd")}
_DC_MOTOR = {
    "effort_limit": ("clamping", "max_motor_effort"),
    **{name: ("clamping", name.lstrip("_")) for name in ("velocity_limit", "_saturation_effort")},
}


class _Parameter:
    """A number of each robot and joint, as an attribute that can be written to, with names of 2.3 as in `resolve`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: ActuatorBase | None, owner: type) -> Tensor:
        if model is None:
            return self
        if self._name in EARLIER:
            _warn_of_earlier(model.cfg, f"{type(model).__name__}.{self._name}", EARLIER[self._name])
        return model._parameter(LATER.get(self._name, self._name))

    def __set__(self, model: ActuatorBase, values: ArrayLike) -> None:
        _write(self.__get__(model, type(model)), values)


def _warn_of_earlier(cfg: object, subject: str, name: str) -> None:
    if has_later_names(cfg):
        text = f"{subject}: Isaac Lab 3.0 deprecates this name. Give {name}."
        warnings.warn(text, DeprecationWarning, stacklevel=level_outside())


class ActuatorBase(NotCopied):
    """A group of joints that one kind of actuator drives, in some number of equal robots.

    Args:
        cfg: The cfg; it is not changed.
        joint_names: Names of the joints.
        joint_ids: Their columns; `slice(None)` for all. For the table and `joint_indices` only.
        num_envs: Number of robots.
        device: Device of arrays.
        stiffness: Value of the robot, a number or `(num_envs, num_joints)`; the default of the cfg's.
        damping: The same.
        armature: The same.
        friction: The same.
        dynamic_friction: The same.
        viscous_friction: The same.
        effort_limit: Deprecated: `actuator_effort_limit`, of an implicit model `joint_effort_limit`.
        velocity_limit: Deprecated: `actuator_velocity_limit`.
        actuator_effort_limit: Value of the robot, as above.
        actuator_velocity_limit: The same.
        joint_effort_limit: The same, of the solver; default: `actuator_effort_limit`.
        joint_velocity_limit: The same; default: `actuator_velocity_limit`.
        rules: The rules, see `resolve.py`; None for those of the cfg.
        seed: Seed of the random delays; the same seed and resets give the same ones.

    Raises:
        ValueError: A value cannot be used, a line each.
    """

    _INSTEAD = "Make another one of its cfg, which can be copied and pickled."

    is_implicit_model: ClassVar[bool] = False
    _DEFAULT_MAX_EFFORT_SIM: ClassVar[float] = EXPLICIT_EFFORT_LIMIT_SIM
    # parameters of the plan: component and attribute
    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = {}

    stiffness = _Parameter()
    """Proportional gain [N·m/rad or N/m]."""
    damping = _Parameter()
    """Derivative gain [N·m·s/rad or N·s/m]."""
    actuator_effort_limit = _Parameter()
    """Largest effort of the motor at the joint [N·m or N]."""
    actuator_velocity_limit = _Parameter()
    """Largest speed of the motor at the joint [rad/s or m/s]."""
    joint_effort_limit = _Parameter()
    """Largest effort of the solver [N·m or N]."""
    joint_velocity_limit = _Parameter()
    """Largest speed of the solver [rad/s or m/s]."""
    effort_limit = _Parameter()
    """Deprecated: `actuator_effort_limit`."""
    velocity_limit = _Parameter()
    """Deprecated: `actuator_velocity_limit`."""
    effort_limit_sim = _Parameter()
    """Deprecated: `joint_effort_limit`."""
    velocity_limit_sim = _Parameter()
    """Deprecated: `joint_velocity_limit`."""
    armature = _Parameter()
    """Inertia of the rotor at the joint [kg·m² or kg]."""
    friction = _Parameter()
    """Static friction [N·m or N]."""
    dynamic_friction = _Parameter()
    """Dynamic friction [N·m or N]."""
    viscous_friction = _Parameter()
    """Viscous friction [N·m·s/rad or N·s/m]."""

    def __init__(
        self,
        cfg: Cfg,
        joint_names: Sequence[str],
        joint_ids: slice | ArrayLike,
        num_envs: int,
        device: wp.DeviceLike,
        stiffness: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        armature: ArrayLike = 0.0,
        friction: ArrayLike = 0.0,
        dynamic_friction: ArrayLike = 0.0,
        viscous_friction: ArrayLike = 0.0,
        effort_limit: ArrayLike | None = None,
        velocity_limit: ArrayLike | None = None,
        *,
        actuator_effort_limit: ArrayLike | None = None,
        actuator_velocity_limit: ArrayLike | None = None,
        joint_effort_limit: ArrayLike | None = None,
        joint_velocity_limit: ArrayLike | None = None,
        rules: Rules | None = None,
        seed: int = 0,
    ) -> None:
        self._joint_names, self._joint_indices = names_of("joint_names", joint_names), joint_ids
        count = len(self._joint_names)
        self._num_envs, self._device = whole_of("num_envs", num_envs, 1), device
        self._shape, self._where = (self._num_envs, count), device_of(device)
        limits = {
            "actuator_effort_limit": actuator_effort_limit,
            "actuator_velocity_limit": actuator_velocity_limit,
            "joint_effort_limit": joint_effort_limit,
            "joint_velocity_limit": joint_velocity_limit,
        }
        of_effort = "joint_effort_limit" if self.is_implicit_model else "actuator_effort_limit"
        self._take_earlier(cfg, limits, "effort_limit", of_effort, effort_limit)
        self._take_earlier(cfg, limits, "velocity_limit", "actuator_velocity_limit", velocity_limit)

        def of_robot(*names: str) -> Tensor:
            return next((limits[name] for name in names if limits[name] is not None), np.inf)

        robot = {
            "velocity_limit_sim": of_robot("joint_velocity_limit", "actuator_velocity_limit"),
            "effort_limit_sim": of_robot("joint_effort_limit", "actuator_effort_limit"),
            "effort_limit": of_robot("actuator_effort_limit", "joint_effort_limit"),
            "stiffness": stiffness,
            "damping": damping,
            "armature": armature,
            "friction": friction,
            "dynamic_friction": dynamic_friction,
            "viscous_friction": viscous_friction,
        }
        ids = range(count) if isinstance(joint_ids, slice) else as_integers(joint_ids, "joint").tolist()
        self._resolved = resolve(cfg, self._joint_names, ids, robot, num_envs, rules=rules)
        if self._resolved.model != type(self)._model():
            raise ValueError(
                f"cfg = {type(cfg).__name__}: must be {type(self)._model()}Cfg, that of this model. Build it by "
                "cfg.class_type."
            )
        self.cfg = copy.copy(cfg)
        """A copy of the cfg, with its limits merged."""
        for name, value in self._resolved.limits.items():
            setattr(self.cfg, name, value)
        actuators = actuators_of(cfg, self._resolved, num_envs, self._where)
        self._arrays = ActuatedArrays(self._joint_names, actuators, num_envs, device=self._where)
        self._arrays.observe_efforts()
        self._like = _example(robot.values())
        self._parameters: dict[str, Tensor] = {}
        self.gear_ratio = self._tensor(np.tile(self._resolved.gear_ratio, (num_envs, 1)))
        """Turns of the motor per turn of the joint, `(num_envs, num_joints)`."""
        self.applied_effort = self._tensor(np.zeros(self._shape, np.float32))
        """Efforts of the last `compute` after the limits [N·m or N]."""
        # efforts before the limits that a subclass assigned in its `compute`
        self._computed_effort: Tensor = None
        # array whose library the last efforts have; None before the first
        self._made: Tensor = None
        # True if a subclass of the user has limits of its own
        owner = next(model for model in type(self).__mro__ if "_clip_effort" in vars(model))
        self._clips = owner.__module__ != __name__
        # and True if these take the speed too, as since 3.0
        try:
            inspect.signature(type(self)._clip_effort).bind(*range(3))
            self._clips_by_speed = True
        except TypeError:
            self._clips_by_speed = False
        # velocities of the last `compute`, for subclasses
        self._joint_vel: Tensor = self._tensor(np.zeros(self._shape, np.float32))
        self._lags, self._counts = np.zeros(self._shape[0], np.int32), np.zeros(self._shape[0], np.int64)
        self._draws: Draws | None = None
        low, high = delay_range(self.cfg, self._resolved)
        if high:
            key = key_of(seed, "delay_steps", *self._joint_names)
            drawn = Draw(self._lags, np.zeros(self._shape[0], np.float32), "set", Uniform(low, high), key, True)
            self._draws = Draws([drawn], self._shape[0])

    @untraced
    def compute(self, control_action: _Action, joint_pos: object, joint_vel: object) -> _Action:
        """Compute efforts from targets.

        Args:
            control_action: `ArticulationActions`, or any object with its attributes; arrays `(num_envs, num_joints)`.
            joint_pos: Positions [rad or m]. Torch's tensors may be of any float and layout; efforts are float32.
            joint_vel: Velocities [rad/s or m/s].

        Returns:
            `control_action`, with the efforts to apply and without targets.

        Raises:
            ValueError: An array has another shape, type, device or layout.
        """
        self._step(control_action, joint_pos, joint_vel)
        control_action.joint_efforts = self.applied_effort
        control_action.joint_positions = None
        control_action.joint_velocities = None
        return control_action

    @untraced
    def reset(self, env_ids: slice | Indices = None) -> None:
        """Reset the states of robots, and draw their delays.

        Args:
            env_ids: Numbers of robots, a slice or a mask; None means all.
        """
        rows = self._rows(env_ids)
        if self._draws is not None:
            self._counts[rows] += 1
            self._draws.draw(rows, self._counts, 0)
            for actuator in self._arrays.actuators:
                if actuator.delay is not None:
                    actuator.delay.delay_steps.assign(self._lags)
        self._arrays.reset(indices=rows)

    def component_parameter(self, component: str, name: str) -> Tensor:
        """Return the live values of a parameter of the actuators, `(num_envs, num_joints)`.

        Args:
            component: "controller", "delay" or "clamping".
            name: Its name there, such as "kp" or "max_effort".

        Raises:
            ValueError: The actuators have no such parameter.
        """
        parts = [getattr(one, component, None) for one in self._arrays.actuators]
        # a model has limits of one kind
        parts = [
            next((one for one in part if hasattr(one, name)), None) if isinstance(part, list | tuple) else part
            for part in parts
        ]
        if any(name not in getattr(part, "PARAMETERS", ()) for part in parts):
            raise ValueError(
                f"{component}.{name}: must be a parameter of the actuators of {type(self).__name__}: "
                "of controller, delay or clamping. Correct the name."
            )
        return self._tensor(_table_of([getattr(part, name) for part in parts]))

    def solver_properties(self) -> dict[str, Tensor]:
        """Return properties of the joints for the solver by name, `(num_envs, num_joints)`."""
        return {EARLIER.get(name, name): self._tensor(self._resolved.values[name]) for name in PROPERTIES}

    def observe_efforts(self, on: bool = True) -> None:
        """Keep `computed_effort` from the next step on, the default, or do not, which saves most of the time.

        Raises:
            ValueError: `on` is False and a subclass has a `_clip_effort`, which needs them.
        """
        if not on and self._clips:
            raise ValueError(
                f"on = {on}: must be True for {type(self).__name__}, whose _clip_effort takes computed efforts. "
                "Leave it on."
            )
        self._arrays.observe_efforts(on)

    # content

    @property
    def computed_effort(self) -> Tensor:
        """Efforts of the last `compute` before the limits [N·m or N], `(num_envs, num_joints)`.

        A subclass may assign those of its own `compute`.

        Raises:
            RuntimeError: `observe_efforts` is off.
        """
        if self._computed_effort is not None:
            return self._computed_effort
        if self._made is None:
            return self._tensor(np.zeros(self._shape, np.float32))
        computed: Tensor = np.ascontiguousarray(self._arrays.computed_efforts, np.float32)
        if not self._where.is_cpu:
            computed = wp.array(computed, dtype=wp.float32, device=self._where)
        return given_back(computed, self._made)

    @computed_effort.setter
    def computed_effort(self, efforts: object) -> None:
        self._computed_effort = efforts

    @property
    def time_lags(self) -> np.ndarray:
        """Delay of each robot [physics steps]; 0 until it is reset, and for models without delay."""
        return self._lags.copy()

    @property
    def num_joints(self) -> int:
        """Number of joints in the group."""
        return self._shape[1]

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints."""
        return self._joint_names

    @property
    def joint_indices(self) -> Tensor:
        """Columns of the joints, as given."""
        return self._joint_indices

    @property
    def joint_property_resolution_table(self) -> dict[str, list[list[str | float]]]:
        """By property, lists of joint, column, value of the robot, of the cfg or `Not Specified`, and applied value."""
        found: dict[str, list[list[str | float]]] = {}
        for row in self._resolved.rows:
            given = "Not Specified" if row.cfg_value is None else row.cfg_value
            found.setdefault(row.property, []).append([row.name, row.id, row.usd_value, given, row.applied])
        return found

    def __str__(self) -> str:
        kind = "implicit" if self.is_implicit_model else "explicit"
        return f"<{type(self).__name__}: {kind}, {self.num_joints} joints {self.joint_names} x {self._shape[0]} robots>"

    # inside

    def _take_earlier(self, cfg: object, limits: dict[str, Tensor], name: str, later: str, value: Tensor) -> None:
        """Set the value of the robot for a limit to that with its name of 2.3, if that is given."""
        if value is None:
            return
        _warn_of_earlier(cfg, f"{type(self).__name__}({name})", later)
        if limits[later] is not None and (as_numpy(limits[later]) != as_numpy(value)).any():
            raise ValueError(f"{type(self).__name__}: conflicting {later} and {name}: must be equal. Give {later}.")
        limits[later] = value

    @classmethod
    def _model(cls) -> str:
        return next(one.__name__ for one in cls.__mro__ if one.__module__ == __name__)

    def _clip_effort(self, effort: object, joint_vel: object = None) -> Tensor:
        """Return efforts within the limits of the model at speeds, by default `_joint_vel`; may be overridden."""
        return self._limited(effort, self._joint_vel if joint_vel is None else joint_vel)

    def _applied(self) -> Tensor:
        """Return the efforts of the last step within the limits of a subclass."""
        efforts = self._clip_effort(self.computed_effort, *[self._joint_vel][: self._clips_by_speed])
        shape = getattr(efforts, "shape", None)
        if shape is None or tuple(shape) != self._shape:
            found = f"{efforts!r:.80}" if shape is None else f"shape {tuple(shape)}"
            raise ValueError(
                f"{type(self).__name__}._clip_effort returns {found}: must be efforts (robots, joints) = "
                f"{self._shape}. Return them."
            )
        return efforts

    # cfgs of Isaac Lab have a control law, one limit and a delay, and no other stages
    def _limited(self, efforts: object, speeds_now: object) -> Tensor:
        """Return efforts within the limits of the plan, at the last positions and some speeds."""
        limited = self._empty()
        arrays = efforts, limited, self._empty() if self._made is None else self._made, speeds_now
        there: list[Tensor] = [warp_view(taken(one, "efforts")) for one in arrays]
        robots = wp.array(np.arange(self._num_envs, dtype=np.uint32), device=self._where)
        for at, actuator in enumerate(self._arrays.actuators):
            source, target, positions, speeds = (one[:, at] for one in there)
            actuator.clamping[0].modify_forces(source, target, positions, speeds, robots, robots, self._where)
        return given_back(limited, efforts)

    def _empty(self) -> Array:
        return apart(self._shape) if self._where.is_cpu else wp.zeros(self._shape, dtype=wp.float32, device=self._where)

    def _copied(self, array: object) -> object:
        if is_immutable(array):
            return array
        copied = given_back(self._empty(), array)
        _write(copied, array)
        return copied

    def _step(self, action: Action, joint_pos: Tensor, joint_vel: Tensor) -> None:
        joint_pos, joint_vel = _as_computed(joint_pos), _as_computed(joint_vel)
        # a new array in each step, as users keep them
        out = None if is_immutable(joint_pos) else given_back(self._empty(), joint_pos)
        self.applied_effort = self._arrays.step(
            joint_pos,
            joint_vel,
            _as_computed(action.joint_positions),
            _ANY_DT,
            qd_target=_as_computed(action.joint_velocities),
            feedforward=_as_computed(action.joint_efforts),
            out=out,
        )
        self._made, self._computed_effort = joint_pos, None
        if type(self).__module__ != __name__:
            # subclasses may write into it, as those of Isaac Lab do
            self._joint_vel = self._copied(joint_vel)
        if self._clips:
            self.applied_effort = self._applied()

    def _rows(self, env_ids: Tensor) -> np.ndarray:
        if env_ids is None or isinstance(env_ids, slice):
            return np.arange(self._shape[0])[env_ids or slice(None)]
        return resolve_indices(env_ids.tolist() if hasattr(env_ids, "tolist") else env_ids, self._shape[0], "env_ids")

    def _parameter(self, name: str) -> Tensor:
        if name not in self._parameters:
            if name in self._PLANNED:
                self._parameters[name] = self.component_parameter(*self._PLANNED[name])
            else:
                self._parameters[name] = self._tensor(self._resolved.values[name])
        return self._parameters[name]

    def _tensor(self, array: object) -> Tensor:
        """Return an array as one of the library of the attributes, on the device."""
        if isinstance(array, np.ndarray) and not self._where.is_cpu:
            array = wp.array(array, dtype=wp.float32, device=self._where)
        if isinstance(array, wp.array) and self._where.is_cpu:
            array = array.numpy()
        return array if self._like is None else given_back(array, self._like)


def _as_computed(array: Tensor) -> Tensor:
    """Return a tensor of Torch of another float or layout as the laws take it; anything else unchanged."""
    if not hasattr(array, "is_floating_point") or not array.is_floating_point():
        return array
    single = array.float()
    return single if single.ndim != 2 or single.shape[1] < 2 or single.stride(1) == 1 else single.contiguous()


class IdealPDActuator(ActuatorBase):
    """PD control with an effort limit."""

    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = _GAINS | {"effort_limit": ("clamping", "max_effort")}


class ImplicitActuator(IdealPDActuator):
    """Joints that the solver's drive moves: `compute` models the drive, and returns the action unchanged."""

    is_implicit_model: ClassVar[bool] = True
    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = _GAINS | {"effort_limit_sim": ("clamping", "max_effort")}

    def _parameter(self, name: str) -> Tensor:
        values, of_solver = self._resolved.values, f"{name}_sim"
        # limits that are the solver's follow them
        return super()._parameter(of_solver if of_solver in values and values[of_solver] is values[name] else name)

    @untraced
    def compute(self, control_action: _Action, joint_pos: object, joint_vel: object) -> _Action:
        """Return `control_action` unchanged; see `ActuatorBase.compute`."""
        self._step(control_action, joint_pos, joint_vel)
        return control_action


class DCMotor(IdealPDActuator):
    """PD control of a DC motor."""

    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = _GAINS | _DC_MOTOR

    # effort at rest, before the largest effort
    _saturation_effort = _Parameter()

    @property
    def _vel_at_effort_lim(self) -> Tensor:
        """Speed at which the motor brakes with its largest effort."""
        return self.actuator_velocity_limit * (1.0 + self.actuator_effort_limit / self._saturation_effort)


class DelayedPDActuator(IdealPDActuator):
    """PD control of delayed commands."""


class RemotizedPDActuator(DelayedPDActuator):
    """PD control with delay and an effort limit by position."""

    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = _GAINS

    def _clip_effort(self, effort: object, joint_vel: object = None) -> Tensor:
        """Return efforts unchanged, as the table is applied after the limits; may be overridden."""
        return effort

    def _applied(self) -> Tensor:
        return self._limited(super()._applied(), self._joint_vel)


class _NetworkState:
    """Hidden or cell states of all robots and joints, which act at the next step when they are written to."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._kind, self._per_env = name.split("_")[1], name.endswith("_per_env")

    def __get__(self, model: ActuatorNetLSTM | None, owner: type) -> Tensor:
        if model is None:
            return self
        if model._states is None:
            model._states = model._read_states()
        states = model._states[self._kind]
        return states if self._per_env else states.reshape(len(states), -1, states.shape[-1])

    def __set__(self, model: ActuatorNetLSTM, values: ArrayLike) -> None:
        _write(self.__get__(model, type(model)), values)


class ActuatorNetLSTM(DCMotor):
    """A recurrent network with the limits of a DC motor.

    States of the network are kept as arrays from the first time that one is read on, which takes time in each step.
    """

    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = _DC_MOTOR
    # those that the user reads, by kind; None before
    _states: dict[str, Tensor] | None = None
    _inputs: tuple[Tensor, ...] = ()

    sea_hidden_state = _NetworkState()
    """Hidden states, `(layers, num_envs · num_joints, hidden size)`."""
    sea_cell_state = _NetworkState()
    """Cell states, the same."""
    sea_hidden_state_per_env = _NetworkState()
    """Hidden states, `(layers, num_envs, num_joints, hidden size)`, over the same memory."""
    sea_cell_state_per_env = _NetworkState()
    """Cell states, the same."""

    @property
    def sea_input(self) -> Tensor:
        """Position errors [rad or m] and velocities of the last `compute`, `(num_envs · num_joints, 1, 2)`, a copy."""
        q, qd, target = (as_numpy(one) for one in self._inputs or np.zeros((3, *self._shape), np.float32))
        return self._tensor(np.stack([target - q, qd], -1).reshape(-1, 1, 2))

    @untraced
    def reset(self, env_ids: slice | Indices = None) -> None:
        """Zero the states of robots; see `ActuatorBase.reset`."""
        self._with_states(lambda: super(ActuatorNetLSTM, self).reset(env_ids))

    def _step(self, action: Action, joint_pos: object, joint_vel: object) -> None:
        self._inputs = tuple(self._copied(one) for one in (joint_pos, joint_vel, action.joint_positions))
        self._with_states(lambda: super(ActuatorNetLSTM, self)._step(action, joint_pos, joint_vel))

    def _with_states(self, run: Callable[[], None]) -> None:
        """Run something from the states that the user reads, and put those after it there."""
        if self._states is None:
            return run()
        saved = self._arrays.save_state()
        for kind, states in self._states.items():
            by_joint = as_numpy(states)
            saved |= {f"{name}.controller.{kind}": by_joint[:, :, at] for at, name in enumerate(self._joint_names)}
        self._arrays.restore_state(saved)
        run()
        for kind, states in self._read_states().items():
            _write(self._states[kind], states)

    def _read_states(self) -> dict[str, Tensor]:
        saved = self._arrays.save_state()
        return {
            kind: self._tensor(np.stack([saved[f"{name}.controller.{kind}"] for name in self._joint_names], 2))
            for kind in ("hidden", "cell")
        }


class ActuatorNetMLP(DCMotor):
    """A feedforward network over a history, with the limits of a DC motor."""

    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = _DC_MOTOR


class ActuatorNetGRU(IdealPDActuator):
    """A recurrent network of gated units, with a largest effort."""

    _PLANNED: ClassVar[dict[str, tuple[str, str]]] = {"effort_limit": ("clamping", "max_effort")}


def _write(array: Tensor, values: object) -> None:
    if isinstance(array, wp.array):
        array.assign(values)
    else:
        array[...] = values


def _example(given: Iterable[object]) -> object:
    """Return an array of the library of the attributes; None for NumPy, or Warp on a GPU."""
    for one in given:
        if hasattr(one, "__dlpack__") and not isinstance(one, np.ndarray | np.generic | wp.array):
            return one
    torch = sys.modules.get("torch")
    return None if torch is None else torch.empty(0)


def _table_of(columns: Sequence[Tensor]) -> wp.array:
    """Return the table of columns that are adjacent in memory; writes to it are writes to them."""
    first, last = columns[0], columns[-1]
    pitch = (last.ptr - first.ptr) // max(len(columns) - 1, 1) if len(columns) > 1 else 4
    where = [first.ptr + pitch * at for at in range(len(columns))]
    if [one.ptr for one in columns] != where:
        raise RuntimeError("the columns of a parameter do not lie side by side. Write to each joint's own.")
    shape = len(first), len(columns)
    table: Tensor = wp.array(
        ptr=first.ptr, dtype=first.dtype, shape=shape, strides=(first.strides[0], pitch), device=first.device
    )
    # they own the memory
    table._columns = list(columns)
    return table
