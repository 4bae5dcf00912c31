"""What a file says of a robot, as plain data in SI units: rad, rad/s and N·m, or m, m/s and N where a joint slides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..specs.configs import ClampingConfig, Config, ControlConfig, DelayConfig
from ..specs.stages import Staged

DrivenBy = Literal["actuator", "USD drive", "MJCF actuator", "MjcActuator", "another joint", "nothing"]

DEFAULT = "default"
"""Where a value comes from that no file says."""


@dataclass(frozen=True)
class InspectedValue:
    """A number of a robot, and who says it.

    Args:
        value: In SI; infinite for no limit, a list for a table, a text for a file.
        unit: Empty where it has none.
        source: Name of the file of the USD layer that says it, or of the MJCF or URDF file; "default" where none does.
    """

    value: Any
    unit: str
    source: str

    @property
    def said(self) -> bool:
        """Whether a file says it."""
        return self.source != DEFAULT


@dataclass(frozen=True)
class InspectedActuator(Staged):
    """What drives joints: a `NewtonActuator` prim, or the actuators that MuJoCo has on a joint.

    Args:
        path: Of the prim; the name of the joint for those of MuJoCo.
        joints: Names of the joints that it drives.
        pipeline: What it does, in words.
        controller: The control law, its numbers in SI; None for a passive joint, and where the prim cannot be used.
        clamping: Effort limits, in the order in which they act.
        delay: Command delay, or None.
        others: Stages of other kinds.
        values: Every parameter of these, by the word for the law and the name of the parameter.
        stand_ins: Laws of newton's that the prim has for others, in the place of laws of ours; in SI.
        unsplit: Why a prim with several joints cannot become one for each in a layer over the file, a clause.
        earlier: Schemas that the prim applies by the names of version 0.9 and before, with those of today.
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
        """Whether it can be used."""
        return bool(self.stages)


@dataclass(frozen=True)
class InspectedJoint:
    """One degree of freedom.

    Args:
        name: As `dof_names` has it.
        path: Of the joint prim, or of the joint in an MJCF or URDF file.
        axis: `angular` or `linear`, or one of several: `transX` … `rotZ`.
        linear: Whether it slides.
        driven_by: What moves it.
        driver: Path of the actuator, where it is one that can be used.
        values: By name: lower_limit, upper_limit, effort_limit, velocity_limit, armature, friction, viscous_friction,
            drive_stiffness, drive_damping.
    """

    name: str
    path: str
    axis: str
    linear: bool
    driven_by: DrivenBy
    driver: str | None
    values: Mapping[str, InspectedValue]

    def value(self, name: str) -> float:
        """A number of `values`."""
        return float(self.values[name].value)


@dataclass(frozen=True)
class InspectedRobot:
    """One articulation of a file.

    Args:
        path: Of its root.
        joints: In the order of `dof_names`.
        actuators: Of the prims or of MuJoCo, in the order of the file.
        problems: What makes actuator prims unusable, one line each.
        remarks: What has no effect, or cannot be told; one line each. Those on a whole MJCF or URDF file are of its
            first robot.
    """

    path: str
    joints: tuple[InspectedJoint, ...]
    actuators: tuple[InspectedActuator, ...]
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def joint(self, name: str) -> InspectedJoint:
        """The joint of a name.

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
"""Names of the values of a joint, and their units where it turns and where it slides."""
