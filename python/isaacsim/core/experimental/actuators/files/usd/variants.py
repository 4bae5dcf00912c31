"""Select variants of a stage in its session layer."""

from __future__ import annotations

from collections.abc import Mapping

from pxr import Usd

from .articulation import every_prim
from .usd_errors import reports_usd_errors


@reports_usd_errors
def select_variants(stage: Usd.Stage, choices: Mapping[str, str]) -> None:
    """Select variants by the names of their sets, on every prim with the set.

    Raises:
        ValueError: No prim has the set, or a set has no such variant.
    """
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
