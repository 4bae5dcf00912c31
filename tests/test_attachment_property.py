"""No order of events breaks the life of a wrapper: random play, stop, overlap, failure and loss against a model."""

from __future__ import annotations

import gc
import re
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from hypothesis import HealthCheck, Phase, settings, stateful
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators import opened
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from places import ROBOTS
from pxr import Usd, UsdPhysics
from stages import stage_of

ROWS = 2
KP_ON_STAGE = 64.0
# each wrapper made in Python has a gain of its own, by which its efforts are known
KPS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
# few numbers: what matters is the order of events
picks = st.integers(0, 11)
often = st.sampled_from([True, True, True, False])
efforts = st.sampled_from([0.0, 0.25, -0.5])
gains = st.sampled_from([3.0, 5.0, 7.0])
some_rows = st.sampled_from([[0], [1], [0, 1]])


class LawError(Exception):
    """Error of the user's law."""


class Fragile(aa.ControllerPID):
    """A user's PID law that can be made to fail."""

    calls_left: int | None = None

    def compute(self, *args, **kwargs) -> None:
        self._count()
        super().compute(*args, **kwargs)

    def update_state(self, current_state, next_state) -> None:
        self._count()
        super().update_state(current_state, next_state)

    def _count(self) -> None:
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left == 0:
                self.calls_left = None
                raise LawError("the law failed")


class Memory:
    """Two robots of three joints in arrays; at position 0 with target 1, so that efforts are known exactly."""

    joints, on_stage, dt = ("hip", "knee", "ankle"), (0, 1), 0.5
    everywhere, one = "/Robot_.*", "/Robot_{}"
    efforts_stay = True

    def __init__(self, generation: int) -> None:
        self.authored = (np.arange(12, dtype=np.float32).reshape(2, ROWS, 3) + 1) * (generation + 1)
        stage = Usd.Stage.CreateInMemory()
        UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/Robot", "Xform"))
        for name in Memory.joints:
            UsdPhysics.RevoluteJoint.Define(stage, f"/Robot/joints/{name}")
        for column in Memory.on_stage:
            law = aa.PIDControlConfig(KP_ON_STAGE, 1.0, 0.0, np.inf)
            aa.add_actuator("/Robot", Memory.joints[column], f"motor_{column}", law, stage=stage)
        self.host = ArraysHost(self.joints, ROWS, stage=stage)
        self.host.bus.on_ready(self._begin, order=-1)
        opened.enter(self.host)

    @property
    def bus(self):
        return self.host.bus

    def play(self) -> None:
        self.host.play()

    def step(self) -> None:
        self.host.step(self.dt)

    def reset(self, envs: list[int] | None) -> None:
        self.bus.emit_reset(envs)

    def stop(self) -> None:
        self.host.stop()

    def close(self) -> None:
        self.host.stop()
        opened.leave(self.host)

    def _begin(self) -> None:
        arrays = self.host.arrays()
        arrays.position_targets[:] = 1.0
        arrays.stiffnesses[:], arrays.dampings[:] = self.authored.reshape(2, -1)


class Mujoco:
    joints, on_stage, dt = ("shoulder", "extension"), (0, 1), 1 / 240
    everywhere, one = "/World/Arm", "/World/envs/env_{}/Arm"
    efforts_stay = False

    def __init__(self, generation: int) -> None:
        stage = stage_of(ROBOTS / "arm_2dof.usda")
        self.authored = np.zeros((2, ROWS, 2), np.float32)
        for column, (name, kind) in enumerate(zip(self.joints, ("angular", "linear"), strict=True)):
            drive = UsdPhysics.DriveAPI(stage.GetPrimAtPath(f"/World/Arm/joints/{name}"), kind)
            # the stage counts angles in degrees
            unit = np.degrees(1.0) if kind == "angular" else 1.0
            for part, attribute in enumerate((drive.CreateStiffnessAttr, drive.CreateDampingAttr)):
                self.authored[part, :, column] = (generation + 1) * (column + 1) / (part + 1)
                attribute((generation + 1) * (column + 1) / (part + 1) / unit)
        self.simulation = aa.Simulation(stage, dt=self.dt, num_envs=ROWS)
        self.bus = self.simulation.bus
        self.play, self.step, self.stop = self.simulation.play, self.simulation.step, self.simulation.stop
        self.reset, self.close = self.simulation.reset, self.simulation.close
        self.host = self.simulation


