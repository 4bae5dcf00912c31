"""Cost of a regular expression: the number of ways that matching may try on a name.

Files of unknown origin may hold expressions that take years. A bound on the ways needs no engine with linear time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

# characters of the longest name
LENGTH = 100


def ways(pattern: str, length: int = LENGTH) -> float:
    """Return the largest number of ways to divide a name among the parts of an expression; may be inf."""
    # Python has no public parser
    parser: Any = importlib.import_module("re._parser")
    return _of(parser.parse(pattern), length)


def _of(items: Iterable[tuple[object, object]], length: int) -> float:
    total = 1.0
    for operator, operand in items:
        if str(operator).endswith("_REPEAT"):
            total *= _of_repeat(operand, length)
        elif (inner := _ALTERNATIVES.get(str(operator))) is not None:
            total *= sum(_of(one, length) for one in inner(operand) if one is not None)
    return total


def _of_repeat(operand: Any, length: int) -> float:
    least, most, inner = operand
    most, each = min(int(most), length), _of(inner, length)
    if each == 1:
        return max(1.0, most - int(least) + 1.0)
    # each repetition multiplies; an exponent of 30 is beyond any bound
    return sum(min(each, 1e6) ** times for times in range(min(int(least), 30), min(most, 30) + 1))


# the expressions inside an operator, of which one matches
_ALTERNATIVES: dict[str, Callable[[Any], Sequence[Any]]] = {
    "BRANCH": lambda operand: operand[1],
    "SUBPATTERN": lambda operand: [operand[-1]],
    "ATOMIC_GROUP": lambda operand: [operand],
    "ASSERT": lambda operand: [operand[1]],
    "ASSERT_NOT": lambda operand: [operand[1]],
    "GROUPREF_EXISTS": lambda operand: operand[1:],
}
