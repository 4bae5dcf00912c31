"""Corrections of a file in an overlay, a layer over it."""

from __future__ import annotations

import os

from ...base.extras import needs
from ...specs.arguments import MODEL_FILES, path_of
from .findings import Finding
from .lint import lint


def fix(
    file: str | os.PathLike[str], overlay: str | os.PathLike[str], dt: float | None = None
) -> tuple[list[Finding], list[Finding]]:
    """Write an overlay of a USD file with the corrections that need no guess.

    The file itself is never written. No overlay is written if nothing can be corrected.

    Args:
        file: A USD file.
        overlay: Path of the layer, `.usda`, `.usd` or `.usdc`; an existing file is replaced.
        dt: As for `lint`.

    Returns:
        The corrected findings, and the remaining ones.

    Raises:
        ValueError: The file is no USD file, or the overlay is part of it or has no extension of USD.
        HostError: A prim is part of an instance and cannot be edited.
        OSError: The overlay cannot be written.
    """
    path, place = path_of("file", file), path_of("overlay", overlay)
    if path.suffix.lower() in MODEL_FILES:
        raise ValueError(f"{path}: no layer can lie over it, for it is not USD. Correct the file itself.")
    found = lint(path, dt)
    fixable = [finding for finding in found if finding.edits]
    if not fixable:
        return [], found
    with needs("an overlay", "usd"):
        from ...files.usd.overlay import write_overlay

    write_overlay(path, place, [edit for finding in fixable for edit in finding.edits])
    left = lint(overlay, dt)
    still = {(finding.rule, finding.where, finding.problem) for finding in left}
    return [one for one in fixable if (one.rule, one.where, one.problem) not in still], left
