"""Find and parse the actuator prims of one articulation, to which each belongs by its targets or its place."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from pxr import Sdf, Usd

from ...base.errors import ActuatorParseError, shown
from ...base.values import grouped
from ...specs.actuator_spec import ActuatorSpec
from ...specs.arguments import require_type
from ...specs.combinations import combination_problems
from ...specs.configs import Config, ForeignConfig, NeuralControlConfig
from ...specs.fields import parameters_of
from ...specs.stages import KINDS, parts_of
from ...specs.stand_ins import stand_ins
from ...specs.supply import SupplyConfig
from ...specs.transmission import as_read, transmission_among
from .articulation import articulation_roots, axes_of, bodies_of, dof_names, every_prim, on_stage, unloaded_payloads
from .assets import read_network
from .authored import targets
from .axes import axis_in, is_angular
from .joint_properties import axis_of
from .schema import (
    CONFIG_BY_SCHEMA,
    TARGETS,
    attributes_of,
    attributes_on,
    current_schemas,
    foreign_config,
    is_actuator,
    lacking,
    may_be_later,
    opinion_of_other_kind,
    properties_without_effect,
    read_config,
    schema_problem,
    stand_in_schemas,
    strange_schemas,
    values_without_effect,
)
from .supplies import Supplies, robot_of
from .units import from_stage, units_of
from .usd_errors import reports_usd_errors


@reports_usd_errors
def actuator_paths(stage: Usd.Stage) -> list[str]:
    """Paths of every `NewtonActuator` prim, in stage order."""
    return [str(prim.GetPath()) for prim in every_prim(stage.GetPseudoRoot()) if is_actuator(prim)]


@reports_usd_errors
def discover(
    stage: Usd.Stage,
    root: str,
    joints: Sequence[str],
    names: Sequence[str] | None = None,
    *,
    si: bool = False,
    files: bool = False,
    trusted: bool = False,
    issues: list[str] | None = None,
) -> list[ActuatorSpec]:
    """Specs of the actuator prims that belong to the articulation at `root`, in stage order.

    Warns of prims that belong to no articulation, and of payloads of the robot that are not loaded. `joints` has the
    path of the joint of each DOF, `names` its name, None for those of the stage. Numbers are in `si`, or in the units
    of the stage. `files` has networks read too, and `trusted` lets Torch run those that are not recognized. Problems
    are added to `issues`, or raised, all of them, in one `ActuatorParseError`.
    """
    found: list[str] = [] if issues is None else issues
    owner = Ownership(stage, root, joints)
    _warn_of_unloaded(stage, root, owner)
    owned = grouped(zip(joints, dof_names(stage, joints) if names is None else names, strict=True))
    specs: list[ActuatorSpec] = []
    driven_by: dict[tuple[str, str], str] = {}
    supplies, ours = Supplies(stage.GetPseudoRoot()), list[str]()
    for prim in filter(is_actuator, every_prim(stage.GetPseudoRoot())):
        targets = targets_of(prim)
        if not _is_ours(owner, str(prim.GetPath()), targets):
            continue
        ours.append(str(prim.GetPath()))
        dofs = _driven(prim, targets, owned, root, driven_by, found)
        spec = _parse(prim, dofs, found, files, trusted, supplies)
        if spec is not None:
            specs.append(_in_si(spec, stage, found) if si else spec)
    found += supplies.problems(ours, owner.is_near)
    if issues is None and found:
        raise ActuatorParseError(found)
    return specs


def _is_ours(owner: Ownership, path: str, targets: Sequence[tuple[str, str]]) -> bool:
    whose = owner.of(path, [joint for joint, _ in targets])
    if whose == "nobody's":
        warnings.warn(
            f"<{path}> is ignored: it drives no joint of an articulation. Correct {TARGETS} or deactivate the prim.",
            stacklevel=3,
        )
    return whose == "ours"


def parse_prim(prim: Usd.Prim, *, files: bool = False, trusted: bool = False) -> ActuatorSpec | None:
    """The spec of one prim; None if it is no `NewtonActuator`; arguments as for `discover`.

    An `ActuatorParseError` lists all problems of the prim; a `ValueError` says that it is not on a stage.
    """
    require_type("prim", prim, Usd.Prim, "a prim of a stage")
    if not prim:
        raise ValueError(f"{prim!r}: no such prim on the stage. Give the path of an actuator prim.")
    if not is_actuator(prim):
        return None
    targets, issues = targets_of(prim), list[str]()
    joints = [joint for joint in dict.fromkeys(joint for joint, _ in targets) for _ in _axes_at(prim, joint)]
    owned = grouped(zip(joints, dof_names(prim.GetStage(), joints), strict=True))
    dofs = _driven(prim, targets, owned, "", {}, issues)
    spec = _parse(prim, dofs, issues, files, trusted, Supplies(robot_of(prim)))
    if spec is None and not issues:
        issues.append(
            f"<{prim.GetPath()}> has schemas {current_schemas(prim)}: must have a controller schema that this version "
            "knows. Apply one."
        )
    if issues:
        raise ActuatorParseError(issues)
    return spec


def parse_like(
    prim: Usd.Prim, like: ActuatorSpec, issues: list[str], *, si_of: Usd.Stage | None = None
) -> ActuatorSpec | None:
    """The spec of a prim as if it drove the joints of another one, without supply; problems are added to `issues`.

    Numbers are converted to SI from the units of the stage `si_of`, if it is given.
    """
    dofs = list(zip(like.targets, like.dof_names, strict=True))
    spec = _parse(prim, dofs, issues, False, False, None)
    return spec if spec is None or si_of is None else _in_si(spec, si_of, issues)


@reports_usd_errors
def stand_ins_on(stage: Usd.Stage, path: str) -> list[Config]:
    """The readable stand-ins of a prim for laws that newton does not know, in SI."""
    prim = stage.GetPrimAtPath(path)
    read = (read_config(prim, CONFIG_BY_SCHEMA[schema], []) for schema in sorted(stand_in_schemas(prim)))
    angular = [is_angular(axis_of(stage, joint, name)) for joint, name in dofs_driven(prim)]
    return [from_stage(config, units_of(stage), angular) for config in read if config is not None]


def targets_of(prim: Usd.Prim) -> list[tuple[str, str]]:
    """Path of the joint and axis of each target, `</Robot/hip>` without axis or `</Robot/hip.rotX>`."""
    found = targets(prim, TARGETS)
    return [(str(path.GetPrimPath()), path.name if path.IsPropertyPath() else "") for path in found]


def dofs_driven(prim: Usd.Prim) -> list[tuple[str, str]]:
    """Path of the joint and name of the DOF of each target that is a DOF of the stage."""
    found = []
    for path, axis in targets_of(prim):
        names = dof_names(prim.GetStage(), [path] * len(_axes_at(prim, path)))
        if (name := _dof_name(prim, path, axis, names)) is not None:
            found.append((path, name))
    return found


def _axes_at(prim: Usd.Prim, joint: str) -> tuple[str, ...]:
    return axes_of(prim.GetStage().GetPrimAtPath(joint))


def _dof_name(prim: Usd.Prim, joint: str, axis: str, names: Sequence[str]) -> str | None:
    """The DOF of a joint that a target means; None if it names none of them, or no axis of several."""
    if len(names) == 1 and axis in ("", *_axes_at(prim, joint)):
        return names[0]
    return next((name for name in names if axis and axis_in(name) == axis), None)


def _driven(
    prim: Usd.Prim,
    targets: Sequence[tuple[str, str]],
    owned: Mapping[str, Sequence[str]],
    root: str,
    driven_by: dict[tuple[str, str], str],
    issues: list[str],
) -> list[tuple[str, str]]:
    """Joint and DOF of each target; notes in `driven_by` which prim drives each DOF, and problems in `issues`."""
    path = str(prim.GetPath())
    where = f"<{path}>.{TARGETS}"
    if layer := opinion_of_other_kind(prim, TARGETS, Sdf.RelationshipSpec):
        issues.append(
            f"{where} ({layer}) is an attribute: must be a relationship. Author `rel {TARGETS} = <joint>` instead."
        )
        return []
    if not targets:
        issues.append(f"{where} is empty: an actuator drives a joint. Author a target or deactivate the prim.")
    found: list[tuple[str, str]] = []
    for target, axis in targets:
        names = owned.get(target, ())
        name = _dof_name(prim, target, axis, names)
        dof = target, name or ""
        problem = _joint_problem(prim, target, names, root) or (
            _axis_problem(prim, target, axis, names) if name is None else _taken(driven_by.get(dof))
        )
        if problem:
            issues.append(f"{where} = <{target}{'.' + axis if axis else ''}>: {problem}")
        else:
            driven_by[dof] = path
        found.append((target, name or target.rsplit("/", 1)[-1]))
    return found


def _joint_problem(prim: Usd.Prim, target: str, names: Sequence[str], root: str) -> str:
    joint = prim.GetStage().GetPrimAtPath(target)
    if not joint or not on_stage(joint):
        return "no such prim, or it is inactive. Correct the path or deactivate the actuator."
    if not axes_of(joint):
        return (
            f"a {joint.GetTypeName() or 'typeless prim'}, must be a PhysicsRevoluteJoint, a "
            "PhysicsPrismaticJoint or an axis of a PhysicsJoint. Target another joint or deactivate the actuator."
        )
    if names:
        return ""
    return (
        f"not a joint of the articulation <{root}>. "
        "Target one of its joints or move the actuator to the robot it drives."
    )


def _axis_problem(prim: Usd.Prim, target: str, axis: str, names: Sequence[str]) -> str:
    free = [axis_in(one) for one in names] if len(names) > 1 else _axes_at(prim, target)
    example = f"{target}.{free[0]}" if len(names) > 1 else target
    return (
        f"{'no such axis' if axis else 'says no axis'} of the joint, which has {', '.join(free)}. "
        f"Target <{example}> for instance."
    )


def _taken(by: str | None) -> str:
    return f"already driven by <{by}>; a joint has one actuator. Deactivate one of the two." if by else ""


def _parse(
    prim: Usd.Prim,
    dofs: Sequence[tuple[str, str]],
    issues: list[str],
    files: bool,
    trusted: bool,
    supplies: Supplies | None,
) -> ActuatorSpec | None:
    """Return the spec of one prim, or None without a usable controller; problems are added to `issues`.

    A controller schema of a later version is not used: the joint keeps its own drive, with a warning.
    """
    path = str(prim.GetPath())
    configs, of_later_version = _read_laws(prim, issues)
    configs[SupplyConfig.KIND] += [] if supplies is None else supplies.of(path, issues)
    several = _refuse_several(path, configs, issues)
    if idle := [*properties_without_effect(prim), *values_without_effect(prim)]:
        warnings.warn("\n".join(idle), stacklevel=3)
    if not _can_act(prim, configs, of_later_version, issues):
        return None
    usable = itertools.chain.from_iterable(found for kind, found in configs.items() if kind not in several)
    stages = _at_their_motors(prim, [*filter(None, usable)])
    _warn_of_idle_values(path, stages)
    _warn_of_overwritten_values(prim, stages)
    model = _model_path(stages) if files else ""
    joints, names = zip(*dofs, strict=True) if dofs else ((), ())
    spec = ActuatorSpec(
        path=path,
        targets=joints,
        dof_names=names,
        checkpoint=read_network(prim, model, issues, trusted) if model else None,
        **parts_of(stages),
    )
    is_whole = None not in itertools.chain.from_iterable(configs.values())
    issues += combination_problems(spec, f"<{spec.path}>") if is_whole else []
    return spec


def _at_their_motors(prim: Usd.Prim, stages: list[Config]) -> list[Config]:
    """Stages with the values of the motor where they have a transmission; the prim has newton's at the joint."""
    gear = transmission_among(stages)
    # a missing ratio is a problem that has been noted
    if gear is None or not gear.ratio:
        return stages
    return [as_read(one, gear.ratio, attributes_on(prim, type(one))) for one in stages]


