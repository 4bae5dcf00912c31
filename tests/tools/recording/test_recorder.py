"""The recorder, compared with loops written by hand, native and in Python, and without side effects."""

import contextlib
from typing import ClassVar

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.tools.recording import recorder
from places import REPOSITORY
from refusals import cases, refused

PENDULUM = REPOSITORY / "data" / "robots" / "pendulum.usda"
NAMES, ROBOTS, DT = ["hip", "knee", "ankle", "toe"], 3, 0.005
MOTORS = {
    "hip|ankle": [aa.PDControlConfig(80.0, 2.0), aa.DelayConfig(delay_steps=3), aa.MaxEffortClampingConfig(20.0)],
    "knee": [
        aa.PDControlConfig(50.0, 1.0),
        aa.DCMotorClampingConfig(saturation_effort=30.0, velocity_limit=4.0, max_motor_effort=25.0),
    ],
}
OF_LAWS = {
    *(*recorder.OF_PASSIVE_STAGES, *recorder.OF_TRANSMISSIONS, *recorder.OF_STATES, *recorder.MEASURED),
    *("losses", "at_voltage_limit", "magnet_temperatures"),
}
ALL = tuple(name for name in recorder.SIGNALS if name not in OF_LAWS)


class Leg:
    """Three robots with four joints, one undriven, and random inputs."""

    def __init__(self, motors=MOTORS, seed: int = 0) -> None:
        self.actuated = aa.ActuatedArrays(NAMES, motors, ROBOTS)
        self.numbers = np.random.default_rng(seed)
        self.given: list[list[np.ndarray]] = []
        self.arrays = [np.zeros((ROBOTS, len(NAMES)), np.float32) for _ in range(4)]

    def step(self) -> np.ndarray:
        for array in self.arrays:
            array[:] = self.numbers.normal(size=array.shape)
        self.given.append([array.copy() for array in self.arrays])
        q, qd, target, target_velocity = self.arrays
        return self.actuated.step(q, qd, target, DT, qd_target=target_velocity).copy()


def test_it_notes_what_a_loop_by_hand_does(way) -> None:
    leg = Leg()
    leg.actuated.observe_efforts()
    efforts, computed, limited = [], [], []
    with leg.actuated.record() as log:
        for _ in range(600):
            efforts.append(leg.step()[:, :3])
            computed.append(leg.actuated.computed_efforts)
            limited.append(leg.actuated.limited_by)
    assert (len(log), log.joints, log.robots) == (600, NAMES[:3], [f"robot {k}" for k in range(ROBOTS)])
    assert (log.dt, log.signals) == (DT, ALL)
    np.testing.assert_allclose(log.time, np.arange(600) * DT, atol=1e-9)
    for number, name in enumerate(("positions", "velocities", "position_targets", "velocity_targets")):
        given = np.array([arrays[number][:, :3] for arrays in leg.given])
        np.testing.assert_array_equal(getattr(log, name), given)
        if number > 1:
            # three steps later; before that the first command
            late = np.concatenate([given[:1]] * 3 + [given[:-3]])
            late[:, :, 1] = given[:, :, 1]
            np.testing.assert_array_equal(getattr(log, f"delayed_{name}"), late)
    np.testing.assert_array_equal(log.applied_efforts, efforts)
    np.testing.assert_array_equal(log.computed_efforts, computed)
    np.testing.assert_array_equal(log.limited_by, np.array(limited, str))
    after = np.concatenate([log.velocities[1:], log.velocities[-1:]])
    np.testing.assert_array_equal(log.power, log.applied_efforts * (0.5 * log.velocities + 0.5 * after))
    assert {*log.limited_by.ravel()} == {"", "ClampingMaxEffort", "ClampingDCMotor"}
    np.testing.assert_array_equal(log.max_efforts, [[20, np.nan, 20]] * ROBOTS)
    assert not log.faults.any()