@dataclass(eq=False)
class Expected:
    wrapper: aa.ArticulationActuators | None
    world: World
    kp: float
    rows: list[int]
    columns: list[int]
    auto: bool
    steps: np.ndarray = field(default_factory=lambda: np.zeros(ROWS))
    feedforward: np.ndarray = field(default_factory=lambda: np.zeros((ROWS, 3)))
    attached: bool = False
    closed: bool = False
    failed: bool = False
    fragile: bool = False
    calls_left: int | None = None
    saved: tuple[Any, np.ndarray] | None = None

    @property
    def at(self) -> tuple[np.ndarray, ...]:
        return np.ix_(self.rows, self.columns)


class World:
    def __init__(self, make: Callable[[int], Any], generation: int) -> None:
        self.real = make(generation)
        self.shape = ROWS, len(self.real.joints)
        self.callbacks_before = self.real.bus.num_callbacks
        self.playing = False
        self.open: list[Expected] = []
        self.stepping: list[Expected] = []

    def begin(self) -> int:
        """Physics becomes ready; returns how many wrappers find others on their joints."""
        self.playing = True
        self.gains = self.real.authored.copy()
        # gains that a user set on driven joints
        self.kept = np.zeros(self.shape, bool)
        self.efforts = np.zeros(self.shape)
        return sum(self.attach(one) for one in self.open)

    def end(self) -> None:
        self.playing = False
        self.stepping.clear()
        for one in self.open:
            one.attached = False

    def owned(self, besides: Expected | None = None) -> np.ndarray:
        found = np.zeros(self.shape, bool)
        for one in self.open:
            if one.attached and one is not besides:
                found[one.at] = True
        return found

    def attach(self, one: Expected) -> bool:
        self.reset(one)
        one.attached, one.failed = True, False
        self.kept[one.at] = False
        self.stepping = [other for other in self.stepping if other is not one]
        if one.auto:
            self.stepping.append(one)
        return bool(self.owned(besides=one)[one.at].any())

    def detach(self, one: Expected) -> None:
        self.open.remove(one)
        if one in self.stepping:
            self.stepping.remove(one)
        if one.attached:
            self.kept[one.at] &= ~self.clear(one)
        one.attached, one.closed = False, True

    def reset(self, one: Expected, rows: list[int] | None = None) -> None:
        one.steps[one.rows if rows is None else rows] = 0
        if rows is None:
            one.failed = False
            self.enable(one)

    def enable(self, one: Expected) -> None:
        if one.auto and one.attached and not one.failed and one not in self.stepping:
            self.stepping.append(one)

    def disable(self, one: Expected) -> None:
        if one in self.stepping:
            self.stepping.remove(one)
            self.clear(one)

    def clear(self, one: Expected) -> np.ndarray:
        """Require no effort on joints without another driver; return these joints."""
        freed = ~self.owned(besides=one)[one.at]
        self.efforts[one.at] = np.where(freed, 0, self.efforts[one.at])
        return freed

    def compute(self, one: Expected) -> bool:
        if one.calls_left is not None:
            one.calls_left -= 2
            if one.calls_left <= 0:
                one.calls_left = None
                self.efforts[one.at] = 0
                return True
        one.steps[one.rows] += 1
        known = one.kp + one.steps[:, None] * self.real.dt + one.feedforward[:, : self.shape[1]]
        self.efforts[one.at] = known[one.at]
        return False


