"""Whether the structure of a binary USD file, a crate, is sound: looked at before USD opens it.

USD trusts the counts of a crate and the tree of its paths. It makes room for as many things as a count says, and goes
down a branch of the tree as often as others lead to it: one turned bit can be gigabytes, or years. Here sections lie in
the file, counts fit what is stored, no path is reached twice, and values end before the file does. Decompressed is only
what says so: of each path how far its sibling is, and of each value where it is.

A crate is a header, values, and tables, a section each. PATHS holds the tree of paths, depth first; FIELDS says of each
value, in 64 bits, which type it has and where it is. Tables are compressed by LZ4, integers as differences before that.
The layout is that of OpenUSD's `crateFile.cpp`.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator

import numpy as np
import numpy.typing as npt

from .nesting import DEEPEST

MAGIC = b"PXR-USDC"
"""How a crate begins."""

MEMORY, PER_BYTE = 1 << 29, 100
"""Bytes of memory that a crate, or a value of it, may take, and what is added for each byte of the file."""

# older crates are not looked at: USD 26 does not read them
_OLDEST = (0, 4, 0)
_HEADER = 88
_NUMBER = struct.Struct("<Q")
# bytes of memory of a path, and of an entry of another table
_PER_PATH, _PER_ENTRY = 100, 32
# what a byte of LZ4 can become, and how many integers can be in a byte of that
_LZ4, _INTEGERS = 255, 4
# kinds of things that have a path: prims, attributes and so on, as `SdfSpecType` counts them
_KINDS = 11
# how deep dictionaries lie in dictionaries, and how many values are met on the way
_DEPTH, _MET = 100, 1_000_000

# bytes of a value by its type: numbers, text (an index), matrices, quaternions, vectors; times, a path expression
_NUMBERS = (1, 1, 4, 4, 8, 8, 2, 4, 8, 4, 4, 4, 32, 72, 128, 32, 16, 8, 16, 8, 4, 8, 24, 12, 6, 12, 32, 16, 8, 16)
_ITEMS = dict(enumerate(_NUMBERS, start=1)) | {56: 8, 57: 4, 61: 8}
# types whose arrays may be compressed, from so many elements on
_INTEGER_TYPES, _REAL_TYPES, _SHORTEST = (3, 4, 5, 6), (7, 8, 9), 16
# lists, and edits of lists, by the bytes of an item
_LISTS = {40: 4, 41: 4, 48: 8, 49: 16, 50: 4, 59: 1}
_LIST_EDITS = {32: 4, 33: 4, 34: 4, 36: 4, 37: 8, 38: 4, 39: 8, 55: 24}
# bits that say which lists an edit has: explicit, added, prepended, appended, deleted, ordered
_PARTS = (1, 2, 5, 6, 3, 4)
# types that hold values: dictionaries, edits of references and of unknown values, a value
_DICTIONARY, _REFERENCES, _TIME_SAMPLES, _NESTED = 31, 35, 46, (52, 53)
_HOLDERS = (_DICTIONARY, _REFERENCES, 54, *_NESTED)

# bits of what FIELDS says of a value; an inlined one is there itself, an edit of an array is not looked at
_IS_ARRAY, _IS_COMPRESSED, _IS_SKIPPED = np.uint64(1 << 63), np.uint64(1 << 61), np.uint64(1 << 62 | 1 << 60)
_PLACE = np.uint64((1 << 48) - 1)
_IS_NUMBER = np.isin(np.arange(256), list(_ITEMS))

_Integers = npt.NDArray[np.int64]
_Values = npt.NDArray[np.uint64]


class CrateError(ValueError):
    """The structure of a crate is broken; the message says what is."""


def require_sound(data: npt.NDArray[np.uint8]) -> None:
    """Refuse a crate whose structure is broken.

    Args:
        data: All bytes of the file.

    Raises:
        CrateError: It is.
    """
    crate = _Crate(data)
    if crate.version < _OLDEST:
        return
    sections = crate.sections()
    crate.require_memory(sum(crate.tables(sections)), "its tables")
    if "PATHS" in sections:
        crate.require_tree(*sections["PATHS"])
    if "SPECS" in sections:
        crate.require_kinds(*sections["SPECS"])
    if "FIELDS" in sections:
        crate.require_values(crate.values(*sections["FIELDS"]))


class _Crate:
    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self.data, self.size = data, len(data)
        if self.size < _HEADER:
            raise CrateError("it ends within its header")
        self.version = tuple(data[8:11].tolist())
        # there is nothing of a value within the header
        self.allowed = MEMORY + PER_BYTE * self.size

    def require_memory(self, wanted: int, what: str) -> None:
        if wanted > self.allowed:
            raise CrateError(
                f"{what} would take {wanted / 1e9:.3g} GB, and {self.size} bytes may take {self.allowed / 1e9:.3g} GB"
            )

    def number(self, at: int, end: int) -> int:
        """A count or a size, below the end of its section."""
        if not 0 <= at <= end - 8:
            raise CrateError(f"its section that ends at byte {end} is too short")
        return int(_NUMBER.unpack_from(self.data.data, at)[0])

    def numbers(self, at: _Integers, kind: str) -> npt.NDArray[np.generic]:
        """The numbers at some places of the file."""
        if at.size and not (at.min() >= 0 and at.max() <= self.size - np.dtype(kind).itemsize):
            raise CrateError("a value of it would lie outside of the file")
        return _gathered(self.data, at, kind)

    def sections(self) -> dict[str, tuple[int, int]]:
        """Start and end of each section."""
        at = self.number(16, self.size)
        count = self.number(at, self.size)
        if count > (self.size - at - 8) // 32:
            raise CrateError(f"it would have {count} sections")
        found: dict[str, tuple[int, int]] = {}
        for name, start, size in struct.iter_unpack("<16sqq", self.data[at + 8 : at + 8 + 32 * count].tobytes()):
            text = name.partition(b"\0")[0].decode("ascii", "replace")
            if not (0 <= start <= self.size and 0 <= size <= self.size - start):
                raise CrateError(f"its section {text!r} would lie outside of the file")
            found.setdefault(text, (start, start + size))
        return found

    def tables(self, sections: dict[str, tuple[int, int]]) -> Iterator[int]:
        """Bytes of memory that each table takes, once its count is known to fit what is stored."""
        for name, (at, end) in sections.items():
            if name not in ("TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"):
                continue
            count = self.number(at, end)
            if name == "TOKENS":
                size, stored = self.number(at + 8, end), self.number(at + 16, end)
                fits = count <= size <= _LZ4 * stored and stored <= end - at - 24
                yield size + _PER_ENTRY * count
            elif name == "STRINGS":
                fits = count <= (end - at - 8) // 4
            elif name == "PATHS":
                fits = count >= (in_tree := self.number(at + 8, end))
                self.integers(in_tree, at + 16, end)
                yield _PER_PATH * count
            else:
                fits = True
                self.integers(count, at + 8, end)
                yield _PER_ENTRY * count
            if not fits:
                raise CrateError(f"its section {name} cannot hold {count} entries")

    def integers(self, count: int, at: int, end: int) -> tuple[int, int]:
        """Start and end of compressed integers."""
        stored = self.number(at, end)
        if stored > end - at - 8 or count > _INTEGERS * _LZ4 * stored:
            raise CrateError(f"{count} numbers of it cannot be in {stored} bytes")
        return at + 8, at + 8 + stored

    def require_tree(self, at: int, end: int) -> None:
        """Refuse paths that are reached in two ways: after a few, the ways are too many to go."""
        count, at = self.number(at + 8, end), at + 16
        for _ in range(2):
            at = self.integers(count, at, end)[1]
        jumps = self.decompressed_integers(count, *self.integers(count, at, end))
        here = np.arange(count)
        # next comes a child or, where the jump is 0, a sibling; other jumps lead to a sibling behind the children
        reached = np.concatenate((here[jumps >= -1] + 1, (here + jumps)[jumps > 0]))
        if reached.size and (reached.max() >= count or np.bincount(reached).max() > 1):
            raise CrateError("the tree of its paths leads to a path twice, or nowhere")
        if (deep := _depth(jumps)) > DEEPEST:
            raise CrateError(f"its paths are {deep} deep, more than {DEEPEST}")

    def require_kinds(self, at: int, end: int) -> None:
        """Refuse what is neither a prim nor a property nor anything else: USD would look for it behind its schema."""
        count, at = self.number(at, end), at + 8
        # the path of each and its fields are before
        for _ in range(2):
            at = self.integers(count, at, end)[1]
        kinds = self.decompressed_integers(count, *self.integers(count, at, end))
        if (odd := kinds[(kinds < 1) | (kinds > _KINDS)]).size:
            raise CrateError(f"something in it would be of kind {odd[0]}, and there are {_KINDS}")

    def values(self, at: int, end: int) -> _Values:
        """Type and place of each value."""
        count = self.number(at, end)
        at = self.integers(count, at + 8, end)[1]
        stored = self.number(at, end)
        if stored > end - at - 8:
            raise CrateError(f"{count} values of it cannot be in {stored} bytes")
        return np.frombuffer(self.decompressed(at + 8, at + 8 + stored, 8 * count, 8 * count), "<u8")

    def decompressed_integers(self, count: int, at: int, end: int) -> _Integers:
        # the most frequent difference, two bits for each, and those that are another one in 8, 16 or 32 bits
        first = 4 + (count + 3) // 4
        data = np.frombuffer(self.decompressed(at, end, first, first + 4 * count), np.uint8)
        codes = (data[4:first, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).ravel()[:count]
        widths = np.array([0, 1, 2, 4])[codes]
        places = first + np.cumsum(widths) - widths
        if count and places[-1] + widths[-1] > len(data):
            raise CrateError("compressed numbers of it end early")
        differences = np.full(count, data[:4].view("<i4")[0], np.int64)
        for code, kind in ((1, "<i1"), (2, "<i2"), (3, "<i4")):
            differences[codes == code] = _gathered(data, places[codes == code], kind)
        return np.cumsum(differences).astype(np.int32).astype(np.int64)

    def decompressed(self, at: int, end: int, least: int, most: int) -> bytes:
        data, made = self.data[at:end].tobytes(), bytearray()
        try:
            # one block, or as many as the first byte says, with the size of each
            blocks, at = data[0], 1
            if not blocks:
                _add_block(made, data[1:], most)
            for _ in range(blocks):
                stored = int.from_bytes(data[at : at + 4], "little")
                _add_block(made, data[at + 4 : at + 4 + stored], most)
                at += 4 + stored
        except IndexError:
            raise CrateError("compressed data of it ends early") from None
        if len(made) < least:
            raise CrateError("compressed data of it is too short")
        return bytes(made)

    def require_values(self, values: _Values) -> None:
        """Refuse values that cannot be where they should, and those that hold one another too often."""
        ways = np.ones(len(values), np.int64)
        for _ in range(_DEPTH):
            has_room = _has_room(values)
            values, which = np.unique(values[has_room], return_inverse=True)
            ways = ways[has_room]
            # in how many ways USD comes to each of them
            ways = np.bincount(which, ways, len(values)).astype(np.int64)
            if ways.sum() > _MET + self.size:
                raise CrateError("values of it hold one another more often than can be followed")
            inner = [part for part in self.inner_values(values) if part[0].size]
            if not inner:
                return
            values = np.concatenate([self.numbers(at, "<u8") for at, _ in inner]).astype(np.uint64)
            ways = np.concatenate([ways[holder] for _, holder in inner])
        raise CrateError(f"values of it hold one another {_DEPTH} deep, or in a circle")

    def inner_values(self, values: _Values) -> Iterator[tuple[_Integers, _Integers]]:
        """Where values that lie in others are said to be, and in which; once all of them can be where they are."""
        is_array, inlined, compressed, is_edit = (
            values >> np.uint64(bit) & np.uint64(1) > 0 for bit in (63, 62, 61, 60)
        )
        types = (values >> np.uint64(48) & np.uint64(0xFF)).astype(np.int64)
        places = (values & np.uint64((1 << 48) - 1)).astype(np.int64)
        # nothing is stored of an empty array
        stored = ~inlined & ~is_edit & ~(is_array & (places == 0))
        for kind in np.unique(types[stored]).tolist():
            which = np.flatnonzero(stored & (types == kind))
            if kind in _ITEMS:
                which = which[is_array[which]]
                self.require_arrays(places[which], kind, compressed[which])
                continue
            which = which[~is_array[which]]
            at = places[which]
            if kind in _LISTS:
                self.counted(at, _LISTS[kind])
            elif kind in _LIST_EDITS:
                self.require_list_edits(at, _LIST_EDITS[kind])
            elif kind in _HOLDERS:
                found: list[tuple[int, int]] = []
                for holder, start in zip(which.tolist(), at.tolist(), strict=True):
                    found += ((place, holder) for place in self.held(kind, start))
                    self.require_apart(len(found) * 8)
                items = np.array(found, np.int64).reshape(-1, 2)
                yield items[:, 0], items[:, 1]
            elif kind == _TIME_SAMPLES:
                # times, then a table of values
                times = self.led_to(at)
                yield times, which
                table = self.led_to(times + 8)
                counts = self.counted(table, 8)
                self.require_apart(int(counts.sum()) * 8)
                of = np.repeat(np.arange(len(at)), counts)
                yield table[of] + 8 * (1 + np.arange(len(of)) - (np.cumsum(counts) - counts)[of]), which[of]

    def counted(self, at: _Integers, item: int) -> _Integers:
        """The count that is written at each place, once so many items can follow."""
        counts = self.numbers(at, "<u8").astype(np.uint64)
        return self.fitting(counts, at + 8, item)

    def fitting(self, counts: _Values, at: _Integers, item: int) -> _Integers:
        if (bad := counts > ((self.size - at) // item).astype(np.uint64)).any():
            raise CrateError(f"a value of it would hold {counts[bad][0]} elements, more than the file")
        return counts.astype(np.int64)

    def require_arrays(self, at: _Integers, kind: int, compressed: npt.NDArray[np.bool_]) -> None:
        # before version 0.5 the rank comes first, before 0.7 counts are shorter
        at = at + 4 * (self.version < (0, 5, 0))
        width = 4 if self.version < (0, 7, 0) else 8
        counts = self.numbers(at, f"<u{width}").astype(np.uint64)
        may = self.version >= (0, 5, 0) if kind in _INTEGER_TYPES else kind in _REAL_TYPES and self.version >= (0, 6, 0)
        packed = compressed & (counts >= _SHORTEST) & may
        self.fitting(counts[~packed], at[~packed] + width, _ITEMS[kind])
        if packed.any():
            self.require_memory(int(counts[packed].max()) * _ITEMS[kind], "an array of it")

    def require_list_edits(self, at: _Integers, item: int) -> None:
        item = 8 if self.version < (0, 8, 0) and item == 24 else item
        bits = self.numbers(at, "u1").astype(np.int64)
        at = at + 1
        for bit in _PARTS:
            has = bits >> bit & 1 > 0
            at[has] += 8 + item * self.counted(at[has], item)

    def held(self, kind: int, at: int) -> Iterator[int]:
        """Where the values are that are said to be in one of the types that hold others, one after the other."""
        if kind == _DICTIONARY:
            yield from self.entries(at)
        elif kind in _NESTED:
            yield self.next_value(at)
        else:
            bits, at = int(self.numbers(np.array([at]), "u1")[0]), at + 1
            for bit in _PARTS:
                if not bits >> bit & 1:
                    continue
                count, at = self.number(at, self.size), at + 8
                for _ in range(count):
                    if kind == _REFERENCES:
                        # file, prim, offset and scale in time, and a dictionary
                        at = yield from self.entries(at + 24)
                    else:
                        yield (place := self.next_value(at))
                        at = place + 8

    def entries(self, at: int) -> Generator[int, None, int]:
        """Where the values of a dictionary are; returns where it ends."""
        count, at = self.number(at, self.size), at + 8
        for _ in range(count):
            # the key, and how far the value is
            yield (place := self.next_value(at + 4))
            at = place + 8
        return at

    def next_value(self, at: int) -> int:
        far = self.number(at, self.size)
        if not 8 <= far <= self.size - at - 8:
            raise CrateError("a value of it would lie outside of the file")
        return at + far

    def require_apart(self, size: int) -> None:
        if size > self.size:
            raise CrateError("values of it lie in one another")

    def led_to(self, at: _Integers) -> _Integers:
        """Where it goes on: distances are written, from where they are."""
        far = self.numbers(at, "<i8").astype(np.int64)
        if (abs(far) > self.size).any():
            raise CrateError("a value of it would lie outside of the file")
        return at + far


def _depth(jumps: _Integers) -> int:
    """How deep a tree is: levels on the way to a child, taken back behind the last of its siblings."""
    level = deepest = 0
    behind: dict[int, int] = {}
    parents = np.flatnonzero((jumps > 0) | (jumps == -1))
    ends = (parents + jumps[parents])[jumps[parents] > 0]
    for at in np.union1d(parents, ends).tolist():
        level = behind.pop(at, level)
        jump = int(jumps[at])
        if jump > 0:
            behind[at + jump] = level
        if jump > 0 or jump == -1:
            level += 1
            deepest = max(deepest, level)
    return deepest


def _types_of(values: _Values) -> npt.NDArray[np.uint8]:
    return (values >> np.uint64(48)).astype(np.uint8)


def _has_room(values: _Values) -> npt.NDArray[np.bool_]:
    """Which values may hold more than one thing."""
    # numbers alone are read as they are; inlined ones are in the table, and of empty arrays nothing is anywhere
    is_array = values & _IS_ARRAY > 0
    return (values & _IS_SKIPPED == 0) & np.where(is_array, values & _PLACE > 0, ~_IS_NUMBER[_types_of(values)])


def _gathered(data: npt.NDArray[np.uint8], at: _Integers, kind: str) -> npt.NDArray[np.generic]:
    width = np.dtype(kind).itemsize
    return np.ascontiguousarray(data[at[:, None] + np.arange(width)]).view(kind)[:, 0]


def _add_block(made: bytearray, data: bytes, most: int) -> None:
    """Add what a block of LZ4 holds; IndexError where it ends early."""
    at, end, before = 0, len(data), len(made)
    while True:
        token = data[at]
        at += 1
        length = token >> 4
        if length == 15:
            while (more := data[at]) == 255:
                length += 255
                at += 1
            length += more
            at += 1
        made += data[at : at + length]
        at += length
        # the last has no copy
        if at >= end:
            break
        distance = data[at] | data[at + 1] << 8
        at += 2
        length = (token & 15) + 4
        if length == 19:
            while (more := data[at]) == 255:
                length += 255
                at += 1
            length += more
            at += 1
        start = len(made) - distance
        if not distance or start < before or start + distance + length > most:
            raise CrateError("compressed data of it leads outside of it")
        if distance >= length:
            made += made[start : start + length]
        else:
            made += (made[start:] * (length // distance + 1))[:length]
    if at > end or len(made) > most:
        raise CrateError("compressed data of it is too long")
