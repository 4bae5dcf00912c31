"""Read configs from applied API schemas, with or without the plugins that register newton's schemas and ours.

Values, types, ranges and fallbacks come from the field descriptions in `specs`: both cases give the same result.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from pxr import Sdf, Usd, Vt

from ..specs.actuator_spec import ACTUATOR_TYPE
from ..specs.configs import CONFIGS, ForeignConfig
from ..specs.fields import Parameter, parameters_of
from ..specs.stand_ins import LISTED, STAND_INS
from .alike import nearest, plain, visible

TARGETS = "newton:targets"
# markers that the plugin applies along with a control or clamping schema; they carry nothing
_MARKERS = ("NewtonActuatorControlBaseAPI", "NewtonActuatorClampingBaseAPI")
_FROM_USD: dict[str, Callable[[Any], Any]] = {"float": float, "int": int, "float[]": list, "asset": str}
CONFIG_BY_SCHEMA = {config.SCHEMA: config for config in CONFIGS}
# what files of version 0.9 and before call schemas of today
_TODAYS = {config.EARLIER_SCHEMA: config.SCHEMA for config in CONFIGS if config.EARLIER_SCHEMA}
# every property an actuator prim may have, and the schemas that give it; the targets come with the prim type
_SCHEMAS_OF: dict[str, list[str]] = {TARGETS: []}
for _config in CONFIGS:
    for _described in parameters_of(_config).values():
        _SCHEMAS_OF.setdefault(_described.attribute, []).append(_config.SCHEMA)
# namespaces of these
_NAMESPACES = {name.rpartition(":")[0] for name in _SCHEMAS_OF}

# schemas the host program has registered a component for, and what kind it is; no stage can add to them
_foreign: dict[str, str] = {}


def accept_schema(schema: str, kind: str) -> None:
    """Read prims with this schema from now on, as a `ForeignConfig`."""
    _foreign[schema] = kind


def foreign_config(prim: Usd.Prim, schema: str) -> ForeignConfig | None:
    """The values a prim has for a registered schema, or None when the schema is not registered."""
    if schema not in _foreign:
        return None
    values: dict[str, Any] = {}
    for attribute in prim.GetAuthoredAttributes():
        if attribute.GetNamespace() == "newton" and (value := attribute.Get()) is not None:
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", attribute.GetBaseName()).lower()
            values[name] = value.path if isinstance(value, Sdf.AssetPath) else value
    return ForeignConfig(schema, _foreign[schema], values)


def applied_schemas(prim: Usd.Prim) -> list[str]:
    """Applied API schemas in authored order, registered with a plugin or not."""
    # Usd.Prim.GetAppliedSchemas drops tokens of unregistered schemas
    return list(prim.GetPrimTypeInfo().GetAppliedAPISchemas())


def todays_schemas(prim: Usd.Prim) -> list[str]:
    """Applied API schemas by their names of today, each once, in authored order."""
    return list(dict.fromkeys(_TODAYS.get(schema, schema) for schema in applied_schemas(prim)))


def earlier_schemas(prim: Usd.Prim) -> list[tuple[str, str]]:
    """Applied API schemas that version 0.9 and before called otherwise: the name on the prim, and that of today."""
    return [(schema, _TODAYS[schema]) for schema in applied_schemas(prim) if schema in _TODAYS]


def is_actuator(prim: Usd.Prim) -> bool:
    """Whether `prim` is a `NewtonActuator`."""
    return prim.GetTypeName() == ACTUATOR_TYPE


def stand_in_schemas(prim: Usd.Prim) -> set[str]:
    """Schemas of newton on a prim that stand in for an applied law that newton does not know.

    Without a known law that they stand for, they apply themselves.
    """
    attribute = prim.GetAttribute(LISTED)
    listed = attribute.Get() if attribute else None
    if not isinstance(listed, Vt.TokenArray):
        return set()
    applied = [CONFIG_BY_SCHEMA[schema] for schema in todays_schemas(prim) if schema in CONFIG_BY_SCHEMA]
    kinds = {config.KIND for config in applied if config in STAND_INS}
    standing_in = {config.SCHEMA for config in applied if config not in STAND_INS and config.KIND in kinds}
    return standing_in.intersection(listed)


def attributes_on(prim: Usd.Prim, config_type: type[Any]) -> dict[str, str]:
    """The attribute that holds each parameter of a law on a prim: the earlier one on prims of older files."""
    now, earlier = attributes_of(config_type), _earlier(config_type)
    if earlier is None or prim.HasAttribute(LISTED) or _any_authored(prim, now) or not _any_authored(prim, earlier):
        return now
    return earlier


@functools.cache
def attributes_of(config_type: type[Any]) -> dict[str, str]:
    """The attribute that holds each parameter of a law, by the name of the parameter."""
    return {name: described.attribute for name, described in parameters_of(config_type).items()}


@functools.cache
def _earlier(config_type: type[Any]) -> dict[str, str] | None:
    """The attributes of older files; None where they are the same."""
    found = parameters_of(config_type)
    if not any(described.earlier for described in found.values()):
        return None
    return {name: described.earlier or described.attribute for name, described in found.items()}


def _any_authored(prim: Usd.Prim, names: dict[str, str]) -> bool:
    return any(prim.HasAttribute(name) and prim.GetAttribute(name).HasAuthoredValue() for name in names.values())


def read_config(prim: Usd.Prim, config_type: type[Any], issues: list[str]) -> Any:
    """Return `config_type` filled from `prim`; what is wrong is appended to `issues`."""
    before = len(issues)
    described_by_name = parameters_of(config_type)
    stored = attributes_on(prim, config_type)
    values = {name: _read_value(prim, stored[name], one, issues) for name, one in described_by_name.items()}
    try:
        return config_type(**values)
    except ValueError as error:
        # a table that does not fit together; its parts were reported already when they are wrong themselves
        if len(issues) == before:
            problem = str(error).splitlines()[0].removeprefix(f"{config_type.__name__}.")
            for name, attribute in stored.items():
                problem = problem.replace(name, attribute)
            issues.append(f"<{prim.GetPath()}>.{problem} Or deactivate the prim.")
        return None


def schema_problem(prim: Usd.Prim, schema: str) -> str | None:
    """Why an applied schema has no effect, or None when it has one or does not concern us."""
    if schema in CONFIG_BY_SCHEMA or schema in _MARKERS or schema in _foreign:
        return None
    known = sorted(CONFIG_BY_SCHEMA)
    # what stands behind a colon may be an instance, or part of a name that was written with one
    meant = nearest(schema.partition(":")[0], known) or nearest(schema, known)
    if meant is None and not (plain(schema).startswith("newton") or may_be_later(schema)):
        return None
    hint = f" Did you mean {meant}?" if meant else ""
    return (
        f"<{prim.GetPath()}> applies {visible(schema)}, which has no effect: this version knows {', '.join(known)}."
        f"{hint} Use one of these or remove it."
    )


def may_be_later(schema: str) -> bool:
    """Whether a schema is named as newton's are, or as our own, so that a version to come may know it."""
    return schema.startswith(("Newton", "Articulation", "Actuator")) and schema.partition(":")[0].endswith("API")


