"""Contract of a simulator with actuators: the current stage, articulations by path, and physics events.

`Host`, `PhysicsBus` and `ArticulationPort` are required in full. Each member of `PhysicsBusExtras` and
`ArticulationExtras` is optional on its own; its docstring says what holds without it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..base.errors import HostError, listed
from ..base.values import grouped

if TYPE_CHECKING:
    from ..base.memory import Array, Tensor
    from ..base.values import ArrayLike, Indices
    from ..files.usd.handles import Stage


@dataclass(frozen=True)
class Buffers:
    """The arrays of an articulation that a plan reads and writes in place, float32, shape `(num_robots, num_dofs)`.

    NumPy arrays in CPU memory or Warp arrays; rows may have any pitch.

    Args:
        positions: [rad or m].
        velocities: [rad/s or m/s].
        position_targets: [rad or m].
        velocity_targets: [rad/s or m/s].
        efforts: Efforts of the coming physics step [N·m or N].
        refresh: Call before reading.
        commit: Call after writing efforts, or targets.
        root_poses: Position [m] and quaternion (w, x, y, z) of the root links, `(num_robots, 7)`, to be read; this and
            what follows is None where the simulator does not keep it in arrays.
        root_velocities: Linear velocity [m/s] of their centers of mass and angular one [rad/s], `(num_robots, 6)`.
        projected_gravity: Direction of gravity in their frames, `(num_robots, 3)`.
    """

    positions: Tensor
    velocities: Tensor
    position_targets: Tensor
    velocity_targets: Tensor
    efforts: Tensor
    refresh: Callable[[], None]
    commit: Callable[[], None]
    root_poses: Tensor = None
    root_velocities: Tensor = None
    projected_gravity: Tensor = None


@dataclass(frozen=True)
class JointViews:
    """Arrays of signals that laws ask for, float32, shape `(num_robots, num_dofs)`, to be read; valid until a stop."""

    arrays: Mapping[str, Array]
    refresh: Callable[[], None]


def nothing() -> None:
    """The `refresh` and `commit` of arrays that are the simulator's own; does nothing."""


class Subscription(Protocol):
    """A registered callback."""

    def close(self) -> None:
        """Take the callback out; calling it again does nothing."""


class PhysicsBus(Protocol):
    """Physics events. Callbacks run by ascending `order`, then in the order of registration.

    The simulator calls them; they may register and close callbacks. They do not keep actuators alive. A bus needs a
    hash and takes weak references, as objects of ordinary classes do.
    """

    @property
    def ready(self) -> bool:
        """True if physics runs, so that articulations can be read and written."""
        ...

    def on_ready(self, callback: Callable[[], None], *, order: int = 0) -> Subscription:
        """Call `callback()` whenever physics becomes ready."""
        ...

    def on_pre_step(self, callback: Callable[[float, object], None], *, order: int = 0) -> Subscription:
        """Call `callback(dt, context)` before every physics step; efforts written there act in that step."""
        ...

    def on_stop(self, callback: Callable[[], None], *, order: int = 0) -> Subscription:
        """Call `callback()` when physics has stopped; articulations can no longer be written."""
        ...


class PhysicsBusExtras(Protocol):
    """Optional members of a bus."""

    @property
    def physics(self) -> object:
        """Key of the physics behind the bus, equal for buses that share it. Without it, the bus itself."""
        ...

    def on_reset(self, callback: Callable[[Sequence[int] | None], None], *, order: int = 0) -> Subscription:
        """Call `callback(env_ids)` when environments were put back; without it, call `ArticulationActuators.reset`."""
        ...


