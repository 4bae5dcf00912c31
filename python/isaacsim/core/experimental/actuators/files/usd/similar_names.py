"""The known name closest to a misspelled one, which differs by a few letters, by case or by invisible characters."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator

# number of letters that may differ, beside a missing ending `API`
_MOST = 2.5
# prefixes of schema families; without them, a smaller share of the letters may differ
_FAMILIES, _PER_LETTER = re.compile("^(newton|articulation|actuator)+"), 1 / 8
# Cyrillic and Greek letters, and the Latin letters that look the same
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u051d\u04bb\u043a\u043c\u0442\u043d\u0432\u0475"
    "\u03b1\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "aeopcxyijsdwhkmthbv" + "aenikmnoptux",
)
# characters of a name that are compared or shown
_LONGEST = 200


def escaped(name: str) -> str:
    """The name with spaces and non-ASCII characters escaped as in Python; some look like others or are invisible."""
    text = name[:_LONGEST].encode("unicode_escape").decode("ascii").replace(" ", r"\x20")
    return text if len(name) <= _LONGEST else f"{text}…"


def unescaped(text: str) -> str:
    """The inverse of `escaped` for names that are not cut."""
    return text.encode("ascii").decode("unicode_escape")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The closest known name, or None.

    Example:
        >>> nearest("newtonPDControl", ["NewtonPDControlAPI", "NewtonPIDControlAPI"])
        'NewtonPDControlAPI'
    """
    bare = normalized(name)
    return _nearest(bare, tuple(known)) if len(bare) <= _LONGEST else None


# all prims of a robot have the same few names
@functools.lru_cache(maxsize=1024)
def _nearest(bare: str, known: tuple[str, ...]) -> str | None:
    share, found = min(
        (_distance(form, meant) / most, one)
        for one in known
        for meant, most in _forms(one)
        for form in {bare, _FAMILIES.sub("", bare)}
    )
    return found if share <= 1.0 else None


def _forms(known: str) -> Iterator[tuple[str, float]]:
    """Short forms of a known name, and how many letters may differ from each."""
    whole = normalized(known)
    for form in (whole, whole.removesuffix("api")):
        yield form, _MOST
        rest = _FAMILIES.sub("", form)
        yield rest, min(_MOST, len(rest) * _PER_LETTER)


def normalized(name: str) -> str:
    """The name without case, accents, widths, separators and invisible characters, in Latin letters."""
    signs = unicodedata.normalize("NFKD", name)
    kept = (sign for sign in signs if unicodedata.category(sign)[0] not in "CMPSZ")
    return "".join(kept).casefold().translate(_LOOK_ALIKES)


def _distance(name: str, known: str) -> float:
    """Edit distance; a letter of another script counts a quarter, for it may look the same."""
    if name.isascii() and abs(len(name) - len(known)) > _MOST:
        return math.inf
    row = [float(column) for column in range(len(known) + 1)]
    for sign in name:
        cost = 1.0 if sign.isascii() else 0.25
        diagonal, row[0] = row[0], row[0] + cost
        for column, wanted in enumerate(known, start=1):
            best = min(row[column] + cost, row[column - 1] + 1.0, diagonal + cost * (sign != wanted))
            diagonal, row[column] = row[column], best
    return row[-1]
