"""Calls that raise, in a line."""

from collections.abc import Callable

import pytest


def refused(error: type[BaseException], call: Callable, match: str | None = None) -> None:
    """The call raises the error, and its text has the match."""
    with pytest.raises(error, match=match):
        call()
