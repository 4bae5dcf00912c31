"""Tendons of MuJoCo on a stage: along joints, or through sites strand by strand; others are named and left out."""

import re

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Tendon
from pxr import Gf, Sdf, UsdGeom, Vt
from refusals import cases
from small_stages import SmallStage, pendulum

ROBOT = "/World/Robot"
HINGE, SLIDE, TENDON = f"{ROBOT}/hinge", f"{ROBOT}/slide", "/World/cord"
SITES = {
    "anchor": ("/World/anchor", (0.0, 0.0, 2.0)),
    "on_base": (f"{ROBOT}/base/on_base", (0.5, 0.0, 0.0)),
    "on_bob": (f"{ROBOT}/bob/on_bob", (0.25, 0.0, -1.0)),
}
KINDS = {
    str: Sdf.ValueTypeNames.Token,
    float: Sdf.ValueTypeNames.Double,
    list: Sdf.ValueTypeNames.DoubleArray,
    tuple: Sdf.ValueTypeNames.IntArray,
}


def robot(**hinge: object) -> SmallStage:
    made = pendulum(**hinge)
    made.body(f"{ROBOT}/foot")
    made.joint(SLIDE, "Prismatic", f"{ROBOT}/bob", f"{ROBOT}/foot", axis="X")
    for path, place in SITES.values():
        site = UsdGeom.Sphere.Define(made.stage, path)
        site.AddTranslateOp().Set(Gf.Vec3d(*place))
        site.GetPrim().AddAppliedSchema("MjcSiteAPI")
    return made


def tendon(made: SmallStage, targets: list[str], **values: object) -> None:
    prim = made.stage.DefinePrim(TENDON, "MjcTendon")
    prim.CreateRelationship("mjc:path").SetTargets(targets)
    for name, value in values.items():
        given = Vt.IntArray(value) if isinstance(value, tuple) else value
        prim.CreateAttribute(f"mjc:{name.replace('_', ':')}", KINDS[type(value)]).Set(given)


def fixed(made: SmallStage, **values: object) -> None:
    tendon(made, [HINGE, SLIDE], **({"type": "fixed", "path_indices": (1, 0), "path_coef": [2.0, -3.0]} | values))


def through(made: SmallStage, *sites: str, **values: object) -> None:
    targets = [SITES[site][0] for site in dict.fromkeys(sites)]
    indices = tuple(list(dict.fromkeys(sites)).index(site) for site in sites)
    tendon(made, targets, **({"path_indices": indices} | values))


def only(made: SmallStage) -> Tendon:
    (found,) = read_scene(made.stage).tendons
    return found


def length(made: SmallStage, hinge: float = 0.0, slide: float = 0.0) -> float:
    model, _ = build_model(read_scene(made.stage), 0.001)
    data = mujoco.MjData(model)
    for path, position in ((HINGE, hinge), (SLIDE, slide)):
        data.qpos[model.joint(path).qposadr[0]] = position
    mujoco.mj_forward(model, data)
    return float(data.ten_length[0])


def test_fixed_tendon_is_a_sum_of_positions() -> None:
    made = robot()
    fixed(made)
    found = only(made)
    assert found.name == TENDON
    terms = [(axis.joint, coefficient) for axis, coefficient in found.path]  # pyright: ignore[reportGeneralTypeIssues]
    assert terms == [(SLIDE, 2.0), (HINGE, -3.0)]
    assert length(made, hinge=0.5, slide=0.25) == pytest.approx(2.0 * 0.25 - 3.0 * 0.5)


def test_what_a_tendon_has_by_default() -> None:
    made = robot()
    fixed(made)
    found = only(made)
    nothing = {"stiffness": 0.0, "damping": 0.0, "frictionloss": 0.0, "armature": 0.0}
    assert (found.limits, found.rest, found.values, found.hardness) == (None, (-1.0, -1.0), nothing, {})


def test_what_a_tendon_has() -> None:
    made = robot()
    values = {"stiffness": 1.0, "damping": 2.0, "frictionloss": 3.0, "armature": 4.0}
    fixed(made, **values, springlength=[0.25, 0.5])
    found = only(made)
    assert found.values == values and found.rest == (0.25, 0.5)
    made = robot()
    fixed(made, springlength=[0.25])
    assert only(made).rest == (0.25, 0.25)


