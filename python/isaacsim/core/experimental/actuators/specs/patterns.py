"""Patterns of joint names: regular expressions that match a whole name.

Files of unknown origin may hold expressions that take years. A bound on the ways that matching may try needs no engine
with linear time.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

from ..base.errors import shown
from .fields import storable

_Value = TypeVar("_Value")

# characters of the longest name
LENGTH = 100
MAX_PATTERN = 500
# three `.*` are just below
MAX_WAYS = 2e6


def pattern_of(name: str) -> str:
    """Return the pattern that matches one name alone."""
    # a hyphen is a sign of its own in brackets only
    return re.escape(name).replace("\\-", "-")


def places_matched(pattern: str, names: Sequence[str]) -> tuple[int, ...]:
    """Return the places of the names that a pattern matches; none of what is no pattern."""
    if pattern_problem(pattern):
        return ()
    return tuple(at for at, name in enumerate(names) if re.fullmatch(pattern, name))


def matched(patterns: Collection[str], names: Iterable[str]) -> list[str]:
    """Return the names that one of the patterns matches."""
    return [name for name in names if any(re.fullmatch(pattern, name) for pattern in patterns)]


def first_matching(values: Mapping[str, _Value], name: str) -> _Value | None:
    """Return the value of the first pattern that matches a name, None if none does."""
    return next((value for pattern, value in values.items() if re.fullmatch(pattern, name)), None)


def pattern_problem(pattern: object, longest: int = MAX_PATTERN, name_length: int = LENGTH) -> str | None:
    """Return why something is no pattern, as the end of a message, or None."""
    if not isinstance(pattern, str) or len(pattern) > longest or not storable(pattern):
        return f"must be a regular expression of 1 to {longest} printable characters. Give one."
    try:
        with warnings.catch_warnings():
            # Python warns of syntax that changes in a later version, such as `[[a]`
            warnings.simplefilter("error")
            re.compile(pattern)
        tries = ways(pattern, name_length)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        return f"must be a regular expression, but {error}. Correct it; a backslash before a sign takes it literally."
    if tries > MAX_WAYS:
        return "can take years to try: must have at most three of `*` and `+`, none in another. Take some out."
    return None


def assigned(
    patterns: Iterable[str], joints: Sequence[str], subject: str, *, every: bool = True
) -> tuple[dict[str, str], list[str]]:
    """Match each joint with one pattern."""
    whys = {pattern: pattern_problem(pattern) for pattern in patterns}
    matchers = {pattern: re.compile(pattern) for pattern, why in whys.items() if not why}
    found = {joint: [pattern for pattern, one in matchers.items() if one.fullmatch(joint)] for joint in joints}
    problems = _problems(whys, found, every)
    once = {joint: matching[0] for joint, matching in found.items() if len(matching) == 1}
    return once, [f"{subject}: {problem}" for problem in problems]


def _problems(whys: Mapping[str, str | None], found: Mapping[str, Sequence[str]], every: bool) -> Iterator[str]:
    """Yield invalid patterns, patterns without a joint, joints with several and, if `every` needs one, without."""
    yield from (f"{shown(pattern)} {why}" for pattern, why in whys.items() if why)
    matched = set(chain(*found.values()))
    for pattern, why in whys.items():
        if not why and pattern not in matched:
            yield (
                f"{pattern!r} matches no joint: must match the whole name of at least one of {', '.join(found)}. "
                "Correct or remove it."
            )
    for joint, matching in found.items():
        if len(matching) > 1:
            several = " and ".join(map(repr, matching))
            yield f"{joint} is matched by {several}: must be matched once. Narrow one of them."
    if every:
        yield from _unmatched(found, whys)


def _unmatched(found: Mapping[str, Sequence[str]], patterns: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with joints that no pattern matches, if there are any."""
    if joints := [joint for joint, matching in found.items() if not matching]:
        yield (
            f"{', '.join(joints)} {'is' if len(joints) == 1 else 'are'} matched by none of "
            f"{', '.join(map(repr, patterns)) or 'no patterns'}: each joint must be matched once. Add a pattern."
        )


def by_joint(value: object, joints: Sequence[str], subject: str) -> list[Any]:
    """Return the value of each joint."""
    if not isinstance(value, Mapping):
        return [value] * len(joints)
    given = cast(Mapping[str, Any], value)
    patterns, problems = assigned(given, joints, subject)
    if problems:
        raise ValueError("\n".join(problems))
    return [given[patterns[joint]] for joint in joints]


def ways(pattern: str, length: int = LENGTH) -> float:
    """Return the largest number of ways to divide a name among the parts of an expression; may be inf."""
    # Python has no public parser
    parser: Any = importlib.import_module("re._parser")
    return _ways(parser.parse(pattern), length)


def _ways(items: Iterable[tuple[object, Any]], length: int) -> float:
    total = 1.0
    for operator, operand in items:
        if str(operator).endswith("_REPEAT"):
            least, most, inner = operand
            most, each = min(int(most), length), _ways(inner, length)
            if each == 1:
                total *= max(1.0, most - int(least) + 1.0)
            else:
                # each repetition multiplies; an exponent of 30 is beyond any bound
                total *= sum(min(each, 1e6) ** times for times in range(min(int(least), 30), min(most, 30) + 1))
        elif (inner := _ALTERNATIVES.get(str(operator))) is not None:
            total *= sum(_ways(one, length) for one in inner(operand) if one is not None)
    return total


# the expressions inside an operator, of which one matches
_ALTERNATIVES: dict[str, Callable[[Any], Sequence[Any]]] = {
    "BRANCH": lambda operand: operand[1],
    "SUBPATTERN": lambda operand: [operand[-1]],
    "ATOMIC_GROUP": lambda operand: [operand],
    "ASSERT": lambda operand: [operand[1]],
    "ASSERT_NOT": lambda operand: [operand[1]],
    "GROUPREF_EXISTS": lambda operand: operand[1:],
}
