"""Values of actuators that a robot has for itself on the stage, unlike the prototype of all robots.

Robots on the stage are compared with the prototype, actuator by actuator; those that USD composes of the same specs
are not read. Robots that are copies of an environment are not on the stage: their values are in an `over` at the path
of the copy, such as `/World/envs/env_3/Arm/Actuators/knee`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from ..errors import ActuatorParseError
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import ForeignConfig
from ..specs.fields import parameters_of
from ..specs.supply import SupplyConfig
from .discover import parse_like, targets_of
from .schema import TARGETS
from .usd_errors import reports_usd_errors

_TEMPORARY = "/OwnValues"
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class OwnValue:
    """One number of an actuator of one robot that differs from the prototype's.

    Args:
        robot: Number of the robot.
        prim: Path of the actuator prim of that robot.
        actuator: Number of the actuator among those of the prototype.
        stage: Number of the stage among the actuator's.
        parameter: Name of the field of the config.
        value: Of this robot, in the units of the prototype's spec.
    """

    robot: int
    prim: str
    actuator: int
    stage: int
    parameter: str
    value: Any


@reports_usd_errors
def own_values(
    stage: Usd.Stage,
    specs: Sequence[ActuatorSpec],
    prototype: str,
    robots: Sequence[str],
    *,
    si: bool = False,
    issues: list[str] | None = None,
) -> list[OwnValue]:
    """Return the values that robots have for themselves, by robot.

    Args:
        stage: The stage.
        specs: The actuators of the prototype.
        prototype: Path of its articulation root.
        robots: Path of the articulation root of each robot; of copies that are not on the stage, where they would be.
        si: As for `discover`.
        issues: List to which problems are added; None means that they are raised.

    Raises:
        ActuatorParseError: Prims of a robot have problems, or other laws than the prototype; it lists all of them.
    """
    found: list[OwnValue] = []
    problems: list[str] = [] if issues is None else issues
    read: dict[str, _Said] = {}
    for number, robot in enumerate(robots):
        twins = _Twins(stage, prototype, robot, read)
        if robot == prototype or not twins.prim:
            continue
        if not twins.prim.IsDefined():
            problems += _strays(twins, specs)
        for at, spec in enumerate(specs):
            if twins.differ(spec.path):
                found += _of_actuator(twins, spec, si, problems, (number, at))
    if issues is None and problems:
        raise ActuatorParseError(problems)
    return found


def with_own_values(specs: Sequence[ActuatorSpec], found: Sequence[OwnValue], num_robots: int) -> list[ActuatorSpec]:
    """Return specs with arrays `(robots, joints)` in place of the numbers that differ; others are the same objects.

    Args:
        specs: The actuators of the prototype.
        found: Of `own_values`.
        num_robots: Number of robots.
    """
    tables: dict[tuple[int, int], dict[str, np.ndarray]] = {}
    for one in found:
        spec = specs[one.actuator]
        config = spec.stages[one.stage]
        described = parameters_of(config)[one.parameter]
        shape = num_robots, len(spec.dof_names)
        of_stage = tables.setdefault((one.actuator, one.stage), {})
        if one.parameter not in of_stage:
            dtype = np.int32 if described.type == "int" else np.float32
            of_stage[one.parameter] = np.full(shape, described.number(getattr(config, one.parameter)), dtype)
        of_stage[one.parameter][one.robot] = described.number(one.value)
    changed = list(specs)
    for at in dict.fromkeys(actuator for actuator, _ in tables):
        spec = specs[at]
        new = {
            id(config): dataclasses.replace(config, **tables[at, number])
            for number, config in enumerate(spec.stages)
            if (at, number) in tables
        }
        changed[at] = dataclasses.replace(spec, **spec.each(lambda config, new=new: new.get(id(config), config)))
    return changed


def robots_like(stage: Usd.Stage, root: str, roots: Sequence[str]) -> list[str]:
    """Return the robots that are copies of one by their paths; empty for a robot that is a copy itself.

    They are the articulation roots whose paths differ in numbers only, and the copies of environments that have an
    `over`, as `Simulation(num_envs=…)` names them.

    Args:
        stage: The stage.
        root: Path of the first robot.
        roots: Paths of all articulation roots, in stage order.
    """
    alike = [one for one in roots if _NUMBERS.sub("0", one) == _NUMBERS.sub("0", root)]
    return [] if alike[:1] != [root] else [*alike[1:], *_copies(stage, root)]


def _copies(stage: Usd.Stage, root: str) -> Iterator[str]:
    """Yield the paths of copies of a robot in environments that are not on the stage, and have an `over` there."""
    names = root.strip("/").split("/")
    if "env_0" in names:
        splits = [(names[: names.index("env_0")], names[names.index("env_0") + 1 :])]
    else:
        splits = [([*names[:at], "envs"], names[at:]) for at in range(len(names))]
    for above, below in splits:
        prim = stage.GetPrimAtPath("/" + "/".join(above)) if above else stage.GetPseudoRoot()
        for env in prim.GetAllChildren() if prim else ():
            path = "/".join([str(env.GetPath()), *below])
            if re.fullmatch(r"env_\d+", env.GetName()) and not env.IsDefined() and stage.GetPrimAtPath(path):
                yield path


@dataclass(frozen=True)
class _Said:
    """What an actuator prim of the prototype says."""

    values: dict[str, Any]
    names: list[str]
    schemas: list[str]
    targets: list[tuple[str, str]]


class _Twins:
    """Prims of one robot, by those of the prototype: their paths differ by what stands before a common ending."""

    def __init__(self, stage: Usd.Stage, prototype: str, robot: str, read: dict[str, _Said]) -> None:
        self.stage, self._read = stage, read
        self._old, self._new = _parted(prototype, robot)
        self.prim = stage.GetPrimAtPath(self._new)
        """The uppermost prim that is the robot's own."""
        self._alike: dict[str, bool] = {}

    def path(self, path: str) -> str:
        """Path of the robot's prim for one of the prototype."""
        inside = path == self._old or path.startswith(f"{self._old.rstrip('/')}/")
        return self._new + path[len(self._old.rstrip("/")) :] if inside else path

    def differ(self, path: str) -> bool:
        """Return True if the robot has an actuator prim of its own for one of the prototype, unlike it."""
        twin = self.path(path)
        if twin == path or self._composed_alike(path):
            return False
        new = self.stage.GetPrimAtPath(twin)
        if not new:
            return False
        return not new.IsDefined() or not new.IsActive() or not self._repeats(self.stage.GetPrimAtPath(path), new)

    def _composed_alike(self, path: str) -> bool:
        """Return True if a prim above `path` is composed of the same specs as the robot's, with nothing more."""
        at = path.find("/", len(self._old.rstrip("/")) + 1)
        # the robot's uppermost prim first
        ends = [len(self._old)] if self._old != "/" else []
        while at > 0:
            ends.append(at)
            at = path.find("/", at + 1)
        return any(self._is_alike(path[:end]) for end in ends)

    def _is_alike(self, path: str) -> bool:
        if path not in self._alike:
            old, new = self.stage.GetPrimAtPath(path), self.stage.GetPrimAtPath(self.path(path))
            self._alike[path] = bool(old and new) and _is_alike(old, new)
        return self._alike[path]

    def _repeats(self, old: Usd.Prim, new: Usd.Prim) -> bool:
        """Return True if a prim says what that of the prototype does, of its own joints."""
        said = self._said(old)
        return all(new.GetAttribute(name).Get() == value for name, value in said.values.items()) and (
            new.GetAuthoredPropertyNames() == said.names
            and new.GetAppliedSchemas() == said.schemas
            and [(self.path(joint), axis) for joint, axis in said.targets] == targets_of(new)
        )

    def _said(self, prim: Usd.Prim) -> _Said:
        """What a prim of the prototype says; read once for all robots."""
        path = str(prim.GetPath())
        if path not in self._read:
            values = {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes()}
            names, schemas = prim.GetAuthoredPropertyNames(), prim.GetAppliedSchemas()
            self._read[path] = _Said(values, names, schemas, targets_of(prim))
        return self._read[path]


