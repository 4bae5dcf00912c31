"""Phrases of messages; needs no USD."""

from __future__ import annotations

from collections.abc import Sequence


def listed(what: Sequence[str], most: int = 4) -> str:
    """A list of bounded length."""
    return ", ".join(what[:most]) + (f" and {len(what) - most} more" if len(what) > most else "")


def usd_message(error: Exception) -> str:
    """The message of an error of USD, which may quote bytes that are no text."""
    lines = []
    for one in error.args:
        try:
            lines.append(" ".join(str(one.commentary).split())[:500])
        except UnicodeDecodeError:
            lines.append("what it quotes is not UTF-8")
    return listed(lines) or type(error).__name__
