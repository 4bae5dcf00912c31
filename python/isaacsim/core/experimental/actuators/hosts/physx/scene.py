"""One scene in PhysX: the joint axes of all its robots as flat arrays, in SI and in the order of the robots' DOFs.

The wheel speaks degrees on angular axes, per joint, in an order of its own; nothing outside this file knows.
"""

# the wheel is an optional extra
# pyright: reportMissingImports=false

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ovphysx
import ovstage
from ovphysx.samples.python_samples.schema_support import physx_schema_paths
from ovphysx.types import GlobalConfigKey, LogLevel, SimObjectType

from ...errors import UnsupportedSceneError
from ...usd.articulation import articulation_roots

# what a value per radian is multiplied with, as a power of degrees per radian
_POWER = {
    "jointPosition": 1,
    "jointVelocity": 1,
    "jointPositionTarget": 1,
    "jointVelocityTarget": 1,
    "jointStiffness": -1,
    "jointDamping": -1,
    "jointActuationForce": 0,
    "jointMaxForce": 0,
    "jointDriveType": 0,
}
_STATE = {
    SimObjectType.ARTICULATION: ["rootPosition", "rootOrientation", "rootLinearVelocity", "rootAngularVelocity"],
    SimObjectType.ARTICULATION_JOINT: ["jointPosition", "jointVelocity"],
    SimObjectType.RIGID_BODY: ["position", "orientation", "linearVelocity", "angularVelocity"],
}
# of a ball joint, and as far as they are not locked of a generic one; PhysX locks the linear axes of those in robots
_TURNS = ("rotX", "rotY", "rotZ")

# how PhysX says that there is no limit
UNLIMITED = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Axis:
    """One joint axis."""

    joint: str
    name: str
    linear: bool


