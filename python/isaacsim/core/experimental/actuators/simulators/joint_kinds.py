"""Kinds of the joints of an articulation, by the names that `DofType` has here and in Isaac Sim."""

from __future__ import annotations

# Isaac Sim has a third one, for neither
_TURNS = {"Rotation": True, "Translation": False}


def turning(articulation: object) -> list[bool | None] | None:
    """Return for each joint True if it turns, False if it slides, None if that is unknown.

    Args:
        articulation: Any articulation, or None.

    Returns:
        A list in the order of its joints; None without an articulation, or with one that knows no kinds.
    """
    kinds = getattr(articulation, "dof_types", None)
    return None if kinds is None else [_TURNS.get(kind.name) for kind in kinds]
