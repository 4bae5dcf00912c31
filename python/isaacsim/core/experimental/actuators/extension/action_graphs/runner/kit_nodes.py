"""Nodes of Kit and Isaac Sim that graphs with actuators are made of, as far as they mean something outside.

Their ports are listed in the classes: Kit would register what it finds in `.ogn` files.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ....simulators.current import Articulation
from ..omnigraph.ogn_file import NodePorts
from ..omnigraph.ogn_types import ExecutionAttributeState, parse_type

if TYPE_CHECKING:
    from ....simulators.physics_articulation import PhysicsArticulation
    from ..omnigraph.database import Database

# ports of events, which happen whenever their graph is evaluated
_TIMES = {"time": "double", "deltaSeconds": "double", "frame": "double"}


class OnPlaybackTick:
    """Each frame while physics runs."""

    PORTS = NodePorts(outputs={"tick": "execution", **_TIMES})

    @staticmethod
    def compute(db: Database) -> bool:
        """Tick."""
        _tell_time(db)
        db.outputs.tick = ExecutionAttributeState.ENABLED
        return True


class OnTick:
    """Each frame, or the first of every `framePeriod`; physics always runs here."""

    PORTS = NodePorts(
        inputs={"framePeriod": "uint", "onlyPlayback": ("bool", True)},
        outputs={"tick": "execution", **_TIMES, "absoluteSimTime": "double", "isPlaying": "bool"},
    )

    @staticmethod
    def internal_state() -> dict[str, int]:
        """Return how many frames there were."""
        return {"frames": 0}

    @staticmethod
    def compute(db: Database) -> bool:
        """Tick when it is time."""
        _tell_time(db)
        db.outputs.absoluteSimTime = db.node.graph.clock.total_time
        db.outputs.isPlaying = True
        state = db.per_instance_state
        if state["frames"] % max(1, db.inputs.framePeriod) == 0:
            db.outputs.tick = ExecutionAttributeState.ENABLED
        state["frames"] += 1
        return True


class OnPhysicsStep:
    """Before each physics step, so that efforts act in that step."""

    PORTS = NodePorts(outputs={"step": "execution", "deltaSimulationTime": "double", "deltaSystemTime": "double"})
    # its graph is evaluated at physics steps, and must be on demand
    DEMANDS_PHYSICS_STEPS = True

    @staticmethod
    def internal_state() -> dict[str, float]:
        """Return when the step before was, by the computer's clock [s]."""
        return {}

    @staticmethod
    def compute(db: Database) -> bool:
        """Tell both times, and fire."""
        now = time.perf_counter()
        db.outputs.deltaSimulationTime = db.node.graph.clock.delta
        db.outputs.deltaSystemTime = now - db.per_instance_state.get("before", now)
        db.per_instance_state["before"] = now
        db.outputs.step = ExecutionAttributeState.ENABLED
        return True


def _tell_time(db: Database) -> None:
    clock = db.node.graph.clock
    db.outputs.time, db.outputs.deltaSeconds, db.outputs.frame = clock.time, clock.delta, clock.frame


