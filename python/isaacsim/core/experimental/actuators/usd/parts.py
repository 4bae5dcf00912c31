"""The layers that a stage is made of: opened one after the other, each once its file is looked at.

USD opens them all at once, and a broken or endless one stops it for good. What they are made of in turn is followed through
sublayers, references and payloads, those of variants that are not selected included; not through value clips, which USD
opens when a value over time is asked for.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from pxr import Ar, Sdf, Tf

from .crate import MAGIC, CrateError, require_sound


def open_parts(path: str) -> list[Sdf.Layer]:
    """Open the layers of a file that are sound; a stage that is opened while they are held uses them.

    Args:
        path: Of the file.

    Raises:
        ValueError: One is no file, or a crate whose structure is broken.
    """
    opened: list[Sdf.Layer] = []
    seen, waiting = {path}, [path]
    while waiting:
        identifier = waiting.pop()
        if not (layer := Sdf.Layer.Find(identifier)):
            if refused := _refused(Sdf.Layer.SplitIdentifier(identifier)[0]):
                part = "" if identifier == path else f"{identifier}: "
                raise ValueError(f"{path}: {part}USD cannot read this file ({refused}). Export it again.")
            try:
                layer = Sdf.Layer.FindOrOpen(identifier)
            except Tf.ErrorException:
                # whoever needs it says so
                continue
        if not layer:
            continue
        opened.append(layer)
        for named in layer.GetCompositionAssetDependencies():
            found = Sdf.ComputeAssetPathRelativeToLayer(layer, named)
            if found not in seen:
                seen.add(found)
                waiting.append(found)
    return opened


def _refused(path: str) -> str:
    """What is wrong with a file before it is opened, or nothing."""
    resolver: Any = Ar.GetResolver()
    resolved = str(resolver.Resolve(path))
    file, inner = Ar.SplitPackageRelativePathOuter(resolved)
    if not os.path.exists(file) or os.path.isdir(file):
        return ""
    if not os.path.isfile(file):
        return "it must be a file, not a device or a pipe"
    if not inner and os.path.splitext(file)[1].lower() == ".usdz":
        # its first file is the layer
        package = Sdf.ZipFile.Open(file)
        names = package.GetFileNames() if package else []
        inner = names[0] if names else ""
        resolved = Ar.JoinPackageRelativePath([file, inner])
    try:
        if inner:
            opened = resolver.OpenAsset(Ar.ResolvedPath(resolved))
            data = np.frombuffer(opened.GetBuffer(), np.uint8) if opened else np.empty(0, np.uint8)
        else:
            data = np.memmap(file, np.uint8, "r") if os.path.getsize(file) else np.empty(0, np.uint8)
        if data[: len(MAGIC)].tobytes() == MAGIC:
            require_sound(data)
    except CrateError as error:
        return str(error)
    return ""
