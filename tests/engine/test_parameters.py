"""Parameters of a wrapper: shared until they are materialized; assigned values act at the next step."""

from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from bare_stages import bare_robot
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from played import played_arrays
from refusals import cases, refused

NAMES = ["hip", "knee"]
ROBOTS, DT = 3, 0.01
EACH = [2.0, 3.0, 4.0]


def array(values, dtype=wp.float32) -> wp.array:
    return wp.array(np.broadcast_to(values, ROBOTS), dtype=dtype, device="cpu")


def motor(stall, no_load, peak) -> aa.ClampingDCMotor:
    return aa.ClampingDCMotor(array(stall), array(no_load), array(peak))


class Legs:
    """Three robots; of the first joint's actuator each parameter may be assigned to."""

    def __init__(self, *clamps, kp=100.0, steps=0, law: type = aa.ControllerPD) -> None:
        self.host = ArraysHost(NAMES, ROBOTS)
        delay = aa.Delay(array(steps, wp.int32), 3)
        config = aa.ActuatorConfig(law(array(kp), array(0.0)), list(clamps), delay)
        with aa.use_host(self.host):
            self.host.play()
            self.wrapper = aa.ArticulationActuators.from_actuators("/Robot_.*", [(config, name) for name in NAMES])
        self.actuator = self.wrapper.actuators[0]

    def step(self, target: float = 1.0, velocity: float = 0.0) -> list[list[float]]:
        self.host.arrays().position_targets[:] = target
        self.host.arrays().velocities[:] = velocity
        self.host.step(DT)
        return self.host.arrays().efforts.reshape(ROBOTS, -1).T.tolist()


def test_assigned_parameter_acts_at_the_next_step(engine_kind) -> None:
    legs = Legs(aa.ClampingMaxEffort(array(50.0)))
    clamp = legs.actuator.clamping[0]
    assert legs.step() == [[50.0] * 3, [50.0] * 3]
    clamp.max_effort = array(EACH)
    assert clamp.read("max_effort").tolist() == clamp.max_effort.numpy().tolist() == EACH
    assert legs.step() == [EACH, [50.0] * 3]


def test_assigned_gain_acts_at_the_next_step(engine_kind) -> None:
    legs = Legs()
    legs.actuator.controller.kp = array(EACH)
    assert legs.step()[0] == EACH
    legs.actuator.controller.kp = array(7.0)
    legs.actuator.delay.delay_steps = array([0, 1, 2], wp.int32)
    assert [legs.step(target)[0] for target in (2.0, 3.0)] == [[14.0, 7.0, 7.0], [21.0, 14.0, 7.0]]


def test_assigned_array_is_copied(engine_kind) -> None:
    legs = Legs(aa.ClampingMaxEffort(array(50.0)))
    clamp, mine = legs.actuator.clamping[0], array(EACH)
    view = clamp.max_effort
    clamp.max_effort = mine
    mine.fill_(1.0)
    assert legs.step()[0] == EACH
    view.fill_(5.0)
    clamp.max_effort.numpy()[1] = 6.0
    assert legs.step()[0] == [5.0, 6.0, 5.0]


def test_assigned_parameter_is_prepared_again(engine_kind) -> None:
    legs = Legs(motor(30.0, 10.0, 25.0))
    for name, values in (("velocity_limit", EACH), ("saturation_effort", [9.0, 8.0, 7.0])):
        setattr(legs.actuator.clamping[0], name, array(values))
    built = Legs(motor([9.0, 8.0, 7.0], EACH, 25.0))
    assert legs.step(velocity=1.5)[0] == built.step(velocity=1.5)[0]


@cases(
    "law",
    aa.ControllerPD,
    type("Own", (aa.ControllerPD,), {}),
    type("Other", (aa.ControllerPD,), {"compute": aa.ControllerPD.compute}),
)
def test_laws_of_ones_own_take_assignments_too(law) -> None:
    legs = Legs(aa.ClampingMaxEffort(array(50.0)), law=law)
    legs.actuator.controller.kp = array(EACH)
    assert legs.step()[0] == EACH
    legs.actuator.clamping[0].max_effort = array(2.5)
    assert legs.step()[0] == [2.0, 2.5, 2.5]


def test_prim_with_two_targets_takes_a_value_for_each(engine_kind) -> None:
    stage, limit = bare_robot(NAMES), aa.MaxEffortClampingConfig(50.0)
    aa.add_actuator("/Robot", NAMES, "legs", aa.PDControlConfig(100.0, 0.0), clamping=[limit], stage=stage)
    with played_arrays(NAMES, ROBOTS, stage=stage) as host, aa.ArticulationActuators("/Robot_.*") as wrapper:
        values = np.arange(2 * ROBOTS) + 1.0
        (actuator,) = wrapper.actuators
        actuator.clamping[0].max_effort = wp.array(values, dtype=wp.float32, device="cpu")
        host.arrays().position_targets[:] = 1.0
        host.step(DT)
        assert host.arrays().efforts.tolist() == actuator.clamping[0].read("max_effort").tolist() == values.tolist()