def _model_path(stages: Sequence[Config]) -> str:
    """The file of the first network; empty for none."""
    networks = (one for one in stages if isinstance(one, NeuralControlConfig) and one.model_path)
    return next((str(one.model_path) for one in networks), "")


def _refuse_several(path: str, configs: Mapping[str, list[Config | None]], issues: list[str]) -> list[str]:
    """The kinds of which a prim has several and may have one; controllers are reported elsewhere."""
    several = [kind for kind in KINDS if len(configs[kind]) > 1 and not (KINDS[kind].many or kind == "controller")]
    for kind in several:
        # one with problems is None
        has = [config.SCHEMA for config in configs[kind] if config is not None]
        issues.append(f"<{path}> has {kind} schemas {has}: must have at most one. Apply one of them.")
    return several


def _read_laws(prim: Usd.Prim, issues: list[str]) -> tuple[dict[str, list[Config | None]], bool]:
    """Configs of each kind, None for one with problems; and True if a schema may be one of a later version."""
    configs: dict[str, list[Config | None]] = {kind: [] for kind in KINDS}
    unknown = []
    of_later_version = False
    for_others = stand_in_schemas(prim)
    for schema in current_schemas(prim):
        if schema in for_others:
            continue
        if problem := schema_problem(prim, schema):
            unknown.append(problem)
            of_later_version |= may_be_later(schema)
        elif foreign := foreign_config(prim, schema):
            issues += lacking(prim, schema)
            configs[foreign.KIND].append(foreign)
        elif config_type := CONFIG_BY_SCHEMA.get(schema):
            configs[config_type.KIND].append(read_config(prim, config_type, issues))
    if unknown:
        drives = "" if configs["controller"] or not of_later_version else " Its joints keep their own drives meanwhile."
        warnings.warn("\n".join(unknown) + drives, stacklevel=4)
    return configs, of_later_version


