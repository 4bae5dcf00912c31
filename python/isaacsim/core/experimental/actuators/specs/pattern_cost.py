"""How many ways a regular expression has to try on a name: files come from strangers, and some try for years."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

# a name as long as any
LENGTH = 100


def ways(pattern: str, length: int = LENGTH) -> float:
    """Most ways in which a name can be divided among the parts of a regular expression that compiles; may be inf.

    Args:
        pattern: The regular expression.
        length: Of the name.

    Example:
        >>> ways("LF_.*"), ways(".*_(HAA|HFE)"), ways("(a+)+") > 1e25
        (101.0, 202.0, True)
    """
    # Python has no public parser
    parser: Any = importlib.import_module("re._parser")
    return _of(parser.parse(pattern), length)


def _of(items: Iterable[tuple[Any, Any]], length: int) -> float:
    total = 1.0
    for operator, operand in items:
        total *= _of_one(str(operator), operand, length)
    return total


def _of_one(operator: str, operand: Any, length: int) -> float:
    if operator.endswith("_REPEAT"):
        least, most, inner = operand
        most, each = min(int(most), length), _of(inner, length)
        if each == 1:
            return max(1.0, most - int(least) + 1.0)
        # again each time; an exponent of 30 is beyond any bound
        return sum(min(each, 1e6) ** times for times in range(min(int(least), 30), min(most, 30) + 1))
    if operator == "BRANCH":
        return sum(_of(one, length) for one in operand[1])
    if operator == "SUBPATTERN":
        return _of(operand[-1], length)
    if operator == "ATOMIC_GROUP":
        return _of(operand, length)
    if operator in ("ASSERT", "ASSERT_NOT"):
        return _of(operand[1], length)
    if operator == "GROUPREF_EXISTS":
        return sum(_of(one, length) for one in operand[1:] if one is not None)
    return 1.0
