"""The units of a stage, and conversion between them and SI.

Numbers in a program are SI, numbers on a stage are in the units of the stage. Angles of actuators are radians in both.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pxr import Usd, UsdGeom, UsdPhysics

from ...base.errors import UnsupportedSceneError
from ...specs.config import Config
from ...specs.fields import parameters_of
from .usd_errors import reports_usd_errors

_Config = TypeVar("_Config", bound=Config)

DEGREE, RADIAN = math.radians(1.0), math.degrees(1.0)
"""A degree in radians and a radian in degrees: angles of joints on a stage are in degrees."""


@dataclass(frozen=True)
class StageUnits:
    """A stage's unit of length [m] and unit of mass [kg]; time is in seconds."""

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
        """True if they are meters and kilograms."""
        return self == StageUnits(1.0, 1.0)

    def unit(self, effort: int, position: int, angular: bool) -> float:
        """The unit [SI] of a quantity with these powers of effort and position, on an axis that turns or slides."""
        return self.torque**effort if angular else self.force**effort * self.length**position


@reports_usd_errors
def units_of(stage: Usd.Stage) -> StageUnits:
    """The authored units of `stage`; meters and kilograms if it authors none.

    USD's own fallback is the centimeter, which robots written by hand do not mean. An `UnsupportedSceneError` names a
    unit that is no finite number > 0.
    """
    length = UsdGeom.GetStageMetersPerUnit(stage) if UsdGeom.StageHasAuthoredMetersPerUnit(stage) else 1.0
    mass = UsdPhysics.GetStageKilogramsPerUnit(stage) if UsdPhysics.StageHasAuthoredKilogramsPerUnit(stage) else 1.0
    for name, unit in (("metersPerUnit", length), ("kilogramsPerUnit", mass)):
        if not 0.0 < unit < math.inf:
            raise UnsupportedSceneError(
                f"{stage.GetRootLayer().identifier}: {name} = {unit:g}: must be finite and > 0. Correct it."
            )
    # a rounding error does not change the unit
    return StageUnits(*(1.0 if abs(unit - 1.0) <= 1e-9 else unit for unit in (length, mass)))


def from_stage(config: _Config, units: StageUnits, angular: Collection[bool]) -> _Config:
    """A copy of a config, converted from the units of the stage to SI; see `to_stage`."""
    return _scaled(config, units, angular, 1)


def to_stage(config: _Config, units: StageUnits, angular: Collection[bool]) -> _Config:
    """A copy of a config, converted from SI to the units of the stage, by whether each driven axis turns.

    A `ValueError` says that some axes turn and others slide, and that their factors differ.
    """
    return _scaled(config, units, angular, -1)


def _scaled(config: _Config, units: StageUnits, angular: Collection[bool], power: int) -> _Config:
    scaled: dict[str, object] = {}
    for name, described in parameters_of(config).items():
        factors = {units.unit(*described.dimension, turns) ** power for turns in angular}
        if len(factors) > 1:
            raise ValueError(
                f"{type(config).__name__}.{name} is of joints that turn and of joints that slide, whose units on a "
                f"stage with metersPerUnit = {units.length:g} are no longer the same. Give each kind an actuator."
            )
        factor = next(iter(factors), 1.0)
        value = getattr(config, name)
        # a required value that is missing is a problem that has been noted
        if factor != 1.0 and value is not None:
            scaled[name] = [one * factor for one in value] if described.type == "float[]" else value * factor
    return dataclasses.replace(cast(Any, config), **scaled) if scaled else config
