"""One scene in PhysX: the joint axes of all its robots as flat arrays, in SI and in the order of the robots' DOFs.

The wheel's sessions have degrees on angular axes and values per joint, in an order of PhysX's own, and PhysX has
quaternions (x, y, z, w); nothing outside this file knows. After the first step, what steps read and write goes through
tensors, see `RobotTensors`; sessions do the rest.
"""

# the wheel is an optional extra
# pyright: reportMissingImports=false

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import ovphysx
import ovstage
from ovphysx.samples.python_samples.schema_support import physx_schema_paths
from ovphysx.types import GlobalConfigKey, LogLevel, SimObjectType, TensorType

from ...base.errors import UnsupportedSceneError
from ...base.values import grouped
from ...files.usd.articulation import articulation_roots, every_prim
from ...files.usd.authored import misnamed, rename_misnamed
from ...files.usd.schema import applied_schemas
from ...files.usd.stage import fix_to_world
from ...files.usd.units import RADIAN
from ..articulation import name_in
from ..scene.robots import warn_of_strays
from .links import LinkGraph

if TYPE_CHECKING:
    from ...files.usd.handles import Prim, Stage


# what a value per radian is multiplied with, as a power of degrees per radian
_POWER = {
    "jointPosition": 1,
    "jointVelocity": 1,
    "jointPositionTarget": 1,
    "jointVelocityTarget": 1,
    "jointStiffness": -1,
    "jointDamping": -1,
    "jointActuationForce": 0,
    "jointProjectedForce": 0,
    "jointMaxForce": 0,
    "jointDriveType": 0,
    # lower and upper
    "jointLimit": 1,
    "jointMaxVelocity": 1,
    "jointArmature": 0,
    "jointStaticFriction": 0,
    "jointDynamicFriction": 0,
    "jointViscousFriction": -1,
    "jointSpeedEffortGradient": 1,
    "jointMaxActuatorVelocity": 1,
    "jointVelocityDependentResistance": -1,
}
_ROOT_POSE = ["rootPosition", "rootOrientation"]
_ROOT_VELOCITY = ["rootLinearVelocity", "rootAngularVelocity"]
_STATE = {
    SimObjectType.ARTICULATION: [*_ROOT_POSE, *_ROOT_VELOCITY],
    SimObjectType.ARTICULATION_JOINT: ["jointPosition", "jointVelocity"],
    SimObjectType.RIGID_BODY: ["position", "orientation", "linearVelocity", "angularVelocity"],
}
# of a ball joint, and as far as they are not locked of a generic one; PhysX locks the linear axes of those in robots
_TURNS = ("rotX", "rotY", "rotZ")
# PhysX's value for no limit, and its bound after a conversion of units
_UNLIMITED = float(np.finfo(np.float32).max)
_ALMOST_UNLIMITED = 0.999 * _UNLIMITED
# PhysX has (x, y, z, w)
_WXYZ, _XYZW = [3, 0, 1, 2], [1, 2, 3, 0]
# after a position
_POSE_WXYZ = [0, 1, 2, 6, 3, 4, 5]


@dataclass(frozen=True)
class Axis:
    """One joint axis."""

    joint: str
    name: str
    linear: bool


@dataclass(frozen=True)
class PhysxRobot:
    """One articulation: path of its root prim, DOFs, links, the root first, and joints to each link but the root."""

    path: str
    axes: list[Axis]
    links: tuple[str, ...]
    joints: tuple[str, ...]
    floating: bool


