"""Units of joints: one kind has its own, both are named only where both are shown."""

from isaacsim.core.experimental.actuators.tools.plots import units as units_module
from refusals import cases


@cases(
    "turns, units",
    ([True, True], units_module.TURNING),
    ([False], units_module.SLIDING),
    ([True, False], units_module.BOTH),
    # a joint of an unknown kind may be either
    ([True, None], units_module.BOTH),
    ([False, None], units_module.BOTH),
    (None, units_module.BOTH),
    ([], units_module.BOTH),
)
def test_units_are_those_of_the_joints(turns, units) -> None:
    assert units_module.units_of(turns) == units


def test_numbers_have_a_unit_if_it_is_known() -> None:
    """Two units beside a number would be none."""
    assert units_module.with_unit("80", units_module.TURNING.effort) == "80 N·m"
    assert units_module.with_unit("80", units_module.BOTH.effort) == "80"


@cases(
    "turns, words",
    ([True, True], "effort [N·m]"),
    ([False], "effort [N]"),
    # the numbers below it have their own
    ([True, False], "effort"),
    ([True, False, None], "effort"),
    ([True, None], "effort [N·m or N]"),
    (None, "effort [N·m or N]"),
)
def test_heading_has_the_unit_of_all_joints_below_it(turns, words) -> None:
    assert units_module.heading("effort", "effort", turns) == words
    assert units_module.are_mixed(turns) == (words == "effort")


@cases(
    "unit, turns, said",
    ("N·m/rad or N/m", True, "N·m/rad"),
    ("N·m/rad or N/m", False, "N/m"),
    ("N·m/rad or N/m", None, "N·m/rad or N/m"),
    ("Ω", False, "Ω"),
    ("", True, ""),
)
def test_parameter_has_the_unit_of_its_joint(unit, turns, said) -> None:
    assert units_module.unit_of(unit, turns) == said


@cases("turns", None, [True, True], [None, False])
def test_numbers_below_a_unit_stay_numbers(turns) -> None:
    assert units_module.numbers_of(["2000", None], "stiffness", turns) == ["2000", "-"]


def test_units_of_both_kinds_are_those_of_each() -> None:
    assert (units_module.BOTH.damping, units_module.BOTH.integral) == ("N·m·s/rad or N·s/m", "N·m/(rad·s) or N/(m·s)")
