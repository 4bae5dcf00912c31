"""A warning points at the user's line, however deep it comes from."""

from isaacsim.core.experimental.actuators.base.callers import level_outside


def test_caller_outside_is_the_first_level() -> None:
    assert level_outside() == 1
