"""The C99 header of a robot's motors: the bits of the package, and laws refused by name."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    CoggingConfig,
    DCMotorClampingConfig,
    DelayConfig,
    FrictionConfig,
    GearedPDControlConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
)
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.toolbox.export.c_header import c_text
from isaacsim.core.experimental.actuators.toolbox.export.robot import read_robot
from places import ROBOTS

ARM = ROBOTS / "arm_2dof.usda"
JOINTS = ["shoulder", "extension"]
MOTORS = {
    "pd": [PDControlConfig(80.0, 2.0, 0.3)],
    "limited": [PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(7.3)],
    "pid": [PIDControlConfig(80.0, 11.0, 2.0, 0.02, 0.1), MaxEffortClampingConfig(30.0)],
    "dc_motor": [PDControlConfig(80.0, 2.0), DCMotorClampingConfig(33.0, 6.7, 21.0)],
    "geared": [GearedPDControlConfig(1.3, 0.01, -9.0), MaxEffortClampingConfig(20.0)],
    "late": [PDControlConfig(80.0, 2.0), DelayConfig(3), MaxEffortClampingConfig(25.0)],
    "friction": [
        PDControlConfig(80.0, 2.0),
        DelayConfig(1),
        MaxEffortClampingConfig(25.0),
        FrictionConfig(1.1, 0.3, 2.0, 0.07, 1.7, assumed_inertia=0.02, motor_load=0.1, external_load=0.05),
    ],
    "cogging": [PDControlConfig(80.0, 2.0), MaxEffortClampingConfig(25.0), CoggingConfig(0.4, 21.0, 0.3)],
}
needs_compiler = pytest.mark.skipif(which("cc") is None, reason="no C compiler")


def compiled(folder: Path, header: str, name: str = "arm_2dof") -> ctypes.CDLL:
    """A library of a header, whose functions are global there."""
    (folder / "motors.h").write_text(header, "utf-8")
    source = folder / "motors.c"
    source.write_text(
        f'#include "motors.h"\nstatic {name}_motors m;\nvoid init(void) {{ {name}_init(&m); }}\n'
        "void step(const float *q, const float *v, const float *t, const float *w, const float *f, float dt, float *e)"
        f" {{ {name}_step(&m, q, v, t, w, f, dt, e); }}\n"
    )
    library = folder / "motors.so"
    options = "-std=c99 -pedantic -Wall -Werror -Wno-unused-function -O2 -ffp-contract=off -shared -fPIC"
    subprocess.run(["cc", *options.split(), str(source), "-o", str(library), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.init()
    return loaded


def pointer(values: np.ndarray) -> ctypes.c_void_p:
    """Where the numbers of an array are."""
    return ctypes.c_void_p(values.ctypes.data)


@needs_compiler
@pytest.mark.parametrize("name", MOTORS)
def test_efforts_have_the_bits_of_the_package(name: str, tmp_path: Path) -> None:
    """Over 400 steps of random signals, some far beyond the limits and some not finite."""
    motors = {"shoulder": MOTORS[name], "extension": MOTORS["limited"]}
    library = compiled(tmp_path, c_text(read_robot(ARM, motors), []))
    ours = ActuatedArrays(JOINTS, motors)
    random, dt = np.random.default_rng(7), np.float32(0.004)
    nonzero = 0
    for number in range(400):
        q, v, t, w, f = random.normal(size=(5, 2)).astype(np.float32) * np.float32([[0.5], [4], [0.5], [1], [2]])
        if number == 200:
            t[0] = np.nan
        efforts = np.full(2, 5.0, np.float32)
        library.step(*map(pointer, (q, v, t, w, f)), ctypes.c_float(dt), pointer(efforts))
        expected = np.asarray(ours.step(q, v, t, float(dt), qd_target=w, feedforward=f))
        assert efforts.tobytes() == expected.tobytes(), number
        nonzero += efforts[0] != 0.0
    assert nonzero > 350


@needs_compiler
@pytest.mark.parametrize("name", ["anymal_c", "franka_panda", "so101", "unitree_g1"])
@pytest.mark.slow
def test_robots_of_the_package(name: str, tmp_path: Path) -> None:
    """Hobby servos with firmware, winding and friction among them."""
    robot = read_robot(ROBOTS / f"{name}.usda")
    library = compiled(tmp_path, c_text(robot, []), name)
    joints = [joint.name for joint in robot.joints]
    ours, random = ActuatedArrays(joints, robot.motors), np.random.default_rng(7)
    for number in range(200):
        scale = np.float32([[0.5], [4], [0.5], [1], [2]])
        q, v, t, w, f = random.normal(size=(5, len(joints))).astype(np.float32) * scale
        efforts = np.empty(len(joints), np.float32)
        library.step(*map(pointer, (q, v, t, w, f)), ctypes.c_float(0.004), pointer(efforts))
        expected = np.asarray(ours.step(q, v, t, float(np.float32(0.004)), qd_target=w, feedforward=f))
        assert efforts.tobytes() == expected.tobytes(), number
        assert np.count_nonzero(efforts) > 0


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (FrictionConfig(1.0), "shoulder: passive friction has no assumed_inertia"),
        (NeuralControlConfig("net.pt"), "shoulder: controller neural has no twin in C"),
    ],
)
def test_what_c_cannot_have_is_refused(config: object, words: str) -> None:
    """By joint and law."""
    robot = read_robot(ARM, {"shoulder": [PDControlConfig(1.0, 0.1)]})
    stages = [config] if isinstance(config, NeuralControlConfig) else [PDControlConfig(1.0, 0.1), config]
    first = replace(robot.joints[0], motor=motor_of(stages))
    with pytest.raises(ValueError, match=words):
        c_text(replace(robot, joints=(first, *robot.joints[1:])), [])


def test_names_of_strangers_end_no_comment() -> None:
    """A loss with the end of a comment in it stays in the comment."""
    text = c_text(read_robot(ARM), ["of a joint */ int x; /*"])
    assert "*/ int x" not in text