def _parted(prototype: str, robot: str) -> tuple[str, str]:
    """Return two paths without their common ending: `/World` and `/World/envs/env_3` of `/World/Arm` and its copy."""
    old, new = prototype.split("/"), robot.split("/")
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        del old[-1], new[-1]
    return "/".join(old) or "/", "/".join(new) or "/"


def _is_alike(old: Usd.Prim, new: Usd.Prim) -> bool:
    """Return True if USD composes both prims, with all below, of the same specs as far as actuators go."""
    if new.IsInstance() and old.IsInstance():
        return new.GetPrototype() == old.GetPrototype()
    (ours, rest), (theirs, inherited) = _stack(new), _stack(old)
    if not rest or _says_something(ours):
        return False
    return rest == [*theirs, *inherited] or (rest == inherited and not _says_something(theirs))


def _stack(prim: Usd.Prim) -> tuple[list[Sdf.PrimSpec], list[Sdf.PrimSpec]]:
    """Return the specs of a prim at its own path, and those that it gets from elsewhere, the strongest first."""
    specs, path = prim.GetPrimStack(), prim.GetPath()
    return [spec for spec in specs if spec.path == path], [spec for spec in specs if spec.path != path]


def _says_something(specs: Sequence[Sdf.PrimSpec]) -> bool:
    """Return True if specs may say something of an actuator, or have prims below that may."""
    return any(spec.nameChildren or spec.variantSets or spec.HasInfo("active") for spec in specs)


