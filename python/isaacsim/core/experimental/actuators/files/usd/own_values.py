"""Values of actuators that a robot has for itself on the stage, unlike the prototype of all robots.

Robots on the stage are compared with the prototype, actuator by actuator; those that USD composes of the same specs
are not read, the actuators of a scope are compared as the text that layers write of it, and only those that are neither
are compared value by value. Robots that are copies of an environment are not on the stage: their values are in an
`over` at the path of the copy, such as `/World/envs/env_3/Arm/Actuators/knee`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pxr import Sdf, Usd

from ...base.errors import ActuatorParseError
from ...specs.actuator_spec import ActuatorSpec
from ...specs.configs import Config, ForeignConfig
from ...specs.fields import parameters_of
from ...specs.supply import SupplyConfig
from .discover import parse_like, targets_of
from .schema import TARGETS, applied_schemas, is_actuator
from .usd_errors import reports_usd_errors

# what composes a prim of specs that stand elsewhere
_ARCS = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


@dataclass(frozen=True)
class _Said:
    values: dict[str, object]
    names: list[str]
    schemas: list[str]
    targets: list[tuple[str, str]]


@dataclass(frozen=True)
class _Written:
    """Text of a scope in each layer, the strongest first, and the names of the actuators in it."""

    layers: list[Sdf.Layer]
    texts: list[str]
    names: frozenset[str]


class Original:
    """The robot with this articulation root that others are like; each of its prims is read once for all of them."""

    def __init__(self, stage: Usd.Stage, path: str) -> None:
        self.stage, self.path = stage, path
        self._said: dict[str, _Said] = {}
        self._written: dict[str, _Written] = {}
        self._stacks: dict[str, _Stack] = {}

    def prim(self, path: str) -> Usd.Prim:
        """Return a prim of the robot."""
        return self.stage.GetPrimAtPath(path)

    def said(self, path: str) -> _Said:
        """Return the opinions of an actuator prim."""
        if path not in self._said:
            prim = self.prim(path)
            values = {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes()}
            names = prim.GetAuthoredPropertyNames()
            self._said[path] = _Said(values, names, applied_schemas(prim), targets_of(prim))
        return self._said[path]

    def stack(self, path: str) -> _Stack:
        """Return the specs of a prim."""
        if path not in self._stacks:
            self._stacks[path] = _Stack.of(self.prim(path))
        return self._stacks[path]

    def written(self, scope: str) -> _Written:
        """Return what layers write of a scope of actuators at its own path.

        It names none of them where the same text may mean something else at another robot.
        """
        if scope not in self._written:
            actuators, stack = self.prim(scope).GetAllChildren(), self.stack(scope)
            texts = [spec.GetAsText() for spec in stack.own] if all(map(_is_written_here, actuators)) else []
            # a text of several lines may look like a prim
            is_plain = texts and not any(quotes in text for text in texts for quotes in ('"""', "'''"))
            names = frozenset(one.GetName() for one in actuators if is_plain)
            self._written[scope] = _Written(stack.layers, texts, names)
        return self._written[scope]


class Twins:
    """Prims of one robot, by those of the original: their paths differ by what stands before a common ending."""

    def __init__(self, original: Original, robot: str) -> None:
        self.stage, self._original = original.stage, original
        old, new = original.path.split("/"), robot.split("/")
        while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
            del old[-1], new[-1]
        self._old, self._new = "/".join(old) or "/", "/".join(new) or "/"
        self.prim = self.stage.GetPrimAtPath(self._new)
        """The uppermost prim that is the robot's own."""
        # by path of a parent of actuators: True if all are alike, and the names of those that are
        self._composed_alike: dict[str, bool] = {}
        self._written_alike: dict[str, Collection[str]] = {}

    def path(self, path: str) -> str:
        """Path of the robot's prim for one of the original."""
        inside = path == self._old or path.startswith(f"{self._old.rstrip('/')}/")
        return self._new + path[len(self._old.rstrip("/")) :] if inside else path

    def prim_of(self, path: str) -> Usd.Prim:
        """The robot's prim for one of the original."""
        return self.stage.GetPrimAtPath(self.path(path))

    def differ(self, path: str) -> bool:
        """Return True if the robot has an actuator prim of its own for one of the original, unlike it."""
        parent, _, name = path.rpartition("/")
        if parent not in self._composed_alike:
            self._composed_alike[parent] = any(map(self._is_composed_alike, self._down_to(parent)))
        if self._composed_alike[parent]:
            return False
        if parent not in self._written_alike:
            self._written_alike[parent] = self._names_written_alike(parent)
        if name in self._written_alike[parent]:
            return False
        new = self.prim_of(path)
        is_own = bool(new) and self.path(path) != path
        return is_own and not (new.IsDefined() and new.IsActive() and self._repeats(path, new))

    def _down_to(self, path: str) -> Iterator[str]:
        if self._old != "/":
            yield self._old
        at = path.find("/", len(self._old.rstrip("/")) + 1)
        while at > 0:
            yield path[:at]
            at = path.find("/", at + 1)
        yield path or "/"

    def _is_composed_alike(self, path: str) -> bool:
        """Return True if USD composes a prim, with all below, of the same specs as far as actuators go."""
        old, new = self._original.prim(path), self.prim_of(path)
        if not old or not new:
            return False
        if new.IsInstance() and old.IsInstance():
            return new.GetPrototype() == old.GetPrototype()
        return _Stack.of(new).composes_as(self._original.stack(path))

    def _names_written_alike(self, parent: str) -> Collection[str]:
        """Return the names of the actuators below a prim of which layers write the same, each at its own paths."""
        written, new = self._original.written(parent), self.prim_of(parent)
        if not written.names or not new or not new.IsDefined():
            return ()
        stack = _Stack.of(new)
        if stack.elsewhere != self._original.stack(parent).elsewhere or stack.layers != written.layers:
            return ()
        names = written.names
        places = f"<{self._old.rstrip('/')}/", f"<{self._new.rstrip('/')}/"
        for spec, text in zip(stack.own, written.texts, strict=True):
            mine, theirs = spec.GetAsText(), text.replace(*places)
            if mine != theirs:
                # type, name in quotes, and what follows, of each prim in the text of a scope
                prims, others = (set(scope.split("\n    def ")[1:]) for scope in (mine, theirs))
                names &= {prim.split('"', 2)[1] for prim in prims & others}
        return names

    def _repeats(self, path: str, new: Usd.Prim) -> bool:
        said = self._original.said(path)
        return all(new.GetAttribute(name).Get() == value for name, value in said.values.items()) and (
            new.GetAuthoredPropertyNames() == said.names
            and applied_schemas(new) == said.schemas
            and [(self.path(joint), axis) for joint, axis in said.targets] == targets_of(new)
        )


