"""Articulation roots by path pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..base.errors import shown
from .arguments import names_of
from .patterns import LENGTH, pattern_problem

# longer ones name no prim
MAX_PATH = 10_000


class Roots:
    """Articulation roots as a tree of path segments, for looking up many patterns; results are in their order."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = list(paths)
        self._top = _Branch()
        for position, path in enumerate(self.paths):
            branch = self._top
            for segment in path.strip("/").split("/"):
                branch = branch.below.setdefault(segment, _Branch())
            branch.root = position

    def find(self, pattern: str) -> list[int]:
        """Positions of the roots of the prims that `pattern` matches, segment by segment.

        A root stands for itself, a prim above roots for all topmost ones below it, and `/` for all topmost ones. A
        `ValueError` names a segment that is no regular expression, or one that takes long, or a pattern of more than 10
        000 characters.
        """
        if len(pattern) > MAX_PATH:
            raise ValueError(
                f"articulation path {shown(pattern)}: has {len(pattern)} characters, must have at most {MAX_PATH}. "
                "Shorten it; several robots can be given as a list."
            )
        branches = [self._top]
        for segment in pattern.strip("/").split("/") if pattern != "/" else ():
            branches = _matched(segment, branches, pattern)
        return sorted(position for branch in branches for position in branch.topmost())


@dataclass
class _Branch:
    """A root or a prim above one: its position if it is a root, and the prims below it."""

    root: int | None = None
    below: dict[str, _Branch] = field(default_factory=dict[str, "_Branch"])

    def topmost(self) -> Iterator[int]:
        """Positions of the roots at or below this prim that are below no other root."""
        if self.root is not None:
            yield self.root
        else:
            for branch in self.below.values():
                yield from branch.topmost()


def _matched(segment: str, branches: Sequence[_Branch], pattern: str) -> list[_Branch]:
    if segment.isidentifier():
        # a plain name matches itself alone
        return [branch.below[segment] for branch in branches if segment in branch.below]
    children = [item for branch in branches for item in branch.below.items()]
    longest = max(map(len, dict(children)), default=0)
    if segment and (problem := pattern_problem(segment, MAX_PATH, max(longest, LENGTH))):
        raise ValueError(f"articulation path {shown(pattern)}: segment {shown(segment)} {problem}")
    expression = re.compile(segment)
    return [child for name, child in children if expression.fullmatch(name)]


def match_roots(patterns: str | Sequence[str], roots: Iterable[str], unloaded: Sequence[str] = ()) -> list[int]:
    """Positions in `roots` of the articulations that patterns match, pattern by pattern; see `Roots.find`.

    `unloaded` are payloads that may hold more. A `ValueError` says that a pattern is no regular expression, or matches
    no articulation, or that there is none.
    """
    known = Roots(roots)
    wanted = names_of("articulation paths", patterns, "a path")
    if not wanted:
        raise no_pattern()
    picked: dict[int, None] = {}
    for pattern in wanted:
        hits = known.find(pattern)
        if not hits:
            raise no_match(pattern, known.paths, unloaded)
        picked |= dict.fromkeys(hits)
    return list(picked)


def no_pattern() -> ValueError:
    """The error of an empty list."""
    return ValueError("articulation paths are empty: give the path of a robot.")


def no_match(pattern: str, roots: Sequence[str], unloaded: Sequence[str] = (), *, has_prims: bool = True) -> ValueError:
    """The error of a pattern without articulation, and of unloaded payloads that may hold it.

    `has_prims` is False for robots of an MJCF or URDF file.
    """
    remedy = "Give the path of a prim with PhysicsArticulationRootAPI, or of one above it"
    return ValueError(
        f"articulation path {shown(pattern)} matches none of the articulations here: {roots or 'there are none'}. "
        f"{remedy if has_prims or not roots else 'Give one of these'}; "
        f"each path segment may be a regular expression.{unloaded_hint(unloaded)}"
    )


def unloaded_hint(payloads: Sequence[str], most: int = 4) -> str:
    """The sentences of a message about payloads that are not loaded; empty for none."""
    told = "".join(f" The payload of <{path}> is not loaded: `stage.Load({path!r})`." for path in payloads[:most])
    return told + (f" Nor are {len(payloads) - most} more." if len(payloads) > most else "")
