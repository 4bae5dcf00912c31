"""Write actuator prims: everything is checked first, then each is written in one change block."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

import numpy as np
from pxr import Gf, Sdf, Usd, Vt

from ...base.errors import shown
from ...laws.contract.base import Component
from ...specs.actuator_spec import ACTUATOR_TYPE, ActuatorSpec
from ...specs.configs import CONFIGS, Config, NeuralControlConfig
from ...specs.fields import Parameter, in_single, parameters_of, violations
from ...specs.roots import unloaded_hint
from ...specs.stages import KINDS, Staged
from ...specs.stand_ins import LISTED, stand_ins
from ...specs.supply import SupplyConfig
from ...specs.transmission import TransmissionConfig, as_read, as_stored, transmission_among
from .articulation import axes_of, dof_names, every_prim, is_part, joints_of, undo_on_error, unloaded_at
from .assets import note_authored
from .axes import address, axis_in, is_angular
from .discover import dofs_driven
from .fallbacks import marked, take_back, write_envelope, write_fallback
from .joint_properties import axis_of, write_properties
from .schema import INTERVAL, TARGETS, is_actuator
from .shared import classes_of, drop_unused, free_name, own_specs
from .supplies import forget_supplies, write_supplies
from .units import from_stage, to_stage, units_of


def asset_text(path: str | PurePath) -> str:
    """The path of a file in USD's notation."""
    return path.as_posix() if isinstance(path, PurePath) else path


# USD value type of each kind of parameter, and the conversion of its value
_VALUE_TYPES: dict[str, tuple[Sdf.ValueTypeName, Callable[[Any], object]]] = {
    "float": (Sdf.ValueTypeNames.Float, float),
    "int": (Sdf.ValueTypeNames.Int, int),
    "bool": (Sdf.ValueTypeNames.Bool, bool),
    "token": (Sdf.ValueTypeNames.Token, str),
    "float[]": (Sdf.ValueTypeNames.FloatArray, lambda table: Vt.FloatArray([float(value) for value in table])),
    "token[]": (Sdf.ValueTypeNames.TokenArray, lambda names: Vt.TokenArray(list(names))),
    "asset": (Sdf.ValueTypeNames.Asset, lambda path: Sdf.AssetPath(asset_text(path))),
}


# values by path of the joint and name of the DOF
ByDof = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class EqualMotors:
    """Joints with equal actuators, each of which gets a prim with its name; path and network of the spec are ignored.

    `shared` is the name of the class prim that holds the values of several joints.
    """

    spec: ActuatorSpec
    names: Sequence[str]
    shared: str
    intervals: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict[str, tuple[float, float]])

    @property
    def dofs(self) -> list[tuple[str, str]]:
        """Path of the joint and name of each DOF."""
        return list(zip(self.spec.targets, self.spec.dof_names, strict=True))


@dataclass(frozen=True)
class _Prim:
    """A prim to be written, with laws in the units of the stage.

    Targets are joints, or axes of joints, that it drives, none for a class prim. It inherits laws from a class prim, or
    has them, but for its supply, which is a prim of its own.
    """

    path: Sdf.Path
    configs: Sequence[Config] = ()
    targets: Sequence[Sdf.Path] = ()
    inherits: Sdf.Path | None = None
    supply: SupplyConfig | None = None

    @classmethod
    def of(cls, path: Sdf.Path, configs: Sequence[Config], targets: Sequence[Sdf.Path]) -> _Prim:
        """Return the prim of an actuator with all these laws."""
        supply = next((one for one in configs if isinstance(one, SupplyConfig)), None)
        return cls(path, [one for one in configs if one is not supply], targets, supply=supply)


