"""Linkages in C: the bits of the core for linear ones and tables, with gears, sensors and friction around them."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from c_headers import needs_compiler, steps_alike
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.tools.export.c_header import c_text
from isaacsim.core.experimental.actuators.tools.export.c_linkage import linkages_of
from isaacsim.core.experimental.actuators.tools.export.robot import ExportedJoint, ExportedRobot

PD = aa.PDControlConfig(80.0, 2.0)
MOST = aa.MaxEffortClampingConfig(45.0)
ROPE = [aa.ShaftFrictionConfig(0.4, 0.2, 0.1, assumed_inertia=0.05), aa.ShaftInertiaConfig(0.08, 0.05)]
AT_MOTOR = [aa.PDControlConfig(0.9, 0.03), aa.DCMotorClampingConfig(4.1, 60.0, 3.0)]
NOISY = aa.EncoderConfig.from_bits(12, noise=0.003, latency=0.0071, seed=5)
FRICTION = aa.FrictionConfig(1.1, 0.3, 2.0, 0.07, assumed_inertia=0.02, motor_load=0.1, external_load=0.05)
TABLE = aa.PositionBasedClampingConfig([-0.5, 0.2, 0.6], [30.0, 31.0, 14.0])
WRIST = aa.LinkageConfig.differential("a", "b", 1.7)
THREE = [
    aa.LinkageConfig(["a", "c", "b"], coefficients=[1.0, 0.3, -0.2], offset=0.1),
    aa.LinkageConfig(["a", "c", "b"], coefficients=[-0.4, 1.3, 0.7]),
    aa.LinkageConfig(["a", "c", "b"], coefficients=[0.2, -0.6, 2.0], offset=-0.3),
]


def knee_shaft(q: float) -> float:
    return 1.4 * q - 0.3 * math.sin(q)


def left_shaft(p: float, r: float) -> float:
    return 1.2 * p + 0.7 * math.sin(r) + 0.1 * p * r


def right_shaft(p: float, r: float) -> float:
    return 1.2 * p - 0.7 * math.sin(r) - 0.1 * p * r


KNEE = aa.LinkageConfig.table(["b"], knee_shaft, [-0.9], [0.8], 17)
ANKLE = [aa.LinkageConfig.table(["b", "a"], one, [-0.6, -0.5], [0.7, 0.5], 9) for one in (left_shaft, right_shaft)]
GEAR = aa.TransmissionConfig(9.1, offset=0.2, rotor_inertia=2e-3)
OWN = aa.TransmissionConfig(-7.3, targets="motor")
LINKED: dict[str, dict[str, list[Config]]] = {
    "differential": {"a": [PD, WRIST[0], MOST], "b": [PD, WRIST[1], FRICTION]},
    "all_around": {
        "a": [*AT_MOTOR, NOISY, aa.DelayConfig(2), aa.TransmissionConfig(9.1, offset=0.2), WRIST[0], TABLE, FRICTION],
        "b": [aa.PDControlConfig(0.9, 0.03), aa.MaxEffortClampingConfig(2.0), OWN, WRIST[1]],
    },
    "rate": {"a": [PD, NOISY, aa.RateConfig(decimation=3), WRIST[0]], "b": [PD, aa.RateConfig(decimation=2), WRIST[1]]},
    "three": {"a": [PD, THREE[0], MOST], "b": [PD, aa.DelayConfig(1), THREE[2]], "c": [PD, NOISY, THREE[1], FRICTION]},
    "tendons": {
        "a": [PD, MOST, *ROPE, dataclasses.replace(THREE[0], unilateral=True)],
        "b": [aa.LinkageConfig(["a", "c", "b"], [0.3, 0.2, -1.0]), FRICTION],
        "c": [PD, NOISY, THREE[1]],
    },
    "knee": {"b": [*AT_MOTOR, GEAR, KNEE, FRICTION], "a": [PD, MOST]},
    "ankle": {"a": [*AT_MOTOR, GEAR, ANKLE[1], FRICTION], "b": [*AT_MOTOR, aa.DelayConfig(3), GEAR, ANKLE[0]]},
}
JOINTS = ["a", "b", "free", "c", "alone"]
BAD = {50: (0, math.nan), 60: (1, math.inf), 200: (2, math.nan), 210: (3, -math.inf), 220: (4, math.nan)}


def robot_of(motors: dict[str, list[Config]], joints: Sequence[str] = JOINTS) -> ExportedRobot:
    made = [ExportedJoint(name, False, motor_of(motors[name]) if name in motors else None, {}, ()) for name in joints]
    return ExportedRobot("robot", "/robot", tuple(made))


@needs_compiler
@pytest.mark.parametrize("name", LINKED)
def test_linkages_have_the_bits_of_the_core(name: str, tmp_path: Path) -> None:
    motors = LINKED[name] | {"alone": [PD, NOISY, MOST]}
    efforts = steps_alike(robot_of(motors), tmp_path, 300, bad=BAD)
    linked = [JOINTS.index(joint) for joint in motors if joint != "alone"]
    if name != "knee":
        assert not efforts[[*BAD]][:, linked].any()
    assert efforts[[*BAD], JOINTS.index("alone")].all() and not efforts[:, JOINTS.index("free")].any()
    for column in linked:
        assert np.count_nonzero(efforts[:, column]) > 250


def test_numbers_of_a_linkage() -> None:
    (ankle,) = linkages_of(robot_of(LINKED["ankle"]).joints)
    assert ankle.slots == (1, 0) and ankle.nodes.shape == (81, 6)
    assert ankle.inertia == pytest.approx([9.1**2 * 2e-3] * 2) and linkages_of(robot_of({"a": [PD]}).joints) == []


def test_a_linkage_that_lacks_a_motor_is_refused() -> None:
    with pytest.raises(ValueError, match="joint 'b' must have an actuator with a LinkageConfig"):
        c_text(robot_of({"a": [PD, WRIST[0]]}), [])


def test_functions_of_linkages_are_in_those_headers_only() -> None:
    without = c_text(robot_of({"a": [PD]}), [])
    assert not any(f"robot_{name}" in without for name in ("link", "shafts", "turned", "efforts_of", "settled"))
    text = c_text(robot_of(LINKED["differential"]), [])
    assert "static const robot_linkage robot_linkage_0 = { /* a, b */" in text and "robot_nodes_" not in text
