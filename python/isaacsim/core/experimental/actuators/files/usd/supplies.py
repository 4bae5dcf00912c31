"""Supply prims: the battery of a robot as a prim of its own, whose relationship names the actuators that share it.

The schema may be on an actuator prim too, for that actuator alone. When stages are authored, equal supplies of a robot
become one prim beside its actuators.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pxr import Sdf, Usd

from ...specs.config import Config
from ...specs.supply import SupplyConfig
from .articulation import every_prim
from .authored import targets
from .schema import current_schemas, is_actuator, opinion_of_other_kind, read_config
from .shared import free_name, own_specs

ACTUATORS = "actuator:supply:actuators"
"""Relationship to the actuator prims that share the supply."""
PRIM_TYPE = "Scope"
"""Type of the prims that are written."""
Write = Callable[[Sdf.PrimSpec, Sequence[Config], Sequence[Config]], None]


def supply_prims(root: Usd.Prim) -> list[Usd.Prim]:
    """Prims at or below a prim with a supply that name actuators, in stage order."""
    return [
        prim
        for prim in every_prim(root)
        if not prim.IsPseudoRoot() and prim.HasProperty(ACTUATORS) and not is_actuator(prim)
        if SupplyConfig.SCHEMA in current_schemas(prim)
    ]


def robot_of(actuator: Usd.Prim) -> Usd.Prim:
    """The prim below which the supply of an actuator is looked for: its articulation root, or what holds its scope."""
    above = actuator.GetParent()
    while above and not above.IsPseudoRoot():
        if "PhysicsArticulationRootAPI" in above.GetAppliedSchemas():
            return above
        above = above.GetParent()
    return actuator.GetParent().GetParent() or actuator.GetParent()


def holder_of(prim: Usd.Prim, config_type: type[object]) -> Usd.Prim:
    """The prim with the values of a law of an actuator prim: the prim itself, or the supply prim that names it."""
    if config_type is not SupplyConfig or SupplyConfig.SCHEMA in current_schemas(prim):
        return prim
    found = (one for one in supply_prims(robot_of(prim)) if prim.GetPath() in targets(one, ACTUATORS))
    return next(found, prim)


class Supplies:
    """The supplies at or below a prim, read when an actuator with one is read."""

    def __init__(self, root: Usd.Prim) -> None:
        self._stage = root.GetStage()
        self._prims = supply_prims(root)
        self._named = [targets(prim, ACTUATORS) for prim in self._prims]
        self._read: dict[int, SupplyConfig | None] = {}

    def of(self, path: str, issues: list[str]) -> Iterator[SupplyConfig | None]:
        """The configs of the supplies that name an actuator, None for one with problems; each is read once."""
        for number, named in enumerate(self._named):
            if Sdf.Path(path) not in named:
                continue
            if number not in self._read:
                self._read[number] = read_config(self._prims[number], SupplyConfig, issues)
            yield self._read[number]

    def problems(self, ours: Collection[str], is_near: Callable[[str], bool]) -> list[str]:
        """Problems of the relationships of a robot's supplies, by its actuator prims and by which prims are near."""
        found: list[str] = []
        for prim, named in zip(self._prims, self._named, strict=True):
            paths, where = list(map(str, named)), f"<{prim.GetPath()}>.{ACTUATORS}"
            if not (set(paths) & set(ours)) and not is_near(str(prim.GetPath())):
                continue
            if opinion_of_other_kind(prim, ACTUATORS, Sdf.RelationshipSpec):
                found.append(f"{where} is an attribute: must be a relationship. Author the actuators as its targets.")
            elif not paths:
                found.append(f"{where} is empty: must name actuators of the robot. Name them or deactivate the prim.")
            found += [
                f"{where} = <{path}>: must be an actuator of the robot. Correct the path or remove it."
                for path in paths
                # an inactive one may be named
                if path not in ours and (not (there := self._stage.GetPrimAtPath(path)) or there.IsActive())
            ]
        return found


def write_supplies(
    stage: Usd.Stage, scope: Sdf.Path, supplies: Mapping[Sdf.Path, SupplyConfig | None], write: Write
) -> None:
    """Give actuator prims below a scope their supplies, equal ones in one prim, and take earlier ones from them.

    Supplies are in the units of the stage; `write` writes schemas and values of configs into a spec.
    """
    forget_supplies(stage, supplies)
    groups: list[tuple[SupplyConfig, list[Sdf.Path]]] = []
    for path, config in supplies.items():
        if config is None:
            continue
        members = next((paths for one, paths in groups if one == config), None)
        if members is None:
            groups.append((config, [path]))
        else:
            members.append(path)
    for config, paths in groups:
        _name(stage, _prim_of(stage, scope, config, write), paths)


def forget_supplies(stage: Usd.Stage, paths: Collection[Sdf.Path]) -> None:
    """Take actuator prims from the supply prims of the edit target, and remove those that name none any more."""
    for prim, spec in _own_supplies(stage):
        left = [path for path in targets(prim, ACTUATORS) if path not in paths]
        if len(left) == len(targets(prim, ACTUATORS)):
            continue
        if left:
            _set_targets(stage, spec, left)
        else:
            stage.RemovePrim(prim.GetPath())


def also_name(stage: Usd.Stage, path: Sdf.Path, others: Collection[Sdf.Path]) -> None:
    """Give further actuator prims the supply of a prim, in the edit target."""
    for prim in supply_prims(stage.GetPseudoRoot()):
        if path in targets(prim, ACTUATORS):
            _name(stage, prim.GetPath(), others)


def _own_supplies(stage: Usd.Stage) -> list[tuple[Usd.Prim, Sdf.PrimSpec]]:
    layer = stage.GetEditTarget().GetLayer()
    found = [(prim, own_specs(prim)) for prim in supply_prims(stage.GetPseudoRoot())]
    return [(prim, specs[0]) for prim, specs in found if len(specs) == 1 and specs[0].layer == layer]


def _prim_of(stage: Usd.Stage, scope: Sdf.Path, config: SupplyConfig, write: Write) -> Sdf.Path:
    for prim, _ in _own_supplies(stage):
        if prim.GetPath().GetParentPath() == scope and _stored(read_config(prim, SupplyConfig, [])) == _stored(config):
            return prim.GetPath()
    path = scope.AppendChild(free_name(stage, scope, "supply"))
    target = stage.GetEditTarget()
    with Sdf.ChangeBlock():
        spec = Sdf.CreatePrimInLayer(target.GetLayer(), target.MapToSpecPath(path))
        spec.specifier, spec.typeName = Sdf.SpecifierDef, PRIM_TYPE
        write(spec, [config], [config])
    return path


def _stored(config: object) -> array[float] | None:
    """The values of a config as a file holds them, in single precision."""
    return None if config is None else array("f", map(float, vars(config).values()))


def _name(stage: Usd.Stage, supply: Sdf.Path, actuators: Collection[Sdf.Path]) -> None:
    target = stage.GetEditTarget()
    named = dict.fromkeys([*targets(stage.GetPrimAtPath(supply), ACTUATORS), *actuators])
    _set_targets(stage, Sdf.CreatePrimInLayer(target.GetLayer(), target.MapToSpecPath(supply)), named)


def _set_targets(stage: Usd.Stage, spec: Sdf.PrimSpec, paths: Collection[Sdf.Path]) -> None:
    target = stage.GetEditTarget()
    relationship = spec.relationships.get(ACTUATORS) or Sdf.RelationshipSpec(spec, ACTUATORS)
    at = [target.MapToSpecPath(path).StripAllVariantSelections() for path in paths]
    relationship.targetPathList.explicitItems = at
