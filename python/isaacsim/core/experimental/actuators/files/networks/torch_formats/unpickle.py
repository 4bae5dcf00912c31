"""PyTorch's pickles read as data, by an interpreter of the few opcodes that tensors and plain values need.

Only what `find_class` lists is ever called or built, so a pickle can do no more than describe tensors.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ....base.errors import NetworkError
from .archive import MAX_BYTES, are_whole, view_of

# values that a pickle may make, and how deep its brackets may nest
MAX_VALUES = 200_000
MAX_DEPTH = 64
MAX_NAME = 1024

DTYPES = {
    f"{name}Storage": np.dtype(code)
    for name, code in {
        **{"Float": "<f4", "Double": "<f8", "Half": "<f2", "BFloat16": "<u2", "Long": "<i8", "Int": "<i4"},
        **{"Short": "<i2", "Char": "i1", "Byte": "u1", "Bool": "?"},
    }.items()
}


@dataclass(frozen=True)
class StorageType:
    """The element type of a storage by its name, such as `FloatStorage`."""

    name: str


@dataclass(eq=False)
class Storage:
    """Numbers of one entry of the archive."""

    values: np.ndarray


@dataclass(frozen=True)
class RecordType:
    """A class of the archive's own code, by its qualified name."""

    name: str


@dataclass(eq=False)
class Record:
    """The attributes of an object of such a class; it has no behavior."""

    type: str
    attributes: dict[str, object] = field(default_factory=dict)


def _tensor(storage: object, offset: Any, size: Any, stride: Any, *_rest: object) -> np.ndarray:
    """A read-only view into a storage, after all bounds are checked."""
    shaped = isinstance(size, tuple) and isinstance(stride, tuple) and len(size) + len(stride) <= 16
    if not shaped or not are_whole((offset, *size, *stride), 1 << 40) or not isinstance(storage, Storage):
        raise NetworkError("tensor: storage, offset, size and stride must be a storage and at most 17 whole numbers.")
    if len(size) != len(stride):
        raise NetworkError(f"tensor of size {size} and stride {stride}: must be equally long.")
    values = storage.values
    if math.prod(size) * values.itemsize > MAX_BYTES:
        raise NetworkError(f"tensor of size {size}: must be at most {MAX_BYTES} bytes. Use a smaller network.")
    if (view := view_of(values, offset, size, stride)) is None:
        raise NetworkError(f"tensor of size {size}, stride {stride} from {offset} leaves its {len(values)} numbers.")
    return view


def _first(value: object, *_rest: object) -> object:
    return value


def _ordered(*items: object) -> dict[str, object]:
    if items and items != ([],):
        raise NetworkError("OrderedDict with arguments: must be empty at first. Save the file anew.")
    return {}


FUNCTIONS: dict[tuple[str, str], Callable[..., object]] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _first,
    ("collections", "OrderedDict"): _ordered,
    **{("torch.jit._pickle", f"build_{kind}list"): _first for kind in ("int", "double", "bool", "tensor")},
    ("torch.jit._pickle", "restore_type_tag"): _first,
}


def find_class(module: object, name: object) -> Callable[..., object] | StorageType | RecordType:
    """What a name in a pickle stands for; a `NetworkError` if it is not in the closed list.

    The list has rebuilding tensors, storages, `OrderedDict`, typed lists, and classes of the archive's own code, which
    become records.
    """
    if not isinstance(module, str) or not isinstance(name, str) or len(module) + len(name) > MAX_NAME:
        raise NetworkError("pickle names something that is no text or too long: must be a class. Save it anew.")
    if function := FUNCTIONS.get((module, name)):
        return function
    if module in ("torch", "torch.storage") and name in DTYPES:
        return StorageType(name)
    if module == "__torch__" or module.startswith("__torch__."):
        return RecordType(f"{module}.{name}")
    raise NetworkError(
        f"pickle names {module}.{name}: must hold tensors and plain values only. Save the state_dict of the network, "
        "or convert it to ONNX or safetensors."
    )


class _Mark:
    """An open bracket on the stack."""


T = TypeVar("T")


