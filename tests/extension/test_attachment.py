"""Wrappers through the life of physics: ready, stop, edits in between, errors on every way, and the end of all."""

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from functools import partial

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.port import Buffers
from places import REPOSITORY, ROBOTS
from refusals import cases, refused
from stages import stage_of

DT = 0.01


def test_no_step_before_physics_is_ready(leg) -> None:
    wrapper = leg.wrap("knee")
    wrapper.enable_auto_step_pre_physics()
    leg.host.step(DT)
    leg.host.play()
    leg.host.arrays().position_targets[:] = 1.0
    leg.host.step(DT)
    assert leg.host.arrays().efforts.tolist() == [0, 1, 0]
    wrapper.close()


def test_wrapper_of_another_simulation_says_so(robots) -> None:
    with aa.Simulation(robots / "arm_2dof.usda") as old:
        old.play()
        wrapper = aa.ArticulationActuators("/World/Arm")
    with aa.Simulation(robots / "arm_2dof.usda") as new:
        new.play()
        before = aa.Articulation("/World/Arm").get_dof_gains()[0].numpy()
        new.step(3)
        with pytest.raises(HostError, match=r"of /World/Arm.*physics is not running.*make a new wrapper there"):
            wrapper.step_actuators(DT)
        wrapper.reset()
        wrapper.close()
        np.testing.assert_array_equal(aa.Articulation("/World/Arm").get_dof_gains()[0].numpy(), before)


def test_robot_that_vanished_is_named_at_play(robots) -> None:
    """A stage edited so that the wrapper no longer fits is an error at play, not a wrong column."""
    with aa.Simulation(stage_of(robots / "franka_panda.usda")) as sim:
        sim.play()
        wrapper = aa.ArticulationActuators("/World/Panda")
        sim.stop()
        sim.stage.GetPrimAtPath("/World/Panda/joints/panda_joint7").SetActive(False)
        sim.stage.GetPrimAtPath("/World/Panda/panda_link7").SetActive(False)
        refused(HostError, sim.play, "panda_joint7")
        wrapper.close()
        sim.play()


def test_robot_removed_is_an_error_at_play(robots) -> None:
    with aa.Simulation(stage_of(robots / "arm_2dof.usda")) as sim:
        sim.play()
        wrapper = aa.ArticulationActuators("/World/Arm")
        sim.stop()
        sim.stage.GetPrimAtPath("/World/Arm").SetActive(False)
        refused(HostError, sim.play, r"ArticulationActuators of /World/Arm.*robots are no longer there")
        assert (wrapper.faults, wrapper.actuated_dof_indices) == ([], [0, 1])
        wrapper.close()
        sim.play()


def test_columns_follow_the_joints_through_an_edit(robots) -> None:
    with aa.Simulation(stage_of(robots / "franka_panda.usda")) as sim:
        stage = sim.stage
        for number in (1, 2, 3, 4, 5, 6):
            stage.GetPrimAtPath(f"/World/Panda/Actuators/panda_joint{number}").SetActive(False)
        arm, wrapper = aa.Articulation("/World/Panda"), aa.ArticulationActuators("/World/Panda")
        sim.play()
        assert wrapper.actuated_dof_indices == [6]
        sim.stop()
        # the first joint becomes fixed
        stage.GetPrimAtPath("/World/Panda/joints/panda_joint1").SetTypeName("PhysicsFixedJoint")
        sim.play()
        assert wrapper.actuated_dof_indices == [5]
        arm.set_dof_position_targets(0.01, dof_indices=5)
        assert np.flatnonzero(arm.get_dof_gains()[0].numpy()[0] == 0).tolist() == [5]
        wrapper.close()


