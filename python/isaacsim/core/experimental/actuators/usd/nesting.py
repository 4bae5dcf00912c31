"""How deep the text of a USD file nests: USD reads each level by a call of its own, until its stack is full."""

from __future__ import annotations

import re

import numpy as np

DEEPEST = 1000
"""Levels that prims, values and expressions may nest."""

_OPENING, _CLOSING = b"([{", b")]}"
# what begins and ends texts of many lines, each as one sign
_LONG = {b'"""': b"\1", b"'''": b"\2", b"@@@": b"\3"}
_KEPT = _OPENING + _CLOSING + b"\"'@#\n" + b"".join(_LONG.values())
_OTHERS = bytes(sign for sign in range(256) if sign not in _KEPT)
_QUOTED = re.compile(rb"""\x01[^\x01]*\x01|\x02[^\x02]*\x02|\x03[^\x03]*\x03|"[^"\n]*"|'[^'\n]*'|@[^@\n]*@|#[^\n]*""")


def require_shallow(text: bytes) -> None:
    """Refuse text that nests too deep: its brackets, and those of each expression in it.

    Args:
        text: All of a text file of USD.

    Raises:
        ValueError: It does; the message says what.
    """
    if b"\\" in text:
        # a quote behind a backslash ends no text
        for escaped in (b"\\\\", b'\\"', b"\\'"):
            text = text.replace(escaped, b"")
    for long, sign in _LONG.items():
        text = text.replace(long, sign)
    # most brackets are around numbers, which nest no further
    signs = text.translate(None, _OTHERS).replace(b"()", b"")
    if len(signs) <= DEEPEST:
        return
    outside, end = [], 0
    for found in _QUOTED.finditer(signs):
        outside.append(signs[end : found.start()])
        end = found.end()
        if end - found.start() > DEEPEST and found[0][:1] != b"#":
            _require(found[0], "an expression of it")
    _require(b"".join(outside) + signs[end:], "it")


def _require(signs: bytes, what: str) -> None:
    step = np.zeros(256, np.int64)
    step[list(_OPENING)], step[list(_CLOSING)] = 1, -1
    levels = np.cumsum(step[np.frombuffer(signs, np.uint8)])
    # from the lowest level so far: an expression may close what it did not open
    deep = int((levels - np.minimum.accumulate(np.minimum(levels, 0))).max(initial=0))
    if deep > DEEPEST:
        raise ValueError(f"{what} nests {deep} deep, more than {DEEPEST}")
