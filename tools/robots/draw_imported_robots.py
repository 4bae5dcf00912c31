"""Draw the robots of `imported_robots.py` in one room, as their actuators hold them, into `real_robots.png`.

./python.sh tools/robots/draw_imported_robots.py [PICTURE]
"""

# the type stubs of USD do not know that vectors hold numbers
# pyright: reportArgumentType=false

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from imported_robots import ROBOTS
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
from PIL import Image
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from write_robots import FOLDER, new_stage

SIZE = (1600, 900)
# each robot's place [m] and turn [deg]; the arms stand on tables of that height
PLACES: dict[str, tuple[float, float, float, float]] = {
    "unitree_g1": (-0.1, 0.1, 0.0, -12.0),
    "unitree_go1": (0.2, -0.47, 0.0, 38.0),
    "i2rt_yam": (0.15, 0.84, 0.5, -62.0),
    "so101": (0.32, -0.99, 0.54, 55.0),
}
CAMERA: dict[str, Any] = {"lookat": (0.0, -0.08, 0.61), "distance": 2.05, "azimuth": 180.0, "elevation": -9.0}
FLOOR_COLOR = (0.78, 0.79, 0.81)
TABLE_COLOR = (0.70, 0.73, 0.77)
TABLE_RADIUS = 0.15
# drawn larger and shrunk, for smooth edges
FINER = 2


def room() -> Usd.Stage:
    """Return a stage with all of them, each referred to from its own file."""
    stage = new_stage("Four robots in one room.")
    for robot in ROBOTS:
        x, y, height, turn = PLACES[robot.file]
        place = UsdGeom.Xform.Define(stage, f"/World/{robot.name}")
        place.GetPrim().GetReferences().AddReference(str(FOLDER / f"{robot.file}.usda"), f"/World/{robot.name}")
        place.AddTranslateOp().Set(Gf.Vec3d(x, y, height))
        place.AddRotateZOp().Set(turn)
        if height:
            _draw(UsdGeom.Cylinder.Define(stage, f"/World/{robot.name}_table"), TABLE_COLOR, (x, y, height / 2), height)
    floor = UsdGeom.Plane.Define(stage, "/World/floor")
    _draw(floor, FLOOR_COLOR)
    # feet stand on it
    UsdPhysics.CollisionAPI.Apply(floor.GetPrim())
    return stage


def _draw(shape: Any, color: tuple[float, float, float], at: Any = None, height: float = 0.0) -> None:
    shape.CreateDisplayColorAttr([Gf.Vec3f(color)])
    if at is not None:
        shape.CreateRadiusAttr(TABLE_RADIUS)
        shape.CreateHeightAttr(height)
        shape.AddTranslateOp().Set(Gf.Vec3d(at))


def draw() -> Image.Image:
    """Return the picture after a second under their actuators."""
    with Simulation(room()) as sim:
        _actuators = [ArticulationActuators(f"/World/{robot.name}") for robot in ROBOTS]
        sim.play()
        sim.step(240)
        drawn = sim.render(SIZE[0] * FINER, SIZE[1] * FINER, **CAMERA)
    return Image.fromarray(drawn).resize(SIZE, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "real_robots.png"
    draw().save(picture, optimize=True)
    print(picture)
