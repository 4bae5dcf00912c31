"""Parts of the tests, by file: all, none, or a part of as many as are asked for."""

import argparse
import functools
import zlib
from pathlib import Path

from places import TESTS


def part_of(which: str) -> tuple[int, int]:
    """Return which part runs, of how many: 'all' is the only part, 'none' a part of none."""
    try:
        part, parts = {"all": (0, 1), "none": (0, 0)}.get(which) or map(int, which.split("/"))
    except ValueError:
        part, parts = 1, 0
    if (part, parts) != (0, 0) and not 0 <= part < parts:
        raise argparse.ArgumentTypeError(f"{which!r}: must be 'all', 'none' or a part such as '0/3'")
    return part, parts


@functools.cache
def is_in_part(file: Path, part: int, parts: int) -> bool:
    return parts > 0 and zlib.crc32(file.relative_to(TESTS).as_posix().encode()) % parts == part
