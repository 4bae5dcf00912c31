"""The C99 header of a robot's motors: the bits of the package, and laws refused by name."""

import re
from dataclasses import replace
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from c_headers import needs_compiler, steps_alike
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.tools.export.c_header import c_text, library, used_by
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from places import ROBOTS

ARM = ROBOTS / "arm_2dof.usda"
MOTORS = {
    "pd": [aa.PDControlConfig(80.0, 2.0, 0.3)],
    "limited": [aa.PDControlConfig(80.0, 2.0), aa.MaxEffortClampingConfig(7.3)],
    "pid": [aa.PIDControlConfig(80.0, 11.0, 2.0, 0.02, 0.1), aa.MaxEffortClampingConfig(30.0)],
    "dc_motor": [aa.PDControlConfig(80.0, 2.0), aa.DCMotorClampingConfig(33.0, 6.7, 21.0)],
    "geared": [aa.GearedPDControlConfig(1.3, 0.01, -9.0), aa.MaxEffortClampingConfig(20.0)],
    "late": [aa.PDControlConfig(80.0, 2.0), aa.DelayConfig(3), aa.MaxEffortClampingConfig(25.0)],
    "friction": [
        aa.PDControlConfig(80.0, 2.0),
        aa.DelayConfig(1),
        aa.MaxEffortClampingConfig(25.0),
        aa.FrictionConfig(1.1, 0.3, 2.0, 0.07, 1.7, assumed_inertia=0.02, motor_load=0.1, external_load=0.05),
    ],
    "cogging": [aa.PDControlConfig(80.0, 2.0), aa.MaxEffortClampingConfig(25.0), aa.CoggingConfig(0.4, 21.0, 0.3)],
}
# by step, the row of the signals and what stands there: positions, velocities, targets and feedforward
BAD = {50: (0, np.nan), 60: (1, np.inf), 200: (2, np.nan), 210: (3, -np.inf), 220: (4, np.nan), 230: (0, 3e38)}


@needs_compiler
@pytest.mark.parametrize("name", MOTORS)
def test_efforts_have_the_bits_of_the_package(name: str, tmp_path: Path) -> None:
    """Over 400 steps of random signals, some far beyond the limits and some not finite."""
    motors = {"shoulder": MOTORS[name], "extension": MOTORS["limited"]}
    efforts = steps_alike(read_robot(ARM, motors), tmp_path, bad=BAD)
    assert np.count_nonzero(efforts[:, 0]) > 350 and not efforts[[*BAD][:5], 0].any()


@needs_compiler
@pytest.mark.parametrize("name", ["anymal_c", "franka_panda", "so101", "unitree_g1"])
@pytest.mark.slow
def test_robots_of_the_package(name: str, tmp_path: Path) -> None:
    assert steps_alike(read_robot(ROBOTS / f"{name}.usda"), tmp_path, 200).any(axis=1).all()


def test_what_c_cannot_have_is_refused() -> None:
    robot = read_robot(ARM, {".*": [aa.PDControlConfig(1.0, 0.1)]})
    stages = [aa.NeuralControlConfig("net.pt")], [aa.PDControlConfig(1.0, 0.1), aa.FrictionConfig(1.0)]
    motors = map(motor_of, stages)
    joints = tuple(replace(joint, motor=motor) for joint, motor in zip(robot.joints, motors, strict=True))
    with pytest.raises(ValueError, match=r"shoulder: controller neural .*\nextension: passive friction "):
        c_text(replace(robot, joints=joints), [])


def test_friction_of_the_simulator_is_left_out() -> None:
    text = c_text(read_robot(ARM, {".*": [aa.PDControlConfig(1.0, 0.1), aa.FrictionConfig(1.0, in_engine=True)]}), [])
    assert "/* controller_pd */" in text and "friction" not in text


def test_numbers_are_named_and_tables_stand_once() -> None:
    table = aa.PositionBasedClampingConfig([-1.0, 1.0], [3.0, 5.0])
    text = c_text(read_robot(ARM, {".*": [aa.PDControlConfig(80.0, 2.5), table]}), [])
    assert "    2.5f, /* controller_pd: kd [N·m·s/rad or N·s/m] */" in text
    assert text.count("{-1.0f, 3.0f, 1.0f},") == 1 and "arm_2dof_table_1" not in text
    assert text.count("static inline float arm_2dof_motor_") == 1


def test_names_of_strangers_end_no_comment() -> None:
    assert "*/ int x" not in c_text(read_robot(ARM), ["of a joint */ int x; /*"])


def test_what_is_used_comes_first() -> None:
    known: set[str] = set()
    for name, text in library().items():
        assert set(re.findall(r"@(\w+)", text)) - known <= {name, "DEPTH"}, name
        known.add(name)


def test_only_what_is_used() -> None:
    found = used_by(["x = @table_at(table, 0.0f);"])
    assert found == [library()[name] for name in ("curve_value", "table", "table_at")] and used_by(["int x;"]) == []
