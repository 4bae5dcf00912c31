"""Data is copied and pickled and comes back equal; what is live says that it cannot be, and what to do instead."""

import contextlib
import copy
import pickle
from collections.abc import Callable

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import errors
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphError, GraphRunner
from isaacsim.core.experimental.actuators.files.networks.load import NoSuchNetworkError
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from places import REPOSITORY, ROBOTS
from refusals import cases, refused

WAYS = [
    pytest.param(copy.copy, id="copy"),
    pytest.param(copy.deepcopy, id="deepcopy"),
    *(
        pytest.param(lambda one, protocol=protocol: pickle.loads(pickle.dumps(one, protocol)), id=f"pickle {protocol}")
        for protocol in (2, pickle.HIGHEST_PROTOCOL)
    ),
]
MODEL = "<mujoco><worldbody><body><joint name='hinge'/><geom size='1'/></body></worldbody></mujoco>"


def model():
    import mujoco

    return mujoco.MjModel.from_xml_string(MODEL)


def full(value: float, dtype=wp.float32) -> wp.array:
    return wp.full(2, value, dtype=dtype, device="cpu")


def actuator() -> aa.Actuator:
    law = aa.ControllerPID(*(full(value) for value in (1.0, 2.0, 3.0, 4.0)))
    at = wp.array([0, 1], dtype=wp.uint32, device="cpu")
    return aa.Actuator(at, law, aa.Delay(full(1, wp.int32), 2), [aa.ClampingMaxEffort(full(5.0))])


def arrays() -> aa.ActuatedArrays:
    motor = [aa.PDControlConfig(20.0, 2.0), aa.MaxEffortClampingConfig(3.0)]
    return aa.ActuatedArrays(["a", "b"], {".*": motor}, num_robots=2)


def step(stepped: aa.ActuatedArrays, target: float = 1.0) -> None:
    state = np.zeros((2, 2), np.float32)
    stepped.step(state, state, state + np.float32(target), 0.01)


DATA: dict[str, Callable] = {
    "configs": lambda: [aa.PDControlConfig(1.0, 2.0), aa.PIDControlConfig(1.0, 2.0, 3.0, 4.0), aa.DelayConfig(3)],
    "clamps": lambda: [aa.DCMotorClampingConfig(60.0, 9.0, 40), aa.PositionBasedClampingConfig([0.0, 1.0], [2, 3])],
    "motor": lambda: aa.MotorConfig.from_catalogue("mini_cheetah", kp=1.0, kd=1.0),
    "motors of a model": lambda: aa.motors_of_model(model()),
    "actuator config": lambda: aa.ActuatorConfig(aa.PDControlConfig(1.0, 2.0), [aa.MaxEffortClampingConfig(1.0)]),
    "figures": lambda: aa.motor_figures("mini_cheetah"),
    "distributions": lambda: [aa.Uniform(0.0, 1.0), aa.LogUniform(1.0, 2.0), aa.Normal(0.0, 1.0)],
    "shard": lambda: aa.Shard.of(10, rank=1, num_ranks=3),
    "stability": lambda: aa.stability_of([[0.25]], 1 / 200, kp=100.0, kd=120.0),
    "findings": lambda: aa.lint(ROBOTS / "pendulum.usda"),
    "robots": lambda: aa.inspect_robots(ROBOTS / "arm_2dof.usda"),
    "buzz": lambda: aa.buzz(np.sin(np.arange(200.0)), 0.01),
    "faults": lambda: faulty().faults,
    "saturation": lambda: recording().saturation(),
}


def faulty() -> aa.ActuatedArrays:
    stepped = arrays()
    step(stepped, np.nan)
    return stepped


def recording() -> aa.Recording:
    stepped = arrays()
    with stepped.record() as log:
        for _ in range(3):
            step(stepped)
    return log


@cases("again", *WAYS)
@cases("name", *DATA)
def test_data_comes_back_equal(name, again) -> None:
    one = DATA[name]()
    other = again(one)
    assert type(other) is type(one) and other == one and repr(other) == repr(one)


@cases("again", *WAYS)
@cases("where", "after", "within", "loaded")
def test_recordings_come_back_with_what_they_had(where, again, tmp_path) -> None:
    stepped = arrays()
    with stepped.record() as log:
        step(stepped)
        step(stepped)
        if where == "within":
            other, expected = again(log), log.arrays()
            step(stepped)
            assert len(log) == 3
    if where == "loaded":
        log.save(tmp_path / "log.npz")
        log = aa.Recording.load(tmp_path / "log.npz")
    if where != "within":
        other, expected = again(log), log.arrays()
    assert len(other) == 2 and other.signals == log.signals and other.joints == ["a", "b"]
    found = other.arrays()
    assert found.keys() == expected.keys() and all(np.array_equal(found[name], expected[name]) for name in expected)
    assert str(other.saturation()) == str(log.saturation()) or where == "within"
    assert other.dt == 0.01
    np.testing.assert_array_equal(other.max_efforts, log.max_efforts)


