"""What actuators in a loop of one's own are, apart from where their arrays come from."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import warp as wp

from ..components.quiet_warp import quiet_warp
from ..hosts.values import resolve_indices
from ..pipeline.actuator import Actuator
from ..pipeline.assembly import Assembly
from ..pipeline.entry import ActuatorConfig, ActuatorEntry, entry_from_spec
from ..pipeline.given import entries_from_configs
from ..pipeline.motors import Motor, resolve_motors
from ..pipeline.step.fault import Fault
from ..specs.motors import Motors

AnyMotors = Motors | Sequence[tuple[ActuatorConfig, str]]
"""Motors by pattern, or actuators with the names of their joints."""

_INFINITY = float("inf")


class Actuated:
    """Base of `ActuatedArrays` and `ActuatedModel`.

    Args:
        dof_names: Names of the joint axes, one per column.
        motors: Motors by pattern of joint names, as for `ArticulationActuators.from_configs`, or pairs of an
            `ActuatorConfig` and a joint name, as for `from_actuators`.
        num_robots: Number of robots, one per row.
        device: Where efforts are computed, as Warp names it.

    Raises:
        ValueError: A joint name or pattern that does not fit, no motor, or an array of the wrong length.
    """

    def __init__(self, dof_names: Sequence[str], motors: AnyMotors, num_robots: int, device: Any) -> None:
        names = list(dof_names)
        if isinstance(dof_names, str):
            raise ValueError(f"dof_names = {dof_names!r}: must be a list of names. Give [{dof_names!r}].")
        if num_robots < 1:
            raise ValueError(f"num_robots = {num_robots}: must be at least 1. Give the number of rows of the arrays.")
        self._names, self._num_robots, self._device = names, int(num_robots), wp.get_device(device)
        self._observing = self._closed = False
        with quiet_warp():
            entries, self._motors = _entries(motors, names, self._num_robots, self._device)
            # in the order of the entries
            self._columns = [names.index(name) for entry in entries for name in entry.dof_names]
            self._assembly = Assembly(entries, self._num_robots, self._device, self._columns)
            self._assembly.place(self._columns, len(names))

    # what it consists of

    @property
    def dof_names(self) -> list[str]:
        """Names of the joint axes, one per column."""
        return list(self._names)

    @property
    def num_robots(self) -> int:
        """Number of rows."""
        return self._num_robots

    @property
    def device(self) -> str:
        """Where efforts are computed."""
        return str(self._device)

    @property
    def actuators(self) -> list[Actuator]:
        """The actuators by their first joints; writing to `actuators[0].controller.kp` acts at the next step."""
        return list(self._assembly.actuators)

    @property
    def actuated_dof_indices(self) -> list[int]:
        """Columns of the actuated joints, ascending."""
        return sorted(self._columns)

    @property
    def joint_properties(self) -> dict[str, np.ndarray]:
        """`armature` [kg·m² or kg] and `friction` [N·m or N] that motors were given, shape `(robots, DOFs)`.

        They belong into the simulator; NaN where a joint was given none. What no motor was given is left out.
        """
        found: dict[str, np.ndarray] = {}
        for motor in self._motors:
            for name, values in motor.properties.items():
                none = np.full((self._num_robots, len(self._names)), np.nan, np.float32)
                found.setdefault(name, none)[:, motor.columns] = values
        return found

    @property
    def faults(self) -> list[Fault]:
        """Inputs or efforts that were not finite since the last reset, the first of each joint and robot.

        Such a joint gets effort 0 for the step; no other joint is affected.
        """
        return self._assembly.faults()

    @property
    def engine(self) -> str:
        """What computes the efforts: `native` with its instruction set, `warp`, `custom`, or several of them."""
        return self._assembly.name

    def observe_efforts(self, on: bool = True) -> None:
        """Keep from the next step on what `computed_efforts` and `limited_by` show, or stop it. Costs some time."""
        self._assembly.observe(on)
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

    # state

    def reset(self, *, indices: Any = None) -> None:
        """Forget delays, integrals and faults.

        Args:
            indices: Robot indices or mask; None means all. A mask that is a Warp array on the GPU of the actuators
                stays there: nothing waits for it.

        Raises:
            ValueError: An index is out of range.
        """
        count = self._num_robots
        there = isinstance(indices, wp.array) and indices.device == self._device and not self._device.is_cpu
        if indices is None or (there and indices.dtype is wp.bool and indices.shape == (count,)):
            self._assembly.reset(indices)
        else:
            self._assembly.reset(resolve_indices(indices, count, "robot").tolist())

    def draw_delays(self, low: int, high: int, *, seed: int) -> None:
        """Give every robot a random delay, now and again at each of its resets, the same for all its joints.

        Only actuators that have a delay take part, and none gets more than its own largest. Resets the actuators.

        Args:
            low: Smallest delay [steps].
            high: Largest delay [steps].
            seed: Of the random numbers; the same seed and resets give the same delays.

        Raises:
            ValueError: No actuator has a delay, one of them cannot hold `high`, or the range is none.
        """
        self._assembly.draw_delays(low, high, seed)

    def save_state(self) -> dict[str, np.ndarray]:
        """Return what the actuators remember (delays, integrals, faults) as plain arrays, for `numpy.savez` say."""
        return self._assembly.save()

    def restore_state(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save_state` returned: the efforts from here on are bit for bit those from there on.

        Args:
            saved: From these actuators, or from the same ones on as many robots.

        Raises:
            ValueError: It comes from other actuators; nothing is changed then.
        """
        self._assembly.restore(saved)

    # end of life

    def close(self) -> None:
        """Let go of the components that were given: they keep their values, and others can take them."""
        self._closed = True
        self._assembly.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # the interpreter may be going down, the constructor may have failed
        with contextlib.suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._columns)} joints x {self._num_robots} robots on {self._device}>"

    # inside

    def _require_step(self, dt: float) -> None:
        if self._closed:
            raise RuntimeError(f"{self!r} is closed. Make a new one.")
        # NaN is not less than anything
        if not 0.0 < dt < _INFINITY:
            raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0. Give the physics step.")

    def _observed(self, which: int) -> np.ndarray:
        if not self._observing:
            raise RuntimeError(f"{self!r} does not observe its efforts. Call observe_efforts() before the step.")
        return self._assembly.observed()[which][:, np.argsort(self._columns)]


def _entries(
    motors: AnyMotors, names: list[str], num_robots: int, device: Any
) -> tuple[list[ActuatorEntry], list[Motor]]:
    """The actuators by their first joints, and motors as far as they were given by pattern.

    Raises:
        ValueError: A joint name or pattern that does not fit, no motor, or an array of the wrong length.
    """
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"joint {name!r} is found {names.count(name)} times. Give each joint a name of its own.")
    if isinstance(motors, Mapping):
        found = resolve_motors(motors, names, names, num_robots, networks=True)
        specs = [motor.spec for motor in found if motor.spec is not None]
        entries = [entry_from_spec(spec, num_robots, device) for spec in specs]
    else:
        driven = [name for _, name in motors]
        for position, name in enumerate(driven):
            if name not in names:
                raise ValueError(f"joint {name!r}: must be one of {names}. Correct the name.")
            if name in driven[:position]:
                raise ValueError(f"joint {name!r} is given two actuators. Give each joint one.")
        ordered = sorted(motors, key=lambda pair: names.index(pair[1]))
        found, entries = [], entries_from_configs(ordered, num_robots, device)
    if not entries:
        raise ValueError(f"motors = {motors!r}: must drive at least one of {names}. Give {{pattern: motor}}.")
    return entries, found
