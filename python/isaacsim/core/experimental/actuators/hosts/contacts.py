"""Contact forces on chosen links of robots on embedded physics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import warp as wp

from ..errors import HostError
from ..specs.arguments import names_of
from ..specs.patterns import pattern_problem
from ..values import resolve_indices
from .articulation import ArrayArticulation, PhysicsBackend
from .copied import warp_copy


class Contacts(ArrayArticulation):
    """Contact forces; they cost nothing until links are chosen."""

    _backend: PhysicsBackend

    _contact_links: tuple[str, ...] = ()

    @property
    def contact_links(self) -> list[str]:
        """Names of the links whose contact forces are observed, in the order of `get_link_contact_forces`."""
        return list(self._contact_links)

    def observe_contact_forces(self, links: str | Sequence[str] | None) -> None:
        """Choose the links of `get_link_contact_forces`, instead of those chosen before.

        Best before play: while physics runs, its model is made anew. State and properties stay to the bit.

        Args:
            links: Regular expressions, `.*_FOOT` for instance, that the whole name of a link matches; each must match
                one at least. None ends observing.

        Raises:
            ValueError: A pattern is none or matches no link.
            HostError: The simulator does not tell contact forces.
        """
        names = [path.rsplit("/", 1)[-1] for path in self._current()[0].links]
        patterns = [] if links is None else names_of("links", links, "a pattern")
        for pattern in patterns:
            if problem := pattern_problem(pattern):
                raise ValueError(f"links: {pattern!r} {problem}")
            if not any(re.fullmatch(pattern, name) for name in names):
                raise ValueError(
                    f"links: {pattern!r} matches no link: must match the whole name of at least one of "
                    f"{', '.join(names)}. Correct or remove it."
                )
        chosen = [i for i, name in enumerate(names) if any(re.fullmatch(pattern, name) for pattern in patterns)]
        self._backend.observe_contacts(self, self._numbers, chosen)
        self._contact_links = tuple(names[i] for i in chosen)

    def get_link_contact_forces(self, *, indices: Any = None) -> wp.array:
        """Net forces [N] of all contacts on each observed link, shape `(robots, observed links, 3)`, world frame.

        They are those of the last physics step, and zero before the first one after play, after a reset of the
        environment and after `observe_contact_forces`.

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
        names = [path.rsplit("/", 1)[-1] for path in self._robots[0].links]
        if missing := [name for name in self._contact_links if name not in names]:
            raise HostError(f"links {missing} are no longer there. Call observe_contact_forces again.")
        rows = self._numbers[resolve_indices(indices, len(self._robots), "robot")]
        forces = self._backend.contact_forces(rows, [names.index(name) for name in self._contact_links])
        return warp_copy(forces)
