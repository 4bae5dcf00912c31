"""The layers that a stage is made of: opened one after the other, each once its file is looked at.

USD opens them all at once, and one that is broken or endless stops it for good. What they are made of in turn is
followed through sublayers, references and payloads; those of a variant once a prim of any layer selects a variant that
is called so; not through value clips, which USD opens when a value over time is asked for.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Ar, Sdf, Tf, Usd

from . import crate
from .nesting import require_shallow

# a layer by its identifier, and a prim or a variant of it; the stubs of USD do not know all of a layer
_Site = tuple[str, Any, Sdf.Path]


def open_parts(path: str, variants: Mapping[str, str] | None = None) -> list[Sdf.Layer]:
    """Open the layers of a file that are sound; a stage that is opened while they are held uses them.

    Args:
        path: Of the file.
        variants: Names of variants that will be selected on the stage, by the names of their sets.

    Raises:
        ValueError: One is no file, a crate whose structure or whose prims are broken, or text that nests too deep.
    """
    opened: list[Sdf.Layer] = []
    seen, waiting, choices = {path}, [path], _Choices(variants or {})
    while waiting:
        identifier, found = waiting.pop(), set[str]()
        try:
            layer, is_plain = _open(identifier)
            if layer is None:
                continue
            opened.append(layer)
            named = set(layer.subLayerPaths)
            if is_plain:
                # USD knows it, where no variants are
                named |= set(layer.GetCompositionAssetDependencies())
            found |= {_anchored(layer, asset) for asset in named if asset}
            sites = [] if is_plain else [(identifier, layer, Sdf.Path.absoluteRootPath)]
            while sites:
                # of the layer, or of one before it
                identifier, layer, at = sites.pop()
                prim = _prim_at(layer, at)
                found |= {_anchored(layer, asset) for asset in _files_of(prim) if asset}
                sites += ((identifier, layer, child) for child in _children_of(prim, at))
                sites += choices.of(prim, identifier, layer, at)
        except Tf.ErrorException:
            # whoever needs it says so
            pass
        except ValueError as error:
            part = "" if identifier == path else f"{identifier}: "
            raise ValueError(f"{path}: {part}USD cannot read this file ({error}). Export it again.") from error
        waiting += found - seen
        seen |= found
    return opened


class _Choices:
    """Variants that may be selected: a prim of any layer selects one that is called so, or USD does by itself."""

    def __init__(self, variants: Mapping[str, str]) -> None:
        fallbacks: Mapping[str, Iterable[str]] = Usd.Stage.GetGlobalVariantFallbacks()
        self.selected = {(name, choice) for name, choices in fallbacks.items() for choice in choices}
        self.selected |= {(name, choice) for name, choice in variants.items() if isinstance(choice, str)}
        # sets whose variant an expression chooses
        self.open: set[str] = set()
        # variants that nothing selects so far, by the names of set and variant
        self.aside: dict[str, dict[str, list[_Site]]] = defaultdict(lambda: defaultdict(list))

    def of(self, prim: Any, identifier: str, layer: Any, at: Sdf.Path) -> Iterator[_Site]:
        """The variants that may be selected once a prim is met: its own, and those that it selects."""
        for name in _names_in(prim, "variantSetChildren"):
            for choice in _names_in(layer.GetObjectAtPath(at.AppendVariantSelection(name, "")), "variantChildren"):
                site = identifier, layer, at.AppendVariantSelection(name, choice)
                if name in self.open or (name, choice) in self.selected:
                    yield site
                else:
                    self.aside[name][choice].append(site)
        selection = prim.GetInfo("variantSelection") if prim.HasInfo("variantSelection") else {}
        for name, choice in selection.items() if isinstance(selection, dict) else ():
            if choice.startswith("`"):
                self.open.add(name)
                for sites in self.aside.pop(name, {}).values():
                    yield from sites
            else:
                self.selected.add((name, choice))
                yield from self.aside[name].pop(choice, ())


def _open(identifier: str) -> tuple[Any, bool]:
    """A layer, and whether it is text without variants; None where USD cannot open it."""
    layer: Any = Sdf.Layer.Find(identifier)
    if layer:
        return layer, False
    data = _bytes_of(Sdf.Layer.SplitIdentifier(identifier)[0])
    is_plain = False
    if data[: len(crate.MAGIC)].tobytes() == crate.MAGIC:
        crate.require_sound(data)
    else:
        text = data.tobytes()
        require_shallow(text)
        is_plain = text.startswith(b"#usda") and b"variant" not in text
    return Sdf.Layer.FindOrOpen(identifier) or None, is_plain


def _prim_at(layer: Any, at: Sdf.Path) -> Any:
    """What describes a prim or a variant.

    Raises:
        ValueError: Nothing does.
    """
    prim = layer.GetObjectAtPath(at)
    if not isinstance(prim, (Sdf.PrimSpec, Sdf.VariantSpec)):
        raise ValueError(f"<{at}> would be a prim of it, and is not there")
    return prim


def _children_of(prim: Any, at: Sdf.Path) -> list[Sdf.Path]:
    """The prims in a prim or a variant.

    Raises:
        ValueError: They have names that no prim can have, for which USD would look in vain or for ever.
    """
    names = _names_in(prim, "primChildren")
    for name in names:
        if not Sdf.Path.IsValidIdentifier(name):
            raise ValueError(f"<{at}> would have a prim that is called {name!r}")
    return [at.AppendChild(name) for name in names]


def _names_in(prim: Any, key: str) -> list[str]:
    """What a prim, a variant or a set of them has, by name.

    Raises:
        ValueError: One is there twice.
    """
    names = prim.GetInfo(key) if prim and prim.HasInfo(key) else []
    if not isinstance(names, list):
        return []
    if len(set(names)) < len(names):
        raise ValueError(f"<{prim.path}> would have something of the same name twice")
    return names


def _files_of(prim: Any) -> Iterator[str]:
    """The files that a prim or a variant refers to."""
    for key in ("references", "payload"):
        if prim.HasInfo(key):
            edits = prim.GetInfo(key)
            if isinstance(edits, (Sdf.ReferenceListOp, Sdf.PayloadListOp)):
                yield from (item.assetPath for item in edits.GetAddedOrExplicitItems())


def _anchored(layer: Any, asset: str) -> str:
    return Sdf.ComputeAssetPathRelativeToLayer(layer, asset)


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
