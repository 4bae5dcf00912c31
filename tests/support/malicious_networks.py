"""Files of every format that mean harm, made when a test asks for them and without PyTorch.

Each must end in one clear error; those of `harmless` load, and what they carry besides must not run.
"""

import io
import json
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping

import exported_archives as exported
import numpy as np
from checkpoint_files import checkpoint_file, exported_parts
from torch_archives import Object, Raw, Writer, forward, name, state_dict, torchscript, zipped
from torch_corpus import bad_archives, bad_pickles, with_pickle

WEIGHT = np.ones((1, 2), np.float32)
# what any of them would leave behind if it ran
MARK = "ran"


class Payload:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return exec, (f"open({MARK!r}, 'w').write('x')",)


def good(format: str, metadata: Mapping | None = None) -> bytes:
    return checkpoint_file(format, "mlp", {"input_idx": [0], **(metadata or {})})


def malicious() -> dict[str, tuple[bytes, str]]:
    found: dict[str, tuple[bytes, str]] = {}
    parts: dict[str, Callable[[], dict[str, tuple[bytes, str]]]] = {
        "pickle": _pickles,
        "polyglot": _polyglots,
        "pt2": _exported,
        "zip": _zips,
        "onnx": _onnx,
        "safetensors": _safetensors,
        "torchscript": _torchscripts,
    }
    for kind, made in parts.items():
        found |= {f"{kind}, {key}": one for key, one in made().items()}
    for key, (data, told) in bad_archives().items():
        # what no longer begins as an archive is not taken for one
        found[f"archive, {key}"] = (data, f"{told}|of no known format|none that PyTorch writes")
    for key, (data, told) in bad_pickles().items():
        found[f"torchscript, pickle, {key}"] = (with_pickle(data), told)
        found[f"state dict, pickle, {key}"] = (zipped({"data.pkl": data}), told)
    return found


def harmless() -> dict[str, bytes]:
    code = pickle.dumps(Payload())
    archive = exported_parts("mlp", {"input_idx": [0]})
    archive["files"] |= {"data/sample_inputs/model.pt": code, "data/aotinductor/model/model.so": b"\x7fELF" + code}
    root = Object("__torch__.M", weight=WEIGHT)
    body = forward("return torch.linear(x, self.weight)")
    said = {"code/__torch__.py.debug_pkl": code, "extra/run.py": "import os; os.system('touch ran')"}
    return {
        "pt2": exported.archive(archive),
        "torchscript": torchscript(root, body, **said),
        "safetensors": good("safetensors", {"__import__('os').system('touch ran')": "!python/object/apply:os.system"}),
        "onnx": good("onnx", {"eval": "__import__('os').system('touch ran')"}),
        "state dict": checkpoint_file("state dict", "lstm", {"$(touch ran)": "`touch ran`"}),
    }


def doubled() -> dict[str, tuple[bytes, bytes]]:
    """By format a file, and one whose forward pass doubles the output, with the same tensors."""
    root, linear = Object("__torch__.M", weight=WEIGHT), "torch.linear(x, self.weight)"
    scripts = [torchscript(root, forward(f"return {code}")) for code in (linear, f"torch.mul({linear}, 2)")]
    plain, twice = exported_parts("mlp", {}), exported_parts("mlp", {})
    twice["graph"]["nodes"].append(exported.operation("add.Tensor", "d", *[exported.tensor("c")] * 2))
    twice["outputs"] = [{"user_output": {"arg": exported.tensor("d")}}]
    models = [_model([_node("MatMul", ["x", "w"], "a"), *more]) for more in ([_node("Identity", ["a"], "y")],)]
    models.append(_model([_node("MatMul", ["x", "w"], "a"), _node("Add", ["a", "a"], "y")]))
    return {
        "torchscript": (scripts[0], scripts[1]),
        "pt2": (exported.archive(plain), exported.archive(twice)),
        "onnx": (models[0], models[1]),
    }


