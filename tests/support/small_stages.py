"""Stages written in a few lines: rigid bodies, joints, colliders; metres, and degrees as in USD."""

from collections.abc import Sequence
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

# turns +Z up into the up axis
UP = {"Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


class SmallStage:
    """A stage below `/World` with a physics scene and nothing else."""

    def __init__(self, up: str = "Z") -> None:
        self.stage = Usd.Stage.CreateInMemory()
        UsdGeom.SetStageUpAxis(self.stage, up)
        UsdGeom.SetStageMetersPerUnit(self.stage, 1.0)
        UsdGeom.Xform.Define(self.stage, "/World")
        UsdPhysics.Scene.Define(self.stage, "/World/physicsScene")

    def root(self, path: str) -> Usd.Prim:
        prim = UsdGeom.Xform.Define(self.stage, path).GetPrim()
        UsdPhysics.ArticulationRootAPI.Apply(prim)
        return prim

    def body(
        self,
        path: str,
        position: Sequence[float] = (0, 0, 0),
        *,
        turn: tuple[Sequence[float], float] | None = None,
        mass: float = 1.0,
        com: Sequence[float] = (0, 0, 0),
        inertia: Sequence[float] = (0.01, 0.01, 0.01),
    ) -> Usd.Prim:
        xform = UsdGeom.Xform.Define(self.stage, path)
        xform.AddTranslateOp().Set(Gf.Vec3d(*map(float, position)))
        if turn is not None:
            xform.AddOrientOp().Set(quaternion(*turn))
        prim = xform.GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(prim)
        properties = UsdPhysics.MassAPI.Apply(prim)
        properties.CreateMassAttr(float(mass))
        properties.CreateCenterOfMassAttr(Gf.Vec3f(*map(float, com)))
        properties.CreateDiagonalInertiaAttr(Gf.Vec3f(*map(float, inertia)))
        return prim

    def joint(
        self,
        path: str,
        kind: str,
        parent: str | None,
        child: str,
        *,
        axis: str | None = "Y",
        at: Sequence[float] = (0, 0, 0),
        in_child: Sequence[float] = (0, 0, 0),
        turn: tuple[Sequence[float], float] = ((1, 0, 0), 0),
        turn_in_child: tuple[Sequence[float], float] = ((1, 0, 0), 0),
        limits: tuple[float | None, float | None] = (None, None),
    ) -> Usd.Prim:
        prim = self.stage.DefinePrim(path, f"Physics{kind}Joint")
        joint = UsdPhysics.Joint(prim)
        if parent is not None:
            joint.CreateBody0Rel().SetTargets([parent])
        joint.CreateBody1Rel().SetTargets([child])
        joint.CreateLocalPos0Attr(Gf.Vec3f(*map(float, at)))
        joint.CreateLocalPos1Attr(Gf.Vec3f(*map(float, in_child)))
        joint.CreateLocalRot0Attr(quaternion(*turn))
        joint.CreateLocalRot1Attr(quaternion(*turn_in_child))
        if kind in ("Revolute", "Prismatic"):
            prim.GetAttribute("physics:axis").Set(axis)
            for name, value in zip(("lowerLimit", "upperLimit"), limits, strict=True):
                if value is not None:
                    prim.GetAttribute(f"physics:{name}").Set(float(value))
        return prim

    def drive(self, path: str, kind: str = "angular", **values: float | str) -> UsdPhysics.DriveAPI:
        """A drive on a joint; values by their USD names: stiffness, damping, maxForce, targetPosition, type …"""
        drive = UsdPhysics.DriveAPI.Apply(self.stage.GetPrimAtPath(path), kind)
        for name, value in values.items():
            getattr(drive, f"Create{name[0].upper()}{name[1:]}Attr")(value)
        return drive

    def state(self, path: str, kind: str = "angular", *, position: float = 0.0, velocity: float = 0.0) -> None:
        self.stage.GetPrimAtPath(path).AddAppliedSchema(f"PhysicsJointStateAPI:{kind}")
        for name, value in (("position", position), ("velocity", velocity)):
            self.attribute(path, f"state:{kind}:physics:{name}", float(value))

    def attribute(self, path: str, name: str, value: bool | float) -> None:
        kind = Sdf.ValueTypeNames.Bool if isinstance(value, bool) else Sdf.ValueTypeNames.Float
        self.stage.GetPrimAtPath(path).CreateAttribute(name, kind).Set(value)

    def shape(self, path: str, kind: str, *, collides: bool = True, **values: object) -> Usd.Prim:
        """A geometry prim; values by their USD names: size, radius, height, axis …"""
        prim = self.stage.DefinePrim(path, kind)
        for name, value in values.items():
            prim.GetAttribute(name).Set(value)
        if collides:
            UsdPhysics.CollisionAPI.Apply(prim)
        return prim

    def mesh(
        self, path: str, points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]], *, collides: bool = True
    ) -> Usd.Prim:
        prim = self.shape(path, "Mesh", collides=collides)
        mesh = UsdGeom.Mesh(prim)
        mesh.CreatePointsAttr([Gf.Vec3f(*map(float, point)) for point in points])
        mesh.CreateFaceVertexCountsAttr([len(face) for face in faces])
        mesh.CreateFaceVertexIndicesAttr([index for face in faces for index in face])
        return prim

    def ground(self, path: str = "/World/ground") -> Usd.Prim:
        """An infinite plane through the origin, across the up axis."""
        return self.shape(path, "Plane", axis=str(UsdGeom.GetStageUpAxis(self.stage)))

    def reference(self, path: str, file: Path, prim: str, position: Sequence[float] = (0, 0, 0)) -> None:
        xform = UsdGeom.Xform.Define(self.stage, path)
        xform.GetPrim().GetReferences().AddReference(str(file), prim)
        xform.ClearXformOpOrder()
        xform.AddTranslateOp().Set(Gf.Vec3d(*map(float, position)))


