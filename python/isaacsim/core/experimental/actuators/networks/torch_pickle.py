"""PyTorch's pickles read as data: a machine of its own with the few opcodes that tensors and plain values need.

Nothing is imported, called or built but what stands in `find_class`, so a pickle cannot do more than describe tensors.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import NetworkError
from .torch_archive import MAX_BYTES

# values that a pickle may make, and how many brackets deep it may open
MAX_VALUES = 200_000
MAX_DEPTH = 64
MAX_NAME = 1024

DTYPES = {
    "FloatStorage": np.dtype("<f4"),
    "DoubleStorage": np.dtype("<f8"),
    "HalfStorage": np.dtype("<f2"),
    "BFloat16Storage": np.dtype("<u2"),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
    "ShortStorage": np.dtype("<i2"),
    "CharStorage": np.dtype("i1"),
    "ByteStorage": np.dtype("u1"),
    "BoolStorage": np.dtype("?"),
}


@dataclass(frozen=True)
class StorageType:
    """Names the numbers of a storage, such as `FloatStorage`."""

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
    """An object of such a class: its attributes, and nothing that acts."""

    type: str
    attributes: dict[str, Any] = field(default_factory=dict)


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, *_rest: Any) -> np.ndarray:
    """A view into a storage, after all bounds were checked."""
    shaped = isinstance(size, tuple) and isinstance(stride, tuple) and len(size) + len(stride) <= 16
    numbers = [offset, *size, *stride] if shaped else [None]
    whole = all(type(n) is int and 0 <= n < 1 << 40 for n in numbers)
    if not whole or not isinstance(storage, Storage):
        raise NetworkError("tensor: storage, offset, size and stride must be a storage and at most 17 whole numbers.")
    if len(size) != len(stride):
        raise NetworkError(f"tensor of size {size} and stride {stride}: must be equally long.")
    count, last = 1, offset
    for n, step in zip(size, stride, strict=True):
        count *= n
        last += (n - 1) * step
    values = storage.values
    if count * values.itemsize > MAX_BYTES:
        raise NetworkError(f"tensor of size {size}: must be at most {MAX_BYTES} bytes. Use a smaller network.")
    if count and last >= len(values):
        raise NetworkError(f"tensor of size {size}, stride {stride} from {offset} leaves its {len(values)} numbers.")
    if not count:
        return np.empty(size, values.dtype)
    steps = [step * values.itemsize for step in stride]
    view = np.lib.stride_tricks.as_strided(values[offset:], size, steps)
    view.flags.writeable = False
    return view


def _parameter(data: Any, *_rest: Any) -> Any:
    return data


def _same(value: Any, *_rest: Any) -> Any:
    return value


def _ordered(*items: Any) -> dict[Any, Any]:
    if items and items != ([],):
        raise NetworkError("OrderedDict with arguments: must be empty at first. Save the file anew.")
    return {}


FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("collections", "OrderedDict"): _ordered,
    ("torch.jit._pickle", "build_intlist"): _same,
    ("torch.jit._pickle", "build_doublelist"): _same,
    ("torch.jit._pickle", "build_boollist"): _same,
    ("torch.jit._pickle", "build_tensorlist"): _same,
    ("torch.jit._pickle", "restore_type_tag"): _same,
}


def find_class(module: str, name: str) -> Any:
    """What a name in a pickle stands for.

    Raises:
        NetworkError: It is not in the closed list: rebuilding tensors, storages, `OrderedDict`, typed lists, and
            classes of the archive's own code, which become records.
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
    pass