class ArticulationPort(Protocol):
    """The robots matched by one or more paths: one row per robot, all with the same joints.

    Names and meaning are those of Isaac Sim. Getters return NumPy or Warp arrays of shape `(robots, DOFs)`, new ones or
    the same each time. Setters take scalars, NumPy or Warp arrays that broadcast to the shape of the indices given;
    indices are lists or arrays of integers, None means all, and those of robots and joints form a grid.
    """

    @property
    def paths(self) -> list[str]:
        """Articulation root of each row."""
        ...

    @property
    def num_dofs(self) -> int:
        """Number of joint axes per row, those of a floating base not counted."""
        ...

    @property
    def dof_names(self) -> list[str]:
        """Names of the joint axes."""
        ...

    @property
    def dof_paths(self) -> list[list[str]]:
        """Joint path of each axis of each row."""
        ...

    def get_dof_positions(self) -> Array:
        """Positions [rad or m]."""
        ...

    def get_dof_velocities(self) -> Array:
        """Velocities [rad/s or m/s]."""
        ...

    def get_dof_position_targets(self) -> Array:
        """Position targets [rad or m]."""
        ...

    def get_dof_velocity_targets(self) -> Array:
        """Velocity targets [rad/s or m/s]."""
        ...

    def set_dof_efforts(self, efforts: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Set the efforts [N·m or N] of the coming physics step: a scalar, NumPy on the CPU, Warp on a GPU."""

    def get_dof_gains(self) -> tuple[Array, Array]:
        """Stiffnesses [N·m/rad or N/m] and dampings [N·m·s/rad or N·s/m] of the joint drives."""
        ...

    def set_dof_gains(
        self,
        stiffnesses: ArrayLike | None = None,
        dampings: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
        update_default_gains: bool = True,
    ) -> None:
        """Set the gains of the joint drives."""


class ArticulationExtras(Protocol):
    """Optional members of an articulation."""

    @property
    def device(self) -> str:
        """Device of the actuators, as Warp names it. Without it, `_device`; without that, the CPU."""
        ...

    @property
    def prototype_path(self) -> str:
        """Path on the stage of the robot that all rows are like; actuator prims are read there. Else `paths[0]`."""
        ...

    @property
    def prototype_dof_paths(self) -> list[str]:
        """Paths on the stage of the prototype's joints. Else `dof_paths[0]`."""
        ...

    @property
    def in_stage_units(self) -> bool:
        """True if arrays are in the stage's units of length and mass, as in Kit, not in SI; prims are converted."""
        ...

    @property
    def valid(self) -> bool:
        """True if the robots still exist. Without it they do."""
        ...

    def envs_to_rows(self, env_ids: Sequence[int]) -> list[int]:
        """Rows that belong to the given environments. Without it, row `i` is environment `i`."""
        ...

    def silence_drives(self, silent: bool, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Keep drives that are more than two gains from acting, or let them. Else gains are set to zero, and back."""

    def following_dofs(self, driven: Collection[str]) -> set[str]:
        """Names of DOFs that couplings and tendons move if `driven` have motors, so that they need none."""
        ...

    def dof_admittances(self, indices: Indices) -> Array | None:
        """Acceleration per effort of DOFs, with couplings, `(robots, DOFs, DOFs)`; or None: mass matrices count."""
        ...

    def harden_friction(self, hard: bool, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Keep dry frictions that actuators leave to the simulator as hard as it allows, or end that."""

    @property
    def takes_step_armatures(self) -> bool:
        """True if `set_step_armatures` can be called; it cannot on an articulation without this property."""
        ...

    def set_step_armatures(self, armatures: ArrayLike, *, dof_indices: Indices = None) -> None:
        """Add to armatures in the physics steps to come, not in what is read; see `ImplicitConfig.in_engine`."""

    def set_step_tendon_armatures(self, armatures: ArrayLike, shafts: Array) -> None:
        """The same of shafts that are tendons: angles per position of each DOF, `(shafts, DOFs)`.

        Without it, motors with a linkage have no effort mode in the simulator.
        """

    def get_mass_matrices(self, *, indices: Indices = None) -> Array:
        """Mass matrices with the armatures in them, shape `(robots, C, C)`; the DOFs are the last coordinates.

        With it, and a property `dt` of the host, the physics step [s], actuators warn of robots that will vibrate.
        """
        ...

    def get_velocity_weights(self, *, indices: Indices = None) -> Array:
        """Weights w of the velocities after a step in the step of positions, shape `(robots,)`. Without it, 1.

        `q⁺ = q + dt·((1 − w)·v + w·v⁺)`; it counts where actuators warn of robots that will vibrate.
        """
        ...

    def buffers(self) -> Buffers:
        """The arrays themselves, valid until physics stops. Without it, they are copied through getters and setters."""
        ...

    def joint_signals(self, names: Sequence[str]) -> JointViews:
        """Signals that laws ask for, by name, from now on; those left out have their neutral values."""
        ...


class Host(Protocol):
    """One simulator."""

    @property
    def stage(self) -> Stage | None:
        """The current USD stage, or None when the simulator has none."""
        ...

    @property
    def bus(self) -> PhysicsBus:
        """The simulator's physics events."""
        ...

    def articulation(self, paths: str | Sequence[str]) -> ArticulationPort:
        """The robots at `paths`; each path segment may be a regular expression."""
        ...


def require_host(host: Host) -> None:
    """Raise for a simulator that does not keep `Host`, or whose bus does not keep `PhysicsBus`."""
    require_members(host, Host)
    bus = host.bus
    require_members(bus, PhysicsBus)
    try:
        hash(bus)
        weakref.ref(bus)
    except TypeError as error:
        raise HostError(
            f"{error}: the bus of a simulator given to use_host must have a hash and take weak references. Make "
            f"{type(bus).__name__} an ordinary class: no __eq__ without __hash__, no __slots__ without __weakref__."
        ) from error
    if host.bus is not bus:
        raise HostError(f"{type(host).__name__}.bus: must be the same object each time. Make it once and keep it.")


def require_members(offered: object, protocol: type) -> None:
    """Raise for an object of a user's simulator that lacks members of `protocol`."""
    members = [name for name in vars(protocol) if not name.startswith("_")]
    if missing := [name for name in members if not hasattr(offered, name)]:
        raise HostError(
            f"{type(offered).__name__} has no {', '.join(missing)}: a simulator given to use_host must offer "
            f"{', '.join(members)} there, see {protocol.__name__}. Add what is missing."
        )


# Isaac Sim has a third one, for neither
_TURNS = {"Rotation": True, "Translation": False}


def turning(articulation: object) -> list[bool | None] | None:
    """For each joint True if it turns, False if it slides, None if unknown; None if no articulation knows kinds."""
    kinds = getattr(articulation, "dof_types", None)
    return None if kinds is None else [_TURNS.get(kind.name) for kind in kinds]


def require_same_joints(paths: Sequence[str], names: Sequence[Sequence[str]]) -> None:
    """Raise for robots with different axes, which cannot be rows of one array; the `ValueError` groups them."""
    alike = grouped(zip(map(tuple, names), paths, strict=True))
    if len(alike) < 2:
        return
    (first, rows), (other, others), *_ = alike.items()
    apart = "; ".join(listed([f"'{path}'" for path in group]) for group in alike.values())
    raise ValueError(
        f"<{others[0]}> has joints {list(other)}, <{rows[0]}> has {list(first)}: robots of one articulation must have "
        f"the same. Select them apart: {apart}."
    )