def _of_actuator(
    twins: _Twins, spec: ActuatorSpec, si: bool, problems: list[str], numbers: tuple[int, int]
) -> Iterator[OwnValue]:
    """Yield the values of one actuator of a robot, `numbers` being those of robot and actuator."""
    path = twins.path(spec.path)
    prim = twins.stage.GetPrimAtPath(path)
    if not prim.IsActive():
        problems.append(_refusal(path, spec, "is inactive", "has the actuators"))
        return
    if prim.IsDefined() and [twins.path(joint) for joint in spec.targets] != [one for one, _ in targets_of(prim)]:
        problems.append(_refusal(path, spec, f"has another {TARGETS}", "drives the joints"))
        return
    own: list[str] = []
    read = _read(twins, prim, spec, si, own)
    problems += own
    if read is None or own:
        return
    mine = [config for config in read.stages if not isinstance(config, SupplyConfig)]
    theirs = [(at, config) for at, config in enumerate(spec.stages) if not isinstance(config, SupplyConfig)]
    laws = [[config.SCHEMA for config in some] for some in (mine, [config for _, config in theirs])]
    if laws[0] != laws[1]:
        problems.append(_refusal(path, spec, f"has {', '.join(laws[0])}", f"has the laws {', '.join(laws[1])}"))
        return
    for new, (at, old) in zip(mine, theirs, strict=True):
        for name, value in _changed(new, old):
            if name in parameters_of(old) and parameters_of(old)[name].is_single:
                yield OwnValue(numbers[0], path, numbers[1], at, name, value)
            else:
                what = f"has another {name} of {old.SCHEMA}"
                problems.append(_refusal(path, spec, what, "has the tables and networks"))


def _changed(new: Any, old: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the parameters of a config that are not those of another one of its class."""
    if isinstance(old, ForeignConfig):
        names = new.values.keys() | old.values.keys()
        yield from ((name, new.values.get(name)) for name in names if new.values.get(name) != old.values.get(name))
        return
    for name in parameters_of(old):
        value, before = getattr(new, name), getattr(old, name)
        if not np.array_equal(value, before):
            yield name, value


def _refusal(path: str, spec: ActuatorSpec, what: str, rule: str) -> str:
    """Return the problem of a robot that is not like its prototype."""
    return (
        f"<{path}> {what}: a robot {rule} of its prototype, <{spec.path}>, and may differ in single numbers only. "
        "Remove the difference, or give the robot an ArticulationActuators of its own."
    )


def _read(twins: _Twins, prim: Usd.Prim, spec: ActuatorSpec, si: bool, issues: list[str]) -> ActuatorSpec | None:
    """Return the spec of a robot's prim; an `over` is read on top of the prototype's prim."""
    if prim.IsDefined():
        return parse_like(prim, spec, issues, si_of=twins.stage if si else None)
    found: list[str] = []
    layer = _on_top(twins.stage, prim, spec.path)
    composed = Usd.Stage.Open(layer)
    read = parse_like(composed.GetPrimAtPath(_TEMPORARY), spec, found, si_of=twins.stage if si else None)
    issues += [line.replace(f"<{_TEMPORARY}>", f"<{prim.GetPath()}>") for line in found]
    return read


def _on_top(stage: Usd.Stage, prim: Usd.Prim, prototype: str) -> Sdf.Layer:
    """Return a layer in which one prim is that of the prototype with the opinions of an `over` on top."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for one in filter(None, (stage.GetSessionLayer(), stage.GetRootLayer())):
        layer.subLayerPaths.append(one.identifier)
    made = Sdf.CreatePrimInLayer(layer, _TEMPORARY)
    made.specifier = Sdf.SpecifierDef
    made.referenceList.Prepend(Sdf.Reference(primPath=prototype))
    # the strongest opinion last
    for spec in reversed(prim.GetPrimStack()):
        for one in spec.properties:
            Sdf.CopySpec(spec.layer, one.path, layer, made.path.AppendProperty(one.name))
        for key in ("apiSchemas", "typeName"):
            if spec.HasInfo(key):
                made.SetInfo(key, spec.GetInfo(key))
    return layer


def _strays(twins: _Twins, specs: Sequence[ActuatorSpec]) -> list[str]:
    """Return a problem for each `over` of a copy with values of an actuator that the prototype does not have."""
    known = {twins.path(spec.path) for spec in specs}
    return [
        f"<{prim.GetPath()}> has values of an actuator, and the prototype has no actuator there: must be at one of "
        f"{', '.join(f'<{path}>' for path in sorted(known)) or 'none'}. Correct the path."
        for prim in Usd.PrimRange(twins.prim, Usd.PrimAllPrimsPredicate)
        if str(prim.GetPath()) not in known
        and any(name.startswith("actuator:") or name == TARGETS for name in prim.GetPropertyNames())
    ]
