"""Numbers, strings and comments of C."""

from __future__ import annotations

import numpy as np


def c_float(value: float) -> str:
    """Return a float32 number, to the bit."""
    single = np.float32(value)
    if np.isnan(single):
        return "NAN"
    if np.isinf(single):
        return "-INFINITY" if single < 0 else "INFINITY"
    text = f"{float(single):.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def c_string(text: str) -> str:
    """Return a string literal, bytes beyond printable ASCII as octal numbers."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?@' else f"\\{b:03o}" for b in text.encode()) + '"'


def in_comment(text: str) -> str:
    """Return text that cannot end a comment of C, on one line, without the sign for the prefix."""
    return " ".join(text.replace("*/", "* /").replace("/*", "/ *").replace("@", "(at)").split())
