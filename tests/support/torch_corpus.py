"""Files that mean harm, made when a test asks for them; each must end in one clear `NetworkError`."""

import pickle
import struct
import zipfile

import numpy as np
from torch_archives import Object, Raw, Writer, forward, name, state_dict, torchscript, zipped

WEIGHT = np.ones((1, 3), np.float32)
LINEAR = "torch.linear(x, self.weight)"


def module(**more: object) -> Object:
    return Object("__torch__.M", weight=WEIGHT, **more)


def with_pickle(data: bytes) -> bytes:
    code = {f"code/{key}.py": text for key, text in forward(f"return {LINEAR}").items()}
    return zipped({"data.pkl": data, "constants.pkl": Writer().pickle(()), **code})


def with_forward(body: str, **more: object) -> bytes:
    return torchscript(module(**more), forward(body))


class _System:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, ("echo ran",)


def tensor(**wrong: object) -> bytes:
    writer = Writer()
    data = writer.pickle({"0.weight": Raw(writer.tensor(WEIGHT, **wrong))})
    return zipped({"data.pkl": data, "data/0": WEIGHT.tobytes()})


def bad_pickles() -> dict[str, tuple[bytes, str]]:
    text = Writer().value
    deep = b"\x80\x02" + b"(" * 100_000
    doubled = b"\x80\x02)q\x00" + b"".join(b"h\x00h\x00\x86q\x00" for _ in range(200)) + b"."
    return {
        "os.system": (pickle.dumps(_System(), 2), r"pickle names (posix|nt)\.system"),
        "builtins.eval": (b"\x80\x02" + name("builtins", "eval") + text(("1",)) + b"R.", r"names builtins\.eval"),
        "a module": (b"\x80\x02" + name("torch.nn.modules.linear", "Linear") + b")\x81.", r"torch\.nn\.modules"),
        "torch.load": (b"\x80\x02" + name("torch.serialization", "load") + b")R.", r"names torch\.serialization\.load"),
        "a dotted name": (b"\x80\x02" + name("collections", "OrderedDict.fromkeys") + b".", "OrderedDict.fromkeys"),
        "a call of a record": (b"\x80\x02" + name("__torch__", "M") + b")R.", "must rebuild tensors"),
        "an object of a storage": (b"\x80\x02" + name("torch", "FloatStorage") + b")\x81.", "must be of a class"),
        "an instance": (b"\x80\x02(i" + b"os\nsystem\n.", "opcode b'i'"),
        "an extension": (b"\x80\x02\x82\x01.", "has opcode"),
        "protocol 0": (b"cos\nsystem\n(S'ls'\ntR.", r"names os\.system"),
        "truncated": (Writer().pickle({"a": [1, 2]})[:-4], "damaged|ends within"),
        "empty": (b"", "ends within"),
        "deep": (deep, "nested deeper"),
        "too many values": (b"\x80\x02" + b"N" * 1_000_001, "more than 200000 values"),
        "doubled tuples as a key": (doubled[:-1] + b"}h\x00Ns.", "odd keys"),
        "no mark": (b"\x80\x02Nt.", "has not opened"),
        "no memo": (b"\x80\x02h\x05.", "damaged"),
        "values left over": (b"\x80\x02NN.", "leaves values over"),
        "a huge text": (b"\x80\x02X" + struct.pack("<I", 1 << 31), "ends within"),
        "another persistent id": (b"\x80\x02" + text(("module", "os", "x")) + b"Q.", "no storage"),
        "state of a list": (b"\x80\x02]}b.", "sets the state of list"),
        "items into a text": (b"\x80\x02" + text("a") + b"(Ne.", "puts items into str"),
    }


