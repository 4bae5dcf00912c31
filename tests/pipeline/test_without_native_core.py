"""Where the native core was not built, and on a GPU, Warp runs everything."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, ControllerPD, use_host
from isaacsim.core.experimental.actuators.hosts.arrays import ArraysHost
from isaacsim.core.experimental.actuators.pipeline import assembly


def test_missing_core_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """With what to do about it; actuators work all the same."""
    monkeypatch.setattr(assembly, "is_native_there", lambda: False)
    monkeypatch.setattr(assembly, "_told", set())
    gain = wp.full(1, 3.0, dtype=wp.float32, device="cpu")
    for _ in range(2):
        host = ArraysHost(["knee"])
        with use_host(host):
            host.play()
            with ArticulationActuators.from_actuators("/Robot", [(ActuatorConfig(ControllerPD(gain, gain)), "knee")]):
                host.arrays().position_targets[:] = 2.0
                host.step(0.01)
                assert host.arrays().efforts.tolist() == [6.0]
    (record,) = caplog.records
    assert "native core was not built" in record.message and "C++17 compiler" in record.message


def test_warp_computes_on_a_gpu(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Whether the core was built or not, and then without a word."""
    monkeypatch.setattr(assembly.wp, "get_device", lambda _device: SimpleNamespace(is_cpu=False))
    for there in (True, False):
        monkeypatch.setattr(assembly, "is_native_there", lambda there=there: there)
        assert not assembly._use_native("cuda:0")
    assert not caplog.records
