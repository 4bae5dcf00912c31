"""Edge cases of the step: each test detects a small change of the code that no other test detects."""

import itertools
import os
import sys
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from bare_stages import bare_robot
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from played import played_arrays
from pxr import Sdf
from warm_python import warm_python

DT = 0.01


class OwnPD(aa.ControllerPD):
    """A law that computes arrays, so that components stand between the phases of the step."""

    def compute(self, *args, **named) -> None:
        super().compute(*args, **named)


def full(count: int, value, dtype=wp.float32) -> wp.array:
    return wp.array(np.broadcast_to(value, count), dtype=dtype, device="cpu")


class Legs:
    """Equal robots whose joints all have the same actuator: kp = 1, and what a test adds."""

    def __init__(self, robots: int, joints: int = 1, clamps=(), delay=None, law: type = aa.ControllerPD) -> None:
        self.names = [f"joint_{number}" for number in range(joints)]
        self.host = ArraysHost(self.names, robots)
        made = None if delay is None else aa.Delay(full(robots, delay[0], wp.int32), delay[1])
        config = aa.ActuatorConfig(law(full(robots, 1.0), full(robots, 0.0)), list(clamps), made)
        with aa.use_host(self.host):
            self.host.play()
            self.wrapper = aa.ArticulationActuators.from_actuators("/Robot.*", [(config, name) for name in self.names])
        self.shape = robots, joints

    def step(self, target=0.0, position=0.0, velocity=0.0) -> np.ndarray:
        arrays = self.host.arrays()
        for name, values in (("position_targets", target), ("positions", position), ("velocities", velocity)):
            getattr(arrays, name).reshape(self.shape)[:] = values
        self.host.step(DT)
        return arrays.efforts.reshape(self.shape).copy()


@pytest.mark.parametrize("joints", [1, 13])
@pytest.mark.parametrize("lag", [3, 4, 5, 99, 2**31 - 1])
def test_lag_beyond_the_largest_acts_as_the_largest(lag, joints, engine_kind) -> None:
    legs = Legs(5, joints, delay=(1, 3))
    for actuator in legs.wrapper.actuators:
        actuator.delay.delay_steps.numpy()[2] = lag
    seen = np.array([legs.step(target)[:, -1] for target in range(1, 9)])
    assert seen[:, 2].tolist() == [1, 1, 1, 1, 2, 3, 4, 5]
    assert seen[:, [0, 1, 3, 4]].tolist() == [[target] * 4 for target in (1, 1, 2, 3, 4, 5, 6, 7)]


@pytest.mark.parametrize("lag", [-1, -3, -(2**31)])
def test_lag_below_zero_acts_as_none(lag, engine_kind) -> None:
    legs = Legs(5, 3, delay=(1, 3))
    for actuator in legs.wrapper.actuators:
        actuator.delay.delay_steps.numpy()[2] = lag
    assert [legs.step(target)[2].tolist() for target in range(1, 6)] == [[target] * 3 for target in range(1, 6)]


@pytest.mark.parametrize("lag", [4, 99, 2**31 - 1])
def test_lag_of_all_beyond_the_largest_acts_as_the_largest(lag, engine_kind) -> None:
    stage = bare_robot(["knee"])
    aa.add_actuator("/Robot", "knee", "motor", aa.PDControlConfig(1.0, 0.0), delay=aa.DelayConfig(2), stage=stage)
    with played_arrays(["knee"], 3, stage=stage) as host, aa.ArticulationActuators("/Robot_.*") as wrapper:
        wrapper.actuators[0].delay.delay_steps.fill_(lag)
        seen = []
        for target in range(1, 6):
            host.arrays().position_targets[:] = target
            host.step(DT)
            seen.append(host.arrays().efforts.tolist())
    assert seen == [[target] * 3 for target in (1, 1, 1, 2, 3)]