def author_actuator(
    stage: Usd.Stage,
    articulation_root: str,
    target_names: str | Sequence[str],
    name: str,
    stages: Staged,
    *,
    overwrite_existing: bool,
) -> Usd.Prim:
    """Define `<articulation_root>/Actuators/<name>`; see `add_actuator` for the contract."""
    _require_stage(stage)
    root = _root_prim(stage, str(articulation_root))
    if not isinstance(name, str) or not _is_unicode(name) or not Sdf.Path.IsValidIdentifier(name):
        raise ValueError(
            f"name = {name!r}: must be a USD identifier (letters, digits, '_', not starting with a digit). Rename it."
        )
    configs = _check_configs(stages)
    targets = _resolve_targets(root, target_names)
    path = root.GetPath().AppendChild("Actuators").AppendChild(name)
    _check_place(stage, path, targets, overwrite_existing)
    axes = [(str(one.GetPrimPath()), _axis(stage, one)) for one in targets]
    with undo_on_error(stage):
        take_back(stage, axes, [path])
        prim = _Prim.of(path, _on_stage(stage, configs, targets), targets)
        _write(stage, prim)
        write_supplies(stage, path.GetParentPath(), {path: prim.supply}, write_configs)
        _write_fallbacks(stage, dict.fromkeys(axes), configs)
    return stage.GetPrimAtPath(path)


def joints_to_drive(stage: Usd.Stage, articulation_root: str) -> tuple[list[str], list[str]]:
    """Names of the DOFs of a robot in an articulation, and the path of the joint of each."""
    _require_stage(stage)
    root = _root_prim(stage, str(articulation_root))
    paths = [str(prim.GetPath()) for prim in joints_of(root) if is_part(prim) for _ in axes_of(prim)]
    return dof_names(stage, paths), paths


def author_actuators(
    stage: Usd.Stage,
    articulation_root: str,
    motors: Sequence[EqualMotors],
    properties: Sequence[tuple[str, ByDof]],
    rotors: ByDof,
    *,
    overwrite_existing: bool,
) -> list[Usd.Prim]:
    """Define `<articulation_root>/Actuators/<name>` for each joint, all or none; see `add_motors` for the contract.

    Each joint has a prim of its own: newton and Isaac Sim drive only the first target of a prim. Prims with equal
    values inherit them from a class prim. `properties` are those of joints, by name, and `rotors` the armatures of
    joints that rotors of the actuators have, which other actuators remove. `overwrite_existing` replaces prims that
    drive these joints or have these names.
    """
    root = _root_prim(stage, str(articulation_root))
    scope = root.GetPath().AppendChild("Actuators")
    driven = set(itertools.chain.from_iterable(one.dofs for one in motors))
    places = set(map(scope.AppendChild, itertools.chain.from_iterable(one.names for one in motors)))
    problems, obsolete = others_driving(stage, driven, places, overwrite_existing)
    planned = _plan(stage, root, motors, problems, overwrite_existing)
    if problems:
        raise ValueError("\n".join(dict.fromkeys(problems)))
    with undo_on_error(stage):
        take_back(stage, _axes(stage, driven), [*obsolete, *places])
        for name, values in properties:
            axes = _axes(stage, values)
            if name == "armatures":
                _hold_newtons(stage, axes)
            write_properties(stage, {name: np.array(list(values.values()))}, axes)
        _remove(stage, [*obsolete, *places])
        _write_planned(stage, scope, planned)
        for one in motors:
            inertias = dict(zip(_axes(stage, one.dofs), map(rotors.get, one.dofs), strict=True))
            _write_fallbacks(stage, inertias, one.spec.stages)
            for name, (parameter, pair) in itertools.product(one.names, one.intervals.items()):
                prim = stage.GetPrimAtPath(scope.AppendChild(name))
                prim.CreateAttribute(f"{INTERVAL}{parameter}", Sdf.ValueTypeNames.Double2).Set(Gf.Vec2d(*pair))
    return [stage.GetPrimAtPath(prim.path) for prim in itertools.chain.from_iterable(prims for _, prims in planned)]


