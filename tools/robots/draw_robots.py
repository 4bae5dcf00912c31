"""Draw the robots of `data/robots` in one scene, held by their actuators, into `robots.png`.

./python.sh tools/robots/draw_robots.py [PICTURE]
"""

# the type stubs of USD do not know the element type of vectors
# pyright: reportArgumentType=false

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
from PIL import Image, ImageDraw, ImageFont
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from write_robots import FOLDER, new_stage

SIZE = (1800, 640)
# by file and root: name, position [m], heading [deg], height of its table [m]
PLACES: dict[tuple[str, str], tuple[str, tuple[float, float], float, float]] = {
    ("pendulum", "Pendulum"): ("pendulum", (0.2, -1.95), 90.0, 0.0),
    ("so101", "SO101"): ("SO-101", (0.3, -1.5), 55.0, 0.54),
    ("unitree_go1", "Go1"): ("Unitree Go1", (0.3, -0.9), 38.0, 0.0),
    ("franka_panda", "Panda"): ("Franka Panda", (-0.1, -0.28), 0.0, 0.0),
    ("unitree_g1", "G1"): ("Unitree G1", (-0.1, 0.35), -12.0, 0.0),
    ("anymal_c", "Anymal"): ("ANYmal C", (-0.1, 1.12), -35.0, 0.0),
    ("i2rt_yam", "Yam"): ("i2rt YAM", (0.2, 1.88), -62.0, 0.5),
    ("arm_2dof", "Arm"): ("arm_2dof", (-0.1, 2.4), 55.0, 0.0),
}
LOOKAT, DISTANCE, AZIMUTH, ELEVATION = np.array([0.0, 0.27, 0.56]), 2.6, 180.0, -8.0
# field of view of MuJoCo's camera [deg]
FOVY = 45.0
TABLE_COLOR, TABLE_RADIUS = (0.70, 0.73, 0.77), 0.15
# supersampling factor, for smooth edges
FINER = 2


def room() -> Usd.Stage:
    """Return a stage that references all robot files."""
    stage = new_stage("The robots in one room.")
    for (file, root), (_, (x, y), turn, height) in PLACES.items():
        place = UsdGeom.Xform.Define(stage, f"/World/{root}")
        place.GetPrim().GetReferences().AddReference(str(FOLDER / f"{file}.usda"), f"/World/{root}")
        place.ClearXformOpOrder()
        place.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble, "place").Set(Gf.Vec3d(x, y, height))
        place.AddRotateZOp(UsdGeom.XformOp.PrecisionFloat, "place").Set(turn)
        if height:
            table = UsdGeom.Cylinder.Define(stage, f"/World/{root}_table")
            table.CreateDisplayColorAttr([Gf.Vec3f(TABLE_COLOR)])
            table.CreateRadiusAttr(TABLE_RADIUS)
            table.CreateHeightAttr(height)
            table.AddTranslateOp().Set(Gf.Vec3d(x, y, height / 2))
    # feet stand on it
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Plane.Define(stage, "/World/floor").GetPrim())
    return stage


def seen_at(point: np.ndarray) -> tuple[float, float]:
    """Return the pixel position of a point."""
    turn, tilt = np.radians([AZIMUTH, ELEVATION])
    ahead = np.array([np.cos(tilt) * np.cos(turn), np.cos(tilt) * np.sin(turn), np.sin(tilt)])
    right = np.array([np.sin(turn), -np.cos(turn), 0.0])
    away = point - (LOOKAT - DISTANCE * ahead)
    scale = SIZE[1] / 2 / np.tan(np.radians(FOVY) / 2) / (away @ ahead)
    return SIZE[0] / 2 + scale * (away @ right), SIZE[1] / 2 - scale * (away @ np.cross(right, ahead))


def draw() -> Image.Image:
    """Return the picture after one second of simulation with actuators."""
    with Simulation(room()) as sim:
        _actuators = [ArticulationActuators(f"/World/{root}") for _, root in PLACES]
        sim.play()
        sim.step(240)
        camera: dict[str, Any] = {"lookat": LOOKAT, "distance": DISTANCE, "azimuth": AZIMUTH, "elevation": ELEVATION}
        drawn = sim.render(SIZE[0] * FINER, SIZE[1] * FINER, **camera)
    picture = Image.fromarray(drawn).resize(SIZE, Image.Resampling.LANCZOS)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(22)
    for name, (x, y), _, _ in PLACES.values():
        across, down = seen_at(np.array([max(x, 0.3), y, 0.0]))
        pen.text((across, down + 48), name, fill=(40, 50, 60), font=font, anchor="mm")
    return picture


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "robots.png"
    draw().save(where, optimize=True)
    print(where)
