"""Numbers that cannot be are refused by one clear error before anything is changed, whatever computes."""

import math
from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases

N, DT = 4, 0.01
# of components: the largest delay there may be
LARGEST = 4096


class OwnPD(aa.ControllerPD):
    def compute(self, *args, **named) -> None:
        super().compute(*args, **named)


class OwnPID(aa.ControllerPID):
    def compute(self, *args, **named) -> None:
        super().compute(*args, **named)


def full(value: float, dtype=wp.float32, count: int = N) -> wp.array:
    return wp.full(count, value, dtype=dtype, device="cpu")


def refused(*words: str):
    """One error of Python's own kinds with these words; no core's and no allocator's."""
    return pytest.raises((TypeError, ValueError), match=".*".join(words))


class Robot:
    def __init__(self, law: type, group: bool) -> None:
        gains = [full(value) for value in ((9, 40, 1, 10) if issubclass(law, aa.ControllerPID) else (9, 1))]
        at = wp.array(np.arange(N), dtype=wp.uint32, device="cpu")
        self.actuator = aa.Actuator(at, law(*gains), aa.Delay(full(1, wp.int32), 2), [aa.ClampingMaxEffort(full(5))])
        self.stepped: Any = aa.ActuatorGroup([self.actuator]) if group else self.actuator
        self.now, self.after = self.stepped.state(), self.stepped.state()
        self.state = SimpleNamespace(joint_q=full(0.5), joint_qd=full(0.25))
        names = ("joint_target_pos", "joint_target_vel", "joint_act", "joint_f")
        self.control = SimpleNamespace(**{name: full(1.0) for name in names})

    def step(self, dt) -> None:
        self.stepped.step(self.state, self.control, self.now, self.after, dt)

    def everything(self) -> list[bytes]:
        seen = [self.control.joint_f.numpy().tobytes(), self.actuator.computed_efforts.numpy().tobytes()]
        todo = [self.now, self.after]
        while todo:
            one = todo.pop()
            if isinstance(one, wp.array):
                seen.append(one.numpy().tobytes())
            elif isinstance(one, list | tuple):
                todo += one
            elif hasattr(one, "__dict__"):
                todo += [value for _, value in sorted(vars(one).items())]
        return seen


@cases("group", False, True, ids=["actuator", "group"])
@cases("law", aa.ControllerPD, aa.ControllerPID, OwnPD, OwnPID)
@cases("dt", -1.0, -1e-9, math.nan, math.inf, -math.inf)
def test_time_step_that_cannot_be_is_refused(dt, law, group) -> None:
    """Of laws that need none, too: it would be taken for the step of another law's integral."""
    robot = Robot(law, group)
    robot.step(DT)
    before = robot.everything()
    with pytest.raises(ValueError, match=rf"dt = {dt}.*finite"):
        robot.step(dt)
    assert robot.everything() == before
    robot.step(DT)


@cases("law", aa.ControllerPID, OwnPID)
def test_law_with_an_integral_is_not_stepped_without_a_time_step(law) -> None:
    robot = Robot(law, group=False)
    before = robot.everything()
    with pytest.raises(ValueError, match="dt"):
        robot.step(None)
    assert robot.everything() == before


@cases("most", -3, -1, LARGEST + 1, 2**31, 2**58, 2**63, -(2**63), math.nan, math.inf, 1.5, None, "3")
def test_largest_delay_that_cannot_be_is_refused(most) -> None:
    with refused("max_delay = ", "must be"):
        aa.Delay(full(0, wp.int32), most)


@cases("steps, most", (5, 2), (-3, 2), (1, 0), (2**31 - 1, LARGEST), (-(2**31), 0))
def test_delay_out_of_its_range_is_refused(steps, most) -> None:
    with refused("delay_steps", str(steps)):
        aa.Delay(full(steps, wp.int32), most)


@cases("largest", 0, 1, LARGEST)
def test_delay_up_to_the_largest_is_taken(largest) -> None:
    assert aa.Delay(full(largest, wp.int32), largest).max_delay == largest


def stage_with_a_knee() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/Robot", "Xform"))
    UsdPhysics.RevoluteJoint.Define(stage, "/Robot/knee")
    return stage


