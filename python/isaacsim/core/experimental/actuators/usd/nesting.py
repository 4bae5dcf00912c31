"""How deep the text of a USD file nests: USD reads each level by a call of its own, until its stack is full."""

from __future__ import annotations

import re

import numpy as np

DEEPEST = 1000
"""Levels that prims, values and expressions may nest."""

_OPENING, _CLOSING = b"([{", b")]}"
# signs between which others can be left out: brackets, quotes, and what stands between two texts
_KEPT = _OPENING + _CLOSING + b"\"'@#\n,=;"
_OTHERS = bytes(sign for sign in range(256) if sign not in _KEPT)
_QUOTED = re.compile(
    rb'"""[\s\S]*?"""|' rb"'''[\s\S]*?'''|" rb"@@@[\s\S]*?@@@|" rb'"[^"\n]*"|' rb"'[^'\n]*'|" rb"@[^@\n]*@|" rb"#[^\n]*"
)


def require_shallow(text: bytes) -> None:
    """Refuse text that nests too deep: its brackets, and those of each expression in it.

    Args:
        text: All of a text file of USD.

    Raises:
        ValueError: It does; the message says what.
    """
    if sum(map(text.count, (b"(", b"[", b"{"))) <= DEEPEST:
        return
    # a quote behind a backslash ends no text
    for escaped in (b"\\\\", b'\\"', b"\\'"):
        text = text.replace(escaped, b"")
    signs = text.translate(None, _OTHERS)
    outside, end = [], 0
    for found in _QUOTED.finditer(signs):
        outside.append(signs[end : found.start()])
        end = found.end()
        if end - found.start() > DEEPEST and found[0][:1] != b"#":
            _require(found[0], "an expression of it")
    _require(b"".join(outside) + signs[end:], "it")


def _require(signs: bytes, what: str) -> None:
    level = np.zeros(256, np.int64)
    level[list(_OPENING)], level[list(_CLOSING)] = 1, -1
    levels = np.cumsum(level[np.frombuffer(signs, np.uint8)])
    # from the lowest level so far: an expression may close what it did not open
    deep = int((levels - np.minimum.accumulate(np.minimum(levels, 0))).max(initial=0))
    if deep > DEEPEST:
        raise ValueError(f"{what} nests {deep} deep, more than {DEEPEST}")
