"""Stages to edit freely."""

from pathlib import Path

from pxr import Sdf, Usd


def stage_of(path: Path) -> Usd.Stage:
    """The robot of a file on a stage of its own; edits never reach the file or another test."""
    original = Sdf.Layer.FindOrOpen(str(path))
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(original)
    return Usd.Stage.Open(layer)
