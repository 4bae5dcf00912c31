"""Errors of USD while a stage is read: a file that opens may hold values and paths that USD cannot read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from pxr import Tf, Usd

from ...base.errors import UnsupportedSceneError, listed

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def reports_usd_errors(
    read: Callable[Concatenate[Usd.Stage, _Given], _Found],
) -> Callable[Concatenate[Usd.Stage, _Given], _Found]:
    """Decorate a reader of a stage: errors of USD become an `UnsupportedSceneError` that names the file."""

    @functools.wraps(read)
    def checked(stage: Usd.Stage, *args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        try:
            return read(stage, *args, **kwargs)
        except (Tf.ErrorException, UnicodeDecodeError) as error:
            problem = usd_message(error) if isinstance(error, Tf.ErrorException) else "it holds text that is not UTF-8"
            raise UnsupportedSceneError(
                f"{stage.GetRootLayer().GetDisplayName()}: USD cannot read all of this stage: {problem}. Check it with "
                "usdchecker."
            ) from error

    return checked


def usd_message(error: Exception) -> str:
    """The message of an error of USD, which may quote bytes that are no text."""
    lines = []
    for one in error.args:
        try:
            lines.append(" ".join(str(one.commentary).split())[:500])
        except UnicodeDecodeError:
            lines.append("what it quotes is not UTF-8")
    return listed(lines) or type(error).__name__
