"""Calls that raise, in a line."""

from collections.abc import Callable

import pytest


def refused(error: type[BaseException], call: Callable, match: str | None = None) -> None:
    with pytest.raises(error, match=match):
        call()
