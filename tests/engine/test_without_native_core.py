"""Without the native core, and on a GPU, Warp runs all actuators."""

from types import SimpleNamespace

import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, ControllerPD
from isaacsim.core.experimental.actuators.engine import assembly
from played import played_arrays


def test_missing_core_is_logged_once(monkeypatch, caplog) -> None:
    monkeypatch.setattr(assembly, "has_native_core", lambda: False)
    monkeypatch.setattr(assembly, "missing_core", lambda: "No native core for Python 3.12 in this package")
    monkeypatch.setattr(assembly, "_warned", set())
    gain = wp.full(1, 3.0, dtype=wp.float32, device="cpu")
    for _ in range(2):
        with played_arrays(["knee"]) as host:
            with ArticulationActuators.from_actuators("/Robot", [(ActuatorConfig(ControllerPD(gain, gain)), "knee")]):
                host.arrays().position_targets[:] = 2.0
                host.step(0.01)
                assert host.arrays().efforts.tolist() == [6.0]
    (record,) = caplog.records
    assert record.message == "No native core for Python 3.12 in this package"


def test_core_that_is_turned_off_is_no_core_missing(monkeypatch, caplog) -> None:
    monkeypatch.setattr(assembly, "has_native_core", lambda: False)
    monkeypatch.setattr(assembly, "_warned", set())
    monkeypatch.setattr(assembly, "missing_core", lambda: None)
    assert not assembly._use_native("cpu") and not caplog.records


def test_warp_computes_on_a_gpu(monkeypatch, caplog) -> None:
    monkeypatch.setattr(assembly.wp, "get_device", lambda _device: SimpleNamespace(is_cpu=False))
    for there in (True, False):
        monkeypatch.setattr(assembly, "has_native_core", lambda there=there: there)
        assert not assembly._use_native("cuda:0")
    assert not caplog.records