def values_without_effect(prim: Usd.Prim) -> list[str]:
    """One message per attribute that is read at its default value, and changes over time beside it."""
    schemas = todays_schemas(prim)
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
    """Attributes that some schemas give a prim."""
    found = (attributes_on(prim, CONFIG_BY_SCHEMA[schema]) for schema in schemas if schema in CONFIG_BY_SCHEMA)
    return list(dict.fromkeys(name for names in found for name in names.values()))


def _source(attribute: Usd.Attribute, time: Usd.TimeCode) -> Usd.ResolveInfoSource:
    return attribute.GetResolveInfo(time).GetSource()


def properties_without_effect(prim: Usd.Prim) -> list[str]:
    """One message per authored `newton:*` property that none of the known schemas applied to `prim` has."""
    schemas = todays_schemas(prim)
    # what a schema of the host program has is not known here
    if any(schema in _foreign for schema in schemas):
        return []
    known = [TARGETS, *_properties_on(prim, schemas)]
    unknown = [one for one in schemas if may_be_later(one) and one not in (*CONFIG_BY_SCHEMA, *_MARKERS)]
    return [
        f"<{prim.GetPath()}>.{visible(found.GetName())} ({_layer_of(found)}): no schema applied here has it, so it has "
        f"no effect. {_meant(found.GetName(), known, unknown)}"
        for found in prim.GetAuthoredProperties()
        if found.GetName() not in known and _looks_ours(found) and not _is_blocked(found)
    ]