def _write_planned(stage: Usd.Stage, scope: Sdf.Path, planned: Sequence[tuple[str, list[_Prim]]]) -> None:
    for shared, prims in planned:
        values, with_class = prims[0].configs, prims
        if len(prims) > 1 and all(prim.configs == values for prim in prims):
            # equal values are those of a class prim
            of_class = scope.AppendChild(free_name(stage, scope, f"_{shared}"))
            heirs = [_Prim(prim.path, (), prim.targets, of_class) for prim in prims]
            with_class = [_Prim(of_class, values), *heirs]
        with Sdf.ChangeBlock():
            for prim in with_class:
                _write(stage, prim)
    supplies = {prim.path: prim.supply for _, prims in planned for prim in prims}
    write_supplies(stage, scope, supplies, write_configs)


def _plan(
    stage: Usd.Stage, root: Usd.Prim, motors: Sequence[EqualMotors], problems: list[str], overwrite_existing: bool
) -> list[tuple[str, list[_Prim]]]:
    """Name of the class prim and prims of each motor; problems are added to `problems`."""
    planned: list[tuple[str, list[_Prim]]] = []
    for one in motors:
        try:
            configs = _check_configs(one.spec)
            targets = _resolve_targets(root, [address(joint, name) for joint, name in one.dofs])
            prims: list[_Prim] = []
            for name, target in zip(one.names, targets, strict=True):
                path = root.GetPath().AppendChild("Actuators").AppendChild(name)
                _check_place(stage, path, [target], overwrite_existing)
                prims.append(_Prim.of(path, _on_stage(stage, configs, [target]), [target]))
            planned.append((one.shared, prims))
        except ValueError as error:
            problems.append(str(error))
    return planned


def _hold_newtons(stage: Usd.Stage, axes: Sequence[tuple[str, str]]) -> None:
    """Author newton's attribute of the armature, which is then written with the others."""
    for prim in (stage.GetPrimAtPath(joint) for joint, axis in axes if axis in ("angular", "linear")):
        if not prim.GetAttribute("newton:armature").HasAuthoredValue():
            prim.AddAppliedSchema("NewtonJointAPI")
            prim.CreateAttribute("newton:armature", Sdf.ValueTypeNames.Float, custom=False).Set(0.0)


def _write_fallbacks(
    stage: Usd.Stage, rotors: Mapping[tuple[str, str], float | None], configs: Sequence[Config]
) -> None:
    """Author friction and rotors of an actuator on its joints too, and its envelope on their drives; in SI."""
    for axis, rotor in rotors.items():
        with marked(stage, axis):
            if rotor is not None:
                _hold_newtons(stage, [axis])
                write_properties(stage, {"armatures": np.array([rotor])}, [axis])
            write_fallback(stage, [axis], configs)
            write_envelope(stage, [axis], configs)


def _axes(stage: Usd.Stage, dofs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(joint, axis_of(stage, joint, name)) for joint, name in dofs]


def _remove(stage: Usd.Stage, paths: Iterable[Sdf.Path]) -> None:
    """Remove prims and the class prims without heirs; no-op for paths without a prim."""
    removed = [prim for path in paths if (prim := stage.GetPrimAtPath(path))]
    forget_supplies(stage, [prim.GetPath() for prim in removed])
    classes = {path for prim in removed for path in classes_of(prim)}
    for path in [prim.GetPath() for prim in removed]:
        stage.RemovePrim(path)
    drop_unused(stage, classes)


