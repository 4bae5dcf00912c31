"""Read configs from applied API schemas, with or without the schema plugin of newton-usd-schemas.

Values, types, ranges and fallbacks come from the field descriptions in `specs`, so both cases give the same result.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

from pxr import Sdf, Usd

from ..specs.configs import CONFIGS, ForeignConfig, Kind
from ..specs.fields import Parameter, parameters_of

ACTUATOR_TYPE = "NewtonActuator"
TARGETS = "newton:targets"
# markers that the plugin applies along with a control or clamping schema; they carry nothing
_MARKERS = ("NewtonActuatorControlBaseAPI", "NewtonActuatorClampingBaseAPI")
_FROM_USD: dict[str, Callable[[Any], Any]] = {"float": float, "int": int, "float[]": list, "asset": str}
CONFIG_BY_SCHEMA = {config.SCHEMA: config for config in CONFIGS}


# schemas the host program has registered a component for, and what kind it is; no stage can add to them
_foreign: dict[str, Kind] = {}


def accept_schema(schema: str, kind: Kind) -> None:
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


def is_actuator(prim: Usd.Prim) -> bool:
    """Whether `prim` is a `NewtonActuator`."""
    return prim.GetTypeName() == ACTUATOR_TYPE


def read_config(prim: Usd.Prim, config_type: type[Any], issues: list[str]) -> Any:
    """Return `config_type` filled from `prim`; what is wrong is appended to `issues`."""
    before = len(issues)
    values = {name: _read_value(prim, described, issues) for name, described in parameters_of(config_type).items()}
    try:
        return config_type(**values)
    except ValueError as error:
        # a table that does not fit together; its parts were reported already when they are wrong themselves
        if len(issues) == before:
            issues.append(f"<{prim.GetPath()}>: {error} Correct the attributes or deactivate the prim.")
        return None


def schema_problem(prim: Usd.Prim, schema: str) -> str | None:
    """Why an applied schema cannot be used, or None when it can be or does not concern us."""
    known = sorted(CONFIG_BY_SCHEMA)
    ours = schema.startswith("Newton") and schema.partition(":")[0].endswith("API")
    if not ours or schema in CONFIG_BY_SCHEMA or schema in _MARKERS or schema in _foreign:
        return None
    hint = difflib.get_close_matches(schema, known, n=1)
    meant = f" Did you mean {hint[0]}?" if hint else ""
    return (
        f"<{prim.GetPath()}> applies {schema}: this version knows {', '.join(known)}.{meant} "
        "Use one of these or deactivate the prim."
    )


def _read_value(prim: Usd.Prim, described: Parameter, issues: list[str]) -> Any:
    """Return the authored value, or the schema's fallback when nothing is authored or the value is unusable."""
    attribute = prim.GetAttribute(described.attribute)
    if not attribute or not attribute.HasAuthoredValue():
        if described.fallback is None:
            issues.append(
                f"<{prim.GetPath()}>.{described.attribute} is not authored: {described.rule}. "
                "Author it or deactivate the prim."
            )
        return described.fallback
    where = f"<{prim.GetPath()}>.{described.attribute}"
    # Get would return the plugin's fallback for values over time only
    if attribute.GetResolveInfo(Usd.TimeCode.Default()).GetSource() != Usd.ResolveInfoSourceDefault:
        issues.append(
            f"{where} ({_layer_of(attribute)}) has time samples or a spline, but no default value: actuator parameters "
            "do not change over time. Author a default value."
        )
        return described.fallback
    value = attribute.Get(Usd.TimeCode.Default())
    if described.type == "asset" and isinstance(value, Sdf.AssetPath):
        value = value.path
    if not described.accepts(value):
        issues.append(
            f"{where} = {value!r} ({_layer_of(attribute)}): {described.rule}. "
            "Author a value in that range or deactivate the prim."
        )
        return described.fallback
    return _FROM_USD[described.type](value)


def _layer_of(attribute: Usd.Attribute) -> str:
    """Name of the layer the value comes from, or else of the strongest one that authors the attribute."""
    stack = attribute.GetPropertyStack(Usd.TimeCode.Default())
    origin = next((spec for spec in stack if spec.HasDefaultValue()), stack[0])
    return f"layer {origin.layer.GetDisplayName()}"
