"""Shapes have the same extents in MuJoCo as on the stage, scaled, turned or mirrored; broken ones are named."""

import math
from collections.abc import Sequence

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Shape
from pxr import Gf, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, quaternion

PATH = "/World/body/g"
# what is round and no primitive has 32 sides: within 1 - cos(π/32) of its radius
SIDES = 1 - math.cos(math.pi / 32)
PYRAMID = [(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0), (0, 0, 2)]
PYRAMID_FACES = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [3, 2, 1, 0]]


def the_shape(made: SmallStage) -> Shape:
    (shape,) = read_scene(made.stage).shapes
    return shape


def with_shape(kind: str, scale: Sequence[float] = (1, 1, 1), **values: object) -> SmallStage:
    made = SmallStage()
    made.body("/World/body", (1, 2, 3), turn=((1, 2, 3), 50))
    UsdGeom.Xformable(made.shape(PATH, kind, **values)).AddScaleOp().Set(Gf.Vec3f(*map(float, scale)))
    return made


def extents(made: SmallStage) -> np.ndarray:
    """How far the collider reaches along ±x, ±y, ±z of its body, by rays of MuJoCo through the body's origin."""
    model, _ = build_model(read_scene(made.stage), 0.001)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    body = data.body("/World/body")
    found = []
    for axis in body.xmat.reshape(3, 3).T:
        for side in (1, -1):
            hit = np.zeros(1, np.int32)
            far = mujoco.mj_ray(model, data, body.xpos + 10 * side * axis, -side * axis, None, 1, -1, hit, None)
            assert hit[0] >= 0, "the ray misses"
            found.append(10 - far)
    return np.array(found).reshape(3, 2)


def along(axis: str, length: tuple[float, float], across: float) -> np.ndarray:
    expected = np.full((3, 2), across)
    expected["XYZ".index(axis)] = length
    return expected


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
@cases(
    "kind, values, length, across",
    ("Capsule", {"radius": 0.2, "height": 0.6}, (0.5, 0.5), 0.2),
    ("Cylinder", {"radius": 0.2, "height": 0.6}, (0.3, 0.3), 0.2),
    ("Cone", {"radius": 0.2, "height": 0.6}, (0.3, 0.3), 0.1),
    ("Cylinder_1", {"radiusBottom": 0.4, "radiusTop": 0.2, "height": 0.6}, (0.3, 0.3), 0.3),
    ("Capsule_1", {"radiusBottom": 0.4, "radiusTop": 0.2, "height": 0.6}, (0.5, 0.7), 0.3),
)
def test_round_shapes_reach_as_far(axis, kind, values, length, across) -> None:
    found = extents(with_shape(kind, axis=axis, **values))
    np.testing.assert_allclose(found, along(axis, length, across), rtol=SIDES + 1e-5)


@pytest.mark.parametrize("scale", [(2, 3, 0.5), (-2, 3, 0.5), (2, -3, -0.5), (-2, -3, -0.5)])
@cases(
    "kind, values, half",
    ("Cube", {"size": 0.4}, (0.4, 0.6, 0.1)),
    ("Sphere", {"radius": 0.2}, (0.4, 0.6, 0.1)),
    ("Cylinder", {"radius": 0.2, "height": 0.4}, (0.4, 0.6, 0.1)),
    ("Cylinder", {"radius": 0.2, "height": 0.4, "axis": "X"}, (0.4, 0.6, 0.1)),
)
def test_uneven_and_mirrored_scales_act(scale, kind, values, half) -> None:
    made = with_shape(kind, scale, **values)
    np.testing.assert_allclose(extents(made), np.repeat(np.array(half)[:, None], 2, 1), rtol=SIDES + 1e-5)
    assert the_shape(made).kind == {"Cube": "BOX", "Sphere": "ELLIPSOID", "Cylinder": "MESH"}[kind]


@cases(
    "kind, scale, found, size",
    ("Sphere", (2, 2, -2), "SPHERE", (0.4,)),
    ("Cylinder", (2, -2, 3), "CYLINDER", (0.4, 0.75)),
    ("Capsule", (2, 2, 3), "CAPSULE", (0.4, 0.75)),
)
def test_even_scales_keep_the_primitive(kind, scale, found, size) -> None:
    values = {"radius": 0.2} | ({} if kind == "Sphere" else {"height": 0.5})
    shape = the_shape(with_shape(kind, scale, **values))
    assert (shape.kind, tuple(shape.size[: len(size)])) == (found, pytest.approx(size))


def test_flat_scale_has_no_shape() -> None:
    refused(UnsupportedSceneError, lambda: read_scene(with_shape("Cube", (1, 1, 0)).stage), rf"<{PATH}> \(Cube\)")


def pyramid(*, left_handed: bool = False, scale: Sequence[float] = (1, 1, 1)) -> SmallStage:
    made = SmallStage()
    made.body("/World/body", mass=0.0, inertia=(0, 0, 0), com=(-math.inf,) * 3)
    faces = [face[::-1] if left_handed else face for face in PYRAMID_FACES]
    mesh = UsdGeom.Mesh(made.mesh(PATH, PYRAMID, faces))
    if left_handed:
        mesh.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
    UsdGeom.Xformable(mesh).AddScaleOp().Set(Gf.Vec3f(*map(float, scale)))
    return made


