"""Calls that raise, in a line."""

from collections.abc import Callable

import pytest


def refused(error: type[BaseException] | tuple[type[BaseException], ...], call: Callable, match: str = "") -> str:
    """The call raises the error, and its text, which is returned, has the match."""
    with pytest.raises(error, match=match or None) as caught:
        call()
    return str(caught.value)
