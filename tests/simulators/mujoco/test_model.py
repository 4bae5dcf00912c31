"""The MuJoCo model is the robot on the stage: equations of motion, limits, contacts, coupled joints."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from dynamics import Dynamics, Frame, rotation
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoHost
from physics_engines import qpos_of
from places import ROBOTS
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from small_stages import SmallStage, pendulum, quaternion, two_robots

DT = 1 / 240


def running(stage: Usd.Stage, num_envs: int = 1, dt: float = DT) -> MujocoHost:
    host = MujocoHost(stage, dt, num_envs)
    host.play()
    return host


def settle(host: MujocoHost, seconds: float) -> None:
    for _ in range(round(seconds / host.dt)):
        host.step()


def settled(stage: Usd.Stage, seconds: float, **options) -> MujocoHost:
    host = running(stage, **options)
    settle(host, seconds)
    return host


def free_pose(host: MujocoHost, path: str) -> np.ndarray:
    return qpos_of(host)[0, host.model.joint(f"{path}/freejoint").qposadr[0] :][:7].copy()


def height(host: MujocoHost, path: str) -> float:
    return float(host.data().body(path).xpos[2])


def gimbal() -> Usd.Stage:
    """A free body with a slider that carries a two-axis and then a three-axis joint, every frame askew."""
    made = SmallStage()
    made.root("/World/Robot")
    made.body("/World/Robot/hub", (0.3, -0.2, 2), mass=3, com=(0.1, 0.02, -0.03), inertia=(0.05, 0.06, 0.07))
    made.body("/World/Robot/cart", mass=1.5, com=(0, 0.1, 0), inertia=(0.02, 0.01, 0.015))
    made.body("/World/Robot/arm", mass=0.7, com=(0.2, 0, 0.05), inertia=(0.004, 0.006, 0.008))
    made.body("/World/Robot/hand", mass=0.4, com=(0.02, 0.03, 0.1), inertia=(0.002, 0.003, 0.0015))
    properties = UsdPhysics.MassAPI(made.stage.GetPrimAtPath("/World/Robot/arm"))
    properties.CreatePrincipalAxesAttr(quaternion((1, 1, 0), 40))
    made.joint(
        "/World/Robot/slide",
        "Prismatic",
        "/World/Robot/hub",
        "/World/Robot/cart",
        axis="X",
        at=(0.1, 0.2, 0.3),
        in_child=(0.05, 0, 0),
        turn=((0, 1, 1), 35),
        turn_in_child=((1, 0, 1), -50),
    )
    frames = {"at": (0, 0.1, 0.2), "in_child": (0, 0.02, -0.1)}
    frames |= {"turn": ((1, 2, 3), 70), "turn_in_child": ((0, 1, -1), 25)}
    for name, parent, child, locked in (
        ("shoulder", "cart", "arm", ["transX", "transY", "transZ", "rotY"]),
        ("wrist", "arm", "hand", ["transX", "transY", "transZ"]),
    ):
        prim = made.joint(f"/World/Robot/{name}", "", f"/World/Robot/{parent}", f"/World/Robot/{child}", **frames)
        for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
            limit = UsdPhysics.LimitAPI.Apply(prim, axis)
            reach = -1.0 if axis in locked else 170.0
            limit.CreateLowAttr(-reach)
            limit.CreateHighAttr(reach)
    return made.stage


STAGES = {
    "pendulum": lambda: Usd.Stage.Open(str(ROBOTS / "pendulum.usda")),
    "arm": lambda: Usd.Stage.Open(str(ROBOTS / "arm_2dof.usda")),
    "franka": lambda: Usd.Stage.Open(str(ROBOTS / "franka_panda.usda")),
    "anymal": lambda: Usd.Stage.Open(str(ROBOTS / "anymal_c.usda")),
    "two arms": lambda: two_robots(ROBOTS / "arm_2dof.usda", "/World/Arm"),
    "gimbal": gimbal,
}


def columns_of(host: MujocoHost, twin: Dynamics) -> list[int]:
    columns = []
    for path, kind in dict.fromkeys(twin.coordinates):
        if kind == "free":
            start = host.model.joint(f"{path}/freejoint").dofadr[0]
            columns += range(start, start + 6)
        else:
            several = sum(path == other for other, _ in twin.coordinates) > 1
            columns += list(host.model.joint(f"{path}:{kind}" if several else path).dofadr)
    return columns


@pytest.mark.filterwarnings("ignore:links are authored where their joints")
@pytest.mark.parametrize("name", STAGES)
def test_equations_of_motion_are_those_of_the_stage(name, rng) -> None:
    import mujoco

    stage = STAGES[name]()
    host, twin = MujocoHost(stage, DT, 1), Dynamics(stage)
    columns, data = columns_of(host, twin), mujoco.MjData(host.model)
    for _ in range(5):
        q, qd = rng.uniform(-1, 1, (2, len(columns)))
        bases = {}
        for path in {path for path, kind in twin.coordinates if kind == "free"}:
            turn = rng.uniform(-1, 1, 3)
            bases[path] = Frame(rotation(turn), rng.uniform(-1, 1, 3))
            address = host.model.joint(f"{path}/freejoint").qposadr[0]
            mujoco.mju_axisAngle2Quat(
                data.qpos[address + 3 : address + 7], turn / np.linalg.norm(turn), np.linalg.norm(turn)
            )
            data.qpos[address : address + 3] = bases[path].origin
        for column, (_, kind), value in zip(columns, twin.coordinates, q, strict=True):
            if kind != "free":
                data.qpos[host.model.jnt_qposadr[host.model.dof_jntid[column]]] = value
        data.qvel[columns] = qd
        mujoco.mj_forward(host.model, data)
        expected, bias = twin.equations(bases, q, qd)
        mass_matrix = np.array([_times_mass_matrix(host.model, data, row) for row in np.eye(host.model.nv)])
        # USD and newton keep single precision
        np.testing.assert_allclose(mass_matrix[np.ix_(columns, columns)], expected, atol=1e-6 * np.abs(expected).max())
        np.testing.assert_allclose(data.qfrc_bias[columns], bias, atol=1e-6 * np.abs(bias).max())


def _times_mass_matrix(model, data, vector: np.ndarray) -> np.ndarray:
    import mujoco

    result = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, result, vector)
    return result


@pytest.mark.filterwarnings("ignore:links are authored where their joints")
@pytest.mark.parametrize("name", ["arm", "franka", "anymal", "gimbal"])
def test_joints_are_in_breadth_first_order(name) -> None:
    stage = STAGES[name]()
    robot = MujocoHost(stage, DT, 1).robots()[0]
    expected = [path for path, kind in Dynamics(stage).coordinates if kind != "free"]
    assert list(robot.dof_paths) == expected


@pytest.mark.filterwarnings("ignore:joints begin outside their limits")
def test_masses_from_colliders_are_those_mujoco_computes() -> None:
    """The ant of newton's wheel against the MJCF file beside it, which has five times the density."""
    import mujoco
    import newton

    assets = Path(newton.__file__).parent / "examples" / "assets"
    model = MujocoHost(Usd.Stage.Open(str(assets / "ant.usda")), DT, 1).model
    other = mujoco.MjModel.from_xml_path(str(assets / "nv_ant.xml"))
    np.testing.assert_allclose(np.sort(5 * model.body_mass), np.sort(other.body_mass), rtol=1e-5)