def others_driving(
    stage: Usd.Stage, driven: set[tuple[str, str]], places: set[Sdf.Path], overwrite_existing: bool
) -> tuple[list[str], list[Sdf.Path]]:
    """Problems with other prims that drive some of the DOFs, and those prims that are to be removed.

    DOFs are given by path of the joint and name; prims at `places` are overwritten anyway.
    """
    problems: list[str] = []
    obsolete: list[Sdf.Path] = []
    for prim in filter(is_actuator, every_prim(stage.GetPseudoRoot())):
        if prim.GetPath() in places or driven.isdisjoint(dofs := dofs_driven(prim)):
            continue
        if not overwrite_existing:
            why = ". Deactivate that prim, or pass overwrite_existing=True."
        elif not driven.issuperset(dofs):
            why = ", which drives other joints too. Give those a motor, or deactivate that prim."
        elif any(spec.layer != stage.GetEditTarget().GetLayer() for spec in own_specs(prim)):
            why = ", which is defined in another layer than the edit target. Deactivate that prim."
        else:
            obsolete.append(prim.GetPath())
            continue
        joint, name = next(dof for dof in dofs if dof in driven)
        axis = f" ({name})" if axis_in(name) else ""
        problems.append(f"joint <{joint}>{axis} is driven by <{prim.GetPath()}> already{why}")
    return problems, obsolete


def _require_stage(stage: Usd.Stage) -> None:
    if not isinstance(stage, Usd.Stage):
        raise TypeError(f"stage = {stage!r}: must be a Usd.Stage. Open one: `stage=Usd.Stage.Open(path)`.")


def _root_prim(stage: Usd.Stage, path: str) -> Usd.Prim:
    is_path = _is_unicode(path) and Sdf.Path.IsValidPathString(path)
    root = stage.GetPrimAtPath(path) if is_path else None
    if not root or root.IsPseudoRoot():
        unloaded = unloaded_at(stage, path) if is_path else []
        raise ValueError(
            f"articulation_root = {path!r}: no such prim on the stage. Give the path of the robot's prim."
            f"{unloaded_hint(unloaded)}"
        )
    if root.IsInstance() or root.IsInstanceProxy():
        raise ValueError(
            f"articulation_root = <{path}> is instanced and cannot be edited here. "
            "Author the actuator in the referenced file, or make the prim uninstanceable first."
        )
    return root


def _is_unicode(text: str) -> bool:
    """Return True if a text has no lone surrogates, which USD cannot read."""
    return text.encode(errors="ignore").decode() == text


def _check_configs(staged: Staged) -> list[Config]:
    """The configs in the order of their schemas: that of the pipeline, with the delay last."""
    if staged.clamping is not None and not isinstance(staged.clamping, list | tuple):
        raise TypeError(f"clamping = {staged.clamping!r}: must be a list of clamping configs. Write clamping=[...].")
    if staged.controller is None and not (bool(staged.others) and all(KINDS[kind].alone for kind, _ in staged.by_kind)):
        _require_kind("controller", None, "controller")
    for kind, config in staged.by_kind:
        _require_kind(kind or "others", config, kind)
    configs = list(staged.as_listed)
    _check_values(configs)
    return configs


def _check_values(configs: Sequence[Config]) -> None:
    schemas = [config.SCHEMA for config in configs]
    for at, config in enumerate(configs):
        if config.SCHEMA in schemas[:at]:
            raise ValueError(
                f"{config.KIND} holds {type(config).__name__} twice: each schema can be applied once. Keep one of them."
            )
    if problems := [message for config in configs for message in violations(config, type(config).__name__)]:
        raise ValueError("\n".join(problems))


def _require_kind(argument: str, config: object, kind: str) -> None:
    known = [known for known in CONFIGS if kind == known.KIND]
    if not isinstance(config, tuple(known)):
        words = KINDS[kind].words if kind else "a stage"
        names = ", ".join(one.__name__ for one in known) or "one of a kind without an argument of its own"
        is_own = isinstance(config, Component)
        own = " A law of your own has a prim with the schema of register_actuator_component." * is_own
        raise TypeError(f"{argument} = {config!r}: must be a config of {words} ({names}).{own}")


