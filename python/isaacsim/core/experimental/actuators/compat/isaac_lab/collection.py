"""The collection of Isaac Lab 3.0: the groups of a robot, run over arrays of all of its joints.

The control, an `ActuatorControl` of Isaac Lab or any object with what `Control` lists, finds joints, tells their state,
and takes what the solver gets. Arrays of the collection are `Shared`, with the members of Isaac Lab's `ProxyArray`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partialmethod
from typing import Protocol

import numpy as np
import warp as wp

from ...base.memory import Tensor
from ...base.quiet_warp import device_of
from ...base.values import ArrayLike, Indices, resolve_indices
from . import models
from .groups import joints_of_groups
from .kinds import model_of
from .models import ActuatorBase, ArticulationActions
from .resolve import Rules


class Control(Protocol):
    """Members of Isaac Lab's `ActuatorControl` that a collection calls."""

    num_instances: int
    num_joints: int
    device: str

    @property
    def joint_pos(self) -> Tensor:
        """Positions of all joints, an array or with a tensor `torch`."""

    @property
    def joint_vel(self) -> Tensor:
        """Velocities, the same."""

    def find_joints(self, name_keys: object) -> tuple[Tensor, list[str]]:
        """Return columns and names of joints by patterns."""
        ...

    def get_default_joint_properties(self, joint_ids: object) -> Mapping[str, ArrayLike]:
        """Return the values of the robot by name, `(num_instances, joints)`."""
        ...

    def write_resolved_joint_properties(
        self, properties: dict[str, object], joint_ids: object, *, implicit: bool, native_managed: bool
    ) -> None:
        """Give values to the solver; drives of joints that are not `implicit` are off."""

    def submit_commands(self, collection: object) -> None:
        """Give the `output_command` to the solver."""


class Shared:
    """An array `(num_instances, num_joints)`, as one of Warp, NumPy or Torch over the same memory."""

    def __init__(self, shape: tuple[int, int], device: wp.DeviceLike) -> None:
        self.warp = wp.zeros(shape, dtype=wp.float32, device=device)
        """The array of Warp."""

    @property
    def torch(self) -> Tensor:
        """The tensor of Torch."""
        return wp.to_torch(self.warp)

    @property
    def values(self) -> Tensor:
        """The tensor of Torch if the program has imported it or the device is no CPU, or else the array of NumPy."""
        return self.torch if "torch" in sys.modules or not device_of(self.warp.device).is_cpu else self.warp.numpy()


class Command:
    """Positions [rad or m], velocities [rad/s or m/s] and efforts [N·m or N] of all joints."""

    def __init__(self, shape: tuple[int, int], device: wp.DeviceLike) -> None:
        self.position, self.velocity, self.effort = (Shared(shape, device) for _ in range(3))

    def _set_index(
        self,
        name: str,
        *,
        value: ArrayLike,
        joint_ids: Indices = None,
        env_ids: Indices = None,
        full_data: bool = False,
    ) -> None:
        """Write values of some robots and joints, `(robots, joints)`, or of all with `full_data`."""
        array = getattr(self, name).values
        rows = resolve_indices(env_ids, array.shape[0], "env_ids")[:, None]
        columns = resolve_indices(joint_ids, array.shape[1], "joint_ids")
        wanted = tuple(array.shape) if full_data else (len(rows), len(columns))
        values: Tensor = value.numpy() if isinstance(value, wp.array) else value
        if tuple(values.shape) != wanted:
            raise ValueError(f"value has shape {tuple(values.shape)}: must have {wanted}. Give a row for each robot.")
        array[rows, columns] = values[rows, columns] if full_data else values

    def _set_mask(
        self, name: str, *, value: ArrayLike, joint_mask: ArrayLike | None = None, env_mask: ArrayLike | None = None
    ) -> None:
        self._set_index(name, value=value, joint_ids=joint_mask, env_ids=env_mask, full_data=True)

    set_position_index = partialmethod(_set_index, "position")
    set_velocity_index = partialmethod(_set_index, "velocity")
    set_effort_index = partialmethod(_set_index, "effort")
    set_position_mask = partialmethod(_set_mask, "position")
    set_velocity_mask = partialmethod(_set_mask, "velocity")
    set_effort_mask = partialmethod(_set_mask, "effort")