def _pickles() -> dict[str, tuple[bytes, str]]:
    old = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
    return {
        **{f"protocol {n}": (pickle.dumps(Payload(), n), "is a Python pickle") for n in (2, 3, 4, 5)},
        "protocol 0": (pickle.dumps(Payload(), 0), "of no known format"),
        "of a script": (b"cos\nsystem\n(S'touch ran'\ntR.", "of no known format"),
        "before PyTorch 1.6": (old + pickle.dumps(Payload(), 2), r"before PyTorch 1\.6"),
        "with an archive behind": (pickle.dumps(Payload()) + good("torchscript"), "is a Python pickle"),
        "compressed": (zlib.compress(pickle.dumps(Payload())), "of no known format"),
        "in a state dict": (zipped({"data.pkl": pickle.dumps({"0.weight": Payload()})}), "has opcode|pickle"),
        "in a list of it": (state_dict({"0.weight": Raw(pickle.dumps(Payload(), 2)[2:-1])}), "pickle names"),
        "in the metadata": (
            state_dict({"model": {"0.weight": WEIGHT}, "metadata": Raw(pickle.dumps(Payload(), 2)[2:-1])}),
            "pickle names",
        ),
    }


def _polyglots() -> dict[str, tuple[bytes, str]]:
    archive, onnx, tensors = good("torchscript"), good("onnx"), good("safetensors")
    code = pickle.dumps(Payload())
    return {
        "ONNX with an archive behind": (onnx + archive, "unknown|whole ONNX"),
        "ONNX with an archive in a skipped field": (onnx + _field(1000, archive), "field 1000, which is unknown"),
        "ONNX with a pickle inside": (onnx + _field(7, _field(99, code)), "GraphProto has field 99, which is unknown"),
        "archive with ONNX behind": (archive + onnx, "last byte"),
        "archive with a pickle in its comment": (archive[:-2] + struct.pack("<H", len(code)) + code, "last byte"),
        "safetensors with an archive behind": (tensors + archive, "leave gaps"),
        "safetensors with a pickle behind": (tensors + code, "leave gaps"),
        "archive of two kinds": (
            zipped({"data.pkl": Writer().pickle({}), "constants.pkl": code, "models/model.json": "{}"}),
            "archive_format|0 graphs|1 graphs",
        ),
        "two archives in one": (good("state dict") + archive, "first byte"),
        "web page with an archive behind": (b"<script>" + archive, "web page"),
        "program with an archive behind": (b"\x7fELF\2\1\1\0" + archive, "of no known format"),
    }


def _exported() -> dict[str, tuple[bytes, str]]:
    """Flags, code and lies of `.pt2`."""

    def made(change: Callable[[dict], object]) -> bytes:
        parts = exported_parts("mlp", {"input_idx": [0]})
        change(parts)
        return exported.archive(parts)

    def flagged(value) -> bytes:
        def change(parts: dict) -> None:
            parts["weights"]["0.weight"]["use_pickle"] = value
            parts["files"]["data/weights/w0"] = pickle.dumps(Payload())

        return made(change)

    def wide(parts: dict) -> None:
        size = {"as_int": 4096}
        meta = exported.meta(1, 1) | {"sizes": [size, size], "strides": [{"as_int": 0}] * 2}
        parts["weights"] |= {
            f"z{n}": {"path_name": "w0", "use_pickle": False, "tensor_meta": meta} for n in range(2000)
        }

    def with_call(**changes) -> bytes:
        return made(lambda parts: parts["graph"]["nodes"][0].update(changes))

    def with_model(text: bytes) -> bytes:
        return made(lambda parts: parts["files"].update({"models/model.json": text}))

    constant = {"path_name": "w0", "use_pickle": True, "tensor_meta": exported.meta(1)}
    own = {"arg": {"name": "o"}, "custom_obj_name": "os.system"}
    return {
        **{f"use_pickle = {value!r}": (flagged(value), "runs code") for value in (True, 1, "false", None, [], {})},
        "pickled payload without the flag": (flagged(False), "must be what its shape needs"),
        "pickled constants": (made(lambda parts: parts["constants"].update(c=constant)), "runs code"),
        "own object": (made(lambda parts: parts["inputs"].insert(0, {"custom_obj": own})), "custom_obj"),
        "call of Python": (with_call(target="os.system"), "operation os.system"),
        "call of Torch that writes": (with_call(target="torch.ops.aten.save.default"), "operation save"),
        "path outside": (made(lambda parts: parts["weights"]["0.weight"].update(path_name="../etc/passwd")), "has no"),
        "2000 tensors of 16 M numbers from 32 bytes": (made(wide), "what its shape needs"),
        "deep graph": (with_model(b"[" * 500_000), "Invalid JSON"),
        "long graph": (with_model(b"[" + b"0," * 3_000_000 + b"0]"), "Invalid JSON"),
        "code for numbers": (with_call(inputs="__import__('os').system('touch ran')"), "cannot be read|can be read"),
    }


