"""The native core holds no lock while Python runs: callbacks may step, reset and read."""

import os

import pytest
from warm_python import warm_python

COMMON = """
import faulthandler, gc, sys, warnings, weakref
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, ControllerPID, Delay, use_host
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

warnings.simplefilter("ignore")
faulthandler.dump_traceback_later(100, exit=True)
ROBOTS = 8
one = wp.ones(ROBOTS, dtype=wp.float32, device="cpu")
steps = wp.ones(ROBOTS, dtype=wp.int32, device="cpu")
host = ArraysHost(["hip", "knee"], ROBOTS)
with use_host(host):
    host.play()
    config = ActuatorConfig(ControllerPID(one, one, one, one), [], Delay(steps, 2))
    actuators = ArticulationActuators.from_actuators("/Robot_.*", [(config, name) for name in ("hip", "knee")])
host.arrays().velocities[:] = np.nan
host.step(0.01)
actuators.observe_efforts()
"""
COLLECTED = """
called, busy = 0, False

def meanwhile(*_):
    # what a callback may do: all that the wrapper offers
    global called, busy
    if not busy:
        busy = True
        host.step(0.01)
        actuators.reset(indices=[3])
        actuators.save_state()
        actuators.faults
        called += 1
        busy = False

class Dying:
    def __init__(self):
        self.self = self

    def __del__(self):
        meanwhile()

def read():
    {what}

if sys.argv[1] == "callback":
    gc.callbacks.append(meanwhile)
else:
    gc.callbacks.append(lambda phase, _info: Dying() if phase == "stop" else None)
gc.set_threshold(1)
for _ in range(5):
    read()
gc.set_threshold(700)
gc.callbacks.clear()
gc.collect()
assert called > 5, called
assert len(actuators.faults) >= 2 * (ROBOTS - 1)
print("done")
"""
REPLACED = """
heard = []
for number in range(3):
    # all that holds the arrays of before is the core, which lets go of them when it is given others
    for array in vars(host.arrays()).values():
        weakref.finalize(array.base, lambda: heard.append((len(actuators.faults), actuators.save_state())))
    del array
    host.stop()
    host.play()
    host.step(0.01)
assert len(heard) == 3 * 7, len(heard)
print("done")
"""
FORKED = """
import os
robots = 32768
host, gain = ArraysHost(["a", "b", "c"], robots), wp.ones(robots, dtype=wp.float32, device="cpu")
with use_host(host):
    host.play()
    config = ActuatorConfig(ControllerPID(gain, gain, gain, gain))
    actuators = ArticulationActuators.from_actuators("/Robot_.*", [(config, name) for name in "abc"])

def go_on():
    for target in range(50):
        host.arrays().position_targets[:] = target
        host.step(0.01)
    return host.arrays().efforts.sum()

# its watch is a thread too, for which a child would wait
faulthandler.cancel_dump_traceback_later()
for _ in range(4):
    # right after a step, when the second thread is just falling asleep
    go_on()
    if (child := os.fork()) == 0:
        faulthandler.dump_traceback_later(100, exit=True)
        os._exit(0 if go_on() > 0 else 3)
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""


def run(code: str, *arguments: str) -> None:
    done = warm_python().run(["-c", COMMON + code, *arguments], timeout=120)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr


@pytest.mark.parametrize("who", ["callback", "finaliser"])
@pytest.mark.parametrize(
    "what",
    ["actuators.faults", "saved = actuators.save_state(); actuators.restore_state(saved)", "actuators.limited_by"],
    ids=["faults", "state", "observed"],
)
def test_a_step_amid_a_reading_does_not_block(who, what) -> None:
    """A callback or a finaliser that the collector runs while faults or states are made into Python objects."""
    run(COLLECTED.replace("{what}", what), who)


def test_arrays_that_go_away_amid_binding_do_not_block() -> None:
    run(REPLACED)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_steps_without_the_second_thread(monkeypatch) -> None:
    monkeypatch.setenv("ACTUATORS_HELPER", "1")
    run(FORKED)
