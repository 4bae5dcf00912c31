"""The heart of the package: `base`, `specs`, `laws`, `engine` and loops on arrays work where nothing else of it is."""

import os
import shutil
import sys
from pathlib import Path

import isaacsim.core.experimental.actuators as package
import numpy as np
from processes import ran

HEART = ("base", "specs", "laws", "engine", "loops")
# loops of the programs of others
OTHERS = ("model_inertias.py", "mujoco_warp.py", "newton_model.py", "torch_gradients.py")
PROGRAM = """
import sys
import numpy as np
from isaacsim.core.experimental.actuators.loops.arrays import ActuatedArrays
from isaacsim.core.experimental.actuators.specs.configs import (
    DelayConfig, FrictionConfig, MaxEffortClampingConfig, PDControlConfig, TransmissionConfig,
)

motors = {
    "hip": [PDControlConfig(20.0, 0.5), MaxEffortClampingConfig(3.0), DelayConfig(2)],
    "knee": [PDControlConfig(20.0, 0.5), TransmissionConfig(10.0)],
    "ankle": [PDControlConfig(20.0, 0.5), FrictionConfig(0.1, 0.01, assumed_inertia=0.02)],
}
position, velocity, target = (np.zeros((4, 3), np.float32) for _ in range(3))
target[:], velocity[:, 2] = 0.1, 1.0
arrays = ActuatedArrays(list(motors), motors, 4)
for _ in range(3):
    efforts = arrays.step(position, velocity, target, 0.005)
print(*np.round(efforts[0], 2))
print(*sorted({name.split(".")[4] for name in sys.modules if name.startswith("isaacsim.core.experimental.actuators.")}))
"""


def test_heart_steps_alone(tmp_path) -> None:
    source, copied = Path(package.__path__[0]), tmp_path.joinpath(*package.__name__.split("."))
    for room in HEART:
        shutil.copytree(source / room, copied / room, ignore=shutil.ignore_patterns("__pycache__", *OTHERS))
    (copied / "__init__.py").touch()
    done = ran([sys.executable, "-c", PROGRAM], env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    efforts, rooms = done.stdout.splitlines()[-2:]
    assert rooms.split() == sorted(HEART)
    # within the limit, at the joint of a gear, and less damping and friction
    np.testing.assert_allclose([float(effort) for effort in efforts.split()], [2.0, 200.0, 2.0 - 0.5 - 0.11], atol=0.02)
