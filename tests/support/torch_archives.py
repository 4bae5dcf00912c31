"""Files of PyTorch made without it: a writer of its pickles and archives, small enough to make wrong ones with."""

import io
import struct
import zipfile

import numpy as np

TOP = "archive"
STORAGES = {"float32": "FloatStorage", "float64": "DoubleStorage", "int64": "LongStorage"}


class Object:
    def __init__(self, kind: str, **attributes) -> None:
        self.kind = kind
        self.attributes = attributes


class Raw(bytes):
    """Opcodes as they stand."""


def name(module: str, member: str) -> bytes:
    return b"c" + module.encode() + b"\n" + member.encode() + b"\n"


class Writer:
    def __init__(self) -> None:
        self.storages: list[bytes] = []

    def pickle(self, value) -> bytes:
        return b"\x80\x02" + self.value(value) + b"."

    def value(self, value) -> bytes:
        match value:
            case Raw():
                return bytes(value)
            case None:
                return b"N"
            case bool():
                return b"\x88" if value else b"\x89"
            case int():
                is_small = abs(value) < 1 << 31
                return b"J" + struct.pack("<i", value) if is_small else b"\x8a\x09" + value.to_bytes(9, "little")
            case float():
                return b"G" + struct.pack(">d", value)
            case str():
                return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
            case tuple():
                return b"(" + b"".join(map(self.value, value)) + b"t"
            case list():
                return b"](" + b"".join(map(self.value, value)) + b"e"
            case dict():
                return b"}(" + b"".join(self.value(key) + self.value(one) for key, one in value.items()) + b"u"
            case np.ndarray():
                return self.tensor(value)
            case Object():
                return name(*value.kind.rsplit(".", 1)) + b")\x81" + self.value(value.attributes) + b"b"
        raise TypeError(type(value))

    def tensor(self, array: np.ndarray, **wrong) -> bytes:
        """Opcodes that rebuild an array; `size`, `stride`, `offset` and `count` can be made wrong."""
        self.storages.append(array.tobytes())
        strides = tuple(step // array.itemsize for step in np.ascontiguousarray(array).strides) if array.ndim else ()
        key = str(len(self.storages) - 1)
        kind = Raw(name("torch", STORAGES[str(array.dtype)]))
        storage = ("storage", kind, key, "cpu", wrong.get("count", array.size))
        arguments = (
            *(Raw(self.value(storage) + b"Q"), wrong.get("offset", 0), wrong.get("size", array.shape)),
            *(wrong.get("stride", strides), False, Raw(name("collections", "OrderedDict") + b")R")),
        )
        return name("torch._utils", "_rebuild_tensor_v2") + self.value(arguments) + b"R"


def zipped(entries: dict[str, bytes | str], top: str = TOP, compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for entry, content in entries.items():
            archive.writestr(f"{top}/{entry}" if top else entry, content)
    return file.getvalue()


def torchscript(root: Object, code: dict[str, str], constants: tuple = (), **more: bytes | str) -> bytes:
    data, fixed = Writer(), Writer()
    entries: dict[str, bytes | str] = {"data.pkl": data.pickle(root)}
    entries |= {f"code/{module.replace('.', '/')}.py": text for module, text in code.items()}
    entries |= {"constants.pkl": fixed.pickle(constants), "version": "3\n", "byteorder": "little"}
    entries |= {f"data/{key}": content for key, content in enumerate(data.storages)}
    entries |= {f"constants/{key}": content for key, content in enumerate(fixed.storages)}
    return zipped(entries | more)


def state_dict(value) -> bytes:
    writer = Writer()
    entries: dict[str, bytes | str] = {"data.pkl": writer.pickle(value), "version": "3\n", "byteorder": "little"}
    return zipped(entries | {f"data/{key}": content for key, content in enumerate(writer.storages)})


def forward(body: str, signature: str = "x: Tensor", returns: str = "Tensor") -> dict[str, str]:
    """Code of a module `__torch__.M` whose forward pass is this."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return {"__torch__": f"class M(Module):\n  def forward(self: __torch__.M, {signature}) -> {returns}:\n{lines}"}
