"""Read configs from applied API schemas, with or without the plugins that register newton's schemas and ours.

Values, types, ranges and fallbacks come from the field descriptions in `specs`: both cases give the same result.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from pxr import Sdf, Usd, Vt

from ...specs.actuator_spec import ACTUATOR_TYPE
from ...specs.configs import CONFIGS, ForeignConfig
from ...specs.fields import Parameter, parameters_of
from ...specs.stand_ins import LISTED, STAND_INS
from .authored import authored as authored_value
from .authored import authored_numbers
from .similar_names import escaped, nearest, normalized

_Config = TypeVar("_Config")

TARGETS = "newton:targets"
INTERVAL = "interval:"
"""Namespace of attributes with 90 % intervals of values that were identified, in SI; no actuator reads them."""
# schemas without properties that the plugin applies with a control or clamping schema
_MARKERS = ("NewtonActuatorControlBaseAPI", "NewtonActuatorClampingBaseAPI")
_FROM_USD: dict[str, Callable[[Any], object]] = {
    "float": float,
    "int": int,
    "bool": bool,
    "token": str,
    "float[]": list,
    "token[]": list,
    "asset": str,
}
CONFIG_BY_SCHEMA = {config.SCHEMA: config for config in CONFIGS}
# schemas by their names in files of version 0.9 and before
_CURRENT = {config.EARLIER_SCHEMA: config.SCHEMA for config in CONFIGS if config.EARLIER_SCHEMA}
# properties of actuator prims, and the schemas that have each; the targets are of the prim type
_SCHEMAS_OF: dict[str, list[str]] = {TARGETS: []}
for _config in CONFIGS:
    for _described in parameters_of(_config).values():
        _SCHEMAS_OF.setdefault(_described.attribute, []).append(_config.SCHEMA)
# properties of no schema that other programs author beside one of these, with its value
_REPEATED = {
    # Isaac Lab 3.0
    "newton:maxDelay": "newton:delaySteps",
}
# namespaces of these
_NAMESPACES = {name.rpartition(":")[0] for name in _SCHEMAS_OF}

# schemas of components that the host program registered, and their kinds
_foreign: dict[str, str] = {}
# attributes of those whose parameters are all there are, and all required
_attributes_of_foreign: dict[str, list[str]] = {}


def intervals_of(prim: Usd.Prim) -> dict[str, tuple[float, float]]:
    """Return the 90 % intervals at an actuator prim, by the names that `randomize` takes (SI)."""
    names = [attribute.GetName() for attribute in prim.GetAuthoredPropertiesInNamespace(INTERVAL.removesuffix(":"))]
    # others are blocked
    pairs = {name: authored_numbers(prim, name, (), 2) for name in names if authored_value(prim, name) is not None}
    return {name.removeprefix(INTERVAL): (low, high) for name, (low, high) in pairs.items()}


def accept_schema(schema: str, kind: str, parameters: Sequence[str] | None = None) -> None:
    """Register a schema, whose prims are read as a `ForeignConfig`; None for parameters that are not known."""
    _foreign[schema] = kind
    _attributes_of_foreign.pop(schema, None)
    if parameters is not None:
        words = [name.split("_") for name in parameters]
        _attributes_of_foreign[schema] = [f"newton:{first}{''.join(map(str.title, more))}" for first, *more in words]


def foreign_config(prim: Usd.Prim, schema: str) -> ForeignConfig | None:
    """The values of a prim for a registered schema; None if the schema is not registered."""
    if schema not in _foreign:
        return None
    values: dict[str, object] = {}
    # others may be those of other laws of the prim
    own = _attributes_of_foreign.get(schema)
    for attribute in prim.GetAuthoredAttributes():
        is_own = attribute.GetNamespace() == "newton" if own is None else attribute.GetName() in own
        if is_own and (value := attribute.Get()) is not None:
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", attribute.GetBaseName()).lower()
            values[name] = value.path if isinstance(value, Sdf.AssetPath) else value
    return ForeignConfig(schema, _foreign[schema], values)


def lacking(prim: Usd.Prim, schema: str) -> list[str]:
    """One message per attribute that a registered schema needs and a prim has not."""
    return [
        f"<{prim.GetPath()}>: {schema} needs {name}, which is not authored. Author it or deactivate the prim."
        if meant is None
        else f"<{prim.GetPath()}>.{escaped(meant)}: {schema} has no such parameter, and needs {name}. Use that name."
        for name, meant in _meant(prim).items()
        if name in _attributes_of_foreign.get(schema, ())
    ]


def _meant(prim: Usd.Prim) -> dict[str, str | None]:
    """The attributes that registered schemas of a prim need and it has not, and one that may be a misspelt one."""
    known = _known_properties(prim)
    authored = [one.GetName() for one in prim.GetAuthoredAttributes() if one.HasAuthoredValue()]
    strange = [name for name in authored if name.startswith("newton") and name not in known]
    needed = [name for name in chain(*_own_of(prim).values()) if name not in authored]
    return {name: nearest(name, strange) if strange else None for name in needed}


def _own_of(prim: Usd.Prim) -> dict[str, list[str]]:
    """The attributes of registered schemas on a prim, as far as they are known."""
    schemas = _foreign.keys() & current_schemas(prim)
    return {schema: names for schema, names in _attributes_of_foreign.items() if schema in schemas}


def applied_schemas(prim: Usd.Prim) -> list[str]:
    """Applied API schemas in authored order, with or without a plugin."""
    # Usd.Prim.GetAppliedSchemas drops tokens of unregistered schemas
    return list(prim.GetPrimTypeInfo().GetAppliedAPISchemas())


def current_schemas(prim: Usd.Prim) -> list[str]:
    """Applied API schemas by their current names, each once, in authored order."""
    return list(dict.fromkeys(_CURRENT.get(schema, schema) for schema in applied_schemas(prim)))


def earlier_schemas(prim: Usd.Prim) -> list[tuple[str, str]]:
    """Applied API schemas with a name of version 0.9 and before: the name on the prim, and the current name."""
    return [(schema, _CURRENT[schema]) for schema in applied_schemas(prim) if schema in _CURRENT]


def is_actuator(prim: Usd.Prim) -> bool:
    """Return True if `prim` is a `NewtonActuator`."""
    return prim.GetTypeName() == ACTUATOR_TYPE


def stand_in_schemas(prim: Usd.Prim) -> set[str]:
    """Schemas of newton on a prim that stand in for an applied law that newton does not know.

    Without a known law that they stand for, they apply themselves.
    """
    attribute = prim.GetAttribute(LISTED)
    listed = attribute.Get() if attribute else None
    if not isinstance(listed, Vt.TokenArray):
        return set()
    applied = [CONFIG_BY_SCHEMA[schema] for schema in CONFIG_BY_SCHEMA.keys() & current_schemas(prim)]
    kinds = {STAND_INS[config].kind or config.KIND for config in applied if config in STAND_INS}
    standing_in = {config.SCHEMA for config in applied if config not in STAND_INS and config.KIND in kinds}
    return standing_in.intersection(listed)


def attributes_on(prim: Usd.Prim, config_type: type[object]) -> dict[str, str]:
    """The attribute of each parameter of a law on a prim; the earlier one on prims of older files."""
    now, earlier = attributes_of(config_type), _earlier(config_type)
    if earlier is None or _any_authored(prim, now) or not _any_authored(prim, earlier):
        return now
    return earlier


@functools.cache
def attributes_of(config_type: type[object]) -> dict[str, str]:
    """The attribute of each parameter of a law, by the name of the parameter."""
    return {name: described.attribute for name, described in parameters_of(config_type).items()}


@functools.cache
def _earlier(config_type: type[object]) -> dict[str, str] | None:
    """The attributes of a law in older files; None if they are the same."""
    found = parameters_of(config_type)
    if not any(described.earlier for described in found.values()):
        return None
    return {name: described.earlier or described.attribute for name, described in found.items()}


def _any_authored(prim: Usd.Prim, names: dict[str, str]) -> bool:
    return any(prim.HasAttribute(name) and prim.GetAttribute(name).HasAuthoredValue() for name in names.values())


def read_config(prim: Usd.Prim, config_type: type[_Config], issues: list[str]) -> _Config | None:
    """Return `config_type` filled from `prim`; problems are added to `issues`."""
    before = len(issues)
    described_by_name = parameters_of(config_type)
    stored = attributes_on(prim, config_type)
    values = {name: _read_value(prim, stored[name], one, issues) for name, one in described_by_name.items()}
    try:
        config = config_type(**values)
        problems = list(getattr(config, "conflicts", list[str])())
    except ValueError as error:
        problems = [str(error).splitlines()[0].removeprefix(f"{config_type.__name__}.")]
        config = None
    # values that do not fit each other, unless they have problems themselves
    if len(issues) == before:
        # with the names of attributes in place of those of fields
        fields = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, stored), key=len, reverse=True))})\b")
        named = [fields.sub(lambda field: stored[field[0]], problem) for problem in problems]
        issues += [f"<{prim.GetPath()}>.{problem} Or deactivate the prim." for problem in named]
    return None if problems else config


def schema_problem(prim: Usd.Prim, schema: str) -> str | None:
    """Why an applied schema has no effect; None if it has one or is of no concern here."""
    if schema in CONFIG_BY_SCHEMA or schema in _MARKERS or schema in _foreign:
        return None
    known = sorted(CONFIG_BY_SCHEMA)
    # the part behind a colon is an instance, or part of a misspelled name
    meant = nearest(schema.partition(":")[0], known) or nearest(schema, known)
    if meant is None and not (normalized(schema).startswith("newton") or may_be_later(schema)):
        return None
    hint = f" Did you mean {meant}?" if meant else ""
    return (
        f"<{prim.GetPath()}> applies {escaped(schema)}, which has no effect: this version knows {', '.join(known)}."
        f"{hint} Use one of these or remove it."
    )


def may_be_later(schema: str) -> bool:
    """Return True if a schema is named as newton's or ours, so that a later version may know it."""
    return schema.startswith(("Newton", "Articulation", "Actuator")) and schema.partition(":")[0].endswith("API")