def test_link_without_mass_adds_none() -> None:
    made = pendulum()
    without = Dynamics(made.stage).equations({}, np.zeros(1), np.zeros(1))[0]
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Xform.Define(made.stage, "/World/Robot/tool").GetPrim())
    made.shape("/World/Robot/tool/g", "Cube", collides=False, size=0.4)
    made.joint("/World/Robot/weld", "Fixed", "/World/Robot/bob", "/World/Robot/tool")
    host = running(made.stage)
    np.testing.assert_allclose(_times_mass_matrix(host.model, host.data(), np.ones(1)), without[0], rtol=1e-6)


def test_damping_of_the_joint_slows_it_down() -> None:
    """v(t) = v(0) · exp(−d t / I) without gravity; `newton:damping` is per degree."""
    made = pendulum()
    UsdPhysics.Scene(made.stage.GetPrimAtPath("/World/physicsScene")).CreateGravityMagnitudeAttr(0.0)
    made.attribute("/World/Robot/hinge", "newton:damping", np.pi / 180 * 0.26)
    made.state("/World/Robot/hinge", velocity=100.0)
    host = settled(made.stage, 1, dt=0.001)
    velocity = np.degrees(host.articulation("/World/Robot").get_dof_velocities().numpy()[0, 0])
    assert velocity == pytest.approx(100 * np.exp(-1), rel=2e-3)


