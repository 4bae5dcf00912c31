"""What newton reads of a USD file: a second reader, and so a witness of what the file says."""

import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.simulators.scene.inertias import SCREW, repaired
from isaacsim.core.experimental.actuators.simulators.scene.masses import NOTHING, Mass
from isaacsim.core.experimental.actuators.simulators.scene.scene import Scene
from pxr import Sdf, Usd

with quiet_warp():
    import newton
# newton has single precision, and adds up meshes in it
CLOSE = 1e-4
# newton has ±1e10 for no limit
NO_LIMIT = 1e8


class Second:
    def __init__(self, file: Path) -> None:
        builder, usd = newton.ModelBuilder(), newton.usd
        with warnings.catch_warnings(), quiet_warp():
            warnings.simplefilter("ignore")
            builder.add_usd(
                _without_idle_mimics(open_stage(file)),
                joint_ordering="bfs",
                skip_mesh_approximation=True,
                schema_resolvers=[usd.SchemaResolverNewton(), usd.SchemaResolverPhysx(), usd.SchemaResolverMjc()],
            )
        self._builder = builder
        self.masses = {path: self._mass(number) for number, path in enumerate(builder.body_label)}
        """Of bodies, by path."""
        followers = sum(leader >= 0 for leader in builder.joint_mimic_joint)
        self.couplings = followers + len(builder.constraint_mimic_joint0)
        """How many joints follow others."""
        self.loops = sum(
            articulation < 0 and newton.JointType(kind) != newton.JointType.FREE
            for articulation, kind in zip(builder.joint_articulation, builder.joint_type, strict=True)
        )
        """How many joints close loops."""
        self._shapes = {path: number for number, path in enumerate(builder.shape_label)}
        self._apart = {tuple(sorted(pair)) for pair in builder.shape_collision_filter_pairs}

    def masses_apart(self, scene: Scene) -> list[str]:
        """Bodies whose mass, center or inertia is not that of a scene, which repairs what no body can have."""
        apart = []
        for body in scene.bodies:
            theirs = self.masses.get(body.path, NOTHING)
            if theirs.mass == 0.0 and body.mass in (0.0, SCREW[0]):
                continue
            theirs = Mass(theirs.mass, theirs.com, repaired(theirs.inertia)[0])
            if not is_close(Mass(body.mass, body.com, body.inertia), theirs):
                apart.append(body.path)
        return apart

    def joints_apart(self, scene: Scene, names: Iterable[str]) -> list[str]:
        """Bodies whose axes have other values than in a scene, of "range" and "friction" those in `names`."""
        builder = self._builder
        theirs: dict[str, list[list[float]]] = {}
        for joint, kind in enumerate(builder.joint_type):
            count = sum(builder.joint_dof_dim[joint])
            if newton.JointType(kind) in (newton.JointType.FREE, newton.JointType.FIXED, newton.JointType.BALL):
                continue
            first = builder.joint_qd_start[joint]
            rows = theirs.setdefault(builder.body_label[builder.joint_child[joint]], [])
            rows += [self._axis(number, names) for number in range(first, first + count)]
        apart = []
        for body in scene.bodies:
            of_axes = [
                ([_limit(axis.lower), _limit(axis.upper)] if "range" in names else [])
                + ([axis.friction, axis.damping] if "friction" in names else [])
                for axis in body.axes
            ]
            # newton has several axes of a body in another order
            ours, other = sorted(of_axes), sorted(theirs.get(body.path, []))
            if len(ours) != len(other) or not np.allclose(ours, other, rtol=1e-5, atol=1e-6):
                apart.append(body.path)
        return apart

    def lets_touch(self, a: str, b: str) -> bool:
        if not {a, b} <= self._shapes.keys():
            return False
        return tuple(sorted((self._shapes[a], self._shapes[b]))) not in self._apart

    def _mass(self, body: int) -> Mass:
        builder = self._builder
        inertia = np.array(builder.body_inertia[body], float).reshape(3, 3)
        return Mass(float(builder.body_mass[body]), np.array(builder.body_com[body], float), inertia)

    def _axis(self, number: int, names: Iterable[str]) -> list[float]:
        builder = self._builder
        limits = [_limit(builder.joint_limit_lower[number]), _limit(builder.joint_limit_upper[number])]
        frictions = [float(builder.joint_friction[number]), float(builder.joint_damping[number])]
        return (limits if "range" in names else []) + (frictions if "friction" in names else [])


def _without_idle_mimics(stage: Usd.Stage) -> Usd.Stage:
    """The stage where fixed joints follow nothing: newton refuses those."""
    stage.SetEditTarget(stage.GetSessionLayer())
    for prim in stage.Traverse():
        if prim.GetTypeName() == "PhysicsFixedJoint" and "NewtonMimicAPI" in applied_schemas(prim):
            prim.GetRelationship("newton:mimicJoint").SetTargets([])
            prim.CreateAttribute("newton:mimicEnabled", Sdf.ValueTypeNames.Bool).Set(False)
    return stage


def is_close(one: Mass, other: Mass, part: float = CLOSE) -> bool:
    if abs(one.mass - other.mass) > part * other.mass + 1e-8:
        return False
    if other.mass <= 1e-8:
        return True
    size = np.abs(other.inertia).max()
    # the length that a body of this mass and inertia has
    length = np.sqrt(size / other.mass)
    return bool(
        np.abs(one.com - other.com).max() <= part * max(length, 1e-2)
        and np.abs(one.inertia - other.inertia).max() <= 10 * part * size + 1e-9
    )


def _limit(value: float) -> float:
    return float(np.clip(value, -NO_LIMIT, NO_LIMIT))
