"""Joints beside each other, stepped: by each engine, and as each of the public classes binds them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from unittest import mock

import isaacsim.core.experimental.actuators as aa
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine import actuator
from isaacsim.core.experimental.actuators.engine.user_components import entries_from_configs
from isaacsim.core.experimental.actuators.loops import actuated
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.articulation import ArrayArticulation
from isaacsim.core.experimental.actuators.simulators.port import JointViews
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from pair_joints import Joint, motors_of, named_stages

ENGINES = ("native", "warp")
STEPS = 14
DTS = (0.004,) * 9 + (0.005,) * 5
"""Steps of physics [s]; that they change prepares all laws anew."""
INPUTS = ("q", "qd", "q_target", "qd_target", "feedforward")
SIGNALS = ("inertia", "coupled_inertia", "load", "load_is_whole")
"""What simulators tell of joints."""
STATE = ("positions", "velocities", "position_targets", "velocity_targets")
RESET_AT = 6
Fault = tuple[int, int, str, int]
"""Axis, robot, what was not finite, and step."""


@contextlib.contextmanager
def engine(name: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if name == "warp":
            stack.enter_context(mock.patch.object(native, "core", None))
        # so that modes in the engine have their numbers compared without one
        for module in (actuated, actuator):
            stack.enter_context(mock.patch.object(module, "require_no_damping_in_engine", lambda _entries: None))
        yield


@dataclasses.dataclass(frozen=True, eq=False)
class Script:
    """What a joint is told: inputs `(5, steps, robots, axes)`, signals by name `(steps, robots, axes)`."""

    inputs: np.ndarray
    signals: dict[str, np.ndarray]


@functools.cache
def script(joint: Joint, robots: int, faults: bool = True, seed: int = 0) -> Script:
    """Random inputs of a joint; those of a robot are the same however many there are."""
    axes = len(joint.axes)
    parts = [_script_of_robot(joint, axes, robot, seed) for robot in range(robots)]
    inputs = np.stack([one for one, _ in parts], axis=2)
    signals = {name: np.stack([one[name] for _, one in parts], axis=1) for name in parts[0][1]}
    if faults:
        rng = joint.rng(99, seed)
        values = [np.nan, np.inf, -np.inf]
        inputs[rng.integers(5), rng.integers(3, STEPS - 3), -1, rng.integers(axes)] = values[rng.integers(3)]
    return Script(inputs, signals)


def _script_of_robot(joint: Joint, axes: int, robot: int, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = joint.rng(robot, seed)
    shape = STEPS, axes
    qd = rng.normal() + np.cumsum(0.7 * rng.normal(size=shape), axis=0)
    q = rng.normal() + np.cumsum(qd, axis=0) * DTS[0]
    target = q + rng.normal(size=shape)
    inputs = np.stack([q, qd, target, 0.3 * rng.normal(size=shape), rng.normal(size=shape)]).astype(np.float32)
    # some joints do not know their inertia
    inertia = rng.uniform(0.02, 0.5, shape) * (rng.random() < 0.7)
    coupled = inertia * rng.uniform(0.3, 1.0, shape) * (rng.random() < 0.7)
    signals = {"inertia": inertia, "coupled_inertia": coupled, "load": rng.normal(size=shape)}
    signals["load_is_whole"] = np.full(shape, rng.random() < 0.3)
    return inputs, {name: one.astype(np.float32) for name, one in signals.items()}


class Arrays:
    def __init__(self, joints: Sequence[Joint], robots: int) -> None:
        self.names, stages = named_stages(joints, robots)
        self.arrays = aa.ActuatedArrays(self.names, motors_of(self.names, stages), robots)
        self.signals = self.arrays._assembly.signals

    def step(self, inputs: np.ndarray, dt: float) -> np.ndarray:
        """Efforts `(robots, axes)` of inputs `(5, robots, axes)`."""
        q, qd, target, velocity, forward = inputs
        return np.array(self.arrays.step(q, qd, target, dt, qd_target=velocity, feedforward=forward))

    def tell(self, name: str, values: np.ndarray) -> None:
        """Set a signal `(robots, axes)`, of the laws that ask for it."""
        for slots, array in self.signals.get(name, ()):
            array.numpy()[:] = values[:, slots]

    def reset(self, robots: Sequence[int]) -> None:
        self.arrays.reset(indices=list(robots))

    @property
    def faults(self) -> list[Fault]:
        return [
            (self.names.index(one.dof_name), one.robot, " ".join(one.inputs), one.step) for one in self.arrays.faults
        ]

    def close(self) -> None:
        self.arrays.close()


class Wrapper:
    """Joints of `ArticulationActuators`, on a host of arrays that tells signals and takes armatures."""

    def __init__(self, joints: Sequence[Joint], robots: int) -> None:
        names, stages = named_stages(joints, robots)
        self.host = _Host(names, robots)
        paths = [robot.path for robot in self.host.robots()]
        with aa.use_host(self.host):
            self.host.play()
            self.wrapper = (
                aa.ArticulationActuators.from_actuators(paths, motors)
                if isinstance(motors := motors_of(names, stages), list)
                else aa.ArticulationActuators.from_configs(paths, motors)
            )
        self.names, self.shape = names, (robots, len(names))

    def step(self, inputs: np.ndarray, dt: float) -> np.ndarray:
        """Efforts `(robots, axes)` of inputs `(5, robots, axes)`; of modes in the engine what it gets."""
        arrays = self.host.arrays()
        assert arrays is not None
        for name, values in zip(STATE, inputs, strict=False):
            getattr(arrays, name)[:] = values.ravel()
        # its setter refuses what is not finite
        self.wrapper._attachment.feedforward[:] = inputs[4]
        self.host.step(dt)
        return np.array(arrays.efforts).reshape(self.shape)

    def tell(self, name: str, values: np.ndarray) -> None:
        """Set a signal `(robots, axes)`, of the laws that ask for it."""
        self.host.signals[name].numpy()[:] = values

    def reset(self, robots: Sequence[int]) -> None:
        self.wrapper.reset(indices=list(robots))

    @property
    def faults(self) -> list[Fault]:
        return [
            (self.names.index(one.dof_name), one.robot, " ".join(one.inputs), one.step) for one in self.wrapper.faults
        ]

    def close(self) -> None:
        self.wrapper.close()


class _Host(ArraysHost):
    def __init__(self, names: Sequence[str], robots: int) -> None:
        super().__init__(names, robots)
        shape = robots, len(names)
        self.signals = {name: wp.zeros(shape, dtype=wp.float32, device="cpu") for name in SIGNALS}

    def articulation(self, paths: str | Sequence[str]) -> ArrayArticulation:
        return _Articulation(self, paths)


class _Articulation(ArrayArticulation):
    takes_step_armatures = True

    def is_physics_tensor_entity_valid(self) -> bool:
        return True

    def set_step_armatures(self, armatures: object, *, dof_indices: object = None) -> None:
        """They are of the simulator, and efforts are what is looked at."""

    def set_step_tendon_armatures(self, armatures: object, shafts: object) -> None:
        """As those of joints."""

    def joint_signals(self, wanted: Sequence[str]) -> JointViews:
        return JointViews({name: one for name, one in self._backend.signals.items() if name in wanted}, lambda: None)


class Actuators:
    def __init__(self, joints: Sequence[Joint], robots: int) -> None:
        self.names, stages = named_stages(joints, robots)
        count = len(self.names)
        self.shape = robots, count
        pairs = [(aa.ActuatorConfig(**parts_of(some)), name) for some, name in zip(stages, self.names, strict=True)]
        self.actuators = [
            aa.Actuator(
                wp.array(np.arange(robots) * count + at, dtype=wp.uint32, device="cpu"),
                entry.controller,
                entry.delay,
                entry.clamping,
                others=entry.others,
                dof_names=entry.dof_names,
                control_feedforward_attr="feedforward",
            )
            for at, entry in enumerate(entries_from_configs(pairs, robots, "cpu"))
        ]
        self.group = aa.ActuatorGroup(self.actuators)
        self.states = self.group.state(), self.group.state()
        fields = "joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "feedforward", "joint_f"
        self.arrays = {name: wp.zeros(robots * count, dtype=wp.float32, device="cpu") for name in fields}

    def step(self, inputs: np.ndarray, dt: float) -> np.ndarray:
        """Efforts `(robots, axes)` of inputs `(5, robots, axes)`."""
        for array, values in zip(self.arrays.values(), [*inputs, np.zeros_like(inputs[0])], strict=True):
            array.numpy()[:] = values.ravel()
        told = SimpleNamespace(**self.arrays)
        self.group.step(told, told, *self.states, dt)
        self.states = self.states[::-1]
        return np.array(self.arrays["joint_f"].numpy()).reshape(self.shape)

    def tell(self, name: str, values: np.ndarray) -> None:
        """Set a signal `(robots, axes)`, of the laws that ask for it."""
        for at, one in enumerate(self.actuators):
            if name in one.signals:
                one.signals[name].numpy()[:] = values[:, at]

    def reset(self, robots: Sequence[int]) -> None:
        mask = wp.array(np.isin(np.arange(self.shape[0]), robots), dtype=wp.bool, device="cpu")
        for state in self.states[0]:
            if state is not None:
                state.reset(mask)

    @property
    def faults(self) -> list[Fault]:
        """None: an actuator counts its steps otherwise."""
        return []

    def close(self) -> None:
        """Nothing is held."""


def plain(count: int = 1) -> Joint:
    return Joint(f"plain {count}", ((aa.PDControlConfig(0.0, 0.0),),) * count)


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """What a joint did: efforts `(steps, robots, axes)`, and its faults."""

    efforts: np.ndarray
    faults: tuple[Fault, ...]

    def part(self, robots: Sequence[int]) -> Record:
        return Record(np.ascontiguousarray(self.efforts[:, list(robots)]), ())

    def differs_from(self, other: Record) -> str:
        same = self.efforts.view(np.int32) == other.efforts.view(np.int32)
        if not same.all():
            at = tuple(int(one) for one in np.argwhere(~same)[0])
            mine, others = float(self.efforts[at]), float(other.efforts[at])
            return f"{(~same).sum()} of {same.size} efforts, first {mine!r} for {others!r} at {at}"
        return "" if self.faults == other.faults else f"faults {self.faults} for {other.faults}"


Binding = type[Arrays] | type[Wrapper] | type[Actuators]


def run(
    joints: Sequence[Joint],
    robots: int,
    binding: Binding = Arrays,
    *,
    scripts: Mapping[Joint, Script] | None = None,
    resets: Sequence[int] = (1,),
) -> list[Record]:
    told = [(scripts or {}).get(joint) or script(joint, robots) for joint in joints]
    inputs = np.concatenate([one.inputs for one in told], axis=3)
    signals = {name: np.concatenate([one.signals[name] for one in told], axis=2) for name in told[0].signals}
    efforts: list[np.ndarray] = []
    with warnings.catch_warnings():
        # about faults, which are what is asked for
        warnings.simplefilter("ignore")
        world = binding(joints, robots)
        for step in range(STEPS):
            if step == RESET_AT and (again := [robot for robot in resets if robot < robots]):
                world.reset(again)
            for name, values in signals.items():
                world.tell(name, values[step])
            efforts.append(world.step(np.ascontiguousarray(inputs[:, step]), DTS[step]))
        found, faults = np.array(efforts), world.faults
        world.close()
    records, first = [], 0
    for joint in joints:
        last = first + len(joint.axes)
        mine = tuple((axis - first, *rest) for axis, *rest in faults if first <= axis < last)
        records.append(Record(found[:, :, first:last], mine))
        first = last
    return records
