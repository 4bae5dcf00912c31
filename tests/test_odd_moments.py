"""Calls at moments when nobody expects them: in callbacks, finalisers, other threads, forked and spawned children."""

import gc
import os
import sys
import threading
import weakref
from collections.abc import Callable

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from places import ROBOTS
from processes import ran

MOTORS = {".*": [aa.PIDControlConfig(20.0, 5.0, 2.0, 10.0), aa.DelayConfig(2)]}
ARM = ROBOTS / "arm_2dof.usda"


class Arm:
    def __init__(self, sim: aa.Simulation) -> None:
        self.sim, self.wrapper = sim, aa.ArticulationActuators("/World/Arm")
        sim.play()
        self.wrapper.articulation.set_dof_position_targets(0.3)
        sim.step(3)

    def efforts(self) -> np.ndarray:
        return self.wrapper.articulation.get_dof_efforts().numpy().copy()


@pytest.fixture
def arm():
    with aa.Simulation(ARM) as sim:
        yield Arm(sim)


def outcome(arm: Arm) -> np.ndarray:
    return arm.wrapper.articulation.get_dof_positions().numpy().copy()


def undisturbed(steps: int) -> np.ndarray:
    with aa.Simulation(ARM) as sim:
        alone = Arm(sim)
        sim.step(steps)
        return outcome(alone)


@pytest.mark.parametrize("order", [-5, 5], ids=["before the actuators", "after them"])
def test_wrapper_closed_by_a_callback_stops_acting(arm, order) -> None:
    arm.sim.bus.on_pre_step(lambda dt, context: arm.wrapper.close(), order=order)
    arm.sim.step(3)
    assert arm.sim.step_count == 6 and arm.sim.playing
    assert not arm.sim.articulation("/World/Arm").get_dof_efforts().numpy().any()


@pytest.mark.parametrize("end", ["close", "stop"])
@pytest.mark.parametrize("order", [-5, 5], ids=["before the actuators", "after them"])
def test_simulation_ended_by_a_callback_steps_no_more(arm, end, order) -> None:
    arm.sim.bus.on_pre_step(lambda dt, context: getattr(arm.sim, end)(), order=order)
    arm.sim.step()
    assert not arm.sim.playing
    with pytest.raises(HostError, match="physics is not running"):
        arm.sim.step(2)


def test_callback_may_play_anew(arm) -> None:
    calls = []

    def once(dt: float, context) -> None:
        calls.append(dt)
        if len(calls) == 1:
            arm.sim.stop()
            arm.sim.play()

    arm.sim.bus.on_pre_step(once)
    arm.sim.step(4)
    assert arm.sim.playing and np.isfinite(outcome(arm)).all()
    arm.sim.step()


def test_callback_that_resets_the_actuators_changes_their_memory_only(arm) -> None:
    arm.sim.bus.on_pre_step(lambda dt, context: arm.wrapper.reset())
    arm.sim.step(5)
    assert arm.sim.step_count == 8 and np.isfinite(outcome(arm)).all()


@pytest.mark.parametrize("what", ["step", "reset", "read", "close the wrapper"])
def test_finaliser_may_use_what_it_likes(arm, what) -> None:
    does: dict[str, Callable] = {
        "step": arm.sim.step,
        "reset": arm.wrapper.reset,
        "read": lambda: (arm.wrapper.save_state(), arm.wrapper.faults),
        "close the wrapper": arm.wrapper.close,
    }
    called = []

    class Dying:
        pass

    def collect(dt: float, context) -> None:
        if not called:
            dying = Dying()
            dying.circle = dying  # type: ignore[attr-defined]
            weakref.finalize(dying, lambda: (called.append(what), does[what]()))
            del dying
            gc.collect()

    arm.sim.bus.on_pre_step(collect, order=-1)
    arm.sim.step(3)
    assert called == [what] and arm.sim.step_count == 6 + (what == "step") and np.isfinite(arm.efforts()).all()


def test_object_that_steps_as_it_dies_steps(arm) -> None:
    class Dying:
        def __del__(self) -> None:
            arm.sim.step(2)

    dying = Dying()
    del dying
    gc.collect()
    np.testing.assert_array_equal(outcome(arm), undisturbed(2))