def test_feedforward_follows_the_joints_through_an_edit(robots) -> None:
    with aa.Simulation(stage_of(robots / "franka_panda.usda")) as sim:
        first = sim.stage.GetPrimAtPath("/World/Panda/joints/panda_joint1")
        sim.stage.GetPrimAtPath("/World/Panda/Actuators/panda_joint1").SetActive(False)
        first.SetTypeName("PhysicsFixedJoint")
        sim.play()
        wrapper = aa.ArticulationActuators("/World/Panda")
        wrapper.set_dof_feedforward_effort_targets([0, 0, 0, 0, 0, 2.5])
        sim.stop()
        first.SetTypeName("PhysicsRevoluteJoint")
        sim.play()
        arm = wrapper.articulation
        arm.set_dof_positions(arm.get_dof_positions())
        sim.bus.emit_pre_step(DT)
        assert arm.get_dof_efforts().numpy().tolist() == [[0, 0, 0, 0, 0, 0, 2.5]]


def test_no_effort_pushes_on_when_stepping_ends(leg) -> None:
    """Simulators keep efforts until they are set again: clear those of the joints that were driven, and no other."""
    leg.host.play()
    wrapper = leg.wrap("hip", "knee")
    leg.host.arrays().position_targets[:] = 1.0
    leg.host.step(DT)
    leg.host.arrays().efforts[2] = 5.0
    assert leg.host.arrays().efforts.tolist() == [1, 1, 5]
    wrapper.disable_auto_step_pre_physics()
    assert leg.host.arrays().efforts.tolist() == [0, 0, 5]
    leg.host.step(DT)
    assert leg.host.arrays().efforts.tolist() == [0, 0, 5]
    assert leg.gains() == [0.0, 0.0, 3.3], "drives stay taken for steps by hand"
    wrapper.close()