@cases("again", *WAYS)
def test_saved_state_can_be_pickled(again) -> None:
    motors = {".*": [aa.PIDControlConfig(1.0, 2.0, 0.0, 10.0), aa.DelayConfig(2)]}
    first, second = (aa.ActuatedArrays(["a", "b"], motors, num_robots=2) for _ in range(2))
    step(first)
    second.restore_state(again(first.save_state()))
    now = np.zeros((2, 2), np.float32)
    np.testing.assert_array_equal(first.step(now, now, now, 0.01).copy(), second.step(now, now, now, 0.01))


@cases("again", *WAYS)
@cases(
    "error",
    errors.ActuatorParseError(["one: rule.", "two: rule."]),
    GraphError(["one: rule."]),
    errors.SimulationDivergedError("it diverged", ["/World/Robot"]),
    errors.HostError("no host"),
    errors.NetworkError("no network"),
    NoSuchNetworkError("no file"),
    ids=lambda error: type(error).__name__,
)
def test_errors_reach_other_processes(error, again) -> None:
    error.add_note("besides")
    other = again(error)
    assert type(other) is type(error) and str(other) == str(error) and vars(other) == vars(error)


@contextlib.contextmanager
def simulated():
    import mujoco

    with (
        aa.Simulation(REPOSITORY / "data/graphs/pd_from_usd.usda") as sim,
        GraphRunner(sim) as runner,
        aa.Simulation(ROBOTS / "arm_2dof.usda") as arm,
    ):
        arm.play()
        wrapper, articulation = aa.ArticulationActuators("/World/Arm"), aa.Articulation("/World/Arm")
        with aa.MujocoSimulation(made := model(), mujoco.MjData(made)) as own:
            yield {
                "Simulation": arm,
                "ArticulationActuators": wrapper,
                "MujocoArticulation": articulation,
                "MujocoSimulation": own,
                "EventBus": sim.bus,
                "_Subscription": arm.bus.on_stop(print),
                "GraphRunner": runner,
                "Recorder": wrapper.record(),
                "Actuator": wrapper.actuators[0],
                "ControllerPD": wrapper.actuators[0].controller,
            }


@pytest.fixture(scope="module")
def live():
    made = actuator()
    config = aa.ActuatorConfig(made.controller)
    with simulated() as found:
        yield found | {
            "ActuatedArrays": arrays(),
            "ArraysHost": ArraysHost(["a"], 1),
            "ActuatorGroup": aa.ActuatorGroup([made]),
            "Actuator.State": made.state(),
            "Delay": made.delay,
            "Delay.State": made.state().delay_state,
            "Component.State": made.state().controller_state,
            "ClampingMaxEffort": made.clamping[0],
            "ClampingPositionBased": aa.ClampingPositionBased(None, [0.0], [1.0]),
            "ControllerPID": config.controller,
        }


LIVE = [
    *("Simulation", "ArticulationActuators", "MujocoArticulation", "MujocoSimulation", "EventBus", "_Subscription"),
    *("GraphRunner", "Recorder", "Actuator", "ControllerPD", "ActuatedArrays", "ArraysHost", "ActuatorGroup"),
    *("Actuator.State", "Delay", "Delay.State", "Component.State", "ClampingMaxEffort", "ClampingPositionBased"),
    "ControllerPID",
]


@cases("again", *WAYS)
@cases("name", *LIVE)
def test_what_is_live_is_not_copied(name, again, live) -> None:
    """One error that says so and what to do instead, whatever the way: a copy would share arrays and end them."""
    refused(TypeError, lambda: again(live[name]), rf"^{name} cannot be copied or pickled: .*\. [A-Z].*\.$")


@cases("again", *WAYS[1:])
def test_data_that_holds_something_live_says_what(again) -> None:
    refused(TypeError, lambda: again(aa.ActuatorConfig(actuator().controller)), "ControllerPID cannot be copied")
    refused(TypeError, lambda: again(aa.ActuatorGroup([actuator()]).state()), r"Actuator\.State cannot be copied")


def test_refused_copy_changes_nothing(live) -> None:
    sim, callbacks = live["Simulation"], live["Simulation"].bus.num_callbacks
    for again in WAYS:
        with pytest.raises(TypeError, match="cannot be copied"):
            again.values[0](live["ArticulationActuators"])
    assert sim.bus.num_callbacks == callbacks
    before = sim.step_count
    sim.step(2)
    assert sim.step_count == before + 2


class Own(aa.ControllerPID):
    """A law of a user's who knows how to copy it."""

    def __reduce__(self):
        return made_anew, (self.kp.numpy().tolist(),)


def made_anew(kp: list[float]) -> Own:
    return Own(wp.array(kp, dtype=wp.float32, device="cpu"), *(full(0.0) for _ in range(3)))


@cases("again", *WAYS)
def test_subclass_may_say_how_it_is_copied(again) -> None:
    one = made_anew([1.0, 2.0])
    other = again(one)
    assert isinstance(one, errors.NotCopied) and type(other) is Own and other.kp.ptr != one.kp.ptr
    assert other.kp.numpy().tolist() == [1.0, 2.0]
