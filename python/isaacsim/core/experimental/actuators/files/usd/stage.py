"""Open a stage, change it for a session, and notice when it is edited."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import newton_usd_schemas  # noqa: F401
from pxr import Gf, Pcp, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdUtils

from ...base.errors import UnsupportedSceneError
from ...specs.arguments import ROBOT_FILES, require_type
from .articulation import every_prim
from .plugin import register_schemas
from .units import units_of
from .usd_errors import reports_usd_errors, usd_message

_MISSING = (Pcp.ErrorInvalidAssetPath, Pcp.ErrorInvalidSublayerPath, Pcp.ErrorUnresolvedPrimPath)
# missing parts that are named
_SHOWN = 5

# USD takes schemas only before the first stage of the process is opened
register_schemas()


def open_stage(source: str | os.PathLike[str] | Usd.Stage) -> Usd.Stage:
    """The stage of a USD file as it is on disk, or `source` itself when it is a stage already.

    Layers with edits that are not saved stay as they are in memory.

    USD reads the file in this process. A file made on purpose may crash or stop it; `actuators lint --untrusted` checks
    such files in a child process.

    A `FileNotFoundError` has a line for the file, or each layer of it, that is missing; a `ValueError` says that USD
    cannot read it.
    """
    if isinstance(source, Usd.Stage):
        return source
    require_type("source", source, (str, os.PathLike), "the path of a file, or a stage")
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file. Give the path of {ROBOT_FILES}.")
    if path.suffix.lower() in (".yaml", ".yml", ".toml", ".json"):
        raise ValueError(f"{path}: must be {ROBOT_FILES}. Give motors beside it, by --config or load_motors().")
    if not path.is_file():
        raise ValueError(f"{path}: must be a file, not a folder or a device. Give the path of {ROBOT_FILES}.")
    # USD prints its messages only if no error here reports them
    printed_by_usd = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        stage = Usd.Stage.Open(str(path))
        # USD shares layers of files that something in this process still has; edits that are not saved stay
        for layer in stage.GetUsedLayers():
            if not (layer.anonymous or layer.dirty):
                layer.Reload()
        printed = printed_by_usd.TakeUncoalescedDiagnostics()
    except Tf.ErrorException as error:
        raise ValueError(
            f"{path}: USD cannot read this file ({usd_message(error)}). Check it with usdchecker."
        ) from error
    finally:
        del printed_by_usd
    _require_parts(stage, path)
    for one in printed:
        Tf.Warn(one.commentary)
    return stage


def _require_parts(stage: Usd.Stage, path: Path) -> None:
    """Raise a `FileNotFoundError` that names the missing parts of a stage, and what refers to them."""
    missing = []
    # missing in the stubs of USD
    for error in stage.GetCompositionErrors():  # pyright: ignore[reportAttributeAccessIssue]
        where = error.rootSite.path
        if isinstance(error, _MISSING) and stage.GetPrimAtPath(where).IsActive():
            what = " ".join(str(error).split()).rstrip(".").removesuffix("; skipping")
            missing.append(f"{path}: <{where}>: {what}: must be there. Put it there, or deactivate the prim.")
    if len(missing) > _SHOWN:
        missing[_SHOWN:] = [f"{path}: {len(missing) - _SHOWN} more are missing."]
    if missing:
        raise FileNotFoundError("\n".join(missing))


def require_meters(stage: Usd.Stage) -> None:
    """Raise for a stage whose unit of length is not the meter: physics would be wrong by powers of the scale."""
    unit = UsdGeom.GetStageMetersPerUnit(stage) if UsdGeom.StageHasAuthoredMetersPerUnit(stage) else 1.0
    if not abs(unit - 1.0) <= 1e-9:
        raise UnsupportedSceneError(
            f"{stage.GetRootLayer().identifier}: metersPerUnit = {unit:g}: the embedded physics reads lengths in "
            "metres. Convert the asset to metres and set metersPerUnit = 1."
        )


def require_si(stage: Usd.Stage) -> None:
    """Raise for a stage whose units of length and mass are not meter and kilogram."""
    require_meters(stage)
    if not (units := units_of(stage)).si:
        raise UnsupportedSceneError(
            f"{stage.GetRootLayer().identifier}: kilogramsPerUnit = {units.mass:g}: this physics reads masses in "
            "kilograms. Convert the asset to kilograms and set kilogramsPerUnit = 1."
        )


class StageEdits:
    """Records whether a stage was edited since the last `clear`."""

    def __init__(self, stage: Usd.Stage) -> None:
        self.pending = False
        # the notice does not keep its listener alive
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


def disable_collisions(stage: Usd.Stage) -> None:
    """Let no shape of a stage collide; the opinion is in the session layer, which is in no file."""
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        # shapes in an instance cannot be edited
        while instances := [prim for prim in stage.Traverse() if prim.IsInstance()]:
            for prim in instances:
                prim.SetInstanceable(False)
        for prim in stage.Traverse():
            if shape := UsdPhysics.CollisionAPI(prim):
                shape.CreateCollisionEnabledAttr(False)


@reports_usd_errors
def fix_to_world(stage: Usd.Stage, links: Sequence[str]) -> Sdf.Layer:
    """Return a stage in one layer, with a fixed joint between the world and each of some links, where they are."""
    copy, places = Usd.Stage.Open(stage.Flatten()), UsdGeom.XformCache()
    for link in links:
        joint = UsdPhysics.FixedJoint.Define(copy, f"{link}_held_to_world")
        joint.CreateBody1Rel().SetTargets([link])
        place = Gf.Transform(places.GetLocalToWorldTransform(copy.GetPrimAtPath(link)))
        joint.CreateLocalPos0Attr(Gf.Vec3f(place.GetTranslation()))
        joint.CreateLocalRot0Attr(Gf.Quatf(place.GetRotation().GetQuat()))
    return copy.GetRootLayer()


def copies_of(robot: str | os.PathLike[str], count: int) -> Usd.Stage:
    """Return a stage with copies of what a file defines, all at the same place, for simulators that make none."""
    source, stage = open_stage(robot), Usd.Stage.CreateInMemory()
    if not source.GetDefaultPrim():
        raise UnsupportedSceneError(f"{os.fspath(robot)}: defaultPrim: must be there to make copies of. Author it.")
    for name in ("metersPerUnit", "kilogramsPerUnit", "upAxis"):
        if source.HasAuthoredMetadata(name):
            stage.SetMetadata(name, source.GetMetadata(name))
    for number in range(count):
        copy = stage.DefinePrim(f"/Copy_{number}")
        copy.GetReferences().AddReference(source.GetRootLayer().identifier)
        for prim in every_prim(copy) if number else ():
            if prim.GetTypeName() == "PhysicsScene":
                prim.SetActive(False)
    return stage


def select_variants(stage: Usd.Stage, choices: Mapping[str, str]) -> None:
    """Select variants by the names of their sets, on every prim with the set; a `ValueError` names an unknown one."""
    for name, choice in choices.items():
        sets = [
            prim.GetVariantSet(name)
            for prim in every_prim(stage.GetPseudoRoot())
            if prim.GetVariantSets().HasVariantSet(name)
        ]
        if not sets:
            raise ValueError(f"variant set {name!r}: no prim has it. Correct the name.")
        if unknown := [found for found in sets if choice not in found.GetVariantNames()]:
            raise ValueError(
                f"variant {choice!r} of set {name!r}: must be one of {unknown[0].GetVariantNames()}. Name one of these."
            )
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            for found in sets:
                found.SetVariantSelection(choice)