class Life(stateful.RuleBasedStateMachine):
    kind: type

    def __init__(self) -> None:
        super().__init__()
        self.worlds: list[World] = []
        self.wrappers: list[Expected] = []

    @stateful.initialize()
    def first_world(self) -> None:
        self.new_world()

    @property
    def world(self) -> World:
        return self.worlds[-1]

    @stateful.precondition(lambda self: not self.world.playing)
    @stateful.rule()
    def play(self) -> None:
        sharing = self.world.begin()
        with overlaps(sharing):
            self.world.real.play()

    @stateful.precondition(lambda self: self.world.playing and self.kind is Memory)
    @stateful.rule()
    def initialise_again(self) -> None:
        efforts, attached = self.world.efforts, [one for one in self.world.open if one.attached]
        # the others are still there
        shared = sum(bool(self.world.owned(besides=one)[one.at].any()) for one in attached)
        self.world.begin()
        self.world.efforts = efforts
        with overlaps(shared):
            self.world.real.bus.emit_ready()

    @stateful.precondition(lambda self: self.world.playing)
    @stateful.rule(stage_stays=often)
    def stop(self, stage_stays: bool) -> None:
        if stage_stays or len(self.worlds) > 3:
            self.world.real.stop()
            self.world.end()
        else:
            self.world.real.close()
            self.world.end()
            self.new_world()

    @stateful.precondition(lambda self: self.world.stepping)
    @stateful.rule()
    def step(self) -> None:
        self.steps(1)

    @stateful.precondition(lambda self: self.world.stepping)
    @stateful.rule()
    def step_twice(self) -> None:
        self.steps(2)

    @stateful.precondition(lambda self: self.world.playing)
    @stateful.rule(count=st.integers(0, 5))
    def steps(self, count: int) -> None:
        world = self.world
        for _ in range(count):
            failed = [one for one in tuple(world.stepping) if world.compute(one)]
            for one in failed:
                one.failed = True
                world.stepping.remove(one)
            with raises(LawError if failed else None):
                world.real.step()

    @stateful.precondition(lambda self: self.world.playing)
    @stateful.rule(envs=st.none() | some_rows)
    def reset_simulation(self, envs: list[int] | None) -> None:
        self.world.real.reset(envs)
        if not self.world.real.efforts_stay:
            self.world.efforts[slice(None) if envs is None else envs] = 0
        for one in self.world.open:
            self.world.reset(one, None if envs is None else [row for row in envs if row in one.rows])

    def new_world(self) -> None:
        self.worlds.append(World(self.kind, len(self.worlds)))

    @stateful.precondition(lambda self: self.world.playing)
    @stateful.rule(row=st.integers(0, ROWS - 1), pick=picks, gain=gains)
    def user_sets_gains(self, row: int, pick: int, gain: float) -> None:
        world, column = self.world, pick % self.world.shape[1]
        robots = world.real.host.articulation(world.real.everywhere)
        robots.set_dof_gains(gain, gain / 2, indices=[row], dof_indices=[column])
        world.gains[:, row, column] = gain, gain / 2
        world.kept[row, column] = world.owned()[row, column]

    @stateful.precondition(lambda self: len(self.world.open) < 4)
    @stateful.rule(auto=often)
    def read_from_stage(self, auto: bool) -> None:
        real = self.world.real
        self.made(
            lambda: aa.ArticulationActuators(real.everywhere, auto_step_pre_physics=auto),
            Expected(None, self.world, KP_ON_STAGE, [0, 1], list(real.on_stage), auto),
        )

    @stateful.precondition(lambda self: len(self.world.open) < 4)
    @stateful.rule(
        rows=some_rows,
        picked=st.sets(picks, min_size=1, max_size=2),
        auto=often,
        kp=st.sampled_from(KPS),
        calls=st.none() | st.integers(1, 6),
    )
    def build_in_python(self, rows: list[int], picked: set[int], auto: bool, kp: float, calls: int | None) -> None:
        real = self.world.real
        columns = sorted({pick % len(real.joints) for pick in picked})
        # the first law may be one that fails, at the given call
        laws = [aa.ControllerPID if calls is None else Fragile] + [aa.ControllerPID] * (len(columns) - 1)
        constants = [wp.full(len(rows), value, dtype=float, device="cpu") for value in (kp, 1.0, 0.0, np.inf)]
        names = [real.joints[column] for column in columns]
        pairs = [(aa.ActuatorConfig(law(*constants)), name) for law, name in zip(laws, names, strict=True)]
        paths = real.everywhere if len(rows) == ROWS else real.one.format(rows[0])
        one = Expected(None, self.world, kp, rows, columns, auto)
        self.made(lambda: aa.ArticulationActuators.from_actuators(paths, pairs, auto_step_pre_physics=auto), one)
        if calls is not None:
            self.law_will_fail(one, calls)

    def made(self, make: Callable[[], aa.ArticulationActuators], one: Expected) -> None:
        self.world.open.append(one)
        with overlaps(int(self.world.playing and self.world.attach(one))):
            one.wrapper = make()
        self.wrappers.append(one)

    def pick(self, pick: int) -> tuple[Expected, aa.ArticulationActuators]:
        one = self.wrappers[pick % len(self.wrappers)]
        assert one.wrapper is not None
        return one, one.wrapper

    @stateful.precondition(lambda self: self.wrappers)
    @stateful.rule(pick=picks, auto=often)
    def switch_automatic_steps(self, pick: int, auto: bool) -> None:
        one, wrapper = self.pick(pick)
        one.auto = auto
        if auto:
            wrapper.enable_auto_step_pre_physics()
            one.world.enable(one)
        else:
            wrapper.disable_auto_step_pre_physics()
            one.world.disable(one)

    @stateful.precondition(lambda self: self.wrappers)
    @stateful.rule(pick=picks)
    def step_by_hand(self, pick: int) -> None:
        one, wrapper = self.pick(pick)
        expected: type[Exception] | None = None
        words = ""
        if one.failed:
            expected = LawError
        elif not one.attached:
            expected, words = HostError, "closed|physics is not running.*play"
        elif one.world.compute(one):
            expected = LawError
        with raises(expected, words):
            wrapper.step_actuators(one.world.real.dt)

    @stateful.precondition(lambda self: self.wrappers)
    @stateful.rule(pick=picks, robots=st.none() | some_rows)
    def reset_wrapper(self, pick: int, robots: list[int] | None) -> None:
        one, wrapper = self.pick(pick)
        picked = None if robots is None else [robot for robot in robots if robot < len(one.rows)]
        with raises(HostError if one.closed else None, "is closed"):
            wrapper.reset(indices=picked)
        if one.closed:
            return
        one.world.reset(one, None if picked is None else [one.rows[robot] for robot in picked])

    @stateful.precondition(lambda self: self.wrappers)
    @stateful.rule(pick=picks, column=picks, effort=efforts)
    def set_feedforward(self, pick: int, column: int, effort: float) -> None:
        one, wrapper = self.pick(pick)
        column %= one.world.shape[1]
        wrapper.set_dof_feedforward_effort_targets(effort, dof_indices=[column])
        one.feedforward[:, column] = effort

    @stateful.precondition(lambda self: any(one.fragile for one in self.wrappers))
    @stateful.rule(pick=picks, calls=st.integers(1, 6))
    def law_will_fail_again(self, pick: int, calls: int) -> None:
        fragile = [one for one in self.wrappers if one.fragile]
        self.law_will_fail(fragile[pick % len(fragile)], calls)

    def law_will_fail(self, one: Expected, calls: int) -> None:
        assert one.wrapper is not None
        one.wrapper.actuators[0].controller.calls_left = one.calls_left = calls
        one.fragile = True

    @stateful.precondition(lambda self: self.wrappers)
    @stateful.rule(pick=picks)
    def save_or_restore(self, pick: int) -> None:
        one, wrapper = self.pick(pick)
        if one.closed:
            with pytest.raises(HostError, match="is closed"):
                wrapper.save_state()
        elif one.saved is None:
            one.saved = wrapper.save_state(), one.steps.copy()
        else:
            state, one.steps = one.saved
            wrapper.restore_state(state)
            one.saved = None

    @stateful.precondition(lambda self: self.wrappers)
    @stateful.rule(pick=picks, keep=st.booleans())
    def end(self, pick: int, keep: bool) -> None:
        """By close, of closed ones again now and then, or by loss of the last reference."""
        one, wrapper = self.pick(pick)
        if keep:
            wrapper.close()
        else:
            del wrapper
            self.drop(one)
        if not one.closed:
            one.world.detach(one)

    def drop(self, one: Expected) -> None:
        ghost = weakref.ref(one.wrapper)
        self.wrappers.remove(one)
        one.wrapper = None
        # an error it remembers holds it in a circle
        if one.failed:
            gc.collect()
        assert ghost() is None

    def teardown(self) -> None:
        while self.wrappers:
            self.end(0, keep=True)
            self.all_is_as_expected()
            self.drop(self.wrappers[0])
        for world in self.worlds:
            assert world.real.bus.num_callbacks == world.callbacks_before
            world.real.close()

    # what holds at all times

    @stateful.invariant()
    def all_is_as_expected(self) -> None:
        for world in self.worlds:
            expected = world.callbacks_before + 3 * len(world.open) + len(world.stepping)
            assert world.real.bus.num_callbacks == expected
        self.gains_are_as_expected()
        self.efforts_are_as_expected()
        for one in self.wrappers:
            assert one.wrapper is not None and one.wrapper.actuated_dof_indices == one.columns
            assert one.wrapper.faults == [] and "ArticulationActuators of /" in repr(one.wrapper)

    def gains_are_as_expected(self) -> None:
        if self.worlds and self.world.playing:
            world = self.world
            found = world.real.host.articulation(world.real.everywhere).get_dof_gains()
            expected = np.where(world.owned() & ~world.kept, 0, world.gains)
            np.testing.assert_allclose([part.numpy() for part in found], expected, rtol=1e-6)

    def efforts_are_as_expected(self) -> None:
        """Exactly the last step's in arrays; in physics, which consumes them, zero on undriven joints."""
        if self.worlds and self.world.playing:
            world = self.world
            found = world.real.host.articulation(world.real.everywhere).get_dof_efforts().numpy()
            if world.real.efforts_stay:
                np.testing.assert_array_equal(found, world.efforts)
            else:
                assert not found[~world.owned()].any()


