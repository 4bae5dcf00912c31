"""Variants are selected in the session."""

import pytest
from isaacsim.core.experimental.actuators.files.usd.variants import select_variants
from pxr import Usd


def stage_with(*prims: str) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    for path in prims:
        found = stage.DefinePrim(path).GetVariantSets().AddVariantSet("hand")
        for name in ("none", "gripper"):
            found.AddVariant(name)
        found.SetVariantSelection("none")
    return stage


def test_every_prim_with_the_set_gets_the_variant() -> None:
    """And the files keep theirs."""
    stage = stage_with("/A", "/B")
    before = stage.GetRootLayer().ExportToString()
    select_variants(stage, {"hand": "gripper"})
    for path in ("/A", "/B"):
        assert stage.GetPrimAtPath(path).GetVariantSet("hand").GetVariantSelection() == "gripper"
    assert stage.GetRootLayer().ExportToString() == before


@pytest.mark.parametrize(("choice", "words"), [({"foot": "none"}, "no prim has it"), ({"hand": "foot"}, "'gripper'")])
def test_what_is_not_there_is_refused(choice, words) -> None:
    """A set, or a variant."""
    with pytest.raises(ValueError, match=words):
        select_variants(stage_with("/A"), choice)