@dataclass(frozen=True)
class _Stack:
    """The specs of a prim, the strongest first: those at its own path, and those from elsewhere."""

    own: list[Sdf.PrimSpec]
    elsewhere: list[Sdf.PrimSpec]

    @classmethod
    def of(cls, prim: Usd.Prim) -> _Stack:
        """Return the specs of a prim."""
        specs, path = prim.GetPrimStack(), prim.GetPath()
        return cls([spec for spec in specs if spec.path == path], [spec for spec in specs if spec.path != path])

    @property
    def layers(self) -> list[Sdf.Layer]:
        """The layers of the specs at its own path."""
        return [spec.layer for spec in self.own]

    def composes_as(self, other: _Stack) -> bool:
        """Return True if USD composes two prims, with all below, of the same specs as far as actuators go."""
        if not self.elsewhere or _says_something(self.own):
            return False
        return self.elsewhere == [*other.own, *other.elsewhere] or (
            self.elsewhere == other.elsewhere and not _says_something(other.own)
        )


def _says_something(specs: Sequence[Sdf.PrimSpec]) -> bool:
    """Return True if specs may say something of an actuator, or have prims below that may."""
    return any(spec.nameChildren or spec.variantSets or spec.HasInfo("active") for spec in specs)


def _is_written_here(actuator: Usd.Prim) -> bool:
    """Return True if the specs of an actuator at its own path are all that robots may have of it for themselves."""
    arcs = any(spec.HasInfo(arc) for spec in _Stack.of(actuator).own for arc in _ARCS)
    targets = actuator.GetRelationship(TARGETS)
    is_forwarded = bool(targets) and targets.GetTargets() != targets.GetForwardedTargets()
    return is_actuator(actuator) and not (arcs or is_forwarded or actuator.GetAllChildren())


_TEMPORARY = "/OwnValues"
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class OwnValue:
    """One number of an actuator of one robot that differs from the prototype's, in the units of that one's spec.

    `actuator` and `stage` are numbers among those of the prototype and of the actuator; `prim` is the path of this
    robot's.
    """

    robot: int
    prim: str
    actuator: int
    stage: int
    parameter: str
    value: object


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
    """The values that robots have for themselves, unlike the actuators of the prototype, by robot.

    Robots and prototype are paths of articulation roots; of copies that are not on the stage, where they would be. `si`
    is as for `discover`. Problems of prims, and laws other than the prototype's, are added to `issues`, or raised, all
    of them, in one `ActuatorParseError`.
    """
    found: list[OwnValue] = []
    problems: list[str] = [] if issues is None else issues
    original = Original(stage, prototype)
    for number, robot in enumerate(robots):
        twins = Twins(original, robot)
        if robot != prototype and twins.prim:
            found += _of_robot(twins, specs, number, si, problems)
    if issues is None and problems:
        raise ActuatorParseError(problems)
    return found