def values_without_effect(prim: Usd.Prim) -> list[str]:
    """One message per attribute with values over time beside the default value, which alone is read."""
    schemas = current_schemas(prim)
    read = _properties_on(prim, schemas)
    foreign = any(schema in _foreign for schema in schemas)
    return [
        f"<{prim.GetPath()}>.{attribute.GetName()} ({_layer_of(attribute)}) has time samples or a spline beside its "
        "default value, which alone is read: actuator parameters do not change over time. Remove what is over time."
        for attribute in prim.GetAuthoredAttributes()
        if (foreign and attribute.GetNamespace() == "newton") or attribute.GetName() in read
        if _source(attribute, Usd.TimeCode.Default()) == Usd.ResolveInfoSourceDefault
        if _source(attribute, Usd.TimeCode.EarliestTime()) != Usd.ResolveInfoSourceDefault
    ]


def _properties_on(prim: Usd.Prim, schemas: Iterable[str]) -> list[str]:
    found = (attributes_on(prim, CONFIG_BY_SCHEMA[schema]) for schema in schemas if schema in CONFIG_BY_SCHEMA)
    return list(dict.fromkeys(name for names in found for name in names.values()))


def _source(attribute: Usd.Attribute, time: Usd.TimeCode) -> Usd.ResolveInfoSource:
    return attribute.GetResolveInfo(time).GetSource()