def test_new_arrays_are_noted_as_well_as_the_same_ones(way) -> None:
    same, new = Leg(), Leg()
    with same.actuated.record() as log, new.actuated.record() as other:
        for _ in range(5):
            same.step()
            new.arrays = [array.copy() for array in new.arrays]
            new.step()
    for name in (*ALL, "time"):
        np.testing.assert_array_equal(getattr(other, name), getattr(log, name))


def test_a_pendulum_is_recorded_as_it_swings(way) -> None:
    with aa.Simulation(PENDULUM) as sim:
        sim.play()
        actuators = aa.ArticulationActuators("/World/Pendulum")
        robot, positions, efforts = actuators.articulation, [], []
        robot.set_dof_position_targets(0.5)
        with actuators.record() as log:
            for _ in range(20):
                positions.append(robot.get_dof_positions().numpy()[0, 0])
                sim.step()
                efforts.append(robot.get_dof_efforts().numpy()[0, 0])
        assert log.robots == ["/World/Pendulum"]
        np.testing.assert_array_equal(log.positions.ravel(), positions)
        assert len(np.unique(positions)) == 20
        np.testing.assert_allclose(log.dt, sim.dt, rtol=1e-6)
        # one-shot efforts may be reset after the step; others must equal the recorded ones
        if any(efforts):
            np.testing.assert_array_equal(log.applied_efforts.ravel(), efforts)


def test_a_ring_keeps_the_last_steps(way) -> None:
    leg = Leg()
    with leg.actuated.record(["positions", "limited_by", "faults"], capacity=4) as log, leg.actuated.record() as whole:
        for count in range(1, 11):
            leg.step()
            kept = min(count, 4)
            assert (len(log), len(whole)) == (kept, count)
            np.testing.assert_array_equal(log.positions, whole.positions[-kept:])
            np.testing.assert_array_equal(log.limited_by, whole.limited_by[-kept:])
    np.testing.assert_allclose(log.time, np.arange(4) * DT, atol=1e-9)
    np.testing.assert_array_equal(log.positions, whole.positions[-4:])


@cases(
    "robots, dofs, rows, columns",
    ([2, 0], "knee", [2, 0], [1]),
    (np.array([False, True, True]), ["ankle", "hip"], [1, 2], [0, 2]),
    ([1], [2, 0], [1], [0, 2]),
    (None, 2, [0, 1, 2], [2]),
    (None, ".*e.*", [0, 1, 2], [1, 2]),
)
def test_some_robots_and_joints_can_be_chosen(way, robots, dofs, rows, columns) -> None:
    leg = Leg()
    with leg.actuated.record(robots=robots, dofs=dofs) as some, leg.actuated.record() as whole:
        for _ in range(6):
            leg.step()
    assert some.joints == [NAMES[column] for column in columns] and some.robots == [f"robot {row}" for row in rows]
    for name, array in some.arrays().items():
        if name != "time":
            np.testing.assert_array_equal(array, getattr(whole, name)[:, rows][:, :, columns], err_msg=name)
    np.testing.assert_array_equal(some.max_efforts, whole.max_efforts[np.ix_(rows, columns)])


def test_a_reset_and_random_delays_in_between(way) -> None:
    leg = Leg()
    leg.actuated.randomize({"delay_steps": aa.Uniform(0, 3, per_robot=True)}, seed=4)
    lags = []
    with leg.actuated.record() as log:
        for step in range(12):
            if step == 6:
                leg.actuated.reset(indices=[1])
            lags.append(leg.actuated.actuators[0].delay.delay_steps.numpy().reshape(ROBOTS, -1)[:, 0].copy())
            leg.step()
    targets = np.array([given[2] for given in leg.given])
    assert len({*np.ravel(lags).tolist()}) > 1
    for step in range(12):
        for robot in range(ROBOTS):
            begin = 6 if robot == 1 and step >= 6 else 0
            seen = targets[max(begin, step - lags[step][robot]), robot, 0]
            assert log.delayed_position_targets[step, robot, 0] == seen, (step, robot)
    np.testing.assert_allclose(log.time, np.arange(12) * DT, atol=1e-9)