@pytest.mark.parametrize(("effort", "moves"), [(0.4, False), (0.6, True)])
def test_friction_of_the_joint_holds_below_its_effort(effort, moves) -> None:
    made = pendulum()
    UsdPhysics.Scene(made.stage.GetPrimAtPath("/World/physicsScene")).CreateGravityMagnitudeAttr(0.0)
    made.attribute("/World/Robot/hinge", "newton:friction", 0.5)
    host = running(made.stage)
    robot = host.articulation("/World/Robot")
    for _ in range(240):
        robot.set_dof_efforts(effort)
        host.step()
    assert bool(abs(robot.get_dof_velocities().numpy()[0, 0]) > 0.1) is moves


@pytest.mark.filterwarnings("ignore:joints begin outside their limits")
@pytest.mark.parametrize(
    ("limits", "lower", "upper"),
    [((-30, 60), -30, 60), ((None, 45), -360000, 45), ((-45, None), -45, 360000), ((10, 20), 10, 20)],
)
def test_limits_stop_the_joint(limits, lower, upper) -> None:
    stage = pendulum(limits=limits).stage
    host = running(stage)
    robot = host.articulation("/World/Robot")
    reached = []
    for effort in (-20.0, 20.0):
        host.reset()
        for _ in range(480):
            robot.set_dof_efforts(effort)
            host.step()
        reached.append(np.degrees(robot.get_dof_positions().numpy()[0, 0]))
    for angle, limit in zip(reached, (lower, upper), strict=True):
        assert abs(angle) > 720 if abs(limit) > 360 else angle == pytest.approx(limit, abs=2)


@pytest.mark.parametrize("angle", [0.0, 10.0])
def test_equal_limits_lock_the_joint(angle) -> None:
    made = pendulum(limits=(angle, angle))
    made.state("/World/Robot/hinge", position=angle)
    host = running(made.stage)
    robot = host.articulation("/World/Robot")
    for _ in range(240):
        robot.set_dof_efforts(5.0)
        host.step()
    assert np.degrees(robot.get_dof_positions().numpy()[0, 0]) == pytest.approx(angle, abs=2)


def test_a_joint_without_limits_turns_on() -> None:
    host = running(pendulum().stage)
    robot = host.articulation("/World/Robot")
    for _ in range(480):
        robot.set_dof_efforts(20.0)
        host.step()
    assert robot.get_dof_positions().numpy()[0, 0] > 20


def coupled(schema: str, values: dict[str, float], relation: str) -> Usd.Stage:
    made = pendulum()
    made.body("/World/Robot/other", com=(0, 0, -0.5))
    prim = made.joint("/World/Robot/follow", "Revolute", "/World/Robot/base", "/World/Robot/other")
    prim.AddAppliedSchema(schema)
    prim.CreateRelationship(relation).SetTargets(["/World/Robot/hinge"])
    for name, value in values.items():
        made.attribute("/World/Robot/follow", name, value)
    return made.stage