def properties_without_effect(prim: Usd.Prim) -> list[str]:
    """One message per authored `newton:*` property that no known schema of `prim` has."""
    if not _is_judged(prim):
        return []
    schemas, known = current_schemas(prim), _known_properties(prim)
    # these are errors
    meant = _meant(prim).values()
    unknown = [one for one in schemas if may_be_later(one) and one not in (*CONFIG_BY_SCHEMA, *_MARKERS)]
    return [
        f"<{prim.GetPath()}>.{escaped(found.GetName())} ({_layer_of(found)}): no schema applied here has it, so it has "
        f"no effect. {_own_hint(prim, found.GetName()) or _remedy(found.GetName(), known, unknown)}"
        for found in prim.GetAuthoredProperties()
        if found.GetName() not in (*known, *meant) and _is_said(found)
        if not _is_repeated(prim, found.GetName(), known)
    ]


def _is_judged(prim: Usd.Prim) -> bool:
    """Return True unless properties of a prim may be those of a schema that is registered without, or not at all."""
    schemas = current_schemas(prim)
    if any(one in _foreign and one not in _attributes_of_foreign for one in schemas):
        return False
    known = {one: config.KIND for one, config in CONFIG_BY_SCHEMA.items()} | _foreign | dict.fromkeys(_MARKERS, "")
    # one of a later version may be a controller
    kinds = [known.get(one, "controller" * may_be_later(one)) for one in schemas]
    return "controller" in kinds or not strange_schemas(prim)


