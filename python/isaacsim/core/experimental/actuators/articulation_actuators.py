"""`ArticulationActuators`: the actuators of one articulation, stepped before every physics step."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import warp as wp

from .components.quiet_warp import quiet_warp
from .errors import HostError
from .hosts.binding import Binding, subscribe, weakly
from .hosts.current import current_host
from .hosts.port import ArticulationPort, Buffers, Host, Subscription
from .hosts.values import broadcast, resolve_indices
from .lifecycle import forget_drives, release_drives, take_drives
from .pipeline.actuator import Actuator
from .pipeline.engine import Engine
from .pipeline.entry import ActuatorConfig, ActuatorEntry, entry_from_config, entry_from_spec
from .pipeline.fault import Fault
from .usd.discover import discover

_open: weakref.WeakSet[ArticulationActuators] = weakref.WeakSet()


def close_all() -> None:
    """Close every wrapper there is; an error in one is raised when all are closed."""
    with contextlib.ExitStack() as stack:
        for wrapper in tuple(_open):
            stack.callback(wrapper.close)


class ArticulationActuators:
    """The actuators of one or more equal robots.

    Reads the `NewtonActuator` prims of the robot at the first matched path and steps their pipelines
    *delay → controller → clamping* for all matched robots. While attached, the drives of the actuated joints have zero
    gains. May be created before or after physics starts.

    Args:
        paths: Path of an articulation root or of a prim above it, or several; each segment may be a regular expression.
        auto_step_pre_physics: Step before every physics step by itself.
        device: Warp device; None means the articulation's, and another one is refused.

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

    def __init__(
        self,
        paths: str | Sequence[str],
        *,
        auto_step_pre_physics: bool = True,
        device: Any = None,
        _skip_discovery: bool = False,
    ) -> None:
        host = current_host()
        robots = Binding(host.articulation(paths))
        entries: list[ActuatorEntry] = []
        axes: list[tuple[str, str]] = []
        if not _skip_discovery and host.stage is not None:
            specs = discover(host.stage, robots.prototype_path, robots.prototype_dof_paths)
            with quiet_warp():
                entries = [entry_from_spec(spec, robots.num_robots, robots.device) for spec in specs]
            axes = [(target, target.rsplit("/", 1)[1]) for spec in specs for target in spec.targets]
        self._attach(host, robots, entries, axes, auto_step_pre_physics, device)

    @classmethod
    def from_actuators(
        cls,
        paths: str | Sequence[str],
        actuators: Sequence[tuple[ActuatorConfig, str]],
        *,
        auto_step_pre_physics: bool = True,
        device: Any = None,
    ) -> Self:
        """Return a wrapper with actuators built in Python; prims on the stage are not read.

        Args:
            paths: As for the constructor.
            actuators: Pairs of a config, its arrays sized `(num_robots,)`, and the name of the joint it drives.
            auto_step_pre_physics: Step before every physics step by itself.
            device: Warp device; None means the articulation's, and another one is refused.

        Raises:
            ValueError: An unknown, repeated or ambiguous joint name, or an array of the wrong length.
            HostError: No simulation is open.
        """
        host = current_host()
        robots = Binding(host.articulation(paths))
        where, names = robots.articulation.paths[0], robots.articulation.dof_names
        for position, (_, name) in enumerate(actuators):
            if name not in names:
                raise ValueError(f"joint {name!r}: not in <{where}>. Available: {names}.")
            if names.count(name) > 1:
                raise ValueError(f"joint {name!r} is found {names.count(name)} times in <{where}>.")
            if name in [other for _, other in actuators[:position]]:
                raise ValueError(f"joint {name!r} is given two actuators. Give each joint one.")
        ordered = sorted(actuators, key=lambda pair: names.index(pair[1]))
        built = [entry_from_config(config, name) for config, name in ordered]
        axes = [(robots.prototype_dof_paths[names.index(name)], name) for _, name in ordered]
        self = cls.__new__(cls)
        self._attach(host, robots, built, axes, auto_step_pre_physics, device)
        return self

    # what it consists of

    @property
    def articulation(self) -> ArticulationPort:
        """The robots."""
        return self._robots.articulation

    @property
    def actuators(self) -> list[Actuator]:
        """The actuators: from USD in stage order, from Python in joint order."""
        return list(self._engine.actuators)

    @property
    def actuated_dof_indices(self) -> list[int]:
        """Columns of the actuated joints, ascending."""
        return sorted(self._columns)

    @property
    def faults(self) -> list[Fault]:
        """Inputs or efforts that were not finite since the last reset, the first of each joint and robot.

        Such a joint gets effort 0 for the step; no other joint is affected.
        """
        return [dataclasses.replace(fault, robot_path=self._paths[fault.robot]) for fault in self._engine.faults()]

    @property
    def engine(self) -> str:
        """What computes the efforts: `native` with its instruction set, `warp`, `custom`, or several of them."""
        return self._engine.name

    def observe_efforts(self, on: bool = True) -> None:
        """Keep from the next step on what `computed_efforts` and `limited_by` show, or stop it. Costs some time."""
        self._engine.observe(on)
        self._observing = on

    @property
    def computed_efforts(self) -> np.ndarray:
        """Efforts of the last step before the clamps [N·m or N], shape `(robots, actuated DOFs)`.

        Raises:
            RuntimeError: `observe_efforts` was not called.
        """
        return self._observed(0)

    @property
    def limited_by(self) -> np.ndarray:
        """Class name of the clamp that changed each effort last, empty for none; shaped like `computed_efforts`.

        Raises:
            RuntimeError: `observe_efforts` was not called.
        """
        return self._observed(1)

    # stepping

    def enable_auto_step_pre_physics(self) -> None:
        """Step before every physics step from now on; while an error stops stepping, from the next `reset` on."""
        self._auto_step = True
        self._subscribe_step()

    def disable_auto_step_pre_physics(self) -> None:
        """Step only when `step_actuators` is called."""
        self._auto_step = False
        self._unsubscribe_step()

    def step_actuators(self, step_dt: float, context: Any = None) -> None:
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
        if self._error is not None:
            raise self._error
        if not self._axes:
            return
        if self._closed:
            raise HostError(f"{self!r} is closed. Make a new one.")
        if (buffers := self._buffers) is None:
            raise self._not_running()
        try:
            if not (math.isfinite(step_dt) and step_dt > 0):
                raise ValueError(f"step_dt = {step_dt}: must be a finite number of seconds > 0.")
            buffers.refresh()
            self._engine.step(step_dt)
            buffers.commit()
        except Exception as error:
            if (lost := self._lost()) is not None:
                raise lost from error
            self._clear_efforts(error)
            raise

    def reset(self, *, indices: Any = None) -> None:
        """Forget delays and faults; feedforward stays. A reset of all robots forgets a stored error too.

        Args:
            indices: Robot indices or mask; None means all. A mask that is a Warp array on the articulation's GPU stays
                there: nothing waits for it.

        Raises:
            ValueError: An index is out of range.
        """
        if indices is not None:
            self._engine.reset(self._chosen(indices))
            return
        self._error = None
        self._engine.reset()
        if self._auto_step:
            self._subscribe_step()

    def draw_delays(self, low: int, high: int, *, seed: int) -> None:
        """Give every robot a random delay, now and again at each of its resets, the same for all its joints.

        Only actuators that have a delay take part, and none gets more than its own largest. Resets the actuators.

        Args:
            low: Smallest delay [physics steps].
            high: Largest delay [physics steps].
            seed: Of the random numbers; the same seed and resets give the same delays.

        Raises:
            ValueError: No actuator has a delay, one of them cannot hold `high`, or the range is none.
        """
        self._engine.draw_delays(low, high, seed)

    def save_state(self) -> dict[str, np.ndarray]:
        """Return what the actuators remember (delays, integrals, faults) as plain arrays, for `numpy.savez` say.

        Parameters and feedforward are inputs and not part of it.
        """
        return self._engine.save()

    def restore_state(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save_state` returned: the efforts from here on are bit for bit those from there on.

        Args:
            saved: From this wrapper, or from one of the same actuators on as many robots.

        Raises:
            ValueError: It comes from other actuators; nothing is changed then.
        """
        self._engine.restore(saved)

    def set_dof_feedforward_effort_targets(
        self, target_feedforward_efforts: Any, *, indices: Any = None, dof_indices: Any = None
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
        rows = resolve_indices(indices, self._num_robots, "robot")
        columns = resolve_indices(dof_indices, self._feedforward.shape[1], "DOF")
        values = broadcast(target_feedforward_efforts, (len(rows), len(columns)), "target_feedforward_efforts")
        self._feedforward[np.ix_(rows, columns)] = values
        if not wp.get_device(self._robots.device).is_cpu:
            self._feedforward_on_device.assign(self._feedforward)

    # end of life

    def close(self) -> None:
        """Detach: clear the efforts and restore the drive gains that were set to zero, as far as physics runs.

        Calling it again does nothing.
        """
        if self._closed:
            return
        self._closed = True
        _open.discard(self)
        self._unsubscribe_step()
        for subscription in self._subscriptions:
            subscription.close()
        attached, self._buffers = self._buffers is not None, None
        if attached and self._columns and self._are_robots_there():
            release_drives(self, self._bus, self.articulation, self.actuated_dof_indices)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # the interpreter may be going down, the constructor may have failed
        with contextlib.suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        first, last = self._paths[0], self._paths[-1]
        where = first if self._num_robots == 1 else f"{first} … {last}"
        return f"<ArticulationActuators of {where}: {len(self._axes)} joints x {self._num_robots} robots>"

    # inside

    def _attach(
        self,
        host: Host,
        robots: Binding,
        entries: list[ActuatorEntry],
        axes: list[tuple[str, str]],
        auto_step: bool,
        device: Any,
    ) -> None:
        """Build everything, then attach to physics and register with the bus; an error leaves nothing of it behind.

        `axes` names the driven joint of each slot: its path on the prototype, and its name.
        """
        self._closed = self._observing = False
        # physics lives as long as the wrapper
        self._host, self._bus, self._robots = host, host.bus, robots
        self._auto_step = auto_step
        self._axes = axes
        self._num_robots, self._paths = robots.num_robots, list(robots.articulation.paths)
        self._columns = self._find_columns()
        self._error: BaseException | None = None
        self._buffers: Buffers | None = None
        self._step_subscription: Subscription | None = None
        self._subscriptions: list[Subscription] = []
        self._feedforward = np.zeros((self._num_robots, robots.articulation.num_dofs), np.float32)
        _open.add(self)
        with quiet_warp():
            if device is not None and wp.get_device(device) != wp.get_device(robots.device):
                raise ValueError(
                    f"device = {device}: must be that of the articulation, {robots.device}. Leave device out."
                )
            self._engine = Engine(entries, self._num_robots, robots.device, self._columns)
            self._engine.place(self._columns, self.articulation.num_dofs)
            self._feedforward_on_device = self._on_device(self._feedforward)
        try:
            if self._bus.ready:
                self._on_ready()
            for one in subscribe(self._bus, ready=self._on_ready, stop=self._on_stop, reset=self._on_reset):
                self._subscriptions.append(one)
        except BaseException:
            # the error that counts is the first
            with contextlib.suppress(Exception):
                self.close()
            raise

    def _chosen(self, indices: Any) -> Any:
        """Robots to reset: indices, or the mask itself where it lies on the articulation's GPU."""
        device = wp.get_device(self._robots.device)
        if isinstance(indices, wp.array) and indices.dtype is wp.bool and indices.shape == (self._num_robots,):
            if indices.device == device and not device.is_cpu:
                return indices
        return resolve_indices(indices, self._num_robots, "robot").tolist()

    def _observed(self, which: int) -> np.ndarray:
        if not self._observing:
            raise RuntimeError(f"{self!r} does not observe its efforts. Call observe_efforts() before the step.")
        return self._engine.observed()[which][:, np.argsort(self._columns)]

    def _on_device(self, feedforward: np.ndarray) -> wp.array:
        """The feedforward where actuators read it; on the CPU that is the same memory."""
        device = wp.get_device(self._robots.device)
        return wp.array(feedforward, dtype=wp.float32, device=device, copy=not device.is_cpu)

    def _find_columns(self) -> list[int]:
        """Column of each slot in the articulation as it is now.

        Raises:
            HostError: A joint is gone.
        """
        there = list(zip(self._robots.prototype_dof_paths, self.articulation.dof_names, strict=True))
        if missing := [path for path, name in self._axes if (path, name) not in there]:
            raise HostError(f"{self!r}: joints {missing} are no longer there. Close it and make a new one.")
        return [there.index(axis) for axis in self._axes]

    def _on_ready(self) -> None:
        """Physics runs: attach to it; an error is kept, for some simulators pass none on."""
        # physics may be initialised again in mid-session; the arrays of before are void
        self._unsubscribe_step()
        self._buffers = None
        try:
            self._bind()
        except Exception as error:
            self._error = error
            raise

    def _bind(self) -> None:
        """Bind to the arrays of physics, take the drives, start stepping."""
        if not self._are_robots_there():
            raise self._robots_gone()
        try:
            paths = list(self.articulation.paths)
        except ValueError as error:
            raise self._robots_gone() from error
        if len(paths) != self._num_robots:
            raise HostError(
                f"{self!r} was made for {self._num_robots} robots and its paths match {len(paths)} now. "
                "Close it and make a new one."
            )
        columns = self._find_columns()
        feedforward = np.zeros((self._num_robots, self.articulation.num_dofs), np.float32)
        # joints may have come or gone, and stand elsewhere
        feedforward[:, columns] = self._feedforward[:, self._columns]
        self._paths, self._columns, self._feedforward = paths, columns, feedforward
        buffers = self._robots.buffers(self._columns)
        inputs = (buffers.positions, buffers.velocities, buffers.position_targets, buffers.velocity_targets)
        with quiet_warp():
            self._feedforward_on_device = self._on_device(feedforward)
            self._engine.bind(self._columns, (*inputs, self._feedforward_on_device), buffers.efforts)
            self._engine.reset()
        self._buffers = buffers
        self._error = None
        take_drives(self, self._bus, self.articulation, self.actuated_dof_indices)
        if self._auto_step:
            self._subscribe_step()

    def _on_stop(self) -> None:
        """Physics is gone, and with it arrays and gains."""
        self._unsubscribe_step()
        self._buffers = None
        forget_drives(self._bus)

    def _on_reset(self, env_ids: Sequence[int] | None) -> None:
        """Environments start over: so does the state of their actuators."""
        self.reset(indices=None if env_ids is None else self._robots.envs_to_rows(env_ids))

    def _on_pre_step(self, dt: float, context: Any) -> None:
        """Step; on an error stop stepping and pass the error on."""
        try:
            self.step_actuators(dt, context)
        except Exception as error:
            self._error = error
            self._unsubscribe_step()
            raise

    def _are_robots_there(self) -> bool:
        """Whether the robots are on the stage, as far as their articulation can tell."""
        return getattr(self.articulation, "valid", True)

    def _robots_gone(self) -> HostError:
        return HostError(f"{self!r}: its robots are no longer there. Close it and make a new one.")

    def _not_running(self) -> HostError:
        return HostError(
            f"{self!r}: physics is not running. Call play() before step_actuators(); when another simulation was "
            "opened instead, make a new wrapper there."
        )

    def _lost(self) -> HostError | None:
        """What to say of an error while there is nothing any more to read or write."""
        if not self._are_robots_there():
            return self._robots_gone()
        return None if self._bus.ready else self._not_running()

    def _clear_efforts(self, error: Exception) -> None:
        """Leave no effort behind after an error, which stays the one to report."""
        try:
            self.articulation.set_dof_efforts(0.0, dof_indices=self.actuated_dof_indices)
        except Exception as other:
            error.add_note(f"Besides, the efforts could not be cleared: {other!r}")

    def _subscribe_step(self) -> None:
        """Step from now on, unless an error stopped stepping; without physics there is nothing to step yet."""
        if self._step_subscription is None and self._buffers is not None and self._error is None:
            self._step_subscription = self._bus.on_pre_step(weakly(self._on_pre_step))

    def _unsubscribe_step(self) -> None:
        if self._step_subscription is not None:
            self._step_subscription.close()
            self._step_subscription = None