MIMICS = {
    "newton": ("NewtonMimicAPI", {"newton:mimicCoef0": 0.0, "newton:mimicCoef1": -0.5}, "newton:mimicJoint", -0.5, 0),
    "newton with offset": (
        "NewtonMimicAPI",
        {"newton:mimicCoef0": 20.0, "newton:mimicCoef1": 2.0},
        "newton:mimicJoint",
        2.0,
        20.0,
    ),
    # PhysX: position + gearing · reference + offset = 0
    "physx": (
        "PhysxMimicJointAPI:rotY",
        {"physxMimicJoint:rotY:gearing": 1.5},
        "physxMimicJoint:rotY:referenceJoint",
        -1.5,
        0.0,
    ),
}


@pytest.mark.parametrize(("schema", "values", "relation", "ratio", "offset"), MIMICS.values(), ids=list(MIMICS))
def test_mimic_joint_follows(schema, values, relation, ratio, offset) -> None:
    host = running(coupled(schema, values, relation))
    robot = host.articulation("/World/Robot")
    lead, both = robot.get_dof_indices("hinge"), robot.get_dof_indices(["hinge", "follow"])
    robot.set_dof_gains(200.0, 20.0, dof_indices=lead)
    worst = 0.0
    for step in range(720):
        robot.set_dof_position_targets(np.sin(step / 100), dof_indices=lead)
        host.step()
        leader, follower = np.degrees(robot.get_dof_positions(dof_indices=both).numpy()[0])
        if step > 120:
            worst = max(worst, abs(follower - (ratio * leader + offset)))
    assert worst < 1.0


@pytest.mark.parametrize("engine", ["mujoco", "physx"])
def test_a_mimic_with_a_frequency_is_a_spring(engine) -> None:
    """In closed form, within 2e-3 of 0.3 rad; so it is on PhysX, whose followers need limits."""
    if engine == "physx":
        pytest.importorskip("ovphysx")
    frequency, ratio, start, dt = 8.0, 0.2, 0.3, 5e-4
    values = {"gearing": -1.0, "naturalFrequency": frequency, "dampingRatio": ratio}
    values = {f"physxMimicJoint:rotY:{name}": value for name, value in values.items()}
    stage = coupled("PhysxMimicJointAPI:rotY", values, "physxMimicJoint:rotY:referenceJoint")
    UsdPhysics.Scene(stage.GetPrimAtPath("/World/physicsScene")).CreateGravityMagnitudeAttr(0.0)
    root = stage.GetPrimAtPath("/World/Robot")
    root.AddAppliedSchema("PhysxArticulationAPI")
    # PhysX takes most of the spring away in each
    root.CreateAttribute("physxArticulation:solverVelocityIterationCount", Sdf.ValueTypeNames.Int).Set(0)
    for name in ("hinge", "follow"):
        joint = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath(f"/World/Robot/{name}"))
        joint.CreateLowerLimitAttr(-170.0)
        joint.CreateUpperLimitAttr(170.0)
    found = []
    with Simulation(stage, dt, engine=engine) as sim:
        sim.play()
        robot = sim.articulation("/World/Robot")
        # whatever an engine does to begin with
        sim.step()
        robot.set_dof_positions([start], dof_indices=robot.get_dof_indices("follow"))
        for _ in range(20):
            sim.step(100)
            positions = dict(zip(robot.dof_names, robot.get_dof_positions().numpy()[0].tolist(), strict=True))
            found.append(positions["follow"] - positions["hinge"])
    times, damped = dt * 100 * np.arange(1, 21), frequency * np.sqrt(1 - ratio**2)
    wave = np.cos(damped * times) + ratio * frequency / damped * np.sin(damped * times)
    np.testing.assert_allclose(found, start * np.exp(-ratio * frequency * times) * wave, atol=2e-3)