def _known_properties(prim: Usd.Prim) -> list[str]:
    """Properties that the schemas of a prim have."""
    return [TARGETS, *_properties_on(prim, current_schemas(prim)), *chain(*_own_of(prim).values())]


def _own_hint(prim: Usd.Prim, name: str) -> str:
    """The parameter of a registered schema on a prim that a property may be; empty for none."""
    owners = {attribute: schema for schema, names in _own_of(prim).items() for attribute in names}
    meant = nearest(name, owners) if owners else None
    return "" if meant is None else f"Did you mean {meant} of {owners[meant]}?"


def strange_schemas(prim: Usd.Prim) -> list[str]:
    """Schemas on a prim that are neither known nor misspelt: of other programs, or of a law that is not registered."""
    known = {*CONFIG_BY_SCHEMA, *_MARKERS, *_foreign}
    return [one for one in current_schemas(prim) if one not in known and schema_problem(prim, one) is None]


def _is_repeated(prim: Usd.Prim, name: str, known: Iterable[str]) -> bool:
    """Return True if a property of no schema has the value of the one that another program repeats in it."""
    of_schema = _REPEATED.get(name, "")
    value = authored_value(prim, of_schema) if of_schema in known else None
    return value is not None and value == authored_value(prim, name)


def _is_said(found: Usd.Property) -> bool:
    """Return True if a property is in a namespace of actuators, and not blocked."""
    if isinstance(found, Usd.Attribute) and found.GetResolveInfo(Usd.TimeCode.Default()).ValueIsBlocked():
        return False
    namespace = found.GetNamespace()
    return namespace in _NAMESPACES or normalized(namespace.partition(":")[0]) == "newton"


def _remedy(name: str, known: list[str], unknown: list[str]) -> str:
    """The remedy for an unknown property, by those known of the prim, and schemas unknown to this version."""
    if (meant := _REPEATED.get(name)) in known:
        return f"Give it the value of {meant}, which is read, or remove it."
    best = _most_similar(name)
    if unknown and best not in known:
        return f"It may be of {escaped(unknown[0])}. Remove both, or replace that schema by one that is known."
    if best is None:
        return f"Known are {', '.join(known)}. Use one of these or remove it."
    owners = _SCHEMAS_OF[best]
    # newton's schema precedes ours that have the same attribute
    schemas = " or ".join([owner for owner in owners if owner.startswith("Newton")] or owners)
    if best == name:
        return f"Apply {schemas} or remove it."
    return f"Did you mean {best}?" if best in known else f"Did you mean {best}? Then apply {schemas} as well."


