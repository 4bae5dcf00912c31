"""Names of new prims for robots, bodies, joints and shapes."""

from __future__ import annotations

from pxr import Sdf, Tf


class Names:
    """Valid and unique paths of new prims; changed names are recorded."""

    def __init__(self) -> None:
        self._taken: set[Sdf.Path] = set()
        self.renamed: list[str] = []

    def below(self, parent: Sdf.Path, name: str, *, noted: bool = True) -> Sdf.Path:
        """Return a path for a child of this name."""
        valid = first = Tf.MakeValidIdentifier(name.strip("/"))
        number = 2
        while (path := parent.AppendChild(valid)) in self._taken:
            valid, number = f"{first}_{number}", number + 1
        self._taken.add(path)
        if noted and valid != name.strip("/"):
            self.renamed.append(f"{name.strip('/')} → {valid}")
        return path