def test_friction_of_a_tendon_is_as_soft_as_it_says() -> None:
    made = robot()
    fixed(made, frictionloss=3.0, solreffriction=[0.03, 1.0])
    model, _ = build_model(read_scene(made.stage), 0.001)
    assert model.tendon_solref_fri[0].tolist() == [0.03, 1.0]
    assert model.tendon_solimp_fri[0].tolist() == [0.9, 0.95, 0.001, 0.5, 2.0]


@cases(
    "values, limits",
    ({"range_min": -1.0, "range_max": 2.0}, (-1.0, 2.0)),
    ({"range_min": -1.0, "range_max": 2.0, "limited": "auto"}, (-1.0, 2.0)),
    ({"range_min": -1.0, "range_max": 2.0, "limited": "true"}, (-1.0, 2.0)),
    ({"range_min": -1.0, "range_max": 2.0, "limited": "false"}, None),
    ({"range_min": 1.0, "range_max": 1.0}, None),
    ({"range_max": 1.0}, (0.0, 1.0)),
    ({"limited": "true"}, (0.0, 0.0)),
)
def test_limits_are_those_in_force(values, limits) -> None:
    made = robot()
    fixed(made, **values)
    assert only(made).limits == limits


def test_spatial_tendon_goes_through_points_of_bodies() -> None:
    made = robot()
    for link in ("base", "bob", "foot"):
        made.stage.GetPrimAtPath(f"{ROBOT}/{link}").GetAttribute("xformOp:translate").Set(Gf.Vec3d(0, 0, 1))
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.1)
    through(made, "anchor", "on_base", "on_bob")
    scene = read_scene(made.stage)
    (strand,) = scene.tendons[0].path
    names = [scene.bodies[body].path if body >= 0 else "world" for body, _ in strand]  # pyright: ignore
    assert names == ["world", f"{ROBOT}/base", f"{ROBOT}/bob"]
    points = [point for _, point in strand]  # pyright: ignore[reportGeneralTypeIssues]
    np.testing.assert_allclose(points, np.array([place for _, place in SITES.values()]) / 10, atol=1e-9)


def test_strands_are_told_by_their_segments() -> None:
    made = robot()
    through(made, "anchor", "on_base", "on_base", "on_bob", path_segments=(0, 0, 1, 1), path_divisors=[1.0, 1.0])
    strands = only(made).path
    assert [len(strand) for strand in strands] == [2, 2]
    points = {name: np.array(place) for name, (_, place) in SITES.items()}
    ways = (("anchor", "on_base"), ("on_base", "on_bob"))
    assert length(made) == pytest.approx(sum(np.linalg.norm(points[a] - points[b]) for a, b in ways))


def left_out() -> dict[str, SmallStage]:
    made = {why: robot() for why in ("coefficients", "elsewhere", "no site", "not there", "segments", "pulley", "none")}
    fixed(made["coefficients"], path_coef=[1.0])
    tendon(made["elsewhere"], [f"{ROBOT}/fix", "/World"], type="fixed", path_indices=(1,), path_coef=[1.0])
    made["no site"].shape("/World/ball", "Sphere", collides=False)
    tendon(made["no site"], [SITES["anchor"][0], "/World/ball"], path_indices=(0, 1))
    tendon(made["not there"], [SITES["anchor"][0], "/World/gone"], path_indices=(0, 1))
    through(made["segments"], "anchor", "on_bob", path_segments=(0,))
    through(made["pulley"], "anchor", "on_bob", path_divisors=[2.0])
    tendon(made["none"], [])
    made["axes"] = robot(kind="")
    fixed(made["axes"])
    return made


@cases("why", "coefficients", "elsewhere", "no site", "not there", "segments", "pulley", "none", "axes")
def test_other_tendons_are_left_out_by_name(why) -> None:
    with pytest.warns(UserWarning, match=rf"MjcTendon prims .* are left out: {re.escape(f'<{TENDON}>')}\. Open"):
        assert read_scene(left_out()[why].stage).tendons == []


def test_indices_beyond_the_path_name_nothing() -> None:
    made = robot()
    tendon(made, [HINGE], type="fixed", path_indices=(0, 1), path_coef=[2.0])
    assert len(only(made).path) == 1
