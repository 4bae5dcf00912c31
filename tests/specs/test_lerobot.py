"""Calibration files of LeRobot: its units against its own formulas, and what is wrong with a file."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ServoCalibration, load_lerobot_calibration
from refusals import cases, refused

ARM = {
    "shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": -1470, "range_min": 758, "range_max": 3292},
    "gripper": {"id": 6, "drive_mode": 1, "homing_offset": 1407, "range_min": 2031, "range_max": 3476},
}


def lerobot(ticks, one: ServoCalibration, units: str):
    least, most = one.range_min, one.range_max
    reversed_ = bool(one.drive_mode) and not one.in_servo
    if units == "normalized":
        norm = (ticks - least) / (most - least) * 200 - 100
        return -norm if reversed_ else norm
    if units == "percent":
        norm = (ticks - least) / (most - least) * 100
        return 100 - norm if reversed_ else norm
    return (ticks - (least + most) / 2) * 360 / (one.resolution - 1) if units == "degrees" else ticks


def written(folder: Path, content) -> Path:
    path = folder / "arm.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("in_servo", [False, True])
@pytest.mark.parametrize("units", ["normalized", "percent", "degrees", "ticks"])
def test_units_are_lerobots(units, in_servo, tmp_path) -> None:
    for one in load_lerobot_calibration(written(tmp_path, ARM), in_servo=in_servo).values():
        ticks = np.linspace(one.range_min, one.range_max, 9)
        sign = -1 if one.drive_mode and not in_servo else 1
        angles = sign * (ticks - ticks[4]) * 2 * math.pi / 4096
        assert one.sign == sign
        np.testing.assert_allclose(one.to_joint(lerobot(ticks, one, units), units), angles, atol=1e-12)
        np.testing.assert_allclose(one.from_joint(angles, units), lerobot(ticks, one, units), atol=1e-9)
        assert one.limits == pytest.approx((-abs(angles[0]), abs(angles[0])))
        assert one.offset == pytest.approx(ticks[4] * 2 * math.pi / 4096)


def test_resolution_by_motor(tmp_path) -> None:
    found = load_lerobot_calibration(written(tmp_path, ARM), resolution={"gripper": 1024})
    assert [one.resolution for one in found.values()] == [4096, 1024]
    assert found["gripper"].to_joint(0.0, "percent") == pytest.approx(-math.pi * 1445 / 1024)
    assert load_lerobot_calibration(written(tmp_path, ARM), resolution=1024)["shoulder_pan"].resolution == 1024


def test_unknown_units_are_refused() -> None:
    one = ServoCalibration(1, 0, 0, 0, 4095)
    with pytest.raises(ValueError, match="units = 'radians': must be one of normalized, percent, degrees, ticks"):
        one.to_joint(0.0, "radians")
    refused(ValueError, lambda: one.from_joint(0.0, "turns"), "units = 'turns'")


@cases(
    "content, problem",
    ("[", "must be JSON"),
    ("[]", "must be a JSON object. Give a calibration of LeRobot"),
    ("{}", "must be a JSON object. Give a calibration of LeRobot"),
    ({"pan": 3}, r"pan = 3: must be an object with id, drive_mode"),
    ({"pan": {**ARM["gripper"], "drive_mode": 2}}, "pan.drive_mode = 2: must be 0 or 1"),
    ({"pan": {**ARM["gripper"], "drive_mode": True}}, "pan.drive_mode = True: must be 0 or 1"),
    ({"pan": {**ARM["gripper"], "id": -1}}, "pan.id = -1: must be an integer >= 0"),
    ({"pan": {**ARM["gripper"], "homing_offset": 0.5}}, "pan.homing_offset = 0.5: must be an integer"),
    ({"pan": {**ARM["gripper"], "range_max": 2031}}, "pan.range_min = 2031: must be less than range_max, 2031"),
    ({"pan": {**ARM["gripper"], "speed": 1}}, "pan has 'speed': must have id, drive_mode"),
)
def test_what_is_wrong_with_a_file_is_said(content, problem, tmp_path) -> None:
    refused(ValueError, lambda: load_lerobot_calibration(written(tmp_path, content)), problem)


def test_all_problems_are_said_at_once(tmp_path) -> None:
    path = written(tmp_path, {"a": {"id": 1, "drive_mode": 0}, "b": 0})
    text = refused(ValueError, lambda: load_lerobot_calibration(path))
    assert len(text.splitlines()) == 4 and f"{path}: a has no range_min: must have it." in text
    path.write_text(" " * 1_000_001)
    refused(ValueError, lambda: load_lerobot_calibration(path), "1000001 bytes: must be a calibration of LeRobot")
    refused(OSError, lambda: load_lerobot_calibration(tmp_path / "none.json"))
