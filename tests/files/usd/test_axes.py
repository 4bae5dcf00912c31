"""Names of joint axes."""

from isaacsim.core.experimental.actuators.files.usd.axes import address, axis_in, disambiguate, is_angular
from refusals import cases


@cases("axis, angular", ("angular", True), ("rotX", True), ("rotZ", True), ("linear", False), ("transY", False))
def test_what_turns(axis, angular) -> None:
    assert is_angular(axis) is angular


def test_axis_in_a_name() -> None:
    assert (axis_in("hip:rotX"), axis_in("hip")) == ("rotX", "")


def test_names_that_several_have_become_addresses() -> None:
    names, joints = ["hip", "ball:rotX", "ball:rotX", "hip", "toe"], ["/a/hip", "/a/ball", "/b/ball", "/b/hip", "/toe"]
    assert disambiguate(names, joints) == ["/a/hip", "/a/ball:rotX", "/b/ball:rotX", "/b/hip", "toe"]
    assert address("/toe", "toe") == "/toe"