class Machine:
    """Runs one pickle.

    Args:
        data: Bytes of the pickle.
        storage: Bytes of a storage by its key.
    """

    def __init__(self, data: bytes, storage: Callable[[str], bytes]) -> None:
        self._data, self._at = data, 0
        self._storage = storage
        self._storages: dict[tuple[str, str], Storage] = {}
        # a storage may be said to be of several types
        self._bytes: dict[str, bytes] = {}
        self._left = MAX_VALUES
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._marks = 0

    def run(self) -> Any:
        """The value that the pickle describes."""
        try:
            return self._run()
        except NetworkError:
            raise
        except Exception as error:  # a pickle that is not one fails anywhere
            raise NetworkError(
                f"pickle is damaged at byte {self._at} ({error}): must be whole. Save it anew."
            ) from error

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

    def _text(self, form: str) -> str:
        return self._take(self._number(form)).decode("utf-8", "surrogatepass")

    def _pop(self) -> Any:
        value = self._stack.pop()
        if isinstance(value, _Mark):
            raise NetworkError("pickle takes a value where there is none: must be whole. Save it anew.")
        return value

    def _since_mark(self) -> list[Any]:
        for start in range(len(self._stack) - 1, -1, -1):
            if isinstance(self._stack[start], _Mark):
                self._marks -= 1
                values = self._stack[start + 1 :]
                del self._stack[start:]
                return values
        raise NetworkError("pickle closes a bracket that it has not opened: must be whole. Save it anew.")

    def _top(self, kind: type) -> Any:
        if not isinstance(self._stack[-1], kind):
            raise NetworkError(f"pickle puts items into {type(self._stack[-1]).__name__}: must be {kind.__name__}.")
        return self._stack[-1]

    def _put(self, keys: list[Any], values: list[Any]) -> None:
        # other keys could take for ever to hash
        if not all(isinstance(key, str | int) for key in keys):
            raise NetworkError("pickle has a dict with odd keys: must be texts or whole numbers. Save it anew.")
        self._top(dict).update(zip(keys, values, strict=True))

    def _run(self) -> Any:
        for _ in range(MAX_VALUES):
            opcode = self._take(1)
            push = self._stack.append
            match opcode:
                case b"\x80":  # PROTO
                    if (protocol := self._number("<B")) not in (2, 3, 4, 5):
                        raise NetworkError(f"pickle of protocol {protocol}: must be 2 … 5. Save it anew.")
                case b"\x95":  # FRAME
                    self._take(8)
                case b".":  # STOP
                    value = self._pop()
                    if self._stack:
                        raise NetworkError("pickle leaves values over: must describe one. Save it anew.")
                    return value
                case b"(":  # MARK
                    self._marks += 1
                    if self._marks > MAX_DEPTH:
                        raise NetworkError(f"pickle is nested deeper than {MAX_DEPTH}: must be flatter. Save it anew.")
                    push(_Mark())
                case b"N":
                    push(None)
                case b"\x88":
                    push(True)
                case b"\x89":
                    push(False)
                case b"K":
                    push(self._number("<B"))
                case b"M":
                    push(self._number("<H"))
                case b"J":
                    push(self._number("<i"))
                case b"\x8a":  # LONG1
                    push(int.from_bytes(self._take(self._number("<B")), "little", signed=True))
                case b"G":
                    push(self._number(">d"))
                case b"X":
                    push(self._text("<I"))
                case b"\x8c":
                    push(self._text("<B"))
                case b")":
                    push(())
                case b"t":
                    push(tuple(self._since_mark()))
                case b"\x85" | b"\x86" | b"\x87":  # TUPLE1, 2, 3
                    push(tuple(reversed([self._pop() for _ in range(opcode[0] - 0x84)])))
                case b"]":
                    push([])
                case b"a":
                    value = self._pop()
                    self._top(list).append(value)
                case b"e":
                    values = self._since_mark()
                    self._top(list).extend(values)
                case b"}":
                    push({})
                case b"s":
                    value, key = self._pop(), self._pop()
                    self._put([key], [value])
                case b"u":
                    values = self._since_mark()
                    self._put(values[::2], values[1::2])
                case b"q":
                    self._memo[self._number("<B")] = self._stack[-1]
                case b"r":
                    self._memo[self._number("<I")] = self._stack[-1]
                case b"\x94":  # MEMOIZE
                    self._memo[len(self._memo)] = self._stack[-1]
                case b"h":
                    push(self._memo[self._number("<B")])
                case b"j":
                    push(self._memo[self._number("<I")])
                case b"c":  # GLOBAL
                    module = self._line()
                    push(find_class(module, self._line()))
                case b"\x93":  # STACK_GLOBAL
                    name, module = self._pop(), self._pop()
                    push(find_class(module, name))
                case b"Q":  # BINPERSID
                    push(self._persistent(self._pop()))
                case b"\x81":  # NEWOBJ
                    arguments, kind = self._pop(), self._pop()
                    if not isinstance(kind, RecordType) or arguments != ():
                        raise NetworkError(
                            f"pickle makes an object of {type(kind).__name__}: must be of a class of the archive."
                        )
                    push(Record(kind.name))
                case b"R":  # REDUCE
                    arguments, function = self._pop(), self._pop()
                    if not any(function is one for one in FUNCTIONS.values()):
                        raise NetworkError(f"pickle calls {type(function).__name__}: must rebuild tensors only.")
                    push(function(*arguments))
                case b"b":  # BUILD
                    self._build(self._pop())
                case _:
                    raise NetworkError(
                        f"pickle has opcode {opcode!r} at byte {self._at - 1}: must describe tensors and plain values. "
                        "Save the file anew with PyTorch."
                    )
        raise NetworkError(f"pickle makes more than {MAX_VALUES} values: must be fewer. Use a smaller network.")

    def _build(self, state: Any) -> None:
        target = self._stack[-1]
        # the same state may be set again and again
        self._left -= len(state) if isinstance(state, dict) else 0
        if self._left < 0:
            raise NetworkError(f"pickle sets more than {MAX_VALUES} attributes: must be fewer. Save it anew.")
        if isinstance(target, Record) and isinstance(state, dict) and all(isinstance(key, str) for key in state):
            target.attributes.update(state)
        elif not (isinstance(target, dict) and isinstance(state, dict)):  # of dicts: the versions of modules
            raise NetworkError(f"pickle sets the state of {type(target).__name__}: must be an object of the archive.")

    def _persistent(self, identity: Any) -> Storage:
        match identity:
            case ("storage", StorageType(kind), str(key), str(), int(count)) if (
                0 <= count <= MAX_BYTES and len(key) <= MAX_NAME
            ):
                pass
            case _:
                raise NetworkError("pickle refers to something that is no storage: must. Save it anew with PyTorch.")
        if (kind, key) not in self._storages:
            if key not in self._bytes:
                self._bytes[key] = self._storage(key)
            data, dtype = self._bytes[key], DTYPES[kind]
            if count * dtype.itemsize > len(data):
                raise NetworkError(f"storage {key!r:.100} has {len(data)} bytes: must have {count * dtype.itemsize}.")
            values = np.frombuffer(data, dtype, count)
            if kind == "BFloat16Storage":  # the upper half of a float32
                values = (values.astype("<u4") << 16).view("<f4")
            self._storages[kind, key] = Storage(values)
        return self._storages[kind, key]


def load(data: bytes, storage: Callable[[str], bytes]) -> Any:
    """The value that a pickle of PyTorch describes: tensors as read-only arrays, objects as `Record`.

    Args:
        data: Bytes of the pickle.
        storage: Bytes of a storage by its key.

    Raises:
        NetworkError: It is damaged, too large, too deeply nested, or names anything outside `find_class`.
    """
    return Machine(data, storage).run()


def json_of(value: Any, path: str = "metadata") -> Any:
    """A value as JSON could have it.

    Raises:
        NetworkError: It is none, too deeply nested or too large.
    """
    left = 10_000

    def convert(value: Any, path: str, depth: int) -> Any:
        nonlocal left
        left -= value.size if isinstance(value, np.ndarray) else 1
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
