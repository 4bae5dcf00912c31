"""Functions that programs import from inside the documented extension: they build what was parsed, and warn once."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.compat.impl import build_clamping, build_controller, build_delay, warn_once
from played import played_arrays
from pxr import Usd, UsdPhysics
from refusals import cases, refused

ROBOTS = 3
INSTEAD = {
    "build_controller": "PDControlConfig",
    "build_clamping": "MaxEffortClampingConfig",
    "build_delay": "DelayConfig",
}
# what the first test is about
pytestmark = pytest.mark.filterwarnings("ignore:build_")


@pytest.fixture
def fresh():
    warn_once.cache_clear()
    yield
    warn_once.cache_clear()


class Spring(aa.Controller):
    PARAMETERS = ("stiffness",)


CALLS = {
    "build_controller": lambda: build_controller(aa.ControllerPD, {"kp": 2.0, "kd": 1.0}, ROBOTS, "cpu"),
    "build_clamping": lambda: build_clamping(aa.ClampingMaxEffort, {"max_effort": 5.0}, ROBOTS, "cpu"),
    "build_delay": lambda: build_delay({"delay_steps": 2}, ROBOTS, "cpu"),
}


@pytest.mark.parametrize("name", CALLS)
def test_first_call_says_what_to_write_instead(name, fresh) -> None:
    with pytest.warns(DeprecationWarning, match=f"{name} comes from .* Write .*{INSTEAD[name]}") as caught:
        CALLS[name]()
        CALLS[name]()
    assert len(caught) == 1 and caught[0].filename == __file__


@cases(
    "component, kwargs, values",
    (aa.ControllerPD, {"kp": 2.0, "kd": 1.0}, {"kp": 2.0, "kd": 1.0, "const_effort": 0.0}),
    (aa.ControllerPID, {"kp": 1.0, "ki": 2.0, "kd": 3.0}, {"ki": 2.0, "integral_max": np.inf}),
    (Spring, {"stiffness": 4.0}, {"stiffness": 4.0}),
)
def test_controller_has_a_value_for_each_robot(component, kwargs, values) -> None:
    built = build_controller(component, kwargs, ROBOTS, "cpu")
    assert isinstance(built, component)
    assert {name: getattr(built, name).numpy().tolist() for name in values} == {
        name: [value] * ROBOTS for name, value in values.items()
    }


def test_clamps_are_built() -> None:
    motor = build_clamping(
        aa.ClampingDCMotor, {"saturation_effort": 4.0, "velocity_limit": 3.0, "max_motor_effort": 2.0}, ROBOTS, "cpu"
    )
    assert motor.velocity_limit.numpy().tolist() == [3.0] * ROBOTS
    table = {"lookup_positions": [0.0, 1.0], "lookup_efforts": [2.0, 3.0]}
    assert build_clamping(aa.ClampingPositionBased, table, ROBOTS, "cpu").lookup_efforts == [2.0, 3.0]


@pytest.mark.parametrize(("kwargs", "steps"), [({"delay_steps": 4}, 4), ({"delay_steps": 0}, 0), ({}, 1)])
def test_delay_is_built(kwargs, steps) -> None:
    delay = build_delay(kwargs, ROBOTS, "cpu")
    assert isinstance(delay, aa.Delay) and delay.max_delay == steps
    assert delay.delay_steps.dtype is wp.int32 and delay.delay_steps.numpy().tolist() == [steps] * ROBOTS


@cases(
    "call, said",
    (lambda: build_controller(aa.ClampingMaxEffort, {"max_effort": 1.0}, 1, "cpu"), "must be a subclass of Controller"),
    (lambda: build_clamping(7, {}, 1, "cpu"), "component_class = 7: must be a subclass of Clamping"),
    (lambda: build_controller(aa.ControllerPD, {"kp": -1.0, "kd": 0.0}, 1, "cpu"), "kp = -1.0"),
    (lambda: build_controller(Spring, {}, 1, "cpu"), "lacks"),
    (lambda: build_delay({"delay_steps": -1}, 1, "cpu"), "delay_steps = -1"),
)
def test_what_cannot_be_built_is_refused(call, said) -> None:
    refused(ValueError, call, said)


def test_parsed_prim_is_built_and_drives() -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.RevoluteJoint.Define(stage, "/Robot/knee")
    clamping = [aa.DCMotorClampingConfig(40.0, 10.0, 25.0), aa.MaxEffortClampingConfig(5.0)]
    prim = aa.add_actuator(
        "/Robot", "knee", "knee", aa.PDControlConfig(20.0, 1.0), clamping=clamping, delay=aa.DelayConfig(2), stage=stage
    )
    parsed = aa.parse_actuator_prim(prim)
    assert parsed is not None
    *clamps, delay = parsed.component_specs
    config = aa.ActuatorConfig(
        build_controller(parsed.controller_class, parsed.controller_kwargs, ROBOTS, "cpu"),
        [build_clamping(component, kwargs, ROBOTS, "cpu") for component, kwargs in clamps],
        build_delay(delay[1], ROBOTS, "cpu"),
    )
    with played_arrays(["knee"], ROBOTS) as host:
        with aa.ArticulationActuators.from_actuators("/Robot_.*", [(config, "knee")]) as wrapper:
            host.arrays().position_targets[:] = [0.1, 0.2, 3.0]
            host.step(0.01)
            np.testing.assert_allclose(wrapper.applied_efforts[:, 0], [2.0, 4.0, 5.0], rtol=1e-6)