@cases(
    "values",
    wp.ones(2, dtype=wp.float32, device="cpu"),
    wp.ones(1, dtype=wp.float32, device="cpu"),
    wp.ones(0, dtype=wp.float32, device="cpu"),
    wp.ones((3, 1), dtype=wp.float32, device="cpu"),
    wp.ones(3, dtype=wp.float64, device="cpu"),
    wp.ones(3, dtype=wp.int32, device="cpu"),
    [1.0, 1.0, 1.0],
    1.0,
    None,
    ids=["two", "one", "none", "matrix", "double", "integer", "list", "number", "None"],
)
@pytest.mark.parametrize("touched", [False, True])
def test_assignment_that_does_not_fit_is_refused(values: Any, touched: bool, engine_kind: str) -> None:
    legs = Legs(aa.ClampingMaxEffort(array(50.0)))
    clamp = legs.actuator.clamping[0]
    if touched:
        clamp.max_effort.fill_(40.0)
    with pytest.raises((TypeError, ValueError), match=r"ClampingMaxEffort.*max_effort"):
        clamp.max_effort = values
    expected = [40.0 if touched else 50.0] * 3
    assert legs.step()[0] == clamp.read("max_effort").tolist() == expected


def test_delay_of_another_type_is_refused(engine_kind) -> None:
    legs = Legs(steps=1)
    with pytest.raises((TypeError, ValueError), match=r"Delay.*delay_steps"):
        legs.actuator.delay.delay_steps = array(2.0)
    assert [legs.step(target)[0][0] for target in (1.0, 2.0, 3.0)] == [100.0, 100.0, 200.0]


def test_component_of_no_plan_keeps_what_is_assigned() -> None:
    clamp, mine = aa.ClampingMaxEffort(array(1.0)), array(2.0)
    clamp.max_effort, clamp.note = mine, "tuned"
    assert clamp.max_effort is mine and clamp.note == "tuned"


def table() -> aa.ClampingPositionBased:
    return aa.ClampingPositionBased(None, [0.0, 1.0], [5.0, 5.0])


@pytest.mark.parametrize(
    ("change", "error", "said"),
    {
        "another clamp": (lambda one: one.clamping.append(table()), TypeError, "clamping cannot be replaced"),
        "no clamps": (lambda one: one.clamping.clear(), TypeError, "build another wrapper"),
        "another list": (lambda one: setattr(one, "clamping", []), AttributeError, "'hip': clamping cannot be"),
        "another law": (lambda one: setattr(one, "controller", one.controller), AttributeError, "controller cannot"),
        "its later name": (lambda one: setattr(one, "drive", one.controller), AttributeError, "drive cannot be"),
        "no delay": (lambda one: setattr(one, "delay", None), AttributeError, "delay cannot be replaced"),
        "a misspelt gain": (
            lambda one: setattr(one.controller, "kpp", array(1.0)),
            AttributeError,
            "ControllerPD.kpp cannot be set.*kp, kd, const_effort",
        ),
        "another table": (
            lambda one: setattr(one.clamping[0], "lookup_efforts", [1.0, 1.0]),
            AttributeError,
            "ClampingPositionBased.lookup_efforts cannot be set.*none",
        ),
        "the longest delay": (lambda one: setattr(one.delay, "max_delay", 9), AttributeError, "max_delay cannot be"),
    }.values(),
)
def test_what_would_not_act_is_refused(engine_kind, change, error, said) -> None:
    legs = Legs(table(), steps=1)
    before = legs.step(), repr(legs.actuator)
    refused(error, lambda: change(legs.actuator), said)
    assert (legs.step(), repr(legs.actuator)) == before


@pytest.fixture
def wrapper(engine_kind: str):
    names = ["hip", "knee", "ankle"]
    stage = bare_robot(names)
    limit = aa.MaxEffortClampingConfig(50.0)
    aa.add_actuator("/Robot", ["hip", "ankle"], "outer", aa.PDControlConfig(10.0, 0.0), clamping=[limit], stage=stage)
    aa.add_actuator("/Robot", "knee", "inner", aa.PDControlConfig(20.0, 0.0), clamping=[limit], stage=stage)
    with played_arrays(names, 2, path="/Robot", stage=stage) as host, aa.ArticulationActuators("/Robot_.*") as made:
        host.arrays().position_targets[:] = 1.0
        yield made


def efforts(wrapper: aa.ArticulationActuators) -> list[list[float]]:
    wrapper.step_actuators(0.01)
    return wrapper.articulation.get_dof_efforts().numpy().tolist()