@pytest.mark.parametrize("left_handed", [False, True])
@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (1, 1, -1)])
def test_polygons_become_triangles(left_handed, scale) -> None:
    made = pyramid(left_handed=left_handed, scale=scale)
    scene = read_scene(made.stage)
    (shape,) = scene.shapes
    assert shape.vertices is not None and shape.faces is not None and shape.faces.shape == (6, 3)
    edges = np.sort(np.concatenate([shape.faces[:, [0, 1]], shape.faces[:, [1, 2]], shape.faces[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert scene.bodies[0].mass == pytest.approx(8000 / 3, rel=1e-6)
    np.testing.assert_allclose(scene.bodies[0].com, (0, 0, 0.5 * scale[2]), atol=1e-6)
    build_model(scene, 0.001)


BROKEN = {
    "no points": ([], [[0, 1, 2]]),
    "no faces": (PYRAMID, []),
    "corner that is not there": (PYRAMID, [[0, 1, 9]]),
    "negative corner": (PYRAMID, [[0, 1, -1]]),
    "not a number": ([*PYRAMID[:4], (0, 0, math.nan)], PYRAMID_FACES),
    "infinite": ([*PYRAMID[:4], (0, 0, math.inf)], PYRAMID_FACES),
    "faces of two corners": (PYRAMID, [[0, 1], [2, 3]]),
}


@pytest.mark.parametrize(("points", "faces"), BROKEN.values(), ids=list(BROKEN))
def test_broken_mesh_is_named(points, faces) -> None:
    made = SmallStage()
    made.body("/World/body")
    made.mesh(PATH, points, faces)
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), rf"collision shapes MuJoCo lacks: <{PATH}> \(Mesh\)")


def test_mesh_whose_counts_do_not_fit_is_named() -> None:
    made = pyramid()
    UsdGeom.Mesh(made.stage.GetPrimAtPath(PATH)).GetFaceVertexCountsAttr().Set([3, 3, 3, 3, 3])
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), rf"<{PATH}> \(Mesh\)")


def test_flat_mesh_is_left_out_with_a_warning() -> None:
    made = with_shape("Cube", size=0.2)
    made.mesh("/World/body/flat", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [[0, 1, 2, 3]])
    with pytest.warns(UserWarning, match="collision meshes that span no volume do not collide: </World/body/flat>"):
        scene = read_scene(made.stage)
    assert [shape.path for shape in scene.shapes] == [PATH]


@cases(
    "approximation, kind, size, position",
    ("boundingCube", "BOX", (1, 1, 1), (0, 0, 1)),
    ("boundingSphere", "SPHERE", (math.sqrt(3), 0, 0), (0, 0, 1)),
    ("convexHull", "MESH", (0, 0, 0), (0, 0, 0)),
    ("none", "MESH", (0, 0, 0), (0, 0, 0)),
)
def test_mesh_may_be_approximated(approximation, kind, size, position) -> None:
    made = pyramid()
    UsdPhysics.MeshCollisionAPI.Apply(made.stage.GetPrimAtPath(PATH)).CreateApproximationAttr(approximation)
    shape = the_shape(made)
    assert shape.kind == kind
    np.testing.assert_allclose(shape.size, size, rtol=1e-6)
    np.testing.assert_allclose(shape.position, position, atol=1e-6)


def test_hollow_mesh_collides_as_its_hull_with_a_warning() -> None:
    made = SmallStage()
    made.body("/World/body")
    faces = [*PYRAMID_FACES[:4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]]
    prim = made.mesh(PATH, [*PYRAMID, (0, 0, 0.5)], faces)
    UsdPhysics.MeshCollisionAPI.Apply(prim).CreateApproximationAttr("none")
    with pytest.warns(UserWarning, match=rf"not convex collide as their convex hull: {PATH}\."):
        read_scene(made.stage)


def test_turned_collider_stands_where_it_is() -> None:
    made = with_shape("Cube", size=0.2)
    xform = UsdGeom.Xformable(made.stage.GetPrimAtPath(PATH))
    xform.ClearXformOpOrder()
    xform.AddOrientOp().Set(quaternion((0, 0, 1), 45))
    reach = 0.1 * math.sqrt(2)
    np.testing.assert_allclose(extents(made), [(reach, reach), (reach, reach), (0.1, 0.1)], rtol=1e-4)


@pytest.mark.parametrize("mirror", [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)])
def test_mirrored_collider_keeps_its_axes(mirror) -> None:
    made = SmallStage()
    made.body("/World/body")
    xform, turn = UsdGeom.Xformable(made.shape(PATH, "Cube", size=0.2)), quaternion((1, 2, 3), 40)
    xform.AddOrientOp().Set(turn)
    xform.AddScaleOp().Set(Gf.Vec3f(*map(float, mirror)))
    found = np.array(Gf.Matrix3d(Gf.Quatd(*the_shape(made).quaternion.tolist())))
    np.testing.assert_allclose(np.abs(found @ np.array(Gf.Matrix3d(Gf.Quatd(turn))).T), np.eye(3), atol=1e-6)