def in_thread(do: Callable) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            do()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_another_thread_goes_on_where_the_first_was(arm) -> None:
    in_thread(lambda: arm.sim.step(3))
    arm.sim.step(2)
    np.testing.assert_array_equal(outcome(arm), undisturbed(5))
    in_thread(arm.wrapper.close)
    in_thread(arm.sim.close)
    assert not arm.sim.playing


def test_simulations_of_several_threads_are_their_own() -> None:
    expected, found = undisturbed(5), {}

    def work(number: int) -> None:
        sim, wrapper = made[number]
        sim.step(5)
        found[number] = wrapper.articulation.get_dof_positions().numpy()

    made: list[tuple[aa.Simulation, aa.ArticulationActuators]] = []
    for _ in range(3):
        arm = Arm(aa.Simulation(ARM))
        made.append((arm.sim, arm.wrapper))
    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for sim, _ in made:
        sim.close()
    assert len(found) == 3
    for positions in found.values():
        np.testing.assert_array_equal(positions, expected)


def test_error_in_another_thread_is_its_own(arm) -> None:
    with pytest.raises(TypeError, match="steps = 'x'"):
        in_thread(lambda: arm.sim.step("x"))  # type: ignore[arg-type]
    assert arm.sim.step_count == 3


CHILDREN = """
import faulthandler, multiprocessing, os, pickle, sys
import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, DelayConfig, PIDControlConfig

MOTORS = {".*": [PIDControlConfig(20.0, 5.0, 2.0, 10.0), DelayConfig(2)]}

def go_on(arrays, steps):
    now = np.zeros((4, 2), np.float32)
    return [arrays.step(now, now, now + 0.1 * (k + 1), 0.01).copy() for k in range(steps)]

def spawned(pipe, motors, state):
    arrays = ActuatedArrays(["a", "b"], motors, num_robots=4)
    arrays.restore_state(state)
    pipe.send(go_on(arrays, 5))
    # an error that has more than its message, too
    try:
        arrays.step(np.zeros((4, 2), np.float32), None, None, 0.01)
    except Exception as error:
        pipe.send(error)

if __name__ == "__main__":
    faulthandler.dump_traceback_later(100, exit=True)
    arrays = ActuatedArrays(["a", "b"], MOTORS, num_robots=4)
    go_on(arrays, 3)
    state = arrays.save_state()
    if sys.argv[1] == "fork":
        read, write = os.pipe()
        if not os.fork():
            os.write(write, pickle.dumps(go_on(arrays, 5)))
            os._exit(0)
        os.close(write)
        with open(read, "rb") as pipe:
            found = pickle.loads(pipe.read())
        assert os.wait()[1] == 0
    else:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        child = context.Process(target=spawned, args=(there, MOTORS, state))
        child.start()
        found, error = here.recv(), here.recv()
        child.join()
        assert child.exitcode == 0 and isinstance(error, (TypeError, ValueError)), error
    # what a child does is nothing to its parent
    expected = go_on(arrays, 5)
    np.testing.assert_array_equal(found, expected)
    assert np.abs(expected).min() > 0
    print("the same")
"""


@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.slow
def test_children_compute_what_their_parent_would(way, tmp_path) -> None:
    """A forked one steps the same arrays, which are copies then; a spawned one builds anew from motors and state."""
    if way == "fork" and not hasattr(os, "fork"):
        pytest.skip("the system has no fork")
    script = tmp_path / "children.py"
    script.write_text(CHILDREN)
    done = ran([sys.executable, "-W", "ignore", str(script), way], timeout=120)
    assert done.returncode == 0 and "the same" in done.stdout, done.stderr


def test_arrays_that_a_thread_made_are_stepped_by_another() -> None:
    made: list[aa.ActuatedArrays] = []
    in_thread(lambda: made.append(aa.ActuatedArrays(["a"], MOTORS)))
    now = np.zeros((1, 1), np.float32)
    alone = aa.ActuatedArrays(["a"], MOTORS)
    for _ in range(4):
        np.testing.assert_array_equal(made[0].step(now, now, now + 1, 0.01), alone.step(now, now, now + 1, 0.01))
