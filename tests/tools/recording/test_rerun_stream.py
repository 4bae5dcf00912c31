"""Recordings in Rerun, read by Rerun's own reader."""

import sys
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest

DT = 0.01


def recorded() -> aa.Recording:
    """Two robots; the knee of the second one is limited in steps 2, 3, 4 and 6, and its hip has no limit."""
    limited = [aa.PDControlConfig(10.0, 0.0), aa.MaxEffortClampingConfig(5.0)]
    leg = aa.ActuatedArrays(["hip", "knee"], {"hip": [aa.PDControlConfig(10.0, 0.0)], "knee": limited}, 2)
    q, qd, target = np.zeros((3, 2, 2), np.float32)
    with leg.record() as log:
        for step in range(8):
            target[:] = 0.1 * step / 4
            target[1, 1] = 0.9 if step in (2, 3, 4, 6) else 0.3
            qd[:] = step
            leg.step(q, qd, target, DT)
    return log


def read(path: Path) -> dict:
    reader = pytest.importorskip("rerun.chunk", exc_type=ImportError).RrdReader(path)
    tables = {}
    for chunk in reader.stream():
        batch = chunk.to_record_batch()
        wanted = [name for name in batch.schema.names if name in ("step", "time") or ":" in name]
        if "step" in wanted:
            tables[chunk.entity_path.replace("\\", "")] = batch.select(wanted).to_pydict()
    return tables


def test_each_joint_is_an_entity_with_what_was_recorded(tmp_path) -> None:
    pytest.importorskip("rerun", exc_type=ImportError)
    log = recorded()
    log.save(tmp_path / "log.rrd")
    tables = read(tmp_path / "log.rrd")
    places = {
        "position/measured": log.positions,
        "position/target": log.position_targets,
        "position/delayed_target": log.delayed_position_targets,
        "velocity/measured": log.velocities,
        "velocity/target": log.velocity_targets,
        "velocity/delayed_target": log.delayed_velocity_targets,
        "effort/computed": log.computed_efforts,
        "effort/applied": log.applied_efforts,
        "power": log.power,
    }
    for row, robot in enumerate(log.robots):
        for column, joint in enumerate(log.joints):
            for place, array in places.items():
                table = tables[f"/{robot}/{joint}/{place}"]
                np.testing.assert_array_equal(np.ravel(table["Scalars:scalars"]), array[:, row, column])
                assert table["step"] == [*range(8)]
                np.testing.assert_allclose([one.total_seconds() for one in table["time"]], log.time, atol=1e-6)
    limits = [tables[f"/robot 1/knee/effort/{which}"] for which in ("largest", "least")]
    assert [np.ravel(table["Scalars:scalars"]).tolist() for table in limits] == [[5.0, 5.0], [-5.0, -5.0]]
    assert limits[0]["step"] == [0, 7] and "/robot 1/hip/effort/largest" not in tables


def test_what_limits_is_told_where_it_changes(tmp_path) -> None:
    pytest.importorskip("rerun", exc_type=ImportError)
    recorded().save(tmp_path / "log.rrd")
    tables = read(tmp_path / "log.rrd")
    table = tables["/robot 1/knee/limited_by"]
    words = ["ClampingMaxEffort", "nothing"] * 2
    texts = np.ravel(table["TextLog:text"]).tolist()
    assert sorted(zip(table["step"], texts, strict=True)) == list(zip((2, 5, 6, 7), words, strict=True))
    assert tables.get("/robot 1/hip/limited_by", {"step": []})["step"] == []


def test_without_rerun_the_extra_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(ModuleNotFoundError, match=r"in Rerun needs rerun.*pip install .*\[rerun\]"):
        recorded().save(tmp_path / "log.rrd")
    with pytest.raises(ModuleNotFoundError, match=r"in Rerun needs rerun"):
        recorded().send_to_rerun()
    assert list(tmp_path.iterdir()) == []


def test_it_joins_what_somebody_else_logs(tmp_path) -> None:
    rerun = pytest.importorskip("rerun", exc_type=ImportError)
    stream = rerun.RecordingStream("mine")
    stream.save(tmp_path / "mine.rrd")
    stream.set_time("step", sequence=0)
    stream.log("battery", rerun.Scalars(24.0))
    recorded().send_to_rerun(stream)
    stream.flush()
    stream.disconnect()
    assert {"/battery", "/robot 0/hip/position/measured"} <= {*read(tmp_path / "mine.rrd")}


def test_friction_is_beside_the_effort_of_the_motor_and_sticking_is_told_where_it_changes(tmp_path) -> None:
    pytest.importorskip("rerun", exc_type=ImportError)
    motor = [aa.PDControlConfig(10.0, 0.0), aa.FrictionConfig(1.0, assumed_inertia=0.1)]
    leg = aa.ActuatedArrays(["hip"], {".*": motor})
    q, qd = np.zeros((2, 1), np.float32)
    with leg.record() as log:
        for speed in (0.0, 0.0, 0.5, 0.5, 0.0, 0.0):
            qd[:] = speed
            leg.step(q, qd, q, DT)
    log.save(tmp_path / "log.rrd")
    tables = read(tmp_path / "log.rrd")
    places = {"effort/motor": log.motor_efforts, "effort/friction": log.passive_efforts}
    for place, array in (places | {"power": log.power, "power/friction": log.passive_power}).items():
        np.testing.assert_array_equal(np.ravel(tables[f"/robot 0/hip/{place}"]["Scalars:scalars"]), array[:, 0, 0])
    events = tables["/robot 0/hip/sticking"]
    assert events["step"] == [0, 1, 4] and np.ravel(events["TextLog:text"]).tolist() == ["sticks", "moves", "sticks"]
    recorded().save(tmp_path / "without.rrd")
    assert not [entity for entity in read(tmp_path / "without.rrd") if "friction" in entity or "sticking" in entity]
