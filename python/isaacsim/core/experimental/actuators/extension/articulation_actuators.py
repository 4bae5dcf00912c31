"""`ArticulationActuators`: the actuators of one articulation, stepped before every physics step."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import logging
import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import warp as wp

from ..base.callers import level_outside
from ..base.quiet_warp import device_of, quiet_warp
from ..base.untraced import untraced
from ..base.values import ArrayLike, Indices, resolve_indices
from ..engine.actuator_set import ActuatorSet
from ..engine.assembly import Assembly
from ..engine.entry import ActuatorEntry
from ..engine.handed_over import JointValues, handed_over, has_friction_stage, rotors_of_configs, values_of_motors
from ..engine.implicit.engine_damping import hand_damping_over
from ..engine.motors import resolve_motors, without_limit, without_motor
from ..engine.step.fault import Fault
from ..engine.user_components import entries_from_configs, in_joint_order
from ..files.usd.axes import disambiguate
from ..simulators.binding import Binding
from ..simulators.current import current_host
from ..simulators.motor_properties import effort_limits, no_friction, values_of_author
from ..simulators.port import ArticulationPort, Host, turning
from ..specs.arguments import flag_of
from ..specs.effort_modes import EffortModes, in_effort_mode
from ..specs.motors import Motors
from .attachment import Attachment, Beginning

if TYPE_CHECKING:
    from ..compat.isaac_lab.table import ResolutionTable
    from ..engine.random.randomization import JointProperties
    from ..tools.stability.robots import ClosedLoops
    from ..tools.stability.table import Stability

_log = logging.getLogger(__name__)
_open: weakref.WeakSet[ArticulationActuators] = weakref.WeakSet()


def close_all() -> None:
    """Close every wrapper there is; an error in one is raised when all are closed."""
    with contextlib.ExitStack() as stack:
        for wrapper in tuple(_open):
            stack.callback(wrapper.close)


class ArticulationActuators(ActuatorSet):
    """The actuators of one or more equal robots.

    Reads the `NewtonActuator` prims of the robot at the first matched path and steps their pipelines
    *delay → controller → clamping* for all matched robots. While attached, the drives of the actuated joints have zero
    gains. May be created before or after physics starts. A robot without such prims gives no actuators, and a warning
    that says what drives its joints instead.

    Args:
        paths: Path of an articulation root, or of a prim above some: then all of them; or several paths. Each segment
            may be a regular expression.
        auto_step_pre_physics: Step before every physics step by itself.
        device: Warp device; None means the articulation's, which is taken with a warning in place of another one.
        trusted: Allow Torch to run networks of the robot that are not recognized, and with that any code in these
            files; default False. `trust_checkpoints` permits single files.
        effort_mode: "explicit", as a motor controller computes efforts, "implicit", those of the end of the physics
            step, which are stable at any gain, or "in_engine", the same with contacts and coupling, in the solver of
            MuJoCo or PhysX; for all actuators, or by pattern of joint names. None keeps what the actuators have: an
            `ImplicitConfig` or none, which is explicit.

    Raises:
        ActuatorParseError: Actuator prims cannot be used; lists every problem.
        ValueError: No robot at `paths`, or the robots differ in their joints.
        HostError: No simulation is open.

    Example:
        >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
        >>> with Simulation("data/robots/franka_panda.usda") as sim:
        ...     sim.play()
        ...     actuators = ArticulationActuators("/World/Panda")
        ...     sim.step(10)
        ...     print(actuators.actuated_dof_indices)
        [0, 1, 2, 3, 4, 5, 6]
    """

    _INSTEAD = "Hand the wrapper itself on, or use save_state() and restore_state()."

    _resolution: ResolutionTable | None = None
    _beginning: Beginning | None = None
    _has_warned = False

    def __init__(
        self,
        paths: str | Sequence[str],
        *,
        auto_step_pre_physics: bool = True,
        device: wp.DeviceLike = None,
        trusted: bool = False,
        effort_mode: EffortModes | None = None,
        _skip_discovery: bool = False,
    ) -> None:
        host = current_host()
        robots = Binding(host.articulation(paths))
        entries: list[ActuatorEntry] = []
        axes: list[tuple[str, str]] = []
        properties: list[JointValues] = []
        if not _skip_discovery and host.stage is None:
            warnings.warn(
                f"<{robots.prototype_path}>: no actuator found, for there is no USD stage to find any on. Describe "
                "motors, or take those of the simulation, `motors = motors_of(sim)`, and pass them to "
                f"`ArticulationActuators.from_configs({robots.prototype_path!r}, motors)`.",
                stacklevel=2,
            )
        elif not _skip_discovery and host.stage is not None:
            from ..files.usd.discover import discover
            from ..files.usd.other_drives import no_actuators_message
            from ..files.usd.own_values import own_values, with_own_values

            found = host.stage, robots.prototype_path, robots.prototype_dof_paths, robots.articulation.dof_names
            si = not robots.in_stage_units
            specs = discover(*found, si=si, files=True, trusted=trusted)
            own = own_values(host.stage, specs, robots.prototype_path, robots.articulation.paths, si=si)
            specs = with_own_values(specs, own, robots.num_robots)
            specs = in_effort_mode(specs, [spec.dof_names for spec in specs], effort_mode)
            made = handed_over(specs, robots.num_robots, robots.device)
            entries, axes, properties = made.entries, made.axes, made.properties
            if not specs:
                warnings.warn(no_actuators_message(*found), stacklevel=2)
        self._build(host, robots, entries, axes, auto_step_pre_physics, device, properties)

    @classmethod
    def from_configs(
        cls,
        paths: str | Sequence[str],
        motors: Motors,
        *,
        auto_step_pre_physics: bool = True,
        device: wp.DeviceLike = None,
        trusted: bool = False,
        effort_mode: EffortModes | None = None,
    ) -> Self:
        """Return a wrapper with motors described by configs; actuator prims on the stage are not read.

        A pattern is a regular expression that matches names of joints in full. A value of a config is a number, a
        dictionary from patterns to numbers, or an array with one value per robot, `(robots,)`, or per robot and joint
        of its motor, `(robots, joints)`. Clamps act in the same order as from USD, the plain limit last. Joints without
        a motor keep their own drives, and a warning names them.

        The effort limit of a joint bounds its drive, and no motor: a warning names the joints that have one and whose
        motor has none. `MaxEffortClampingConfig("joint")` takes the limit that the joint has now.

        Armature and friction of motors are set whenever physics becomes ready; `close` restores what the joints had.
        Where the articulation of the simulator has no such setters, a warning says so. Fallbacks on the joints of
        actuators that motors replace count as what the robot's author had there, as with `add_motors`.

        Args:
            paths: As for the constructor.
            motors: By pattern, a `MotorConfig` or a list of configs in its place.
            auto_step_pre_physics: Step before every physics step by itself.
            device: As for the constructor.
            trusted: Allow Torch to run networks that are not recognized; see `trust_checkpoints`.
            effort_mode: As for the constructor.

        Raises:
            ValueError: A pattern matches nothing, a joint has two motors, or a value cannot be used; lists every
                problem.
            HostError: No simulation is open.

        Example:
            >>> from isaacsim.core.experimental.actuators import (
            ...     ArticulationActuators, MaxEffortClampingConfig, PDControlConfig, Simulation,
            ... )
            >>> with Simulation("data/robots/pendulum.usda") as sim:
            ...     sim.play()
            ...     actuators = ArticulationActuators.from_configs(
            ...         "/World/Pendulum", {"hinge": [PDControlConfig(20.0, 2.0), MaxEffortClampingConfig(10.0)]}
            ...     )
            ...     sim.step(10)
            ...     print(actuators.actuated_dof_indices)
            [0]
        """
        host = current_host()
        robots = Binding(host.articulation(paths))
        names, joints = robots.articulation.dof_names, robots.prototype_dof_paths
        limits = functools.cache(lambda: effort_limits(robots.articulation, host.stage))
        motors_found = resolve_motors(
            motors, names, joints, robots.num_robots, limits=limits, networks=True, trusted=trusted
        )
        bare = without_motor(motors_found, names)
        # what couplings and tendons move needs no motor
        following = robots.following_dofs(host.stage, set(names) - set(bare))
        bare = [name for name in bare if name not in following]
        bounded = without_limit(motors_found, names, limits)
        specs = [motor.spec for motor in motors_found if motor.spec is not None]
        specs = in_effort_mode(specs, [spec.dof_names for spec in specs], effort_mode)
        path = robots.articulation.paths[0]
        if bare:
            warnings.warn(
                f"<{path}>: joints {', '.join(bare)} have no motor and keep their own drives. "
                "Give them one, if they are to be driven.",
                stacklevel=2,
            )
        if bounded:
            said = ", ".join(f"{name} ({limit:g})" for name, limit in bounded.items())
            warnings.warn(
                f"<{path}>: motors of joints {said} have no effort limit, and that of a joint, "
                "in brackets in N·m or N, bounds its drive only. Add MaxEffortClampingConfig('joint') to take it, or "
                "the limit of the motor.",
                stacklevel=2,
            )
        self = cls.__new__(cls)
        driven = [axis for spec in specs for axis in zip(spec.targets, spec.dof_names, strict=True)]
        of_motors = values_of_motors(motors_found, names, joints)
        made = handed_over(specs, robots.num_robots, robots.device)
        properties = [*of_motors, *made.properties, *values_of_author(host, robots, driven)]
        self._build(host, robots, made.entries, made.axes, auto_step_pre_physics, device, properties)
        return self

    @classmethod
    def from_actuators(
        cls,
        paths: str | Sequence[str],
        actuators: Sequence[tuple[object, str]],
        *,
        auto_step_pre_physics: bool = True,
        device: wp.DeviceLike = None,
        effort_mode: EffortModes | None = None,
    ) -> Self:
        """Return a wrapper with actuators built in Python; prims on the stage are not read.

        The components are those of `actuators[i]` themselves, with their arrays moved to the articulation's device; one
        that serves several joints, or drives another open wrapper, is copied. `close` leaves them with their values.
        A config in place of a component, `ActuatorConfig(PDControlConfig(80.0, 2.0))`, becomes one for each joint.

        Args:
            paths: As for the constructor.
            actuators: Pairs of an `ActuatorConfig`, or a whole `Actuator`, ours or newton's, its arrays sized
                `(num_robots,)`, and the name of the joint it drives, or its path where several have that name.
            auto_step_pre_physics: Step before every physics step by itself.
            device: As for the constructor.
            effort_mode: As for the constructor.

        Raises:
            ValueError: An unknown or repeated joint name, or an array of the wrong length.
            HostError: No simulation is open.
        """
        host = current_host()
        robots = Binding(host.articulation(paths))
        names, joints = robots.articulation.dof_names, robots.prototype_dof_paths
        known = disambiguate(names, joints)
        ordered = in_joint_order(actuators, known, f"<{robots.articulation.paths[0]}>")
        with quiet_warp():
            built = entries_from_configs(ordered, robots.num_robots, robots.device, effort_mode)
        axes = [(joints[at], names[at]) for at in (known.index(name) for _, name in ordered)]
        self = cls.__new__(cls)
        properties = [*rotors_of_configs(ordered, axes), *values_of_author(host, robots, axes)]
        self._build(host, robots, built, axes, auto_step_pre_physics, device, properties)
        return self

    @classmethod
    def from_groups(
        cls,
        paths: str | Sequence[str],
        groups: object,
        *,
        rules: Literal["documentation", "code", "3.0"] | None = None,
        seed: int = 0,
        actuator_value_resolution_debug_print: bool = False,
        auto_step_pre_physics: bool = True,
        device: wp.DeviceLike = None,
    ) -> Self:
        """Return a wrapper with groups of joints as Isaac Lab has them; actuator prims on the stage are not read.

        Joints of implicit groups keep their drives, with the gains of the cfg; those of explicit groups get actuators.
        Joints in no group keep their own drives, and a warning names them. Limits of the solver (`_sim`), armature,
        friction and gains of drives are set whenever physics becomes ready; `close` restores what the joints had.
        Where the simulator has no such thing, a warning says so. Armature and friction that a cfg leaves out are what
        the robot's author gave the joint, below fallbacks of actuator prims. Delays are drawn at every reset.

        Args:
            paths: As for the constructor.
            groups: Cfgs by name of the group: those of `compat.isaac_lab`, or Isaac Lab's own. Or Isaac Lab's cfg of
                the whole articulation: its `actuators` are the groups, and joints begin as its `init_state` says, at
                every play and reset, and at once where physics runs. A warning names what of it is not taken.
            rules: Which value applies where cfg and robot differ: by Isaac Lab's documentation, by the code of version
                2.3, or by version 3.0; the head of `compat/isaac_lab/resolve.py` has the table. None means those of
                each cfg: 3.0 for objects of its own classes, the field `rules` of ours, or else the documentation.
            seed: Of the random delays.
            actuator_value_resolution_debug_print: Log `resolution_table` as a warning.
            auto_step_pre_physics: Step before every physics step by itself.
            device: As for the constructor.

        Raises:
            ValueError: A joint in two groups, a group without joints, a joint that begins outside its limits, or a
                value that cannot be used; lists every problem.
            HostError: No simulation is open.

        Example:
            >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
            >>> from isaacsim.core.experimental.actuators.compat.isaac_lab import DCMotorCfg
            >>> motor = DCMotorCfg(
            ...     joint_names_expr=["hinge"], stiffness=20.0, damping=2.0,
            ...     saturation_effort=15.0, actuator_velocity_limit=30.0, actuator_effort_limit=10.0,
            ... )
            >>> with Simulation("data/robots/pendulum.usda") as sim:
            ...     sim.play()
            ...     actuators = ArticulationActuators.from_groups("/World/Pendulum", {"leg": motor})
            ...     sim.step(10)
            ...     print(actuators.actuated_dof_indices)
            [0]
        """
        from ..compat.isaac_lab.articulations import beginning_of, groups_in, is_whole, warn_of_the_rest
        from ..compat.isaac_lab.groups import resolve_groups, values_of, with_own_values
        from ..compat.isaac_lab.table import TITLE

        host = current_host()
        robots = Binding(host.articulation(paths))
        names, joints = robots.articulation.dof_names, robots.prototype_dof_paths
        beginning = beginning_of(groups, robots.articulation) if is_whole(groups) else None
        every = list(zip(joints, names, strict=True))
        own = with_own_values(values_of(robots.articulation, host.stage), values_of_author(host, robots, every), names)
        found = resolve_groups(groups_in(groups), names, own, robots.device, rules)
        if is_whole(groups):
            warn_of_the_rest(groups)
        if found.uncovered:
            warnings.warn(
                f"<{robots.articulation.paths[0]}>: joints {', '.join(found.uncovered)} are in no group and keep their "
                "own drives. Add them to one, if they are to be driven.",
                stacklevel=2,
            )
        if flag_of("actuator_value_resolution_debug_print", actuator_value_resolution_debug_print):
            _log.warning("%s\n%s", TITLE, found.table.text)
        ordered = in_joint_order(found.actuators, names, f"<{robots.articulation.paths[0]}>")
        with quiet_warp():
            entries = entries_from_configs(ordered, robots.num_robots, robots.device)
        axes = [(joints[names.index(name)], name) for _, name in ordered]
        properties = [
            JointValues(name, list(map(every.__getitem__, columns)), values)
            for name, columns, values in found.properties
        ]
        self = cls.__new__(cls)
        self._resolution, self._beginning = found.table, beginning
        covered = [axis for axis in every if axis[1] not in found.uncovered]
        properties += [*rotors_of_configs(ordered, axes), *values_of_author(host, robots, covered)]
        self._build(host, robots, entries, axes, auto_step_pre_physics, device, properties)
        if found.delays:
            self.randomize({"delay_steps": found.delays}, seed=seed)
        return self

    # parts

    def resolution_table(self) -> ResolutionTable:
        """Return where the values of groups and robot differed, as `rows`, `text` and `json`.

        Raises:
            RuntimeError: The wrapper was not made by `from_groups`.
        """
        if self._resolution is None:
            raise RuntimeError(f"{self!r} has no groups: must be made of some. Make it by from_groups.")
        return self._resolution

    @property
    def articulation(self) -> ArticulationPort:
        """The robots."""
        return self._robots.articulation

    @property
    def applied_efforts(self) -> np.ndarray:
        """Efforts that the last step gave to the simulator [N·m or N], shape `(robots, actuated DOFs)`; a copy.

        Columns are those of `actuated_dof_indices`. Zero before the first step, after an error and while physics is
        stopped. A step does nothing for it: where the simulator shares its arrays (`buffers()`), it is what these hold,
        including values written there after the step.
        """
        return self._attachment.applied_efforts()

    @property
    def faults(self) -> list[Fault]:
        """Inputs or efforts that were not finite since the last reset, the first of each joint and robot.

        Such a joint gets effort 0 for the step; no other joint is affected.
        """
        paths = self._attachment.paths
        return [dataclasses.replace(fault, robot_path=paths[fault.robot]) for fault in self._assembly.faults()]

    def stability(self, *, indices: Indices = None, dt: float | None = None) -> Stability:
        """Return the stability margins of the robots in their present pose, with present gains and armatures.

        An effort is computed once per physics step and held; gains too large for the inertia at the joint make
        it overshoot more at each step. A delay does not count, for it holds back targets and not the measured state.
        Clamps do not count either: they bound a growing vibration. Friction, contacts and the drives of joints
        without an actuator would add some damping, and are left out. Friction that assumes more than twice the inertia
        of its joint, where the simulator provides none to the law, may chatter; `Stability.chatter` names such joints.
        When physics starts, a warning names the first robot if it will vibrate or chatter.

        Args:
            indices: Robot indices or mask; None means all. Robots that are alike to the bit are computed once.
            dt: Physics step [s]; None means the simulator's.

        Raises:
            HostError: Physics does not run, there are no actuators, or the simulator lacks its step or mass matrices
                with armatures.
            ValueError: An index is out of range, or `dt` is not a finite number > 0.

        Example:
            >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
            >>> with Simulation("data/robots/arm_2dof.usda") as sim:
            ...     sim.play()
            ...     print(ArticulationActuators("/World/Arm").stability())
            /World/Arm stable at dt = 0.00416667 s: ...
        """
        return self._loops().stability(resolve_indices(indices, self._robots.num_robots, "robot"), dt)

    # stepping

    def physics_ready(self) -> None:
        """Warn if the first robot will vibrate or chatter, once: when physics starts, or before the first step."""
        loops = self._loops()
        texts = [loops.warning(), loops.chatter_warning()] if loops.known and not self._has_warned else []
        for text in filter(None, texts):
            self._has_warned = True
            warnings.warn(text, stacklevel=level_outside())

    def enable_auto_step_pre_physics(self) -> None:
        """Step before every physics step from now on; while an error stops stepping, from the next `reset` on."""
        self._attachment.set_auto_step(True)

    def disable_auto_step_pre_physics(self) -> None:
        """Step only when `step_actuators` is called; clears the efforts of the joints, which would push on."""
        self._attachment.set_auto_step(False)

    @untraced
    def step_actuators(self, step_dt: float, context: object = None) -> None:
        """Compute the efforts of the coming physics step and hand them to the articulation.

        An error leaves no effort behind.

        Args:
            step_dt: Physics step [s].
            context: Ignored; lets the method serve as a physics callback.

        Raises:
            HostError: Physics is not running.
            ValueError: `step_dt` is not a finite number > 0.
            Exception: What stopped automatic stepping, until `reset`.
        """
        self._attachment.step(step_dt)

    @untraced
    def reset(self, *, indices: Indices = None) -> None:
        """Reset delays, states and faults; feedforward stays. A reset of all robots also clears a stored error.

        Args:
            indices: Robot indices or mask; None means all. A mask that is a Warp array on the articulation's GPU stays
                there: nothing waits for it.

        Raises:
            ValueError: An index is out of range.
            HostError: The wrapper was closed.
        """
        self._require_open()
        if indices is None:
            self._attachment.resume()
        else:
            self._forget(indices)

    @untraced
    def set_dof_feedforward_effort_targets(
        self, target_feedforward_efforts: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None
    ) -> None:
        """Set the feedforward efforts; they stay until overwritten, through reset and stop.

        They pass through delay, controller and clamps; on joints without an actuator they have no effect.

        Args:
            target_feedforward_efforts: Efforts [N·m or N] that broadcast to `(robots, DOFs)` of the indices given.
            indices: Robot indices or mask; None means all.
            dof_indices: Columns of the articulation or mask; None means all.

        Raises:
            ValueError: An index is out of range, the shape does not fit, or a value is not finite.
        """
        self._attachment.set_feedforward(target_feedforward_efforts, indices, dof_indices)

    # end of life

    def close(self) -> None:
        """Detach: clear the efforts and restore the drive gains that were set to zero, as far as physics runs.

        Calling it again does nothing, unless a part of it failed: the others are done, the error is raised, and the
        next call tries again what failed.
        """
        self._attachment.close()
        super().close()
        _open.discard(self)

    def __repr__(self) -> str:
        return repr(self._attachment)

    def _require_open(self) -> None:
        self._attachment.require_open()

    def _loops(self) -> ClosedLoops:
        from ..tools.stability.robots import ClosedLoops

        return ClosedLoops(self, self._robots, self._assembly, getattr(self._host, "dt", None))

    def _num_dofs(self) -> int:
        return self.articulation.num_dofs

    def _robot_names(self) -> Sequence[str]:
        return self._attachment.paths

    def _turns(self) -> Sequence[bool | None] | None:
        return turning(self.articulation)

    def _joint_properties(self) -> JointProperties:
        return self._attachment.drawn

    def _build(
        self,
        host: Host,
        robots: Binding,
        entries: list[ActuatorEntry],
        axes: list[tuple[str, str]],
        auto_step: bool,
        device: wp.DeviceLike,
        properties: Sequence[JointValues] = (),
    ) -> None:
        """Build everything, then attach to physics; an error leaves nothing of it behind.

        `axes` names the driven joint of each slot: its path on the prototype, and its name.
        """
        stepped = flag_of("auto_step_pre_physics", auto_step)
        # the host lives as long as the wrapper, and physics with it
        self._host, self._robots = host, robots
        with quiet_warp():
            if device is not None and device_of(device) != wp.get_device(robots.device):
                warnings.warn(
                    f"device = {device}: efforts are computed where the articulation is, on {robots.device}, for "
                    "every step would copy otherwise. Leave device out.",
                    stacklevel=3,
                )
            plain = type(self).step_actuators is _STEP
            has_stage = [has_friction_stage(entry) for entry in entries for _ in entry.dof_names]
            taken = no_friction(host, robots, list(itertools.compress(axes, has_stage)))
            self._attachment = Attachment(self, host.bus, robots, axes, stepped, [*properties, *taken], plain)
            self._attachment.beginning = self._beginning
            self._assembly = Assembly(entries, robots.num_robots, robots.device, self._attachment.columns)
            self._assembly.place(self._attachment.columns, robots.articulation.num_dofs)
            sweeps = [entry.sweeps for entry in entries for _ in entry.dof_names]
            if any(sweeps):
                # most robots have none
                from ..engine.implicit.coupled_friction import CoupledFriction

                self._assembly.watch(CoupledFriction(self._assembly, robots.articulation, sweeps))
            self._attachment.damping = hand_damping_over(self._assembly, robots.articulation, entries)
        _open.add(self)
        try:
            self._attachment.open(self._assembly)
        except BaseException:
            # the error that counts is the first
            with contextlib.suppress(Exception):
                self.close()
            raise


# a subclass, or who replaces it, has a step of its own
_STEP = ArticulationActuators.step_actuators