def quaternion(axis: Sequence[float], degrees: float) -> Gf.Quatf:
    return Gf.Quatf(Gf.Rotation(Gf.Vec3d(*map(float, axis)), float(degrees)).GetQuat())


def weightless(made: SmallStage) -> SmallStage:
    UsdPhysics.Scene(made.stage.GetPrimAtPath("/World/physicsScene")).CreateGravityMagnitudeAttr(0.0)
    return made


def pendulum(**joint: object) -> SmallStage:
    """A hinge about +Y with 1 kg 0.5 m below, 0.26 kg m², and overrides for `SmallStage.joint`."""
    made = SmallStage()
    made.root("/World/Robot")
    made.body("/World/Robot/base")
    made.body("/World/Robot/bob", com=(0, 0, -0.5))
    made.joint("/World/Robot/fix", "Fixed", None, "/World/Robot/base")
    kind = str(joint.pop("kind", "Revolute"))
    made.joint("/World/Robot/hinge", kind, "/World/Robot/base", "/World/Robot/bob", **joint)
    return made


def many_axes() -> SmallStage:
    made = SmallStage()
    made.root("/World/Robot")
    for i, name in enumerate(("base", "ball", "slide")):
        made.body(f"/World/Robot/{name}", (0, 0, 5 - i / 2), com=(0.1, 0.05, -0.2), inertia=(0.02, 0.03, 0.04))
    made.joint("/World/Robot/fix", "Fixed", None, "/World/Robot/base", at=(0, 0, 5))
    joint = made.joint("/World/Robot/gimbal", "", "/World/Robot/base", "/World/Robot/ball", at=(0, 0, -0.5))
    for axis in ("rotX", "rotY", "rotZ", "transX", "transY", "transZ"):
        # an axis whose lower limit is above its upper one is locked
        low, high = (-100.0, 100.0) if axis in ("rotX", "rotZ") else (1.0, -1.0)
        limit = UsdPhysics.LimitAPI.Apply(joint, axis)
        limit.CreateLowAttr(low)
        limit.CreateHighAttr(high)
    made.joint("/World/Robot/rail", "Prismatic", "/World/Robot/ball", "/World/Robot/slide", at=(0, 0, -0.5))
    for path, kind in (("/World/Robot/gimbal", "rotZ"), ("/World/Robot/rail", "linear")):
        made.drive(path, kind, stiffness=0.5, damping=0.005, targetPosition=0.1)
    return made


def two_robots(file: Path, prim: str, apart: float = 3.0) -> Usd.Stage:
    """One file referenced twice into one stage, at `/World/Left` and `/World/Right`."""
    made = SmallStage()
    made.reference("/World/Left", file, prim)
    made.reference("/World/Right", file, prim, (0, apart, 0))
    return made.stage


def wrist() -> SmallStage:
    """A robot `/World/Arm` whose generic joint `wrist` turns about Y and Z: two axes."""
    made = SmallStage()
    made.root("/World/Arm")
    for name in ("base", "tip"):
        made.body(f"/World/Arm/{name}")
    made.joint("/World/Arm/wrist", "", "/World/Arm/base", "/World/Arm/tip")
    for axis in ("transX", "transY", "transZ", "rotX"):
        made.attribute("/World/Arm/wrist", f"limit:{axis}:physics:low", 1.0)
        made.attribute("/World/Arm/wrist", f"limit:{axis}:physics:high", -1.0)
    return made
