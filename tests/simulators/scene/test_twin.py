"""newton's importer as reference: masses, axes, and dynamics at random states, of every file with bodies in its wheel.

Its builder is translated into a MuJoCo model here, without compiling its kernels.
"""

import functools
import math
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Scene
from places import ROBOTS

with quiet_warp():
    newton = pytest.importorskip("newton", reason="newton is the twin")
WHEEL = Path(newton.__file__).parent
# without bodies, or made of what is soft
BODILESS = """
    bear bunny crazyflie curvedSurface deformables_mixed mpm_material_subsets mpm_sand mpm_two_prims rj45_plug
    tetmesh_custom_attrs tetmesh_multi tetmesh_simple tetmesh_with_legacy_material tetmesh_with_material unisex_shirt
""".split()
# 64 times ant.usda, for 8 s
MANY = ["ant_multi"]
# newton takes an axis of a D6 joint without limits for locked, USD for free; and it takes several hinges between two
# links in the order of their names, where the stage has that of the MJCF file it was made of
OTHER_AXES = ["pendulum_revolute_vs_d6", "humanoid_mjc"]
# newton does not know the attribute in which PhysX has the armature of an axis
OTHER_AXES += ["i2rt_yam", "so101", "unitree_g1", "unitree_go1"]
FOUND = [file for folder in ("examples", "tests") for file in sorted((WHEEL / folder / "assets").rglob("*.usd*"))]
FILES = [file for file in FOUND if file.stem not in BODILESS + MANY] + sorted(ROBOTS.glob("*.usda"))
every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: "/".join(file.parts[-3:]))
same_axes = pytest.mark.parametrize(
    "file", [file for file in FILES if file.stem not in OTHER_AXES], ids=lambda file: "/".join(file.parts[-3:])
)
# newton has single precision
SINGLE = 1e-6
KINDS = {
    newton.JointType.REVOLUTE: mujoco.mjtJoint.mjJNT_HINGE,
    newton.JointType.PRISMATIC: mujoco.mjtJoint.mjJNT_SLIDE,
}
Pose = tuple[np.ndarray, np.ndarray]


@functools.cache
def ours(file: Path) -> tuple[Scene, mujoco.MjModel]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = read_scene(open_stage(file))
        return scene, build_model(scene, 0.001)[0]


@functools.cache
def theirs(file: Path):
    builder, usd = newton.ModelBuilder(), newton.usd
    with warnings.catch_warnings(), quiet_warp():
        warnings.simplefilter("ignore")
        builder.add_usd(
            open_stage(file),
            joint_ordering="bfs",
            skip_mesh_approximation=True,
            schema_resolvers=[usd.SchemaResolverNewton(), usd.SchemaResolverPhysx(), usd.SchemaResolverMjc()],
        )
    return builder


def in_twin(file: Path) -> dict[str, int]:
    """Numbers of newton's axes by the names of ours: those of one body are in the same order."""
    (scene, model), builder = ours(file), theirs(file)
    loops = {loop.joint for loop in scene.loops}
    names = {
        body.path: [model.joint(model.body(body.path).jntadr[0] + number).name for number in range(len(body.axes))]
        for body in scene.bodies
    }
    found = {}
    for joint, path in enumerate(builder.joint_label):
        if builder.joint_type[joint] in (*KINDS, newton.JointType.D6) and path not in loops:
            first, count = builder.joint_qd_start[joint], sum(builder.joint_dof_dim[joint])
            own = names[builder.body_label[builder.joint_child[joint]]]
            found |= dict(zip(own, range(first, first + count), strict=True))
    return found


def pose(values) -> Pose:
    """Newton's transforms have their quaternions as (x, y, z, w)."""
    flat = np.array([float(value) for value in values])
    return flat[:3], flat[[6, 3, 4, 5]]


def times(one: Pose, other: Pose) -> Pose:
    place, turn = np.zeros(3), np.zeros(4)
    mujoco.mju_mulPose(place, turn, *one, *other)
    return place, turn


def inverse(one: Pose) -> Pose:
    place, turn = np.zeros(3), np.zeros(4)
    mujoco.mju_negPose(place, turn, *one)
    return place, turn


