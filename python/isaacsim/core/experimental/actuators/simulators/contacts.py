"""Contact forces on chosen links of robots on embedded physics."""

from __future__ import annotations

import re
from collections.abc import Sequence

import warp as wp

from ..base.errors import HostError
from ..base.values import Indices, resolve_indices
from ..specs.arguments import names_of
from ..specs.patterns import pattern_problem
from .articulation import ArrayArticulation, PhysicsBackend, name_in
from .copied import warp_copy


class Contacts(ArrayArticulation):
    """Contact forces; computed only for observed links."""

    _backend: PhysicsBackend

    _contact_links: tuple[str, ...] = ()

    @property
    def contact_links(self) -> list[str]:
        """Names of the links whose contact forces are observed, in the order of `get_link_contact_forces`."""
        return list(self._contact_links)

    def observe_contact_forces(self, links: str | Sequence[str] | None) -> None:
        """Choose the links of `get_link_contact_forces`, replacing the earlier choice.

        Best called before play: while physics runs, its model is rebuilt; state and properties stay bit-identical.

        Args:
            links: Regular expressions such as `.*_FOOT`, which match whole link names; each must match at least one.
                None stops observing.

        Raises:
            ValueError: A pattern is invalid or matches no link.
            HostError: The simulator has no contact forces.
        """
        names = [name_in(path) for path in self._current()[0].links]
        chosen = _matches([] if links is None else names_of("links", links, "a pattern"), names)
        self._backend.observe_contacts(self, self._numbers, chosen)
        self._contact_links = tuple(names[i] for i in chosen)

    def get_link_contact_forces(self, *, indices: Indices = None) -> wp.array:
        """Net forces [N] of all contacts on each observed link, shape `(robots, observed links, 3)`, world frame.

        Values are those of the last physics step; they are zero until the first step after play, after a reset of the
        environment or after `observe_contact_forces`.

        Args:
            indices: Rows; None means all.

        Raises:
            HostError: Physics is not running, or no links were chosen.
        """
        self._live()
        if not self._contact_links:
            raise HostError(
                "contact forces: no links were chosen. Call observe_contact_forces with patterns of their names first."
            )
        names = [name_in(path) for path in self._robots[0].links]
        if missing := [name for name in self._contact_links if name not in names]:
            raise HostError(f"links {missing} are no longer there. Call observe_contact_forces again.")
        rows = self._numbers[resolve_indices(indices, len(self._robots), "robot")]
        forces = self._backend.contact_forces(rows, [names.index(name) for name in self._contact_links])
        return warp_copy(forces)


def _matches(patterns: Sequence[str], names: Sequence[str]) -> list[int]:
    """Indices of the names that any pattern matches; each pattern must match at least one."""
    found: set[int] = set()
    for pattern in patterns:
        if problem := pattern_problem(pattern):
            raise ValueError(f"links: {pattern!r} {problem}")
        matched = {i for i, name in enumerate(names) if re.fullmatch(pattern, name)}
        if not matched:
            raise ValueError(
                f"links: {pattern!r} matches no link: must match the whole name of at least one of "
                f"{', '.join(names)}. Correct or remove it."
            )
        found |= matched
    return sorted(found)