def test_efforts_of_a_step_by_hand_stay(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.arrays().position_targets[:] = 1.0
    wrapper.disable_auto_step_pre_physics()
    wrapper.step_actuators(DT)
    wrapper.disable_auto_step_pre_physics()
    assert leg.host.arrays().efforts.tolist() == [0, 1, 0]
    wrapper.enable_auto_step_pre_physics()
    leg.host.arrays().position_targets[:] = 2.0
    leg.host.step(DT)
    assert leg.host.arrays().efforts.tolist() == [0, 2, 0]
    wrapper.close()


@pytest.mark.filterwarnings("ignore:.*driven by two actuator wrappers")
def test_efforts_of_a_joint_that_another_drives_too_stay(leg) -> None:
    leg.host.play()
    first, second = leg.wrap("hip", "knee"), leg.wrap("knee", "ankle")
    second.disable_auto_step_pre_physics()
    leg.host.arrays().position_targets[:] = 1.0
    leg.host.step(DT)
    second.step_actuators(DT)
    first.disable_auto_step_pre_physics()
    assert leg.host.arrays().efforts.tolist() == [0, 1, 1]
    second.close()
    first.close()


def test_stepping_may_end_while_physics_does_not_run(leg) -> None:
    wrapper = leg.wrap("knee")
    wrapper.disable_auto_step_pre_physics()
    wrapper.enable_auto_step_pre_physics()
    leg.host.play()
    leg.host.step(DT)
    leg.host.stop()
    wrapper.disable_auto_step_pre_physics()
    leg.host.play()
    leg.host.arrays().efforts[:] = 5.0
    wrapper.disable_auto_step_pre_physics()
    wrapper.close()
    leg.host.arrays().efforts[:] = 5.0
    wrapper.disable_auto_step_pre_physics()
    assert leg.host.arrays().efforts.tolist() == [5, 5, 5]


COPIES = [copy.copy, copy.deepcopy, pickle.dumps, lambda thing: copy.deepcopy({"held": [thing]})]


class Broken(Exception):
    """Error of these tests."""


@cases("duplicate", *COPIES, ids=["copy", "deepcopy", "pickle", "inside"])
def test_a_wrapper_is_not_copied(leg, duplicate) -> None:
    """The end of a copy would end the original, which goes on here."""
    leg.host.play()
    wrapper = leg.wrap("knee")
    for thing in (wrapper, wrapper.articulation):
        with pytest.raises(TypeError, match=rf"^{type(thing).__name__} cannot be copied or pickled: .*Hand the"):
            duplicate(thing)
    leg.host.arrays().position_targets[:] = 1.0
    leg.host.step(DT)
    assert leg.host.arrays().efforts.tolist() == [0, 1, 0] and leg.gains() == [1.1, 0.0, 3.3]
    wrapper.close()


@cases("duplicate", *COPIES, ids=["copy", "deepcopy", "pickle", "inside"])
def test_a_simulation_is_not_copied(robots, duplicate) -> None:
    with aa.Simulation(robots / "pendulum.usda") as sim:
        sim.play()
        refused(TypeError, lambda: duplicate(sim), r"^Simulation cannot be copied or pickled: .*open another one")
        sim.step(2)


def _fail(*_args, **_named) -> None:
    raise Broken


class Uses:
    """Counts how often something is used, and lets one use fail."""

    def __init__(self, error: type[BaseException] = Broken) -> None:
        self.error = error
        self.restart()

    def restart(self, fails_at: int = 0) -> None:
        """Count from zero; use number `fails_at` will fail, none by default."""
        self.count, self.fails_at, self.failed = 0, fails_at, ""

    def use(self, what: str) -> None:
        self.count += 1
        if self.count == self.fails_at:
            self.failed = what
            raise self.error(what)


class Fragile:
    """Stands before a part of a host; each property or call of it is a use that may fail, before or after it acts."""

    def __init__(self, part, uses: Uses, *, late: bool = False, without: tuple[str, ...] = ()) -> None:
        self._part, self._uses, self._late, self._without = part, uses, late, without

    def __getattr__(self, name: str):
        if name in self._without:
            raise AttributeError(name)
        found = getattr(self._part, name)
        if not callable(found):
            self._uses.use(name)
            return found

        def call(*args, **kwargs):
            if not self._late:
                self._uses.use(name)
            result = found(*args, **kwargs)
            if self._late:
                self._uses.use(name)
            return self._guarded(result) if isinstance(result, Buffers) else result

        return call

    def _guarded(self, buffers: Buffers) -> Buffers:
        uses = {name: partial(self._uses.use, name) for name in ("refresh", "commit")}
        return dataclasses.replace(buffers, **uses)


class FragileHost:
    stage = None

    def __init__(self, host: ArraysHost, uses: Uses, *, late: bool = False, copies: bool = False) -> None:
        self.bus, self._inner = Fragile(host.bus, uses), host
        self._how: dict = {"late": late, "without": ("buffers",) if copies else ()}
        self._uses = uses

    def articulation(self, paths):
        self._uses.use("articulation")
        return Fragile(self._inner.articulation(paths), self._uses, **self._how)


@cases("playing", False, True)
@cases("copies", False, True)
@cases("late", False, True)
def test_constructor_is_all_or_nothing(leg, playing, copies, late) -> None:
    if playing:
        leg.host.play()
    uses = Uses()
    host = FragileHost(leg.host, uses, late=late, copies=copies)
    before = leg.host.bus.num_callbacks
    with aa.use_host(host):
        leg.wrap("knee").close()
        total = uses.count
        for call in range(1, total + 1):
            uses.restart(call)
            try:
                leg.wrap("hip", "knee")
            except Broken:
                # while the error is held, so is what was half made: nobody but the constructor cleans up
                assert leg.host.bus.num_callbacks == before, uses.failed
                assert not playing or leg.gains() == [1.1, 2.2, 3.3], uses.failed
                assert not playing or not leg.host.arrays().efforts.any(), uses.failed
    assert total > (20 if playing else 10)


@cases("copies", False, True)
@cases("interrupt", KeyboardInterrupt, SystemExit, GeneratorExit)
def test_an_interrupt_leaves_no_effort(leg, copies, interrupt) -> None:
    uses = Uses(interrupt)
    with aa.use_host(FragileHost(leg.host, uses, copies=copies)):
        wrapper = leg.wrap("knee")
    leg.host.play()
    leg.host.arrays().position_targets[:] = 1.0
    uses.restart()
    leg.host.step(DT)
    for call in range(1, uses.count + 1):
        assert leg.host.arrays().efforts.tolist() == [0, 1, 0]
        uses.restart(call)
        refused(interrupt, lambda: leg.host.step(DT))
        assert leg.host.arrays().efforts.tolist() == [0, 0, 0], uses.failed
        leg.host.step(DT)
    assert call == (5 if copies else 2)
    wrapper.close()


@cases("late", False, True)
def test_close_that_failed_is_tried_again(leg, late) -> None:
    leg.host.play()
    uses = Uses()
    before, call, failed = leg.host.bus.num_callbacks, 1, True
    while failed:
        with aa.use_host(FragileHost(leg.host, uses, late=late)):
            wrapper = leg.wrap("hip", "knee")
        leg.host.arrays().efforts[:] = 5.0
        uses.restart(call)
        failed = False
        try:
            wrapper.close()
        except Broken:
            failed = True
            with pytest.raises(HostError, match="is closed"):
                wrapper.step_actuators(DT)
        wrapper.close()
        assert leg.host.bus.num_callbacks == before, uses.failed
        assert leg.gains() == [1.1, 2.2, 3.3], uses.failed
        assert leg.host.arrays().efforts.tolist() == [0, 0, 5], uses.failed
        call += 1
    assert call == 8


@cases("broken", "set_dof_gains", "get_dof_gains", "set_dof_efforts")
def test_close_does_what_can_be_done(leg, broken, monkeypatch) -> None:
    """Efforts are cleared though gains cannot be restored, and the other way round; no step follows."""
    leg.host.play()
    wrapper = leg.wrap("hip", "knee")
    leg.host.arrays().efforts[:] = 5.0
    with monkeypatch.context() as patch:
        patch.setattr(type(wrapper.articulation), broken, _fail)
        for _ in range(2):
            refused(Broken, wrapper.close)
    assert leg.host.arrays().efforts.tolist() == [5.0 if broken == "set_dof_efforts" else 0.0] * 2 + [5.0]
    assert leg.gains() == ([1.1, 2.2, 3.3] if broken == "set_dof_efforts" else [0.0, 0.0, 3.3])
    leg.host.step(DT)
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


def test_close_gives_back_though_the_bus_fails(leg, monkeypatch) -> None:
    before = leg.host.bus.num_callbacks
    leg.host.play()
    wrapper = leg.wrap("hip", "knee")
    with monkeypatch.context() as patch, pytest.raises(Broken) as error:
        patch.setattr(type(leg.host.bus.on_stop(leg.gains)), "close", _fail)
        wrapper.close()
    assert len(error.value.__notes__) == 3 and leg.gains() == [1.1, 2.2, 3.3]
    wrapper.close()
    assert leg.host.bus.num_callbacks == before + 1


def test_drives_that_were_not_given_back_are_void_after_a_stop(leg, monkeypatch) -> None:
    leg.host.play()
    wrapper = leg.wrap("hip", "knee")
    with monkeypatch.context() as patch, pytest.raises(Broken):
        patch.setattr(type(wrapper.articulation), "set_dof_gains", _fail)
        wrapper.close()
    leg.host.stop()
    leg.host.play()
    leg.host.arrays().stiffnesses[:] = leg.host.arrays().dampings[:] = 0.0
    leg.host.arrays().efforts[:] = 5.0
    wrapper.close()
    assert leg.gains() == [0.0, 0.0, 0.0] and leg.host.arrays().efforts.tolist() == [5.0, 5.0, 5.0]
    assert leg.host.bus.num_callbacks == 1


def test_next_owner_gives_back_what_the_one_before_could_not(leg, monkeypatch) -> None:
    leg.host.play()
    first = leg.wrap("hip", "knee")
    with monkeypatch.context() as patch, pytest.raises(Broken):
        patch.setattr(type(first.articulation), "set_dof_gains", _fail)
        first.close()
    second = leg.wrap("knee")
    first.close()
    assert leg.gains() == [1.1, 0.0, 3.3]
    second.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


def fragile(base: type, method: str, uses: Uses):
    def call(self, *args, **kwargs):
        uses.use(method)
        return getattr(base, method)(self, *args, **kwargs)

    return type(base.__name__, (base,), {method: call})


def pipelines(**own) -> list[tuple[aa.ActuatorConfig, str]]:
    """Laws with a memory on two joints: built-in ones, and one with the given components of the user's own."""

    def full(value: float, dtype=wp.float32) -> wp.array:
        return wp.full(1, value, dtype=dtype, device="cpu")

    def config(controller=aa.ControllerPID, clamping=aa.ClampingMaxEffort, delay=aa.Delay):
        law = controller(full(2.0), full(8.0), full(0.0), full(np.inf))
        return aa.ActuatorConfig(law, [clamping(full(100.0))], delay(full(1, wp.int32), 1))

    return [(config(), "hip"), (config(**own), "knee")]


PARTS = {
    "compute": lambda uses: pipelines(controller=fragile(aa.ControllerPID, "compute", uses)),
    "update_state": lambda uses: pipelines(controller=fragile(aa.ControllerPID, "update_state", uses)),
    "modify_forces": lambda uses: pipelines(clamping=fragile(aa.ClampingMaxEffort, "modify_forces", uses)),
    "get_delayed_targets": lambda uses: pipelines(delay=fragile(aa.Delay, "get_delayed_targets", uses)),
    "delay's update_state": lambda uses: pipelines(delay=fragile(aa.Delay, "update_state", uses)),
    "host": lambda uses: pipelines(),
    "host without buffers": lambda uses: pipelines(),
}


@cases("part", *PARTS)
def test_failure_in_a_step_leaves_no_effort_and_no_half_step(leg, part) -> None:
    def step(number: int) -> list[float]:
        leg.host.arrays().position_targets[:] = number + 1.0
        leg.host.step(DT)
        return leg.host.arrays().efforts.tolist()

    uses, of_host = Uses(), part.startswith("host")
    pairs = PARTS[part](uses)
    leg.host.play()
    with aa.use_host(FragileHost(leg.host, uses if of_host else Uses(), copies="without" in part)):
        wrapper = aa.ArticulationActuators.from_actuators("/Robot", pairs)
    uses.restart()
    expected = [step(number) for number in range(4)]
    assert uses.count in (4, 8, 20)
    for call in range(1, uses.count + 1):
        wrapper.reset()
        uses.restart(call)
        with pytest.raises(Broken):
            for number in range(4):
                before = wrapper.save_state()
                step(number)
        failed, after = uses.failed, wrapper.save_state()
        assert not leg.host.arrays().efforts.any()
        # what fails to arrive has been computed: then the whole step is done
        if failed not in ("commit", "set_dof_efforts"):
            assert all(np.array_equal(before[name], after[name]) for name in before)
        refused(Broken, lambda: wrapper.step_actuators(DT))
        wrapper.enable_auto_step_pre_physics()
        assert step(0) == [0.0, 0.0, 0.0]
        uses.restart()
        wrapper.reset()
        assert [step(number) for number in range(4)] == expected
    wrapper.close()


def test_failure_by_hand_leaves_no_effort(leg) -> None:
    uses = Uses()
    leg.host.play()
    with aa.use_host(FragileHost(leg.host, uses)):
        wrapper = aa.ArticulationActuators.from_actuators("/Robot", pipelines(), auto_step_pre_physics=False)
    leg.host.arrays().position_targets[:] = 1.0
    wrapper.step_actuators(DT)
    uses.restart(1)
    refused(Broken, lambda: wrapper.step_actuators(DT))
    assert not leg.host.arrays().efforts.any()
    wrapper.step_actuators(DT)
    assert leg.host.arrays().efforts.tolist() == pytest.approx([2 + 8 * 2 * DT, 2 + 8 * 2 * DT, 0])
    wrapper.close()


def test_efforts_that_cannot_be_cleared_are_mentioned(leg) -> None:
    uses = Uses()
    leg.host.play()
    with aa.use_host(FragileHost(leg.host, uses)):
        wrapper = leg.wrap("knee")
    uses.restart(1)
    wrapper.articulation._without = ("set_dof_efforts",)
    with pytest.raises(Broken, match="refresh") as caught:
        leg.host.step(DT)
    assert "efforts could not be cleared: AttributeError" in caught.value.__notes__[0]


def test_wrapper_of_robots_that_are_gone_can_be_shown(leg) -> None:
    with aa.use_host(FragileHost(leg.host, Uses())):
        wrapper = leg.wrap("knee")
    wrapper.articulation._without = ("paths", "dof_paths", "dof_names")
    assert (repr(wrapper), wrapper.faults) == ("<ArticulationActuators of /Robot: 1 joints x 1 robots>", [])


def test_error_of_one_wrapper_does_not_stop_another(leg) -> None:
    leg.host.play()
    uses, one = Uses(), wp.ones(1, dtype=wp.float32, device="cpu")
    law = aa.ActuatorConfig(fragile(aa.ControllerPD, "compute", uses)(one, one))
    wrappers = [leg.wrap("hip"), aa.ArticulationActuators.from_actuators("/Robot", [(law, "knee")]), leg.wrap("ankle")]
    leg.host.arrays().position_targets[:] = 1.0
    uses.restart(1)
    refused(Broken, lambda: leg.host.step(DT))
    assert leg.host.arrays().efforts.tolist() == [1, 0, 1]
    for wrapper in wrappers:
        wrapper.close()


def test_reset_of_the_simulation_clears_an_error(robots) -> None:
    with aa.Simulation(robots / "arm_2dof.usda") as sim:
        sim.play()
        wrapper = aa.ArticulationActuators("/World/Arm")
        refused(ValueError, lambda: sim.bus.emit_pre_step(-1.0), "step_dt")
        before = sim.bus.num_callbacks
        sim.reset()
        assert sim.bus.num_callbacks == before + 1
        wrapper.step_actuators(DT)


def test_failure_of_a_second_ready_leaves_nothing_stepping(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.robots().clear()
    leg.host.generation += 1
    refused(HostError, leg.host.bus.emit_ready, "robots are no longer there")
    before = leg.host.arrays().efforts.copy()
    leg.host.step(DT)
    np.testing.assert_array_equal(leg.host.arrays().efforts, before)
    refused(HostError, lambda: wrapper.step_actuators(DT), "robots are no longer there")
    wrapper.close()


IN_A_SIMULATION = f"""
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
sim = Simulation({str(ROBOTS / "arm_2dof.usda")!r})
sim.play()
actuators = ArticulationActuators("/World/Arm")
sim.step(3)
"""
IN_A_CIRCLE = "actuators.itself = actuators"
ON_A_HOST_THAT_FAILS = """
def fail(*_, **__):
    raise RuntimeError("the simulator is gone")
actuators.articulation.get_dof_gains = actuators.articulation.set_dof_gains = fail
"""


@cases("more", "", IN_A_CIRCLE, ON_A_HOST_THAT_FAILS, ids=["plain", "circle", "failing host"])
@pytest.mark.slow
def test_process_ends_quietly_with_a_wrapper_playing(more) -> None:
    code = [sys.executable, "-W", "error", "-X", "dev", "-c", IN_A_SIMULATION + more]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(code, env=environment, capture_output=True, text=True, check=False)
    # without a driver Warp says so
    expected = ("Warp ", "No native core for Python")
    assert (done.returncode, [line for line in done.stderr.splitlines() if not line.startswith(expected)]) == (0, [])
