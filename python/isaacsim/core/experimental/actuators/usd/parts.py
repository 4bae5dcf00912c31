"""The layers that a stage is made of: opened one after the other, each once its file is looked at.

USD opens them all at once, and one that is broken or endless stops it for good. What they are made of in turn is
followed through sublayers, references and payloads, those of variants that are not selected included; not through value
clips, which USD opens when a value over time is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Ar, Sdf, Tf, Usd

from . import crate
from .nesting import require_shallow


def open_parts(path: str) -> list[Sdf.Layer]:
    """Open the layers of a file that are sound; a stage that is opened while they are held uses them.

    Args:
        path: Of the file.

    Raises:
        ValueError: One is no file, a crate whose structure is broken, or text that nests too deep.
    """
    opened: list[Sdf.Layer] = []
    seen, waiting = {path}, [path]
    while waiting:
        identifier = waiting.pop()
        try:
            found = _parts_of(identifier)
        except Tf.ErrorException:
            # whoever needs it says so
            continue
        except ValueError as error:
            part = "" if identifier == path else f"{identifier}: "
            raise ValueError(f"{path}: {part}USD cannot read this file ({error}). Export it again.") from error
        if found is not None:
            opened.append(found[0])
            waiting += found[1] - seen
            seen |= found[1]
    return opened


def _parts_of(identifier: str) -> tuple[Sdf.Layer, set[str]] | None:
    """A layer, and what it is made of; None where USD cannot open it."""
    is_crate = has_parts = True
    # the stubs of USD do not know all of it
    layer: Any = Sdf.Layer.Find(identifier)
    if not layer:
        data = _bytes_of(Sdf.Layer.SplitIdentifier(identifier)[0])
        if is_crate := data[: len(crate.MAGIC)].tobytes() == crate.MAGIC:
            has_parts = crate.require_sound(data)
        else:
            require_shallow(data.tobytes())
        layer = Sdf.Layer.FindOrOpen(identifier)
        if not layer:
            return None
    named = set(layer.subLayerPaths)
    if not is_crate:
        named |= set(layer.GetCompositionAssetDependencies())
    elif has_parts:
        # a crate may lack prims that it names, which USD itself does not expect
        named |= set(_named(layer))
    return layer, {Sdf.ComputeAssetPathRelativeToLayer(layer, asset) for asset in named if asset}


def _named(layer: Any) -> Iterable[str]:
    """The files that prims of a layer refer to."""
    paths: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)
    for path in paths:
        prim = layer.GetObjectAtPath(path) if path == path.GetPrimOrPrimVariantSelectionPath() else None
        for name in ("references", "payload"):
            if prim and prim.HasInfo(name):
                edits = prim.GetInfo(name)
                if isinstance(edits, (Sdf.ReferenceListOp, Sdf.PayloadListOp)):
                    yield from (item.assetPath for item in edits.GetAddedOrExplicitItems())


def _bytes_of(path: str) -> npt.NDArray[np.uint8]:
    """All of a layer, the first one of a package; nothing where there is none.

    Raises:
        ValueError: It is a device or a pipe.
    """
    resolver: Any = Ar.GetResolver()
    resolved = str(resolver.Resolve(path))
    file, inner = Ar.SplitPackageRelativePathOuter(resolved)
    if not os.path.exists(file) or os.path.isdir(file):
        return np.empty(0, np.uint8)
    if not os.path.isfile(file):
        raise ValueError("it must be a file, not a device or a pipe")
    if not inner and file.lower().endswith(".usdz"):
        # it moved from one module to the other
        package = (getattr(Sdf, "ZipFile", None) or getattr(Usd, "ZipFile")).Open(file)  # noqa: B009
        names = package.GetFileNames() if package else []
        resolved = Ar.JoinPackageRelativePath([file, *names[:1]])
        inner = resolved != file
    if inner:
        opened = resolver.OpenAsset(Ar.ResolvedPath(resolved))
        return np.frombuffer(opened.GetBuffer() if opened else b"", np.uint8)
    return np.memmap(file, np.uint8, "r") if os.path.getsize(file) else np.empty(0, np.uint8)
