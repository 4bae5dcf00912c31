"""Units of tables with a row for each joint: in headings of joints of one kind, else behind each number."""

import math
import re
from pathlib import Path

from isaacsim.core.experimental.actuators import inspect_robots
from isaacsim.core.experimental.actuators.tools.commands.answer import Answer, Table
from isaacsim.core.experimental.actuators.tools.commands.main import main
from isaacsim.core.experimental.actuators.tools.commands.show import briefly, show, text_of, with_units
from refusals import cases

COLUMNS = {"joint": "joint", "position": "position", "effort": "largest effort"}
ROWS = [
    {"joint": "shoulder", "position": 0.10444, "effort": 60.0},
    {"joint": "extension", "position": 2.0, "effort": None},
]
QUANTITIES = {"position": "position", "effort": "effort", "friction": "effort"}


@cases(
    "turns, headings",
    ([True, True], ["joint", "position [rad]", "largest effort [N·m]"]),
    ([False, False], ["joint", "position [m]", "largest effort [N]"]),
    ([True, None], ["joint", "position [rad or m]", "largest effort [N·m or N]"]),
    (None, ["joint", "position [rad or m]", "largest effort [N·m or N]"]),
)
def test_heading_has_the_unit_of_all_rows(turns, headings) -> None:
    table = with_units(Table("joints", COLUMNS, ROWS), QUANTITIES, turns)
    assert list(table.columns.values()) == headings and table.shown is None and table.rows is ROWS


def test_numbers_of_joints_of_both_kinds_have_their_own_unit() -> None:
    table = with_units(Table("joints", COLUMNS, ROWS), QUANTITIES, [True, False])
    assert table.columns == COLUMNS and table.rows is ROWS and ROWS[0]["effort"] == 60.0
    assert table.shown == [
        {"joint": "shoulder", "position": "0.1044 rad", "effort": "60 N·m"},
        {"joint": "extension", "position": "     2 m", "effort": " -"},
    ]


@cases(
    "number, text", (20000.0, "20000"), (123456.0, "123500"), (2e6, "2e+06"), (0.044112, "0.04411"), (-math.inf, "-∞")
)
def test_numbers_have_four_digits_and_exponents_from_a_million_on(number, text) -> None:
    assert text_of(number) == text


@cases(
    "names, pattern",
    (["left_knee", "right_knee"], "(left|right)_knee"),
    (["a_hip_x", "a_hip_y", "b_hip_x", "b_hip_y"], "(a|b)_hip_(x|y)"),
    (["FL_hip", "FR_hip", "waist"], "(FL|FR)_hip, waist"),
    (["hip", "knee"], "hip, knee"),
    (["arm_joint1", "arm_joint2", "arm_joint10"], "arm_joint(1|2|10)"),
    (["hip", "knee", "a_toe"], "all 3 joints"),
    (["hip", "knee"], "both joints"),
    (["hip"], "hip"),
)
def test_joints_in_few_words(names, pattern) -> None:
    every = ["left_knee", "right_knee", *"ab", "FL_hip", "waist", "a_hip_x", "a_hip_y", "b_hip_x", "b_hip_y"]
    every = names if pattern.endswith("joints") else every
    assert briefly(names, every) == pattern
    if not pattern.endswith("joints"):
        matched = {name for name in [*every, *names] for part in pattern.split(", ") if re.fullmatch(part, name)}
        assert matched == set(names)


ANSWER = Answer(
    [
        Table(
            "joints",
            {"joint": "joint", "kind": "kind", "error": "largest error [rad]", "limit": "effort limit [N·m]"},
            [
                {"joint": f"{side}_shoulder_pitch_joint", "kind": "revolute", "error": error, "limit": 1.5}
                for side, error in (("left", 0.25), ("right", 0.25), ("middle", 3e-9))
            ],
        )
    ],
    ["a sentence that is longer than a line of a narrow terminal, /and/a/path/that/nobody/breaks/into/two/parts"],
)


@cases("width", 40, 60, 80)
def test_lines_are_broken_between_words(width, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show(ANSWER)
    text = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "_joint" in line}
    assert rows == {"(left|right)_shoulder_pitch_joint": ["0.25"], "middle_shoulder_pitch_joint": ["0"]}
    assert "kind revolute" in text and "1.5 N·m" in " ".join(text.split())
    longest = max(map(len, ["/and/a/path/that/nobody/breaks/into/two/parts"])) if width == 40 else width
    assert all(len(line.rstrip()) <= longest for line in text.splitlines())


@cases("width, gap", (31, "  "), (29, " "))
def test_wide_tables_share_what_two_rows_have_and_have_narrow_gaps(width, gap, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    columns = {"joint": "joint", "first": "0123456789", "second": "abcdefghij", "by": "by"}
    rows = [
        {"joint": name, "first": number, "second": number, "by": "a limit"} for name, number in (("a", 1), ("b", 2))
    ]
    show(Answer([Table("joints", columns, rows)]))
    first, _, heads, *_ = capsys.readouterr().out.splitlines()
    assert (first, heads) == ("in all rows: by a limit", f" {gap.join(['joint', '0123456789', 'abcdefghij'])} ")


ROBOTS = Path(__file__).parents[3] / "data" / "robots"


@cases("robot", *sorted(path.name for path in ROBOTS.glob("*.usda")))
def test_robots_fit_two_screens(robot, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["inspect", str(ROBOTS / robot)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 80 and max(len(line.rstrip()) for line in lines) <= 80
    words = {word.rstrip(",") for line in lines for word in line.split()}
    patterns = [word for word in words if re.fullmatch(r"[\w|()]+", word)]
    for joint in (one.name for found in inspect_robots(ROBOTS / robot) for one in found.joints):
        assert any(re.fullmatch(pattern, joint) for pattern in patterns), joint
