"""Stages: what order they are in, what their parts are called, and what is refused."""

from dataclasses import dataclass, field
from typing import ClassVar

from isaacsim.core.experimental.actuators import DelayConfig, MaxEffortClampingConfig, PDControlConfig
from isaacsim.core.experimental.actuators.specs.configs import PassiveConfig
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig, motor_of
from isaacsim.core.experimental.actuators.specs.stages import (
    KINDS,
    LISTED,
    follows_limits,
    kind_of,
    parts_of,
    place_of,
    places_of,
)
from refusals import cases, refused


@dataclass
class DragConfig(PassiveConfig):
    SCHEMA: ClassVar[str] = "DragAPI"


@dataclass
class Driver:
    KIND: ClassVar[str] = "electrical"
    values: list[float] = field(default_factory=list)


PD, LIMIT, DELAY, DRAG = PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(30.0), DelayConfig(2), DragConfig()


def test_stages_act_in_the_order_of_their_kinds() -> None:
    motor = motor_of([DRAG, LIMIT, DELAY, PD])
    assert motor.stages == (DELAY, PD, LIMIT, DRAG) and motor.as_listed == (PD, LIMIT, DRAG, DELAY)
    assert motor.after_controller == (LIMIT, DRAG)
    assert (motor.controller, motor.clamping, motor.delay, motor.others) == (PD, [LIMIT], DELAY, [DRAG])
    assert [place for place, _ in places_of(motor)] == ["controller", "clamping[0]", "passive[0]", "delay"]


@dataclass
class Sensor:
    KIND: ClassVar[str] = "feedback"


def test_kinds_say_what_their_stages_do() -> None:
    sensor, driver = Sensor(), Driver()
    motor = MotorConfig(**parts_of([DRAG, LIMIT, driver, PD, sensor]))
    assert motor.stages == (sensor, PD, driver, LIMIT, DRAG)
    assert (motor.sensing, motor.after_controller) == ((sensor,), (driver, LIMIT, DRAG))
    assert [kind for kind in KINDS if follows_limits(kind)] == ["passive", "effort_mode"]
    expected = ["losses", "thermal", "supply", "effort_mode"]
    assert [kind.name for kind in KINDS.values() if kind.takes_effort and not kind.changes_effort] == expected
    assert not KINDS["thermal"].changes_loop and KINDS["electrical"].changes_loop
    # of those that make an effort, motors come first, then one that is between the two, then shafts and joints
    places = ["motor", "both", "shaft", "joint"]
    coordinates = [places.index(kind.coordinates) for kind in KINDS.values() if kind.takes_effort]
    assert coordinates == sorted(coordinates) and coordinates.count(1) == 1
    assert [name for name, kind in KINDS.items() if kind.converts] == ["transmission"]
    assert not KINDS["transmission"].many and KINDS["transmission"].changes_loop


def test_the_table_names_each_kind_once() -> None:
    assert list(KINDS) == [kind.name for kind in KINDS.values()] and sorted(LISTED) == sorted(KINDS)
    assert [place_of(kind) for kind in KINDS] == list(range(len(KINDS)))
    assert place_of("brake") == place_of(None) == len(KINDS)
    expected = (*("controller", "controller", None, "electrical"),)
    assert (kind_of(PD), kind_of(PDControlConfig), kind_of(3), kind_of(Driver())) == expected


def test_parts_are_arguments_of_what_holds_them() -> None:
    assert MotorConfig(**parts_of([LIMIT, DRAG, PD])) == MotorConfig(PD, [LIMIT], others=[DRAG])
    more = MotorConfig(PD, [LIMIT, LIMIT], DELAY, others=[DRAG]).each(lambda stage: [stage])
    assert more == {"controller": [PD], "clamping": [[LIMIT], [LIMIT]], "delay": [DELAY], "others": [[DRAG]]}
    assert MotorConfig(others=[DRAG]).each(id) == {
        "controller": None,
        "clamping": [],
        "delay": None,
        "others": [id(DRAG)],
    }


@cases(
    "stages, error, words",
    ([PD, 3], TypeError, "stages has 3: must be a config or component"),
    ([PD, PD], ValueError, "stages has 2 controllers, PDControlConfig and PDControlConfig: must be at most one"),
    ([Driver(), Driver()], ValueError, "stages has 2 electricals"),
)
def test_what_is_no_list_of_stages_is_refused(stages, error, words) -> None:
    refused(error, lambda: parts_of(stages), words)


@cases(
    "motor, words",
    (MotorConfig(others=[LIMIT]), "MotorConfig.others has MaxEffort.* Give it as clamping"),
    (MotorConfig(others=[3]), "MotorConfig.others = 3"),  # pyright: ignore[reportArgumentType]
)
def test_a_part_is_where_it_belongs(motor, words) -> None:
    refused(TypeError, lambda: motor_of(motor), words)
