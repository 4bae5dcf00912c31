"""The layer that holds a value."""

from isaacsim.core.experimental.actuators.files.usd.layers import layer_of_parameter, layer_of_property
from places import ROBOTS
from pxr import Sdf, Usd
from robot_files import OF_SHOULDER, SHOULDER, number

ARM = ROBOTS / "arm_2dof.usda"


def test_the_strongest_layer_that_says_it() -> None:
    """By the name of its file; None without an opinion, or without the schema."""
    above = Sdf.Layer.CreateAnonymous("above.usda")
    above.subLayerPaths.append(str(ARM))
    stage = Usd.Stage.Open(above)
    for edit in (number(OF_SHOULDER, "newton:kp", 5.0), number(SHOULDER, "physics:lowerLimit", -9.0)):
        edit(stage)
    assert layer_of_parameter(stage, OF_SHOULDER, "newton:kp") == above.GetDisplayName()
    assert layer_of_parameter(stage, OF_SHOULDER, "newton:kd") == ARM.name
    assert layer_of_parameter(stage, OF_SHOULDER, "newton:gear") is None
    axis = SHOULDER, "angular"
    assert layer_of_property(stage, "lower_limits", axis) == above.GetDisplayName()
    assert layer_of_property(stage, "upper_limits", axis) == ARM.name
    assert layer_of_property(stage, "armatures", axis) is None
    # of the names that a property has, the first that is authored
    number(SHOULDER, "newton:armature", 0.1)(stage)
    assert layer_of_property(stage, "armatures", axis) == above.GetDisplayName()