@cases("steps", -3, LARGEST + 1, 2**31, 2**58, math.nan, math.inf, 1.5, None, "3")
def test_authored_delay_that_cannot_be_is_refused(steps) -> None:
    stage = stage_with_a_knee()
    before = stage.ExportToString()
    with refused("delay", "Correct|Author|Use|must be"):
        aa.add_actuator(
            "/Robot", "knee", "motor", aa.PDControlConfig(1.0, 0.0), delay=aa.DelayConfig(steps), stage=stage
        )
    assert stage.ExportToString() == before


@cases("steps", -3, LARGEST + 1, 2**31 - 1)
def test_delay_in_a_file_that_cannot_be_is_refused(steps) -> None:
    stage = stage_with_a_knee()
    prim = aa.add_actuator("/Robot", "knee", "act", aa.PDControlConfig(1.0, 0.0), delay=aa.DelayConfig(1), stage=stage)
    prim.CreateAttribute("newton:delaySteps", Sdf.ValueTypeNames.Int).Set(steps)
    with pytest.raises(ValueError, match=rf"<{prim.GetPath()}>.newton:delaySteps = {steps}"):
        aa.parse_actuator_prim(prim)


@pytest.fixture
def host() -> ArraysHost:
    made = ArraysHost(["hip", "knee"], N)
    made.play()
    return made


def wrap(host: ArraysHost, config=None) -> aa.ArticulationActuators:
    plain = aa.ActuatorConfig(aa.ControllerPD(full(1.0), full(0.0)), [], aa.Delay(full(1, wp.int32), 3))
    made = plain if config is None else config
    with aa.use_host(host):
        return aa.ArticulationActuators.from_actuators("/Robot_.*", [(made, "knee")])


BAD_RANGES = [(2, 1), (-3, 1), (-2, -1), (0, 4), (0, 2**31), (2**58, 2**58), (math.nan, 2), (0, math.nan)]
BAD_RANGES += [(0, math.inf), (0.5, 2), (0, 1.5), (None, 2), (0, "2")]


@cases(
    "low, high, seed",
    *((low, high, 0) for low, high in BAD_RANGES),
    *((0, 2, seed) for seed in (-1, 0.5, "x")),
    ids=str,
)
def test_delays_that_cannot_be_drawn_are_refused(low, high, seed, host, engine_kind) -> None:
    wrapper = wrap(host)
    wrapper.draw_delays(1, 3, seed=4)
    host.arrays().position_targets[:] = 1.0
    host.step(DT)
    delay = wrapper.actuators[0].delay
    before, state = delay.read("delay_steps"), wrapper.save_state()
    with refused("seed" if (low, high) == (0, 2) else "delay_steps"):
        wrapper.draw_delays(low, high, seed=seed)
    assert delay.read("delay_steps").tolist() == before.tolist()
    after = wrapper.save_state()
    assert all(np.array_equal(after[name], values) for name, values in state.items())
    # each reset still draws from the range of before
    wrapper.reset()
    assert delay.read("delay_steps").min() >= 1


@cases(
    "make, words",
    (lambda: aa.ActuatorConfig(None), ["controller"]),
    (lambda: aa.ActuatorConfig(aa.ControllerPD(full(1.0), full(0.0)), [None]), ["clamp"]),
    (lambda: aa.ActuatorConfig(aa.ControllerPD(full(1.0), full(0.0)), [], 3), ["delay"]),
    (lambda: aa.ActuatorConfig(aa.ControllerPD(full(1.0), full(0.0)), [aa.ClampingMaxEffort(None)]), ["max_effort"]),
    (lambda: aa.ActuatorConfig(aa.ControllerPD(None, full(0.0))), ["kp"]),
    (lambda: aa.ActuatorConfig(aa.ControllerPD(full(1.0), full(0.0)), [], aa.Delay(None, 3)), ["delay_steps"]),
    (lambda: aa.ActuatorConfig(OwnPD(full(1.0, count=1), full(0.0, count=1))), ["kp", "1", str(N)]),
    (lambda: aa.ActuatorConfig(OwnPD(full(1.0, count=N + 1), full(0.0, count=N + 1))), ["kp", str(N + 1), str(N)]),
)
def test_actuator_that_cannot_be_is_refused(make, words, host) -> None:
    host.arrays().stiffnesses[:] = 3.0
    with refused(*words):
        wrap(host, make())
    assert (host.arrays().stiffnesses == 3.0).all() and host.bus.num_callbacks == 0
