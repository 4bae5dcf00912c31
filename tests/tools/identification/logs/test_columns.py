"""Tables of other programs: their names and units of columns, told instead of converted."""

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.log import SIGNALS, UNITS, MotorLog
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from motor_logs import following
from refusals import cases, refused

FACTORS = {
    **{"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3},
    **{"rev": 2 * np.pi, "m": 1.0, "cm": 0.01, "mm": 1e-3, "rad/s": 1.0, "deg/s": np.pi / 180, "rpm": 2 * np.pi / 60},
    **{"m/s": 1.0, "cm/s": 0.01, "mm/s": 1e-3, "N·m": 1.0, "Nm": 1.0, "mNm": 1e-3, "N": 1.0, "A": 1.0, "mA": 1e-3},
    **{"V": 1.0, "mV": 1e-3, "°C": 1.0, "%": 0.01},
}


def written(folder: Path, columns: dict, name: str = "log.csv") -> Path:
    path = folder / name
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]), "utf-8")
    return path


def read(path: Path, joints: list[str], *columns: str) -> MotorLog:
    (log,) = read_logs([path], joints, columns=columns)
    return log


@cases("unit", *FACTORS)
def test_each_unit(tmp_path, unit) -> None:
    (quantity,) = (one for one, units in UNITS.items() if unit in units)
    for name in ("time", *SIGNALS) if quantity == "s" else (one for one in SIGNALS if SIGNALS[one] == quantity):
        if quantity == "s" and name != "time":
            continue
        table = {"time": [0, 1, 2], "command": [0, 1, 2], "position": [0, 1, 2]} | {name: [0, 1, 2]}
        renamed = {"x y" if one == name else one: numbers for one, numbers in table.items()}
        log = read(written(tmp_path, renamed), ["hip"], f"{name}=x y:{unit}")
        found = log.time if name == "time" else log.signals[name][:, 0]
        np.testing.assert_allclose(found, np.arange(3) * FACTORS[unit], rtol=1e-15)


def test_units_are_these() -> None:
    assert {unit for units in UNITS.values() for unit in units} == FACTORS.keys()
    assert {*UNITS} == {"s", *SIGNALS.values()}


def test_one_joint(tmp_path) -> None:
    table = {"t_ms": [0, 10, 20], "pos_deg": [0, 90, 180], "goal_deg": [0, 180, 90], "position": [7, 7, 7]}
    with pytest.warns(UserWarning, match=r"log\.csv: position: not read"):
        log = read(written(tmp_path, table), ["hip"], "time=t_ms:ms", "position=pos_deg:deg", "command=goal_deg:deg")
    np.testing.assert_allclose(log.time, [0.0, 0.01, 0.02])
    np.testing.assert_allclose(log.position[:, 0], [0.0, np.pi / 2, np.pi])
    np.testing.assert_allclose(log.command[:, 0], [0.0, np.pi, np.pi / 2])


@cases("extension", "csv", "npz")
def test_several_joints(tmp_path, extension) -> None:
    log = following(["hip", "knee"])
    told = ["time=:ms", "command=:deg", "position=:mrad"]
    if extension == "npz":
        path, signals = tmp_path / "log.npz", {"command": np.degrees(log.command), "position": 1e3 * log.position}
        np.savez(path, **{"time": 1e3 * log.time, "joints": ["hip", "knee"], **signals})
    else:
        table = {"time": 1e3 * log.time}
        for column, joint in enumerate(log.joints):
            table |= {f"q_{joint}": 1e3 * log.position[:, column]}
            table |= {f"/{joint}/goal:0": np.degrees(log.command[:, column])}
        path = written(tmp_path, table)
        told = ["time=:ms", "position=q_{joint}:mrad", "hip/command=/hip/goal:0:deg", "knee/command=/knee/goal:0:deg"]
    back = read(path, ["hip", "knee", "ankle"], *told)
    assert back.joints == log.joints
    np.testing.assert_allclose(back.time, log.time, rtol=1e-14)
    np.testing.assert_allclose(back.command, log.command, rtol=1e-14)
    np.testing.assert_allclose(back.position, log.position, rtol=1e-14)


def test_a_row_per_sample_and_joint(tmp_path) -> None:
    table = {"stamp": [0, 0, 10, 10], "servo": ["knee", "hip"] * 2, "goal": [1, 2, 3, 4]}
    table |= {"position [rad]": [5, 6, 7, 8]}
    told = ["time=stamp:ms", "joint=servo", "command=goal", "position=:deg"]
    log = read(written(tmp_path, table), ["hip", "knee"], *told)
    np.testing.assert_array_equal(log.command, [[2, 1], [4, 3]])
    np.testing.assert_allclose(np.degrees(log.position), [[6, 5], [8, 7]])


@cases(
    "joints, told, said",
    ("hip", "time=t", r"has columns t_ms, a, b: columns time = t: must be one of them, and its unit one of s, ms"),
    ("hip", "time=t_ms:deg", r"columns time = t_ms:deg: must be one of them, and its unit one of s, ms, us"),
    ("hip", "torque=a", r"columns torque: must be time, joint, command, position"),
    ("hip", "ankle/position=a", r"columns ankle/position: .* of hip\. Correct it"),
    ("hip", "hip/time=t_ms", r"columns hip/time: must be time"),
    ("hip knee", "command=a", r"columns command = a: must tell its joint\. Give hip/command=a, or \{joint\}"),
    ("hip knee", "command=a_{joint}", r"columns command = a_\{joint\}: must be one of them"),
    ("hip", "position=:deg", r"columns position = :deg: must be one of them"),
)
def test_refused(tmp_path, joints, told, said) -> None:
    path = written(tmp_path, {"t_ms": [0, 1], "a": [0, 1], "b": [0, 1]})
    refused(ValueError, lambda: read(path, joints.split(), told), said)


def test_cell_is_named_as_in_the_file(tmp_path) -> None:
    path = written(tmp_path, {"t_ms": [0, "x"], "a": [0, 1], "b": [0, 1]})
    with pytest.raises(ValueError, match="line 3, column t_ms = x: must be a finite number"):
        read(path, ["hip"], "time=t_ms:ms", "command=a", "position=b")