class ActuatorCollection(Mapping[str, ActuatorBase]):
    """The groups of a robot by name, each a model, which run on the targets of all joints.

    Args:
        actuator_cfgs: Cfgs by name of the group; they are not changed.
        control: State of the joints and the solver, see `Control`.
        rules: The rules, see `resolve.py`.
        seed: Seed of the random delays.

    Raises:
        ValueError: A joint is in two groups, a group has none, or a value cannot be used; lists every problem.
    """

    def __init__(
        self, actuator_cfgs: Mapping[str, object], control: Control, *, rules: Rules = "3.0", seed: int = 0
    ) -> None:
        self._control, self._rules, self._seed = control, rules, seed
        shape = control.num_instances, control.num_joints
        self.target_command = Command(shape, control.device)
        """What the models get."""
        self.output_command = Command(shape, control.device)
        """What the solver gets: efforts of explicit groups, and the targets of implicit ones."""
        self.computed_effort = Shared(shape, control.device)
        """Efforts before the limits [N·m or N]."""
        self.applied_effort = Shared(shape, control.device)
        """Efforts after the limits [N·m or N]."""
        self._models: dict[str, ActuatorBase] = {}
        names = control.find_joints([".*"])[1]
        problems: list[str] = []
        for group, (cfg, columns) in joints_of_groups(actuator_cfgs, names, problems).items():
            try:
                self._models[group] = self._made(cfg, [names[at] for at in columns], columns)
            except (ValueError, OSError) as error:
                problems += [f"groups[{group!r}]: {line}" for line in str(error).splitlines()]
        if problems:
            raise ValueError("\n".join(problems))
        for model in self._models.values():
            control.write_resolved_joint_properties(
                model.solver_properties(),
                model.joint_indices,
                implicit=model.is_implicit_model,
                native_managed=False,
            )

    def __getitem__(self, name: str) -> ActuatorBase:
        return self._models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def compute(self, dt: float = 0.0) -> None:
        """Compute outputs from targets and the state of the joints; no model depends on `dt`."""
        names = "position", "velocity", "effort"
        targets, outputs = (
            [getattr(one, name).values for name in names] for one in (self.target_command, self.output_command)
        )
        computed, applied = self.computed_effort.values, self.applied_effort.values
        state = [getattr(one, "torch", one) for one in (self._control.joint_pos, self._control.joint_vel)]
        for model in self._models.values():
            at = model.joint_indices
            action = model.compute(
                ArticulationActions(*[one[:, at] for one in targets], joint_indices=at), *[one[:, at] for one in state]
            )
            made = action.joint_positions, action.joint_velocities, action.joint_efforts
            for whole, part in zip(
                (*outputs, computed, applied), (*made, model.computed_effort, model.applied_effort), strict=True
            ):
                if part is not None:
                    whole[:, at] = part

    def submit_commands(self) -> None:
        """Hand the outputs to the control."""
        self._control.submit_commands(self)

    def reset(self, env_ids: slice | Indices = None) -> None:
        """Reset the states of robots in all groups; None means all."""
        for model in self._models.values():
            model.reset(env_ids)

    def _made(self, cfg: object, names: Sequence[str], columns: Sequence[int]) -> ActuatorBase:
        kind = getattr(models, model_of(cfg), None)
        if kind is None:
            raise ValueError(f"{type(cfg).__name__} has no model that runs alone. Give its group to from_groups.")
        ids: Tensor = slice(None) if len(columns) == self._control.num_joints else np.array(columns)
        if "torch" in sys.modules and not isinstance(ids, slice):
            ids = sys.modules["torch"].as_tensor(ids, device=self._control.device)
        robot = self._control.get_default_joint_properties(ids)
        control = self._control
        return kind(cfg, names, ids, control.num_instances, control.device, **robot, rules=self._rules, seed=self._seed)


def read_group_parameter(collection: ActuatorCollection, name: str, component: str, attr: str) -> Tensor:
    """Return the current values of a parameter of a group.

    Args:
        collection: The groups.
        name: Name of the group.
        component: "controller", "delay" or "clamping".
        attr: Name of the parameter there, such as "kp" or "max_effort".

    Returns:
        A copy, `(robots, joints of the group)`.

    Raises:
        KeyError: There is no such group.
        ValueError: Its actuators have no such parameter.
    """
    live = collection[name].component_parameter(component, attr)
    return wp.clone(live) if isinstance(live, wp.array) else live + 0


def write_group_parameter(
    collection: ActuatorCollection,
    name: str,
    component: str,
    attr: str,
    values: ArrayLike,
    env_ids: slice | Indices = None,
    joint_ids: Indices = None,
) -> None:
    """Write values of a parameter of a group, which act at the next step.

    Args:
        collection: The groups.
        name: Name of the group.
        component: As for `read_group_parameter`.
        attr: The same.
        values: `(robots, joints)` of the given ones.
        env_ids: Numbers of robots, a slice or a mask; None means all.
        joint_ids: Numbers of joints in the group; None means all.

    Raises:
        KeyError: There is no such group.
        ValueError: Its actuators have no such parameter, or a value cannot be used.
    """
    live: Tensor = collection[name].component_parameter(component, attr)
    live = wp.to_torch(live) if isinstance(live, wp.array) else live
    rows = slice(None) if env_ids is None else env_ids
    rows = np.arange(len(live))[rows] if isinstance(rows, slice) else resolve_indices(rows, len(live), "env_ids")
    columns = resolve_indices(joint_ids, live.shape[1], "joint_ids")
    live[rows[:, None], columns] = values.numpy() if isinstance(values, wp.array) else values
