"""Power compared with the change of energy of a robot, also if the velocity after a step is unknown."""

import pickle

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from places import ROBOTS
from refusals import cases

DT = 0.01
SPEEDS = np.float32([1.0, 3.0, -2.0, 5.0, 4.0])


def energy_of(sim: aa.Simulation) -> float:
    import mujoco

    data = sim.data()
    mujoco.mj_energyPos(sim.model, data)
    mujoco.mj_energyVel(sim.model, data)
    return float(data.energy.sum())


@cases(
    "motor",
    # kd dt / I = 0.8: it oscillates about its target; power by the first velocity alone would brake
    [aa.PDControlConfig(400.0, 20.0)],
    # kd dt / I = 7.7: it vibrates between its limits
    [aa.PDControlConfig(400.0, 200.0), aa.MaxEffortClampingConfig(20.0)],
    ids=["stiff", "rattling"],
)
@pytest.mark.filterwarnings("ignore:.*will vibrate")
def test_work_is_what_the_energy_of_a_pendulum_changes_by(motor) -> None:
    """Except for losses of the solver; effort times the velocity before each step has the wrong sign."""
    with aa.Simulation(ROBOTS / "pendulum.usda", dt=DT) as sim:
        sim.play()
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {".*": motor})
        actuators.articulation.set_dof_position_targets(0.5)
        before = energy_of(sim)
        with actuators.record() as log:
            sim.step(200)
        work = float(log.power.sum(dtype=float)) * DT
        assert work == pytest.approx(energy_of(sim) - before, abs=2e-3 + 1e-2 * abs(work))
        assert float((log.applied_efforts * log.velocities).sum()) * DT < 0.0 < work


def pushed(capacity: int | None = None, reset=None, motor=None, after: float | None = None) -> aa.Recording:
    """Two robots pushed by 2 N·m at five speeds, and one `after`; `reset` is called before step 3."""
    arm = aa.ActuatedArrays(["hip"], motor or {"hip": [aa.PDControlConfig(2.0, 0.0)]}, 2)
    q, qd = np.zeros((2, 2, 1), np.float32)
    with arm.record(capacity=capacity) as log:
        for number, speed in enumerate(SPEEDS):
            if number == 3 and reset is not None:
                reset(arm)
            qd[:] = speed
            arm.step(q, qd, np.ones_like(q), DT)
        if after is not None:
            qd[:] = after
    return log


def test_velocity_is_the_mean_over_the_step() -> None:
    np.testing.assert_array_equal(pushed().power[:, :, 0].T, [[4, 1, 3, 9, 8]] * 2)
    np.testing.assert_array_equal(pushed(after=-2.0).power[:, :, 0].T, [[4, 1, 3, 9, 2]] * 2)
    np.testing.assert_array_equal(pushed(after=np.nan).power[:, :, 0].T, [[4, 1, 3, 9, 8]] * 2)


def test_velocity_is_followed_while_it_is_recorded() -> None:
    arm = aa.ActuatedArrays(["hip"], {"hip": [aa.PDControlConfig(2.0, 0.0)]})
    q, qd = np.zeros((2, 1), np.float32)
    with arm.record() as log:
        assert log.power.shape == (0, 1, 1)
        for speed in (1.0, 3.0):
            qd[:] = speed
            arm.step(q, qd, np.ones_like(q), DT)
        assert log.power.ravel().tolist() == [4, 6]
        qd[:] = 5.0
        assert log.power.ravel().tolist() == [4, 8]
        arm.reset()
        assert log.power.ravel().tolist() == [4, 6]


def test_physics_that_stops_leaves_what_is_known() -> None:
    with aa.Simulation(ROBOTS / "pendulum.usda", dt=DT) as sim:
        sim.play()
        actuators = aa.ArticulationActuators("/World/Pendulum")
        robot = actuators.articulation
        robot.set_dof_position_targets(0.5)
        with actuators.record() as log:
            sim.step(5)
            sim.stop()
            sim.play()
            sim.step(5)
            after = robot.get_dof_velocities().numpy()[0, 0]
            sim.stop()
        efforts, before = log.applied_efforts.ravel(), log.velocities.ravel()
        expected = efforts * (before + np.r_[before[1:], after]) / 2
        expected[4] = efforts[4] * before[4]
        np.testing.assert_allclose(log.power.ravel(), expected, rtol=1e-6, atol=1e-9)


class Constant(aa.Controller):
    SHARED_PARAMS = frozenset()

    @classmethod
    def resolve_arguments(cls, args: dict) -> dict:
        return {}

    def compute(self, positions, *arguments, device=None) -> None:
        arguments[8].fill_(2.0)


@cases("native", True, False)
@cases("capacity", None, 2, 3, 4)
@cases(
    "reset, rows",
    (lambda arm: arm.reset(indices=[1]), [1]),
    (lambda arm: arm.reset(), [0, 1]),
    (lambda arm: arm.restore_state(arm.save_state()), [0, 1]),
    (lambda arm: (arm.reset(indices=[0]), arm.reset(indices=[1])), [0, 1]),
    ids=["one", "all", "restored", "one by one"],
)
def test_step_before_a_reset_has_no_velocity_after_it(native, capacity, reset, rows) -> None:
    """The velocity at the start replaces the mean, for reset robots only; a ring drops it with the step."""
    motor = None if native else [(aa.ActuatorConfig(Constant()), "hip")]
    expected = np.float32([[4, 1, 3, 9, 8]] * 2)
    expected[rows, 2] = -4
    log = pushed(capacity, reset, motor)
    np.testing.assert_array_equal(log.power[:, :, 0].T, expected[:, -len(log) :])


def test_velocity_that_is_not_finite_is_none_after_the_step_before() -> None:
    arm = aa.ActuatedArrays(["hip"], {"hip": [aa.PDControlConfig(2.0, 0.0)]})
    q = np.zeros(1, np.float32)
    with arm.record() as log:
        for speed in (1.0, np.nan, 3.0):
            arm.step(q, q + np.float32(speed), q + np.float32(1), DT)
    np.testing.assert_array_equal(log.power.ravel(), [2, np.nan, 6])


@cases("way", "npz", "csv", "pickle")
def test_power_is_kept_with_the_resets(tmp_path, way) -> None:
    log = pushed(reset=lambda arm: arm.reset(indices=[1]))
    if way == "pickle":
        back = pickle.loads(pickle.dumps(log))
    else:
        log.save(tmp_path / f"log.{way}")
        back = aa.Recording.load(tmp_path / f"log.{way}")
    np.testing.assert_array_equal(back.power, log.power)
