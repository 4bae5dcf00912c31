"""Rows, text and JSON of stability, from numbers."""

import json
import re

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import stability_of
from isaacsim.core.experimental.actuators.tools.stability.table import Mechanics, cures_of, stability_with
from isaacsim.core.experimental.actuators.tools.stability.timing import Timing
from refusals import cases

MATRIX = [[0.5, 0.1], [0.1, 0.05]]


def test_rows_say_what_each_joint_has_and_needs() -> None:
    table = stability_of(MATRIX, 1 / 100, [40.0, 40.0], [4.0, 8.0], armature=[0.2, 0.01], joints=["hip", "toe"])
    hip, toe = table.joints
    assert [row.inertia for row in table.joints] == pytest.approx(1 / np.diag(np.linalg.inv(MATRIX)))
    assert (hip.joint, hip.kp, hip.kd, hip.ki, hip.armature, hip.smallest_armature) == ("hip", 40.0, 4.0, 0.0, 0.2, 0.0)
    assert toe.margin == pytest.approx(2 * toe.inertia / (8.0 / 100 + 40.0 / 100**2 / 2), rel=1e-3)
    assert hip.margin > 1 > toe.margin > table.robots[0].margin
    assert not table.stable and not table.robots[0].stable and table.robots[0].spectral_radius > 1
    assert toe.smallest_armature > 0.01
    mended = np.array(MATRIX) + np.diag([hip.smallest_armature - 0.2, toe.smallest_armature - 0.01])
    assert stability_of(mended, 1 / 100, 40.0, [4.0, 8.0]).robots[0].margin == pytest.approx(1.0, rel=5e-3)
    assert stability_of(MATRIX, table.robots[0].largest_step, 40.0, [4.0, 8.0]).stable
    assert toe.largest_step >= table.robots[0].largest_step


def test_smallest_armatures_are_those_at_which_it_is_still_stable() -> None:
    matrix = np.array(MATRIX) + np.diag([0.0, 0.1])
    table = stability_of(matrix, 1 / 100, 40.0, [4.0, 8.0], armature=[0.2, 0.11], joints=["hip", "toe"])
    hip, toe = table.joints
    assert table.stable and hip.smallest_armature == 0.0 < toe.smallest_armature < 0.11
    bare = matrix - np.diag([0.2, 0.11])
    assert stability_of(bare + np.diag([0.0, toe.smallest_armature * 1.001]), 1 / 100, 40.0, [4.0, 8.0]).stable
    assert not stability_of(bare + np.diag([0.0, toe.smallest_armature * 0.99]), 1 / 100, 40.0, [4.0, 8.0]).stable
    soft = stability_of(matrix, 1 / 1000, 1.0, 0.1, armature=[0.2, 0.11])
    assert [one.smallest_armature for one in soft.joints] == [0.0, 0.0]


def test_gains_that_would_do_are_told() -> None:
    table = stability_of(MATRIX, 1 / 100, 40.0, [4.0, 8.0], armature=0.01, joints=["hip", "toe"], robot="/R")
    said = cures_of(table, table.robots[0])
    kp, kd = (float(one) for one in re.findall(r"toe kp = ([\d.]+), kd = ([\d.]+)", said)[0])
    assert (kp, kd) == pytest.approx((40.0 * table.robots[0].margin, 8.0 * table.robots[0].margin), rel=5e-3)
    factor = float(re.findall(r"times ([\d.]+)", said)[0])
    assert stability_of(MATRIX, 1 / 100, 40.0 * factor, np.array([4.0, 8.0]) * factor).stable
    mended = stability_of(MATRIX, 1 / 100, 1.0, 0.1)
    assert cures_of(mended, mended.robots[0]) == ""


def test_text_is_a_table() -> None:
    table = stability_of(MATRIX, 0.01, 40.0, 8.0, joints=["hip", "toe"], robot="/R")
    title, header, units, *rows = str(table).splitlines()
    assert title.startswith("/R vibrating at dt = 0.01 s: margin 0.702") and header.startswith("Joint")
    remedy = rows.pop()
    assert [row.split()[:3] for row in rows] == [["hip", "40", "8"], ["toe", "40", "8"]]
    assert len({len(row) for row in (header, units, *rows)}) == 1
    assert units.startswith("       [N·m/rad or N/m]  [N·m·s/rad or N·s/m]") and units.endswith("[s]")
    assert remedy == '/R would be stable with effort_mode="implicit"'


@cases(
    "turns, units, first, second",
    ([True, True], "[N·m/rad] [N·m·s/rad] [kg·m²] [kg·m²] [kg·m²] [s]", "40", "2000"),
    ([False, False], "[N/m] [N·s/m] [kg] [kg] [kg] [s]", "40", "2000"),
    # each number has its own
    ([True, False], "[s]", "40 N·m/rad", "2000 N/m"),
)
def test_text_has_the_units_of_the_joints(turns, units, first, second) -> None:
    mechanics = Mechanics(np.array(MATRIX), joints=["hip", "toe"], turns=turns)
    table = stability_with(Timing.prompt(2), mechanics, 0.001, ([40.0, 2000.0], 8.0, 0.0))
    _, _, said, *rows = str(table).splitlines()
    assert " ".join(said.split()) == units and [one.turns for one in table.joints] == turns
    for row, name, kp in zip(rows, ("hip", "toe"), (first, second), strict=True):
        assert " ".join(row.split()).startswith(f"{name} {kp} ")


def test_columns_of_what_no_joint_has_are_left_out() -> None:
    headers = [str(stability_of(MATRIX, 0.001, 40.0, 8.0, ki)).splitlines()[1].split() for ki in (0.0, [0.0, 1.0])]
    assert ["ki" in header for header in headers] == [False, True] and "Latency" not in headers[1]


def test_json_holds_everything() -> None:
    read = json.loads(stability_of(MATRIX, 0.01, 0.0, 0.0, robot="/R").to_json())
    assert read["stable"] is True and read["dt"] == 0.01
    whole = {"robot": "/R", "margin": "inf", "spectral_radius": 0.0, "largest_step": "inf", "velocity_weight": 1.0}
    assert read["robots"] == [whole | {"implicit_helps": False, "is_known": True, "verdict": "stable"}]
    assert read["joints"][1]["inertia"] == pytest.approx(0.03) and read["joints"][1]["margin"] == "inf"


@cases(
    "change, words",
    ({"dt": 0.0}, "dt = 0.0: must be a finite number of seconds > 0"),
    ({"mass_matrix": [[1.0, 2.0], [2.0, 1.0]]}, "symmetric and positive definite"),
    ({"mass_matrix": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric and positive definite"),
    ({"velocity_weight": 0.4}, r"velocity_weight = 0.4: must be in 0.5 … 1"),
    ({"mass_matrix": [[1.0, 0.0]]}, r"shape \(1, 2\): must be \(J, J\)"),
    ({"kp": -1.0}, "kp = -1.0: must be a finite number >= 0"),
    ({"kd": [1.0, 2.0, 3.0]}, "or 2 of them"),
    ({"ki": np.nan}, "ki = nan"),
    ({"joints": ["hip"]}, "joints has 1 names: must have 2"),
)
def test_numbers_that_cannot_be_used_are_refused(change, words) -> None:
    with pytest.raises(ValueError, match=words):
        stability_of(**({"mass_matrix": MATRIX, "dt": 0.01, "kp": 1.0, "kd": 1.0} | change))
