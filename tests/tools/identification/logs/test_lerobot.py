"""Datasets of LeRobot: layouts of versions 2.1 and 3, units, and folders that are broken."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import load_lerobot_calibration
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from refusals import cases, refused

arrow = pytest.importorskip("pyarrow", exc_type=ImportError)
parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
ROBOT = ("gripper", "shoulder_pan", "spare")
NAMES = ["shoulder_pan.pos", "elbow_flex.pos", "gripper.pos"]
FPS = 30
CALIBRATION = {
    "shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": -1470, "range_min": 758, "range_max": 3292},
    "elbow_flex": {"id": 3, "drive_mode": 0, "homing_offset": 0, "range_min": 1000, "range_max": 3000},
    "gripper": {"id": 6, "drive_mode": 1, "homing_offset": 1407, "range_min": 2031, "range_max": 3476},
}
# where the files of a version are, and the episodes in each
V2 = {f"data/chunk-000/episode_{episode:06d}.parquet": [episode] for episode in range(3)}
V3 = {"data/chunk-000/file-000.parquet": [0, 1], "data/chunk-000/file-001.parquet": [2]}


def numbers(episode: int) -> np.ndarray:
    return np.arange(12.0).reshape(4, 3) + 20 * episode


def written(folder: Path, layout: dict[str, list[int]], names=NAMES, version: str = "v3.0") -> Path:
    feature = {"dtype": "float32", "shape": [3], "names": names}
    info = {"codebase_version": version, "fps": FPS, "features": {"action": feature, "observation.state": feature}}
    (folder / "meta").mkdir()
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    for place, episodes in layout.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table(episodes), folder / place)
    return folder


def table(episodes: list[int]):
    actions = np.concatenate([numbers(one) for one in episodes])
    lists = arrow.list_(arrow.float32(), 3)
    return arrow.table(
        {
            "action": arrow.array(actions.tolist(), lists),
            "observation.state": arrow.array((actions / 2).tolist(), lists),
            "timestamp": arrow.array(np.tile(np.arange(4) / FPS, len(episodes)), arrow.float32()),
            "frame_index": np.tile(np.arange(4), len(episodes)),
            "episode_index": np.repeat(episodes, 4),
        }
    )


def read(folder: Path, *units: str, **options) -> list[MotorLog]:
    return read_logs([folder], ROBOT, units=units, **options)


@cases("layout, names", (V3, NAMES), (V2, {"motors": [name.removesuffix(".pos") for name in NAMES]}))
def test_log_of_each_episode(tmp_path, layout, names) -> None:
    logs = read(written(tmp_path, layout, names), "radians")
    assert [log.source for log in logs] == [f"{tmp_path}, episode {number}" for number in range(3)]
    for episode, log in enumerate(logs):
        assert (log.joints, set(log.signals)) == (("gripper", "shoulder_pan"), {"command", "position"})
        np.testing.assert_allclose(log.time, np.arange(4) / FPS, rtol=1e-6)
        np.testing.assert_array_equal(log.command, numbers(episode)[:, [2, 0]])
        np.testing.assert_array_equal(log.position, numbers(episode)[:, [2, 0]] / 2)


def test_a_single_joint_is_a_column_of_numbers(tmp_path) -> None:
    """As lerobot 0.6.1 writes features of one number."""
    folder = written(tmp_path, {"data/chunk-000/file-000.parquet": [0]}, ["shoulder_pan.pos"])
    (file,) = folder.glob("data/**/*.parquet")
    whole = table([0])
    for place, name in enumerate(("action", "observation.state")):
        first = arrow.array([row[0] for row in whole[name].to_pylist()], arrow.float32())
        whole = whole.set_column(place, name, first)
    parquet.write_table(whole, file)
    (log,) = read(folder, "degrees")
    assert log.joints == ("shoulder_pan",)
    np.testing.assert_allclose(log.command[:, 0], np.radians(numbers(0)[:, 0]), rtol=1e-6)
    np.testing.assert_allclose(log.position[:, 0], np.radians(numbers(0)[:, 0] / 2), rtol=1e-6)


def test_plain_degrees(tmp_path) -> None:
    (log, *_) = read(written(tmp_path, V3), "degrees", "gripper=radians")
    np.testing.assert_allclose(log.command, numbers(0)[:, [2, 0]] * [1.0, math.pi / 180])


def test_units_of_a_calibration(tmp_path) -> None:
    file = tmp_path / "arm.json"
    file.write_text(json.dumps(CALIBRATION))
    servos = load_lerobot_calibration(file)
    folder = tmp_path / "dataset"
    folder.mkdir()
    written(folder, V3)
    for calibration in (file, str(file), servos):
        for unit in ("normalized", "degrees"):
            (log, *_) = read(folder, unit, "gripper=percent", calibration=calibration)
            actions = numbers(0)
            np.testing.assert_allclose(log.command[:, 0], servos["gripper"].to_joint(actions[:, 2], "percent"))
            np.testing.assert_allclose(log.command[:, 1], servos["shoulder_pan"].to_joint(actions[:, 0], unit))


def test_units_must_be_told(tmp_path) -> None:
    folder = written(tmp_path, V3)
    said = (
        r"unit of gripper = none: must be one of radians, degrees, normalized, percent, ticks, which the dataset does"
    )
    refused(ValueError, lambda: read(folder), said)
    with pytest.raises(ValueError, match=r"unit of shoulder_pan = none: .* Give --units UNIT shoulder_pan=UNIT"):
        read(folder, "gripper=degrees")
    refused(ValueError, lambda: read(folder, "turns"), r"unit of gripper = turns: must be one of radians")
    with pytest.raises(ValueError, match=r"unit of gripper = percent: must have the calibration .*Give --calibration"):
        read(folder, "degrees", "gripper=percent")
    (tmp_path / "arm.json").write_text(json.dumps(CALIBRATION))
    servos = {"shoulder_pan": load_lerobot_calibration(tmp_path / "arm.json")["shoulder_pan"]}
    with pytest.raises(ValueError, match=r"unit of gripper = degrees: must have the calibration of its servo"):
        read(folder, "degrees", calibration=servos)


@cases(
    "names, said",
    (None, r"info\.json: features\.action\.names: .*None is no list of names.*: must be a dataset of LeRobot"),
    ({"x": 0, "y": 1}, r"features\.action\.names: .*is no list of names"),
    ({}, r"features\.action\.names: .*is no list of names"),
    (["a", "b"], r"has action of a, b; observation\.state of a, b: must have some of gripper, shoulder_pan, spare"),
    (NAMES[:1], r"frame 0: action has shape \(3,\): must have 1, as meta/info\.json names them"),
)
def test_names_refused(tmp_path, names, said) -> None:
    refused(ValueError, lambda: read(written(tmp_path, V3, names), "radians"), said)


def test_files_refused(tmp_path) -> None:
    folder = written(tmp_path, {})
    refused(ValueError, lambda: read(folder, "radians"), r"has no data/\*\*/\*\.parquet: must be a dataset of LeRobot")
    file = folder / "data" / "file-000.parquet"
    file.parent.mkdir()
    parquet.write_table(table([0]).drop_columns(["action", "timestamp"]), file)
    with pytest.raises(ValueError, match=r"file-000\.parquet has no action, timestamp: must be a dataset of LeRobot"):
        read(folder, "radians")
    file.write_text("junk")
    refused(ValueError, lambda: read(folder, "radians"), r"file-000\.parquet: .*: must be a dataset of LeRobot")
    (folder / "meta" / "info.json").write_text("[")
    with pytest.raises(ValueError, match=r"info\.json: features\.action\.names: .*: must be a dataset of LeRobot"):
        read(folder, "radians")
