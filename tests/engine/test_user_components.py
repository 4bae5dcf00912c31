"""Components of a program: they stay the same objects, a second use is a copy, and closing releases them."""

from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine import user_components
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from own_components import OwnController, OwnLimit
from played import played_arrays
from refusals import cases, refused

NAMES = ["hip", "knee", "ankle"]
ROBOTS = 3


def array(value, dtype=wp.float32) -> wp.array:
    return wp.array(np.broadcast_to(value, ROBOTS), dtype=dtype, device="cpu")


def pd(kp=10.0) -> aa.ControllerPD:
    return aa.ControllerPD(array(kp), array(0.0))


@pytest.fixture
def host():
    """Three robots at rest whose targets are 1 everywhere, physics running."""
    with played_arrays(NAMES, ROBOTS) as made:
        made.arrays().position_targets[:] = 1.0
        yield made


def wrapped(*pairs: tuple[aa.ActuatorConfig, str]) -> aa.ArticulationActuators:
    return aa.ArticulationActuators.from_actuators("/Robot_.*", pairs)


def efforts(host: ArraysHost, column: int = 0) -> list[float]:
    host.step(0.01)
    return host.arrays().efforts.reshape(ROBOTS, -1)[:, column].tolist()


def test_components_are_the_objects_given(host) -> None:
    config = aa.ActuatorConfig(pd(), [aa.ClampingMaxEffort(array(50.0))], aa.Delay(array(0, wp.int32), 1))
    gains = [array(value) for value in (4.0, 0.0, 0.0, 1.0)]
    own = aa.ActuatorConfig(OwnController(*gains), [OwnLimit(array(50.0))])
    with wrapped((config, "hip"), (own, "knee")) as wrapper:
        for actuator, each in zip(wrapper.actuators, (config, own), strict=True):
            assert actuator.controller is each.controller
            assert [one is other for one, other in zip(actuator.clamping, each.clamping, strict=True)] == [True]
            assert actuator.delay is each.delay
        assert efforts(host) == [10.0] * 3
        config.controller.kp.assign([1.0, 2.0, 3.0])
        config.clamping[0].max_effort = array(2.5)
        own.controller.kp = array(7.0)
        assert efforts(host) == [1.0, 2.0, 2.5] and efforts(host, 1) == [7.0] * 3


@pytest.mark.parametrize("law", [aa.ControllerPID, OwnController])
def test_component_of_several_joints_is_copied_for_the_second(host, law) -> None:
    limit = aa.ClampingMaxEffort(array(50.0))
    config = aa.ActuatorConfig(law(*[array(value) for value in (10.0, 10.0, 0.0, 9.0)]), [limit, limit])
    with wrapped((config, "hip"), (config, "knee")) as wrapper:
        first, second = wrapper.actuators
        assert first.controller is config.controller is not second.controller
        assert first.clamping[0] is limit is not first.clamping[1]
        assert len({id(clamp) for one in wrapper.actuators for clamp in one.clamping}) == 4
        # the integral of one joint is not that of the other
        host.arrays().position_targets[1::3] = 2.0
        for step in range(3):
            efforts(host)
            expected = 10.0 + 0.1 * (step + 1)
            np.testing.assert_allclose(host.arrays().efforts, [expected, 2 * expected, 0.0] * ROBOTS, rtol=1e-6)
        second.clamping[0].max_effort = array(1.0)
        assert efforts(host, 1) == [1.0] * 3 < efforts(host, 0)


@pytest.mark.parametrize("own", [False, True])
def test_component_of_an_open_wrapper_is_copied_with_its_values(host, own) -> None:
    gains = [array(value) for value in (10.0, 0.0, 0.0, 1.0)]
    config = aa.ActuatorConfig(OwnController(*gains) if own else aa.ControllerPID(*gains))
    with wrapped((config, "hip")) as first:
        config.controller.kp = array([1.0, 2.0, 3.0])
        with wrapped((config, "knee"), (config, "ankle")) as second:
            held = {id(one.controller) for one in (*first.actuators, *second.actuators)}
            assert len(held) == 3 and efforts(host, 1) == efforts(host, 2) == [1.0, 2.0, 3.0]
            second.actuators[0].controller.kp.fill_(5.0) if not own else None
            assert efforts(host, 0) == [1.0, 2.0, 3.0]
        assert efforts(host, 0) == [1.0, 2.0, 3.0] and first.actuators[0].controller is config.controller


def test_closed_wrapper_leaves_components_with_their_values(host) -> None:
    config = aa.ActuatorConfig(pd(), [aa.ClampingMaxEffort(array(50.0))], aa.Delay(array(0, wp.int32), 1))
    with wrapped((config, "hip")) as first:
        live = config.controller.kp
        live.assign([1.0, 2.0, 3.0])
    assert first.actuators[0].controller.kp.numpy().tolist() == [1.0, 2.0, 3.0]
    assert config.controller.read("const_effort").tolist() == [0.0] * 3
    config.controller.kp = array(8.0)
    with wrapped((config, "knee")) as second:
        live.fill_(77.0)
        assert second.actuators[0].controller is config.controller is first.actuators[0].controller
        assert efforts(host, 1) == [8.0] * 3
        first.close()
        config.controller.kp.fill_(9.0)
        assert efforts(host, 1) == [9.0] * 3


