"""What tests say in a line: the cases they take, and calls that raise."""

from collections.abc import Callable
from typing import Any

import pytest


def cases(names: str, *rows: Any, **options: Any) -> pytest.MarkDecorator:
    """`pytest.mark.parametrize` with the rows as arguments, as long tables are easier to read."""
    return pytest.mark.parametrize(names, rows, **options)


def refused(error: type[BaseException] | tuple[type[BaseException], ...], call: Callable, match: str = "") -> str:
    with pytest.raises(error, match=match or None) as caught:
        call()
    return str(caught.value)
