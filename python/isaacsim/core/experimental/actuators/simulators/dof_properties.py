"""Per-DOF properties of robots on embedded physics: in physics while it runs, on the stage while it is stopped."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp

from ..base.errors import HostError, shown
from ..base.values import ArrayLike, Indices, broadcast, resolve_indices
from ..files.usd.axes import is_angular
from ..specs.arguments import flag_of
from .articulation import ArrayArticulation, PhysicsBackend, Robot

# what is nowhere but in the host's arrays, and what is there while physics runs
_STATE = ("positions", "velocities", "efforts")
_IN_ARRAYS = ("stiffnesses", "dampings", "position_targets", "velocity_targets")
# where ±inf is no limit
_UNBOUNDED = ("lower_limits", "upper_limits", "max_efforts", "max_velocities", "max_actuator_velocities")
# where less than 0 makes no sense
_MAGNITUDES = (
    *("armatures", "static_frictions", "dynamic_frictions", "viscous_frictions", "max_efforts", "max_velocities"),
    *("speed_effort_gradients", "max_actuator_velocities", "velocity_dependent_resistances"),
)
_FRICTION = ("static_frictions", "dynamic_frictions", "viscous_frictions")
_DRIVE_MODEL = ("speed_effort_gradients", "max_actuator_velocities", "velocity_dependent_resistances")
_MODES = ("position", "velocity", "effort")


class DofType(enum.Enum):
    """Kind of motion of a DOF, with the names of `omni.physics.tensors.DofType`."""

    Rotation = "rotation"
    Translation = "translation"


class DofProperties(ArrayArticulation):
    """Gains, targets, limits, armature and friction.

    While physics runs, setters act on it, from the next physics step on, and a stop undoes them. While it is stopped,
    they author the joints' USD attributes at the stage's edit target, which the next play reads; copies of a robot
    share those, so that values which differ between copies are refused then. Either way, a call sets all or nothing.
    """

    READS_MJC = False
    """True if the simulator takes MuJoCo's own attributes and actuators from a stage."""

    _backend: PhysicsBackend

    @property
    def dof_types(self) -> list[DofType]:
        """Kind of motion of each joint axis."""
        return [DofType.Rotation if is_angular(axis) else DofType.Translation for axis in self._current()[0].axes]

    def get_dof_drive_types(self, *, indices: Indices = None, dof_indices: Indices = None) -> list[list[str]]:
        """Types of the joint drives, `force` or `acceleration`, `(robots, DOFs)`, as the stage authors them.

        Files have forces only, and MuJoCo takes accelerations for forces, with a warning.
        """
        robots = self._current()
        rows = resolve_indices(indices, len(robots), "robot")
        columns = resolve_indices(dof_indices, self.num_dofs, "DOF")
        return [[self._drive_type(robots[row], column) for column in columns] for row in rows]

    def _drive_type(self, robot: Robot, column: int) -> str:
        if self._backend.stage is None:
            return "force"
        from ..files.usd.authored import authored

        prim = self._backend.stage.GetPrimAtPath(robot.prototype[1][column])
        return str(authored(prim, f"drive:{robot.axes[column]}:physics:type", "force"))

    # drives

    def set_dof_gains(
        self,
        stiffnesses: ArrayLike | None = None,
        dampings: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
        update_default_gains: bool = True,
    ) -> None:
        """Set stiffnesses, dampings or both of the joint drives.

        Args:
            stiffnesses: [N·m/rad or N/m].
            dampings: [N·m·s/rad or N·s/m].
            update_default_gains: Make these the gains that `switch_dof_control_mode` restores.
        """
        given = {"stiffnesses": stiffnesses, "dampings": dampings}
        updates = flag_of("update_default_gains", update_default_gains)
        # those of the stage are noted before they change
        defaults = self._defaults() if updates or self._is_stopped() else {}
        self._set_all(given, indices, dof_indices)
        if updates:
            at = self._index(indices, dof_indices)
            for name, values in given.items():
                if values is not None:
                    defaults[name][at] = broadcast(values, at.shape, name)

    def switch_dof_control_mode(self, mode: str, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Set the gains of the joint drives for a kind of control, from the default gains.

        These are what the stage authors, until `set_dof_gains` sets others.

        Args:
            mode: "position" sets both gains to their defaults, "velocity" the damping, and the stiffness to 0; "effort"
                sets both to 0.
            indices: Rows; None means all.
            dof_indices: Columns; None means all.

        Raises:
            ValueError: There is no such mode.
        """
        if not isinstance(mode, str) or mode not in _MODES:
            raise ValueError(f"mode = {shown(mode)}: must be one of {', '.join(map(repr, _MODES))}. Correct the name.")
        defaults, at = self._defaults(), self._index(indices, dof_indices)
        stiffnesses = defaults["stiffnesses"][at] if mode == "position" else 0.0
        dampings = 0.0 if mode == "effort" else defaults["dampings"][at]
        self._set_all({"stiffnesses": stiffnesses, "dampings": dampings}, indices, dof_indices)

    def get_dof_max_efforts(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Largest efforts [N·m or N] of the joint drives; inf is no limit."""
        return self._get("max_efforts", indices, dof_indices)

    def set_dof_max_efforts(
        self, max_efforts: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None
    ) -> None:
        """Set the largest efforts [N·m or N] of the joint drives, >= 0; they do not bound `set_dof_efforts`."""
        self._set("max_efforts", max_efforts, indices, dof_indices)

    def get_dof_drive_model_properties(
        self, *, indices: Indices = None, dof_indices: Indices = None
    ) -> tuple[wp.array, wp.array, wp.array]:
        """Speed-effort gradients [rad/s/(N·m) or m/s/N], largest actuator velocities [rad/s or m/s] and
        velocity-dependent resistances [N·m·s/rad or N·s/m] of the joint drives.
        """
        return self._get_all(_DRIVE_MODEL, indices, dof_indices)

    def set_dof_drive_model_properties(
        self,
        speed_effort_gradients: ArrayLike | None = None,
        maximum_actuator_velocities: ArrayLike | None = None,
        velocity_dependent_resistances: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
    ) -> None:
        """Set what bounds the efforts of the joint drives at speed; what is None stays.

        Raises:
            HostError: Physics runs on a simulator that has no such thing, MuJoCo for one.
        """
        given = (speed_effort_gradients, maximum_actuator_velocities, velocity_dependent_resistances)
        self._set_all(dict(zip(_DRIVE_MODEL, given, strict=True)), indices, dof_indices)

    # joints

    def get_dof_limits(self, *, indices: Indices = None, dof_indices: Indices = None) -> tuple[wp.array, wp.array]:
        """Lower and upper position limits [rad or m]; ∓inf is no limit."""
        return self._get_all(("lower_limits", "upper_limits"), indices, dof_indices)

    def set_dof_limits(
        self,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
    ) -> None:
        """Set lower position limits, upper ones or both [rad or m]; ∓inf is no limit.

        Raises:
            ValueError: A lower limit would be above the upper one.
        """
        self._set_all({"lower_limits": lower, "upper_limits": upper}, indices, dof_indices)

    def get_dof_max_velocities(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Largest velocities [rad/s or m/s]; inf is no limit."""
        return self._get("max_velocities", indices, dof_indices)

    def set_dof_max_velocities(
        self, max_velocities: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None
    ) -> None:
        """Set the largest velocities [rad/s or m/s], >= 0; inf is no limit, 0 holds a joint.

        On MuJoCo, an axis that a physics step left faster is put to its limit after it, position included.

        Raises:
            HostError: The joints are those of a `MujocoSimulation`, which has no such limits.
        """
        self._set("max_velocities", max_velocities, indices, dof_indices)

    def get_dof_armatures(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Inertias [kg m² or kg] that are added to those of the joints."""
        return self._get("armatures", indices, dof_indices)

    def set_dof_armatures(self, armatures: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Set inertias [kg m² or kg], >= 0, that are added to those of the joints."""
        self._set("armatures", armatures, indices, dof_indices)

    def get_dof_friction_properties(
        self, *, indices: Indices = None, dof_indices: Indices = None
    ) -> tuple[wp.array, wp.array, wp.array]:
        """Static and dynamic friction efforts [N·m or N] and viscous friction coefficients [N·m·s/rad or N·s/m]."""
        return self._get_all(_FRICTION, indices, dof_indices)

    def set_dof_friction_properties(
        self,
        static_frictions: ArrayLike | None = None,
        dynamic_frictions: ArrayLike | None = None,
        viscous_frictions: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
    ) -> None:
        """Set friction; what is None stays.

        Args:
            static_frictions: Largest effort [N·m or N] that a joint at rest withstands.
            dynamic_frictions: Effort [N·m or N] that opposes motion. MuJoCo has one dry friction: give the same values
                as for the static one, or one of the two alone.
            viscous_frictions: Effort per velocity [N·m·s/rad or N·s/m] that opposes motion.
            indices: Rows; None means all.
            dof_indices: Columns; None means all.

        Raises:
            HostError: Physics runs on MuJoCo, and static and dynamic frictions differ.
        """
        given = (static_frictions, dynamic_frictions, viscous_frictions)
        self._set_all(dict(zip(_FRICTION, given, strict=True)), indices, dof_indices)

    def harden_friction(self, hard: bool, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Keep dry frictions as hard as the simulator allows until physics stops, or end that.

        On MuJoCo, dry friction that a model has of its own is else as soft as the model has it.

        Args:
            hard: False makes the frictions that the model has of its own as soft again as they were.
            indices: Rows; None means all.
            dof_indices: Columns; None means all.

        Raises:
            HostError: Physics does not run.
        """
        self._live()
        self._backend.harden_friction(self._index(indices, dof_indices).ravel(), flag_of("hard", hard))

    @property
    def takes_step_armatures(self) -> bool:
        """True if `set_step_armatures` can be called: not on a `MujocoSimulation`."""
        return hasattr(self._backend, "add_armatures")

    def set_step_armatures(self, armatures: ArrayLike, *, dof_indices: Indices = None) -> None:
        """Add to the armatures of joints in the physics steps to come, until others are given.

        Properties, mass matrices and signals of joints are without them, and a stop ends them.

        Args:
            armatures: Inertias [kg m² or kg], >= 0.
            dof_indices: Columns; None means all.

        Raises:
            HostError: Physics does not run, or the joints are those of a `MujocoSimulation`.
        """
        self._live()
        if not self.takes_step_armatures:
            raise HostError(
                f"set_step_armatures: <{self.paths[0]}> is in a model of one's own, whose armatures must be left "
                "to its owner. Use a Simulation."
            )
        at = self._index(None, dof_indices)
        backend: Any = self._backend
        backend.add_armatures(_checked("armatures", armatures, at.shape).ravel(), at.ravel())

    def _resolve(self) -> None:
        super()._resolve()
        # kept while robots and joints are the same
        shape = [(robot.path, robot.dof_names, robot.offset) for robot in self._robots]
        if getattr(self, "_default_gains_of", None) != shape:
            self._default_gains_of = shape
            self._default_gains: dict[str, np.ndarray] | None = None

    def _defaults(self) -> dict[str, np.ndarray]:
        """Gains that control modes come back to, flat; those of the stage until others are set."""
        self._current()
        if self._default_gains is None:
            arrays = self._backend.arrays()
            found = {name: self._authored(name) for name in ("stiffnesses", "dampings")}
            if arrays is not None:
                found = {name: np.where(np.isnan(gains), getattr(arrays, name), gains) for name, gains in found.items()}
            self._default_gains = found
        return self._default_gains

    def _get(self, name: str, indices: Indices, dof_indices: Indices) -> wp.array:
        if name in _STATE or (name in _IN_ARRAYS and not self._is_stopped()):
            return super()._get(name, indices, dof_indices)
        self._current()
        at = self._index(indices, dof_indices)
        rows = self._authored(name)[at] if self._is_stopped() else self._backend.read_property(name)[at]
        return wp.array(rows, dtype=wp.float32, device="cpu")

    def _get_all(self, names: tuple[str, ...], indices: Indices, dof_indices: Indices) -> Any:
        return tuple(self._get(name, indices, dof_indices) for name in names)

    def _set(self, name: str, values: ArrayLike, indices: Indices, dof_indices: Indices) -> None:
        if name in _STATE or (name in _IN_ARRAYS and not self._is_stopped()):
            return super()._set(name, values, indices, dof_indices)
        self._set_all({name: values}, indices, dof_indices)

    def _set_all(self, given: Mapping[str, ArrayLike | None], indices: Indices, dof_indices: Indices) -> None:
        """Set properties that are not None, after all of them were checked."""
        self._current()
        at = self._index(indices, dof_indices)
        rows = {name: _checked(name, values, at.shape) for name, values in given.items() if values is not None}
        if not rows:
            raise ValueError(f"{', '.join(given)}: must not all be None. Give one of them.")
        if {"lower_limits", "upper_limits"} & set(rows):
            flat = self._authored if self._is_stopped() else self._backend.read_property
            lower, upper = (
                rows[name] if name in rows else flat(name)[at].astype(np.float32)
                for name in ("lower_limits", "upper_limits")
            )
            if (wrong := np.argwhere(lower > upper)).size:
                row, column = wrong[0]
                raise ValueError(
                    f"lower limit {lower[row, column]:g} > upper limit {upper[row, column]:g} (rad or m): must be <=. "
                    "Swap the limits, or set both at once."
                )
        if self._is_stopped():
            self._author(rows, at)
        elif set(rows) <= set(_IN_ARRAYS):
            arrays = self._live()
            for name, values in rows.items():
                getattr(arrays, name)[at] = values
            self._backend.write_gains()
        else:
            self._backend.write_properties(rows, at)

    def _is_stopped(self) -> bool:
        return self._backend.arrays() is None

    def _authored(self, name: str) -> np.ndarray:
        """A property of all robots as the stage or file has it, flat."""
        if self._backend.stage is None:
            return self._backend.property_of_file(name)
        from ..files.usd.joint_properties import read_property
        from ..files.usd.mujoco_properties import read_mujoco_property

        read = read_mujoco_property if self.READS_MJC else read_property
        robots = self._backend.robots()
        flat = np.zeros(max((robot.offset + len(robot.dof_names) for robot in robots), default=0))
        known: dict[str, np.ndarray] = {}
        for robot in robots:
            root, joints = robot.prototype
            if root not in known:
                known[root] = read(self._backend.stage, name, list(zip(joints, robot.axes, strict=True)))
            flat[robot.offset :][: len(joints)] = known[root]
        return flat

    def _author(self, rows: dict[str, np.ndarray], at: np.ndarray) -> None:
        """Write properties to the stage; what copies share must be the same for all of them."""
        if self._backend.stage is None:
            raise HostError(
                f"<{self.paths[0]}>: there is no stage to author {', '.join(rows)} on while physics is stopped. Call "
                "play() first."
            )
        from ..files.usd.joint_properties import write_properties
        from ..files.usd.mujoco_properties import write_mujoco_properties

        axis_of = {
            robot.offset + number: axis
            for robot in self._backend.robots()
            for number, axis in enumerate(zip(robot.prototype[1], robot.axes, strict=True))
        }
        axes = list(dict.fromkeys(axis_of[place] for place in at.ravel()))
        columns: dict[str, np.ndarray] = {}
        for name, values in rows.items():
            flat = self._authored(name).astype(np.float32)
            flat[at] = values
            by_axis: dict[tuple[str, str], set[float]] = {}
            for place, axis in axis_of.items():
                by_axis.setdefault(axis, set()).add(float(flat[place]))
            for axis in axes:
                if len(found := by_axis[axis]) > 1:
                    raise HostError(
                        f"{name} of <{axis[0]}> would differ between copies of the robot, {sorted(found)}: while "
                        "physics is stopped they share the joint on the stage. Set them after play()."
                    )
            columns[name] = np.array([by_axis[axis].pop() for axis in axes])
        write = write_mujoco_properties if self.READS_MJC else write_properties
        write(self._backend.stage, columns, axes)


def _checked(name: str, values: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    """Values of a property in float32, where it makes sense."""
    rows = broadcast(values, shape, name, infinite=name in _UNBOUNDED)
    if name in _MAGNITUDES and (rows < 0).any():
        row, column = np.argwhere(rows < 0)[0]
        raise ValueError(f"{name}[{row}, {column}] = {rows[row, column]:g}: must be >= 0. Correct the value.")
    return rows