class Unpickler:
    """Interprets one pickle; `storage` returns the bytes of a storage by its key."""

    def __init__(self, data: bytes, storage: Callable[[str], bytes]) -> None:
        self._data, self._at = data, 0
        self._storage = storage
        self._storages: dict[tuple[str, str], Storage] = {}
        # the same storage may be named with several types
        self._bytes: dict[str, bytes] = {}
        self._left = MAX_VALUES
        # holds whatever the pickle describes
        self._stack: list[object] = []
        self._memo: dict[int, object] = {}
        self._marks = 0

    def run(self) -> object:
        """Return the value that the pickle describes."""
        try:
            return self._run()
        except NetworkError:
            raise
        # a damaged pickle fails in many ways
        except Exception as error:
            raise NetworkError(
                f"pickle is damaged at byte {self._at} ({error}): must be whole. Save it anew."
            ) from error

    def _run(self) -> object:
        for _ in range(MAX_VALUES):
            opcode = self._take(1)
            if opcode == b".":
                value = self._pop()
                if self._stack:
                    raise NetworkError("pickle leaves values over: must describe one. Save it anew.")
                return value
            if (perform := OPCODES.get(opcode)) is None:
                raise NetworkError(
                    f"pickle has opcode {opcode!r} at byte {self._at - 1}: must describe tensors and plain values. "
                    "Save the file anew with PyTorch."
                )
            perform(self)
        raise NetworkError(f"pickle makes more than {MAX_VALUES} values: must be fewer. Use a smaller network.")

    def _take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise NetworkError(f"pickle ends within byte {self._at}: must be whole. Copy the file again.")
        self._at += count
        return taken

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self) -> str:
        end = self._data.index(b"\n", self._at, self._at + MAX_NAME)
        return self._take(end + 1 - self._at)[:-1].decode("utf-8")

    def _text(self, length: str) -> str:
        return self._take(self._number(length)).decode("utf-8", "surrogatepass")

    def _pop(self) -> object:
        value = self._stack.pop()
        if isinstance(value, _Mark):
            raise NetworkError("pickle takes a value where there is none: must be whole. Save it anew.")
        return value

    def _mark(self) -> None:
        self._marks += 1
        if self._marks > MAX_DEPTH:
            raise NetworkError(f"pickle is nested deeper than {MAX_DEPTH}: must be flatter. Save it anew.")
        self._stack.append(_Mark())

    def _since_mark(self) -> list[object]:
        for start in range(len(self._stack) - 1, -1, -1):
            if isinstance(self._stack[start], _Mark):
                self._marks -= 1
                values = self._stack[start + 1 :]
                del self._stack[start:]
                return values
        raise NetworkError("pickle closes a bracket that it has not opened: must be whole. Save it anew.")

    def _top(self, kind: type[T]) -> T:
        value = self._stack[-1]
        if not isinstance(value, kind):
            raise NetworkError(f"pickle puts items into {type(value).__name__}: must be {kind.__name__}.")
        return value

    def _memoize(self, place: int | None = None) -> None:
        self._memo[len(self._memo) if place is None else place] = self._stack[-1]

    def _recall(self, place: int) -> object:
        return self._memo[place]

    def _put(self, items: Sequence[object]) -> None:
        keys, values = items[::2], items[1::2]
        # hashing other keys may take arbitrarily long
        if not all(isinstance(key, str | int) for key in keys):
            raise NetworkError("pickle has a dict with odd keys: must be texts or whole numbers. Save it anew.")
        self._top(dict).update(zip(keys, values, strict=True))

    def _new_object(self, kind: object, arguments: object) -> Record:
        if not isinstance(kind, RecordType) or arguments != ():
            raise NetworkError(f"pickle makes an object of {type(kind).__name__}: must be of a class of the archive.")
        return Record(kind.name)

    def _reduce(self, function: Any, arguments: Any) -> object:
        if not any(function is one for one in FUNCTIONS.values()):
            raise NetworkError(f"pickle calls {type(function).__name__}: must rebuild tensors only.")
        return function(*arguments)

    def _build(self, state: object) -> None:
        target = self._stack[-1]
        # the same state may be set many times
        self._left -= len(state) if isinstance(state, dict) else 0
        if self._left < 0:
            raise NetworkError(f"pickle sets more than {MAX_VALUES} attributes: must be fewer. Save it anew.")
        if isinstance(target, Record) and isinstance(state, dict) and all(isinstance(key, str) for key in state):
            target.attributes.update(state)
        # dicts carry versions of modules as state, which are not needed
        elif not (isinstance(target, dict) and isinstance(state, dict)):
            raise NetworkError(f"pickle sets the state of {type(target).__name__}: must be an object of the archive.")

    def _persistent(self, identity: object) -> Storage:
        match identity:
            case ("storage", StorageType(kind), str(key), str(), int(count)) if (
                0 <= count <= MAX_BYTES and len(key) <= MAX_NAME
            ):
                if (kind, key) not in self._storages:
                    self._storages[kind, key] = Storage(self._numbers(kind, key, count))
                return self._storages[kind, key]
        raise NetworkError("pickle refers to something that is no storage: must. Save it anew with PyTorch.")

    def _numbers(self, kind: str, key: str, count: int) -> np.ndarray:
        if key not in self._bytes:
            self._bytes[key] = self._storage(key)
        data, dtype = self._bytes[key], DTYPES[kind]
        if count * dtype.itemsize > len(data):
            raise NetworkError(f"storage {key!r:.100} has {len(data)} bytes: must have {count * dtype.itemsize}.")
        values = np.frombuffer(data, dtype, count)
        # bfloat16 is the upper half of a float32
        return (values.astype("<u4") << 16).view("<f4") if kind == "BFloat16Storage" else values