def cube(size: tuple[float, float, float], corner: tuple[float, float, float]) -> tuple[list, list]:
    points = [[corner[i] + size[i] * bit[i] for i in range(3)] for bit in np.ndindex(2, 2, 2)]
    return points, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def prism(outline: list[tuple[float, float]], lower: float, upper: float) -> tuple[list, list]:
    n = len(outline)
    points = [(*corner, z) for z in (lower, upper) for corner in outline]
    faces = [list(range(n))[::-1], list(range(n, 2 * n))]
    faces += [[k, (k + 1) % n, (k + 1) % n + n, k + n] for k in range(n)]
    return points, faces


ELL = [(-0.2, -0.2), (0.2, -0.2), (0.2, 0.0), (0.0, 0.0), (0.0, 0.2), (-0.2, 0.2)]
# what is dropped, and the height at which its origin comes to rest
SHAPES = {
    "sphere": (lambda s: s.shape("/World/thing/g", "Sphere", radius=0.2), 0.2),
    "cube": (lambda s: s.shape("/World/thing/g", "Cube", size=0.4), 0.2),
    "lying capsule": (lambda s: s.shape("/World/thing/g", "Capsule", radius=0.1, height=0.5, axis="X"), 0.1),
    "cone": (lambda s: s.shape("/World/thing/g", "Cone", radius=0.3, height=0.4, axis="Z"), 0.2),
    "lying cylinder": (lambda s: s.shape("/World/thing/g", "Cylinder", radius=0.1, height=0.5, axis="Y"), 0.1),
    "standing cylinder": (lambda s: s.shape("/World/thing/g", "Cylinder", radius=0.3, height=0.5, axis="Z"), 0.25),
    "mesh": (lambda s: s.mesh("/World/thing/g", *cube((0.4, 0.4, 0.4), (-0.2, -0.2, -0.1))), 0.1),
    "wedge": (lambda s: s.mesh("/World/thing/g", *prism([(-0.2, -0.2), (0.2, -0.2), (0, 0.3)], -0.1, 0.2)), 0.1),
}


def dropped(add, up: str = "Z", start: float = 0.6) -> SmallStage:
    made = SmallStage(up)
    made.ground()
    made.body("/World/thing", (0, start, 0) if up == "Y" else (0, 0, start), inertia=(0.02, 0.02, 0.02))
    add(made)
    return made


@pytest.mark.parametrize(("add", "rest"), SHAPES.values(), ids=list(SHAPES))
def test_shape_rests_on_the_ground(add, rest) -> None:
    host = settled(dropped(add).stage, 3)
    # the wedge sinks deeper into the ground before 3.17
    sinks = 2e-3 if hasattr(mujoco, "mjtCtrlInput") else 4e-3
    assert height(host, "/World/thing") == pytest.approx(rest, abs=sinks)


def test_scaled_shape_rests_higher() -> None:
    made = dropped(SHAPES["mesh"][0])
    UsdGeom.Xformable(made.stage.GetPrimAtPath("/World/thing/g")).AddScaleOp().Set((1, 1, 3))
    host = settled(made.stage, 3)
    assert height(host, "/World/thing") == pytest.approx(0.3, abs=2e-3)


def test_things_fall_along_the_up_axis() -> None:
    host = settled(dropped(SHAPES["sphere"][0], up="Y").stage, 3)
    np.testing.assert_allclose(free_pose(host, "/World/thing")[:3], [0, 0.2, 0], atol=2e-3)


def test_free_fall_is_gravity() -> None:
    made = SmallStage("Y")
    made.body("/World/thing")
    host = settled(made.stage, 0.5)
    n = round(0.5 / DT)
    np.testing.assert_allclose(free_pose(host, "/World/thing")[:3], [0, -9.81 * DT**2 * n * (n + 1) / 2, 0], rtol=1e-6)


