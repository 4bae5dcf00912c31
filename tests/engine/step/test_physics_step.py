"""What laws require of the physics step."""

import gc
import weakref

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.engine.step.physics_step import KeptDelays
from refusals import cases

PD = aa.PDControlConfig(10.0, 1.0)


@cases(
    "stages, longest",
    ([aa.EncoderConfig(latency=0.008)], 0.00025),
    ([aa.EncoderConfig(latency=0.008, max_steps=4)], 0.002),
    ([aa.TimedDelayConfig(seconds=0.01, max_steps=5)], 0.002),
    ([aa.EffortDelayConfig(seconds=0.01, max_steps=5)], 0.002),
    # with a rate, delays up to the controller count in its steps; that of the effort does not
    ([aa.TimedDelayConfig(seconds=0.01, max_steps=5), aa.RateConfig(decimation=4)], 0.0005),
    ([aa.EncoderConfig(latency=0.01, max_steps=5), aa.RateConfig(frequency=500.0)], 0.00001),
    ([aa.EffortDelayConfig(seconds=0.01, max_steps=5), aa.RateConfig(decimation=4)], 0.002),
)
def test_a_step_that_is_too_short_for_what_is_kept_is_refused(stages, longest) -> None:
    arrays, zeros = aa.ActuatedArrays(["hip"], {".*": [PD, *stages]}), np.zeros(1, np.float32)
    arrays.step(zeros, zeros, zeros, longest)
    if any(isinstance(one, aa.RateConfig) and one.frequency for one in stages):
        return
    with pytest.raises(ValueError, match=r"'hip': \w+: a delay of .* steps of .* s: must be at most \d+\. Give max_"):
        arrays.step(zeros, zeros, zeros, longest / 2.0)
    arrays.step(zeros, zeros, zeros, longest)


@pytest.mark.skipif(core is None, reason="the native core was not built")
def test_delays_are_checked_once_per_physics_step(monkeypatch) -> None:
    checked: list[float | None] = []
    monkeypatch.setattr(KeptDelays, "require_dt", lambda _, dt: checked.append(dt))
    arrays, zeros = aa.ActuatedArrays(["hip"], {".*": [PD, aa.EncoderConfig(latency=0.008)]}), np.zeros(1, np.float32)
    for dt in (0.005, 0.005, 0.004, 0.004, 0.004, 0.005):
        arrays.step(zeros, zeros, zeros, dt)
    assert checked == [0.005, 0.004, 0.005]
    ((_, step),) = arrays._assembly.parts
    step = weakref.ref(step)
    del arrays
    gc.collect()
    assert step() is None