def _resolve_targets(root: Usd.Prim, target_names: str | Sequence[str]) -> list[Sdf.Path]:
    """The target of each named DOF of the robot at `root`, in the given order: a joint, or `joint.axis`."""
    single = isinstance(target_names, str) or not isinstance(target_names, Iterable)
    names: list[Any] = [target_names] if single else list(target_names)
    if not names:
        raise ValueError("target_names is empty: an actuator drives a joint. Name at least one.")
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"target_names = {target_names!r}: must be the name of a joint or a list of names.")
    joints: dict[str, list[Usd.Prim]] = {}
    for prim in joints_of(root):
        joints.setdefault(prim.GetName(), []).append(prim)
        joints[str(prim.GetPath())] = [prim]
    targets: list[Sdf.Path] = []
    for name in names:
        target = _target(root, joints, name)
        if target in targets:
            raise ValueError(f"joint {name!r} is named twice in target_names. Name each joint once.")
        targets.append(target)
    return targets


def _target(root: Usd.Prim, joints: Mapping[str, Sequence[Usd.Prim]], name: str) -> Sdf.Path:
    """The target of a DOF; `joints` are those of the robot by name and by path."""
    joint, _, axis = name.partition(":")
    prim = _joint(root, joints, joint)
    free = axes_of(prim)
    if not free:
        raise ValueError(
            f"joint {joint!r} is a {prim.GetTypeName()}: only revolute and prismatic joints, and generic ones with a "
            "free axis, can be driven. Name another joint."
        )
    if axis not in free if axis else len(free) > 1:
        raise ValueError(
            f"{name!r}: {'no such axis' if axis else 'says no axis'} of joint {joint!r}, which has {', '.join(free)}. "
            f"Name {':'.join([joint, free[0]])!r} for instance."
        )
    return prim.GetPath().AppendProperty(axis) if len(free) > 1 else prim.GetPath()


def _joint(root: Usd.Prim, joints: Mapping[str, Sequence[Usd.Prim]], joint: str) -> Usd.Prim:
    found = joints.get(joint, [])
    if not found:
        raise ValueError(
            f"joint {joint!r}: not of <{root.GetPath()}>. "
            f"Available: {sorted(known for known in joints if not known.startswith('/'))}."
            f"{unloaded_hint(unloaded_at(root.GetStage(), root.GetPath()))}"
        )
    if len(found) > 1:
        paths = [str(prim.GetPath()) for prim in found]
        raise ValueError(f"joint {joint!r}: name found {len(paths)} times: {paths}. Give the path that is meant.")
    return found[0]


def _on_stage(stage: Usd.Stage, configs: Sequence[Config], targets: Sequence[Sdf.Path]) -> list[Config]:
    """The configs in units of the stage; a `ValueError` has a line for each number out of range, there or read back."""
    units, angular = units_of(stage), [is_angular(_axis(stage, path)) for path in targets]
    there = [to_stage(config, units, angular) for config in configs]
    gear = transmission_among(there)
    stored = [_in_single(one) for one in as_in_file(there, gear)]
    read, behind = stored, ""
    if gear is not None:
        read, behind = [as_read(one, gear.ratio) for one in stored], f", behind a gear of {gear.ratio:g}"
    if problems := _misfits(configs, stored, "would be") or _misfits(
        configs, [from_stage(one, units, angular) for one in read], "would be read as"
    ):
        where = f"on this stage, with metersPerUnit = {units.length:g} and kilogramsPerUnit = {units.mass:g}"
        raise ValueError("\n".join(f"{one} It is {where}{behind}." for one in problems))
    return there


def _in_single(config: Config) -> Config:
    numbers: dict[str, object] = {}
    for name, described in parameters_of(config).items():
        value = getattr(config, name)
        if described.type == "float[]":
            numbers[name] = [in_single(one) for one in value]
        elif described.type == "float":
            numbers[name] = in_single(value)
    return dataclasses.replace(cast(Any, config), **numbers) if numbers else config


