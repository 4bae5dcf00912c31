"""Which joints a pattern means: a regular expression that the whole name of a joint matches."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from .fields import shown, storable
from .pattern_cost import LENGTH, ways

# longer ones are no names
MAX_PATTERN = 500
# three `.*` are just below
MAX_WAYS = 2e6


def pattern_problem(pattern: object, longest: int = MAX_PATTERN, name_length: int = LENGTH) -> str | None:
    """Why something is no pattern, as the end of a message; None where it is one.

    Args:
        pattern: To be one.
        longest: Characters that it may have.
        name_length: Characters of the longest name it is tried on.
    """
    if not isinstance(pattern, str) or len(pattern) > longest or not storable(pattern):
        return f"must be a regular expression of 1 to {longest} printable characters. Give one."
    try:
        with warnings.catch_warnings():
            # Python warns of what a later version will read differently, such as `[[a]`
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
    """The pattern of each joint, by full match.

    Args:
        patterns: Regular expressions.
        joints: Names of joints.
        subject: What the patterns are for, to begin messages with.
        every: Whether a joint that no pattern matches is a problem.

    Returns:
        The pattern by joint, in the order of the joints and without those that none or several match; and one message
        per pattern that is none or matches nothing, and per joint that is matched by none or by several.
    """
    patterns = list(patterns)
    broken = {pattern: why for pattern in patterns if (why := pattern_problem(pattern))}
    problems = [f"{subject}: {shown(pattern)} {why}" for pattern, why in broken.items()]
    matchers = {pattern: re.compile(pattern) for pattern in patterns if pattern not in broken}
    by_joint = {joint: [name for name, found in matchers.items() if found.fullmatch(joint)] for joint in joints}
    matched = {pattern for found in by_joint.values() for pattern in found}
    problems += [
        f"{subject}: {pattern!r} matches no joint: must match the whole name of at least one of {', '.join(joints)}. "
        "Correct or remove it."
        for pattern in matchers
        if pattern not in matched
    ]
    problems += [
        f"{subject}: {joint} is matched by {' and '.join(map(repr, found))}: must be matched once. Narrow one of them."
        for joint, found in by_joint.items()
        if len(found) > 1
    ]
    if every and (bare := [joint for joint, found in by_joint.items() if not found]):
        problems.append(
            f"{subject}: {', '.join(bare)} {'is' if len(bare) == 1 else 'are'} matched by none of "
            f"{', '.join(map(repr, patterns)) or 'no patterns'}: each joint must be matched once. Add a pattern."
        )
    return {joint: found[0] for joint, found in by_joint.items() if len(found) == 1}, problems


def by_joint(value: Any, joints: Sequence[str], subject: str) -> list[Any]:
    """The value of each joint.

    Args:
        value: One for all joints, or a dictionary of values by pattern.
        joints: Names of the joints, in the order wanted.
        subject: What it is a value of, to begin messages with.

    Raises:
        ValueError: Patterns leave a joint out, match it twice, match nothing or are none; a line for each problem.

    Example:
        >>> by_joint({".*_HAA": 80.0, ".*_KFE": 60.0}, ["LF_HAA", "LF_KFE"], "kp")
        [80.0, 60.0]
    """
    if not isinstance(value, Mapping):
        return [value] * len(joints)
    given = cast(Mapping[str, Any], value)
    patterns, problems = assigned(given, joints, subject)
    if problems:
        raise ValueError("\n".join(problems))
    return [given[patterns[joint]] for joint in joints]
