"""Parameter files of BAM, Better Actuator Models, as arguments of `FrictionConfig` and of the other parts of a servo.

    static = friction_base + friction_stribeck      BAM has the excess over the Coulomb level
    M3, M4: motor_load = external_load = load_friction_base, and the same of load_friction_stribeck at rest

A file is a JSON object with the name of a `model`, m1 … m6, and its numbers. Numbers of other models are not used, as
in BAM. `BamMotorCfg` of Isaac Lab has the same names, but `resistance` for `R`; a `BamActuatorCfg` has one under
`motor`, and `kp_fw` for `kp`. A `BamBacklashActuatorCfg` has `backlash` besides: the whole free play [rad] between the
joint and the motor, whose encoder the firmware reads. The names of newton's `NewtonBamDriveAPI`, which is not released,
are taken for the same ones in USD's spelling, `newton:frictionBase`.
Source: Rhoban/bam 1b5a1ce, `bam/model.py`; Duclusaud et al., ICRA 2025 (arXiv 2410.08650). The names of M3 and M4, and
`kp`, `vin`, `error_gain` and `max_pwm` of the firmware, are those of BAM's code as known, without a published file that
has them, and so are the names of Isaac Lab's development branch.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any, cast

from ..base.errors import shown
from .arguments import json_of, path_of
from .fields import Parameter, complaint
from .servo import PRESETS, ServoControlConfig
from .transmission import ElasticTransmissionConfig

_BASE = {"friction_base": ("coulomb",), "friction_viscous": ("viscous",)}
_STRIBECK = {
    "friction_stribeck": ("static",),
    "dtheta_stribeck": ("stribeck_velocity",),
    "alpha": ("stribeck_exponent",),
}
_LOAD = {"load_friction_base": ("motor_load", "external_load")}
_STRIBECK_LOAD = {"load_friction_stribeck": ("stribeck_motor_load", "stribeck_external_load")}
_DIRECTIONAL = {
    "load_friction_motor": ("motor_load",),
    "load_friction_external": ("external_load",),
    "load_friction_motor_stribeck": ("stribeck_motor_load",),
    "load_friction_external_stribeck": ("stribeck_external_load",),
}
_QUADRATIC = {
    "load_friction_motor_quad": ("quadratic_motor_load",),
    "load_friction_external_quad": ("quadratic_external_load",),
}
MODELS: dict[str, dict[str, tuple[str, ...]]] = {
    "m1": _BASE,
    "m2": _BASE | _STRIBECK,
    "m3": _BASE | _LOAD,
    "m4": _BASE | _STRIBECK | _LOAD | _STRIBECK_LOAD,
    "m5": _BASE | _STRIBECK | _DIRECTIONAL,
    "m6": _BASE | _STRIBECK | _DIRECTIONAL | _QUADRATIC,
}
"""Numbers of each model by their names in files, and the fields of `FrictionConfig` that they set."""

# of the teeth of a servo in contact [N·m/rad], stiffer than a physics step of some milliseconds resolves
_TOOTH_STIFFNESS = 1000.0

# a file of BAM has less than a thousand characters
_MOST_BYTES = 100_000


def friction_of_bam(
    source: str | os.PathLike[str] | Mapping[str, object], described: Mapping[str, Parameter]
) -> tuple[dict[str, float], dict[str, object]]:
    """Return arguments of `FrictionConfig`, and what else the source has, by the names that it has there."""
    if isinstance(source, Mapping):
        subject, content = "bam", source
    else:
        file = path_of("path_or_dict", source, "the path of a file, or its content as a dictionary")
        subject, content = str(file), json_of(file, _MOST_BYTES, "a parameter file of BAM")
    given = _flat(content)
    names = _names(given, subject)
    used = {name: fields for name, fields in MODELS[_model(given, names, subject)].items() if name in names}
    if problems := _problems(given, names, used, described, subject):
        raise ValueError("\n".join(problems))
    values = {field: float(given[names[name]]) for name, fields in used.items() for field in fields}
    if "static" in values:
        values["static"] += values["coulomb"]
    taken = {"model", *used}
    return values, {given_as: given[given_as] for name, given_as in names.items() if name not in taken}


# names of Isaac Lab for those of BAM
_OF_ISAAC_LAB = {"resistance": "r", "kp_fw": "kp"}
# by name in files: what it is a parameter of, and its field
_WINDING = {"kt": "torque_constant", "r": "resistance", "max_current": "max_current"}
_SERVO = {"kp": "kp", "error_gain": "error_gain", "vin": "voltage", "max_pwm": "max_duty"}


def servo_of_bam(rest: Mapping[str, object], series: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, object]]:
    """Return arguments of `ElectricalConfig` and of `ServoControlConfig`, and what else there is."""
    names = _names(rest, "bam")
    preset = series or _series(rest.get(names.get("actuator", ""), ""))
    winding, own = (
        {field: rest[names[name]] for name, field in fields.items() if name in names} for fields in (_WINDING, _SERVO)
    )
    servo = vars(ServoControlConfig.of(preset)) | own if preset else own
    # 0 stands for no limit
    winding["max_current"] = winding.get("max_current") or math.inf
    if problems := [
        *_missing(winding, {"kt": "torque_constant", "R": "resistance"}, "Complete the parameters."),
        *_missing(servo, dict(list(_SERVO.items())[:3]), f"Add it, or pass servo, one of {', '.join(PRESETS)}."),
    ]:
        raise ValueError("\n".join(problems))
    named = ["actuator"] if preset and not series else []
    return winding, servo, _without(rest, names, {*_WINDING, *_SERVO, *named})


def play_of(backlash: float, armature: float) -> ElasticTransmissionConfig:
    """Return the free play [rad] between a rotor of some inertia [kg·m²] and the joint, both seen from the joint."""
    return ElasticTransmissionConfig(
        ratio=1.0,
        rotor_inertia=armature,
        stiffness=_TOOTH_STIFFNESS,
        backlash=backlash,
        # as for the friction, where a simulator tells none
        assumed_inertia=armature,
    )


def taken(rest: dict[str, object], name: str) -> Any:
    """Return and remove a number of a file, however it is spelled; None where there is none."""
    return rest.pop(_names(rest, "bam").get(name, ""), None)


def _series(actuator: object) -> str:
    return next((one for one in PRESETS if str(actuator).lower().startswith(one.lower())), "")


def _without(rest: Mapping[str, object], names: Mapping[str, str], taken: set[str]) -> dict[str, object]:
    return {key: rest[key] for name, key in names.items() if name not in taken}


def _missing(found: Mapping[str, object], fields: Mapping[str, str], remedy: str) -> list[str]:
    return [f"bam has no {name}: must have it. {remedy}" for name, field in fields.items() if field not in found]


def _problems(
    given: Mapping[str, object],
    names: Mapping[str, str],
    used: Mapping[str, tuple[str, ...]],
    described: Mapping[str, Parameter],
    subject: str,
) -> list[str]:
    missing = [name for name in _BASE if name not in names]
    checked = ((names[name], described[fields[0]]) for name, fields in used.items())
    return [
        *(f"{subject} has no {name}: must have it. Complete the parameters." for name in missing),
        *filter(None, (complaint(f"{subject}: {key}", given[key], rule) for key, rule in checked)),
    ]


def _flat(content: Mapping[str, object]) -> dict[str, Any]:
    motor = content.get("motor")
    if not isinstance(motor, Mapping):
        return dict(content)
    return {**{name: value for name, value in content.items() if name != "motor"}, **cast(Mapping[str, Any], motor)}


def _names(given: Mapping[str, object], subject: str) -> dict[str, str]:
    """Return BAM's name of each entry, and the name that it has: `friction_base` for `newton:frictionBase`."""
    found: dict[str, str] = {}
    for key in given:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(key).rpartition(":")[2]).lower()
        name = _OF_ISAAC_LAB.get(name, name)
        if name in found:
            raise ValueError(f"{subject} has {key} and {found[name]}: must have one of them. Remove the other.")
        found[name] = key
    return found


def _model(given: Mapping[str, object], names: Mapping[str, str], subject: str) -> str:
    """Return the name of the model; without one, the first that has all of the numbers."""
    if "model" in names:
        model = str(given[names["model"]]).lower()
        if model not in MODELS:
            raise ValueError(
                f"{subject}: model = {shown(given[names['model']])}: must be one of {', '.join(MODELS)}. Correct it."
            )
        return model
    every = {name for fields in MODELS.values() for name in fields if name in names}
    found = next((model for model, fields in MODELS.items() if every <= fields.keys()), None)
    if found is None:
        raise ValueError(
            f"{subject} has {', '.join(sorted(every))} and no model: must be numbers of one model. Give the model."
        )
    return found