def _warn_of_unloaded(stage: Usd.Stage, root: str, owner: Ownership) -> None:
    if unloaded := [path for path in unloaded_payloads(stage) if owner.is_near(path)]:
        warnings.warn(
            f"<{root}>: actuators in payloads that are not loaded are not read: {', '.join(unloaded)}. "
            "Load them, `stage.Load(path)`, if they hold any.",
            stacklevel=3,
        )


def _warn_of_idle_values(path: str, stages: Sequence[Config]) -> None:
    for config in stages:
        for name, why in config.idle().items():
            value = f"{parameters_of(config)[name].attribute} = {getattr(config, name):g}"
            warnings.warn(f"<{path}>: {value} has no effect, for {why}", stacklevel=3)


def _can_act(
    prim: Usd.Prim, configs: Mapping[str, list[Config | None]], of_later_version: bool, issues: list[str]
) -> bool:
    controllers = configs["controller"]
    if len(controllers) == 1 or {KINDS[kind].alone for kind, found in configs.items() if found} == {True}:
        return True
    # one with problems is None: these come first
    usable = [config for config in controllers if config is not None]
    if len(usable) == len(controllers) and (controllers or not of_later_version):
        issues.append(_controllers_problem(prim, usable))
    return False


def _controllers_problem(prim: Usd.Prim, controllers: Sequence[Config]) -> str:
    """The error of a prim with no controller, or several: a schema that is not known may be of one."""
    has = [config.SCHEMA for config in controllers] or "none"
    # as those of other programs are, which are no error beside a controller
    if not controllers and (strange := strange_schemas(prim)):
        return (
            f"<{prim.GetPath()}> has no controller schema that is known: {', '.join(strange)} may be your own law. "
            "Use --plugin with its Python file, or register_actuator_component in a program; else apply a controller "
            "schema or deactivate the prim."
        )
    return f"<{prim.GetPath()}> has controller schemas {has}: must have exactly one. Apply one or deactivate the prim."


