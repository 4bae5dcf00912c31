"""A tick of the wrapper takes no memory and waits for nothing: counted, not timed."""

import gc
import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from processes import ran

pytestmark = pytest.mark.skipif(core is None, reason="the native core was not built")
TICKS, ROBOTS, DT = 10_000, 3, 0.005


@pytest.fixture
def wrapper():
    """A mixed robot: PD with a motor, PID with a delay, PD with a limit."""

    def full(value: float) -> wp.array:
        return wp.full(ROBOTS, value, dtype=wp.float32, device="cpu")

    lag = aa.Delay(wp.full(ROBOTS, 2, dtype=wp.int32, device="cpu"), 2)
    motor = aa.ClampingDCMotor(full(9), full(5), full(9))
    configs = [
        aa.ActuatorConfig(aa.ControllerPD(full(10), full(1)), [motor]),
        aa.ActuatorConfig(aa.ControllerPID(full(10), full(1), full(1), full(1)), [aa.ClampingMaxEffort(full(8))], lag),
        aa.ActuatorConfig(aa.ControllerPD(full(10), full(1)), [aa.ClampingMaxEffort(full(8))]),
    ]
    host = ArraysHost(["hip", "knee", "ankle"], ROBOTS)
    with aa.use_host(host):
        host.play()
        host.arrays().position_targets[:] = np.linspace(-1, 1, 3 * ROBOTS)
        pairs = list(zip(configs, ("hip", "knee", "ankle"), strict=True))
        with aa.ArticulationActuators.from_actuators("/Robot_.*", pairs) as made:
            for _ in range(100):
                made.step_actuators(DT)
            yield made


def test_ten_thousand_ticks_keep_no_memory(wrapper) -> None:
    # a worker's own threads allocate too, now and then: what a tick keeps, it keeps in every turn
    assert min(kept_by_ticks(wrapper) for _ in range(3)) <= 4
    tracemalloc.start()
    try:
        wrapper.step_actuators(DT)
        tracemalloc.reset_peak()
        start, _ = tracemalloc.get_traced_memory()
        for _ in range(100):
            wrapper.step_actuators(DT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - start < 1000


def kept_by_ticks(wrapper: aa.ArticulationActuators) -> int:
    """How many more objects there are after all ticks."""
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(TICKS):
        wrapper.step_actuators(DT)
    return sys.getallocatedblocks() - before


def test_a_tick_asks_warp_for_nothing(wrapper) -> None:
    asked: list[str] = []

    def count(name: str):
        return lambda *_args, **_named: asked.append(name)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("launch", "copy", "zeros", "array", "synchronize", "synchronize_device", "synchronize_stream"):
            patch.setattr(wp, name, count(name))
        for _ in range(10):
            wrapper.step_actuators(DT)
    assert asked == []


COUNTER = """
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static volatile long calls, most;
long allocations(void) { return calls; }
long largest(void) { long found = most; most = 0; return found; }
void *malloc(size_t size) { ++calls; if ((long)size > most) most = size; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { ++calls; return __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { ++calls; return __libc_realloc(memory, size); }
void *aligned_alloc(size_t alignment, size_t size) { ++calls; return __libc_memalign(alignment, size); }
"""
TICKING = """
import ctypes, gc, sys
import numpy as np, warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatorConfig, ArticulationActuators, ClampingMaxEffort, ControllerPID, Delay, use_host
)
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

allocations, robots = ctypes.CDLL(None).allocations, int(sys.argv[1])
full = lambda value, dtype=wp.float32: wp.full(robots, value, dtype=dtype, device="cpu")
names = ["hip", "knee", "ankle"]
pid = [ControllerPID(full(10), full(1), full(1), full(1)) for _ in names]
limits, delays = [ClampingMaxEffort(full(8)) for _ in names], [Delay(full(2, wp.int32), 3) for _ in names]
host = ArraysHost(names, robots)
with use_host(host):
    host.play()
    configs = [ActuatorConfig(law, [limit], lag) for law, limit, lag in zip(pid, limits, delays)]
    with ArticulationActuators.from_actuators("/Robot.*", list(zip(configs, names))) as made:
        for _ in range(100):
            made.step_actuators(0.005)
        gc.collect()
        gc.disable()
        before = allocations()
        for _ in range(10_000 if robots == 1 else 200):
            made.step_actuators(0.005)
        print(allocations() - before, allocations() > 1000)
"""
RECORDING = """
import ctypes
import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig

largest, robots = ctypes.CDLL(None).largest, 512
legs = ActuatedArrays(["hip", "knee"], {".*": [PDControlConfig(1.0, 0.0)]}, robots)
arrays = [np.zeros((robots, 2), np.float32) for _ in range(3)]
legs.step(*arrays, 0.005)
largest()
with legs.record():
    for _ in range(600):
        legs.step(*arrays, 0.005)
    print(largest())
"""


def counted(tmp_path: Path, program: str, *arguments: str) -> list[str]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "counter.c", tmp_path / "counter.so"
    source.write_text(COUNTER)
    subprocess.run([compiler, "-O1", "-fPIC", "-shared", "-o", library, source], check=True)
    environment = os.environ | {"LD_PRELOAD": str(library)}
    said = ran([sys.executable, "-c", program, *arguments], check=True, env=environment).stdout
    return said.splitlines()[-1].split()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts what glibc is asked for")
@pytest.mark.parametrize("robots", [1, 4096])
@pytest.mark.slow
def test_a_tick_takes_no_native_memory(robots, tmp_path) -> None:
    """Neither the core nor anything below it calls the allocator, below and above the size that lets Python go on."""
    count, counts = counted(tmp_path, TICKING, str(robots))
    assert counts == "True", "the counter counts nothing"
    assert int(count) <= 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts what glibc is asked for")
@pytest.mark.slow
def test_a_recording_takes_memory_in_pieces(tmp_path) -> None:
    """None of them is as large as what is recorded, 20 MB, which would be copied."""
    (largest,) = counted(tmp_path, RECORDING)
    assert 10_000 < int(largest) <= 2 << 20