def twin_model(file: Path) -> mujoco.MjModel:
    """Newton's builder as a model; bodies without a joint are free, and what it holds in loops is left out."""
    builder, spec = theirs(file), mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = np.array(builder.gravity) if np.ndim(builder.gravity) else [0, 0, float(builder.gravity)]
    names = {number: name for name, number in in_twin(file).items()}
    loops = {loop.joint for loop in ours(file)[0].loops}
    carriers = {
        builder.joint_child[joint]: joint for joint, path in enumerate(builder.joint_label) if path not in loops
    }
    handles = {-1: spec.worldbody}

    def add(body: int):
        if body in handles:
            return handles[body]
        joint = carriers.get(body)
        kind = newton.JointType.FREE if joint is None else newton.JointType(builder.joint_type[joint])
        parent = -1 if kind == newton.JointType.FREE else builder.joint_parent[joint]
        here = pose(builder.body_q[body])
        anchor = np.zeros(3), np.array([1.0, 0, 0, 0])
        if kind != newton.JointType.FREE:
            anchor = pose(builder.joint_X_c[joint])
            here = times(pose(builder.joint_X_p[joint]), inverse(anchor))
        handle = add(parent).add_body(name=builder.body_label[body], pos=here[0], quat=here[1])
        if builder.body_mass[body] > 0:
            inertia = np.array(builder.body_inertia[body], float).reshape(3, 3)
            handle.explicitinertial, handle.mass, handle.ipos = True, builder.body_mass[body], builder.body_com[body]
            handle.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        handles[body] = handle
        if kind == newton.JointType.FREE and not builder.body_flags[body] & newton.BodyFlags.KINEMATIC:
            handle.add_freejoint(name=f"{builder.body_label[body]}/freejoint")
        elif kind == newton.JointType.BALL:
            handle.add_joint(name=builder.joint_label[joint], type=mujoco.mjtJoint.mjJNT_BALL, pos=anchor[0])
        elif kind in (*KINDS, newton.JointType.D6):
            linear, angular = builder.joint_dof_dim[joint]
            for axis in range(linear + angular):
                number, direction = builder.joint_qd_start[joint] + axis, np.zeros(3)
                mujoco.mju_rotVecQuat(direction, np.array(builder.joint_axis[number], float), anchor[1])
                kind_ = newton.JointType.PRISMATIC if axis < linear else newton.JointType.REVOLUTE
                handle.add_joint(
                    name=names[number],
                    type=KINDS[kind_],
                    pos=anchor[0],
                    axis=direction,
                    armature=builder.joint_armature[number],
                )
        return handle

    for body in range(builder.body_count):
        add(body)
    return spec.compile()


def dynamics(model: mujoco.MjModel, seed: int) -> dict[str, np.ndarray]:
    """`M` and bias at a random state, by names of DOFs: the state is the same for models with another order."""
    data, at = mujoco.MjData(model), {}
    for joint in sorted((model.joint(number) for number in range(model.njnt)), key=lambda joint: joint.name):
        rng = np.random.default_rng([seed, *joint.name.encode()])
        view = data.joint(joint.id)
        view.qpos[:] = rng.normal(size=len(view.qpos))
        view.qvel[:] = rng.normal(size=len(view.qvel))
        count = len(view.qvel)
        if count > 1:
            # of a free or ball joint
            view.qpos[-4:] /= np.linalg.norm(view.qpos[-4:])
        at |= {f"{joint.name}.{number}": int(joint.dofadr[0]) + number for number in range(count)}
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    mujoco.mj_comVel(model, data)
    inertia, bias = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    mujoco.mj_fullM(model, data, inertia)
    mujoco.mj_rne(model, data, 0, bias)
    order = list(at.values())
    return {"names": np.array(list(at)), "M": inertia[np.ix_(order, order)], "bias": bias[order]}


def test_no_file_is_left_out_in_silence() -> None:
    stems = {file.stem for file in [*FOUND, *FILES]}
    assert set(BODILESS + MANY + OTHER_AXES) <= stems
    for file in FOUND:
        if file.stem in BODILESS:
            stage = open_stage(file)
            assert not any(prim.HasAPI("PhysicsRigidBodyAPI") for prim in stage.TraverseAll()), file


@every_file
def test_masses_are_the_same(file) -> None:
    builder = theirs(file)
    twins = {path: number for number, path in enumerate(builder.body_label)}
    bodies = ours(file)[0].bodies
    assert {body.path for body in bodies} == set(twins) and bodies
    for body in bodies:
        number = twins[body.path]
        inertia = np.array(builder.body_inertia[number], float).reshape(3, 3)
        assert body.mass == pytest.approx(float(builder.body_mass[number]), rel=SINGLE), body.path
        np.testing.assert_allclose(body.com, builder.body_com[number], atol=SINGLE, err_msg=body.path)
        np.testing.assert_allclose(body.inertia, inertia, rtol=0, atol=SINGLE * np.abs(inertia).max())


@same_axes
def test_axes_are_the_same(file) -> None:
    (scene, model), builder, twins = ours(file), theirs(file), in_twin(file)
    axes = {(axis.joint, axis.usd_name): axis for body in scene.bodies for axis in body.axes}
    assert len(twins) == len(axes)
    for name, number in twins.items():
        axis = next(axis for (joint, usd_name), axis in axes.items() if name in (joint, f"{joint}:{usd_name}"))
        low, high = builder.joint_limit_lower[number], builder.joint_limit_upper[number]
        limits = (low if low > -1e8 else -math.inf, high if high < 1e8 else math.inf)
        assert (axis.lower, axis.upper) == pytest.approx(limits, rel=SINGLE, abs=SINGLE), name
        assert model.joint(name).armature[0] == pytest.approx(builder.joint_armature[number], rel=SINGLE), name


@same_axes
def test_dynamics_are_the_same(file) -> None:
    model, twin = ours(file)[1], twin_model(file)
    for seed in range(5):
        found, expected = dynamics(model, seed), dynamics(twin, seed)
        assert found["names"].tolist() == expected["names"].tolist()
        for name in ("M", "bias"):
            largest = np.abs(expected[name]).max(initial=0.0)
            np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=SINGLE * largest, err_msg=name)