class overlaps:
    """Expect that so many wrappers warn of shared joints, and nothing else."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._catch = warnings.catch_warnings(record=True)

    def __enter__(self) -> None:
        self._caught = self._catch.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, kind, *rest) -> None:
        self._catch.__exit__(kind, *rest)
        if kind is None:
            texts = [str(one.message) for one in self._caught or ()]
            assert len(texts) == self._count, texts
            assert all("the one that steps last wins" in text for text in texts), texts


class raises:
    """Expect an error, or none; unlike pytest's it keeps nothing of it alive."""

    def __init__(self, kind: type[Exception] | None, words: str = "") -> None:
        self._kind, self._words = kind, words

    def __enter__(self) -> None: ...

    def __exit__(self, kind, error, _trace) -> bool:
        if self._kind is None:
            return False
        assert kind is self._kind, error
        assert re.search(self._words, str(error)), error
        return True


class LifeInMemory(Life):
    kind = Memory


class LifeInSimulation(Life):
    kind = Mujoco


@pytest.fixture
def young_garbage() -> Iterator[None]:
    """Collecting garbage takes a while with MuJoCo and newton loaded: leave what is there out of it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize(("machine", "examples"), [(LifeInMemory, 120), (LifeInSimulation, 40)])
@pytest.mark.slow
def test_no_order_of_events_breaks_a_wrapper(machine, examples, young_garbage) -> None:
    """Callbacks, gains and efforts are the model's after each event, and nothing raises where it should not."""
    stateful.run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=60,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            # shrinking takes minutes: a failing run is shown as it was
            phases=[Phase.generate],
        ),
    )