class PhysxScene:
    """Physics of a USD stage as it is now, on the CPU.

    Args:
        stage: USD stage in metres.

    Raises:
        UnsupportedSceneError: PhysX cannot read the stage.
    """

    def __init__(self, stage: Any) -> None:
        _prepare_process()
        self._stage = ovstage.Stage("actuators")
        self._physx = ovphysx.PhysX()
        self.close = weakref.finalize(self, _close, self._physx, self._stage)
        try:
            text, everything = _as_text(stage), ovstage.PopulationDomain.ALL
            ovstage.population.open_usd_from_string(self._stage, text, 1, domains=everything)
            self._stage.advance_write_floor(ordinal=1).wait()
            self._physx.wait_task(self._physx.attach_ovstage(self._stage, read_ordinal=1))
        except (ovstage.OvstageError, RuntimeError) as error:
            raise UnsupportedSceneError(f"PhysX cannot read this stage: {error}. Correct that.") from error
        with warnings.catch_warnings():
            # said once in a process: Warp, which wraps what is read, would open a GPU where there is one
            warnings.filterwarnings("ignore", "ovphysx is in CPU-only mode", RuntimeWarning)
            self.robots = self._read_robots(stage)
        self._find_places()
        self._initial = list(self._read_state(stage))

    def step(self, dt: float) -> None:
        """Advance by one step of `dt` [s]."""
        self._physx.step_sync(dt)

    def read(self, *columns: str) -> list[np.ndarray]:
        """The values of some columns, float32, flat."""
        found = {column: np.empty(len(self._degrees)) for column in columns}
        for column, place, values in self._read(SimObjectType.ARTICULATION_JOINT, columns):
            found[column][self._places[place]] = values
        return [(values / self._degrees ** _POWER[name]).astype(np.float32) for name, values in found.items()]

    def write(self, columns: dict[str, np.ndarray], at: np.ndarray | None = None) -> None:
        """Set columns at all axes, or at the joints that hold the places `at` and nowhere else."""
        chosen = [i for i, places in enumerate(self._places) if at is None or np.isin(places, at).any()]
        arrays = {}
        for column, values in columns.items():
            # not by np.errstate, see hosts/values.py
            given = np.clip(values * self._degrees ** _POWER[column], -UNLIMITED, UNLIMITED).astype(np.float32)
            arrays[column] = [given[self._places[i]] for i in chosen]
        prims = None if at is None else [self._joints[i] for i in chosen]
        self._write(SimObjectType.ARTICULATION_JOINT, arrays, prims)

    def restore(self) -> None:
        """Put roots, joints and loose bodies back to their state at the beginning."""
        for kind, columns, prims in self._initial:
            self._write(kind, columns, prims)

    def gravity_efforts(self) -> np.ndarray:
        """Efforts that balance gravity, flat."""
        efforts = []
        by_path = dict(self._read_rows("gravityForce"))
        for path, axes in self.robots:
            # those of a floating base come first
            efforts.append(by_path[path][len(by_path[path]) - len(axes) :])
        return np.concatenate(efforts) if efforts else np.zeros(0)

    def root_pose(self, path: str) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of a robot's root body."""
        position, turn = (dict(self._read_rows(name))[path] for name in ("rootPosition", "rootOrientation"))
        return np.concatenate([position, turn[[3, 0, 1, 2]]])

    # inside

    def _read_robots(self, stage: Any) -> list[tuple[str, list[Axis]]]:
        """Paths and axes of all articulations, in stage order."""
        roots = articulation_roots(stage)
        ordinals = dict(self._read_rows("dofAxisIndex"))
        robots = []
        for path, joints in self._read_rows("dofJointPath"):
            found = [
                _axis(stage, self._path(handle), int(ordinal))
                for handle, ordinal in zip(joints, ordinals[path], strict=True)
                if handle
            ]
            robots.append((path, found))
        return sorted(robots, key=lambda robot: roots.index(robot[0]) if robot[0] in roots else len(roots))

    def _find_places(self) -> None:
        """Where the axes of each joint of PhysX stand in the flat arrays."""
        flat = [axis for _, axes in self.robots for axis in axes]
        self._degrees = np.array([1.0 if axis.linear else np.degrees(1.0) for axis in flat])
        places: dict[str, list[int]] = {}
        for place, axis in enumerate(flat):
            places.setdefault(axis.joint, []).append(place)
        self._joints = self._prims(SimObjectType.ARTICULATION_JOINT, "jointPosition")
        self._places = [np.array(places[self._path(joint)]) for joint in self._joints]

    def _read_state(self, stage: Any) -> Iterator[tuple[SimObjectType, dict[str, list[np.ndarray]], list[int] | None]]:
        for kind, names in _STATE.items():
            prims = self._prims(kind, names[0])
            if kind is SimObjectType.RIGID_BODY:
                # nothing here moves a kinematic body
                prims = [prim for prim in prims if not _is_kinematic(stage.GetPrimAtPath(self._path(prim)))]
            if prims:
                columns: dict[str, list[np.ndarray]] = {name: [] for name in names}
                for name, _, values in self._read(kind, names, prims):
                    columns[name].append(values)
                yield kind, columns, prims

    def _path(self, handle: int) -> str:
        return ovstage.PathDictionary(self._stage).path_to_string(int(handle))

    def _prims(self, kind: SimObjectType, column: str) -> list[int]:
        """Handles of all prims with a column, in the order of PhysX."""
        with self._physx.read_sync(kind, [column]) as result:
            return [
                handle
                for group in result.groups
                for handle in result.dictionary.get_paths(group.prim_list)[group.prim_offset :][: group.prim_count]
            ]

    def _read_rows(self, column: str) -> Iterator[tuple[str, np.ndarray]]:
        """Path and values of each articulation."""
        with self._physx.read_sync(SimObjectType.ARTICULATION, [column]) as result:
            for group in result.groups:
                prims = result.dictionary.get_path_strings(group.prim_list)[group.prim_offset :][: group.prim_count]
                rows = group.tensors[0].numpy().reshape(len(prims), -1).copy()
                yield from zip(prims, rows, strict=True)

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


def _as_text(stage: Any) -> str:
    """The whole stage in one layer: PhysX brings a USD of its own, which shares no objects with ours."""
    layer = stage.Flatten()

    def expand(path: Any) -> None:
        # PhysX finds no joints in instances
        if (prim := layer.GetPrimAtPath(path)) and prim.instanceable:
            prim.instanceable = False

    layer.Traverse(layer.pseudoRoot.path, expand)
    return layer.ExportToString()


def _axis(stage: Any, joint: str, ordinal: int) -> Axis:
    """The `ordinal`th free axis of a joint."""
    prim, name = stage.GetPrimAtPath(joint), joint.rsplit("/", 1)[-1]
    if prim.GetTypeName() in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        return Axis(joint, name, linear=prim.GetTypeName() == "PhysicsPrismaticJoint")
    free = [axis for axis in _TURNS if not _is_locked(prim, axis)]
    return Axis(joint, name if len(free) == 1 else f"{name}:{free[ordinal]}", linear=False)


def _is_locked(joint: Any, axis: str) -> bool:
    low, high = (joint.GetAttribute(f"limit:{axis}:physics:{side}") for side in ("low", "high"))
    return bool(low and high) and low.Get() > high.Get()


def _is_kinematic(body: Any) -> bool:
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


def _close(physx: Any, stage: Any) -> None:
    physx.destroy()
    stage.destroy()