def _in_si(spec: ActuatorSpec, stage: Usd.Stage, issues: list[str]) -> ActuatorSpec:
    """The same actuator with its numbers in SI, as networks always are; problems are added to `issues`."""
    units = units_of(stage)
    if units.si:
        return spec
    dofs = zip(spec.targets, spec.dof_names, strict=True)
    angular = [is_angular(axis_of(stage, joint, name)) for joint, name in dofs]
    issues += [
        f"<{spec.path}> applies {config.SCHEMA}, whose units are not known, on a stage with metersPerUnit = "
        f"{units.length:g} and kilogramsPerUnit = {units.mass:g}: must be in metres and kilograms. Convert the stage."
        for config in spec.stages
        if isinstance(config, ForeignConfig)
    ]
    try:
        converted = dataclasses.replace(spec, **spec.each(lambda config: from_stage(config, units, angular)))
        for there, in_si in zip(spec.stages, converted.stages, strict=True):
            for name, one in parameters_of(there).items():
                value, now = getattr(there, name), getattr(in_si, name)
                if one.accepts(value) and not one.accepts(now):
                    issues.append(
                        f"<{spec.path}>.{one.attribute} = {shown(value)}: is {shown(now)} in SI, {one.rule}. Author a "
                        "value in that range or deactivate the prim."
                    )
        return converted
    except ValueError as error:
        issues.append(f"<{spec.path}>: {error}")
        return spec


