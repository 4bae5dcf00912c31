"""Calls that raise, in a line."""

from collections.abc import Callable

import pytest


def refused(error: type[BaseException] | tuple[type[BaseException], ...], call: Callable, match: str = "") -> str:
    with pytest.raises(error, match=match or None) as caught:
        call()
    return str(caught.value)