def with_own_values(specs: Sequence[ActuatorSpec], found: Sequence[OwnValue], num_robots: int) -> list[ActuatorSpec]:
    """Specs with arrays `(robots, joints)` in place of the numbers that differ; others are the same objects."""
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
    """The robots that are copies of one by their paths; empty for a robot that is a copy itself.

    They are the articulation roots, given in stage order, whose paths differ in numbers only, and the copies of
    environments that have an `over`, as `Simulation(num_envs=…)` names them.
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


def _of_robot(
    twins: Twins, specs: Sequence[ActuatorSpec], number: int, si: bool, problems: list[str]
) -> Iterator[OwnValue]:
    if not twins.prim.IsDefined():
        problems += _strays(twins, specs)
    for at, spec in enumerate(specs):
        if twins.differ(spec.path):
            for change in _of_actuator(twins, spec, si, problems):
                yield OwnValue(number, twins.path(spec.path), at, *change)


def _of_actuator(twins: Twins, spec: ActuatorSpec, si: bool, problems: list[str]) -> Iterator[tuple[int, str, object]]:
    """Yield what an actuator of a robot has for itself: number of the stage, name and value; add to `problems`."""
    prim = twins.prim_of(spec.path)
    if refusal := _refusal_of_prim(twins, prim, spec):
        problems.append(refusal)
        return
    own: list[str] = []
    read = _read(twins, prim, spec, si, own)
    problems += own
    if read is None or own:
        return
    if refusal := _refusal_of_laws(prim, read, spec):
        problems.append(refusal)
        return
    for (_, new), (at, old) in zip(_laws(read), _laws(spec), strict=True):
        for name, value in _changed(new, old):
            described = parameters_of(old).get(name)
            if described is not None and described.is_single:
                yield at, name, value
            else:
                what = f"has another {name} of {old.SCHEMA}"
                problems.append(_refusal(prim, spec, what, "has the tables and networks"))


def _refusal_of_prim(twins: Twins, prim: Usd.Prim, spec: ActuatorSpec) -> str:
    if not prim.IsActive():
        return _refusal(prim, spec, "is inactive", "has the actuators")
    if prim.IsDefined() and [twins.path(joint) for joint in spec.targets] != [one for one, _ in targets_of(prim)]:
        return _refusal(prim, spec, f"has another {TARGETS}", "drives the joints")
    return ""


def _refusal_of_laws(prim: Usd.Prim, read: ActuatorSpec, spec: ActuatorSpec) -> str:
    mine, theirs = ([law.SCHEMA for _, law in _laws(one)] for one in (read, spec))
    return "" if mine == theirs else _refusal(prim, spec, f"has {', '.join(mine)}", f"has the laws {', '.join(theirs)}")


def _laws(spec: ActuatorSpec) -> list[tuple[int, Config]]:
    return [(at, config) for at, config in enumerate(spec.stages) if not isinstance(config, SupplyConfig)]


def _changed(new: Config, old: Config) -> Iterator[tuple[str, object]]:
    if isinstance(old, ForeignConfig) and isinstance(new, ForeignConfig):
        names = new.values.keys() | old.values.keys()
        yield from ((name, new.values.get(name)) for name in names if new.values.get(name) != old.values.get(name))
        return
    for name in parameters_of(old):
        value, before = getattr(new, name), getattr(old, name)
        if not np.array_equal(value, before):
            yield name, value


def _refusal(prim: Usd.Prim, spec: ActuatorSpec, what: str, rule: str) -> str:
    return (
        f"<{prim.GetPath()}> {what}: a robot {rule} of its prototype, <{spec.path}>, and may differ in single numbers "
        "only. Remove the difference, or give the robot an ArticulationActuators of its own."
    )


def _read(twins: Twins, prim: Usd.Prim, spec: ActuatorSpec, si: bool, issues: list[str]) -> ActuatorSpec | None:
    """Return the spec of a robot's prim; an `over` is read on top of the prototype's prim."""
    if prim.IsDefined():
        return parse_like(prim, spec, issues, si_of=twins.stage if si else None)
    found: list[str] = []
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for below in filter(None, (twins.stage.GetSessionLayer(), twins.stage.GetRootLayer())):
        layer.subLayerPaths.append(below.identifier)
    made = Sdf.CreatePrimInLayer(layer, _TEMPORARY)
    made.specifier = Sdf.SpecifierDef
    made.referenceList.Prepend(Sdf.Reference(primPath=spec.path))
    # the strongest opinion last
    for over in reversed(prim.GetPrimStack()):
        for one in over.properties:
            Sdf.CopySpec(over.layer, one.path, layer, made.path.AppendProperty(one.name))
        for key in filter(over.HasInfo, ("apiSchemas", "typeName")):
            made.SetInfo(key, over.GetInfo(key))
    composed = Usd.Stage.Open(layer)
    read = parse_like(composed.GetPrimAtPath(_TEMPORARY), spec, found, si_of=twins.stage if si else None)
    issues += [line.replace(f"<{_TEMPORARY}>", f"<{prim.GetPath()}>") for line in found]
    return read


def _strays(twins: Twins, specs: Sequence[ActuatorSpec]) -> list[str]:
    known = {twins.path(spec.path) for spec in specs}
    return [
        f"<{prim.GetPath()}> has values of an actuator, and the prototype has no actuator there: must be at one of "
        f"{', '.join(f'<{path}>' for path in sorted(known)) or 'none'}. Correct the path."
        for prim in Usd.PrimRange(twins.prim, Usd.PrimAllPrimsPredicate)
        if str(prim.GetPath()) not in known
        and any(name.startswith("actuator:") or name == TARGETS for name in prim.GetPropertyNames())
    ]