class PhysxScene:
    """Physics of a USD stage on the CPU, links `held` at their beginning; an `UnsupportedSceneError` if it cannot."""

    def __init__(self, stage: Stage, held: Sequence[str] = ()) -> None:
        _prepare_process()
        self.gravity = _gravity(stage)
        self._stage = ovstage.Stage("actuators")
        self._physx = ovphysx.PhysX()
        self.close = weakref.finalize(self, _close, self._physx, self._stage)
        # there are none before the first step
        self._tensors: RobotTensors | None = None
        try:
            # the whole stage in one layer: PhysX brings a USD of its own, without objects of ours
            layer = fix_to_world(stage, held) if held else stage.Flatten()

            def expand(path: Any) -> None:
                # PhysX finds no joints in instances
                if (prim := layer.GetPrimAtPath(path)) and prim.instanceable:
                    prim.instanceable = False

            layer.Traverse(layer.pseudoRoot.path, expand)
            rename_misnamed(layer)
            text, everything = layer.ExportToString(), ovstage.PopulationDomain.ALL
            ovstage.population.open_usd_from_string(self._stage, text, 1, domains=everything)
            self._stage.advance_write_floor(ordinal=1).wait()
            self._physx.wait_task(self._physx.attach_ovstage(self._stage, read_ordinal=1))
        except (ovstage.OvstageError, RuntimeError) as error:
            raise UnsupportedSceneError(f"PhysX cannot read this stage: {error}. Correct that.") from error
        with warnings.catch_warnings():
            # said once in a process: Warp, which wraps what is read, would open a GPU where there is one
            warnings.filterwarnings("ignore", "ovphysx is in CPU-only mode", RuntimeWarning)
            self._handles = {
                kind: self._prims(kind, column)
                for kind, column in (
                    (SimObjectType.ARTICULATION, "rootPosition"),
                    (SimObjectType.ARTICULATION_LINK, "position"),
                )
            }
            self.robots = self._read_robots(stage)
        flat = [axis for robot in self.robots for axis in robot.axes]
        self.joints = [axis.joint for axis in flat]
        self._degrees = np.array([1.0 if axis.linear else RADIAN for axis in flat])
        places = grouped((axis.joint, place) for place, axis in enumerate(flat))
        joints = self._prims(SimObjectType.ARTICULATION_JOINT, "jointPosition")
        self._joint_handles = list(joints.values())
        self._places = [np.array(places[joint]) for joint in joints]
        if said := misnamed(stage, self.joints):
            warnings.warn("\n".join(said), stacklevel=2)
        self._initial = list(self._read_state(stage))

    def step(self, dt: float) -> None:
        """Advance by one step of `dt` [s]."""
        self._physx.step_sync(dt)
        if self._tensors is None and self.robots:
            self._tensors = RobotTensors(self._physx, {robot.path: len(robot.axes) for robot in self.robots})

    # joint axes

    def read(self, *columns: str) -> list[np.ndarray]:
        """The values of some columns, float32, flat; ±inf is no limit."""
        if (tensors := self._tensors_with(columns)) is not None:
            return [tensors.read(column) for column in columns]
        flat = len(self._degrees)
        found = {column: np.empty((flat, 2) if column == "jointLimit" else flat) for column in columns}
        for column, place, values in self._read(SimObjectType.ARTICULATION_JOINT, columns):
            found[column][self._places[place]] = values
        scaled = []
        for name, values in found.items():
            bounded, unlimited = values * (1 / self._scale(name, values)), np.abs(values) >= _ALMOST_UNLIMITED
            scaled.append(np.where(unlimited, np.copysign(np.inf, values), bounded).astype(np.float32))
        return scaled

    def write(self, columns: dict[str, np.ndarray], at: np.ndarray | None = None) -> None:
        """Set columns, in their order, at all axes or at the joints that hold the places `at` and nowhere else."""
        if at is None and (tensors := self._tensors_with(columns)) is not None:
            for column, values in columns.items():
                tensors.write(column, np.clip(values, -_UNLIMITED, _UNLIMITED))
            return
        places, prims = self._places, None
        if at is not None:
            joints = [joint for joint, own in enumerate(places) if np.isin(own, at).any()]
            places = [places[joint] for joint in joints]
            prims = list(map(self._joint_handles.__getitem__, joints))
        arrays = {}
        for column, values in columns.items():
            # not by np.errstate, see values.py
            given = np.clip(values * self._scale(column, values), -_UNLIMITED, _UNLIMITED).astype(np.float32)
            arrays[column] = [given[own] for own in places]
        self._write(SimObjectType.ARTICULATION_JOINT, arrays, prims)

    def _tensors_with(self, columns: Iterable[str]) -> RobotTensors | None:
        """What has some columns of all axes in one array each; None where one of them has none."""
        return self._tensors if all(column in _OF_DOFS for column in columns) else None

    def restore(self) -> None:
        """Put roots, joints and loose bodies back to their state at the beginning."""
        for kind, columns, prims in self._initial:
            self._write(kind, columns, prims)

    # equations of motion

    def efforts(self, column: str) -> np.ndarray:
        """`gravityForce` or `coriolisForce` of the axes, flat."""
        rows = dict(self._rows(SimObjectType.ARTICULATION, column))
        # those of a floating base come first
        found = [rows[robot.path][len(rows[robot.path]) - len(robot.axes) :] for robot in self.robots]
        return np.concatenate(found) if found else np.zeros(0)

    def mass_matrix(self, path: str) -> np.ndarray:
        """Mass matrix of a robot, without armature."""
        flat = self._row(SimObjectType.ARTICULATION, path, "massMatrix")
        return flat.reshape(int(np.sqrt(flat.size)), -1)

    def jacobian(self, path: str) -> np.ndarray:
        """Jacobian of a robot's links that can move, `(links, 6, coordinates)`."""
        coordinates = int(self._row(SimObjectType.ARTICULATION, path, "jacobianShape")[1])
        return self._row(SimObjectType.ARTICULATION, path, "jacobian").reshape(-1, 6, coordinates)

    # links

    def of_links(self, robots: np.ndarray, count: int, columns: tuple[str, ...]) -> np.ndarray:
        """Columns that tensors have of all links or the root, side by side; quaternions are (w, x, y, z)."""
        if self._tensors is not None and columns in _OF_LINKS:
            rows = self._tensors.links(columns)[robots, :count]
            return rows[..., _POSE_WXYZ] if columns[1] == "orientation" else rows
        paths = [path for robot in robots for path in self.robots[robot].links[:count]]
        return np.hstack(self.links(paths, *columns)).reshape(len(robots), count, -1)

    def links(self, paths: Sequence[str], *columns: str) -> list[np.ndarray]:
        """Columns of links, a row per link; quaternions are (w, x, y, z)."""
        found = []
        prims = [self._handles[SimObjectType.ARTICULATION_LINK][path] for path in paths]
        for column in columns:
            rows = dict(self._rows(SimObjectType.ARTICULATION_LINK, column, prims))
            values = np.array([rows[path] for path in paths])
            found.append(values[:, _WXYZ] if column.lower().endswith("orientation") else values)
        return found

    def place_root(self, path: str, pose: np.ndarray) -> None:
        """Position and quaternion (w, x, y, z) of a robot's root link."""
        self._write_root(path, dict(zip(_ROOT_POSE, (pose[:3], pose[3:][_XYZW]), strict=True)))

    def move_root(self, path: str, velocity: np.ndarray) -> None:
        """Linear and angular velocity of a robot's root link."""
        self._write_root(path, dict(zip(_ROOT_VELOCITY, (velocity[:3], velocity[3:]), strict=True)))

    def _scale(self, column: str, values: np.ndarray) -> np.ndarray:
        scale = self._degrees ** _POWER[column]
        return scale[:, None] if values.ndim == 2 else scale

    def _read_robots(self, stage: Stage) -> list[PhysxRobot]:
        """All articulations, in stage order."""
        roots = articulation_roots(stage)
        kind = SimObjectType.ARTICULATION
        ordinals, fixed = (dict(self._rows(kind, column)) for column in ("dofAxisIndex", "isFixedBase"))
        graph = LinkGraph(stage, self._handles[SimObjectType.ARTICULATION_LINK])
        warn_of_strays(graph.strays, stacklevel=2)
        robots = []
        for path, joints in self._rows(kind, "dofJointPath"):
            axes = [
                _axis(stage, self._path(handle), int(ordinal))
                for handle, ordinal in zip(joints, ordinals[path], strict=True)
                if handle
            ]
            # only tensors of the wheel have the order of links
            with bind(self._physx, [path], TensorType.ARTICULATION_LINK_POSE) as binding:
                links, inbound = binding.body_names, binding.joint_names
            tree = graph.find(path, links, inbound, {axis.joint for axis in axes})
            if tree is None:
                raise UnsupportedSceneError(
                    f"<{path}>: its joints do not lead to the links that PhysX has, {links}. "
                    "Let each joint name two of them, or one and the world."
                )
            if fixed[path][0] and (held := graph.moved_by(tree[0][0])) is not None:
                warnings.warn(
                    f"<{held}> leads to <{tree[0][0]}> from what is no rigid body: engine 'physx' holds that link "
                    "still and does not have the joint. Put a base link in between, a rigid body fixed to the world.",
                    stacklevel=2,
                )
            robots.append(PhysxRobot(path, axes, *tree, floating=not fixed[path][0]))
        return sorted(robots, key=lambda robot: roots.index(robot.path) if robot.path in roots else len(roots))

    def _read_state(
        self, stage: Stage
    ) -> Iterator[tuple[SimObjectType, dict[str, list[np.ndarray]], list[int] | None]]:
        for kind, names in _STATE.items():
            # nothing here moves a kinematic body
            prims = [
                prim
                for path, prim in self._prims(kind, names[0]).items()
                if kind is not SimObjectType.RIGID_BODY or not _is_kinematic(stage.GetPrimAtPath(path))
            ]
            if prims:
                columns: dict[str, list[np.ndarray]] = {name: [] for name in names}
                for name, _, values in self._read(kind, names, prims):
                    columns[name].append(values)
                yield kind, columns, prims

    def _path(self, handle: int) -> str:
        return ovstage.PathDictionary(self._stage).path_to_string(int(handle))

    def _prims(self, kind: SimObjectType, column: str) -> dict[str, int]:
        """Paths and handles of all prims with a column, in the order of PhysX."""
        with self._physx.read_sync(kind, [column]) as result:
            handles = [
                handle
                for group in result.groups
                for handle in result.dictionary.get_paths(group.prim_list)[group.prim_offset :][: group.prim_count]
            ]
        return {self._path(handle): handle for handle in handles}

    def _row(self, kind: SimObjectType, path: str, column: str) -> np.ndarray:
        """Values of one prim."""
        ((_, row),) = self._rows(kind, column, [self._handles[kind][path]])
        return row

    def _rows(
        self, kind: SimObjectType, column: str, prims: list[int] | None = None
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Path and values of each prim."""
        with self._physx.read_sync(kind, [column], prim_paths=prims) as result:
            for group in result.groups:
                paths = result.dictionary.get_path_strings(group.prim_list)[group.prim_offset :][: group.prim_count]
                rows = group.tensors[0].numpy().reshape(len(paths), -1).copy()
                yield from zip(paths, rows, strict=True)

    def _write_root(self, path: str, columns: dict[str, np.ndarray]) -> None:
        kind = SimObjectType.ARTICULATION
        self._write(kind, {name: [values[None]] for name, values in columns.items()}, [self._handles[kind][path]])

    def _read(
        self, kind: SimObjectType, columns: Sequence[str], prims: list[int] | None = None
    ) -> Iterator[tuple[str, int, np.ndarray]]:
        """Column, number in the order of PhysX and values of each array."""
        with self._physx.read_sync(kind, columns, prim_paths=prims) as result:
            names = {result.dictionary.intern_token(column): column for column in columns}
            numbers = dict.fromkeys(columns, 0)
            for group in result.groups:
                column = names[group.attribute]
                for tensor in group.tensors:
                    yield column, numbers[column], tensor.numpy().copy()
                    numbers[column] += 1

    def _write(self, kind: SimObjectType, columns: dict[str, list[np.ndarray]], prims: list[int] | None) -> None:
        """Set columns from arrays in the order of PhysX."""
        with self._physx.write_sync(kind, list(columns), prim_paths=prims) as session:
            arrays = [iter(values) for values in columns.values()]
            for group in session.groups:
                for tensor in group.tensors:
                    tensor.numpy()[:] = next(arrays[group.attribute_index])
                session.commit_sync(group)


def _gravity(stage: Stage) -> np.ndarray:
    """Gravity [m/s²]; 9.81 downwards where the stage does not author it."""
    down = [0.0, -1.0, 0.0] if stage.GetMetadata("upAxis") == "Y" else [0.0, 0.0, -1.0]
    scenes = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "PhysicsScene"]
    magnitude, direction = (
        scenes[0].GetAttribute(f"physics:gravity{name}").Get() if scenes else None
        for name in ("Magnitude", "Direction")
    )
    along = np.array(direction if direction and any(direction) else down, float)
    return along / np.linalg.norm(along) * (magnitude if magnitude is not None and magnitude >= 0.0 else 9.81)


def _axis(stage: Stage, joint: str, ordinal: int) -> Axis:
    """The `ordinal`th free axis of a joint."""
    prim, name = stage.GetPrimAtPath(joint), name_in(joint)
    if prim.GetTypeName() in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        return Axis(joint, name, linear=prim.GetTypeName() == "PhysicsPrismaticJoint")
    free = [axis for axis in _TURNS if not _is_locked(prim, axis)]
    return Axis(joint, name if len(free) == 1 else f"{name}:{free[ordinal]}", linear=False)


def _is_locked(joint: Prim, axis: str) -> bool:
    low, high = (joint.GetAttribute(f"limit:{axis}:physics:{side}") for side in ("low", "high"))
    return bool(low and high) and low.Get() > high.Get()


def _is_kinematic(body: Prim) -> bool:
    flag = body.GetAttribute("physics:kinematicEnabled")
    return bool(flag and flag.Get())


@functools.cache
def _prepare_process() -> None:
    """Make the settings that PhysX takes once in a process, before the first scene."""
    ovstage.population.register_usd_schemas([*map(str, physx_schema_paths()), str(ovphysx.newton_schema_root())])
    ovphysx.set_global_config(GlobalConfigKey.CPU_ONLY, True)
    # a few robots are solved faster by the calling thread than by a pool that waits in loops, and always the same way
    ovphysx.set_global_config(GlobalConfigKey.NUM_THREADS, 0)
    # it warns at each play that there is no GPU
    ovphysx.set_log_level(LogLevel.ERROR)


def _close(physx: ovphysx.PhysX, stage: ovstage.Stage) -> None:
    physx.destroy()
    stage.destroy()


def velocity_weight(stage: Stage, root: str) -> float:
    """Weight of the velocity after a step, in the step of positions, of the robot with this articulation root.

    The TGS solver of PhysX divides a step into as many parts as a robot has position iterations. Velocities grow by
    `dt/n·M⁻¹·τ` in each of n parts, and positions move with them: `q⁺ = q + dt·((1 − w)·v + w·v⁺)` with
    `w = (n + 1)/(2·n)`, while v⁺ is that of one whole step. PGS, and TGS that takes efforts in once in a step, have
    w = 1. Measured on one step of the shipped robots in the air, to 1e-3; not in contact with others, whose n may
    differ.
    """
    scenes = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "PhysicsScene"]
    scene, robot = scenes[0] if scenes else None, stage.GetPrimAtPath(root)
    if _value(scene, "Scene", "solverType", "TGS") == "PGS":
        return 1.0
    if not _value(scene, "Scene", "enableExternalForcesEveryIteration", True):
        return 1.0
    parts = _value(robot, "Articulation", "solverPositionIterationCount", 32)
    least = max(_value(scene, "Scene", "minPositionIterationCount", 1), 1)
    parts = min(max(parts, least), _value(scene, "Scene", "maxPositionIterationCount", 255))
    return (parts + 1) / (2 * parts)


def _value(prim: Prim | None, schema: str, name: str, default: object) -> Any:
    """Authored value of a prim that has the schema PhysX looks for."""
    if not prim or f"Physx{schema}API" not in applied_schemas(prim):
        return default
    value = prim.GetAttribute(f"physx{schema}:{name}").Get()
    return default if value is None else value


# in SI: per radian, where sessions are per degree
_OF_DOFS = {
    "jointPosition": TensorType.ARTICULATION_DOF_POSITION,
    "jointVelocity": TensorType.ARTICULATION_DOF_VELOCITY,
    "jointPositionTarget": TensorType.ARTICULATION_DOF_POSITION_TARGET,
    "jointVelocityTarget": TensorType.ARTICULATION_DOF_VELOCITY_TARGET,
    "jointActuationForce": TensorType.ARTICULATION_DOF_ACTUATION_FORCE,
    "jointStiffness": TensorType.ARTICULATION_DOF_STIFFNESS,
    "jointDamping": TensorType.ARTICULATION_DOF_DAMPING,
}
_POSE, _VELOCITY = TensorType.ARTICULATION_LINK_POSE, TensorType.ARTICULATION_LINK_VELOCITY
_OF_LINKS: dict[tuple[str, ...], int] = {
    ("position", "orientation"): _POSE,
    ("linearVelocity", "angularVelocity"): _VELOCITY,
}


def bind(physx: ovphysx.PhysX, paths: Sequence[str], tensor_type: int) -> Any:
    """A tensor of some robots, a row per path; it ends with `physx` at the latest."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ovphysx tensor bindings are deprecated", DeprecationWarning)
        return physx.create_tensor_binding(prim_paths=list(paths), tensor_type=tensor_type)


