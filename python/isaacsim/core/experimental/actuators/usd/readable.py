"""Errors of USD amid what is read of a stage: a file that opens may still hold values and paths that it cannot read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from pxr import Tf, Usd

from ..errors import UnsupportedSceneError
from .words import said

_Read = TypeVar("_Read", bound=Callable[..., Any])


def readable(read: _Read) -> _Read:
    """Let what reads a stage raise an `UnsupportedSceneError` that names its file, where USD itself cannot read on."""

    @functools.wraps(read)
    def told(stage: Usd.Stage, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(stage, *args, **kwargs)
        except (Tf.ErrorException, UnicodeDecodeError) as error:
            problem = said(error) if isinstance(error, Tf.ErrorException) else "it holds text that is not UTF-8"
            raise UnsupportedSceneError(
                f"{stage.GetRootLayer().GetDisplayName()}: USD cannot read all of this stage: {problem}. Check it with "
                "usdchecker."
            ) from error

    return cast("_Read", told)
