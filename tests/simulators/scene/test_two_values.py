"""Two attributes of a joint that mean the same: equal they are no finding, and else both are told."""

import math

import pytest
from isaacsim.core.experimental.actuators.files.usd.joint_properties import PROPERTIES, declared
from isaacsim.core.experimental.actuators.files.usd.mujoco_properties import OF_JOINT
from isaacsim.core.experimental.actuators.simulators.scene.two_values import two_values
from pxr import Gf, Sdf, UsdGeom, UsdPhysics
from refusals import cases
from small_stages import SmallStage, pendulum

HINGE = "/World/Robot/hinge"
AXES = [(HINGE, "angular")]


def synonyms() -> list[tuple[str, str, str]]:
    found = []
    for name, one in PROPERTIES.items():
        first, *others = one.on("angular")[0]
        found += [(name, first, other) for other in (*others, one.urdf, OF_JOINT.get(name, "")) if other]
    return found


def with_values(name: str, first: str, value: float, other: str, second: float) -> SmallStage:
    """A pendulum whose hinge has a number in both attributes, in SI; the stage is in metres."""
    made = pendulum()
    if schema := PROPERTIES[name].on("angular")[1]:
        made.stage.GetPrimAtPath(HINGE).AddAppliedSchema(schema)
    degrees = 1.0 if other.startswith(("urdf:", "mjc:")) else _scale(name)
    made.attribute(HINGE, first, value * _scale(name))
    made.attribute(HINGE, other, second * degrees)
    if other.startswith("urdf:limit:") and other.rpartition(":")[2] in ("lower", "upper"):
        beside = {"lower": ("upper", 9.0), "upper": ("lower", -9.0)}[other.rpartition(":")[2]]
        made.attribute(HINGE, f"urdf:limit:{beside[0]}", beside[1])
    return made


def _scale(name: str) -> float:
    known = PROPERTIES[name]
    return math.degrees(1.0) ** known.position if known.degrees else 1.0


@pytest.mark.parametrize(("name", "first", "other"), synonyms())
def test_attributes_that_differ_are_told_with_both_values(name, first, other) -> None:
    assert two_values(with_values(name, first, 0.5, other, 0.5).stage, AXES) == []
    made = with_values(name, first, 0.5, other, 0.75)
    (line,) = two_values(made.stage, AXES)
    assert line.startswith(f"<{HINGE}>.{first} = 0.5 and {other} = 0.75 (SI) mean the same and differ. ")
    assert next(iter(declared(made.stage, name, AXES[0]).values())) == pytest.approx(0.5)


def test_friction_of_other_programs_may_be_either_of_two() -> None:
    made = with_values("static_frictions", "physxJointAxis:angular:staticFrictionEffort", 0.5, "newton:friction", 0.25)
    made.attribute(HINGE, "physxJointAxis:angular:dynamicFrictionEffort", 0.25)
    assert two_values(made.stage, AXES) == []


@pytest.mark.parametrize("length", [1.0, 0.01])
@cases("kp, words", (100.0, ""), (50.0, "differ. "), (100.0 / math.degrees(1.0), "57.3 = 180/π"))
def test_drive_beside_an_actuator_of_mujoco(kp, words, length) -> None:
    made = pendulum()
    UsdGeom.SetStageMetersPerUnit(made.stage, length)
    unit = math.radians(1.0) / length**2
    made.drive(HINGE, stiffness=kp * unit, damping=kp / 100.0 * unit)
    prim = made.stage.DefinePrim("/World/servo", "MjcActuator")
    prim.CreateRelationship("mjc:target").SetTargets([HINGE])
    prim.CreateAttribute("mjc:biasType", Sdf.ValueTypeNames.Token).Set("affine")
    for name, values in (("gainPrm", [100.0]), ("biasPrm", [0.0, -100.0, -1.0])):
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray).Set(values)
    found = two_values(made.stage, AXES)
    assert len(found) == bool(words)
    assert all(
        words in line and f"stiffness {kp:g} " in line and "</World/servo>, with 100 and 1," in line for line in found
    )


def test_largest_efforts_of_a_drive_and_an_actuator_of_mujoco() -> None:
    made = pendulum()
    unit = math.radians(1.0)
    made.drive(HINGE, stiffness=100.0 * unit, damping=unit)
    made.attribute(HINGE, "drive:angular:physics:maxForce", 40.0)
    prim = made.stage.DefinePrim("/World/servo", "MjcActuator")
    prim.CreateRelationship("mjc:target").SetTargets([HINGE])
    prim.CreateAttribute("mjc:biasType", Sdf.ValueTypeNames.Token).Set("affine")
    for name, values in (("gainPrm", [100.0]), ("biasPrm", [0.0, -100.0, -1.0])):
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray).Set(values)
    for side, value in (("min", -40.0), ("max", 40.0)):
        prim.CreateAttribute(f"mjc:forceRange:{side}", Sdf.ValueTypeNames.Double).Set(value)
    assert two_values(made.stage, AXES) == []
    made.attribute(HINGE, "drive:angular:physics:maxForce", 30.0)
    (line,) = two_values(made.stage, AXES)
    assert "its drive, with a largest effort of 30, and MjcActuator </World/servo>, with 40, (SI) mean the same" in line


@cases(
    "schema, first, second, same, other",
    ("NewtonMimicAPI", "newton:mimicCoef1", "mjc:coef1", (0.5, 0.5), (0.5, 0.25)),
    ("NewtonMimicAPI", "newton:mimicCoef0", "mjc:coef0", (math.degrees(0.5), 0.5), (0.5, 0.5)),
    ("PhysxMimicJointAPI:rotX", "newton:mimicCoef1", "physxMimicJoint:rotX:gearing", (0.5, -0.5), (0.5, 0.5)),
)
def test_couplings(schema, first, second, same, other) -> None:
    for values, count in ((same, 0), (other, 1)):
        made = pendulum()
        made.stage.GetPrimAtPath(HINGE).AddAppliedSchema(schema)
        made.attribute(HINGE, first, values[0])
        made.attribute(HINGE, second, values[1])
        found = two_values(made.stage, AXES)
        assert len(found) == count
        assert all(line.startswith(f"<{HINGE}>.{first} = ") and second in line for line in found)


@pytest.mark.parametrize("length", [1.0, 0.01])
def test_inertias_of_a_link(length) -> None:
    made = pendulum()
    UsdGeom.SetStageMetersPerUnit(made.stage, length)
    link = made.stage.GetPrimAtPath("/World/Robot/bob")
    diagonal = Gf.Vec3f(0.1, 0.2, 0.3) / length**2
    mass = UsdPhysics.MassAPI.Apply(link)
    mass.CreateDiagonalInertiaAttr(diagonal)
    mass.CreatePrincipalAxesAttr(Gf.Quatf(math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))
    compact = link.CreateAttribute("newton:inertia", Sdf.ValueTypeNames.DoubleArray)
    turned = [value / length**2 for value in (0.2, 0.1, 0.3, 0.0, 0.0, 0.0)]
    compact.Set(turned)
    assert two_values(made.stage, AXES) == []
    compact.Set([*turned[:2], 2.0 * turned[2], *turned[3:]])
    (line,) = two_values(made.stage, AXES)
    assert line.startswith("</World/Robot/bob>.newton:inertia, zz = 0.6, and physics:diagonalInertia, zz = 0.3, (SI)")
