"""Names that are meant to be another: they differ from it by a few letters, by case, or by signs that nobody sees."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

# so many letters may differ; the ending `API` may be missing besides
_MOST = 2.5
# Cyrillic and Greek letters, and what they are taken for
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u051d\u04bb\u043a\u043c\u0442\u043d\u0432\u0475"
    "\u03b1\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "aeopcxyijsdwhkmthbv" + "aenikmnoptux",
)
# names from strangers may be longer than any
_LONGEST = 200


def visible(name: str) -> str:
    """The name with blanks and signs beyond ASCII written out as in Python: some look like others, or like nothing."""
    text = name[:_LONGEST].encode("unicode_escape").decode("ascii").replace(" ", r"\x20")
    return text if len(name) <= _LONGEST else f"{text}…"


def as_written(text: str) -> str:
    """The name of which `visible` made a text, unless it was cut."""
    return text.encode("ascii").decode("unicode_escape")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is meant, or None.

    Example:
        >>> nearest("newtonPDControl", ["NewtonPDControlAPI", "NewtonPIDControlAPI"])
        'NewtonPDControlAPI'
    """
    plain = _plain(name)
    return _nearest(plain, tuple(known)) if len(plain) <= _LONGEST else None


# the same few names come again on every prim of a robot
@functools.lru_cache(maxsize=1024)
def _nearest(plain: str, known: tuple[str, ...]) -> str | None:
    distance, found = min(
        (_distance(plain, meant), one) for one in known for meant in (_plain(one), _plain(one).removesuffix("api"))
    )
    return found if distance <= _MOST else None


def _plain(name: str) -> str:
    """Without case, accents, other widths, invisible signs and letters that look like Latin ones."""
    signs = unicodedata.normalize("NFKD", name)
    return (
        "".join(sign for sign in signs if unicodedata.category(sign)[0] not in "CMZ").casefold().translate(_LOOK_ALIKES)
    )


def _distance(name: str, known: str) -> float:
    """Letters to add, drop or replace; one of another script may be a look-alike and counts little."""
    row = [float(column) for column in range(len(known) + 1)]
    for sign in name:
        cost = 1.0 if sign.isascii() else 0.25
        diagonal, row[0] = row[0], row[0] + cost
        for column, wanted in enumerate(known, start=1):
            best = min(row[column] + cost, row[column - 1] + 1.0, diagonal + cost * (sign != wanted))
            diagonal, row[column] = row[column], best
    return row[-1]
