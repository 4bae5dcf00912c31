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

import numpy as np
from pxr import Sdf, Usd

from ...base.errors import ActuatorParseError
from ...specs.actuator_spec import ActuatorSpec
from ...specs.configs import Config, ForeignConfig
from ...specs.fields import parameters_of
from ...specs.supply import SupplyConfig
from .discover import parse_like, targets_of
from .schema import TARGETS
from .twins import Original, Twins
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
    original = Original(stage, prototype)
    for number, robot in enumerate(robots):
        twins = Twins(original, robot)
        if robot != prototype and twins.prim:
            found += _of_robot(twins, specs, number, si, problems)
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


def _of_robot(
    twins: Twins, specs: Sequence[ActuatorSpec], number: int, si: bool, problems: list[str]
) -> Iterator[OwnValue]:
    """Yield the values of one robot by its number; problems are added to `problems`."""
    if not twins.prim.IsDefined():
        problems += _strays(twins, specs)
    for at, spec in enumerate(specs):
        if twins.differ(spec.path):
            for change in _of_actuator(twins, spec, si, problems):
                yield OwnValue(number, twins.path(spec.path), at, *change)


def _of_actuator(twins: Twins, spec: ActuatorSpec, si: bool, problems: list[str]) -> Iterator[tuple[int, str, object]]:
    """Yield what one actuator of a robot has for itself: number of the stage, name of the parameter, and value.

    Problems are added to `problems`.
    """
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
            if _is_number(old, name):
                yield at, name, value
            else:
                what = f"has another {name} of {old.SCHEMA}"
                problems.append(_refusal(prim, spec, what, "has the tables and networks"))


def _refusal_of_prim(twins: Twins, prim: Usd.Prim, spec: ActuatorSpec) -> str:
    """Return the problem of a prim that does not drive the joints of its twin; empty for none."""
    if not prim.IsActive():
        return _refusal(prim, spec, "is inactive", "has the actuators")
    if prim.IsDefined() and [twins.path(joint) for joint in spec.targets] != [one for one, _ in targets_of(prim)]:
        return _refusal(prim, spec, f"has another {TARGETS}", "drives the joints")
    return ""


def _refusal_of_laws(prim: Usd.Prim, read: ActuatorSpec, spec: ActuatorSpec) -> str:
    """Return the problem of a prim with other laws than its twin; empty for none."""
    mine, theirs = ([law.SCHEMA for _, law in _laws(one)] for one in (read, spec))
    return "" if mine == theirs else _refusal(prim, spec, f"has {', '.join(mine)}", f"has the laws {', '.join(theirs)}")


def _laws(spec: ActuatorSpec) -> list[tuple[int, Config]]:
    """Return the stages of an actuator and their numbers, without its supply: all robots share that."""
    return [(at, config) for at, config in enumerate(spec.stages) if not isinstance(config, SupplyConfig)]


def _is_number(config: Config, name: str) -> bool:
    """Return True if a value is a number, which robots may have for themselves."""
    described = parameters_of(config).get(name)
    return described is not None and described.is_single


def _changed(new: Config, old: Config) -> Iterator[tuple[str, object]]:
    """Yield name and value of the parameters of a config that are not those of another one of its class."""
    if isinstance(old, ForeignConfig) and isinstance(new, ForeignConfig):
        names = new.values.keys() | old.values.keys()
        yield from ((name, new.values.get(name)) for name in names if new.values.get(name) != old.values.get(name))
        return
    for name in parameters_of(old):
        value, before = getattr(new, name), getattr(old, name)
        if not np.array_equal(value, before):
            yield name, value


def _refusal(prim: Usd.Prim, spec: ActuatorSpec, what: str, rule: str) -> str:
    """Return the problem of a robot that is not like its prototype."""
    return (
        f"<{prim.GetPath()}> {what}: a robot {rule} of its prototype, <{spec.path}>, and may differ in single numbers "
        "only. Remove the difference, or give the robot an ArticulationActuators of its own."
    )


def _read(twins: Twins, prim: Usd.Prim, spec: ActuatorSpec, si: bool, issues: list[str]) -> ActuatorSpec | None:
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


def _strays(twins: Twins, specs: Sequence[ActuatorSpec]) -> list[str]:
    """Return a problem for each `over` of a copy with values of an actuator that the prototype does not have."""
    known = {twins.path(spec.path) for spec in specs}
    return [
        f"<{prim.GetPath()}> has values of an actuator, and the prototype has no actuator there: must be at one of "
        f"{', '.join(f'<{path}>' for path in sorted(known)) or 'none'}. Correct the path."
        for prim in Usd.PrimRange(twins.prim, Usd.PrimAllPrimsPredicate)
        if str(prim.GetPath()) not in known
        and any(name.startswith("actuator:") or name == TARGETS for name in prim.GetPropertyNames())
    ]
