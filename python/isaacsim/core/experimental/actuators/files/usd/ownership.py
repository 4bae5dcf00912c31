"""The articulation that an actuator prim belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from pxr import Sdf, Usd

from .articulation import articulation_roots, axes_of, bodies_of


class Ownership:
    """The actuator prims of one articulation.

    A prim belongs to the articulation of one of its targets, wherever the prim is. Without such a target it belongs to
    the articulation nearest to it: the first one at or above the prim, or the only one below a prim on the way. If that
    is none, it belongs to the articulation nearest to its targets.

    Args:
        stage: The stage.
        root: Path of the articulation root prim.
        joints: Paths of the articulation's joints.
    """

    def __init__(self, stage: Usd.Stage, root: str, joints: Iterable[str]) -> None:
        self._stage = stage
        self._joints = set(joints)
        roots = articulation_roots(stage)
        self._nearest = _nearest_roots(roots)
        # the root of a host's articulation may have no schema
        if self._nearest_to(root) is None:
            self._nearest = _nearest_roots([*roots, root])
        self._here = self._nearest_to(root)

    def of(self, path: str, targets: Collection[str]) -> Literal["ours", "another's", "nobody's"]:
        """The owner of the prim at `path`."""
        if not self._joints.isdisjoint(targets):
            return "ours"
        home = next(filter(None, map(self._nearest_to, (path, *targets))), None)
        if home not in (None, self._here):
            return "another's"
        elsewhere = targets and all(self._is_of_no_articulation(target) for target in targets)
        return "nobody's" if elsewhere or home is None else "ours"

    def is_near(self, path: str) -> bool:
        """Return True if no other articulation is nearer to the prim at `path`."""
        return self._nearest_to(path) == self._here

    def _nearest_to(self, path: str) -> str | None:
        above = reversed(Sdf.Path(path).GetPrefixes())
        return next((self._nearest[prim] for prim in above if prim in self._nearest), None)

    def _is_of_no_articulation(self, target: str) -> bool:
        """Return True if the target is a joint of no robot, such as that of a door."""
        if not axes_of(self._stage.GetPrimAtPath(target)):
            return False
        if self._nearest_to(target) not in (None, self._here):
            return False
        bodies = set(bodies_of(self._stage, target))
        return bool(bodies) and not any(bodies.intersection(bodies_of(self._stage, joint)) for joint in self._joints)


def _nearest_roots(roots: Collection[str]) -> dict[Sdf.Path, str | None]:
    """The root of each root and of each prim above one: itself, or the only one below it; None for several."""
    nearest: dict[Sdf.Path, str | None] = {}
    for root in roots:
        for above in Sdf.Path(root).GetPrefixes():
            nearest[above] = None if above in nearest else root
    return nearest | {Sdf.Path(root): root for root in roots}