def _warn_of_overwritten_values(prim: Usd.Prim, stages: Sequence[Config]) -> None:
    """Warn of laws whose values are in attributes that another law of the prim has, or a stand-in of another one."""
    for config in stages:
        stored, own = attributes_on(prim, type(config)), attributes_of(type(config))
        if stored == own:
            continue
        listed, nearest = stand_in_schemas(prim), stand_ins(stages)
        others = [other for other in stages if other is not config]
        others += [one for at, one in nearest.items() if stages[at] is not config and one.SCHEMA in listed]
        for other in others:
            if shared := set(attributes_on(prim, type(other)).values()).intersection(stored.values()):
                warnings.warn(
                    f"<{prim.GetPath()}> applies {config.SCHEMA} and {other.SCHEMA}, both with values in "
                    f"{', '.join(sorted(shared))}, of which those of one law have overwritten those of the other. "
                    f"Author those of {config.SCHEMA} in {', '.join(own.values())}.",
                    stacklevel=4,
                )


class Ownership:
    """The actuator prims of one articulation, given by the paths of its root prim and joints.

    A prim belongs to the articulation of one of its targets, wherever the prim is. Without such a target it belongs to
    the articulation nearest to it: the first one at or above the prim, or the only one below a prim on the way. If that
    is none, it belongs to the articulation nearest to its targets.
    """

    def __init__(self, stage: Usd.Stage, root: str, joints: Iterable[str]) -> None:
        self._stage = stage
        self._joints = set(joints)
        roots = articulation_roots(stage)
        self._nearest = _nearest_roots(roots)
        # the root of a host's articulation may have no schema
        if self._nearest_to(root) is None:
            self._nearest = _nearest_roots([*roots, root])
        self._here = self._nearest_to(root)

    def of(self, path: str, targets: Collection[str]) -> Literal["ours", "another's", "nobody's"]:
        """The owner of the prim at `path`."""
        if not self._joints.isdisjoint(targets):
            return "ours"
        home = next(filter(None, map(self._nearest_to, (path, *targets))), None)
        if home not in (None, self._here):
            return "another's"
        elsewhere = targets and all(self._is_of_no_articulation(target) for target in targets)
        return "nobody's" if elsewhere or home is None else "ours"

    def is_near(self, path: str) -> bool:
        """Return True if no other articulation is nearer to the prim at `path`."""
        return self._nearest_to(path) == self._here

    def _nearest_to(self, path: str) -> str | None:
        above = reversed(Sdf.Path(path).GetPrefixes())
        return next((self._nearest[prim] for prim in above if prim in self._nearest), None)

    def _is_of_no_articulation(self, target: str) -> bool:
        if not axes_of(self._stage.GetPrimAtPath(target)):
            return False
        if self._nearest_to(target) not in (None, self._here):
            return False
        bodies = set(bodies_of(self._stage, target))
        return bool(bodies) and not any(bodies.intersection(bodies_of(self._stage, joint)) for joint in self._joints)


def _nearest_roots(roots: Collection[str]) -> dict[Sdf.Path, str | None]:
    """The root of each root and of each prim above one: itself, or the only one below it; None for several."""
    nearest: dict[Sdf.Path, str | None] = {}
    for root in roots:
        for above in Sdf.Path(root).GetPrefixes():
            nearest[above] = None if above in nearest else root
    return nearest | {Sdf.Path(root): root for root in roots}
