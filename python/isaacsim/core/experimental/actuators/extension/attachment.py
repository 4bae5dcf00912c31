"""Attach the actuators of one wrapper to physics: ready, step, reset and stop events, and what goes wrong in them.

Physics comes and goes while the wrapper lives. With every ready event its arrays are bound, the drives taken and
stepping resumed; every stop invalidates all of that.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import warp as wp

from ..base.errors import HostError, do_all
from ..base.quiet_warp import quiet_warp
from ..base.values import ArrayLike, Indices, as_numpy, broadcast, resolve_indices
from ..engine.assembly import Assembly
from ..engine.faults import without_inertia
from ..engine.handed_over import JointValues
from ..simulators.binding import Binding
from ..simulators.bus import subscribe
from ..simulators.dof_access import span
from ..simulators.drives import clear_efforts, forget_drives, release_drives, take_drives
from ..simulators.motor_properties import (
    DrawnProperties,
    forget_properties,
    require_engine_friction,
    restore_properties,
    set_properties,
)
from ..simulators.port import ArticulationPort, Buffers, PhysicsBus, Subscription, nothing
from ..specs.arguments import number_of

_INFINITY = float("inf")
_numbers = itertools.count()
_open: weakref.WeakSet[Attachment] = weakref.WeakSet()


def attached_to(bus: PhysicsBus) -> list[Any]:
    """The wrappers that are attached to the physics of this bus, as they were made."""
    found = sorted((one for one in _open if one.bus is bus and not one.closed), key=lambda one: one.number)
    return [owner for one in found if (owner := one.owner) is not None]


def _do_both(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Call one after the other."""
    first()
    second()


class Steppable(Protocol):
    """A wrapper whose actuators are attached; physics calls these methods, so that a subclass can override them."""

    def step_actuators(self, step_dt: float, context: object = None) -> None:
        """Step before a physics step."""

    def reset(self, *, indices: Indices = None) -> None:
        """Reset the state of some robots, or of all."""

    def physics_ready(self) -> None:
        """Physics starts, or where it runs already, the actuators are about to step for the first time."""


class Beginning(Protocol):
    """The state in which joints begin."""

    def put(self, articulation: ArticulationPort, rows: Sequence[int] | None = None) -> None:
        """Put robots, all by default, into it."""


class Damping(Protocol):
    """The damping of the motors, while the simulator computes it."""

    def take_back(self) -> None:
        """End this: the simulator computes none from now on."""


