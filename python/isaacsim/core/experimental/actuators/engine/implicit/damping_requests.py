"""Joints whose effort a simulator is to take over, and their refusal where no simulator is attached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...base.values import as_numpy
from ...laws.implicit_effort import ImplicitEffort


class Driving(Protocol):
    """Actuators of joints with names."""

    label: str
    dof_names: tuple[str, ...]

    @property
    def stages(self) -> Sequence[object]:
        """Their components."""
        ...


def require_no_damping_in_engine(entries: Sequence[Driving]) -> None:
    """Raise for efforts that a simulator is to take over, where none is attached."""
    if joints := joints_in_engine(entries):
        raise ValueError(
            f"{subject_of(joints)} must be False here, for no simulator is attached that could take over the slope "
            "of the effort. Set it to False, or give the motor to ArticulationActuators.from_configs."
        )


def subject_of(joints: Sequence[str]) -> str:
    """Beginning of errors about these joints."""
    return f"ImplicitConfig.in_engine = True of joints {', '.join(joints)}:"


def joints_in_engine(entries: Sequence[Driving]) -> list[str]:
    """Names of the joints of actuators whose effort mode is to be in the simulator."""
    found: list[str] = []
    for entry in entries:
        modes = [stage for stage in entry.stages if isinstance(stage, ImplicitEffort)]
        if any((as_numpy(one.in_engine) > 0.5).any() for one in modes if one.in_engine is not None):
            found += entry.dof_names or (entry.label,)
    return found