def test_concave_mesh_is_named_in_a_warning() -> None:
    made = dropped(lambda s: s.mesh("/World/thing/ell", *prism(ELL, -0.1, 0.1)))
    with pytest.warns(UserWarning, match=r"not convex collide as their convex hull: /World/thing/ell\. Split"):
        MujocoHost(made.stage, DT, 1)


@pytest.mark.parametrize("add", [SHAPES["mesh"][0], SHAPES["wedge"][0]])
def test_convex_mesh_is_not_warned_about(add) -> None:
    MujocoHost(dropped(add).stage, DT, 1)


def test_mesh_that_only_shows_is_not_warned_about() -> None:
    made = dropped(SHAPES["sphere"][0])
    made.mesh("/World/thing/ell", *prism(ELL, -0.1, 0.1), collides=False)
    MujocoHost(made.stage, DT, 1)


def test_collider_without_a_geometry_is_refused_by_name() -> None:
    made = dropped(lambda s: s.shape("/World/thing/dust", "Points"))
    with pytest.raises(UnsupportedSceneError, match="</World/thing/dust>: USD finds this SpherePointsShape not valid"):
        MujocoHost(made.stage, DT, 1)


@pytest.mark.parametrize("points", [[(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 0), (1, 1, 0)]])
def test_flat_collider_does_not_collide_and_is_named(points) -> None:
    made = SmallStage()
    made.mesh("/World/floor", points, [list(range(len(points)))])
    with pytest.warns(UserWarning, match="span no volume do not collide: </World/floor>"):
        assert MujocoHost(made.stage, DT, 1).model.ngeom == 0


def test_what_only_shows_is_read_for_pictures_only() -> None:
    made = SmallStage()
    made.mesh("/World/floor", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [[0, 1, 2, 3]], collides=False)
    host = running(made.stage)
    # and the ground below it
    assert (host.model.ngeom, host.drawn().ngeom) == (0, 2)


def test_disabled_collider_does_not_collide() -> None:
    made = dropped(SHAPES["sphere"][0])
    UsdPhysics.CollisionAPI(made.stage.GetPrimAtPath("/World/thing/g")).CreateCollisionEnabledAttr(False)
    host = settled(made.stage, 1)
    assert height(host, "/World/thing") < -1


@pytest.mark.parametrize("other", ["/World/ground", "/World/thing/g"])
def test_filtered_pair_does_not_touch(other) -> None:
    made = dropped(SHAPES["sphere"][0])
    owner, target = ("/World/thing", other) if other == "/World/ground" else ("/World/ground", other)
    UsdPhysics.FilteredPairsAPI.Apply(made.stage.GetPrimAtPath(owner)).CreateFilteredPairsRel().SetTargets([target])
    host = settled(made.stage, 1)
    assert height(host, "/World/thing") < -1


def test_collider_that_no_pair_names_still_touches() -> None:
    made = dropped(SHAPES["sphere"][0])
    made.shape("/World/thing/inner", "Sphere", radius=0.1)
    pair = UsdPhysics.FilteredPairsAPI.Apply(made.stage.GetPrimAtPath("/World/ground"))
    pair.CreateFilteredPairsRel().SetTargets(["/World/thing/g"])
    host = settled(made.stage, 2)
    assert height(host, "/World/thing") > 0.09


@pytest.mark.parametrize(("filtered", "rest"), [(False, 0.6), (True, 0.2)])
def test_bodies_touch_unless_filtered(filtered, rest) -> None:
    made = dropped(SHAPES["sphere"][0], start=0.2)
    made.body("/World/upper", (0, 0, 1), inertia=(0.02, 0.02, 0.02))
    made.shape("/World/upper/g", "Sphere", radius=0.2)
    if filtered:
        pair = UsdPhysics.FilteredPairsAPI.Apply(made.stage.GetPrimAtPath("/World/upper"))
        pair.CreateFilteredPairsRel().SetTargets(["/World/thing"])
    host = settled(made.stage, 2)
    assert height(host, "/World/upper") == pytest.approx(rest, abs=5e-3)


