"""The robots of other people move under their own motors, and say where they come from."""

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation, motors_of
from pxr import Usd, UsdGeom, UsdPhysics

FOLDER = Path(__file__).resolve().parents[2] / "data" / "robots"
# file: root prim, mass that the original authors [kg], driven joints, triangles at least
ROBOTS = {
    "unitree_go1": ("/World/Go1", 12.743444, 12, 10_000),
    "unitree_g1": ("/World/G1", 33.341142, 29, 10_000),
    "i2rt_yam": ("/World/Yam", 3.640137, 7, 10_000),
    "so101": ("/World/SO101", 0.632006, 6, 10_000),
}
every_robot = pytest.mark.parametrize("robot", ROBOTS)


@every_robot
def test_motors_hold_and_move_it(robot) -> None:
    root, _, driven, _ = ROBOTS[robot]
    with Simulation(FOLDER / f"{robot}.usda") as sim:
        articulation = Articulation(root)
        actuators = ArticulationActuators(root)
        sim.play()
        lower, upper = (limit.numpy() for limit in articulation.get_dof_limits())
        start = articulation.get_dof_position_targets().numpy()
        height = articulation.get_world_poses()[0].numpy()[0, 2]
        # a little, for legs carry the robot meanwhile
        targets = np.clip(start + 0.05 * (upper - lower) * (robot in ("i2rt_yam", "so101")), lower, upper)
        if robot == "i2rt_yam":
            names = list(articulation.dof_names)
            targets[:, names.index("left_finger")] = -targets[:, names.index("right_finger")]
        articulation.set_dof_position_targets(targets)
        for _ in range(240):
            sim.step()
            positions = articulation.get_dof_positions().numpy()
            assert np.isfinite(positions).all()
            assert (positions > lower - 0.02).all() and (positions < upper + 0.02).all()
        assert len(actuators.actuated_dof_indices) == driven
        np.testing.assert_allclose(positions, targets, atol=0.12)
        assert articulation.get_world_poses()[0].numpy()[0, 2] == pytest.approx(height, abs=0.03)


def test_fingers_are_coupled() -> None:
    with Simulation(FOLDER / "i2rt_yam.usda") as sim:
        articulation = Articulation("/World/Yam")
        _actuators = ArticulationActuators("/World/Yam")
        sim.play()
        right, left = (list(articulation.dof_names).index(f"{side}_finger") for side in ("right", "left"))
        targets = articulation.get_dof_position_targets().numpy()
        targets[:, right] = -0.035
        articulation.set_dof_position_targets(targets)
        sim.step(360)
        positions = articulation.get_dof_positions().numpy()[0]
    assert positions[right] == pytest.approx(-0.035, abs=2e-3)
    assert positions[left] == pytest.approx(-positions[right], abs=1e-3)
    assert "left_finger" not in motors_of(FOLDER / "i2rt_yam.usda")


@every_robot
def test_it_says_where_it_comes_from(robot) -> None:
    stage = Usd.Stage.Open(str(FOLDER / f"{robot}.usda"))
    said = stage.GetRootLayer().documentation
    assert "Apache-2.0" in said or "BSD-3-Clause" in said
    assert f"`{robot}.usda`" in (FOLDER / "README.md").read_text()
    motors = [prim for prim in stage.Traverse() if prim.GetTypeName() == "NewtonActuator"]
    assert motors and all(prim.GetDocumentation() for prim in motors)


@every_robot
def test_it_is_light_and_whole(robot) -> None:
    root, mass, _, triangles = ROBOTS[robot]
    stage = Usd.Stage.Open(str(FOLDER / f"{robot}.usda"))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    roots = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert [str(prim.GetPath()) for prim in roots] == [root]
    links = [UsdPhysics.MassAPI(prim) for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
    assert sum(link.GetMassAttr().Get() for link in links) == pytest.approx(mass, abs=1e-5)
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    assert sum(len(mesh.GetFaceVertexCountsAttr().Get()) for mesh in meshes) > triangles
    assert sum(path.stat().st_size for path in FOLDER.glob(f"{robot}*.usd?")) < 1_500_000