@functools.lru_cache(maxsize=1024)
def _most_similar(name: str) -> str | None:
    def likeness(candidate: str) -> float:
        authored, meant = (normalized(each).removeprefix("newton") for each in (name, candidate))
        return difflib.SequenceMatcher(None, authored, meant).ratio()

    best = max(_SCHEMAS_OF, key=likeness)
    return best if likeness(best) >= 0.6 else None


def opinion_of_other_kind(prim: Usd.Prim, name: str, kind: type[Sdf.PropertySpec]) -> str | None:
    """The layer with a property of another kind than `kind`, attribute or relationship; None for none."""
    # with the schema plugin, the composed property is always of the right kind
    found = prim.GetProperty(name)
    stack = found.GetPropertyStack(Usd.TimeCode.Default()) if found else []
    return next((layer_name(spec.layer) for spec in stack if not isinstance(spec, kind)), None)


def _read_value(prim: Usd.Prim, name: str, described: Parameter, issues: list[str]) -> Any:
    """Return the authored value, or the schema's fallback if none is authored or the value is unusable."""
    where = f"<{prim.GetPath()}>.{name}"
    if layer := opinion_of_other_kind(prim, name, Sdf.AttributeSpec):
        issues.append(f"{where} ({layer}) is a relationship: must be an attribute. Author a value or remove it.")
        return described.fallback
    attribute = prim.GetAttribute(name)
    # a blocked value is as none
    if not attribute or not attribute.HasAuthoredValue():
        issues += _problem_without_value(where, attribute, described)
        return described.fallback
    # Get would return the plugin's fallback for values over time only
    if _source(attribute, Usd.TimeCode.Default()) != Usd.ResolveInfoSourceDefault:
        issues.append(
            f"{where} ({_layer_of(attribute)}) has time samples or a spline, but no default value: actuator parameters "
            "do not change over time. Author a default value."
        )
        return described.fallback
    # Get would return the plugin's fallback for a path expression in place of a number
    authored = opinion(attribute).default
    value = authored if isinstance(authored, Sdf.PathExpression) else attribute.Get(Usd.TimeCode.Default())
    value = value.path if described.type == "asset" and isinstance(value, Sdf.AssetPath) else value
    if not described.accepts(value):
        issues.append(
            f"{where} = {_shown(value)} ({_layer_of(attribute)}): {described.rule}. "
            "Author a value in that range or deactivate the prim."
        )
        return described.fallback
    return _FROM_USD[described.type](value)


def _problem_without_value(where: str, attribute: Usd.Attribute, described: Parameter) -> list[str]:
    if attribute and attribute.GetConnections():
        return [
            f"{where} ({_layer_of(attribute)}) has a connection, but no value: connections are not followed. "
            "Author a value or remove the connection."
        ]
    if described.fallback is None:
        return [f"{where} is not authored: {described.rule}. Author it or deactivate the prim."]
    return []


def _shown(value: object) -> str:
    # more elements than fit are skipped
    plain = list(islice(value, 121)) if isinstance(value, Iterable) and not isinstance(value, str) else value
    text = " ".join(line.strip() for line in repr(plain).splitlines())
    return text if len(text) <= 120 else f"{text[:120]}…"


def _layer_of(found: Usd.Property) -> str:
    return layer_name(opinion(found).layer)


def opinion(found: Usd.Property) -> Sdf.PropertySpec:
    """The opinion that holds the value, or else the strongest one on the property."""
    stack = found.GetPropertyStack(Usd.TimeCode.Default())
    return next((spec for spec in stack if spec.HasDefaultValue()), stack[0])


def layer_name(layer: Sdf.Layer) -> str:
    """The name of a layer in messages."""
    return f"layer {layer.GetDisplayName()}"
