"""Correct a file by a layer that lies over it."""

from __future__ import annotations

import os

from ..extras import needs
from ..specs.arguments import path_of
from .findings import Finding
from .inspect import MODELS
from .lint import lint


def fix(
    file: str | os.PathLike[str], overlay: str | os.PathLike[str], dt: float | None = None
) -> tuple[list[Finding], list[Finding]]:
    """Write a layer over a USD file that corrects what can be corrected without guessing.

    The file itself is never touched. Nothing is written where nothing can be corrected.

    Args:
        file: A USD file.
        overlay: Where the layer goes, `.usda`, `.usd` or `.usdc`; a file that is there is replaced.
        dt: As for `lint`.

    Returns:
        What was corrected, and what is left.

    Raises:
        ValueError: The file is no USD file, or the overlay is part of it or has no ending of USD.
        HostError: A prim is part of an instance and cannot be edited.
        OSError: The overlay cannot be written.
    """
    path, place = path_of("file", file), path_of("overlay", overlay)
    if path.suffix.lower() in MODELS:
        raise ValueError(f"{path}: no layer can lie over it, for it is not USD. Correct the file itself.")
    found = lint(path, dt)
    fixable = [finding for finding in found if finding.edits]
    if not fixable:
        return [], found
    with needs("an overlay", "usd"):
        from ..usd.overlay import write_overlay

    write_overlay(path, place, [edit for finding in fixable for edit in finding.edits])
    left = lint(overlay, dt)
    still = {(finding.rule, finding.where, finding.problem) for finding in left}
    return [one for one in fixable if (one.rule, one.where, one.problem) not in still], left