def _zips() -> dict[str, tuple[bytes, str]]:
    pickled = Writer().pickle(Object("__torch__.M", weight=WEIGHT))
    entries: dict[str, bytes | str] = {"data.pkl": pickled, "constants.pkl": Writer().pickle(())}
    plain = zipped(entries)
    central = plain.index(b"PK\1\2")
    renamed = plain.replace(b"archive/data.pkl", b"archive/DATA.pkl", 1)
    huge = bytearray(plain)
    huge[central + 24 : central + 28] = struct.pack("<I", 0xFFFFFFF0)
    grown = bytearray(plain)
    grown[central + 24 : central + 28] = struct.pack("<I", len(pickled) + 1000)
    far = bytearray(plain)
    far[-6:-2] = struct.pack("<I", 0xFFFFFFF0)
    linked = io.BytesIO()
    with zipfile.ZipFile(linked, "w") as archive:
        link = zipfile.ZipInfo("archive/data.pkl")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("archive/constants.pkl", Writer().pickle(()))
    nested = zipped({"data.pkl": plain, "constants.pkl": plain})
    bomb = zipped({**entries, "data/0": b"\0" * (60 << 20)}, compression=zipfile.ZIP_DEFLATED)
    overlap = plain[:central] + 500 * plain[central : plain.index(b"PK\1\2", central + 4)] + plain[central:]
    return {
        "a bomb": (bomb, "swells"),
        "a bomb of 40 entries": (
            zipped(entries | {f"data/{n}": b"\0" * (8 << 20) for n in range(40)}, compression=zipfile.ZIP_DEFLATED),
            "at most",
        ),
        "a size of 4 GB": (bytes(huge), "at most"),
        "a size that is not there": (bytes(grown), "damaged|shorter|complete"),
        "other names inside": (renamed, "damaged|complete"),
        "a directory elsewhere": (bytes(far), "complete|first byte"),
        "a link": (linked.getvalue(), "pickle|damaged|opcode"),
        "an archive in the archive": (nested, "opcode"),
        "entries that overlap": (overlap, "complete|twice|first byte"),
        "dots": (zipped({**entries, ".././../x": b""}), "inside the archive"),
        "a drive": (zipped({**entries, "C:/x": b""}), "inside the archive"),
        "backslashes": (zipped({**entries, "..\\x": b""}), "inside the archive"),
        "nothing but its end": (b"PK\5\6" + b"\0" * 18, "of no known format"),
        "a name of 60 KB": (zipped({**entries, "../" + "n" * 60_000: b""}), "inside the archive"),
    }


def _torchscripts() -> dict[str, tuple[bytes, str]]:
    """Code that takes for ever, or too much memory, and pickles that do."""

    def code(body: str) -> bytes:
        return torchscript(Object("__torch__.M", weight=WEIGHT), forward(body))

    last = "\nreturn torch.linear(x, self.weight)"
    attributes = b"}(" + b"".join(b"X\6\0\0\0%06dN" % n for n in range(50_000)) + b"u"
    builds = attributes + b"q\0" + b"".join(name("__torch__", "M") + b")\x81h\0b" for _ in range(1000))
    storage = Writer().value(("storage", Raw(name("torch", "FloatStorage")), "0", "cpu", 1)) + b"Qq\1"
    rebuilt = (name("torch._utils", "_rebuild_tensor_v2") + b"(h\1K\0h\0h\0tR") * 3
    sizes = b"\x80\x02(" + b"K\1" * 90_000 + b"tq\0" + storage + rebuilt + b"."
    long = b"X" + struct.pack("<I", 9 + (4 << 20)) + b"__torch__" + b"." * (4 << 20) + b"q\0"
    return {
        "squared again and again": (code("y = 3\n" + "y = torch.mul(y, y)\n" * 99 + last), "64 bits"),
        "a tuple of 100000": (code("y = (" + "x," * 100_000 + ")" + last), "steps"),
        "a sum of 100000": (code("y = " + "1+" * 100_000 + "1" + last), "no code|nested"),
        "attributes of attributes": (code("y = x" + ".a" * 100_000 + last), "no code|nested"),
        "calls of calls": (code("y = x" + "()" * 100_000 + last), "no code|nested"),
        "not not not": (code("y = " + "not " * 50_000 + "x" + last), "no code|nested"),
        "else if else if": (code("if x:\n  pass\n" + "elif x:\n  pass\n" * 15_000 + last), "no code|nested|bytes of"),
        "brackets": (code("y = " + "(" * 100_000 + last), "no code"),
        "100 parallel lambdas": (code("y = " + "lambda: " * 90 + "x" + last), "constant"),
        "a decorator": (torchscript(Object("__torch__.M"), {"__torch__": "@exec\nclass M:\n  pass\n"}), "no forward"),
        "a default that calls": (
            torchscript(Object("__torch__.M", weight=WEIGHT), forward(last, "x: Tensor, y=exec('')")),
            "constant|inputs|forward",
        ),
        "f-strings": (code('y = f"{exec(1)}"' + last), "constant"),
        "a walrus": (code("y = (z := x)" + last), "constant"),
        "a torch operator that writes": (code("torch.save(x, 'ran')" + last), "operation save"),
        "from_file": (code("y = torch.from_file('/etc/passwd')" + last), "operation from_file"),
        "attributes set again and again": (with_pickle(b"\x80\x02" + builds + b"."), "sets more than 200000"),
        "a shape of 90000 axes": (zipped({"data.pkl": sizes, "data/0": b"\0" * 4}), "17 whole"),
        "a class with a name of 4 MB": (with_pickle(b"\x80\x04" + long + b"h\0h\0\x93" * 50 + b"."), "too long"),
    }