def test_restored_delay_still_waits_for_its_first_command(engine_kind) -> None:
    legs, other = (Legs(4, 2, delay=(2, 2)) for _ in range(2))
    first = np.full((4, 2), 1.0)
    first[1, 0] = np.nan
    legs.step(first)
    other.step(7.0)
    other.wrapper.restore_state(legs.wrapper.save_state())
    for one in (legs, other):
        seen = [one.step(target)[:2].tolist() for target in (2.0, 3.0, 4.0, 5.0)]
        assert seen == [[[1, 1], [2, 1]], [[1, 1], [2, 1]], [[2, 2], [2, 2]], [[3, 3], [3, 3]]]


def test_step_that_failed_leaves_delays_waiting(engine_kind, monkeypatch) -> None:
    legs = Legs(4, 2, delay=(2, 2), law=OwnPD)
    legs.wrapper.disable_auto_step_pre_physics()
    arrays = legs.host.arrays()
    targets = arrays.position_targets.reshape(4, 2)
    targets[:] = 1.0
    targets[1, 0] = np.nan
    legs.wrapper.step_actuators(DT)
    targets[:] = 9.0
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(OwnPD, "compute", lambda *_args, **_named: 1 / 0)
        legs.wrapper.step_actuators(DT)
    seen = []
    for target in (2.0, 3.0, 4.0, 5.0):
        targets[:] = target
        legs.wrapper.step_actuators(DT)
        seen.append(arrays.efforts.reshape(4, 2)[:2].tolist())
    assert seen == [[[1, 1], [2, 1]], [[1, 1], [2, 1]], [[2, 2], [2, 2]], [[3, 3], [3, 3]]]


@pytest.mark.parametrize("law", [aa.ControllerPD, OwnPD], ids=["native", "components"])
@pytest.mark.parametrize("before", [None, 2**31 - 1, 2**30], ids=["fresh", "largest", "large"])
def test_count_of_commands_is_bounded(before, law) -> None:
    at = wp.array(np.arange(3), dtype=wp.uint32, device="cpu")
    actuator = aa.Actuator(at, law(full(3, 1.0), full(3, 0.0)), aa.Delay(full(3, 2, wp.int32), 4))
    now, after = actuator.state(), actuator.state()
    names = ("joint_target_pos", "joint_target_vel", "joint_act")
    control = SimpleNamespace(**{name: full(3, 0.0) for name in names}, joint_f=full(3, 0.0))
    if before is not None:
        now.delay_state.num_pushes.fill_(before)
    counts, efforts = [], []
    for target in range(1, 11):
        control.joint_target_pos.fill_(float(target))
        control.joint_f.zero_()
        actuator.step(SimpleNamespace(joint_q=full(3, 0.0), joint_qd=full(3, 0.0)), control, now, after, DT)
        now, after = after, now
        counts.append(int(now.delay_state.num_pushes.numpy().max()))
        efforts.append(control.joint_f.numpy().tolist())
    assert max(counts) == counts[-1] == 4 and efforts[4:] == [[target] * 3 for target in range(3, 9)]


TABLE = [-1.0, -0.25, 0.5, 0.5, 0.5, 2.0], [3.0, 8.0, 5.0, 9.0, 1.0, 4.0]


@pytest.mark.parametrize("joints", [1, 8, 12])
def test_rows_of_a_table_hold_at_their_positions(joints, engine_kind) -> None:
    rows = np.float32(sorted(set(TABLE[0])))
    positions = np.concatenate([rows, np.nextafter(rows, np.float32(-9)), np.nextafter(rows, np.float32(9)), [-5, 5]])
    legs = Legs(len(positions), joints, [aa.ClampingPositionBased(None, *TABLE)])
    efforts = legs.step(target=1e4, position=positions[:, None])
    at_rows, below, above, outside = np.split(efforts[:, -1], [4, 8, 12])
    assert at_rows.tolist() == [3.0, 8.0, 5.0, 4.0]
    np.testing.assert_allclose(below, [3.0, 8.0, 5.0, 4.0], atol=2e-6)
    np.testing.assert_allclose(above, [3.0, 8.0, 1.0, 4.0], atol=2e-6)
    assert outside.tolist() == [3.0, 4.0] and (efforts == efforts[:, :1]).all()


