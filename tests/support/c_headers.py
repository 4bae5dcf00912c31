"""Headers in C of motors beside the motors themselves, on the same signals."""

import ctypes
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays
from isaacsim.core.experimental.actuators.tools.export.c_header import c_text
from isaacsim.core.experimental.actuators.tools.export.robot import ExportedRobot

needs_compiler = pytest.mark.skipif(which("cc") is None, reason="no C compiler")
_OPTIONS = "-std=c99 -pedantic -Wall -Wextra -Werror -O2 -ffp-contract=off -shared -fPIC"
# positions, velocities, both targets and feedforward
_SCALE = np.array([[0.5], [4], [0.5], [1], [2]], np.float32)


def compiled(folder: Path, header: str, name: str) -> ctypes.CDLL:
    # a library of a path that is loaded already would be that one
    folder = Path(tempfile.mkdtemp(dir=folder))
    (folder / "motors.h").write_text(header, "utf-8")
    source = folder / "motors.c"
    source.write_text(
        f'#include "motors.h"\nstatic {name}_motors m;\nvoid init(void) {{ {name}_init(&m); }}\n'
        "void step(const float *q, const float *v, const float *t, const float *w, const float *f, float dt, float *e)"
        f" {{ {name}_step(&m, q, v, t, w, f, dt, e); }}\n"
        f"const char *name(int k) {{ return {name}_joint_names[k]; }}\n"
    )
    library = folder / "motors.so"
    subprocess.run(["cc", *_OPTIONS.split(), str(source), "-o", str(library), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.name.restype = ctypes.c_char_p
    loaded.init()
    return loaded


def steps_alike(
    robot: ExportedRobot, folder: Path, steps: int = 400, dt: float = 0.004, bad: Mapping[int, tuple[int, float]] = {}
) -> np.ndarray:
    """Step a header compiled in `folder`, and motors, by random signals with `bad` rows; efforts have the same bits."""
    library = compiled(folder, c_text(robot, []), robot.name)
    joints = [joint.name for joint in robot.joints]
    assert [library.name(k).decode() for k in range(len(joints))] == joints
    ours, random = ActuatedArrays(joints, robot.motors), np.random.default_rng(7)
    found = np.empty((steps, len(joints)), np.float32)
    for number in range(steps):
        signals = random.normal(size=(5, len(joints))).astype(np.float32) * _SCALE
        if number in bad:
            row, value = bad[number]
            signals[row, 0] = value
        q, v, t, w, f = signals
        efforts = np.full(len(joints), 5.0, np.float32)
        given = [one.ctypes.data_as(ctypes.c_void_p) for one in (q, v, t, w, f)]
        library.step(*given, ctypes.c_float(dt), efforts.ctypes.data_as(ctypes.c_void_p))
        expected = np.asarray(ours.step(q, v, t, float(np.float32(dt)), qd_target=w, feedforward=f))
        assert efforts.tobytes() == expected.tobytes(), (number, efforts, expected)
        found[number] = efforts
    return found