def _safetensors() -> dict[str, tuple[bytes, str]]:
    def made(header, body: bytes = b"", length: int | None = None) -> bytes:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return (len(text) if length is None else length).to_bytes(8, "little") + text + body

    def ours(operations, **tensors) -> bytes:
        about = {"format": "actuator network", "version": "1", "inputs": "2", "network": json.dumps(operations)}
        return made({"__metadata__": about, **tensors})

    def tensor(shape: list[int], *span: int, dtype: str = "F32") -> dict:
        return {"dtype": dtype, "shape": shape, "data_offsets": list(span)}

    first = {"operation": "Unary", "source": 0, "function": "neg", "numbers": []}
    part = {"operation": "Slice", "source": 1, "start": 0, "stop": 1}
    wide = [{"operation": "Concatenate", "sources": [n, n]} for n in range(40)]
    names = "{" + ",".join(f'"{n}":0' for n in range(200_000)) + ',"x":0,"x":0}'
    slow = "1" * 100_000 + "a.weight"
    return {
        "a header of 2^63 bytes": (made(b"{}", length=1 << 63), "of no known format"),
        "a header longer than the file": (made(b"{}", length=1000), "cut off"),
        "a tensor of 2^60 numbers": (made({"0.weight": tensor([2**30, 2**30], 0, 2**62)}), "must lie in the file"),
        "a tensor of no numbers and 2^62": (made({"0.weight": tensor([0, 2**62], 0, 0)}), "."),
        "two at one place": (
            made({"a": tensor([2], 0, 8), "b": tensor([2], 0, 8)}, b"\0" * 8),
            "overlap or leave gaps",
        ),
        "a span that runs backwards": (made({"a": tensor([0], 8, 0)}, b"\0" * 8), "must lie"),
        "numbers that are pickles": (made({"a": tensor([1], 0, 1, dtype="object")}, b"\0"), "has dtype"),
        "a shape of text": (made({"a": {"dtype": "F32", "shape": "exec", "data_offsets": [0, 0]}}), "whole numbers"),
        "a header that nests": (made(b'{"a":' + b"[" * 100_000), "Invalid JSON"),
        "a name 200000 times, one twice": (made(names.encode()), "comes twice"),
        "an operation that is code": (ours([{"operation": "__import__", "name": "os"}]), "operation 1"),
        "an operation that is a class": (ours([{"operation": "Network", "inputs": 2}]), "operation 1"),
        "an operation of itself": (ours([{**first, "source": 1}]), "not there yet"),
        "40 doublings of the width": (ours([*wide, {**part, "source": 40}]), "wider than"),
        "40000 operations": (ours([first] * 40_000 + [part]), "must be 2000 at most"),
        "5000 digits": (ours([{**first, "source": 0}], a=0).replace(b'"a": 0', b'"a": ' + b"9" * 5000), "."),
        "a name that takes for ever": (made({slow: tensor([1, 1], 0, 4)}, b"\0" * 4), "a name of 100008 letters"),
        "code for names": (
            made({"__import__('os').system('touch ran')": tensor([1, 2], 0, 8)}, b"\0" * 8),
            "no layer known",
        ),
    }


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    done = b""
    while value > 127:
        done += bytes([value & 127 | 128])
        value >>= 7
    return done + bytes([value])


