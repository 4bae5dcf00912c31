"""How messages name things; needs no USD."""

from __future__ import annotations

from collections.abc import Sequence


def listed(what: Sequence[str], most: int = 4) -> str:
    """A list in words, of bounded length."""
    return ", ".join(what[:most]) + (f" and {len(what) - most} more" if len(what) > most else "")


def said(error: Exception) -> str:
    """What USD says in an error of its own; it quotes files, whose bytes may be no text."""
    told = []
    for one in error.args:
        try:
            told.append(" ".join(str(one.commentary).split())[:500])
        except UnicodeDecodeError:
            told.append("what it quotes is not UTF-8")
    return listed(told) or type(error).__name__
