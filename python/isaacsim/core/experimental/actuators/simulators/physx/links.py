"""Paths of the links and joints of articulations, of which PhysX has the order and the names only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ...files.usd.articulation import axes_of, bodies_of, every_prim
from ...files.usd.authored import authored
from ..articulation import name_in

if TYPE_CHECKING:
    from ...files.usd.handles import Prim, Stage


class LinkGraph:
    """The joints of a stage between links; `strays` are paths of joints between bodies that are no links."""

    def __init__(self, stage: Stage, links: Collection[str]) -> None:
        self._around: dict[str, list[tuple[str, str]]] = {link: [] for link in links}
        self._to_world: dict[str, list[tuple[str, bool]]] = {link: [] for link in links}
        self.strays: list[str] = []
        for prim in every_prim(stage.GetPseudoRoot()):
            if prim.IsA("PhysicsJoint"):
                joint = str(prim.GetPath())
                ends = [link for body in bodies_of(stage, joint) if (link := self._link_of(str(body))) is not None]
                if len(ends) == 2:
                    self._around[ends[0]].append((joint, ends[1]))
                    self._around[ends[1]].append((joint, ends[0]))
                elif ends:
                    self._to_world[ends[0]].append((joint, prim.IsA("PhysicsFixedJoint")))
                elif _could_be_driven(stage, prim):
                    self.strays.append(joint)

    def moved_by(self, link: str) -> str | None:
        """The joint by which a link moves in the world; None where none does, or one fixes it."""
        joints = self._to_world[link]
        return None if not joints or any(fixes for _, fixes in joints) else joints[0][0]

    def find(
        self, root: str, links: Sequence[str], joints: Sequence[str], known: Collection[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Paths of an articulation's links and of the joint that leads to each but the first; None without such a tree.

        Of several trees with these names it takes that near the root, with all paths in `known`.
        """
        starts = [link for link in self._around if name_in(link) == links[0]]
        for start in sorted(starts, key=lambda link: not f"{link}/".startswith(f"{root}/")):
            found, used = [start], []
            for link, joint in zip(links[1:], joints, strict=True):
                step = next(self._steps(found, link, joint), None)
                if step is None:
                    break
                used.append(step[0])
                found.append(step[1])
            if len(found) == len(links) and set(known) <= set(used):
                return tuple(found), tuple(used)
        return None

    def _steps(self, found: list[str], link: str, joint: str) -> Iterator[tuple[str, str]]:
        """Ways from the links found to another one of these names."""
        for parent in found:
            for path, child in self._around[parent]:
                if name_in(path) == joint and name_in(child) == link and child not in found:
                    yield path, child

    def _link_of(self, path: str) -> str | None:
        """The link that a prim is part of."""
        while path not in self._around and path.count("/") > 1:
            path = path.rsplit("/", 1)[0]
        return path if path in self._around else None


def _could_be_driven(stage: Stage, joint: Prim) -> bool:
    """True if a joint would belong to a robot if its bodies were links."""
    counts = authored(joint, "physics:jointEnabled", True) and not authored(joint, "physics:excludeFromArticulation")
    bodies = bodies_of(stage, str(joint.GetPath())) if counts and axes_of(joint) else []
    parts = (stage.GetPrimAtPath(part) for body in bodies for part in body.GetPrefixes())
    return any(part and part.HasAPI("PhysicsRigidBodyAPI") for part in parts)
