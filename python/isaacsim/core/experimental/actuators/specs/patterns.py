"""Patterns of joint names: regular expressions that match a whole name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from ..base.errors import shown
from .fields import storable
from .pattern_cost import LENGTH, ways

MAX_PATTERN = 500
# three `.*` are just below
MAX_WAYS = 2e6


def pattern_of(name: str) -> str:
    """Return the pattern that matches one name alone."""
    # a hyphen is a sign of its own in brackets only
    return re.escape(name).replace("\\-", "-")


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
    problems = [*_mismatches(whys, found), *(_unmatched(whys, found) if every else ())]
    once = {joint: matching[0] for joint, matching in found.items() if len(matching) == 1}
    return once, [f"{subject}: {problem}" for problem in problems]


def _mismatches(whys: Mapping[str, str | None], by_joint: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield invalid patterns, patterns that match no joint, and joints that several patterns match."""
    yield from (f"{shown(pattern)} {why}" for pattern, why in whys.items() if why)
    matched = {pattern for found in by_joint.values() for pattern in found}
    for pattern, why in whys.items():
        if not why and pattern not in matched:
            yield (
                f"{pattern!r} matches no joint: must match the whole name of at least one of {', '.join(by_joint)}. "
                "Correct or remove it."
            )
    for joint, found in by_joint.items():
        if len(found) > 1:
            yield f"{joint} is matched by {' and '.join(map(repr, found))}: must be matched once. Narrow one of them."


def _unmatched(patterns: Iterable[str], by_joint: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the joints that no pattern matches, as one message."""
    if bare := [joint for joint, found in by_joint.items() if not found]:
        yield (
            f"{', '.join(bare)} {'is' if len(bare) == 1 else 'are'} matched by none of "
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