def _node(kind: str, inputs: list[str], output: str, **attributes):
    import onnx

    return onnx.helper.make_node(kind, inputs, [output], **attributes)


def _model(nodes: list, *more, change: Callable = bool) -> bytes:
    """An ONNX file of two inputs and a weight `w`."""
    import onnx

    made, floats = onnx.helper, onnx.TensorProto.FLOAT
    initializers = [onnx.numpy_helper.from_array(WEIGHT.T.copy(), "w"), *more]
    ends = [[made.make_tensor_value_info(one, floats, ("n", size))] for one, size in (("x", 2), ("y", 1))]
    graph = made.make_graph(nodes, "g", *ends, initializers)
    model = made.make_model(graph, opset_imports=[made.make_opsetid("", 17)], ir_version=8)
    change(model)
    return model.SerializeToString()


def _onnx() -> dict[str, tuple[bytes, str]]:
    import onnx

    numbers = onnx.numpy_helper.from_array
    last = _node("MatMul", ["x", "w"], "y")

    def outside(location: str) -> bytes:
        def change(model) -> None:
            tensor = model.graph.initializer[0]
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", location), ("offset", "0"), ("length", "8")):
                tensor.external_data.add(key=key, value=value)

        return _model([last], change=change)

    def doubled(kind: str, first: str, axis: int, count: int) -> list:
        return [_node(kind, [first if not n else f"v{n}"] * 2, f"v{n + 1}", axis=axis) for n in range(count)]

    zero, one = numbers(np.array([0]), "zero"), numbers(np.array([1]), "one")
    wide = [*doubled("Concat", "x", 1, 40), _node("Slice", ["v40", "zero", "one", "one"], "y")]
    tall, flat = numbers(np.ones((4096, 1), np.float32), "p"), numbers(np.ones((1, 4096), np.float32), "q")
    many = numbers(np.zeros(200_000, np.int64), "many")
    deep = b""
    for _ in range(5000):
        deep = _field(1, _field(5, _field(6, deep)))
    return {
        **{
            f"numbers in {location}": (outside(location), "lies in another file")
            for location in ("/etc/passwd", "../../../../etc/passwd", "net.data", "http://127.0.0.1/x", "\\\\host\\x")
        },
        "an operator of a library": (_model([_node("Run", ["x"], "y", domain="com.microsoft")]), "com.microsoft"),
        "functions": (_model([last], change=lambda m: m.functions.add(name="f", domain="own")), "functions of its own"),
        "a loop": (_model([_node("Loop", ["", "", "x"], "y")]), "Loop"),
        "a circle": (_model([_node("Add", ["y", "x"], "a"), _node("Neg", ["a"], "y")]), "not there yet"),
        "40 doublings of a constant": (_model([*doubled("Concat", "zero", 0, 40), last], zero), "constant|numbers"),
        "40 doublings of the width": (_model([*wide, last], zero, one), "."),
        "40 doublings of the width, part of which is used": (_model(wide, zero, one), "initializers|wider"),
        "100 products of 16 M numbers": (
            _model([*(_node("Mul", ["p", "q"], f"c{n}") for n in range(100)), last], tall, flat),
            "constant numbers",
        ),
        "10^9 outputs": (_model([_node("Split", ["x"], "y", axis=1, num_outputs=10**9)]), "num_outputs"),
        "one number 200000 times": (_model([_node("Gather", ["x", "many"], "a", axis=1), last], many), "operations"),
        "a shape of 200000 lengths": (_model([_node("Reshape", ["x", "many"], "y")], many), "longer than"),
        "200000 axes": (_model([_node("Unsqueeze", ["x", "many"], "y")], many), "longer than"),
        "2^60 numbers": (_model([last], change=lambda m: m.graph.initializer[0].dims.__setitem__(0, 2**60)), "needs"),
        "a million empty nodes": (b"\x08\x08" + _field(7, b"\x0a\x00" * 1_000_000), "more than 100000 fields"),
        "a long shape": (b"\x08\x08" + _field(7, _field(5, _field(1, b"\1" * 1_000_000))), "more than 100000 fields"),
        "graphs in graphs": (b"\x08\x08" + _field(7, deep), "ONNX|unknown"),
        "a length beyond the file": (b"\x08\x08\x3a" + _varint(1 << 62), "whole ONNX"),
        "a number without end": (b"\x08" + b"\x08" + b"\xff" * 100, "whole ONNX"),
        "a group": (b"\x08\x08\x3b\x3c", "whole ONNX"),
    }