class RobotTensors:
    """State, targets, efforts and drive gains of all robots by the wheel's tensor bindings, to arrays that stay.

    A tensor is bound when it is first used. A call takes 10 µs, where a session of the wheel takes a millisecond. The
    wheel calls bindings deprecated and has nothing as fast: the requirement bounds its version, and a test fails when
    it warns differently or has them no more. Nothing is to be called before the first step: PhysX would step by 1 ns
    then, in which contacts push the robots. `dofs` has the number of joint axes of each robot by its path.
    """

    def __init__(self, physx: ovphysx.PhysX, dofs: Mapping[str, int]) -> None:
        self._physx, self._paths = physx, list(dofs)
        # rows are as long as those of the robot with the most axes
        counts = np.array(list(dofs.values()))
        self._filled = np.flatnonzero(np.arange(counts.max()) < counts[:, None])
        self._bound: dict[int, tuple[Any, np.ndarray]] = {}

    def read(self, column: str) -> np.ndarray:
        """The values of all joint axes, SI, float32, flat, robot after robot."""
        return self._read(_OF_DOFS[column]).take(self._filled)

    def write(self, column: str, values: np.ndarray) -> None:
        """Set the values of all joint axes."""
        binding, rows = self._tensor(_OF_DOFS[column])
        rows.put(self._filled, values)
        binding.write(rows)

    def links(self, columns: tuple[str, ...]) -> np.ndarray:
        """Two columns of links, quaternions (x, y, z, w), `(robots, links, numbers)`; the next call fills it again."""
        return self._read(_OF_LINKS[columns])

    def _read(self, tensor_type: int) -> np.ndarray:
        binding, rows = self._tensor(tensor_type)
        binding.read(rows)
        return rows

    def _tensor(self, tensor_type: int) -> tuple[Any, np.ndarray]:
        if tensor_type not in self._bound:
            binding = bind(self._physx, self._paths, tensor_type)
            self._bound[tensor_type] = binding, np.zeros(binding.shape, np.float32)
        return self._bound[tensor_type]
