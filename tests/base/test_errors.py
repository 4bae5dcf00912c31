"""Lists in messages."""

from isaacsim.core.experimental.actuators.base.errors import listed


def test_long_lists_are_cut() -> None:
    assert listed([]) == "" and listed(["a", "b", "c", "d"]) == "a, b, c, d"
    assert listed(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"
