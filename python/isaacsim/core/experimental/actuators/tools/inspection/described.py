"""Robots of files as plain data in SI units: rad, rad/s and N·m, or m, m/s and N for joints that slide."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, cast

from ...specs.configs import ClampingConfig, Config, ControlConfig, DelayConfig, ForeignConfig
from ...specs.fields import Parameter, parameters_of
from ...specs.joint_side import bounds_at_joint, gains_at_joint
from ...specs.linkage import LinkageConfig
from ...specs.stages import KINDS, AnyStage, Staged, follows_limits, is_linked, kind_of, parts_of

DrivenBy = Literal["actuator", "motor", "USD drive", "MJCF actuator", "MjcActuator", "another joint", "nothing"]

DEFAULT = "default"
"""Source of a value that no file has."""


@dataclass(frozen=True)
class InspectedValue:
    """A value of a robot and its source.

    Args:
        value: In SI; infinite for no limit, a list for a table, a text for a file.
        unit: Empty for none.
        source: Name of the file of the USD layer that has it, or of the MJCF or URDF file; "default" if none has.
    """

    value: Any
    unit: str
    source: str

    @property
    def said(self) -> bool:
        """True if a file has it."""
        return self.source != DEFAULT


@dataclass(frozen=True)
class InspectedOwnValue:
    """A value of an actuator that a copy of a robot has for itself.

    Args:
        robot: Path of the copy.
        actuator: Path of its actuator prim.
        law: Word for the law.
        parameter: Name of the parameter.
        value: Of the copy.
        others: Value of the robot that it is a copy of.
    """

    robot: str
    actuator: str
    law: str
    parameter: str
    value: InspectedValue
    others: Sequence[AnyStage]


@dataclass(frozen=True)
class InspectedActuator(Staged):
    """An actuator of a file: a `NewtonActuator` prim, or the MuJoCo actuators of a joint.

    Args:
        path: Path of the prim; name of the joint for MuJoCo's.
        joints: Names of the joints that it drives.
        pipeline: Its stages in words.
        controller: The control law in SI; None for a passive joint, and for a prim that cannot be used.
        clamping: Effort limits, in the order in which they act.
        delay: Command delay, or None.
        others: Stages of other kinds.
        values: All parameters, by the word for the law and the name of the parameter.
        stand_ins: Laws of newton that the prim has for other readers, beside laws of ours; in SI.
        unsplit: Reason, a clause, why an overlay cannot split a prim with several joints.
        earlier: Applied schemas with names of version 0.9 and before, and their current names.
    """

    path: str
    joints: tuple[str, ...]
    pipeline: str
    controller: ControlConfig | None = None
    clamping: Sequence[ClampingConfig] = ()
    delay: DelayConfig | None = None
    values: Mapping[tuple[str, str], InspectedValue] = field(default_factory=dict[tuple[str, str], InspectedValue])
    stand_ins: tuple[Config, ...] = ()
    unsplit: str = ""
    others: Sequence[Config] = ()
    earlier: tuple[tuple[str, str], ...] = ()

    @property
    def usable(self) -> bool:
        """True if it can be used."""
        return bool(self.stages)


@dataclass(frozen=True)
class InspectedJoint:
    """One degree of freedom.

    Args:
        name: As in `dof_names`.
        path: Of the joint prim, or of the joint in an MJCF or URDF file.
        axis: `angular` or `linear`, or one of several: `transX` … `rotZ`.
        linear: Whether it slides.
        driven_by: Kind of its driver.
        driver: Path of the actuator, if it is usable.
        values: By name: lower_limit, upper_limit, effort_limit, velocity_limit, armature, friction, viscous_friction,
            drive_stiffness, drive_damping.
        is_marked: Whether a mark tells fallbacks of its actuator from values of its author.
    """

    name: str
    path: str
    axis: str
    linear: bool
    driven_by: DrivenBy
    driver: str | None
    values: Mapping[str, InspectedValue]
    is_marked: bool = False

    def value(self, name: str) -> float:
        """Return a number of `values`."""
        return float(self.values[name].value)


@dataclass(frozen=True)
class InspectedRobot:
    """One articulation of a file.

    Args:
        path: Path of its root.
        joints: Joints in the order of `dof_names`.
        actuators: Prims, or actuators of MuJoCo, in the order of the file.
        problems: Errors of actuator prims, one line each.
        remarks: Parts without effect or unknown, one line each. The first robot has those on a whole MJCF or URDF
            file.
        own_values: What copies of the robot have for themselves.
        two_values: Values that are not read because another one means the same, one line each. The first robot has
            those of a whole MJCF or URDF file.
    """

    path: str
    joints: tuple[InspectedJoint, ...]
    actuators: tuple[InspectedActuator, ...]
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    own_values: tuple[InspectedOwnValue, ...] = ()
    two_values: tuple[str, ...] = ()

    def joint(self, name: str) -> InspectedJoint:
        """Return the joint of a name.

        Raises:
            KeyError: There is none.
        """
        return {joint.name: joint for joint in self.joints}[name]


JOINT_UNITS = {
    "lower_limit": ("rad", "m"),
    "upper_limit": ("rad", "m"),
    "effort_limit": ("N·m", "N"),
    "velocity_limit": ("rad/s", "m/s"),
    "armature": ("kg·m²", "kg"),
    "friction": ("N·m", "N"),
    "viscous_friction": ("N·m·s/rad", "N·s/m"),
    "drive_stiffness": ("N·m/rad", "N/m"),
    "drive_damping": ("N·m·s/rad", "N·s/m"),
}
"""Names of the values of a joint, and their units if it turns and if it slides."""


def law_of(config: Config | type[Config]) -> str:
    """Return the word for a law, from its class; the name of the schema for one of the host program."""
    if isinstance(config, ForeignConfig):
        return config.SCHEMA
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", config.stem())
    return " ".join(word if word.isupper() else word.lower() for word in words)


def pipeline_of(configs: Iterable[Config]) -> str:
    """Return the stages of an actuator in words, in order; a linkage without a motor is free, as far as others go."""
    stages = list(configs)
    has_motor = any(kind_of(stage) == "controller" for stage in stages)
    return " → ".join(
        "no motor: free where tendons do not hold it"
        if isinstance(stage, LinkageConfig) and not has_motor
        else _in_words(stage)
        for stage in stages
    )


def values_of(config: Config, linear: bool, source: str) -> dict[str, tuple[Parameter | None, InspectedValue]]:
    """Return description and value of every parameter of a law but empty lists, by name; all have the same source."""
    if isinstance(config, ForeignConfig):
        return {name: (None, InspectedValue(value, "", source)) for name, value in config.values.items()}
    return {
        name: (described, InspectedValue(_plain(value), unit_of(described.unit, linear), source))
        for name, described in parameters_of(config).items()
        if (value := _word(described, getattr(config, name))) != []
    }


def unit_of(unit: str, linear: bool) -> str:
    """Return the unit of a joint that turns or slides, from one for both: `rad or m`."""
    angular, _, other = unit.partition(" or ")
    return other if linear and other else angular


def source_of(layer: str | None) -> str:
    """Return the source of a value."""
    return DEFAULT if layer is None else layer


def _in_words(config: Config) -> str:
    law = law_of(config)
    if isinstance(config, LinkageConfig) and not config.is_table:
        pairs = zip(config.coefficients, config.joints, strict=True)
        terms = [f"{share:+.4g}·{joint}" for share, joint in pairs] + [f"{config.offset:+.4g}"] * bool(config.offset)
        return f"{law} {' '.join(terms)}{', pulls only' * config.unilateral}"
    values = config.values if isinstance(config, ForeignConfig) else _unusual(config)
    if not values:
        return law
    if len(values) == 1 and len(vars(config)) == 1:
        return f"{law} {_shown(*values.values())}"
    return f"{law}({', '.join(f'{name}={_shown(value)}' for name, value in values.items())})"


def _unusual(config: Config) -> dict[str, object]:
    """Return the parameters of a law that are not those by default, nor empty."""
    values = {name: _word(described, getattr(config, name)) for name, described in parameters_of(config).items()}
    usual = {field.name: field.default for field in dataclasses.fields(cast(Any, config))}
    return {name: value for name, value in values.items() if value != usual[name] and value != []}


def _word(described: Parameter, value: object) -> object:
    """Return a value as users write it: the word of a token, which motors have by its number."""
    return described.word(value) if isinstance(value, int | float) else value


def _shown(value: object) -> str:
    if isinstance(value, PurePath | str):
        return PurePath(value).name
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Iterable):
        values = list(value)
        return f"{len(values)} values"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, PurePath) else value


def gains(actuator: Staged) -> tuple[float, float] | None:
    """Return stiffness and damping at the joint; None if they are unknown, or the law has none."""
    law_gains = gains_at_joint(actuator)
    return None if law_gains is None else law_gains[:2]


def passive_stages(actuator: InspectedActuator) -> list[Config]:
    """Return the stages that act after all limits and the transmission, friction for instance."""
    return [stage for kind, stage in actuator.by_kind if follows_limits(kind)]


def largest_effort(actuator: Staged) -> float:
    """Return the largest effort of an actuator at the joint; infinite if none of its stages bounds it there."""
    return min((float(most) for _, _, most in bounds_at_joint(actuator, "effort")), default=math.inf)


def before_linkage(actuator: Staged) -> InspectedActuator:
    """Return the motor before a linkage, whose values at the joint are those at its shaft."""
    stages = parts_of(stage for stage in actuator.stages if not KINDS[stage.KIND].couples)
    return InspectedActuator("", (), "", **stages)


def at_shaft(actuator: Staged) -> str:
    """Return in words what a motor before a linkage has at its shaft, for it has it at no joint; empty without one."""
    if not is_linked(actuator):
        return ""
    if actuator.controller is None:
        return "no motor of its own: a linkage moves it"
    motor = before_linkage(actuator)
    values = dict(zip(("kp", "kd", "ki"), gains_at_joint(motor) or (), strict=False)) | {"limit": largest_effort(motor)}
    said = ", ".join(f"{name} {value:.6g}" for name, value in values.items() if value and math.isfinite(value))
    return f"at the shaft: {said or 'no gains or limit that are known'}"
