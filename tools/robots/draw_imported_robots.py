"""Draw the robots of `imported_robots.py` in one room, as their actuators hold them, into `real_robots.png`.

./python.sh tools/robots/draw_imported_robots.py [PICTURE]
"""

# the type stubs of USD do not know that vectors hold numbers
# pyright: reportArgumentType=false

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from imported_robots import ROBOTS
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
from PIL import Image
from pxr import Gf, Usd, UsdGeom
from write_robots import FOLDER, new_stage

SIZE = (1600, 900)
# each robot's place [m] and turn [deg]; the arms stand on tables of that height
PLACES: dict[str, tuple[float, float, float, float]] = {
    "unitree_g1": (0.0, 0.36, 0.0, -20.0),
    "unitree_go1": (0.25, -0.42, 0.0, -35.0),
    "i2rt_yam": (0.1, 1.05, 0.5, -40.0),
    "so101": (0.25, -1.1, 0.5, 10.0),
}
CAMERA: dict[str, Any] = {"lookat": (0.1, -0.02, 0.6), "distance": 2.35, "azimuth": 180.0, "elevation": -9.0}
FLOOR_COLOR = (0.86, 0.87, 0.88)
TABLE_COLOR = (0.93, 0.93, 0.92)
TABLE_TOP = (0.34, 0.34)


def room() -> Usd.Stage:
    """Return a stage with all of them, each referred to from its own file."""
    stage = new_stage("Four robots in one room.")
    for robot in ROBOTS:
        x, y, height, turn = PLACES[robot.file]
        place = UsdGeom.Xform.Define(stage, f"/World/{robot.name}")
        place.GetPrim().GetReferences().AddReference(str(FOLDER / f"{robot.file}.usda"), f"/World/{robot.name}")
        place.AddTranslateOp().Set(Gf.Vec3d(x, y, height))
        place.AddRotateZOp().Set(180.0 + turn)
        if height:
            _draw(UsdGeom.Cube.Define(stage, f"/World/{robot.name}_table"), TABLE_COLOR, (x, y, height / 2), height)
    floor = UsdGeom.Plane.Define(stage, "/World/floor")
    _draw(floor, FLOOR_COLOR)
    # feet stand on it
    from pxr import UsdPhysics

    UsdPhysics.CollisionAPI.Apply(floor.GetPrim())
    return stage


def _draw(shape: Any, color: tuple[float, float, float], at: Any = None, height: float = 0.0) -> None:
    shape.CreateDisplayColorAttr([Gf.Vec3f(color)])
    if at is not None:
        shape.CreateSizeAttr(1.0)
        shape.AddTranslateOp().Set(Gf.Vec3d(at))
        shape.AddScaleOp().Set(Gf.Vec3f(*TABLE_TOP, height))


def draw() -> np.ndarray:
    """Return the picture after a second under their actuators."""
    with Simulation(room()) as sim:
        _actuators = [ArticulationActuators(f"/World/{robot.name}") for robot in ROBOTS]
        sim.play()
        sim.step(240)
        return sim.render(*SIZE, **CAMERA)


if __name__ == "__main__":
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "real_robots.png"
    Image.fromarray(draw()).save(picture, optimize=True)
    print(picture)