def test_faults_are_noted_until_the_reset(way) -> None:
    leg = Leg()
    with leg.actuated.record(("applied_efforts", "faults")) as log, leg.actuated.record("faults", capacity=2) as last:
        for step in range(5):
            leg.step()
            if step == 1:
                leg.arrays[1][2, 2] = np.nan
                q, qd, target, target_velocity = leg.arrays
                leg.actuated.step(q, qd, target, DT, qd_target=target_velocity)
            if step == 3:
                leg.actuated.reset(indices=[2])
    expected = np.zeros((6, ROBOTS, 3))
    expected[2:5, 2, 2] = 2
    np.testing.assert_array_equal(log.faults, expected)
    # a reused row of a ring
    np.testing.assert_array_equal(last.faults, expected[-2:])
    assert log.applied_efforts[2, 2, 2] == 0.0 and log.applied_efforts[3, 2, 2] != 0.0


def test_nothing_is_left_behind() -> None:
    leg = Leg()
    inside = leg.actuated
    before = inside._assembly.step
    with leg.actuated.record() as log:
        leg.step()
    kept = log.arrays()
    assert inside._assembly.step == before
    assert (inside._assembly._watchers, inside._assembly._observers) == ([], set())
    assert inside._assembly.parts[0][1].observed() == (None, None)
    leg.step()
    for name, array in log.arrays().items():
        np.testing.assert_array_equal(array, kept[name])


def test_observing_and_recording_do_not_disturb_each_other(way) -> None:
    leg = Leg()
    leg.actuated.observe_efforts()
    with leg.actuated.record() as log:
        leg.step()
        leg.actuated.observe_efforts(False)
        leg.step()
    assert log.computed_efforts.any(axis=(1, 2)).all()
    leg.actuated.observe_efforts()
    with leg.actuated.record():
        leg.step()
    leg.step()
    assert leg.actuated.computed_efforts.any()


def test_two_record_at_once_and_end_one_after_the_other(way) -> None:
    leg = Leg()
    with leg.actuated.record() as long:
        leg.step()
        with leg.actuated.record(("positions", "computed_efforts")) as short:
            leg.step()
        leg.step()
    assert (len(long), len(short)) == (3, 1) and short.signals == ("positions", "computed_efforts")
    np.testing.assert_array_equal(short.computed_efforts, long.computed_efforts[1:2])
    # without other observers, the third one would be zero
    assert long.computed_efforts[2].any()


class Broken(aa.Controller):
    SHARED_PARAMS: ClassVar[set[str]] = set()
    raises = False

    @classmethod
    def resolve_arguments(cls, args: dict) -> dict:
        return {}

    def compute(self, positions, *arguments, device=None) -> None:
        if type(self).raises:
            raise ArithmeticError("it broke")
        forces: wp.array = arguments[8]
        forces.fill_(3.0)


def test_a_step_that_raises_is_not_noted() -> None:
    count = ROBOTS
    delay = aa.Delay(wp.full(count, 2, dtype=wp.int32, device="cpu"), 2)
    clamp = aa.ClampingMaxEffort(wp.full(count, 2.0, dtype=wp.float32, device="cpu"))
    actuated = aa.ActuatedArrays(["hip"], [(aa.ActuatorConfig(Broken(), [clamp], delay), "hip")], ROBOTS)
    q = np.zeros((ROBOTS, 1), np.float32)
    inside = actuated
    with pytest.raises(ArithmeticError), actuated.record() as log:
        for target in range(4):
            actuated.step(q, q, q + target, DT)
        Broken.raises = True
        refused(ArithmeticError, lambda: actuated.step(q, q, q, DT))
        Broken.raises = False
        actuated.step(q, q, q + 9, DT)
        Broken.raises = True
        actuated.step(q, q, q, DT)
    Broken.raises = False
    assert len(log) == 5 and log.position_targets[:, 0, 0].tolist() == [0, 1, 2, 3, 9]
    assert log.delayed_position_targets[:, 1, 0].tolist() == [0, 0, 0, 1, 2]
    assert log.computed_efforts.ravel().tolist() == [3.0] * 15
    assert log.applied_efforts.ravel().tolist() == [2.0] * 15 and (log.limited_by == "ClampingMaxEffort").all()
    assert inside._assembly._watchers == []


