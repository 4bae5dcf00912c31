"""Files that a stage names, found by USD's resolver relative to the layer that names them, and read as bytes.

A layer may name files in its folder or below it, symbolic links resolved, or in its package (usdz). The host program
may name any file, by `add_actuator` in this process, `allow_checkpoints` or `trust_checkpoints`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pxr import Ar, Sdf, Usd

from ...base.errors import NetworkError
from ...specs.configs import NeuralControlConfig
from ...specs.fields import parameters_of
from ..networks import trust
from .schema import layer_name, opinion

if TYPE_CHECKING:
    from ...laws.networks.checkpoint import Checkpoint

# readers of networks are imported on demand: most robots have no network

MODEL_PATH = parameters_of(NeuralControlConfig)["model_path"].attribute

# a scheme has two letters or more; one letter is a drive
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


@dataclass(frozen=True)
class Asset:
    """A file that may be read: the real path of it, or of the package in which it has the path `inner`."""

    path: str
    inner: str = ""

    @property
    def identifier(self) -> str:
        """The path in USD's notation."""
        return Ar.JoinPackageRelativePath([self.path, self.inner]) if self.inner else self.path

    def read(self) -> bytes:
        """Its bytes; a `ValueError` if the file is irregular or too large, an `OSError` if it cannot be read."""
        from ..networks.load import read_file, require_size

        if not self.inner:
            return read_file(self.path, follow=False)
        # missing in the stubs of USD
        resolver: Any = Ar.GetResolver()
        opened = resolver.OpenAsset(Ar.ResolvedPath(self.identifier))
        if not opened:
            raise FileNotFoundError(f"{self.identifier}: no such file in the package.")
        require_size(opened.GetSize(), self.identifier)
        return opened.GetBuffer()


def note_authored(layer: Sdf.Layer, path: str) -> None:
    """Allow all stages of this process to name a file, which the host program named."""
    if not _refused_text(path):
        trust.note_named(Ar.SplitPackageRelativePathOuter(_anchored(layer, path))[0])


def allowed(layer: Sdf.Layer, path: str, roots: Iterable[str | os.PathLike[str]] = ()) -> Asset:
    """The file that a path names in the layer with the opinion.

    Any stage may name files in `roots`, folders of the host program. A `ValueError`, which begins with the rule, says
    that the layer may not name it, or that there is no such file.
    """
    if refused := _refused_text(path):
        raise ValueError(refused)
    outer, inner = Ar.SplitPackageRelativePathOuter(_anchored(layer, path))
    real = os.path.realpath(outer)
    if not _may(layer, real, inner, roots):
        tree = "its package" if _in_package(layer) else "the folder of the layer"
        where = "a layer in memory has no folder" if layer.anonymous else f"must lie in {tree}, links resolved"
        raise ValueError(
            f"leads to {real}: {where}. Move the file beside the layer, author it with add_actuator, "
            f"or permit it: allow_checkpoints({os.path.dirname(real)!r})."
        )
    if not os.path.lexists(real):
        raise ValueError(f"no such file, {real}. Correct the path or deactivate the prim.")
    return Asset(real, inner)


def file_named(prim: Usd.Prim, path: str) -> str:
    """Full path of the network that a prim names; a `ValueError` if it may not, or if there is no such file."""
    return allowed(opinion(prim.GetAttribute(MODEL_PATH)).layer, path, trust.roots()).identifier


def read_network(prim: Usd.Prim, path: str, issues: list[str], trusted: bool = False) -> Checkpoint | None:
    """The network that an actuator prim names, or None; problems are added to `issues`.

    Torch may run a file that is not recognized if it is `trusted`, as it may those of `trust_checkpoints`.
    """
    from ..networks.load import checkpoint_of

    layer = opinion(prim.GetAttribute(MODEL_PATH)).layer
    roots = trust.roots()
    try:
        asset = allowed(layer, path, roots)
        return checkpoint_of(
            asset.read(),
            os.path.basename(path),
            _sidecar(layer, path, asset, roots),
            trusted=trusted or trust.is_trusted(asset.path),
            folder=None if asset.inner else os.path.dirname(asset.path),
        )
    except (ValueError, OSError) as error:
        if isinstance(error, OSError):
            why = f"cannot be read ({error.strerror or error}). Correct the path or deactivate the prim."
        else:
            why = " ".join(str(error).split()) + (" Or deactivate the prim." if isinstance(error, NetworkError) else "")
        issues.append(f"<{prim.GetPath()}>.{MODEL_PATH} = {path!r} ({layer_name(layer)}): {why}")
        return None


def _sidecar(layer: Sdf.Layer, path: str, asset: Asset, roots: Iterable[str]) -> bytes | None:
    """Bytes of the JSON file beside a network, under the same rules; None for none."""
    from ..networks.load import sidecar_of

    beside = sidecar_of(path.removesuffix("]")) if path.endswith("]") else sidecar_of(path)
    if beside is None:
        return None
    outer, inner = Ar.SplitPackageRelativePathOuter(_anchored(layer, beside + "]" * path.endswith("]")))
    exists = Ar.GetResolver().Resolve(Ar.JoinPackageRelativePath([outer, inner])) if inner else os.path.lexists(outer)
    if not exists:
        return None
    # a file that the host program named includes its JSON file
    if not inner and os.path.realpath(outer) == sidecar_of(asset.path):
        return Asset(os.path.realpath(outer)).read()
    return allowed(layer, beside, roots).read()


def _refused_text(path: str) -> str:
    if _URL.match(path) or path.startswith(("//", "\\\\")):
        return "must be a path of this machine, not a URL or a network share. Copy the file beside the layer."
    return ""


def _anchored(layer: Sdf.Layer, path: str) -> str:
    anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, path)
    # USD returns a search path unchanged if it finds nothing
    if not os.path.isabs(anchored) and not layer.anonymous and not Ar.IsPackageRelativePath(anchored):
        anchored = os.path.join(os.path.dirname(_file_of(layer)), anchored)
    return str(Ar.GetResolver().Resolve(anchored)) or anchored


def _may(layer: Sdf.Layer, real: str, inner: str, roots: Iterable[str | os.PathLike[str]]) -> bool:
    if layer.anonymous:
        return trust.may_name(real, None, roots)
    own = os.path.realpath(_file_of(layer))
    if _in_package(layer):
        return trust.may_name(real, None, roots) or (real == own and bool(inner))
    return trust.may_name(real, os.path.dirname(own), roots)


def _file_of(layer: Sdf.Layer) -> str:
    return Ar.SplitPackageRelativePathOuter(layer.realPath or layer.identifier)[0]


def _in_package(layer: Sdf.Layer) -> bool:
    return Ar.IsPackageRelativePath(layer.identifier) or bool(layer.GetFileFormat().IsPackage())
