"""Tables with a row per sample and joint."""

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from refusals import cases, refused

TABLE = """\
# kp = 9
time [s],joint,command [rad],position,note
0.0,knee,1.0,0.9,a
0.0,hip,0.1,0.0,b
0.0,wheel,,,c
0.1,knee,1.1,1.0,d
0.1,hip,0.2,0.1,e
"""
ROBOT = ("thigh", "hip", "knee")


def written(folder: Path, text: str) -> Path:
    (folder / "log.csv").write_text(text, encoding="utf-8")
    return folder / "log.csv"


def test_rows_become_columns(tmp_path) -> None:
    with pytest.warns(UserWarning, match=r"log\.csv: note: not read"):
        (log,) = read_logs([written(tmp_path, TABLE)], ROBOT)
    assert (log.joints, log.settings) == (("hip", "knee"), {"kp": 9.0})
    np.testing.assert_array_equal(log.time, [0.0, 0.1])
    np.testing.assert_array_equal(log.command, [[0.1, 1.0], [0.2, 1.1]])
    np.testing.assert_array_equal(log.position, [[0.0, 0.9], [0.1, 1.0]])


@cases(
    "old, new, said",
    ("0.1,hip", "0.2,hip", r"log\.csv: knee has 2 times, hip has 2, and they are not those: each sample must have"),
    ("0.1,hip,0.2,0.1,e\n", "", r"log\.csv: knee has 2 times, hip has 1"),
    ("0.2,0.1,e", "0.2,,e", r"log\.csv, line 7, column position = : must be a finite number"),
    ("time [s]", "seconds", r"log\.csv has columns seconds, .*: must have time"),
    ("command [rad]", "target", r"log\.csv has no hip/command, knee/command: must have each"),
)
def test_refused(tmp_path, old, new, said) -> None:
    refused(ValueError, lambda: read_logs([written(tmp_path, TABLE.replace(old, new))], ROBOT), said)


def test_other_joints(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"log\.csv has joints knee, hip, wheel: must have some of arm"):
        read_logs([written(tmp_path, TABLE)], ["arm"])