def _push(value_of: Callable[[Unpickler], object]) -> Callable[[Unpickler], None]:
    return lambda m: m._stack.append(value_of(m))


def _protocol(m: Unpickler) -> None:
    if (protocol := m._number("<B")) not in (2, 3, 4, 5):
        raise NetworkError(f"pickle of protocol {protocol}: must be 2 … 5. Save it anew.")


def _extend(m: Unpickler, values: list[object]) -> None:
    m._top(list).extend(values)


def _last(m: Unpickler, count: int) -> tuple[object, ...]:
    return tuple(reversed([m._pop() for _ in range(count)]))


# STOP, `.`, is handled by the loop; see `pickletools` for what each opcode means
OPCODES: dict[bytes, Callable[[Unpickler], object]] = {
    b"\x80": _protocol,
    # FRAME: its length is not needed
    b"\x95": lambda m: m._take(8),
    b"(": Unpickler._mark,
    b"N": _push(lambda m: None),
    b"\x88": _push(lambda m: True),
    b"\x89": _push(lambda m: False),
    b"K": _push(lambda m: m._number("<B")),
    b"M": _push(lambda m: m._number("<H")),
    b"J": _push(lambda m: m._number("<i")),
    b"\x8a": _push(lambda m: int.from_bytes(m._take(m._number("<B")), "little", signed=True)),
    b"G": _push(lambda m: m._number(">d")),
    b"X": _push(lambda m: m._text("<I")),
    b"\x8c": _push(lambda m: m._text("<B")),
    b")": _push(lambda m: ()),
    b"t": _push(lambda m: tuple(m._since_mark())),
    b"\x85": _push(lambda m: _last(m, 1)),
    b"\x86": _push(lambda m: _last(m, 2)),
    b"\x87": _push(lambda m: _last(m, 3)),
    b"]": _push(lambda m: []),
    b"a": lambda m: _extend(m, [m._pop()]),
    b"e": lambda m: _extend(m, m._since_mark()),
    b"}": _push(lambda m: {}),
    b"s": lambda m: m._put(_last(m, 2)),
    b"u": lambda m: m._put(m._since_mark()),
    b"q": lambda m: m._memoize(m._number("<B")),
    b"r": lambda m: m._memoize(m._number("<I")),
    b"\x94": Unpickler._memoize,
    b"h": _push(lambda m: m._recall(m._number("<B"))),
    b"j": _push(lambda m: m._recall(m._number("<I"))),
    b"c": _push(lambda m: find_class(m._line(), m._line())),
    b"\x93": _push(lambda m: find_class(*_last(m, 2))),
    b"Q": _push(lambda m: m._persistent(m._pop())),
    b"\x81": _push(lambda m: m._new_object(*_last(m, 2))),
    b"R": _push(lambda m: m._reduce(*_last(m, 2))),
    b"b": lambda m: m._build(m._pop()),
}


def load(data: bytes, storage: Callable[[str], bytes]) -> object:
    """The value that a pickle of PyTorch describes: tensors as read-only arrays, objects as `Record`.

    A `NetworkError` says that it is damaged, too large, too deeply nested, or names anything outside `find_class`.
    """
    return Unpickler(data, storage).run()


def json_of(value: object, path: str = "metadata") -> object:
    """A value as JSON could hold it; a `NetworkError` if it cannot, or if it is too deeply nested or too large."""
    left = 10_000

    def convert(value: object, path: str, depth: int) -> object:
        nonlocal left
        # an array counts as its numbers
        left -= getattr(value, "size", 1)
        path = path[:200]
        if depth > MAX_DEPTH or left < 0:
            raise NetworkError(f"{path} is nested too deeply or too large: must be flatter. Save it anew.")
        match value:
            case None | bool() | int() | float() | str():
                return value
            case list() | tuple():
                return [convert(item, path, depth + 1) for item in value]
            case dict() if all(isinstance(key, str) for key in value):
                return {key: convert(item, f"{path}.{key[:100]}", depth + 1) for key, item in value.items()}
            case np.ndarray():
                return value.tolist()
        raise NetworkError(f"{path} = {type(value).__name__}: must be numbers, texts, lists and dicts. Save it anew.")

    return convert(value, path, 0)
