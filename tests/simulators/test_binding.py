"""Actuators on an articulation and a bus that know nothing of this package."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.base.values import as_numpy
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.binding import SIGNALS, Binding, signals_of_matrices
from isaacsim.core.experimental.actuators.simulators.bus import EventBus
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoArticulation
from isaacsim.core.experimental.actuators.simulators.port import Buffers
from played import played
from pxr import Usd, UsdPhysics
from refusals import cases, refused

NAMES = ["hip", "knee", "ankle"]
STATE = ("positions", "velocities", "position_targets", "velocity_targets")
ROBOTS, DT = 3, 0.01


class Subscription:
    def __init__(self, callbacks: list, callback: Callable) -> None:
        self.callbacks, self.callback = callbacks, callback
        callbacks.append(callback)

    def close(self) -> None:
        if self.callback in self.callbacks:
            self.callbacks.remove(self.callback)


class PlainBus:
    def __init__(self) -> None:
        self.ready = True
        self.on: dict[str, list] = {"ready": [], "pre_step": [], "stop": []}

    def on_ready(self, callback: Callable, *, order: int = 0) -> Subscription:
        return Subscription(self.on["ready"], callback)

    def on_pre_step(self, callback: Callable, *, order: int = 0) -> Subscription:
        return Subscription(self.on["pre_step"], callback)

    def on_stop(self, callback: Callable, *, order: int = 0) -> Subscription:
        return Subscription(self.on["stop"], callback)

    def emit(self, event: str, *args: object) -> None:
        for callback in tuple(self.on[event]):
            callback(*args)


class Legs:
    num_dofs, dof_names = len(NAMES), NAMES

    def __init__(self, give: Callable[[np.ndarray], Any] = np.copy) -> None:
        self.paths = [f"/Leg_{i}" for i in range(ROBOTS)]
        self.dof_paths = [[f"{path}/{name}" for name in NAMES] for path in self.paths]
        self.state = {name: np.zeros((ROBOTS, 3)) for name in STATE}
        self.efforts = np.zeros((ROBOTS, 3))
        self.gains = np.arange(9.0).reshape(ROBOTS, 3) + 1, np.arange(9.0).reshape(ROBOTS, 3) / 8
        self.give, self.calls = give, []
        for name in STATE:
            setattr(self, f"get_dof_{name}", lambda name=name: self.give(self.state[name]))

    def get_dof_gains(self) -> tuple:
        return self.give(self.gains[0]), self.give(self.gains[1])

    def set_dof_gains(
        self, stiffnesses=None, dampings=None, *, indices=None, dof_indices=None, update_default_gains: bool = True
    ) -> None:
        assert not update_default_gains
        for gains, values in zip(self.gains, (stiffnesses, dampings), strict=True):
            gains[self.at(indices, dof_indices)] = values

    def set_dof_efforts(self, efforts, *, indices=None, dof_indices=None) -> None:
        self.calls.append(list(dof_indices))
        self.efforts[self.at(indices, dof_indices)] = efforts

    def at(self, indices, dof_indices) -> tuple:
        every = (range(ROBOTS), range(3))
        return np.ix_(
            *[all_ if some is None else some for all_, some in zip(every, (indices, dof_indices), strict=True)]
        )


class LegHost:
    def __init__(self, legs: Legs | None = None, bus=None, stage=None) -> None:
        self.legs, self.bus, self.stage = legs or Legs(), bus or PlainBus(), stage

    def articulation(self, paths) -> Legs:
        return self.legs


@pytest.fixture
def host():
    with aa.use_host(LegHost()) as made:
        yield made


def full(value: float, dtype=wp.float32) -> wp.array:
    return wp.full(ROBOTS, value, dtype=dtype, device="cpu")


def wrap(*joints: str) -> aa.ArticulationActuators:
    config = aa.ActuatorConfig(
        aa.ControllerPD(full(10.0), full(1.0)), [aa.ClampingMaxEffort(full(15.0))], aa.Delay(full(2, wp.int32), 2)
    )
    return aa.ArticulationActuators.from_actuators("/Leg_.*", [(config, joint) for joint in joints])


def as_warp(dtype) -> Callable[[np.ndarray], wp.array]:
    return lambda array: wp.array(array, dtype=dtype, device="cpu")


@pytest.mark.parametrize(
    "give",
    [np.copy, np.asarray, np.float32, np.asfortranarray, as_warp(wp.float32), as_warp(wp.float64)],
    ids=["new", "same", "single", "columns", "warp", "double warp"],
)
def test_efforts_are_those_of_bound_arrays(give, rng) -> None:
    memory, legs = ArraysHost(NAMES, ROBOTS, path="/Leg"), Legs(give)
    foreign = LegHost(legs)
    with aa.use_host(memory):
        memory.play()
        bound = wrap("ankle", "hip")
    with aa.use_host(foreign):
        copied = wrap("ankle", "hip")
    for _ in range(6):
        for name in STATE:
            legs.state[name][:] = rng.uniform(-2, 2, (ROBOTS, 3)).astype(np.float32)
            getattr(memory.arrays(), name)[:] = legs.state[name].ravel()
        memory.step(DT)
        foreign.bus.emit("pre_step", DT, None)
        assert legs.efforts.any()
        np.testing.assert_array_equal(legs.efforts.ravel(), memory.arrays().efforts)
    bound.close()
    copied.close()


def test_applied_efforts_are_those_that_were_set(host) -> None:
    """Until the next step, whatever the simulator has done with them since."""
    with wrap("ankle", "hip") as wrapper:
        host.legs.state["position_targets"][:] = [[0.1, 0.2, 0.3]]
        host.bus.emit("pre_step", DT, None)
        given = host.legs.efforts[:, [0, 2]].copy()
        host.legs.efforts[:] = 0.0
        assert given.any() and (wrapper.applied_efforts == given).all()


def test_applied_efforts_are_zero_after_an_error(host, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no efforts today")

    with wrap("ankle", "hip") as wrapper:
        host.legs.state["position_targets"][:] = 1.0
        monkeypatch.setattr(host.legs, "set_dof_efforts", fail)
        refused(RuntimeError, lambda: wrapper.step_actuators(DT), "no efforts today")
        assert not wrapper.applied_efforts.any()
        monkeypatch.undo()
        wrapper.step_actuators(DT)
        assert wrapper.applied_efforts.any()


def test_only_actuated_joints_are_set(host) -> None:
    host.legs.efforts[:, 1] = 7.0
    wrapper = wrap("ankle", "hip")
    host.bus.emit("pre_step", DT, None)
    assert host.legs.calls == [[0, 2]] and host.legs.efforts.tolist() == [[0.0, 7.0, 0.0]] * ROBOTS
    wrapper.close()


def test_actuators_are_read_at_the_first_robot() -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/Leg_0", "Xform"))
    UsdPhysics.RevoluteJoint.Define(stage, "/Leg_0/knee")
    aa.add_actuator("/Leg_0", "knee", "motor", aa.PDControlConfig(4.0, 0.0), stage=stage)
    host = LegHost(stage=stage)
    with aa.use_host(host), aa.ArticulationActuators("/Leg_.*") as wrapper:
        host.legs.state["position_targets"][:] = 0.5
        host.bus.emit("pre_step", DT, None)
        assert wrapper.actuated_dof_indices == [1] and host.legs.efforts.tolist() == [[0.0, 2.0, 0.0]] * ROBOTS


def test_no_joint_at_all_is_legal(host) -> None:
    with wrap() as wrapper:
        wrapper.step_actuators(DT)
    assert host.legs.calls == [] and host.legs.gains[0].all()


def test_drives_and_efforts_are_given_back(host) -> None:
    before = [gains.copy() for gains in host.legs.gains]
    wrapper = wrap("knee")
    assert [gains[:, 1].tolist() for gains in host.legs.gains] == [[0.0] * ROBOTS] * 2
    host.legs.efforts[:] = 5.0
    wrapper.close()
    np.testing.assert_array_equal(host.legs.gains, before)
    assert host.legs.efforts.tolist() == [[5.0, 0.0, 5.0]] * ROBOTS


def test_joints_of_another_wrapper_keep_their_efforts() -> None:
    memory = ArraysHost(NAMES, 2)
    one = wp.ones(1, dtype=wp.float32, device="cpu")
    config = aa.ActuatorConfig(aa.ControllerPD(one, one))
    with aa.use_host(memory):
        memory.play()
        memory.arrays().stiffnesses[:] = 3.0
        both = aa.ArticulationActuators.from_actuators(
            "/Robot_.*", [(aa.ActuatorConfig(aa.ControllerPD(wp.ones(2, dtype=float), wp.ones(2, dtype=float))), "hip")]
        )
        with pytest.warns(UserWarning, match="the one that steps last wins"):
            second = aa.ArticulationActuators.from_actuators("/Robot_1", [(config, "hip"), (config, "knee")])
        memory.arrays().efforts[:] = 5.0
        both.close()
        assert memory.arrays().efforts.tolist() == [0, 5, 5, 5, 5, 5]
        memory.arrays().efforts[:] = 5.0
        second.close()
        assert memory.arrays().efforts.tolist() == [5, 5, 5, 0, 0, 5]
    assert (memory.arrays().stiffnesses == 3.0).all()


def test_bus_may_hold_its_callbacks(host) -> None:
    before = host.legs.gains[0].copy()
    wrap("knee")
    gc.collect()
    assert host.bus.on == {"ready": [], "pre_step": [], "stop": []}
    np.testing.assert_array_equal(host.legs.gains[0], before)


def test_ready_and_stop_of_a_plain_bus(host) -> None:
    host.bus.ready = False
    wrapper = wrap("knee")
    assert host.legs.gains[0].all()
    for _ in range(2):
        host.bus.emit("ready")
        assert len(host.bus.on["pre_step"]) == 1
        host.bus.emit("stop")
        assert host.bus.on["pre_step"] == []
    refused(HostError, lambda: wrapper.step_actuators(DT), "physics is not running")


def test_row_is_environment_by_default() -> None:
    host = LegHost(bus=EventBus())
    host.bus.ready = True
    with aa.use_host(host), wrap("hip"):
        for target in (1.0, 1.25, 1.375):
            host.legs.state["position_targets"][:] = target
            if target == 1.375:
                host.bus.emit_reset([1])
            host.bus.emit_pre_step(DT)
        assert (host.legs.efforts[:, 0] / 10).tolist() == [1.0, 1.375, 1.0]


@pytest.mark.parametrize("shape", [(3,), (1, 3), (ROBOTS, 2), (ROBOTS, 3, 1)])
@pytest.mark.parametrize("make", [np.zeros, lambda shape: wp.zeros(shape, dtype=wp.float32, device="cpu")])
def test_getter_of_another_shape_is_named(host: LegHost, shape: tuple, make: Callable) -> None:
    host.legs.get_dof_velocities = lambda: make(shape)
    host.legs.efforts[:] = 5.0
    wrapper = wrap("knee")
    text = refused(HostError, lambda: host.bus.emit("pre_step", DT, None))
    assert f"get_dof_velocities() returned shape {shape}: must be (robots, DOFs) = (3, 3)" in text
    assert host.legs.efforts.tolist() == [[5.0, 0.0, 5.0]] * ROBOTS
    wrapper.close()


def test_value_too_large_is_a_fault(host) -> None:
    host.legs.state["positions"][1, 0] = 1e300
    host.legs.state["position_targets"][:] = 1.0
    with wrap("hip") as wrapper:
        host.bus.emit("pre_step", DT, None)
        (fault,) = wrapper.faults
        assert (fault.robot_path, fault.dof_name, fault.inputs) == ("/Leg_1", "hip", ("position",))
        assert host.legs.efforts[:, 0].tolist() == [10.0, 0.0, 10.0]


@cases(
    "given, device", ({}, "cpu"), ({"_device": "cuda:1"}, "cuda:1"), ({"device": "cuda:0", "_device": "cpu"}, "cuda:0")
)
def test_device_is_the_articulations(given, device) -> None:
    legs = Legs()
    vars(legs).update(given)
    assert Binding(legs).device == device


def test_offers_of_the_articulation_come_first() -> None:
    host = ArraysHost(NAMES, 2, dof_paths=["/Robot/a", "/Robot/b", "/Robot/c"])
    host.play()
    binding = Binding(host.articulation("/Robot_1"))
    assert (binding.prototype_path, binding.prototype_dof_paths) == ("/Robot", ["/Robot/a", "/Robot/b", "/Robot/c"])
    assert binding.envs_to_rows([1]) == [0] and np.shares_memory(binding.buffers([0]).efforts, host.arrays().efforts)


class BoundLegs(Legs):
    def __init__(self, **odd) -> None:
        super().__init__()
        self.arrays = {name: np.zeros((ROBOTS, 3), np.float32) for name in (*STATE, "efforts")} | odd

    def buffers(self) -> Buffers:
        return Buffers(**{"refresh": lambda: None, "commit": lambda: None} | self.arrays)


def wide(pitch: int, start: int = 0, read_only: bool = False) -> np.ndarray:
    """Three robots of three joints in bytes, rows `pitch` bytes apart."""
    memory = np.zeros(256, np.uint8)
    made = np.ndarray((ROBOTS, 3), np.float32, memory.data, (-memory.ctypes.data) % 64 + start, (pitch, 4))
    made.flags.writeable = not read_only
    return made


@pytest.mark.parametrize("name", [*STATE, "efforts"])
@cases(
    "array, words",
    (np.zeros((ROBOTS, 3)), "has dtype float64: must be float32"),
    (np.zeros((ROBOTS, 3), np.int32), "has dtype int32: must be float32"),
    (np.zeros((ROBOTS, 3), ">f4"), "has dtype >f4: must be float32"),
    (wp.zeros((ROBOTS, 3), dtype=wp.float64, device="cpu"), "has dtype float64: must be float32"),
    (wp.zeros((ROBOTS, 3), dtype=wp.vec2, device="cpu"), "has dtype vec2f: must be float32"),
    ([[0.0] * 3] * ROBOTS, "is a list: must be a NumPy or Warp array"),
    (None, "is a NoneType: must be a NumPy or Warp array"),
    (np.zeros(ROBOTS * 3, np.float32), "has shape (9,): must be (robots, DOFs) = (3, 3)"),
    (np.zeros((ROBOTS, 4), np.float32), "has shape (3, 4): must be (robots, DOFs) = (3, 3)"),
    (np.zeros((3, ROBOTS), np.float32).T, "has numbers 12 bytes apart within a row: must be 4"),
    (np.zeros((ROBOTS, 6), np.float32)[:, ::2], "has numbers 8 bytes apart within a row: must be 4"),
    (wide(16, start=2), "begins at an address that is no multiple of 4: must be aligned"),
    (wide(14), "has rows 14 bytes apart: must be a multiple of 4"),
    (np.zeros((ROBOTS, 3), np.float32)[::-1], "has rows -12 bytes apart: must be a multiple of 4"),
    ids=lambda value: value.split(":")[0] if isinstance(value, str) else "",
)
def test_buffers_that_cannot_be_read_in_place_are_refused(name: str, array: Any, words: str) -> None:
    """They would be copied once and never again; the drives are left as they are."""
    legs = BoundLegs(**{name: array})
    host = LegHost(legs)
    with aa.use_host(host), pytest.raises(HostError) as error:
        wrap("knee")
    assert f"BoundLegs.buffers().{name} {words}" in str(error.value) and legs.gains[0].all()
    assert host.bus.on == {"ready": [], "pre_step": [], "stop": []}


@cases(
    "efforts, words",
    (wide(16, read_only=True), "is read-only: must be writable"),
    (wide(8), "has rows of 12 bytes 8 bytes apart: must not overlap"),
    (np.lib.stride_tricks.as_strided(np.zeros(3, np.float32), (ROBOTS, 3), (0, 4)), "0 bytes apart: must not"),
)
def test_efforts_that_cannot_be_written_in_place_are_refused(efforts, words) -> None:
    legs = BoundLegs(efforts=efforts)
    with aa.use_host(LegHost(legs)), pytest.raises(HostError) as error:
        wrap("knee")
    assert "BoundLegs.buffers().efforts" in str(error.value) and words in str(error.value) and legs.gains[0].all()


@pytest.mark.parametrize("name", ["refresh", "commit"])
def test_buffers_without_a_function_are_refused(name) -> None:
    with (
        aa.use_host(LegHost(BoundLegs(**{name: None}))),
        pytest.raises(HostError, match=f"{name} = None: must be a func"),
    ):
        wrap("knee")


def test_buffers_elsewhere_are_refused(monkeypatch) -> None:
    legs = BoundLegs()
    legs.device = "cuda:0"
    monkeypatch.setattr(wp, "get_device", lambda device: device)
    with pytest.raises(HostError, match=r"BoundLegs\.buffers\(\)\.positions is on cpu: must be on cuda:0"):
        Binding(legs).buffers([0])


@pytest.mark.parametrize(
    "make", [np.asarray, as_warp(wp.float32), lambda array: wide(20)], ids=["numpy", "warp", "wide"]
)
def test_buffers_are_read_at_every_step(make) -> None:
    shared = np.zeros(3, np.float32)
    targets = np.broadcast_to(shared, (ROBOTS, 3))
    seen = []
    legs = BoundLegs(position_targets=targets, efforts=make(np.zeros((ROBOTS, 3), np.float32)))
    host = LegHost(legs)
    with aa.use_host(host), wrap("knee"):
        for target in (1.0, 1.25, 1.375, 1.5):
            shared[1] = target
            host.bus.emit("pre_step", DT, None)
            seen.append(as_numpy(legs.arrays["efforts"])[:, 1].tolist())
    assert seen == [[10.0] * ROBOTS] * 3 + [[12.5] * ROBOTS]


REQUIRED = [
    *("paths", "num_dofs", "dof_names", "dof_paths"),
    *(f"get_dof_{name}" for name in STATE),
    "set_dof_efforts",
    "get_dof_gains",
    "set_dof_gains",
]


@pytest.mark.parametrize("missing", REQUIRED)
def test_articulation_without_a_member_is_refused(host, missing) -> None:
    class Lame:
        def __getattr__(self, name: str):
            if name == missing:
                raise AttributeError(name)
            return getattr(legs, name)

    legs, host.legs = host.legs, Lame()
    refused(HostError, lambda: wrap("knee"), rf"^Lame has no {missing}: .*use_host.*Add what is missing")
    assert legs.gains[0].all() and host.bus.on == {"ready": [], "pre_step": [], "stop": []}


@pytest.mark.parametrize(("file", "path"), [("franka_panda", "/World/Panda"), ("anymal_c", "/World/Anymal")])
def test_signals_are_those_of_the_simulator(file: str, path: str, robots: Path) -> None:
    with played(str(robots / f"{file}.usda"), 0.002) as sim:
        sim.step(30)
        articulation = aa.Articulation(path)
        own = articulation.joint_signals(list(SIGNALS))
        found = signals_of_matrices(articulation, SIGNALS)
        assert found is not None
        own.refresh()
        found.refresh()
        for name in SIGNALS:
            expected = np.asarray(own.arrays[name])
            # the getters are of the state now, MuJoCo's signals of the one before its last step
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found.arrays[name].numpy(), expected, rtol=0.02, atol=0.02 * scale, err_msg=name)


@pytest.mark.parametrize("wanted", [["inertia"], ["inertia", "load"]], ids=str)
def test_matrices_are_read_only_for_laws_that_step_a_joint(wanted: list[str], robots: Path) -> None:
    with played(str(robots / "pendulum.usda"), 0.002):
        assert signals_of_matrices(aa.Articulation("/World/Pendulum"), wanted) is None


def test_articulation_without_matrices_tells_nothing() -> None:
    assert signals_of_matrices(object(), SIGNALS) is None


@pytest.mark.parametrize("assumed", [0.0, 0.01])
def test_friction_has_the_inertias_of_matrices_unless_it_assumes_one(assumed, robots, monkeypatch) -> None:
    monkeypatch.delattr(MujocoArticulation, "joint_signals")
    read, getter = [], MujocoArticulation.get_mass_matrices
    monkeypatch.setattr(
        MujocoArticulation, "get_mass_matrices", lambda one, **given: read.append(one) or getter(one, **given)
    )
    with aa.Simulation(str(robots / "arm_2dof.usda"), 0.005) as sim:
        friction = aa.FrictionConfig(2.0, assumed_inertia=assumed)
        with aa.ArticulationActuators.from_configs("/World/Arm", {".*": [friction]}) as actuators:
            sim.play()
            read.clear()
            sim.step(3)
            assert not actuators.faults and len(read) == (0 if assumed else 3)


def test_stiff_robot_rests_on_a_simulator_with_getters_alone(robots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(MujocoArticulation, "joint_signals")
    with played(str(robots / "arm_2dof.usda"), 0.005) as sim:
        actuators = aa.ArticulationActuators("/World/Arm", effort_mode="implicit")
        for actuator in actuators.actuators:
            for name in ("kp", "kd"):
                gain = getattr(actuator.controller, name)
                gain.assign(gain.numpy() * 20)
        sim.step(600)
        assert np.abs(aa.Articulation("/World/Arm").get_dof_velocities().numpy()).max() < 1e-3
        assert not actuators.faults
