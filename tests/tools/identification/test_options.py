import math

import pytest
from isaacsim.core.experimental.actuators.specs.motor_catalogue import MOTORS
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions, published_priors
from isaacsim.core.experimental.actuators.tools.identification.parameters import PARAMETERS
from refusals import cases, refused

JOINTS = ("hip", "left_knee", "right_knee")


def test_the_first_line_that_matches_counts() -> None:
    options = FitOptions(
        bounds={"left_.*/viscous": (0.0, 2.0), "viscous": (0.0, 3.0)}, priors={".*_knee/kp": (50.0, 5.0)}
    )
    assert [options.rules(joint)["viscous"].bounds[1] for joint in JOINTS] == [3.0, 2.0, 3.0]
    assert [options.rules(joint)["kp"].spread for joint in JOINTS] == [math.inf, 5.0, 5.0]
    assert options.rules("left_knee")["kp"].start == 50.0
    assert options.rules("hip")["coulomb"] == PARAMETERS["coulomb"]


def test_parameters_and_groups_are_of_the_joints_of_their_pattern() -> None:
    options = FitOptions(
        parameters=["hip/max_effort", "electrical.inductance"],
        bounds={"electrical.inductance": (0.0, 0.01)},
        shared=["delay", ".*_knee/coulomb"],
    )
    inductance = ["electrical.inductance"]
    assert [options.further(joint) for joint in JOINTS] == [["max_effort", *inductance], inductance, inductance]
    assert options.rules("hip")["electrical.inductance"].bounds == (0.0, 0.01)
    assert options.alike("delay", JOINTS) == [[0, 1, 2]] and options.alike("coulomb", JOINTS) == [[1, 2]]
    assert options.alike("viscous", JOINTS) == []
    options.require_joints(JOINTS)
    refused(ValueError, lambda: options.require_joints(["knee"]), "hip/max_effort: must match one of the joints knee")


@cases(
    "given, message",
    ({"models": ["friktion"]}, "models: friktion: must be of as in the file, "),
    ({"shared": ["friktion"]}, "friktion: must be one of armature, "),
    ({"parameters": ["electrical.inductance"]}, "electrical.inductance: has no usual range: must have bounds"),
    ({"bounds": {"kp": (2.0, 1.0)}}, r"bounds of kp = \(2, 1\): must be finite, and rise"),
    ({"bounds": {"kp": (0.0, math.inf)}}, r"bounds of kp = \(0, inf\): must be finite"),
    ({"priors": {"kp": (2.0, 0.0)}}, r"prior of kp = \(2, 0\): must be a value and a standard deviation > 0"),
    ({"bounds": {"(/kp": (0.0, 1.0)}}, r"\(/kp: what stands before the / must be a regular expression, but"),
    ({"search": 40}, "search = 40: must be 0, for fits begin with the best of 512 starts"),
    ({"refine": -1}, "refine = -1: must be a number, at least 0"),
    ({"mass_error": 2.0}, "mass_error = 2.0: must be a share of the masses"),
)
def test_bad_options_are_refused(given, message) -> None:
    refused(ValueError, lambda: FitOptions(**given), message)


@pytest.mark.parametrize("motor", MOTORS)
def test_priors_are_published_values(motor) -> None:
    figures = MOTORS[motor]
    known = [name for name in ("armature", "torque_constant", "resistance") if getattr(figures, name) is not None]
    if not known:
        with pytest.raises(ValueError, match="must have a published armature, torque_constant, resistance"):
            published_priors(motor)
        return
    found = published_priors(motor)
    assert set(found) == set(known)
    assert all(value == getattr(figures, name) and 0 < spread < 0.3 * value for name, (value, spread) in found.items())
    assert FitOptions(priors=found).rules("hip")[known[0]].start == found[known[0]][0]


def test_an_unknown_motor_is_named() -> None:
    with pytest.raises(ValueError, match=r"XL33.*dynamixel_xl330"):
        published_priors("XL33")