@cases(
    "kp, message",
    (wp.ones(2, dtype=wp.float32, device="cpu"), "has 2 elements: must be 3"),
    (array(1.0, wp.float64), "has dtype float64: must be float32"),
    (array(-1.0), "'knee': kp = -1.0: must be finite and >= 0"),
    (None, "kp = None: must be an array"),
)
def test_wrapper_that_was_refused_changes_nothing(host: ArraysHost, kp: Any, message: str) -> None:
    good, bad = aa.ActuatorConfig(pd()), aa.ActuatorConfig(pd())
    before = dict(vars(good.controller))
    bad.controller.kp = kp
    refused(ValueError, lambda: wrapped((good, "hip"), (bad, "knee")), message)
    assert vars(good.controller) == before
    with wrapped((good, "hip")):
        assert efforts(host) == [10.0] * 3


class Broken(aa.Controller):
    PARAMETERS = ("kp",)
    LAW = aa.ControllerPD.LAW


def test_law_that_cannot_run_takes_no_component(host) -> None:
    good, bad = aa.ActuatorConfig(pd()), aa.ActuatorConfig(Broken(array(1.0)))
    before = good.controller.kp
    refused(TypeError, lambda: wrapped((good, "hip"), (bad, "knee")), r"Broken\.LAW takes")
    assert vars(good.controller)["kp"] is before and "parameter_source" not in vars(good.controller)


def test_arrays_go_to_the_device_of_the_articulation(monkeypatch) -> None:
    moved = []
    real = wp.array.to

    def to(array: wp.array, device, *arguments, **named) -> wp.array:
        if device == "cpu":
            return real(array, device, *arguments, **named)
        moved.append(device)
        return wp.clone(array)

    config = aa.ActuatorConfig(OwnController(*[array(1.0)] * 4))
    before = config.controller.kp
    user_components.entries_from_configs([(config, "hip")], ROBOTS, "cpu")
    assert config.controller.kp is before
    monkeypatch.setattr(wp.array, "to", to)
    monkeypatch.setattr(user_components, "wp", SimpleNamespace(array=wp.array, get_device=lambda device: device))
    (entry,) = user_components.entries_from_configs([(config, "hip")], ROBOTS, "cuda:0")
    assert moved == ["cuda:0"] * 4 and entry.controller is config.controller and config.controller.kp is not before


@pytest.mark.skipif(not wp.is_cuda_available(), reason="this machine has no GPU")
@pytest.mark.parametrize("law", [aa.ControllerPID, OwnController])
def test_arrays_of_a_gpu_drive_an_articulation_on_the_cpu(host: ArraysHost, law: type) -> None:
    there = wp.full(ROBOTS, 5.0, dtype=wp.float32, device="cuda:0")
    config = aa.ActuatorConfig(law(there, *[wp.zeros_like(there)] * 2, wp.ones_like(there)))
    with wrapped((config, "hip")):
        assert efforts(host) == [5.0] * 3
        if law is aa.ControllerPID:
            config.controller.kp = wp.full(ROBOTS, 6.0, dtype=wp.float32, device="cuda:0")
            assert efforts(host) == [6.0] * 3


PD_CONFIG, PLAIN, MOTOR = (
    aa.PDControlConfig(10.0, 0.0),
    aa.MaxEffortClampingConfig(10.0),
    aa.DCMotorClampingConfig(100, 10, 1000),
)


@pytest.mark.parametrize("clamps", [[PLAIN, MOTOR], [MOTOR, PLAIN]], ids=["plain first", "plain last"])
def test_configs_act_in_canonical_order_by_every_way_in(host, clamps) -> None:
    """At 15 rad/s the motor brakes with 50, and the plain limit, which is the last, leaves 10 of that."""
    host.arrays().velocities[:] = 15.0
    ways = {
        "pairs": lambda: wrapped((aa.ActuatorConfig(PD_CONFIG, clamps), "hip")),
        "a list": lambda: aa.ArticulationActuators.from_configs("/Robot_.*", {".*": [PD_CONFIG, *clamps]}),
        "a motor": lambda: aa.ArticulationActuators.from_configs(
            "/Robot_.*", {".*": aa.MotorConfig(PD_CONFIG, clamps)}
        ),
    }
    for way, made in ways.items():
        with made():
            assert efforts(host) == [-10.0] * ROBOTS, way


def test_losses_of_a_gear_are_friction_by_every_way_in(host) -> None:
    gear = aa.TransmissionConfig(2.0, efficiency=0.8, backdriving_efficiency=0.8)
    none = aa.FrictionConfig(assumed_inertia=0.1)
    found = []
    ways = (
        lambda: wrapped((aa.ActuatorConfig(PD_CONFIG, others=[gear, none]), "hip")),
        lambda: aa.ArticulationActuators.from_configs("/Robot_.*", {".*": [PD_CONFIG, gear, none]}),
    )
    for way in ways:
        with way() as made:
            friction = next(one for one in made.actuators[0].stages if isinstance(one, aa.PassiveFriction))
            found.append([friction.motor_load.numpy()[0], friction.external_load.numpy()[0]])
    np.testing.assert_allclose(found, 0.2 * 0.2 / (1.0 - 0.64), rtol=1e-6)
    with pytest.raises(ValueError, match=r"efficiency = 0.8, backdriving_efficiency = 1.0: must not differ so much"):
        odd = aa.TransmissionConfig(2.0, efficiency=0.8, backdriving_efficiency=1.0)
        wrapped((aa.ActuatorConfig(PD_CONFIG, others=[odd]), "hip"))


def test_list_with_a_component_keeps_its_order(host) -> None:
    host.arrays().velocities[:] = 15.0
    plain, motor = aa.ClampingMaxEffort(array(10.0)), aa.ClampingDCMotor(array(100.0), array(10.0), array(1000.0))
    for clamps in ([plain, motor], [PLAIN, motor], [plain, MOTOR]):
        with wrapped((aa.ActuatorConfig(PD_CONFIG, clamps), "hip")):
            assert efforts(host) == [-50.0] * ROBOTS
