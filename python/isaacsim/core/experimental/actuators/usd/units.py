"""The units a stage is written in."""

from __future__ import annotations

from dataclasses import dataclass

from pxr import Usd, UsdGeom, UsdPhysics


@dataclass(frozen=True)
class StageUnits:
    """What a stage's unit of length is in metres, and its unit of mass in kilograms; time is in seconds."""

    length: float
    mass: float

    @property
    def force(self) -> float:
        """The unit of force [N]."""
        return self.mass * self.length

    @property
    def torque(self) -> float:
        """The unit of torque [N·m]."""
        return self.mass * self.length**2


def units_of(stage: Usd.Stage) -> StageUnits:
    """The units that `stage` authors; metres and kilograms where it authors none.

    USD's own fallback is the centimetre, which nobody who writes a robot by hand means.
    """
    length = UsdGeom.GetStageMetersPerUnit(stage) if UsdGeom.StageHasAuthoredMetersPerUnit(stage) else 1.0
    mass = UsdPhysics.GetStageKilogramsPerUnit(stage) if UsdPhysics.StageHasAuthoredKilogramsPerUnit(stage) else 1.0
    return StageUnits(length, mass)
