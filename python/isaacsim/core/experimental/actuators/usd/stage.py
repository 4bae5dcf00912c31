"""Open a stage and notice when it is edited."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

# USD learns of newton's schemas only before the first stage of the process is opened
import newton_usd_schemas  # noqa: F401
from pxr import Tf, Usd, UsdGeom

from ..errors import UnsupportedSceneError
from ..specs.arguments import require_type
from .units import units_of
from .words import said


def open_stage(source: str | os.PathLike[str] | Usd.Stage) -> Usd.Stage:
    """Return the stage of a USD file, or `source` itself when it is a stage already.

    Raises:
        FileNotFoundError: No file at that path.
        ValueError: USD cannot read the file.
    """
    if isinstance(source, Usd.Stage):
        return source
    require_type("source", source, (str, os.PathLike), "the path of a file, or a stage")
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file. Give the path of a .usd, .usda, .usdc or .usdz file.")
    if not path.is_file():
        raise ValueError(f"{path}: must be a file, not a folder or a device. Give the path of a USD file.")
    try:
        return Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise ValueError(f"{path}: USD cannot read this file ({said(error)}). Check it with usdchecker.") from error


def require_meters(stage: Usd.Stage) -> None:
    """Refuse a stage whose length unit is not the metre: physics would be wrong by powers of the scale."""
    unit = UsdGeom.GetStageMetersPerUnit(stage) if UsdGeom.StageHasAuthoredMetersPerUnit(stage) else 1.0
    if not abs(unit - 1.0) <= 1e-9:
        raise UnsupportedSceneError(
            f"{stage.GetRootLayer().identifier}: metersPerUnit = {unit:g}: the embedded physics reads lengths in "
            "metres. Convert the asset to metres and set metersPerUnit = 1."
        )


def require_si(stage: Usd.Stage) -> None:
    """Refuse a stage whose units of length and mass are not those that its properties are told in."""
    require_meters(stage)
    if not (units := units_of(stage)).si:
        raise UnsupportedSceneError(
            f"{stage.GetRootLayer().identifier}: kilogramsPerUnit = {units.mass:g}: this physics reads masses in "
            "kilograms. Convert the asset to kilograms and set kilogramsPerUnit = 1."
        )


class StageEdits:
    """Tells whether a stage was edited since the last `clear`."""

    def __init__(self, stage: Usd.Stage) -> None:
        self.pending = False
        # the notice must not keep its listener alive
        listener = weakref.ref(self)

        def mark(_notice: object, _sender: object) -> None:
            if (edits := listener()) is not None:
                edits.pending = True

        # USD holds callbacks weakly
        self._callback = mark
        self._key = Tf.Notice.Register(Usd.Notice.ObjectsChanged, mark, stage)

    def clear(self) -> None:
        """Forget the edits so far."""
        self.pending = False