def test_read_parameter_stays_shared(wrapper) -> None:
    outer, inner = wrapper.actuators
    for actuator, expected in ((outer, [10.0] * 4), (inner, [20.0] * 2)):
        values = actuator.controller.read("kp")
        assert values.tolist() == expected
        values[:] = 7.0
        assert "kp" not in vars(actuator.controller)
    assert efforts(wrapper) == [[10, 20, 10]] * 2


def test_written_parameter_is_read_back(wrapper) -> None:
    outer, inner = wrapper.actuators
    # hip and ankle of the first robot, then of the second
    outer.controller.kp.assign(np.array([1, 2, 3, 4], np.float32))
    outer.clamping[0].max_effort.numpy()[3] = 0.5
    assert outer.controller.read("kp").tolist() == [1, 2, 3, 4]
    assert outer.clamping[0].read("max_effort").tolist() == [50, 50, 50, 0.5]
    assert inner.controller.read("kp").tolist() == [20, 20] and efforts(wrapper) == [[1, 20, 2], [3, 20, 0.5]]


def test_other_names_are_no_parameters(wrapper) -> None:
    controller = wrapper.actuators[0].controller
    with pytest.raises(AttributeError, match="ControllerPD has no attribute 'stiffness'"):
        _ = controller.stiffness


JOINTS = ["hip_0", "knee_0", "hip_1", "knee_1", "hip_2", "knee_2"]
PARAMETERS = {"kp": 40.0, "ki": 5.0, "kd": 2.0, "integral_max": 0.4, "const_effort": 0.5}
LIMITS = {"saturation_effort": 30.0, "velocity_limit": 9.0, "max_motor_effort": 20.0}


def arrays(groups: dict[str, str], robots: int) -> aa.ActuatedArrays:
    motor = [aa.PIDControlConfig(**PARAMETERS), aa.DCMotorClampingConfig(**LIMITS), aa.MaxEffortClampingConfig(11.0)]
    return aa.ActuatedArrays(
        JOINTS, {pattern: [*motor, aa.DelayConfig(2)] for pattern in groups.values()}, num_robots=robots
    )


GROUPS = {
    "one actuator": {"all": ".*"},
    "joints apart": {"hips": "hip_.*", "knees": "knee_.*"},
    "one each": {name: name for name in JOINTS},
}


@pytest.mark.parametrize("robots", [1, 3, 200])
@pytest.mark.parametrize("groups", GROUPS)
def test_reading_every_parameter_changes_no_effort(engine_kind, groups, robots, rng) -> None:
    read, untouched = arrays(GROUPS[groups], robots), arrays(GROUPS[groups], robots)
    for step in range(6):
        q, qd, target = rng.normal(size=(3, robots, len(JOINTS))).astype(np.float32)
        np.testing.assert_array_equal(read.step(q, qd, target, DT), untouched.step(q, qd, target, DT))
        if step == 2:
            for actuator in read.actuators:
                for component in (actuator.delay, actuator.controller, *actuator.clamping):
                    for name in component.PARAMETERS:
                        assert len(getattr(component, name)) == robots * len(JOINTS) // len(read.actuators)


@pytest.mark.parametrize("groups", ["one actuator", "joints apart"])
def test_what_is_written_acts_on_its_robot_and_joint(engine_kind, groups, rng) -> None:
    robots = 70
    many, single = arrays(GROUPS[groups], robots), arrays(GROUPS["one each"], robots)
    delays = rng.integers(0, 3, size=(robots, len(JOINTS)))
    factors = rng.uniform(0.5, 1.5, size=(robots, len(JOINTS)))
    for made in (many, single):
        for actuator in made.actuators:
            columns = [JOINTS.index(name) for name in actuator.dof_names]
            actuator.delay.delay_steps.assign(delays[:, columns].ravel().astype(np.int32))
            for component in (actuator.controller, *actuator.clamping):
                for name in component.PARAMETERS:
                    live = getattr(component, name)
                    live.assign(live.numpy() * factors[:, columns].ravel())
    for _ in range(5):
        q, qd, target = rng.normal(size=(3, robots, len(JOINTS))).astype(np.float32)
        np.testing.assert_array_equal(many.step(q, qd, target, DT), single.step(q, qd, target, DT))


def test_reading_goes_on_to_act_after_it_was_written(engine_kind) -> None:
    made = arrays(GROUPS["joints apart"], 2)
    zeros, target = np.zeros((2, len(JOINTS)), np.float32), np.full((2, len(JOINTS)), 0.1, np.float32)
    hips = made.actuators[0].controller
    most = made.actuators[0].clamping[-1].max_effort
    efforts = []
    for limit in (1.0, 0.5):
        most.fill_(limit)
        efforts.append(made.step(zeros, zeros, target, DT).copy())
    assert [(one[:, ::2] == limit).all() for one, limit in zip(efforts, (1.0, 0.5), strict=True)] == [True, True]
    assert (efforts[1][:, 1::2] > 1.0).all() and made.actuators[0].clamping[-1].max_effort is most
    assert hips.read("kp").tolist() == [40.0] * 6
