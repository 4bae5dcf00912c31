"""Draw the robots of `data/robots` as their actuators hold them, into `robots.png`.

./python.sh tools/robots/draw_robots.py [PICTURE]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from PIL import Image

FOLDER = Path(__file__).resolve().parents[2] / "data" / "robots"
SIZE = (480, 480)
# robot file, root, position targets [rad or m] (None: those of the file), camera
VIEWS: list[tuple[str, str, list[float] | None, dict[str, Any]]] = [
    ("pendulum", "/World/Pendulum", [0.9], {"distance": 1.25, "elevation": -10, "azimuth": 110}),
    ("arm_2dof", "/World/Arm", [-0.6, 0.3], {"distance": 2.3, "elevation": -15, "azimuth": 110}),
    ("franka_panda", "/World/Panda", None, {"distance": 1.5, "elevation": -15, "lookat": (0.22, 0.0, 0.42)}),
    ("anymal_c", "/World/Anymal", None, {"distance": 1.9, "elevation": -15, "lookat": (0.0, 0.0, 0.33)}),
]


def draw(file: str, root: str, targets: list[float] | None, camera: dict[str, Any]) -> np.ndarray:
    """Return the picture of one robot after two seconds under its actuators."""
    with Simulation(FOLDER / f"{file}.usda") as sim:
        robot: Any = Articulation(root)
        _actuators = ArticulationActuators(root)
        sim.play()
        if targets is not None:
            robot.set_dof_position_targets(targets)
        sim.step(480)
        return sim.render(*SIZE, **camera)


if __name__ == "__main__":
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "robots.png"
    Image.fromarray(np.concatenate([draw(*view) for view in VIEWS], axis=1)).save(picture, optimize=True)
    print(picture)