def test_a_delay_of_ones_own_is_noted() -> None:
    class Twice(aa.Delay):
        def get_delayed_targets(self, *arguments):
            found = super().get_delayed_targets(*arguments)
            found[0].assign(2 * found[0].numpy())
            return found

    def full(value: float, dtype=wp.float32) -> wp.array:
        return wp.full(1, value, dtype=dtype, device="cpu")

    config = aa.ActuatorConfig(aa.ControllerPD(full(10), full(1)), [], Twice(full(1, wp.int32), 1))
    actuated = aa.ActuatedArrays(["hip"], [(config, "hip")])
    q = np.zeros(1, np.float32)
    with actuated.record() as log:
        for target in range(1, 4):
            actuated.step(q, q, q + target, DT)
    assert log.delayed_position_targets.ravel().tolist() == [2.0, 2.0, 4.0]
    assert log.applied_efforts.ravel().tolist() == [20.0, 20.0, 40.0]


def test_physics_may_stop_and_start_in_between(way) -> None:
    with aa.Simulation(PENDULUM) as sim:
        sim.play()
        actuators = aa.ArticulationActuators("/World/Pendulum")
        with actuators.record() as log:
            sim.step(3)
            sim.stop()
            sim.play()
            sim.step(2)
        assert len(log) == 5
        np.testing.assert_array_equal(log.positions[3], log.positions[0])


@cases(
    "ask, message",
    (lambda one: one.record(("torque",)), r"signals: \['torque'\]: must be some of"),
    (lambda one: one.record(capacity=0), "capacity = 0: must be at least 1"),
    (lambda one: one.record(()), "nothing to record"),
    (lambda one: one.record(robots=[]), "nothing to record"),
    (lambda one: one.record(robots=[3]), "robot index 3: must be in"),
    (lambda one: one.record(dofs="toe"), "dofs: 'toe' is no actuated joint: must be one of"),
    (lambda one: one.record(dofs=[0, 3]), "dofs: 3 is no actuated joint"),
)
def test_what_does_not_fit_is_refused(ask, message) -> None:
    refused(ValueError, lambda: ask(Leg().actuated), message)


def test_what_was_not_recorded_is_no_attribute() -> None:
    leg = Leg()
    with leg.actuated.record("power") as log:
        leg.step()
    assert isinstance(log, aa.Recording) and log.signals == ("velocities", "applied_efforts", "power")
    refused(AttributeError, lambda: print(log.positions), r"positions was not recorded, only velocities, .* Ask for it")


def test_a_file_has_what_ran_until_an_interrupt(way, tmp_path) -> None:
    for error in (KeyboardInterrupt, None, ValueError):
        leg, file = Leg(), tmp_path / f"{error}.npz"
        expected = {KeyboardInterrupt: pytest.warns(UserWarning, match=r"\.npz: interrupted after 3 recorded steps\.")}
        expected |= {ValueError: pytest.raises(ValueError, match="odd"), None: contextlib.nullcontext()}
        with expected[error], leg.actuated.record(path=file):
            for _ in range(3):
                leg.step()
            if error is not None:
                raise error("odd")
        assert len(aa.Recording.load(file)) == 3
    with pytest.raises(KeyboardInterrupt), Leg().actuated.record():
        raise KeyboardInterrupt


def test_a_file_that_could_not_be_written_is_refused_first(tmp_path) -> None:
    refused(ValueError, lambda: Leg().actuated.record(path=tmp_path / "log.txt"), r"must end with \.npz")
    with pytest.raises(FileNotFoundError, match="its folder must be there"):
        Leg().actuated.record(path=tmp_path / "no" / "log.npz")