class Attachment:
    """Binding between a wrapper and physics.

    The wrapper holds the attachment and not the other way round: a wrapper without references closes itself. `axes` are
    the driven joint of each slot, path on the prototype and name; `properties` what motors add to their joints. With
    `is_plain`, `step_actuators` of the owner only calls `step` here, and can be skipped.
    """

    def __init__(
        self,
        owner: Steppable,
        bus: PhysicsBus,
        robots: Binding,
        axes: list[tuple[str, str]],
        auto_step: bool,
        properties: Sequence[JointValues] = (),
        is_plain: bool = False,
    ) -> None:
        self._owner = weakref.ref(owner)
        self.bus, self._robots = bus, robots
        self._axes, self._auto_step, self._properties = axes, auto_step, properties
        self._is_plain, self._may_step_alone, self._steps_alone, self._is_first = is_plain, False, False, True
        # takes signals of joints over before a step
        self._follow: Callable[[], None] = nothing
        self.num_robots, self.paths = robots.num_robots, list(robots.articulation.paths)
        self.columns = self._find_columns(axes)
        self.closed = False
        self.error: BaseException | None = None
        self.buffers: Buffers | None = None
        self.feedforward = np.zeros((self.num_robots, robots.articulation.num_dofs), np.float32)
        self.feedforward_on_device = self._on_device(self.feedforward)
        require_engine_friction(self, robots.articulation, properties)
        self.drawn = DrawnProperties(self, bus, robots.articulation)
        """Armature and friction of the joints, for those who draw them."""
        self._assembly: Assembly
        self._step_subscription: Subscription | None = None
        self._subscriptions: list[Subscription] = []
        self._holds_drives = False
        self.beginning: Beginning | None = None
        """Initial joint state; None keeps that of the simulator."""
        self.damping: Damping | None = None
        """The damping that the simulator computes; None if it computes none."""
        self.number = next(_numbers)
        """Serial number in the order of creation."""
        _open.add(self)

    @property
    def owner(self) -> Steppable | None:
        """The wrapper, while it lives."""
        return self._owner()

    @property
    def articulation(self) -> ArticulationPort:
        """The robots."""
        return self._robots.articulation

    @property
    def driven(self) -> list[int]:
        """Columns of the actuated joints, ascending."""
        return sorted(self.columns)

    def __repr__(self) -> str:
        # messages name the wrapper, which users know
        return f"<ArticulationActuators of {span(self.paths)}: {len(self._axes)} joints x {self.num_robots} robots>"

    # life

    def open(self, assembly: Assembly) -> None:
        """Attach `assembly` to physics, at once when it runs and from now on whenever it does; close after an error."""
        self._assembly = assembly
        if self.bus.ready:
            self._attach()
        # the stop comes first
        for one in subscribe(self.bus, ready=self._on_ready, stop=self._on_stop, reset=self._on_reset):
            self._subscriptions.append(one)

    def close(self) -> None:
        """Detach for good, as far as physics runs; a part that fails is tried again, and keeps no other from it."""
        self.closed, self.buffers = True, None
        self._share_totals()
        # the stop subscription stays open while drives are not restored
        ends = [functools.partial(self._close_subscription, subscription) for subscription in self._subscriptions]
        do_all([self._unsubscribe_step, self._give_drives_back, *ends])

    def require_open(self) -> None:
        """Raise a HostError once it was closed."""
        if self.closed:
            raise HostError(f"{self!r} is closed. Make a new one.")

    # stepping

    def set_auto_step(self, on: bool) -> None:
        """Step before every physics step from now on, or no longer: then clear the efforts, which would push on."""
        self._auto_step = on
        was_on = self._step_subscription is not None
        if on:
            self._subscribe_step()
        else:
            self._unsubscribe_step()
            if was_on and self.bus.ready and self._are_robots_there():
                clear_efforts(self, self.bus, self.articulation, self.driven)
                self._take_damping_back()

    def step(self, dt: float) -> None:
        """Compute the efforts of the coming physics step and hand them over; see `step_actuators`."""
        if (buffers := self.buffers) is None or self.error is not None or not self._axes:
            self._refuse_step()
            return
        if self._is_first:
            self._begin()
        try:
            # NaN is not less than anything
            if type(dt) is not float:
                dt = number_of("step_dt", dt)
            if not 0.0 < dt < _INFINITY:
                raise ValueError(f"step_dt = {dt}: must be a finite number of seconds > 0.")
            buffers.refresh()
            self._assembly.step(dt)
            buffers.commit()
        except BaseException as error:
            self._step_failed(error)
            raise

    def _begin(self) -> None:
        """Let the owner judge what steps from now on; later steps may do without it."""
        self._is_first = False
        # physics of a small robot takes no longer than the calls through the owner and `step`
        self._steps_alone = self._may_step_alone
        if (owner := self._owner()) is not None:
            owner.physics_ready()

    def resume(self) -> None:
        """Clear the error that stopped stepping, and resume automatic stepping if it is enabled."""
        self.error = None
        self._assembly.reset()
        if self._auto_step:
            self._subscribe_step()

    def applied_efforts(self) -> np.ndarray:
        """Efforts of the driven joints in the arrays that the last step wrote, by column; zero while there are none."""
        if self.buffers is None:
            return np.zeros((self.num_robots, len(self.columns)), np.float32)
        return as_numpy(self.buffers.efforts)[:, self.driven]

    # feedforward

    def set_feedforward(self, values: ArrayLike, indices: Indices, dof_indices: Indices) -> None:
        """Overwrite feedforward efforts, which outlive physics; see `set_dof_feedforward_effort_targets`."""
        rows = resolve_indices(indices, self.num_robots, "robot")
        columns = resolve_indices(dof_indices, self.feedforward.shape[1], "DOF")
        efforts = broadcast(values, (len(rows), len(columns)), "target_feedforward_efforts")
        self.feedforward[np.ix_(rows, columns)] = efforts
        if not wp.get_device(self._robots.device).is_cpu:
            self.feedforward_on_device.assign(self.feedforward)

    def _on_device(self, feedforward: np.ndarray) -> wp.array:
        """The feedforward where actuators read it; on the CPU that is the same memory."""
        device = wp.get_device(self._robots.device)
        return wp.array(feedforward, dtype=wp.float32, device=device, copy=not device.is_cpu)

    # events

    def _on_ready(self) -> None:
        """Attach to physics that starts."""
        self._attach()
        self._begin()

    def _attach(self) -> None:
        """Attach to running physics; an error is stored, for some simulators suppress it."""
        # physics may be initialized again in mid-session, which invalidates the former arrays
        self._unsubscribe_step()
        self.buffers, self._holds_drives = None, False
        try:
            self._bind()
            if self.beginning is not None:
                self.beginning.put(self.articulation)
        except Exception as error:
            self.error = error
            raise

    def _on_reset(self, env_ids: Sequence[int] | None) -> None:
        """Reset the actuators of environments that were reset."""
        if (owner := self._owner()) is not None:
            rows = None if env_ids is None else self._robots.envs_to_rows(env_ids)
            if self.beginning is not None:
                self.beginning.put(self.articulation, rows)
            owner.reset(indices=rows)

    def _on_stop(self) -> None:
        """Release arrays and gains, which end with physics."""
        self._unsubscribe_step()
        self.buffers, self._holds_drives = None, False
        forget_drives(self.bus)
        forget_properties(self.bus)
        self.drawn.forget()

    def _refuse_step(self) -> None:
        """Raise for a step while there is an error or no robot; without joints there is nothing to do."""
        if self.error is not None:
            raise self.error
        if self._axes:
            self.require_open()
            raise self._not_running() if self._are_robots_there() else self._robots_gone()

    def _paths_now(self) -> list[str]:
        """Paths of the robots, which must be as many as before."""
        if not self._are_robots_there():
            raise self._robots_gone()
        try:
            paths = list(self.articulation.paths)
        except ValueError as error:
            raise self._robots_gone() from error
        if len(paths) != self.num_robots:
            raise HostError(
                f"{self!r} was made for {self.num_robots} robots and its paths match {len(paths)} now. "
                "Close it and make a new one."
            )
        return paths

    def _bind(self) -> None:
        """Bind to the arrays of physics, take the drives, start stepping."""
        paths = self._paths_now()
        columns = self._find_columns(self._axes)
        feedforward = np.zeros((self.num_robots, self.articulation.num_dofs), np.float32)
        # joints may be added, removed or reordered
        feedforward[:, columns] = self.feedforward[:, self.columns]
        self.paths, self.columns, self.feedforward = paths, columns, feedforward
        buffers = self._robots.buffers(columns)
        inputs = (buffers.positions, buffers.velocities, buffers.position_targets, buffers.velocity_targets)
        with quiet_warp():
            self.feedforward_on_device = self._on_device(feedforward)
            self._assembly.bind(columns, (*inputs, self.feedforward_on_device), buffers.efforts)
        # where the simulator has signals of its own, no law falls back to mass matrices
        self._follow = self._robots.following(
            self._assembly.signals,
            columns,
            from_matrices=not (hasattr(self.articulation, "joint_signals") or self._assembly.assumes_inertias),
            shafts=self._assembly.shafts,
        )
        if problem := without_inertia(self._assembly.parts, self._robots.told):
            raise HostError(f"{self!r}: {type(self.articulation).__name__} tells no inertia of joints. {problem}")
        self._may_step_alone = self._is_plain and buffers.refresh is nothing is buffers.commit and bool(self._axes)
        self._steps_alone, self._is_first = False, True
        if self._follow is not nothing:
            refresh = (
                self._follow
                if buffers.refresh is nothing
                else functools.partial(_do_both, buffers.refresh, self._follow)
            )
            buffers = dataclasses.replace(buffers, refresh=refresh)
        self.buffers, self._holds_drives = buffers, True
        self.error = None
        take_drives(self, self.bus, self.articulation, self.driven)
        if self._properties:
            given = [(one, self._find_columns(one.axes)) for one in self._properties]
            set_properties(self, self.bus, self.articulation, given)
        self._share_totals()
        self._assembly.reset(new_joints=True)
        if self._auto_step:
            self._subscribe_step()

    def _share_totals(self) -> None:
        """Let the wrappers of the same robots add up totals together, this one while it is open."""
        if not self._has_totals:
            return
        # most robots have none
        from ..engine.totals import share_totals

        if self.closed:
            self._assembly.join_rounds({})
        attached = [one for one in _open if one.bus is self.bus and not one.closed and one._has_totals]
        attached.sort(key=lambda one: one.number)
        share_totals([(one._assembly, one.paths) for one in attached], self.paths)

    @property
    def _has_totals(self) -> bool:
        """True if its actuators ask for totals of robots or publish what these add up; False before `open`."""
        return hasattr(self, "_assembly") and self._assembly.has_totals

    def _give_drives_back(self) -> None:
        """Clear the efforts, restore gains and properties, if they were taken and physics was not stopped since."""
        if self._holds_drives and self._are_robots_there():
            taken = self, self.bus, self.articulation
            drives = [functools.partial(release_drives, *taken, self.driven)] if self.columns else []
            is_set = self.drawn.store() or self._properties
            properties = [functools.partial(restore_properties, *taken)] if is_set else []
            do_all([*drives, self._take_damping_back, *properties])
        self._holds_drives = False

    def _take_damping_back(self) -> None:
        """Have the simulator compute no damping of the motors."""
        if self.damping is not None:
            self.damping.take_back()

    def _close_subscription(self, subscription: Subscription) -> None:
        """Close a subscription; that of the stop, which invalidates drives, only after they are restored."""
        if not (self._holds_drives and subscription is self._subscriptions[0]):
            subscription.close()
            self._subscriptions = [other for other in self._subscriptions if other is not subscription]

    def _find_columns(self, axes: Sequence[tuple[str, str]]) -> list[int]:
        """Column of each joint axis in the articulation as it is now; HostError if a joint is gone."""
        there = list(zip(self._robots.prototype_dof_paths, self.articulation.dof_names, strict=True))
        if missing := [path for path, name in axes if (path, name) not in there]:
            raise HostError(f"{self!r}: joints {missing} are no longer there. Close it and make a new one.")
        return [there.index(axis) for axis in axes]

    def _are_robots_there(self) -> bool:
        """True if the robots are on the stage, or their articulation does not know."""
        return getattr(self.articulation, "valid", True)

    def _robots_gone(self) -> HostError:
        return HostError(
            f"{self!r}: its robots are no longer there: they were removed, or another stage was opened. "
            "Close it and make a new one."
        )

    def _not_running(self) -> HostError:
        return HostError(
            f"{self!r}: physics is not running. Call play() before step_actuators(); when another simulation was "
            "opened instead, make a new wrapper there."
        )

    def _lost(self) -> HostError | None:
        """The error of robots or physics that are gone; None if both are there."""
        if not self._are_robots_there():
            return self._robots_gone()
        return None if self.bus.ready else self._not_running()

    def _step_failed(self, error: BaseException) -> None:
        """Clear the efforts, after an interrupt too; where physics is gone, raise that instead of the error."""
        lost = self._lost()
        if lost is None:
            if self.buffers is not None:
                # what the step wrote until then, where the simulator is given a copy
                written = as_numpy(self.buffers.efforts)
                written[:, self.driven] = 0.0
                if not wp.get_device(self._robots.device).is_cpu:
                    self.buffers.efforts.assign(written)
            try:
                self.articulation.set_dof_efforts(0.0, dof_indices=self.driven)
                self._take_damping_back()
            except Exception as other:
                error.add_note(f"Besides, the efforts could not be cleared: {other!r}")
        elif isinstance(error, Exception):
            raise lost from error

    def _subscribe_step(self) -> None:
        """Step before every physics step from now on, unless an error stopped stepping or physics does not run."""
        if self._step_subscription is not None or self.buffers is None or self.error is not None:
            return
        attachment = weakref.ref(self)

        # a single function, not a method called by `weakly`: physics of a small robot takes a few µs only
        def step(dt: float, context: object) -> None:
            if (living := attachment()) is None:
                return
            try:
                if living._steps_alone and type(dt) is float and 0.0 < dt < _INFINITY:
                    try:
                        if living._follow is not nothing:
                            living._follow()
                        living._assembly.step(dt)
                    except BaseException as error:
                        living._step_failed(error)
                        raise
                elif (owner := living._owner()) is not None:
                    owner.step_actuators(dt, context)
            except Exception as error:
                living.error = error
                living._unsubscribe_step()
                raise

        self._step_subscription = self.bus.on_pre_step(step)

    def _unsubscribe_step(self) -> None:
        if self._step_subscription is not None:
            self._step_subscription.close()
            self._step_subscription = None
