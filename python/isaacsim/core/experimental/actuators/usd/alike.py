"""Names that are meant to be another: they differ from it by a few letters, by case, or by signs that nobody sees."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# so many letters may differ; the ending `API` may be missing besides
_MOST = 2.5
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
    if len(plain) > _LONGEST:
        return None
    distance, found = min(
        (_distance(plain, meant), one) for one in known for meant in (_plain(one), _plain(one).removesuffix("api"))
    )
    return found if distance <= _MOST else None


def _plain(name: str) -> str:
    """Without case, accents, other widths and invisible signs."""
    signs = unicodedata.normalize("NFKD", name)
    return "".join(sign for sign in signs if unicodedata.category(sign)[0] not in "CMZ").casefold()


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
