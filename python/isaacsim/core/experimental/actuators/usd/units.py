"""The units a stage is written in, and numbers between them and SI.

Numbers in a program are SI, numbers on a stage are in the units of the stage. Angles of actuators are radians in both.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pxr import Usd, UsdGeom, UsdPhysics

from ..errors import UnsupportedSceneError
from ..specs.fields import parameters_of
from .readable import readable


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

    @property
    def si(self) -> bool:
        """Whether they are metres and kilograms."""
        return self == StageUnits(1.0, 1.0)

    def unit(self, effort: int, position: int, angular: bool) -> float:
        """The unit [SI] of what has these powers of an effort and of a position, on an axis that turns or slides."""
        return self.torque**effort if angular else self.force**effort * self.length**position


@readable
def units_of(stage: Usd.Stage) -> StageUnits:
    """The units that `stage` authors; metres and kilograms where it authors none.

    USD's own fallback is the centimetre, which nobody who writes a robot by hand means.

    Raises:
        UnsupportedSceneError: A unit is no finite number > 0.
    """
    length = UsdGeom.GetStageMetersPerUnit(stage) if UsdGeom.StageHasAuthoredMetersPerUnit(stage) else 1.0
    mass = UsdPhysics.GetStageKilogramsPerUnit(stage) if UsdPhysics.StageHasAuthoredKilogramsPerUnit(stage) else 1.0
    for name, unit in (("metersPerUnit", length), ("kilogramsPerUnit", mass)):
        if not 0.0 < unit < math.inf:
            raise UnsupportedSceneError(
                f"{stage.GetRootLayer().identifier}: {name} = {unit:g}: must be finite and > 0. Correct it."
            )
    # a rounding error is no other unit
    return StageUnits(*(1.0 if abs(unit - 1.0) <= 1e-9 else unit for unit in (length, mass)))


def from_stage(config: Any, units: StageUnits, angular: Collection[bool]) -> Any:
    """A copy of a config with its numbers in SI, which were in the units of the stage; see `to_stage`."""
    return _scaled(config, units, angular, 1)


def to_stage(config: Any, units: StageUnits, angular: Collection[bool]) -> Any:
    """A copy of a config with its numbers in the units of the stage, which were SI.

    Args:
        config: What an actuator has.
        units: Of the stage.
        angular: Whether the axes that it drives turn.

    Raises:
        ValueError: It is for axes that turn and for others that slide, and a number stands for different ones in SI.
    """
    return _scaled(config, units, angular, -1)


def _scaled(config: Any, units: StageUnits, angular: Collection[bool], power: int) -> Any:
    scaled: dict[str, Any] = {}
    for name, described in parameters_of(config).items():
        factors = {units.unit(*described.dimension, turns) ** power for turns in angular}
        if len(factors) > 1:
            raise ValueError(
                f"{type(config).__name__}.{name} is of joints that turn and of joints that slide, whose units on a "
                f"stage with metersPerUnit = {units.length:g} are no longer the same. Give each kind an actuator."
            )
        factor = next(iter(factors), 1.0)
        if factor != 1.0:
            value = getattr(config, name)
            scaled[name] = [one * factor for one in value] if described.type == "float[]" else value * factor
    return dataclasses.replace(config, **scaled) if scaled else config