def _is_blocked(found: Usd.Property) -> bool:
    """Whether the strongest opinion takes all others back."""
    return isinstance(found, Usd.Attribute) and found.GetResolveInfo(Usd.TimeCode.Default()).ValueIsBlocked()


def _looks_ours(found: Usd.Property) -> bool:
    namespace = found.GetNamespace()
    return namespace in _NAMESPACES or plain(namespace.partition(":")[0]) == "newton"


def _meant(name: str, known: list[str], unknown: list[str]) -> str:
    """What the author of an unknown property should do.

    Args:
        name: Of the property.
        known: Properties that the prim may have.
        unknown: Applied schemas that this version does not know, which may have others.
    """
    best = _most_like(name)
    if unknown and best not in known:
        return f"It may be of {visible(unknown[0])}. Remove both, or replace that schema by one that is known."
    if best is None:
        return f"Known are {', '.join(known)}. Use one of these or remove it."
    owners = _SCHEMAS_OF[best]
    # of an attribute that schemas of our own share, newton's is meant
    schemas = " or ".join([owner for owner in owners if owner.startswith("Newton")] or owners)
    if best == name:
        return f"Apply {schemas} or remove it."
    return f"Did you mean {best}?" if best in known else f"Did you mean {best}? Then apply {schemas} as well."


@functools.lru_cache(maxsize=1024)
def _most_like(name: str) -> str | None:
    """The attribute of a schema with the most of the letters of an unknown property, None when that are few."""

    def likeness(candidate: str) -> float:
        authored, meant = (plain(each).removeprefix("newton") for each in (name, candidate))
        return difflib.SequenceMatcher(None, authored, meant).ratio()

    best = max(_SCHEMAS_OF, key=likeness)
    return best if likeness(best) >= 0.6 else None


def opinion_of_other_kind(prim: Usd.Prim, name: str, kind: type[Sdf.PropertySpec]) -> str | None:
    """The layer that makes an attribute of a relationship or the reverse, or None; `kind` is what it has to be."""
    # with the schema plugin, the property itself is always of the right kind
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
    value = _default_value(attribute, described.type)
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


def _default_value(attribute: Usd.Attribute, kind: str) -> Any:
    # Get would return the plugin's fallback for a path expression in place of a number
    authored = opinion(attribute).default
    value = authored if isinstance(authored, Sdf.PathExpression) else attribute.Get(Usd.TimeCode.Default())
    return value.path if kind == "asset" and isinstance(value, Sdf.AssetPath) else value


def _shown(value: Any) -> str:
    """The value in one line of bounded length; arrays as lists."""
    # more elements than fit are not looked at
    plain = list(islice(value, 121)) if isinstance(value, Iterable) and not isinstance(value, str) else value
    text = " ".join(line.strip() for line in repr(plain).splitlines())
    return text if len(text) <= 120 else f"{text[:120]}…"


def _layer_of(found: Usd.Property) -> str:
    return layer_name(opinion(found).layer)


def opinion(found: Usd.Property) -> Sdf.PropertySpec:
    """The opinion the value comes from, or else the strongest one on the property."""
    stack = found.GetPropertyStack(Usd.TimeCode.Default())
    return next((spec for spec in stack if spec.HasDefaultValue()), stack[0])


def layer_name(layer: Sdf.Layer) -> str:
    """What messages call a layer."""
    return f"layer {layer.GetDisplayName()}"