def _misfits(configs: Sequence[Config], others: Sequence[Config], become: str) -> list[str]:
    wrong = [
        f"{type(config).__name__}.{name} = {shown(getattr(config, name))}: {become} {shown(getattr(other, name))}, "
        f"{described.rule}. Give a value in that range."
        for config, other in zip(configs, others, strict=True)
        for name, described in parameters_of(config).items()
        # where inf switches a limit off, a number does not
        if not described.accepts(now := getattr(other, name)) or (now == math.inf != getattr(config, name))
    ]
    return wrong or [message for one in others for message in violations(one, type(one).__name__)]


def _axis(stage: Usd.Stage, target: Sdf.Path) -> str:
    return target.name if target.IsPropertyPath() else axes_of(stage.GetPrimAtPath(target))[0]


def _check_place(stage: Usd.Stage, path: Sdf.Path, targets: list[Sdf.Path], overwrite_existing: bool) -> None:
    """Raise for a place where the prim would not be on the stage as a whole."""
    target = stage.GetEditTarget()
    _require_editable(target, (path, *targets))
    robot, scope = map(stage.GetPrimAtPath, path.GetPrefixes()[-3:-1])
    if not _is_composed(scope or robot, target):
        raise ValueError(
            f"<{path}> would not be on the stage: the edit target {target.GetLayer().GetDisplayName()} is muted, or is "
            "a variant that is not selected. Unmute the layer, select the variant, or set another edit target."
        )
    if not stage.GetPopulationMask().Includes(path):
        raise ValueError(f"<{path}> is outside the population mask of the stage. Extend the mask to hold it.")
    if scope and (scope.IsInstance() or not scope.IsActive()):
        raise ValueError(
            f"<{scope.GetPath()}> is {'instanced' if scope.IsInstance() else 'inactive'}: a prim below it would have "
            "no effect. Make it uninstanceable and active first."
        )
    if existing := stage.GetPrimAtPath(path):
        if not overwrite_existing:
            raise ValueError(f"<{path}> exists already. Choose another name or pass overwrite_existing=True.")
        _require_removable(existing, target)


def _require_removable(existing: Usd.Prim, target: Usd.EditTarget) -> None:
    path = existing.GetPath()
    layer, here = target.GetLayer(), target.MapToSpecPath(path)
    elsewhere = [spec.layer for spec in own_specs(existing) if spec.layer != layer or spec.path != here]
    if elsewhere:
        raise ValueError(
            f"<{path}> is also defined in layer {elsewhere[0].GetDisplayName()}, which the edit target "
            f"{layer.GetDisplayName()} cannot remove. Overwrite it there: set that layer as the edit target."
        )


def _require_editable(target: Usd.EditTarget, paths: Iterable[Sdf.Path]) -> None:
    layer = target.GetLayer()
    if layer is None:
        raise ValueError("the edit target of the stage has no layer. Set one: `stage.SetEditTarget(layer)`.")
    if not layer.permissionToEdit:
        raise ValueError(f"layer {layer.GetDisplayName()} is locked. Set another edit target or unlock it.")
    for needed in paths:
        if target.MapToSpecPath(needed).isEmpty:
            raise ValueError(
                f"<{needed}> is out of reach of the edit target {layer.GetDisplayName()}. "
                "Set an edit target that covers the robot."
            )


def _is_composed(prim: Usd.Prim, target: Usd.EditTarget) -> bool:
    """Return True if opinions of the edit target on `prim` are part of the stage."""
    # the index keeps its nodes alive; an expanded one includes empty nodes
    index = prim.ComputeExpandedPrimIndex()
    nodes = [index.rootNode]
    for node in nodes:
        nodes += node.children
    site = target.MapToSpecPath(prim.GetPath())
    return any(node.path == site and target.GetLayer() in node.layerStack.layers for node in nodes)


