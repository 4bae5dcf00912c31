"""`ActuatorSet`: the common interface of a set of actuators."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..base.errors import Closing, NotCopied, shown
from ..base.memory import Array
from ..base.untraced import untraced
from ..base.values import Indices, resolve_indices
from ..laws.contract.catalogue import law_of
from ..laws.passive_brake import PassiveBrake
from ..specs.arguments import flag_of, number_of, require_type
from ..specs.patterns import pattern_problem
from .actuator import Actuator
from .assembly import Assembly
from .recorded_signals import SIGNALS

if TYPE_CHECKING:
    from ..tools.recording.recorder import Recorder
    from .random.randomization import JointProperties, Randomized


class ActuatorSet(Closing, NotCopied):
    """The actuators of some joints of one or more equal robots; a subclass builds them and knows when they step."""

    _assembly: Assembly
    _observing = False

    # parts

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
    def commanded_dof_indices(self) -> list[int]:
        """Columns of those of them that follow commands, ascending; passive joints have no control law."""
        columns = iter(self._columns)
        places = [(next(columns), one) for one in self.actuators for _ in one.dof_names]
        return sorted(column for column, one in places if one.controller is not None)

    @property
    def engine(self) -> str:
        """Engine of the efforts: `native` with its instruction set, `warp`, `custom`, or several of them."""
        return self._assembly.name

    # results

    def observe_efforts(self, on: bool = True) -> None:
        """Keep from the next step on what `computed_efforts`, `motor_efforts` and `limited_by` show, or stop it.

        Costs some time.

        Raises:
            RuntimeError: It was closed.
        """
        self._require_open()
        wanted = flag_of("on", on)
        self._assembly.observe(wanted)
        self._observing = wanted

    @property
    def computed_efforts(self) -> np.ndarray:
        """Efforts of the last step before the clamps [N·m or N], shape `(robots, actuated DOFs)`.

        They are those of the motor where it has a transmission.

        Raises:
            RuntimeError: `observe_efforts` was not called.
        """
        return self._observed(lambda: self._assembly.observed()[0])

    @property
    def motor_efforts(self) -> np.ndarray:
        """Efforts of the last step that came out of the clamps [N·m or N], shaped like `computed_efforts`.

        They are at the joint, behind a transmission. Passive stages such as friction act on them; without such stages
        they are the applied efforts.

        Raises:
            RuntimeError: `observe_efforts` was not called.
        """
        return self._observed(self._assembly.motor_efforts)

    @property
    def measured_positions(self) -> np.ndarray:
        """Positions that the controllers got in the last step [rad or m], shape `(robots, actuated DOFs)`.

        They are those of an `EncoderConfig`, late and in steps, for an actor to observe; joints without one have their
        true positions, as have robots that did not step since a reset. Behind a linkage they are those of the shaft.

        Raises:
            RuntimeError: It was closed, or there are no arrays yet.
        """
        return self._measured()[0]

    @property
    def measured_velocities(self) -> np.ndarray:
        """Velocities that the controllers got in the last step [rad/s or m/s], shaped like `measured_positions`.

        Raises:
            RuntimeError: It was closed, or there are no arrays yet.
        """
        return self._measured()[1]

    @property
    def limited_by(self) -> np.ndarray:
        """Class name of the clamp that changed each effort last, empty for none; shaped like `computed_efforts`.

        Raises:
            RuntimeError: `observe_efforts` was not called.
        """
        return self._observed(lambda: self._assembly.observed()[1])

    def record(
        self,
        signals: Sequence[str] = SIGNALS,
        *,
        capacity: int | None = None,
        robots: Indices = None,
        dofs: str | int | Sequence[str] | Sequence[int] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Recorder:
        """Record what the actuators do, for as long as a `with` block lasts.

        Every completed step of the actuators is recorded. Several recorders may run at once.
        Without a recorder, steps cost nothing extra. On a GPU, steps are synchronized and cannot be captured in graphs.

        Args:
            signals: Of `positions`, `velocities`, `position_targets`, `velocity_targets`, `delayed_position_targets`,
                `delayed_velocity_targets`, `computed_efforts`, `motor_efforts`, `applied_efforts`, `limited_by`,
                `faults`, `power`, of sensors `measured_positions` and `measured_velocities`, of friction and other
                passive stages `passive_efforts`, `passive_power` and
                `sticking`, of motors with a transmission `shaft_positions`, `shaft_velocities` and `shaft_efforts`, of
                elastic ones `rotor_positions` and `rotor_velocities`, and of motors `currents`, `terminal_voltages`,
                `electrical_power`, `losses`, `at_voltage_limit`, `winding_temperatures`, `housing_temperatures` and
                `supply_voltages`. Those that follow from others bring them. Default all, those of laws where joints
                have such laws. Time is always there.
            capacity: How many steps are kept, the last ones; None means all.
            robots: Robot indices or mask; None means all.
            dofs: Regular expressions that match names of joints in full, or columns; None means all actuated joints.
            path: File that the recording is saved to at the end of the block, as by `Recording.save`, however it ends.
                Ctrl+C then ends the block, with a warning, and the program goes on after it. None saves nothing.

        Returns:
            A context manager that returns a `Recording`.

        Raises:
            ValueError: An unknown signal, robot or actuated joint, a capacity below 1, or another extension of `path`.
            OSError: A file of that path could not be written.
            RuntimeError: It was closed.

        Example:
            >>> import numpy as np
            >>> from isaacsim.core.experimental.actuators import (
            ...     ActuatedArrays, MaxEffortClampingConfig, PDControlConfig,
            ... )
            >>> motor = [PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(30.0)]
            >>> leg = ActuatedArrays(["hip", "knee"], {".*": motor})
            >>> q, qd, target = np.zeros((3, 2), np.float32)
            >>> target[:] = 0.2, 0.5
            >>> with leg.record() as log:
            ...     for _ in range(4):
            ...         efforts = leg.step(q, qd, target, 0.005)
            >>> print(log.saturation())
            robot    joint  clamp               share  longest [s]
            robot 0  knee   ClampingMaxEffort  100.0%         0.02
        """
        self._require_open()
        rows = resolve_indices(robots, self._assembly.num_robots, "robot").tolist()
        from ..tools.recording.recorder import Recorder

        joints = self._joints_of(dofs)
        return Recorder(self._assembly, self._robot_names(), signals, capacity, rows, joints, self._turns(), path)

    # additional inputs of controllers

    @untraced
    def set_custom_input(self, name: str, array: Array | None) -> None:
        """Give controllers an array that they ask for by name (`custom_inputs`): measured torque, load, temperature …

        It is read where it lies in every step from now on; write new values into it. A joint for which it holds
        something that is not finite has a fault.

        Args:
            name: One of the `custom_inputs` of a controller.
            array: float32 `(robots, DOFs)`, in the columns of the articulation; of NumPy or Warp on the CPU, of Warp on
                a GPU. None takes it away; a network that asks for it cannot step then.

        Raises:
            ValueError: No controller asks for one of that name, or type, shape or device do not fit.
            RuntimeError: It was closed.
        """
        self._require_open()
        self._assembly.set_custom_input(name, array, self._num_dofs())

    # holding brakes

    def engage(self, dofs: str | int | Sequence[str] | Sequence[int] | None = None, *, robots: Indices = None) -> None:
        """Engage holding brakes, from the next step on; each rises to its torque in its `engage_time`.

        Args:
            dofs: Regular expressions that match names of joints in full, or columns; None means all with a brake.
            robots: Robot indices or mask; None means all.

        Raises:
            ValueError: A joint among them has no `BrakeConfig`, or an unknown robot or joint; nothing is changed then.
            RuntimeError: It was closed.

        Example:
            >>> import numpy as np
            >>> from isaacsim.core.experimental.actuators import ActuatedArrays, BrakeConfig, PDControlConfig
            >>> motor = [PDControlConfig(0.0, 0.0), BrakeConfig(5.0, assumed_inertia=0.1)]
            >>> arm = ActuatedArrays(["elbow"], {"elbow": motor})
            >>> arm.engage("elbow")
            >>> arm.step(np.zeros(1, np.float32), np.ones(1, np.float32), np.zeros(1, np.float32), 0.005).tolist()
            [-5.0]
        """
        self._switch_brakes(1.0, dofs, robots)

    def release(self, dofs: str | int | Sequence[str] | Sequence[int] | None = None, *, robots: Indices = None) -> None:
        """Release holding brakes, from the next step on; each falls to none in its `release_time`; see `engage`."""
        self._switch_brakes(0.0, dofs, robots)

    def _switch_brakes(
        self, engaged: float, dofs: str | int | Sequence[str] | Sequence[int] | None, robots: Indices
    ) -> None:
        self._require_open()
        rows = resolve_indices(robots, self._assembly.num_robots, "robot")
        brakes = list(self._brakes_of(set(self._joints_of(dofs)), every=dofs is not None))
        if not brakes:
            raise ValueError(f"{self!r} has no joint with a brake: must have one. Add a BrakeConfig to its motor.")
        for brake, joints, count in brakes:
            values = brake.read("engaged").reshape(-1, count)
            values[np.ix_(rows, joints)] = engaged
            brake.engaged = wp.array(values.ravel(), dtype=wp.float32, device="cpu")

    def _brakes_of(self, wanted: set[int], *, every: bool) -> Iterator[tuple[PassiveBrake, np.ndarray, int]]:
        """Yield brakes of joints, their places in the actuator and its number of joints; with `every`, all need one."""
        first = 0
        for actuator in self.actuators:
            joints = range(first, first := first + len(actuator.dof_names))
            brakes = [one for one in actuator.stages if law_of(type(one)) is law_of(PassiveBrake)]
            for brake in brakes:
                places = [at - joints[0] for at in joints if at in wanted]
                yield brake, np.array(places, int), len(joints)
            if every and not brakes and (without := wanted.intersection(joints)):
                name = self._assembly.dof_names[min(without)]
                raise ValueError(f"dofs has joint {name!r}, which has no brake: must have one. Add a BrakeConfig.")

    # differences between robots

    def randomize(self, parameters: Randomized, *, seed: int, each_reset: bool = True, first_robot: int = 0) -> None:
        """Draw parameters of the motors at random, for each robot and joint, now and at each reset of a robot.

        `kp`, `max_effort`, `delay_steps` and all others that the actuators have can be drawn, and besides: `strength`,
        a factor of all efforts of a motor, gains and limits alike, with feedforward left as it is; and with the
        embedded simulator `armature` [kg·m² or kg], `friction` [N·m or N] and `viscous_friction` [N·m·s/rad or N·s/m]
        of the joints, which `close` restores. Operations
        `scale` and `add` refer to the nominal value, which a parameter had before. Parameters of earlier calls go on to
        be drawn; None in place of a distribution ends that, with the nominal value.

        Args:
            parameters: By name, a distribution for all joints that have the parameter, or distributions by pattern of
                joint names.
            seed: Of the random numbers, which depend on it, the parameter, joint, robot and number of resets only.
            each_reset: Draw again at each reset of a robot, instead of once.
            first_robot: Number of the first robot, where robots are spread over several processes.

        Raises:
            ValueError: Listing everything that is wrong: a name or pattern that does not fit, or a value out of range
                that might be drawn. Nothing is changed then.
            RuntimeError: It was closed.

        Example:
            >>> from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig, Uniform
            >>> leg = ActuatedArrays(["hip", "knee"], {".*": [PDControlConfig(80.0, 2.0)]}, num_robots=1000)
            >>> leg.randomize({"kp": Uniform(0.8, 1.2, operation="scale"), "kd": {"knee": Uniform(1.0, 3.0)}}, seed=0)
            >>> kp = leg.actuators[0].controller.kp.numpy()
            >>> print(bool(kp.min() < 65.0 and kp.max() > 95.0))
            True
        """
        self._require_open()
        self._assembly.randomize(parameters, seed, each_reset, first_robot, self._joint_properties())

    def drawn_values(self) -> dict[str, dict[str, np.ndarray]]:
        """Return what `randomize` drew last, by parameter and joint, copies of float32 `(robots,)` in SI units.

        Of `strength` these are the factors. It is empty without `randomize`, and properties of joints are those that
        were drawn, also where the simulator has changed them since.

        Raises:
            RuntimeError: It was closed.
        """
        self._require_open()
        return self._assembly.drawn()

    def draw_delays(self, low: int, high: int, *, seed: int) -> None:
        """Give every robot a random delay, now and again at each of its resets, the same for all its joints.

        Only actuators that have a delay take part, and none gets more than its own largest. Resets the actuators. The
        same as `randomize({"delay_steps": Uniform(low, high, per_robot=True)}, seed=seed)`.

        Args:
            low: Smallest delay [physics steps].
            high: Largest delay [physics steps].
            seed: Of the random numbers; the same seed and resets give the same delays.

        Raises:
            ValueError: No actuator has a delay, one of them cannot hold `high`, or the range is none.
            RuntimeError: It was closed.
        """
        from ..specs.distributions import Uniform

        self.randomize({"delay_steps": Uniform(low, high, per_robot=True)}, seed=seed)
        self._assembly.reset()

    # state

    def save_state(self) -> dict[str, np.ndarray]:
        """Return the state of the actuators (delays, integrals, faults) as plain arrays, for `numpy.savez` for example.

        Parameters and feedforward are inputs and not part of it.

        Raises:
            RuntimeError: It was closed.
        """
        self._require_open()
        return self._assembly.save()

    def restore_state(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the state that `save_state` returned: subsequent efforts are bit-identical.

        Args:
            saved: From these actuators, or from the same ones on as many robots.

        Raises:
            ValueError: It comes from other actuators or a later version of this package, or holds what is not finite;
                nothing is changed then.
            RuntimeError: It was closed.
        """
        self._require_open()
        self._assembly.restore(saved)

    # end of life

    def close(self) -> None:
        """Release the components that were given: they keep their values, and others can use them."""
        self._assembly.release()

    def __del__(self) -> None:
        # the interpreter may be shutting down, modules gone, or the constructor may have failed
        try:
            self.close()
        except Exception:
            pass

    # inside

    def _require_open(self) -> None:
        raise NotImplementedError

    def _num_dofs(self) -> int:
        raise NotImplementedError

    def _robot_names(self) -> Sequence[str]:
        return [f"robot {robot}" for robot in range(self._assembly.num_robots)]

    def _turns(self) -> Sequence[bool | None] | None:
        """For each column True if its joint turns, False if it slides; None for an unknown kind, of one or of all."""
        return None

    def _joints_of(self, dofs: str | int | Iterable[str | int] | None) -> list[int]:
        """Actuated joints by name patterns or columns, in the numbering of the assembly, ordered by column."""
        columns = self._columns
        if dofs is None:
            chosen = set(columns)
        else:
            given = [dofs] if isinstance(dofs, str | int) else dofs
            require_type("dofs", given, Iterable, "a pattern or column of joints, or a list of them")
            chosen = {column for one in given for column in self._columns_of(one)}
        return [columns.index(column) for column in sorted(chosen)]

    def _columns_of(self, dof: str | int) -> list[int]:
        """Columns of the actuated joints that a name pattern or column stands for, at least one."""
        columns, names = self._columns, self._assembly.dof_names
        if not isinstance(dof, str):
            found = [column for column in columns if column == number_of("dofs", dof)]
        elif problem := pattern_problem(dof):
            raise ValueError(f"dofs: {shown(dof)} {problem}")
        else:
            found = [column for column, name in zip(columns, names, strict=True) if re.fullmatch(dof, name)]
        if not found:
            raise ValueError(f"dofs: {dof!r} is no actuated joint: must be one of {names}, or its column. Correct it.")
        return found

    def _joint_properties(self) -> JointProperties | None:
        """Access to armature and friction; None where there is none."""
        return None

    @property
    def _columns(self) -> list[int]:
        """Column of each actuated joint, in the order of the actuators."""
        return self._assembly.columns

    def _forget(self, indices: Indices) -> None:
        """Reset the state of robots: indices or a mask, None for all."""
        self._assembly.reset(None if indices is None else self._chosen(indices))

    def _chosen(self, indices: Indices) -> list[int] | wp.array:
        """Robots to reset: their numbers, or the mask itself where it is on the GPU of the actuators."""
        device, count = self._assembly.device, self._assembly.num_robots
        if isinstance(indices, wp.array) and indices.device == device and not device.is_cpu:
            if indices.dtype is wp.bool and indices.shape == (count,):
                return indices
        return resolve_indices(indices, count, "robot").tolist()

    def _measured(self) -> list[np.ndarray]:
        self._require_open()
        if not self._assembly.bound:
            raise RuntimeError(f"{self!r} has no arrays yet. Make a step first.")
        order = np.argsort(self._columns)
        return [values[:, order] for values in self._assembly.measured()]

    def _observed(self, read: Callable[[], np.ndarray]) -> np.ndarray:
        if not self._observing:
            raise RuntimeError(f"{self!r} does not observe its efforts. Call observe_efforts() before the step.")
        return read()[:, np.argsort(self._columns)]
