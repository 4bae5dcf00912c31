"""Masses are those that USD's own computation finds, and those of the closed forms."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Body
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from small_stages import SmallStage, quaternion

# USD computes in single precision
SINGLE = 2e-5
KINDS = ("Sphere", "Cube", "Capsule", "Cylinder", "Mesh")
# corners and faces of a box of size 2
CORNERS = list(itertools.product((-1.0, 1.0), repeat=3))
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
# mass, center of mass and inertia about it per unit of density
Solid = tuple[float, np.ndarray, np.ndarray]


def solid(kind: str, a: float, b: float, c: float) -> Solid:
    """Closed forms with the axis along z: radius a and height b of round shapes, half extents of others.

    Source: Goldstein, Classical Mechanics; the center of mass of a half sphere of a capsule is 3/8 r from its middle.
    """
    if kind == "Sphere":
        volume = 4 / 3 * math.pi * a**3
        return volume, np.zeros(3), 0.4 * volume * a**2 * np.eye(3)
    if kind == "Cylinder":
        volume = math.pi * a**2 * b
        side = volume * (3 * a**2 + b**2) / 12
        return volume, np.zeros(3), np.diag([side, side, volume * a**2 / 2])
    if kind == "Capsule":
        tube, cap = math.pi * a**2 * b, 2 / 3 * math.pi * a**3
        # a half sphere about its center of mass, by the parallel axis theorem
        about = 0.4 * cap * a**2 - cap * (3 / 8 * a) ** 2
        side = tube * (3 * a**2 + b**2) / 12 + 2 * (about + cap * (b / 2 + 3 / 8 * a) ** 2)
        return tube + 2 * cap, np.zeros(3), np.diag([side, side, tube * a**2 / 2 + 0.8 * cap * a**2])
    volume = 8 * a * b * c
    return volume, np.zeros(3), volume / 3 * np.diag([b**2 + c**2, a**2 + c**2, a**2 + b**2])


def one_body(stage: Usd.Stage) -> Body:
    (body,) = read_scene(stage).bodies
    return body


class Randomly:
    """A body with random colliders and random authored values, on a stage with any units."""

    def __init__(self, rng: np.random.Generator, length: float = 1.0, mass: float = 1.0) -> None:
        self.rng, self.length, self.mass = rng, length, mass
        self.made = SmallStage()
        UsdGeom.SetStageMetersPerUnit(self.made.stage, length)
        UsdPhysics.SetStageKilogramsPerUnit(self.made.stage, mass)
        self.body = UsdGeom.Xform.Define(self.made.stage, "/World/body").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(self.body)
        self.place(self.body)
        self.solids: dict[str, UsdPhysics.RigidBodyAPI.MassInformation] = {}

    def number(self, unit: float = 1.0) -> float:
        return float(self.rng.uniform(0.1, 0.4)) / unit

    def vector(self, unit: float = 1.0) -> list[float]:
        return (self.rng.uniform(-0.5, 0.5, 3) / unit).tolist()

    def turn(self) -> Gf.Quatf:
        return quaternion(self.rng.normal(size=3).tolist(), float(self.rng.uniform(-180, 180)))

    def place(self, prim: Usd.Prim) -> tuple[Gf.Vec3f, Gf.Quatf]:
        xform, place, turn = UsdGeom.Xformable(prim), self.vector(self.length), self.turn()
        xform.AddTranslateOp().Set(Gf.Vec3d(*place))
        xform.AddOrientOp().Set(turn)
        return Gf.Vec3f(*place), turn

    def author(self, prim: Usd.Prim, what: Sequence[str]) -> None:
        """Of `mass`, `density`, `com` and `inertia` those that are named, and axes with the inertia."""
        properties = UsdPhysics.MassAPI.Apply(prim)
        if "mass" in what:
            properties.CreateMassAttr(self.number(self.mass))
        if "density" in what:
            properties.CreateDensityAttr(2000 * self.number(self.mass / self.length**3))
        if "com" in what:
            properties.CreateCenterOfMassAttr(Gf.Vec3f(*self.vector(self.length)))
        if "inertia" in what:
            moments = self.rng.uniform(0.02, 0.03, 3) / (self.mass * self.length**2)
            properties.CreateDiagonalInertiaAttr(Gf.Vec3f(*moments.tolist()))
            # USD would take the principal axes of the colliders
            properties.CreatePrincipalAxesAttr(self.turn())

    def collider(self, kind: str, number: int) -> Usd.Prim:
        a, b, c = (self.number(self.length) for _ in range(3))
        path, made = f"/World/body/g{number}", self.made
        if kind == "Mesh":
            prim = made.mesh(path, [(a * x, b * y, c * z) for x, y, z in CORNERS], SIDES)
        else:
            values = {"Cube": {"size": 2.0}, "Sphere": {"radius": a}}.get(
                kind, {"radius": a, "height": b, "axis": "XYZ"[number % 3]}
            )
            prim = made.shape(path, kind, **values)
        place, turn = self.place(prim)
        if kind == "Cube":
            UsdGeom.Xformable(prim).AddScaleOp().Set(Gf.Vec3f(a, b, c))
        volume, com, inertia = solid(kind, a, b, c)
        if kind in ("Capsule", "Cylinder"):
            # its own axis is x, y or z
            inertia = np.roll(inertia, number % 3 + 1, axis=(0, 1))
        info = UsdPhysics.RigidBodyAPI.MassInformation()
        info.volume, info.centerOfMass, info.localPos, info.localRot = volume, Gf.Vec3f(*com.tolist()), place, turn
        info.inertia = Gf.Matrix3f(*inertia.ravel().tolist())
        self.solids[path] = info
        return prim

    def material(self, prim: Usd.Prim, number: int) -> None:
        material = UsdShade.Material.Define(self.made.stage, f"/World/material{number}")
        api = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
        api.CreateDensityAttr(2000 * self.number(self.mass / self.length**3))
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(material, UsdShade.Tokens.weakerThanDescendants, "physics")

    def expected(self) -> tuple[float, np.ndarray, np.ndarray]:
        api = UsdPhysics.RigidBodyAPI(self.body)
        mass, moments, com, axes = api.ComputeMassProperties(lambda prim: self.solids[str(prim.GetPath())])
        turn = np.array(Gf.Matrix3d(Gf.Quatd(axes).GetNormalized())).T
        inertia = turn @ np.diag(np.array(moments, float)) @ turn.T * self.mass * self.length**2
        return mass * self.mass, np.array(com, float) * self.length, inertia

    def check(self) -> None:
        body = one_body(self.made.stage)
        mass, com, inertia = self.expected()
        assert body.mass == pytest.approx(mass, rel=SINGLE)
        np.testing.assert_allclose(body.com, com, atol=SINGLE)
        np.testing.assert_allclose(body.inertia, inertia, rtol=0, atol=SINGLE * np.abs(inertia).max())


# every combination of what may be authored of a body
BODY = [
    *itertools.chain.from_iterable(itertools.combinations(("mass", "density", "com", "inertia"), n) for n in range(5))
]
COLLIDER = [(), ("mass",), ("density",), ("mass", "density"), ("mass", "com", "inertia"), ("density", "com")]


@pytest.mark.parametrize("what", BODY, ids="+".join)
@pytest.mark.filterwarnings("ignore:inertias that no body")
def test_what_is_authored_of_a_body_is_as_usd_has_it(what, rng) -> None:
    made = Randomly(rng)
    for number, kind in enumerate(KINDS):
        made.collider(kind, number)
    made.author(made.body, what)
    made.check()


@pytest.mark.parametrize("what", COLLIDER, ids="+".join)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_authored_of_a_collider_is_as_usd_has_it(kind, what, rng) -> None:
    made = Randomly(rng)
    made.author(made.collider(kind, 0), what)
    made.collider("Sphere", 1)
    made.check()


@pytest.mark.parametrize("units", [(1.0, 1.0), (0.01, 1.0), (1.0, 0.001), (0.01, 0.001)])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:inertias that no body")
def test_random_bodies_are_as_usd_has_them(seed, units) -> None:
    rng = np.random.default_rng(seed)
    made = Randomly(rng, *units)
    made.author(made.body, BODY[rng.integers(len(BODY))])
    for number in range(rng.integers(1, 4)):
        prim = made.collider(KINDS[rng.integers(len(KINDS))], number)
        made.author(prim, COLLIDER[rng.integers(len(COLLIDER))])
        if rng.random() < 0.5:
            made.material(prim, number)
    made.check()


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_cone_is_that_of_the_closed_form(axis) -> None:
    """Volume π/3 r² h, center of mass h/4 above the base, 3/10 m r² about the axis; with 32 sides, within 1.3 %."""
    made = SmallStage()
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Xform.Define(made.stage, "/World/body").GetPrim())
    made.shape("/World/body/g", "Cone", radius=0.3, height=0.8, axis=axis)
    body, along = one_body(made.stage), "XYZ".index(axis)
    mass = 1000 * math.pi / 3 * 0.3**2 * 0.8
    assert 0.987 * mass < body.mass < mass
    np.testing.assert_allclose(body.com, -0.2 * np.eye(3)[along], atol=1e-6)
    moments = np.full(3, 3 / 20 * 0.3**2 + 3 / 80 * 0.8**2)
    moments[along] = 3 / 10 * 0.3**2
    np.testing.assert_allclose(body.inertia / body.mass, np.diag(moments), atol=0.013 * moments.max())


@pytest.mark.parametrize("order", [1, -1])
def test_mesh_is_a_solid_however_its_faces_are_wound(order) -> None:
    """A corner of a cube: volume a³/6, center of mass at a/4, variance of each coordinate 3/80 a²."""
    made = SmallStage()
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Xform.Define(made.stage, "/World/body").GetPrim())
    points = 0.6 * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    made.mesh(
        "/World/body/g", points.tolist(), [side[::order] for side in ([0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3])]
    )
    body = one_body(made.stage)
    assert body.mass == pytest.approx(1000 * 0.6**3 / 6, rel=1e-6)
    np.testing.assert_allclose(body.com, np.full(3, 0.15), rtol=1e-6)
    expected = 0.36 * body.mass / 80 * (np.ones((3, 3)) + 5 * np.eye(3))
    np.testing.assert_allclose(body.inertia, expected, rtol=1e-5)


def test_mass_of_nothing_is_not_authored() -> None:
    made = SmallStage()
    made.body("/World/body", mass=0.0).RemoveProperty("physics:diagonalInertia")
    made.shape("/World/body/g", "Cube", size=0.2)
    body = one_body(made.stage)
    assert body.mass == pytest.approx(8.0, rel=1e-6)
    np.testing.assert_allclose(body.inertia, 8 * 0.04 / 6 * np.eye(3), rtol=1e-6)


@pytest.mark.parametrize(("name", "value"), [("mass", -1.0), ("mass", math.nan), ("density", -5.0)])
def test_mass_that_cannot_be_is_named(name, value) -> None:
    made = SmallStage()
    made.body("/World/body")
    made.attribute("/World/body", f"physics:{name}", value)
    made.shape("/World/body/g", "Cube", size=0.2)
    with pytest.raises(UnsupportedSceneError, match=rf"</World/body>.physics:{name} = {value:g}: must be a finite"):
        read_scene(made.stage)


def test_mass_without_a_shape_is_a_sphere() -> None:
    made = SmallStage()
    made.body("/World/body", mass=3.0, com=(0.1, 0, 0)).RemoveProperty("physics:diagonalInertia")
    np.testing.assert_allclose(one_body(made.stage).inertia, 0.4 * 3 * 0.1**2 * np.eye(3), rtol=1e-6)


def test_inertia_of_newton_goes_before_a_diagonal_one() -> None:
    made = SmallStage()
    attribute = made.body("/World/body").CreateAttribute("newton:inertia", Sdf.ValueTypeNames.FloatArray)
    attribute.Set([0.3, 0.4, 0.5, 0.01, 0.02, 0.03])
    expected = [[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]]
    np.testing.assert_allclose(one_body(made.stage).inertia, expected, rtol=1e-6)


def test_density_of_a_body_goes_before_that_of_its_material() -> None:
    made = SmallStage()
    body = UsdGeom.Xform.Define(made.stage, "/World/body").GetPrim()
    UsdPhysics.RigidBodyAPI.Apply(body)
    ball = made.shape("/World/body/ball", "Cube", size=1.0)
    assert one_body(made.stage).mass == pytest.approx(1000.0)
    material = UsdShade.Material.Define(made.stage, "/World/steel")
    UsdPhysics.MaterialAPI.Apply(material.GetPrim()).CreateDensityAttr(8000.0)
    UsdShade.MaterialBindingAPI.Apply(ball).Bind(material, materialPurpose="physics")
    assert one_body(made.stage).mass == pytest.approx(8000.0)
    UsdPhysics.MassAPI.Apply(body).CreateDensityAttr(500.0)
    assert one_body(made.stage).mass == pytest.approx(500.0)


def test_centre_of_mass_is_scaled_with_its_body() -> None:
    made = SmallStage()
    UsdGeom.Xformable(made.body("/World/body", com=(1, 1, 1))).AddScaleOp().Set(Gf.Vec3d(2, 3, 4))
    np.testing.assert_allclose(one_body(made.stage).com, (2, 3, 4), rtol=1e-6)