GUARDED = """
import ctypes, mmap, sys, warnings
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, ClampingMaxEffort
from isaacsim.core.experimental.actuators import ControllerPID, Delay, use_host
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.articulation import DofArrays

warnings.simplefilter("ignore")
ROBOTS, DOFS = 40, 19
libc, held = ctypes.CDLL(None, use_errno=True), []

def guarded(size):
    # numbers that end where memory may not be read
    room = -(-4 * size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    held.append(memory)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(start + room), mmap.PAGESIZE, 0) == 0
    return np.frombuffer(memory, np.float32, size, room - 4 * size)

DofArrays.zeros = classmethod(lambda cls, size: cls(**{name: guarded(size) for name in cls.__dataclass_fields__}))

def full(value, dtype=wp.float32):
    return wp.full(ROBOTS, value, dtype=dtype, device="cpu")

names = [f"joint_{number}" for number in range(DOFS)]
for columns in (range(7, 19), range(12), (0, 2, 3, 5, 7, 9, 10, 12, 13, 15, 16, 18), (18,), range(19), range(11, 19)):
    for robots in ("/Robot_.*", [f"/Robot_{robot}" for robot in range(ROBOTS) if robot % 2]):
        host = ArraysHost(names, ROBOTS)
        with use_host(host):
            host.play()
            count = ROBOTS if isinstance(robots, str) else ROBOTS // 2
            law = ControllerPID(*(full(value)[:count] for value in (2.0, 3.0, 0.5, 1.0)))
            delay = Delay(full(1, wp.int32)[:count], 2)
            config = ActuatorConfig(law, [ClampingMaxEffort(full(9.0)[:count])], delay)
            wrapper = ArticulationActuators.from_actuators(robots, [(config, names[column]) for column in columns])
            for target in (1.0, 2.0, 3.0):
                host.arrays().position_targets[:] = target
                host.step(0.01)
            assert np.count_nonzero(host.arrays().efforts) == count * len(columns)
            wrapper.close()
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is guarded as Linux does")
@pytest.mark.parametrize("variant", native.core.variants() if native.core else [])
def test_nothing_is_read_beyond_the_last_row(variant) -> None:
    done = warm_python().run(["-c", GUARDED], env={**os.environ, "ACTUATORS_ISA": variant}, timeout=120)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr


def test_reset_unlatches_faults_and_counts_anew(engine_kind) -> None:
    legs = Legs(3, 2)
    bad = np.zeros((3, 2))
    bad[1, 0] = np.nan
    for healthy_steps in (2, 1):
        for _ in range(healthy_steps):
            legs.step()
        legs.step(velocity=bad)
        (fault,) = legs.wrapper.faults
        assert (fault.robot, fault.dof_name, fault.step) == (1, "joint_0", healthy_steps)
        legs.wrapper.reset()
        assert legs.wrapper.faults == []


def test_reset_of_some_robots_unlatches_their_faults_alone(engine_kind) -> None:
    legs = Legs(3, 2)
    legs.step(velocity=np.nan)
    legs.wrapper.reset(indices=[0, 2])
    legs.step()
    legs.step(velocity=np.nan)
    found = {(fault.robot, fault.dof_name): fault.step for fault in legs.wrapper.faults}
    assert found == {(robot, name): 0 if robot == 1 else 2 for robot, name in itertools.product(range(3), legs.names)}


def test_restored_faults_stay_latched(engine_kind) -> None:
    legs, other = Legs(3, 2), Legs(3, 2)
    bad = np.zeros((3, 2))
    bad[1, 0] = np.nan
    legs.step()
    legs.step(velocity=bad)
    other.wrapper.restore_state(legs.wrapper.save_state())
    other.step(velocity=np.nan)
    found = {(fault.robot, fault.dof_name): fault.step for fault in other.wrapper.faults}
    assert found.pop((1, "joint_0")) == 1 and set(found.values()) == {2} and len(found) == 5


def test_clamp_that_limited_last_is_named(engine_kind) -> None:
    robots = 5
    clamps = [
        aa.ClampingMaxEffort(full(robots, [50.0, 9.0, 9.0, 9.0, 50.0])),
        aa.ClampingDCMotor(full(robots, [90, 90, 8, 8, 90]), full(robots, np.inf), full(robots, [90, 90, 8, 8, 90])),
        aa.ClampingPositionBased(None, [0.0, 1.0], [60.0, 7.0]),
        aa.ClampingMaxEffort(full(robots, [60.0, 60.0, 60.0, 60.0, 6.0])),
    ]
    legs = Legs(robots, 3, clamps)
    legs.wrapper.observe_efforts()
    efforts = legs.step(target=[[10.0], [20.0], [20.0], [21.0], [20.0]], position=[[0.0], [0.0], [0.0], [1.0], [0.0]])
    assert efforts.tolist() == [[value] * 3 for value in (10.0, 9.0, 8.0, 7.0, 6.0)]
    names = ["", "ClampingMaxEffort", "ClampingDCMotor", "ClampingPositionBased", "ClampingMaxEffort"]
    assert legs.wrapper.limited_by.tolist() == [[name] * 3 for name in names]
    assert legs.wrapper.computed_efforts.tolist() == [[10.0] * 3] + [[20.0] * 3] * 4


def test_clamps_of_different_joints_are_distinguished(engine_kind) -> None:
    host = ArraysHost(["a", "b", "c", "d"], 2)
    clamps = {
        "a": [aa.ClampingMaxEffort(full(2, 3.0))],
        "b": [aa.ClampingDCMotor(full(2, 4.0), full(2, np.inf), full(2, 4.0))],
        "c": [aa.ClampingMaxEffort(full(2, 5.0)), aa.ClampingDCMotor(full(2, 6.0), full(2, np.inf), full(2, 6.0))],
        "d": [],
    }
    pairs = [
        (aa.ActuatorConfig(aa.ControllerPD(full(2, 1.0), full(2, 0.0)), own), name) for name, own in clamps.items()
    ]
    with aa.use_host(host):
        host.play()
        with aa.ArticulationActuators.from_actuators("/Robot_.*", pairs) as wrapper:
            wrapper.observe_efforts()
            host.arrays().position_targets[:] = 9.0
            host.step(DT)
            assert host.arrays().efforts.tolist() == [3.0, 4.0, 5.0, 9.0] * 2
            expected = [["ClampingMaxEffort", "ClampingDCMotor", "ClampingMaxEffort", ""]] * 2
            assert wrapper.limited_by.tolist() == expected


class Staggered(aa.ClampingMaxEffort):
    def __init__(self, max_effort: wp.array) -> None:
        count = np.arange(len(max_effort))
        super().__init__(wp.array(max_effort.numpy() + count, dtype=wp.float32, device="cpu"))


def test_values_that_robots_share_are_those_of_the_first(engine_kind) -> None:
    stage = bare_robot(["hip", "knee"])
    prim = aa.add_actuator("/Robot", ["hip", "knee"], "legs", aa.PDControlConfig(1.0, 0.0), stage=stage)
    prim.AddAppliedSchema("AcmeStaggeredAPI")
    prim.CreateAttribute("newton:maxEffort", Sdf.ValueTypeNames.Float).Set(5.0)
    aa.register_actuator_component("AcmeStaggeredAPI", Staggered, aa.ComponentKind.CLAMPING)
    with played_arrays(["hip", "knee"], 3, stage=stage) as host, aa.ArticulationActuators("/Robot_.*") as wrapper:
        host.arrays().position_targets[:] = 99.0
        host.step(DT)
        assert host.arrays().efforts.tolist() == [5.0, 6.0] * 3
        assert wrapper.actuators[0].clamping[0].read("max_effort").tolist() == [5.0, 6.0] * 3