def _write(stage: Usd.Stage, prim: _Prim) -> None:
    """Write a prim into a layer of its own, then copy it into the edit target in one call: all or nothing."""
    target = stage.GetEditTarget()
    layer, spec_path = target.GetLayer(), target.MapToSpecPath(prim.path)
    # the topmost prim that the layer lacks
    top = spec_path
    while not (top.IsRootPrimPath() or layer.GetPrimAtPath(top.GetParentPath())):
        top = top.GetParentPath()
    draft, root = Sdf.Layer.CreateAnonymous("actuator"), Sdf.Path("/Draft")
    drafted = root if top == spec_path else root.AppendPath(spec_path.MakeRelativePath(top))
    _fill(Sdf.CreatePrimInLayer(draft, drafted), prim, target)
    # an over as parent would hide the prim
    above = stage.GetPrimAtPath(prim.path.GetParentPath())
    needs_scope = not (above and above.IsDefined())
    if needs_scope and top != spec_path:
        _define_scope(draft, drafted.GetParentPath())
    with Sdf.ChangeBlock():
        Sdf.CopySpec(draft, root, layer, top)
        if needs_scope and top == spec_path:
            _define_scope(layer, spec_path.GetParentPath())
    for config in prim.configs:
        if isinstance(config, NeuralControlConfig):
            note_authored(layer, asset_text(config.model_path))


def _define_scope(layer: Sdf.Layer, path: Sdf.Path) -> None:
    scope = layer.GetPrimAtPath(path)
    scope.specifier, scope.typeName = Sdf.SpecifierDef, "Scope"


def _fill(spec: Sdf.PrimSpec, prim: _Prim, target: Usd.EditTarget) -> None:
    if prim.targets:
        spec.specifier, spec.typeName = Sdf.SpecifierDef, ACTUATOR_TYPE
    else:
        # without a type it is no actuator
        spec.specifier = Sdf.SpecifierClass
    if prim.inherits is not None:
        spec.inheritPathList.prependedItems = [_path_in(target, prim.inherits)]
    if prim.configs:
        write_configs(spec, prim.configs, prim.configs)
    if prim.targets:
        relationship = Sdf.RelationshipSpec(spec, TARGETS)
        relationship.targetPathList.explicitItems = [_path_in(target, joint) for joint in prim.targets]


def _path_in(target: Usd.EditTarget, path: Sdf.Path) -> Sdf.Path:
    return target.MapToSpecPath(path).StripAllVariantSelections()


def write_configs(spec: Sdf.PrimSpec, configs: Sequence[Config], values_of: Sequence[Config]) -> None:
    """Write the schemas of laws into a spec, and the stand-ins of laws that newton does not know.

    Laws are in the units of the stage, before a transmission those of the motor; values are written of `values_of`
    only.
    """
    nearest = stand_ins(configs)
    applied = [one for at, config in enumerate(configs) for one in (config, nearest.get(at)) if one is not None]
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=[one.SCHEMA for one in applied]))
    for config in (*as_in_file(values_of, transmission_among(configs)), *nearest.values()):
        for field, described in parameters_of(config).items():
            write_attribute(spec, described.attribute, described, getattr(config, field))
    if nearest:
        attribute = _attribute(spec, LISTED, Sdf.ValueTypeNames.TokenArray)
        attribute.default = Vt.TokenArray([one.SCHEMA for one in nearest.values()])


def as_in_file(configs: Sequence[Config], gear: TransmissionConfig | None) -> list[Config]:
    """The laws with newton's values at the joint, as files have them, behind a gear or None."""
    return list(configs) if gear is None else [as_stored(one, gear.ratio) for one in configs]


def write_attribute(spec: Sdf.PrimSpec, name: str, described: Parameter, value: object) -> None:
    """Write the value of a parameter into a spec."""
    value_type, to_usd = _VALUE_TYPES[described.type]
    _attribute(spec, name, value_type).default = to_usd(described.word(value))


def _attribute(spec: Sdf.PrimSpec, name: str, value_type: Sdf.ValueTypeName) -> Sdf.AttributeSpec:
    found = spec.attributes.get(name)
    if found is None:
        found = Sdf.AttributeSpec(spec, name, value_type)
        found.custom = True
    return found
