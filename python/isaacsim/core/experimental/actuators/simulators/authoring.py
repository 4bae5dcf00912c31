"""Author actuators on a robot's USD stage, and read them back as configs."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..base.errors import shown
from ..base.extras import needs
from ..engine.linkages import rotor_armatures
from ..engine.motors import Motor, resolve_motors, without_motor
from ..laws.contract.catalogue import in_order
from ..specs.actuator_spec import ActuatorSpec
from ..specs.arguments import flag_of, path_of
from ..specs.configs import ClampingConfig, Config, ControlConfig, DelayConfig, PassiveConfig
from ..specs.effort_modes import explicit
from ..specs.motors import MotorConfig, Motors, with_friction_stage
from ..specs.patterns import matched
from ..specs.stages import kind_of, parts_of
from .current import current_stage

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..files.usd.author import EqualMotors
    from ..files.usd.handles import Prim, Stage

# path of a joint, and name of its DOF
_Axis = tuple[str, str]


def add_actuator(
    articulation_root: str,
    target_names: str | Sequence[str],
    name: str,
    controller: ControlConfig | None,
    *,
    clamping: Sequence[ClampingConfig] | None = None,
    delay: DelayConfig | None = None,
    friction: PassiveConfig | None = None,
    others: Sequence[Config] = (),
    overwrite_existing: bool = False,
    stage: Stage | None = None,
) -> Prim:
    """Define the actuator prim `<articulation_root>/Actuators/<name>` and return it.

    Everything is checked before the stage is touched. Units are rad, rad/s and N·m (m, m/s and N for prismatic joints),
    never degrees; on a stage that is not in meters and kilograms they become those of the stage. Wrappers that exist
    already do not pick the prim up. Friction is authored on the joints too, `newton:friction` and `newton:damping`, for
    programs that do not know its schema; actuators replace it, and authoring another actuator removes it.

    Args:
        articulation_root: Path of the robot's prim.
        target_names: Name of the joint to drive, or several: `hip`, and `hip:rotX` of a joint with several axes, as
            `dof_names` has them; the path, where several joints have the name. Joints are found anywhere below the
            root, and where none is below it, by what connects the links of the robot.
        name: Name of the new prim.
        controller: The control law; None for a passive joint, which has stages of kinds that need none.
        clamping: Effort limits.
        delay: Command delay.
        friction: Friction of the joints, computed by the actuator.
        others: Stages of other kinds.
        overwrite_existing: Replace a prim of that name.
        stage: Where to author; None means that of the innermost `use_stage` or simulation.

    Raises:
        ValueError: Bad root, name, joint or value, a taken name, or a place that cannot be edited here.
        TypeError: A config of the wrong kind, or no stage.
        HostError: No stage given and none current.
        ModuleNotFoundError: USD is missing, which the extra `usd` brings.

    Example:
        >>> from pxr import Usd
        >>> from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, PDControlConfig, add_actuator
        >>> stage = Usd.Stage.Open("data/robots/pendulum.usda")
        >>> prim = add_actuator(
        ...     "/World/Pendulum", "hinge", "soft_hinge", PDControlConfig(kp=5.0, kd=0.5),
        ...     clamping=[MaxEffortClampingConfig(8.0)], stage=stage,
        ... )
        >>> print(prim.GetPath())
        /World/Pendulum/Actuators/soft_hinge
    """
    if friction is not None and kind_of(friction) != PassiveConfig.KIND:
        raise TypeError(f"friction = {shown(friction)}: must be a config of friction. Give a FrictionConfig, say.")
    with needs("add_actuator", "usd"):
        from ..files.usd.author import author_actuator

    return author_actuator(
        current_stage() if stage is None else stage,
        articulation_root,
        target_names,
        name,
        # what is no list is refused there
        MotorConfig(controller, cast(Any, clamping), delay, others=_with(friction, others)),
        overwrite_existing=overwrite_existing,
    )


def _with(friction: PassiveConfig | None, others: Any) -> Any:
    """Return the stages of other kinds with the friction; what is no list is refused by the caller."""
    return others if friction is None else [*others, friction]


def add_motors(
    articulation_root: str,
    motors: Motors,
    *,
    stage: Stage | None = None,
    overwrite_existing: bool = False,
    layer: str | os.PathLike[str] | None = None,
) -> list[Prim]:
    """Define an actuator prim for each joint of motors by pattern, `<articulation_root>/Actuators/…`, and return them.

    Each joint has a prim of its own, called after it, for newton and Isaac Sim drive one joint a prim. Joints with
    equal values inherit them from a class prim, which is called after the pattern. Armature and friction are authored
    on the joints, that of friction stages too, see `add_actuator`. Either all of it is authored or nothing. Joints
    without a motor stay as they are, and a warning names those that nothing else moves.

    Args:
        articulation_root: Path of the robot's prim.
        motors: By pattern, which matches names of the robot's joints in full, a `MotorConfig` or a list of configs
            in its place; see `ArticulationActuators.from_configs`. A stage holds no values per robot, and of
            `MaxEffortClampingConfig("joint")` the number that its joint has.
        stage: Where to author; None means that of the innermost `use_stage` or simulation.
        overwrite_existing: Replace prims of the same names, and others that drive these joints.
        layer: File of a layer to author into, `.usda`, `.usd` or `.usdc`; None means the edit target of the stage. One
            that the robot is made of is edited, through references, payloads and variants. Another one becomes a
            sublayer of the layer that defines the joints, and is made where there is none. `stage.Save()` writes all.

    Raises:
        ValueError: Listing every problem: bad patterns or values, a joint with two motors or with an actuator already,
            or a place that cannot be edited here.
        TypeError: No stage.
        HostError: No stage given and none current, or a joint property that cannot be authored here.

    Warns:
        UserWarning: Joints without a motor that nothing else moves, by name.

    Example:
        >>> from pxr import Usd
        >>> from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, PDControlConfig, add_motors
        >>> stage = Usd.Stage.Open("data/robots/franka_panda.usda")
        >>> limit = MaxEffortClampingConfig({".*[1-4]": 87.0, ".*[56]": 12.0})
        >>> motors = {".*_joint[1-6]": [PDControlConfig(80.0, 4.0), limit], ".*7": [PDControlConfig(20.0, 1.0)]}
        >>> [prim.GetName() for prim in add_motors("/World/Panda", motors, stage=stage, overwrite_existing=True)]
        ['panda_joint1', 'panda_joint2', 'panda_joint3', 'panda_joint4', 'panda_joint5', 'panda_joint6', 'panda_joint7']
    """
    with needs("add_motors", "usd"):
        from ..files.usd.articulation import unloaded_at
        from ..files.usd.author import author_actuators, joints_to_drive
        from ..files.usd.motors import effort_limits
        from ..files.usd.other_drives import unmoved
        from ..files.usd.overlay import own_layer
        from ..specs.roots import unloaded_hint

    where = current_stage() if stage is None else stage
    names, paths = joints_to_drive(where, articulation_root)
    try:
        found = resolve_motors(motors, names, paths, 1, limits=lambda: effort_limits(where, paths, names)[None])
    except ValueError as error:
        raise ValueError(f"{error}{unloaded_hint(unloaded_at(where, articulation_root))}") from error
    authored = _equal_motors(found)
    axes = list(zip(paths, names, strict=True))
    properties, rotors = _usd_properties(found, axes)
    edited = contextlib.nullcontext()
    if layer is not None and found:
        edited = own_layer(where, paths[found[0].columns[0]], path_of("layer", layer))
    with edited:
        prims = author_actuators(
            *(where, articulation_root, authored, properties, rotors), overwrite_existing=overwrite_existing
        )
    still = set(unmoved(where, paths, names))
    if limp := [name for name in without_motor(found, names) if name in still]:
        warnings.warn(
            f"<{articulation_root}>: joints {', '.join(limp)} have no motor, and nothing else moves them. Give them "
            "one, if they are to be driven.",
            stacklevel=2,
        )
    return prims


def motors_of(
    source: Any, articulation_root: str | None = None, *, friction_stages: bool = False
) -> dict[str, MotorConfig]:
    """Return the motors that a stage describes by actuator prims, or that a simulation has, by the names of joints.

    `add_motors` and `ArticulationActuators.from_configs` make the same of them. Armature and friction are those
    authored on the joints; friction is left out where the static one is not the dynamic one, and where the actuator has
    a friction stage, which replaces it. Numbers are SI, whatever the stage is written in. Files of networks come as
    full paths, and only those that the stage may name. A joint that no `NewtonActuator` prim drives has the motor of
    its `MjcActuator` prims, where there are some.

    Of a simulation, joints that no `NewtonActuator` prim drives have the motor that does what their drive does, where
    it has gains: a PD with the drive's gains, and its largest effort or performance envelope. Where MuJoCo read the
    model by itself, motors are those of `motors_of_model`, with `in_engine` where the integrator of the file is
    implicit; a URDF file has no gains, so that its motors have none either, and pass efforts up to the limit of the
    joint. So do motors of drives and `MjcActuator` prims where the stage names an implicit integrator,
    `mjc:option:integrator` of its physics scene; without a name they are explicit.

    Args:
        source: A stage, the path of a USD file, or a `Simulation` or `MujocoSimulation`.
        articulation_root: Path of the articulation root, or of a prim above it; None means the only one there is.
        friction_stages: Return the friction of joints, from whatever attributes, as a `FrictionConfig` of their motors:
            the actuators then compute it in place of the simulator.

    Raises:
        ActuatorParseError: Actuator prims cannot be used; lists every problem.
        ValueError: There is no such articulation, or more than one.
        FileNotFoundError: There is no such file.

    Warns:
        UserWarning: No motor stands for some actuators of MuJoCo, by name, with the reason.

    Example:
        >>> from isaacsim.core.experimental.actuators import motors_of
        >>> motors_of("data/robots/arm_2dof.usda")["shoulder"].controller
        PDControlConfig(kp=200.0, kd=20.0, const_effort=0.0)
    """
    return _motors_of(source, articulation_root, flag_of("friction_stages", friction_stages), of_integrator=True)


def motors_of_robot(
    source: Any, articulation_root: str | None = None, *, friction_stages: bool = False
) -> dict[str, MotorConfig]:
    """Return motors as `motors_of` does, without effort modes that only the integrator of the file has."""
    return _motors_of(source, articulation_root, friction_stages, of_integrator=False)


def _motors_of(source: Any, root: str | None, in_stages: bool, *, of_integrator: bool) -> dict[str, MotorConfig]:
    # a simulation, or its host
    host = getattr(source, "_host", source)
    if hasattr(host, "articulation") and host.stage is None:
        motors = _motors_of_host(host, root)
        motors = motors if of_integrator else explicit(motors)
        return {pattern: with_friction_stage(one) for pattern, one in motors.items()} if in_stages else motors
    with needs("motors_of", "usd"):
        from ..files.usd.motors import only_root, read_drives, read_motors
        from ..files.usd.stage import open_stage

    if hasattr(host, "articulation"):
        robots = host.articulation(only_root(host.stage, root))
        in_engine = getattr(robots, "takes_step_armatures", False) if of_integrator else None
        found = host.stage, root, in_stages
        return read_motors(*found, in_engine=in_engine) | read_drives(*found, in_engine=in_engine)
    return read_motors(open_stage(source), root, in_stages, in_engine=False if of_integrator else None)


def _motors_of_host(host: Any, root: str | None) -> dict[str, MotorConfig]:
    """Motors of one robot of a file that MuJoCo's own parser read."""
    roots = {robot.prototype[0]: robot for robot in host.robots()} if root is None else {root: host.articulation(root)}
    if len(roots) != 1:
        raise ValueError(
            f"articulation_root = None: there are {len(roots)} articulations, {list(roots)}. Give the path of one."
        )
    (names,) = (robot.dof_names for robot in roots.values())
    motors = host.motors()
    return {pattern: motor for pattern, motor in motors.items() if matched([pattern], names)}