@pytest.mark.parametrize("together", [False, True])
def test_neighbours_touch_only_when_their_joint_says_so(together) -> None:
    made = pendulum()
    for link in ("base", "bob"):
        made.shape(f"/World/Robot/{link}/g", "Sphere", radius=0.2)
    UsdPhysics.Joint(made.stage.GetPrimAtPath("/World/Robot/hinge")).CreateCollisionEnabledAttr(together)
    assert bool(running(made.stage).data().ncon) is together


@pytest.mark.parametrize("allowed", [False, True])
def test_links_collide_with_themselves_unless_told_not_to(allowed) -> None:
    made = pendulum()
    made.body("/World/Robot/tip", com=(0, 0, -0.5))
    made.joint("/World/Robot/tip_hinge", "Revolute", "/World/Robot/bob", "/World/Robot/tip")
    for link in ("base", "tip"):
        made.shape(f"/World/Robot/{link}/g", "Sphere", radius=0.2)
    made.attribute("/World/Robot", "newton:selfCollisionEnabled", allowed)
    assert bool(running(made.stage).data().ncon) is allowed


def test_friction_of_the_material_holds_on_a_slope() -> None:
    moved = []
    for friction in (1.0, 0.1):
        made = SmallStage()
        made.shape("/World/slope", "Cube", size=4.0)
        slope = UsdGeom.Xformable(made.stage.GetPrimAtPath("/World/slope"))
        slope.AddOrientOp().Set(quaternion((0, 1, 0), 30))
        # the box lies on the slope
        position = rotation(np.array([0, np.pi / 6, 0])) @ [0, 0, 2.1]
        made.body("/World/thing", position, turn=((0, 1, 0), 30), inertia=(0.02, 0.02, 0.02))
        made.shape("/World/thing/g", "Cube", size=0.2)
        for path in ("/World/slope", "/World/thing/g"):
            material = UsdShade.Material.Define(made.stage, path + "/material")
            properties = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
            properties.CreateDynamicFrictionAttr(friction)
            properties.CreateStaticFrictionAttr(friction)
            UsdShade.MaterialBindingAPI.Apply(made.stage.GetPrimAtPath(path)).Bind(material, materialPurpose="physics")
        host = settled(made.stage, 0.5)
        moved.append(np.linalg.norm(free_pose(host, "/World/thing")[:3] - position))
    assert moved[0] < 0.01 < 0.3 < moved[1]


def test_model_that_does_not_compile_names_the_prim() -> None:
    made = pendulum()
    made.shape("/World/Robot/bob/g", "Sphere", radius=float("nan"))
    with pytest.raises(UnsupportedSceneError, match=re.escape("/World/Robot/bob/g")):
        MujocoHost(made.stage, DT, 1)


def test_colliders_stay_with_bodies_that_newton_numbers_otherwise() -> None:
    """A door leaf authored before its frame: the ball on the frame is found on the frame."""
    made = SmallStage()
    made.body("/World/leaf", (0, 0, 1), com=(0.5, 0, 0))
    made.shape("/World/leaf/g", "Sphere", radius=0.1)
    made.body("/World/frame", (0, 0, 1))
    made.shape("/World/frame/g", "Sphere", radius=0.2)
    made.joint("/World/hinge", "Revolute", "/World/frame", "/World/leaf", axis="Z")
    made.joint("/World/fix", "Fixed", None, "/World/frame", at=(0, 0, 1))
    model = MujocoHost(made.stage, DT, 1).model
    sizes = {model.body(model.geom_bodyid[geom]).name: model.geom_size[geom, 0] for geom in range(model.ngeom)}
    assert sizes == {"/World/leaf": pytest.approx(0.1), "/World/frame": pytest.approx(0.2)}
