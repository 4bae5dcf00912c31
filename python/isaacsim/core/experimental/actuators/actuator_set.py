"""`ActuatorSet`: what the actuators of some robots are asked and told, whoever steps them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import warp as wp

from .hosts.values import resolve_indices
from .pipeline.actuator import Actuator
from .pipeline.assembly import Assembly


class ActuatorSet:
    """The actuators of some joints of one or more equal robots; a subclass builds them and knows when they step."""

    _assembly: Assembly
    _observing = False

    # what it consists of

    @property
    def actuators(self) -> list[Actuator]:
        """The actuators: from USD in stage order, from Python by their first joints.

        Writing to `actuators[0].controller.kp` acts at the next step.
        """
        return list(self._assembly.actuators)

    @property
    def actuated_dof_indices(self) -> list[int]:
        """Columns of the actuated joints, ascending."""
        return sorted(self._columns)

    @property
    def engine(self) -> str:
        """What computes the efforts: `native` with its instruction set, `warp`, `custom`, or several of them."""
        return self._assembly.name

    # what they did

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

    # what they remember

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
        self._assembly.draw_delays(low, high, seed)

    def save_state(self) -> dict[str, np.ndarray]:
        """Return what the actuators remember (delays, integrals, faults) as plain arrays, for `numpy.savez` say.

        Parameters and feedforward are inputs and not part of it.
        """
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
        self._assembly.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # the interpreter may be going down, the constructor may have failed
        with contextlib.suppress(Exception):
            self.close()

    # inside

    @property
    def _columns(self) -> list[int]:
        """Column of each actuated joint, in the order of the actuators."""
        return self._assembly.columns

    def _forget(self, indices: Any) -> None:
        """Reset the state of robots: indices or a mask, None for all."""
        self._assembly.reset(None if indices is None else self._chosen(indices))

    def _chosen(self, indices: Any) -> Any:
        """Robots to reset: their numbers, or the mask itself where it lies on the GPU of the actuators."""
        device, count = self._assembly.device, self._assembly.num_robots
        there = isinstance(indices, wp.array) and indices.device == device and not device.is_cpu
        if there and indices.dtype is wp.bool and indices.shape == (count,):
            return indices
        return resolve_indices(indices, count, "robot").tolist()

    def _observed(self, which: int) -> np.ndarray:
        if not self._observing:
            raise RuntimeError(f"{self!r} does not observe its efforts. Call observe_efforts() before the step.")
        return self._assembly.observed()[which][:, np.argsort(self._columns)]
