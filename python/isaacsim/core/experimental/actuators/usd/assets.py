"""The files that a stage names: found by USD's resolver, relative to the layer that names them, and read as bytes.

A stage may choose files of its own only. What a layer names has to lie, symbolic links resolved, in the folder of that
layer or below it, or in the same package (usdz). The host program may name any file: by `add_actuator` in this process,
or by `allow_checkpoints` and `trust_checkpoints`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pxr import Ar, Sdf, Usd

from ..errors import NetworkError
from ..networks import trust
from ..specs.configs import NeuralControlConfig
from ..specs.fields import parameters_of
from .schema import layer_name, opinion

if TYPE_CHECKING:
    from ..networks.checkpoint import Checkpoint

# what reads networks is imported where one is met: most robots have none

MODEL_PATH = parameters_of(NeuralControlConfig)["model_path"].attribute

# a scheme of two letters or more; one letter is a drive
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")

# real paths that the host program named in this process
_authored: set[str] = set()


@dataclass(frozen=True)
class Asset:
    """A file that may be read.

    Args:
        path: Real path of the file, or of the package.
        inner: Path inside the package; empty for a plain file.
    """

    path: str
    inner: str = ""

    @property
    def identifier(self) -> str:
        """The path as USD writes it."""
        return Ar.JoinPackageRelativePath([self.path, self.inner]) if self.inner else self.path

    def read(self) -> bytes:
        """Return its bytes.

        Raises:
            ValueError: It is no regular file, or too large.
            OSError: It cannot be read.
        """
        from ..networks.load import read_file, require_size

        if not self.inner:
            return read_file(self.path, follow=False)
        # the stubs of USD do not know it
        resolver: Any = Ar.GetResolver()
        opened = resolver.OpenAsset(Ar.ResolvedPath(self.identifier))
        if not opened:
            raise FileNotFoundError(f"{self.identifier}: no such file in the package.")
        require_size(opened.GetSize(), self.identifier)
        return opened.GetBuffer()


def note_authored(layer: Sdf.Layer, path: str) -> None:
    """Remember that the host program named a file: any stage of this process may name it from now on."""
    if not _refused_text(path):
        _authored.add(os.path.realpath(Ar.SplitPackageRelativePathOuter(_anchored(layer, path))[0]))


def allowed(layer: Sdf.Layer, path: str, roots: Iterable[str | os.PathLike[str]] = ()) -> Asset:
    """Return the file that a layer names, after checking that it may.

    Args:
        layer: Whose opinion it is.
        path: As authored.
        roots: Folders of the host program, whose files any stage may name.

    Raises:
        ValueError: It may not, or there is none; the message begins with the rule.
    """
    if refused := _refused_text(path):
        raise ValueError(refused)
    anchored = _anchored(layer, path)
    outer, inner = Ar.SplitPackageRelativePathOuter(anchored)
    real = os.path.realpath(outer)
    if not _may(layer, real, inner, roots):
        tree = "its package" if _in_package(layer) else "the folder of the layer"
        where = "a layer in memory has no folder" if layer.anonymous else f"must lie in {tree}, links resolved"
        raise ValueError(
            f"leads to {real}: {where}. Move the file beside the layer, author it with add_actuator, "
            f"or permit its folder by allow_checkpoints."
        )
    if not os.path.lexists(real):
        raise ValueError(f"no such file, {real}. Correct the path or deactivate the prim.")
    return Asset(real, inner)


def file_named(prim: Usd.Prim, path: str) -> str:
    """Where the file of a network is that a prim names, after checking that it may.

    Raises:
        ValueError: It may not, or there is none.
    """
    return allowed(opinion(prim.GetAttribute(MODEL_PATH)).layer, path, trust.roots()).identifier


def read_network(prim: Usd.Prim, path: str, issues: list[str], trusted: bool = False) -> Checkpoint | None:
    """Return the network at the path that a prim names, or None; what is wrong goes to `issues`.

    Args:
        prim: An actuator prim.
        path: As authored.
        issues: Problems found so far.
        trusted: Whether Torch may run what is not recognised; a path given to `trust_checkpoints` is trusted too.
    """
    from ..networks.load import checkpoint_of

    layer = opinion(prim.GetAttribute(MODEL_PATH)).layer
    roots = trust.roots()
    try:
        asset = allowed(layer, path, roots)
        sidecar = _sidecar(layer, path, asset, roots)
        return checkpoint_of(
            asset.read(),
            os.path.basename(path),
            sidecar,
            trusted=trusted or trust.is_trusted(asset.path),
            folder=None if asset.inner else os.path.dirname(asset.path),
        )
    except (ValueError, OSError) as error:
        issues.append(f"<{prim.GetPath()}>.{MODEL_PATH} = {path!r} ({layer_name(layer)}): {_told(error)}")
        return None


def _told(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror or error}). Correct the path or deactivate the prim."
    remedy = " Or deactivate the prim." if isinstance(error, NetworkError) else ""
    return f"{' '.join(str(error).split())}{remedy}"


def _sidecar(layer: Sdf.Layer, path: str, asset: Asset, roots: Iterable[str]) -> bytes | None:
    """Bytes of the JSON file beside a network that may be named, under the same rules; None where there is none."""
    from ..networks.load import sidecar_of

    beside = sidecar_of(path.removesuffix("]")) if path.endswith("]") else sidecar_of(path)
    if beside is None:
        return None
    outer, inner = Ar.SplitPackageRelativePathOuter(_anchored(layer, beside + "]" * path.endswith("]")))
    exists = Ar.GetResolver().Resolve(Ar.JoinPackageRelativePath([outer, inner])) if inner else os.path.lexists(outer)
    if not exists:
        return None
    # a single file that the host program names takes its own along
    if not inner and os.path.realpath(outer) == sidecar_of(asset.path):
        return Asset(os.path.realpath(outer)).read()
    return allowed(layer, beside, roots).read()


def _refused_text(path: str) -> str:
    """What is wrong with a path before anything is looked up, or nothing."""
    if _URL.match(path) or path.startswith(("//", "\\\\")):
        return "must be a path of this machine, not a URL or a network share. Copy the file beside the layer."
    return ""


def _anchored(layer: Sdf.Layer, path: str) -> str:
    """The path from the root of the file system on, relative to the layer; searched for as USD searches."""
    anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, path)
    # where nothing is found, USD keeps a search path as it was
    if not os.path.isabs(anchored) and not layer.anonymous and not Ar.IsPackageRelativePath(anchored):
        anchored = os.path.join(os.path.dirname(_file_of(layer)), anchored)
    return str(Ar.GetResolver().Resolve(anchored)) or anchored


def _may(layer: Sdf.Layer, real: str, inner: str, roots: Iterable[str | os.PathLike[str]]) -> bool:
    if real in _authored:
        return True
    if any(_is_below(real, os.path.realpath(root)) for root in roots):
        return True
    if layer.anonymous:
        return False
    own = os.path.realpath(_file_of(layer))
    return (real == own and bool(inner)) if _in_package(layer) else _is_below(real, os.path.dirname(own))


def _file_of(layer: Sdf.Layer) -> str:
    """The file, or package, that a layer is stored in."""
    return Ar.SplitPackageRelativePathOuter(layer.realPath or layer.identifier)[0]


def _in_package(layer: Sdf.Layer) -> bool:
    return Ar.IsPackageRelativePath(layer.identifier) or bool(layer.GetFileFormat().IsPackage())


def _is_below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)
