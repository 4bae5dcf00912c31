"""Warnings of robots that begin outside the limits of their joints."""

import warnings

import pytest
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from refusals import cases
from small_stages import SmallStage, pendulum

HINGE = "/World/Robot/hinge"


def said_of(made: SmallStage) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_scene(made.stage)
    return [str(warning.message) for warning in caught]


@cases(
    "limits, state, told",
    ((-150, -50), None, "(0, limits -2.618 … -0.8727)"),
    ((None, -50), None, "(0, limits -inf … -0.8727)"),
    ((-30, 60), 80.0, "(1.396, limits -0.5236 … 1.047)"),
    ((10, 10), None, "(0, limits 0.1745 … 0.1745)"),
)
def test_joint_that_begins_outside_its_limits_is_named(limits, state, told) -> None:
    made = pendulum(limits=limits)
    if state is not None:
        made.state(HINGE, position=state)
    (said,) = said_of(made)
    assert said.startswith(
        f"joints begin outside their limits, in rad or m, and are pushed back at once: {HINGE} {told}."
    )
    assert "`state:angular:physics:position` in degrees" in said and "set_dof_positions" in said


def test_all_joints_are_told_of_in_one_warning() -> None:
    made = pendulum(limits=(10, 20))
    made.body("/World/Robot/foot")
    made.joint("/World/Robot/slide", "Prismatic", "/World/Robot/bob", "/World/Robot/foot", limits=(0.1, 0.2))
    (said,) = said_of(made)
    assert f"{HINGE} (0, limits 0.1745 … 0.3491), /World/Robot/slide (0, limits 0.1 … 0.2)." in said


@pytest.mark.parametrize("state", [-149.0, -50.0, -50.01])
def test_joint_that_begins_within_its_limits_is_not(state) -> None:
    made = pendulum(limits=(-150, -50))
    made.state(HINGE, position=state)
    assert said_of(made) == []
