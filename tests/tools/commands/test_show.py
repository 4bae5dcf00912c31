"""Units of tables with a row for each joint: in headings of joints of one kind, else behind each number."""

import pytest
from isaacsim.core.experimental.actuators.tools.commands.answer import Table
from isaacsim.core.experimental.actuators.tools.commands.show import with_units

COLUMNS = {"joint": "joint", "position": "position", "effort": "largest effort"}
ROWS = [
    {"joint": "shoulder", "position": 0.10444, "effort": 60.0},
    {"joint": "extension", "position": 2.0, "effort": None},
]
QUANTITIES = {"position": "position", "effort": "effort", "friction": "effort"}


@pytest.mark.parametrize(
    ("turns", "headings"),
    [
        ([True, True], ["joint", "position [rad]", "largest effort [N·m]"]),
        ([False, False], ["joint", "position [m]", "largest effort [N]"]),
        ([True, None], ["joint", "position [rad or m]", "largest effort [N·m or N]"]),
        (None, ["joint", "position [rad or m]", "largest effort [N·m or N]"]),
    ],
)
def test_heading_has_the_unit_of_all_rows(turns, headings) -> None:
    """Numbers stay numbers; quantities without a column are left out."""
    table = with_units(Table("joints", COLUMNS, ROWS), QUANTITIES, turns)
    assert list(table.columns.values()) == headings
    assert table.shown is None and table.rows is ROWS


def test_numbers_of_joints_of_both_kinds_have_their_own_unit() -> None:
    """They end at one place, a missing one has no unit, and rows for programs stay as they are."""
    table = with_units(Table("joints", COLUMNS, ROWS), QUANTITIES, [True, False])
    assert table.columns == COLUMNS and table.rows is ROWS and ROWS[0]["effort"] == 60.0
    assert table.shown == [
        {"joint": "shoulder", "position": "0.1044 rad", "effort": "60 N·m"},
        {"joint": "extension", "position": "     2 m", "effort": " -"},
    ]