def bad_archives() -> dict[str, tuple[bytes, str]]:
    good = with_forward(f"return {LINEAR}")
    state = state_dict({"0.weight": WEIGHT, "0.bias": np.ones(1, np.float32)})
    entries: dict[str, bytes | str] = {"data.pkl": Writer().pickle({}), "constants.pkl": Writer().pickle(())}
    encrypted = bytearray(zipped(entries))
    for place in (6, encrypted.index(b"PK\1\2") + 8):
        encrypted[place] |= 1
    loop = b"\x80\x02]q\x00h\x00a."
    own = b"\x80\x02" + name("__torch__", "M") + b")\x81q\x00}(" + Writer().value("m") + b"h\x00ub."
    many = {f"data/{n}": b"" for n in range(5000)}
    unary = "-" * 3000 + "1"
    nested = "torch.relu(" * 180 + "x" + ")" * 180
    calls = forward("return (self).forward(x, )")
    return {
        "before it something else": (b"\x7fELF" + b"\0" * 100 + good, "first byte"),
        "before it another archive": (zipped({"data.pkl": b"x"}) + good, "first byte"),
        "truncated": (good[: len(good) // 2], "no complete zip"),
        "a bomb": (zipped({**entries, "data/0": b"\0" * (8 << 20)}, compression=zipfile.ZIP_DEFLATED), "swells"),
        "too large": (zipped({**entries, "data/0": b"\0" * ((64 << 20) + 1)}), "at most"),
        "too many entries": (zipped({**entries, **many}), "5002 entries"),
        "entry twice": (zipped({**entries, "data/0": b"", "data/1": b""}).replace(b"data/1", b"data/0"), "there twice"),
        "nothing": (zipped({}), "is empty|first byte|no complete"),
        "endless arithmetic": (
            torchscript(
                module(long=np.ones((4000, 1), np.float32)),
                forward("y = torch.mul(self.long, torch.t(self.long))\n" * 100 + "return x"),
            ),
            "computes more than",
        ),
        "a path that escapes": (zipped({**entries, "../../x": b""}), "inside the archive"),
        "an absolute path": (zipped({"/etc/x": b""}, top=""), "inside the archive"),
        "two folders": (zipped({"a/data.pkl": b"", "b/constants.pkl": b""}, top=""), "top folders"),
        "encrypted": (bytes(encrypted), "encrypted or oddly"),
        "bzip2": (zipped(entries, compression=zipfile.ZIP_BZIP2), "encrypted or oddly"),
        "big-endian": (zipped({**entries, "byteorder": "big"}), "byte order"),
        "damaged": (good.replace(WEIGHT.tobytes(), WEIGHT.tobytes()[::-1]), "damaged"),
        "a list that holds itself": (with_pickle(loop), "holds no module"),
        "a module that holds itself": (with_pickle(own), "self.weight|has no weight"),
        "no code": (zipped({**entries, "data.pkl": Writer().pickle(Object("__torch__.M"))}), "code/__torch__.py"),
        "code that is none": (torchscript(module(), {"__torch__": "class M(:"}), "no code that PyTorch writes"),
        "code of null": (torchscript(module(), {"__torch__": "\0"}), "no code that PyTorch writes"),
        "code too deep": (torchscript(module(), forward(f"return {unary}")), "no code|nested deeper|constant"),
        "code too nested": (torchscript(module(), forward(f"return {nested}")), "nested deeper"),
        "code too long": (torchscript(module(), {"__torch__": "#" * (2 << 20)}), "bytes of code"),
        "code that calls itself": (torchscript(module(), calls), "deep"),
        "a file written": (with_forward(f'torch.save(x, "written")\nreturn {LINEAR}'), "operation save"),
        "a print": (with_forward(f"print(x)\nreturn {LINEAR}"), "operation print"),
        "a loop": (with_forward(f"for _0 in range(3):\n  pass\nreturn {LINEAR}"), "statement for"),
        "a choice by row": (with_forward("if x:\n  y = x\nelse:\n  y = -x\nreturn y"), "differs from row to row"),
        "a while": (with_forward("while True:\n  pass\nreturn x"), "statement while"),
        "an import": (with_forward('import os\nos.system("ls")\nreturn x'), "statement import"),
        "python's import": (with_forward('__import__("os").system("ls")\nreturn x'), "operation __import__"),
        "eval": (with_forward('return eval("x")'), "operation eval"),
        "a comprehension": (with_forward("return [y for y in x]"), "as a constant"),
        "a lambda": (with_forward("return (lambda: x)()"), "as a constant"),
        "a dunder": (with_forward("return x.__class__"), "attribute __class__"),
        "doubled by an unknown operation": (with_forward(f"return torch.ldexp({LINEAR}, 1)"), "operation ldexp"),
        "written into a buffer": (with_forward(f"torch.mul_(self.weight, 2)\nreturn {LINEAR}"), "operation mul_"),
        "a buffer that is not used": (with_forward(f"return {LINEAR}", gain=np.full(1, 20, np.float32)), "tensor gain"),
        "a huge number": (with_forward("return torch.mul(x, 1" + "0" * 5000 + ")"), "no code|64 bits"),
        "an overflow": (with_forward(f"y = torch.pow(10., 400)\nreturn torch.mul({LINEAR}, y)"), "pow"),
        "rows times rows": (with_forward("return torch.matmul(x, torch.t(x))"), "matmul"),
        "an array too large": (
            torchscript(
                module(long=np.ones((5000, 1), np.float32)), forward("return torch.mul(self.long, torch.t(self.long))")
            ),
            "numbers|output",
        ),
        "not finite": (
            torchscript(Object("__torch__.M", weight=np.full((1, 3), np.nan, np.float32)), forward(f"return {LINEAR}")),
            "not finite",
        ),
        "two outputs": (
            torchscript(Object("__torch__.M", weight=np.ones((2, 3), np.float32)), forward(f"return {LINEAR}")),
            "must be one scalar",
        ),
        "metadata that is no JSON": (
            torchscript(module(), forward(f"return {LINEAR}"), **{"extra/metadata.json": "{"}),
            "Invalid JSON",
        ),
        "metadata too deep": (
            torchscript(module(), forward(f"return {LINEAR}"), **{"extra/metadata.json": "[" * 99999}),
            "Invalid JSON",
        ),
        "a tensor beyond its storage": (tensor(size=(1, 4)), "leaves its 3 numbers"),
        "a tensor from beyond": (tensor(offset=1), "leaves its 3 numbers"),
        "a tensor of huge stride": (tensor(stride=(1, 1 << 30)), "leaves its 3 numbers"),
        "a tensor of huge size": (tensor(size=(1 << 30, 3), stride=(0, 1)), "must be at most"),
        "a tensor of negative size": (tensor(size=(-1, 3)), "whole numbers"),
        "a storage that is longer than its bytes": (tensor(count=1 << 20), "storage '0' has 12 bytes"),
        "a storage that is not there": (state.replace(b"data/1", b"data/9"), "no 'data/1'"),
    }