def _usd_properties(
    motors: Sequence[Motor], axes: Sequence[_Axis]
) -> tuple[list[tuple[str, dict[_Axis, float]]], dict[_Axis, float]]:
    """Joint properties of motors by name, and the armatures that the rotors of their actuators have instead."""
    from ..files.usd.joint_properties import OF_MOTORS

    specs = [motor.spec for motor in motors if motor.spec is not None]
    # a file has the rotor at the joint, whatever lies between
    inertias = {id(spec): values for spec, values in rotor_armatures(specs, attached=False)}
    given: list[tuple[str, dict[_Axis, float]]] = []
    rotors: dict[_Axis, float] = {}
    for motor in motors:
        properties = dict(motor.properties)
        if id(motor.spec) in inertias:
            properties.pop("armature", None)
            rotors |= _by_dof(motor, axes, inertias[id(motor.spec)])
        for field, value in properties.items():
            given += [(name, _by_dof(motor, axes, value)) for name in OF_MOTORS[field]]
    return given, rotors


def _by_dof(motor: Motor, axes: Sequence[_Axis], value: npt.ArrayLike) -> dict[_Axis, float]:
    own = [axes[column] for column in motor.columns]
    return dict(zip(own, np.broadcast_to(value, len(own)).tolist(), strict=True))