class Branch:
    """Continues at one of two outputs, depending on a condition."""

    PORTS = NodePorts(
        inputs={"execIn": "execution", "condition": "bool"}, outputs={"execTrue": "execution", "execFalse": "execution"}
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Fire one of the two."""
        if db.inputs.condition:
            db.outputs.execTrue = ExecutionAttributeState.ENABLED
        else:
            db.outputs.execFalse = ExecutionAttributeState.ENABLED
        return True


class Sequence:
    """Continues at all its outputs, one after the other, each to its end; a graph may add outputs."""

    PORTS = NodePorts(
        inputs={"execIn": "execution"}, outputs={"a": "execution", "b": "execution"}, more=(r"outputs:\w+", "execution")
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Fire them all; the runner follows one after the other."""
        for port in db.DESCRIPTION.group("outputs"):
            setattr(db.outputs, port.name, ExecutionAttributeState.ENABLED)
        return True


# ports that name a variable
_VARIABLE = {"variableName": "token", "graph": "target", "targetPath": "token"}


class ReadVariable:
    """The value of a variable."""

    PORTS = NodePorts(inputs=_VARIABLE, outputs={"value": "any"})

    @staticmethod
    def compute(db: Database) -> bool:
        """Read."""
        db.outputs.value = db.get_variable(_variable_name(db))
        return True


class WriteVariable:
    """Sets a variable when pulsed."""

    PORTS = NodePorts(
        inputs={"execIn": "execution", **_VARIABLE, "value": "any"}, outputs={"execOut": "execution", "value": "any"}
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Write, and go on."""
        name = _variable_name(db)
        db.set_variable(name, db.inputs.value)
        db.outputs.value = db.get_variable(name)
        db.outputs.execOut = ExecutionAttributeState.ENABLED
        return True


def _variable_name(db: Database) -> str:
    """The variable's name, of this graph and no other."""
    own = db.node.graph.path
    if elsewhere := {*db.inputs.graph, db.inputs.targetPath} - {"", own}:
        raise ValueError(
            f"variables of <{min(elsewhere)}>: must be those of <{own}>. Leave graph and targetPath empty."
        )
    return db.inputs.variableName


class _Constant:
    """The value is an input, and other nodes are wired to that."""

    @staticmethod
    def compute(db: Database) -> bool:
        """Nothing to compute: the value is there."""
        del db
        return True


_CONSTANTS = {
    f"omni.graph.nodes.Constant{kind}": type(
        f"Constant{kind}", (_Constant,), {"PORTS": NodePorts(inputs={"value": kind.lower()})}
    )
    for kind in ("Bool", "Double", "Float", "Int", "String", "Token")
}


# no robot has more joints
MAX_SIZE = 100_000
# what `auto` makes of the first value
_ARRAYS = {bool: "bool[]", int: "int[]", float: "double[]", str: "token[]"}


class ConstructArray:
    """The first `arraySize` inputs, at most 100 000, as an array; the last input repeats where there are fewer."""

    PORTS = NodePorts(
        inputs={"arraySize": ("int", 1), "arrayType": ("token", "auto"), "input0": "any"},
        outputs={"array": "any"},
        more=(r"inputs:input\d+", "any"),
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Gather the values."""
        size = db.inputs.arraySize
        if not 0 <= size <= MAX_SIZE:
            raise ValueError(f"arraySize = {size}: must be >= 0 and <= {MAX_SIZE}. Correct it.")
        values = _first_inputs(db, size)
        kind = db.inputs.arrayType
        if kind == "auto":
            kind = _ARRAYS.get(type(values[0]), kind) if values else "double[]"
        # nested arrays of any type would double in size at each node
        if not kind.endswith("[]") or kind in ("any[]", "bundle[]"):
            raise ValueError(f"arrayType = {kind!r}: must name an array here, double[] for instance. Set it.")
        array = parse_type(kind).convert(values)
        db.outputs.array = np.concatenate([array, np.repeat(array[-1:], size - len(array), axis=0)])
        return True


def _first_inputs(db: Database, size: int) -> list[object]:
    """The first `size` inputs by number, as far as there are that many."""
    number_of = {port.name: port.name.removeprefix("input") for port in db.DESCRIPTION.group("inputs")}
    names = sorted((name for name in number_of if number_of[name].isdecimal()), key=lambda name: int(number_of[name]))
    values = [getattr(db.inputs, name) for name in names[:size]]
    for name, value in zip(names, values, strict=False):
        if value is None:
            raise ValueError(f"{name} has no value: each of the first {size} must have one. Set or connect it.")
    return values


class ToDouble:
    """Converts numbers to double precision."""

    PORTS = NodePorts(inputs={"value": "any"}, outputs={"converted": "any"})
    DTYPE: type[np.floating] = np.float64

    @classmethod
    def compute(cls, db: Database) -> bool:
        """Convert."""
        value = np.asarray(db.inputs.value)
        if value.dtype.kind not in "biuf":
            raise ValueError(f"value = {db.inputs.value!r}: must be a number or several. Connect one.")
        converted = value.astype(cls.DTYPE)
        db.outputs.converted = converted if converted.ndim else converted.item()
        return True


class ToFloat(ToDouble):
    """Converts numbers to single precision."""

    DTYPE = np.float32


class IsaacReadSimulationTime:
    """Simulated time [s], of this play when `resetOnStop` is set, else of all."""

    PORTS = NodePorts(inputs={"resetOnStop": "bool"}, outputs={"simulationTime": "double"})

    @staticmethod
    def compute(db: Database) -> bool:
        """Tell it."""
        clock = db.node.graph.clock
        db.outputs.simulationTime = clock.time if db.inputs.resetOnStop else clock.total_time
        return True


# inputs that select robots and joints
_SELECTION = {"targetPrim": "target", "robotPath": "string", "jointNames": "token[]", "jointIndices": "int[]"}


def _selected_joints(db: Database) -> tuple[PhysicsArticulation, np.ndarray]:
    """Return the articulation and the columns that `_SELECTION` picks: by name, else by index, else all."""
    paths = db.inputs.robotPath or list(db.inputs.targetPrim)
    if not paths:
        raise ValueError("robotPath is empty, and so is targetPrim: one must name the robot. Set robotPath.")
    robots = Articulation(paths)
    if len(names := db.inputs.jointNames):
        return robots, robots.get_dof_indices([str(name) for name in names]).numpy()
    return robots, db.inputs.jointIndices if len(db.inputs.jointIndices) else np.arange(robots.num_dofs)


class IsaacArticulationController:
    """Sets position targets, velocity targets and efforts of joints; what has no command stays as it is.

    Efforts act until others are set.
    """

    PORTS = NodePorts(
        inputs={
            "execIn": "execution",
            **_SELECTION,
            "positionCommand": "double[]",
            "velocityCommand": "double[]",
            "effortCommand": "double[]",
        }
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Pass the commands on."""
        robots, joints = _selected_joints(db)
        for command, setter in (
            ("positionCommand", robots.set_dof_position_targets),
            ("velocityCommand", robots.set_dof_velocity_targets),
            ("effortCommand", robots.set_dof_efforts),
        ):
            if len(values := getattr(db.inputs, command)):
                if len(values) != len(joints):
                    raise ValueError(
                        f"{command} has {len(values)} values for {len(joints)} joints: must have one each. "
                        "Give as many, or name the joints."
                    )
                setter(values, dof_indices=joints)
        return True


class IsaacArticulationState:
    """Positions [rad or m] and velocities of joints, robot after robot; Isaac Sim alone measures efforts."""

    PORTS = NodePorts(
        inputs={"execIn": "execution", **_SELECTION},
        outputs={"jointNames": "token[]", "jointPositions": "double[]", "jointVelocities": "double[]"},
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Read them."""
        robots, joints = _selected_joints(db)
        db.outputs.jointPositions = robots.get_dof_positions(dof_indices=joints).numpy().ravel()
        db.outputs.jointVelocities = robots.get_dof_velocities(dof_indices=joints).numpy().ravel()
        db.outputs.jointNames = [robots.dof_names[joint] for joint in joints]
        return True


KIT_NODES: dict[str, type] = {
    "isaacsim.core.nodes.IsaacArticulationController": IsaacArticulationController,
    "isaacsim.core.nodes.IsaacArticulationState": IsaacArticulationState,
    "isaacsim.core.nodes.IsaacReadSimulationTime": IsaacReadSimulationTime,
    "isaacsim.core.nodes.OnPhysicsStep": OnPhysicsStep,
    "omni.graph.action.Branch": Branch,
    "omni.graph.action.OnPlaybackTick": OnPlaybackTick,
    "omni.graph.action.OnTick": OnTick,
    "omni.graph.action.Sequence": Sequence,
    "omni.graph.core.ReadVariable": ReadVariable,
    "omni.graph.core.WriteVariable": WriteVariable,
    "omni.graph.nodes.ConstructArray": ConstructArray,
    "omni.graph.nodes.ToDouble": ToDouble,
    "omni.graph.nodes.ToFloat": ToFloat,
    **_CONSTANTS,
}
