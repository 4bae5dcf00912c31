"""Numbers, strings, comments and long lines of C."""

from __future__ import annotations

import re
import textwrap

import numpy as np


def c_float(value: float) -> str:
    """Return a float32 number, to the bit."""
    single = np.float32(value)
    if np.isnan(single):
        return "NAN"
    if np.isinf(single):
        return "-INFINITY" if single < 0 else "INFINITY"
    # the shortest text that is this number
    return f"{single!s}f"


def c_string(text: str) -> str:
    """Return a string literal, blanks and bytes beyond printable ASCII as octal numbers."""
    return '"' + "".join(chr(b) if 32 < b < 127 and b not in b'"\\?@' else f"\\{b:03o}" for b in text.encode()) + '"'


def in_comment(text: str) -> str:
    """Return text that cannot end a comment of C, on one line, without the sign for the prefix."""
    return " ".join(text.replace("*/", "* /").replace("/*", "/ *").replace("@", "(at)").split())


def wrapped(line: str, width: int = 118, together: str = r"(?<=float) ") -> str:
    """Return a line of code as several where it is too long and has blanks, but for those that match `together`."""
    if len(line) <= width or line.startswith("#"):
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 8)
    kept = re.sub(together, "\0", line)
    lines = textwrap.wrap(kept, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")
