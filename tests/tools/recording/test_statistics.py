"""Intervals of a mask, tables as text, and friction in recordings; the motors are in `test_motors.py`."""

import pickle
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.engine.recorded_signals import OF_PASSIVE_STAGES, STICKING_SPEED
from isaacsim.core.experimental.actuators.tools.recording import statistics
from places import ROBOTS
from refusals import cases, refused


def test_intervals_at_the_ends_and_between() -> None:
    assert statistics.intervals(np.array([True, True, False, True, False, True])) == [(0, 2), (3, 4), (5, 6)]
    assert statistics.intervals(np.zeros(3, bool)) == statistics.intervals(np.zeros(0, bool)) == []


def test_longest_is_in_seconds() -> None:
    durations = np.array([0.01, 0.01, 0.01, 0.05])
    assert np.isclose(statistics.longest(np.array([True, True, False, True]), durations), 0.05)
    assert statistics.longest(np.zeros(4, bool), durations) == 0.0


def test_names_are_left_and_numbers_right() -> None:
    assert statistics.text_table([("joint", "share"), ("knee_left", "5%")], 1) == "joint      share\nknee_left     5%"


DT, INERTIA, COULOMB = 0.005, 0.02, 0.5
MOTOR = [aa.PDControlConfig(30.0, 1.0), aa.MaxEffortClampingConfig(2.0)]
FRICTION = aa.FrictionConfig(coulomb=COULOMB, viscous=0.02, assumed_inertia=INERTIA)


def moved(stages: dict[str, Any] | None = None, signals: Any = None) -> tuple[aa.Recording, np.ndarray]:
    """Two joints, the second one without friction, from rest to a target; and their kinetic energy over time [J]."""
    leg = aa.ActuatedArrays(["hip", "knee"], stages or {"hip": [*MOTOR, FRICTION], "knee": MOTOR})
    q, qd, target = np.zeros((3, 1, 2), np.float32)
    energies = []
    with leg.record() if signals is None else leg.record(signals) as log:
        for step in range(200):
            target[:] = 0.01 if step < 50 else 0.4
            energies.append(0.5 * INERTIA * qd[0].astype(float) ** 2)
            qd += leg.step(q, qd, target, DT) * np.float32(DT / INERTIA)
            q += qd * np.float32(DT)
        energies.append(0.5 * INERTIA * qd[0].astype(float) ** 2)
    return log, np.array(energies)


def test_friction_effort_is_what_is_applied_less_that_of_the_motor(way: str) -> None:
    log, _ = moved()
    np.testing.assert_array_equal(log.passive_efforts, log.applied_efforts - log.motor_efforts)
    assert (log.passive_efforts[:, 0, 1] == 0.0).all() and np.abs(log.motor_efforts).max() == 2.0
    assert COULOMB - 1e-3 < np.abs(log.passive_efforts[:, 0, 0]).max() < COULOMB + 0.02 * np.abs(log.velocities).max()


def test_power_of_friction_is_what_the_motion_loses(way: str) -> None:
    log, energies = moved()
    np.testing.assert_allclose(log.power[:, 0] * DT, np.diff(energies, axis=0), atol=1e-6)
    motor = log.motor_efforts * (log.power / np.where(log.applied_efforts, log.applied_efforts, np.nan))
    np.testing.assert_allclose(log.passive_power, np.nan_to_num(log.power - motor), atol=1e-4)
    # the law is one step late on jolts, and may then return a little
    assert log.passive_power.max() * DT < 1e-4 < -log.passive_power.sum() * DT
    assert float(log.passive_power[:, 0, 1].sum()) == 0.0


def test_joint_sticks_below_the_breakaway_level_and_at_its_end(way: str) -> None:
    """It holds 0.3 N·m of 0.5 N·m, is broken away by 2 N·m, and comes to rest again beside its target."""
    log, _ = moved()
    sticking = log.sticking[:, 0, 0]
    assert log.sticking.dtype == bool and not log.sticking[:, 0, 1].any()
    assert sticking[20:50].all() and not sticking[50:55].any() and sticking[-50:].all()
    assert abs(log.positions[-1, 0, 0] - 0.4) > 1e-4
    speeds = np.abs(log.velocities[:, 0, 0])
    assert (speeds[sticking] < STICKING_SPEED).all() and (speeds[1:][sticking[:-1]] < STICKING_SPEED).all()


def test_viscous_friction_does_not_hold_a_joint() -> None:
    log, _ = moved({".*": [*MOTOR, aa.FrictionConfig(viscous=0.3, assumed_inertia=INERTIA)]})
    assert np.abs(log.passive_efforts).max() > 0.1 and np.abs(log.velocities[-1]).max() < 1e-3
    assert not log.sticking.any()


def test_a_reversing_joint_does_not_stick() -> None:
    leg = aa.ActuatedArrays(["hip"], {"hip": [*MOTOR, FRICTION]})
    q, qd = np.zeros((2, 1, 1), np.float32)
    with leg.record() as log:
        for speed in (0.1, 0.0005, -0.1, -0.0005, 0.0005):
            qd[:] = speed
            leg.step(q, qd, q, DT)
    assert log.sticking[:, 0, 0].tolist() == [False, False, False, True, True]


