"""A quadruped as URDF of the size of a Unitree Go2: MuJoCo fixes its base, and its knees cannot be straight."""

from pathlib import Path

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

LEGS = {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}
# in which it stands with its feet below its hips
HOME = {".*_hip_joint": 0.0, ".*_thigh_joint": 0.8, ".*_calf_joint": -1.6}
# where joints are, depth first as MuJoCo has them, and breadth first
PARTS = ("hip", "thigh", "calf")
DEPTH_FIRST = [f"{leg}_{part}_joint" for leg in LEGS for part in PARTS]
BREADTH_FIRST = [f"{leg}_{part}_joint" for part in PARTS for leg in LEGS]


def _link(name: str, mass: float, shape: str, place: str = "0 0 0") -> str:
    inertia = f'<inertia ixx="{mass * 0.004}" ixy="0" ixz="0" iyy="{mass * 0.004}" iyz="0" izz="{mass * 0.004}"/>'
    return (
        f'<link name="{name}"><inertial><origin xyz="{place}"/><mass value="{mass}"/>{inertia}</inertial>'
        f'<collision><origin xyz="{place}"/><geometry>{shape}</geometry></collision></link>'
    )


def _joint(name: str, parent: str, child: str, place: str, axis: str, limits: str) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{place}"/><axis xyz="{axis}"/><limit {limits} effort="45" velocity="30"/></joint>'
    )


def quadruped(folder: Path) -> Path:
    parts = [_link("trunk", 7.0, '<box size="0.38 0.1 0.11"/>')]
    for leg, (front, left) in LEGS.items():
        names = [f"{leg}_{part}" for part in PARTS]
        parts += [
            _link(names[0], 0.7, '<sphere radius="0.04"/>'),
            _link(names[1], 1.1, '<box size="0.03 0.03 0.2"/>', "0 0 -0.1"),
            _link(names[2], 0.2, '<sphere radius="0.022"/>', "0 0 -0.213"),
            _joint(names[0] + "_joint", "trunk", names[0], f"{front * 0.19} {left * 0.05} 0", "1 0 0", _limits(-1, 1)),
            _joint(names[1] + "_joint", names[0], names[1], f"0 {left * 0.095} 0", "0 1 0", _limits(-1.5, 3.4)),
            _joint(names[2] + "_joint", names[1], names[2], "0 0 -0.213", "0 1 0", _limits(-2.7, -0.84)),
        ]
    path = folder / "quadruped.urdf"
    path.write_text(f'<robot name="quadruped">{"".join(parts)}</robot>')
    return path


def _limits(lower: float, upper: float) -> str:
    return f'lower="{lower}" upper="{upper}"'


def quadruped_stage() -> Usd.Stage:
    """The tree of the file as converters write it: links side by side, joints in a scope in the order of the file."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.ArticulationRootAPI.Apply(UsdGeom.Xform.Define(stage, "/quadruped").GetPrim())
    for link in ["trunk", *(name.removesuffix("_joint") for name in DEPTH_FIRST)]:
        prim = UsdGeom.Xform.Define(stage, f"/quadruped/{link}").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(prim)
        mass = UsdPhysics.MassAPI.Apply(prim)
        mass.CreateMassAttr(1.0)
        mass.CreateDiagonalInertiaAttr((0.01, 0.01, 0.01))
    for name in DEPTH_FIRST:
        leg, part, _ = name.split("_")
        parent = {"hip": "trunk", "thigh": f"{leg}_hip", "calf": f"{leg}_thigh"}[part]
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"/quadruped/joints/{name}")
        joint.CreateBody0Rel().SetTargets([Sdf.Path(f"/quadruped/{parent}")])
        joint.CreateBody1Rel().SetTargets([Sdf.Path(f"/quadruped/{leg}_{part}")])
        joint.CreateAxisAttr("Y")
    return stage
