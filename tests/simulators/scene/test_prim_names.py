"""Names of prims."""

from isaacsim.core.experimental.actuators.simulators.scene.prim_names import Names
from pxr import Sdf

ROOT = Sdf.Path("/World")


def test_names_are_valid_and_one_each() -> None:
    """Below each parent; what is another name is noted."""
    names = Names()
    assert [names.below(ROOT, name).name for name in ("/hip", "hip", "leg-2")] == ["hip", "hip_2", "leg_2"]
    assert names.below(ROOT.AppendChild("leg"), "hip").name == "hip"
    assert names.renamed == ["hip → hip_2", "leg-2 → leg_2"]


def test_names_that_nobody_gave_are_not_noted() -> None:
    """Such as those of shapes."""
    names = Names()
    names.below(ROOT, "left box", noted=False)
    assert not names.renamed