def test_robots_without_passive_stages_have_no_such_signals() -> None:
    log, _ = moved({".*": MOTOR})
    assert not {*OF_PASSIVE_STAGES} & {*log.signals, *log.arrays()}
    refused(AttributeError, log.friction, r"sticking was not recorded")
    named, _ = moved({".*": MOTOR}, signals=("passive_power", "sticking"))
    assert named.signals == ("velocities", "motor_efforts", "applied_efforts", "passive_power", "sticking")
    assert not named.passive_power.any() and not named.sticking.any()


def test_some_joints_are_recorded_by_their_own_stages() -> None:
    leg = aa.ActuatedArrays(["hip", "knee"], {"hip": [*MOTOR, FRICTION], "knee": MOTOR})
    with leg.record(dofs="knee") as knee, leg.record(dofs="hip") as hip:
        leg.step(*np.zeros((3, 1, 2), np.float32), DT)
    assert "sticking" not in knee.signals and hip.sticking.all()


def test_table_of_friction() -> None:
    log, _ = moved()
    (one,) = table = log.friction()
    sticking = log.sticking[:, 0, 0]
    assert isinstance(table, aa.FrictionTable) and (one.robot, one.joint) == ("robot 0", "hip")
    assert one.sticking == pytest.approx(sticking.mean())
    runs = "".join(map(str, sticking.astype(int))).split("0")
    assert one.longest == pytest.approx(max(map(len, runs)) * DT)
    assert one.largest_effort == pytest.approx(float(np.abs(log.passive_efforts).max()))
    assert one.dissipated == pytest.approx(-float(log.passive_power.sum(dtype=float)) * DT) and one.dissipated > 0.0
    head, row = str(table).splitlines()
    assert head.split() == "robot joint sticks longest [s] largest effort [N·m or N] dissipated [J]".split()
    assert row.split()[2:3] == ["hip"] and len(head) == len(row) and str(aa.FrictionTable()) == "no friction acted"


@cases(
    "turns, heading, cells",
    ([True, True], "largest effort [N·m]", ["2", "3"]),
    ([False, False], "largest effort [N]", ["2", "3"]),
    ([True, False], "largest effort  ", ["2 N·m", "3 N"]),
)
def test_table_has_the_unit_of_each_joint(turns: list[bool], heading: str, cells: list[str]) -> None:
    of_joints = zip((2.0, 3.0), turns, strict=True)
    rows = [statistics.JointFriction("r", "j", 0.5, 1.0, effort, 4.0, kind) for effort, kind in of_joints]
    head, *lines = str(aa.FrictionTable(rows)).splitlines()
    assert heading in head
    assert [" ".join(line.split()) for line in lines] == [f"r j 50.0% 1 {cell} 4" for cell in cells]


@cases("extension", "npz", "csv", "parquet")
def test_files_keep_it(extension: str, tmp_path: Path) -> None:
    if extension == "parquet":
        pytest.importorskip("pyarrow", exc_type=ImportError)
    log, _ = moved()
    log.save(tmp_path / f"log.{extension}")
    for back in (aa.Recording.load(tmp_path / f"log.{extension}"), pickle.loads(pickle.dumps(log))):
        assert back.signals == log.signals and back.friction() == log.friction()
        for name in OF_PASSIVE_STAGES:
            np.testing.assert_array_equal(back.arrays()[name], log.arrays()[name])
            assert back.arrays()[name].dtype == log.arrays()[name].dtype


def test_table_that_a_spreadsheet_saved(tmp_path: Path) -> None:
    log, _ = moved()
    log.save(path := tmp_path / "log.csv")
    path.write_text(path.read_text().replace("True", "TRUE").replace("False", "FALSE"))
    np.testing.assert_array_equal(aa.Recording.load(path).sticking, log.sticking)


def test_reset_between_two_steps_is_no_rest() -> None:
    leg = aa.ActuatedArrays(["hip"], {"hip": [*MOTOR, FRICTION]})
    q, qd = np.zeros((2, 1, 1), np.float32)
    with leg.record() as log:
        leg.step(q, qd, q, DT)
        leg.reset()
        qd[:] = 1.0
        leg.step(q, qd, q, DT)
    assert log.sticking[:, 0, 0].tolist() == [True, False]


def test_arm_in_mujoco_sticks_where_its_targets_leave_it() -> None:
    with aa.Simulation(ROBOTS / "arm_2dof.usda", dt=DT) as sim:
        sim.play()
        friction = aa.FrictionConfig(coulomb=6.0, static=8.0)
        motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0), friction]
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", {".*": motor})
        actuators.articulation.set_dof_position_targets(0.2)
        with actuators.record() as log:
            sim.step(400)
    rows = log.friction()
    assert {one.joint for one in rows} == {"shoulder", "extension"}
    assert all(one.dissipated > 0.0 and one.largest_effort <= 8.0 + 1e-4 for one in rows)
    assert log.sticking[-100:].all()