def _equal_motors(motors: Sequence[Motor]) -> list[EqualMotors]:
    """Groups of joints with equal motors, with unique names of their prims."""
    from ..files.usd.author import EqualMotors

    taken: set[str] = set()
    groups: list[EqualMotors] = []
    for motor in motors:
        parts = _split(motor.spec) if motor.spec is not None else []
        for part in parts:
            prims: list[str] = []
            for joint in part.dof_names:
                # a free prim name close to the name of the joint
                name = joint if joint.isidentifier() else _identifier(joint)
                numbered = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
                prims.append(next(free for free in numbered if free not in taken))
                taken.add(prims[-1])
            shared = _shared_name(motor.pattern, part.dof_names, len(parts))
            groups.append(EqualMotors(part, prims, shared, motor.intervals))
    return groups


def _split(spec: ActuatorSpec) -> list[ActuatorSpec]:
    """Split an actuator into several whose joints have the same numbers."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for joint in range(len(spec.targets)):
        numbers = [_at(value, joint) for config in spec.stages for value in vars(config).values()]
        groups.setdefault(tuple(map(repr, numbers)), []).append(joint)
    return [
        dataclasses.replace(
            spec,
            targets=tuple(spec.targets[joint] for joint in joints),
            dof_names=tuple(spec.dof_names[joint] for joint in joints),
            # newton has them act in the order in which they are authored
            **parts_of(in_order([one for stage in spec.stages if _acts(one := _of_joint(stage, joints[0]))])),
        )
        for joints in groups.values()
    ]


def _acts(config: Config) -> bool:
    """Return False for a delay of 0 steps: newton refuses a file with such a prim."""
    return not isinstance(config, DelayConfig) or config.delay_steps > 0


def _of_joint(config: Any, joint: int) -> Any:
    return dataclasses.replace(config, **{name: _at(value, joint) for name, value in vars(config).items()})


def _at(value: object, joint: int) -> object:
    """The value of one joint; tables are shared by all joints."""
    return value[joint].item() if isinstance(value, np.ndarray) else value


def _shared_name(pattern: str, joints: Sequence[str], parts: int) -> str:
    """Return a name for the motor of several joints: from its pattern, or the common part of the joint names."""
    # a list of all names is long, and no pattern
    if parts == 1 and pattern not in ("|".join(joints), "|".join(map(re.escape, joints))):
        # character classes carry no meaning
        return _identifier(re.sub(r"\\[A-Za-z]", " ", pattern))
    last = _common([name[::-1] for name in joints])[::-1]
    return _identifier(max(_common(joints), last, key=len))


def _identifier(text: str) -> str:
    """A valid prim name."""
    # letters of any script are valid
    text = "".join(letter if f"_{letter}".isidentifier() else "_" for letter in text)
    text = re.sub("_+", "_", text).strip("_") or "joints"
    return text if text.isidentifier() else f"joint_{text}"


def _common(names: Sequence[str]) -> str:
    """The common prefix of names."""
    alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)
