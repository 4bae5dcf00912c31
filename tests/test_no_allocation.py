"""A tick of the wrapper takes no memory and waits for nothing: counted, not timed."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatorConfig,
    ArticulationActuators,
    ClampingDCMotor,
    ClampingMaxEffort,
    ControllerPD,
    ControllerPID,
    Delay,
    use_host,
)
from isaacsim.core.experimental.actuators.hosts.memory import MemoryHost
from isaacsim.core.experimental.actuators.native import core

pytestmark = pytest.mark.skipif(core is None, reason="the native core was not built")

TICKS, ROBOTS, DT = 10_000, 3, 0.005


@pytest.fixture
def wrapper() -> Iterator[ArticulationActuators]:
    """A mixed robot: PD with a motor, PID with a delay, PD with a limit."""

    def full(value: float) -> wp.array:
        return wp.full(ROBOTS, value, dtype=wp.float32, device="cpu")

    lag = Delay(wp.full(ROBOTS, 2, dtype=wp.int32, device="cpu"), 2)
    motor = ClampingDCMotor(full(9), full(5), full(9))
    configs = [
        ActuatorConfig(ControllerPD(full(10), full(1)), [motor]),
        ActuatorConfig(ControllerPID(full(10), full(1), full(1), full(1)), [ClampingMaxEffort(full(8))], lag),
        ActuatorConfig(ControllerPD(full(10), full(1)), [ClampingMaxEffort(full(8))]),
    ]
    host = MemoryHost(["hip", "knee", "ankle"], ROBOTS)
    with use_host(host):
        host.play()
        host.arrays().position_targets[:] = np.linspace(-1, 1, 3 * ROBOTS)
        pairs = list(zip(configs, ("hip", "knee", "ankle"), strict=True))
        with ArticulationActuators.from_actuators("/Robot_.*", pairs) as made:
            for _ in range(100):
                made.step_actuators(DT)
            yield made


def test_ten_thousand_ticks_keep_no_memory(wrapper: ArticulationActuators) -> None:
    """At most a handful of Python objects more than before, and less than a kilobyte in between."""
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(TICKS):
        wrapper.step_actuators(DT)
    assert sys.getallocatedblocks() - before <= 4

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


def test_a_tick_asks_warp_for_nothing(wrapper: ArticulationActuators) -> None:
    """No launch, no copy, no new array, no synchronisation."""
    asked: list[str] = []

    def count(name: str) -> Any:
        return lambda *_args, **_named: asked.append(name)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("launch", "copy", "zeros", "array", "synchronize", "synchronize_device", "synchronize_stream"):
            patch.setattr(wp, name, count(name))
        for _ in range(10):
            wrapper.step_actuators(DT)
    assert asked == []
