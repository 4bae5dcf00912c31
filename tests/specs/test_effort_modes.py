"""Effort modes as stages: for all actuators, by pattern, and what is refused."""

import isaacsim.core.experimental.actuators as aa
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.specs.effort_modes import in_effort_mode
from refusals import cases, refused

JOINTS = [["hip"], ["knee", "ankle"]]


def motors() -> list[aa.MotorConfig]:
    control = aa.PDControlConfig(80.0, 2.0)
    return [
        aa.MotorConfig(control, others=[aa.FrictionConfig(coulomb=1.0)]),
        aa.MotorConfig(control, others=[aa.ImplicitConfig(assumed_inertia=0.3)]),
    ]


def modes_of(parts: list[aa.MotorConfig]) -> list[bool]:
    return [any(isinstance(stage, aa.ImplicitConfig) for stage in one.others) for one in parts]


@cases(
    "modes, implicit",
    (None, [False, True]),
    ("implicit", [True, True]),
    ("explicit", [False, False]),
    ({"hip": "implicit"}, [True, True]),
    ({"knee|ankle": "explicit"}, [False, False]),
    ({".*": "implicit"}, [True, True]),
    ids=str,
)
def test_mode_is_a_stage(modes, implicit) -> None:
    given = motors()
    found = in_effort_mode(given, JOINTS, modes)
    assert modes_of(found) == implicit and found[0].others[0] == aa.FrictionConfig(coulomb=1.0)
    assert modes_of(given) == [False, True]


def test_stage_that_is_there_keeps_its_values() -> None:
    in_engine = in_effort_mode(motors(), JOINTS, "in_engine")
    for given in (motors(), in_engine):
        (_, second) = in_effort_mode(given, JOINTS, "implicit")
        assert second.others == [aa.ImplicitConfig(assumed_inertia=0.3)]


def test_mode_in_the_engine_is_a_value_of_the_stage() -> None:
    first, second = in_effort_mode(motors(), JOINTS, "in_engine")
    assert first.others[-1] == aa.ImplicitConfig(in_engine=True)
    assert second.others == [aa.ImplicitConfig(assumed_inertia=0.3, in_engine=True)]
    one = wp.ones(1, dtype=wp.float32, device="cpu")
    component = aa.ActuatorConfig(aa.PDControlConfig(1.0, 0.1), others=[aa.ImplicitEffort(one, one)])
    with pytest.raises(ValueError, match="joints knee: must be for configs, and they have a ImplicitEffort"):
        in_effort_mode([component], [["knee"]], "in_engine")


@cases(
    "modes, message",
    ("backward", "effort_mode = 'backward': must be one of 'explicit', 'implicit', 'in_engine'. Choose one."),
    ({"hip": 1}, "effort_mode = 1: must be one of"),
    ({"toe": "implicit"}, "effort_mode: 'toe' matches no joint"),
    ({"knee": "explicit"}, "effort_mode of joints knee, ankle: must be one for all joints of an actuator"),
    ids=str,
)
def test_what_cannot_be_a_mode_is_refused(modes, message) -> None:
    refused(ValueError, lambda: in_effort_mode(motors(), JOINTS, modes), message)  # pyright: ignore[reportArgumentType]
