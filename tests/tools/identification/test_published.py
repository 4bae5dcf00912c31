import pytest
from isaacsim.core.experimental.actuators.specs.motor_catalogue import MOTORS
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.published import published_priors


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
