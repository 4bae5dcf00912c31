"""Broken files: robots, graphs and networks with bits, bytes, words, fields and chunks turned, cut or doubled, opened.

    ./python.sh tests/hardening/files.py --count 2000 --seed 1

Of each kind, .usda, .usdc, .usdz, action graphs and networks in .onnx, `--count` variants are opened, a process each,
by `inspect_robots`, `lint` and `Simulation` with its actuators or graphs; networks by actuators that step with them.
Counted is how each ends: read *fine*, or refused with one error of a documented kind that names the file or a prim;
*foreign* is an error of another kind or library, or one that names neither; *hung* takes more than 10 s of processor
time, *memory* more than 1 GB beyond 100 times its size. Exits with 1 when there is any of these, or one that *crashed*;
binary USD files may do so in USD itself, which is counted only: `lint --untrusted` is for those.
`--only KIND:NUMBER` shows one again.
"""

import argparse
import copy
import importlib
import json
import math
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("support", "files/networks")]
DATA = Path(__file__).parents[2] / "data"
# limits of a task: processor time [s], time at all [s], memory [bytes] beyond what the size of a file justifies
PROCESSOR, WALL, MEMORY = 10, 60.0, 1 << 30
# bytes of memory that a byte of a file justifies
PER_BYTE = 100
# processes at a time, and files shown of each kind of failure
AT_ONCE, SHOWN = 2, 8
KINDS = ("usda", "usdc", "usdz", "graph", "onnx")
# numbers that stand for counts and offsets
COUNTS = (0, 1, 2**31 - 1, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
BAD = ("foreign", "crashed", "hung", "memory")
# how USD itself may end on binary files, which it reads without bounds
OF_USD = dict.fromkeys(("usdc", "usdz"), ("crashed", "hung", "memory"))
# words that a text may have in place of another
WORDS = (
    b'nan inf -inf 1e999 -1 0 2000000000 -9223372036854775808 1e-320 None true [] () {} @@ <> <..> </> "" "((a+)+)+$" '
    b'@/dev/zero@ @/dev/stdin@ @/proc/self/mem@ "\xff\xfe" "\\x00" over class def double[] float3[] token[] asset '
    b"string opaque dictionary matrix4d pathExpression timecode timeSamples inherits references payload variantSet "
    b"Sphere Mesh PhysicsScene NewtonActuator OmniGraph custom uniform rel delete reorder append"
).split(b" ")
# what an attribute may be instead, in words that USD reads
VALUES = (
    b"float = nan;float = -1;float = inf;double = 1e308;int = -2147483648;int64 = 9223372036854775807;bool = true;"
    b'string = "abc";string = "((a+)+)+$";token = "";token = "X";asset = @/dev/zero@;asset = @../../../etc/passwd@;'
    b'float[] = [];float[] = [nan, 1];double[] = [1, 2, 3];int[] = [-1, 2000000000];string[] = ["a"];token[] = [];'
    b"float3 = (0, 0, 0);float3 = (nan, inf, 1);float3[] = [(1, 2, 3)];double3 = (1e300, 0, 0);quatf = (0, 0, 0, 0);"
    b'matrix4d = ((0,0,0,0),(0,0,0,0),(0,0,0,0),(0,0,0,0));timecode = 1;pathExpression = "//";float = None;unknown = 3;'
    b'unknown[] = [1, 2];string = "\xff\xfe";half = 65504;uchar = 255;uint64 = 18446744073709551615;dictionary = {}'
).split(b";")
TYPES = (
    b"Sphere Cube Cylinder Cone Capsule Mesh Plane Points Xform Scope PhysicsScene PhysicsRevoluteJoint PhysicsJoint "
    b"PhysicsPrismaticJoint PhysicsFixedJoint PhysicsSphericalJoint PhysicsCollisionGroup NewtonActuator MjcActuator "
    b"MjcTendon OmniGraph OmniGraphNode Material Unknown Capsule_1 Cylinder_1"
).split(b" ")
# what a field of a network may be instead, by the Python type that protobuf takes; words besides those in the file
FIELDS: dict[type, list] = {
    int: [*range(-3, 12), 16, 64, 100, 1000, 2**31 - 1, -(2**31), 2**32, 2**40, 2**63 - 1, -(2**63)],
    float: [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-45, 3e38, math.inf, -math.inf, math.nan],
    bool: [False, True],
    str: ["", "\0", "x" * 2000, *"../../etc/passwd /dev/zero ai.onnx com.microsoft é [1,2] nan -1".split()],
    bytes: [b"", b"\xff", b"\0" * 4, b"\0\0\x80\x7f", b"\0\0\xc0\x7f" * 9, b"x" * 1000, b"forward", b"bidirectional"],
}
# operators of a graph that are read, and some that are not
OPERATORS = (
    "Abs Elu Erf Exp LeakyRelu Log Neg Reciprocal Relu Sigmoid Softplus Sqrt Softsign Tanh Add Sub Mul Div Pow Min Max "
    "Constant Clip HardSigmoid HardSwish Gelu Mish Greater Where Swish Selu MatMul Gemm Identity Dropout Cast Concat "
    "Slice Split Gather Shape Squeeze Unsqueeze Reshape Flatten Transpose LSTM GRU RNN Loop If Expand Tile Conv"
).split()
ATTRIBUTES = (
    "axis axes perm to alpha beta gamma transA transB starts ends split num_outputs value value_float value_ints min "
    "max approximate saturate keepdims start end allowzero hidden_size direction activations layout linear_before_reset"
).split()


def networks(folder: Path) -> list[Path]:
    """Small networks in ONNX files: every operation that is written, and every operator that is read."""
    from isaacsim.core.experimental.actuators.files.networks import onnx
    from small_networks import NETWORKS
    from test_onnx import FITS, recurrent

    folder.mkdir(parents=True)
    made = {name: onnx.write(one, _about(one.inputs, one.kind)) for name, one in NETWORKS.items()}
    for name, model in {**FITS, "LSTM": recurrent("LSTM"), "GRU": recurrent("GRU")}.items():
        model = copy.deepcopy(model)
        model.metadata_props.add(key="metadata", value=json.dumps(_about(6, "mlp" if name in FITS else name)))
        made[f"{name} of nodes"] = model.SerializeToString()
    for name, data in made.items():
        (folder / f"{name.replace(' ', '_')}.onnx").write_bytes(data)
    return sorted(folder.iterdir())


def _about(inputs: int, kind: str) -> dict:
    return {"input_idx": list(range(inputs // 2)), "pos_scale": 0.5} if kind == "mlp" else {"effort_scale": 2.0}


def originals(kind: str, folder: Path) -> list[Path]:
    """Files to break, each with what it refers to beside it, in a folder as that of this repository's data."""
    if kind == "onnx":
        return networks(folder)
    from pxr import Sdf, UsdUtils

    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    robots = sorted((folder / "robots").glob("*.usda"))
    # the small ones three times as often
    robots += 2 * [robot for robot in robots if robot.stat().st_size < 30_000]
    if kind == "graph":
        return sorted((folder / "graphs").glob("*.usda"))
    if kind == "usda":
        return robots
    found = []
    for robot in robots:
        made = robot.with_suffix(f".{kind}")
        if not made.exists() and kind == "usdc":
            Sdf.Layer.FindOrOpen(str(robot)).Export(str(made))
        elif not made.exists():
            assert UsdUtils.CreateNewUsdzPackage(str(robot), str(made)), robot
        found.append(made)
    return found


def broken(rng: np.random.Generator, data: bytes, kind: str) -> bytes:
    text = ((0.6, _turn_meaning), (0.85, _turn_text))
    ways = {"usda": text, "graph": text, "onnx": ((0.5, _turn_network), (0.85, _turn_fields))}.get(kind, ())
    for _ in range(int(rng.choice([1, 1, 1, 1, 2, 2, 4, 16]))):
        how = rng.random() if ways else 1.0
        data = next((turn for share, turn in ways if how < share), _turn_bytes)(rng, data)
    return data


def _turn_network(rng: np.random.Generator, data: bytes) -> bytes:
    """The model with something in its graph that ONNX can say, and nobody expects."""
    import onnx

    model = _parsed(data)
    if model is None or not model.graph.node:
        return data

    def any_of(choices: Sequence):
        return choices[int(rng.integers(len(choices)))]

    nodes, graph = model.graph.node, model.graph
    place = int(rng.integers(len(nodes)))
    node = nodes[place]
    known = {one.name for one in (*graph.initializer, *graph.input)} | {name for one in nodes for name in one.output}
    # of names that are no text protobuf gives the bytes
    names = ["", *sorted(known, key=str)]
    try:
        match int(rng.integers(7)):
            case 0:
                node.op_type = any_of(OPERATORS)
            case 1:
                # of a name that is known, instead of one that is there
                made = onnx.helper.make_attribute(any_of(ATTRIBUTES), any_of(FIELDS[any_of([int, float, str])]))
                kept = [one for one in node.attribute if one.name != made.name]
                del node.attribute[:]
                node.attribute.extend([*kept, made])
            case 2 if node.input:
                node.input[int(rng.integers(len(node.input)))] = any_of(names)
            case 2 | 3:
                count = int(rng.integers(1, 4))
                before = (
                    [any_of(names) for _ in range(count)] if rng.random() < 0.5 else [*node.input[:1], any_of(names)]
                )
                new = onnx.helper.make_node(any_of(OPERATORS), before, ["between"])
                if node.input:
                    node.input[int(rng.integers(len(node.input)))] = "between"
                nodes.insert(place, new)
            case 4 | 5 if inside := [one for one in graph.initializer if not (one.data_location or one.external_data)]:
                tensor, helper = any_of(inside), onnx.numpy_helper
                tensor.CopyFrom(helper.from_array(_array(rng, helper.to_array(tensor)), tensor.name))
            case _:
                any_of(any_of(graph.input).type.tensor_type.shape.dim).dim_value = any_of(FIELDS[int])
    # what cannot be said, of a model that was turned before
    except Exception:
        return data
    return model.SerializeToString()


def _array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    numbers = FIELDS[int if array.dtype.kind == "i" else float]
    match int(rng.integers(6)):
        case 0:
            return array.reshape(-1)[: max(array.size - 1, 0)]
        case 1:
            return np.concatenate([array.reshape(-1)] * int(rng.integers(2, 40)))
        case 2:
            return np.expand_dims(array, int(rng.integers(array.ndim + 1)))
        case 3:
            return array.T.copy()
        case 4:
            return array.astype([np.float16, np.float32, np.float64, np.int32, np.int64][int(rng.integers(5))])
    changed = array.copy().reshape(-1)
    changed[int(rng.integers(max(array.size, 1))) :][:1] = numbers[int(rng.integers(len(numbers)))]
    return changed.reshape(array.shape)


def _parsed(data: bytes):
    import onnx

    try:
        return onnx.ModelProto.FromString(data)
    # of protobuf, which has its own
    except Exception:
        return None


def _turn_fields(rng: np.random.Generator, data: bytes) -> bytes:
    """The model with a field of its graph changed, taken away, given, or taken from elsewhere in it."""
    if (model := _parsed(data)) is None:
        return _turn_bytes(rng, data)
    messages = list(_messages(model))
    # those that there are few of as often as others
    kinds = sorted({one.DESCRIPTOR.name for one in messages})
    kind = kinds[int(rng.integers(len(kinds)))]
    alike = [one for one in messages if kind == one.DESCRIPTOR.name]
    one = alike[int(rng.integers(len(alike)))]
    there = [field for field, _ in one.ListFields()]
    if not (fields := [field for field in one.DESCRIPTOR.fields if rng.random() < 0.2 or field in there]):
        return data
    field = fields[int(rng.integers(len(fields)))]
    same = [other for other in messages if other.DESCRIPTOR is field.message_type]
    words = [node.op_type for node in model.graph.node] + [name for node in model.graph.node for name in node.input]
    try:
        _turn_field(rng, one, field, same, words)
    # what the field cannot hold
    except (TypeError, ValueError):
        return data
    return model.SerializeToString()


def _messages(message) -> Iterator:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if _is_list(value) else [value]:
                yield from _messages(part)


def _is_list(value) -> bool:
    return hasattr(value, "extend")


def _zero(field):
    known = {field.TYPE_STRING: "", field.TYPE_BYTES: b"", field.TYPE_FLOAT: 0.0, field.TYPE_DOUBLE: 0.0}
    return known.get(field.type, 0)


def _turn_field(rng: np.random.Generator, one, field, same: list, words: list[str]) -> None:
    """Change a field of a message; `same` are the messages of its type in the model, and `words` names in it."""
    values = getattr(one, field.name)

    def other(before):
        choices = FIELDS.get(type(before), [])
        if isinstance(before, str) and rng.random() < 0.6:
            choices = [*words, *OPERATORS]
        if isinstance(before, bytes) and before and rng.random() < 0.5:
            return _turn_bytes(rng, before)
        return choices[int(rng.integers(len(choices)))]

    def fill(part) -> None:
        if same and rng.random() < 0.8:
            # one within the other must not be copied in place
            part.ParseFromString(same[int(rng.integers(len(same)))].SerializeToString())

    how = rng.random()
    if not _is_list(values):
        if how < 0.2:
            one.ClearField(field.name)
        elif field.message_type is not None:
            values.SetInParent()
            fill(values)
        else:
            setattr(one, field.name, other(values))
        return
    at = int(rng.integers(len(values))) if len(values) else 0
    if len(values) and how < 0.3:
        del values[at]
    elif field.message_type is not None:
        if how < 0.6 and len(values) > 1:
            parts = [type(part).FromString(part.SerializeToString()) for part in values]
            parts.insert(int(rng.integers(len(parts))), parts.pop(at))
            del values[:]
            values.extend(parts)
        else:
            fill(values.add())
    elif len(values) and how < 0.7:
        values[at] = other(values[at])
    else:
        values.append(other(values[at] if len(values) else _zero(field)))


def _turn_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    size = max(len(data), 1)
    # headers and tables at the ends matter most
    at = int(rng.choice([rng.integers(size), rng.integers(min(size, 200)), size - 1 - rng.integers(min(size, 2000))]))
    end = min(size, at + int(rng.choice([1, 4, 8, 64, 1000, size // 4 + 1])))
    match int(rng.integers(7)):
        case 0 | 1:
            return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))] if data else b"x") + data[at + 1 :]
        case 2:
            return data[:at] + rng.bytes(min(end - at, 8)) + data[min(end, at + 8) :]
        case 3:
            return data[:at] + data[end:]
        case 4:
            return data[:end] + data[at:]
        case 5:
            return data[:at]
        case _:
            # a number as counts and offsets are written
            return data[:at] + COUNTS[int(rng.integers(len(COUNTS)))].to_bytes(8, "little") + data[at + 8 :]


def _turn_text(rng: np.random.Generator, data: bytes) -> bytes:
    words = [
        (found.start(), found.end()) for found in re.finditer(rb'"[^"\n]*"|@[^@\n]*@|<[^>\n]*>|[\w.:+\-\[\]]+', data)
    ]
    lines = data.splitlines(keepends=True)
    if not words:
        return data
    start, end = words[int(rng.integers(len(words)))]
    other = words[int(rng.integers(len(words)))]
    line = int(rng.integers(len(lines)))
    match int(rng.integers(6)):
        case 0 | 1:
            return data[:start] + WORDS[int(rng.integers(len(WORDS)))] + data[end:]
        case 2:
            return data[:start] + data[other[0] : other[1]] + data[end:]
        case 3:
            return b"".join(lines[:line] + lines[line + 1 :])
        case 4:
            return b"".join(lines[:line] + [lines[int(rng.integers(len(lines)))]] + lines[line:])
        case _:
            return data[:start] + data[end:]


def _turn_meaning(rng: np.random.Generator, data: bytes) -> bytes:
    if rng.random() < 0.2:
        prims = list(re.finditer(rb'(?<=def )\w+(?= ")', data))
        if not prims:
            return data
        found = prims[int(rng.integers(len(prims)))]
        return data[: found.start()] + TYPES[int(rng.integers(len(TYPES)))] + data[found.end() :]
    # an attribute or a relationship: what is before, type, name, value
    lines = list(re.finditer(rb"(?m)^(\s*(?:custom |uniform |prepend )*)([\w]+(?:\[\])?) ([\w:.]+)( = .*)?$", data))
    if not lines:
        return data
    found, other = (lines[int(rng.integers(len(lines)))] for _ in range(2))
    before, kind, name, value = (part or b"" for part in found.groups())
    kind_of_value, _, literal = VALUES[int(rng.integers(len(VALUES)))].partition(b" = ")
    line = (
        before.replace(b"prepend ", b"") + kind_of_value + b" " + name + b" = " + literal,
        before.replace(b"prepend ", b"") + kind_of_value + b" " + name + b" = " + literal,
        before + kind + b" " + name + b" = " + literal,
        before + kind + b" " + other[3] + value,
        b"rel " + name + b" = </World>",
        b"",
    )[int(rng.integers(6))]
    return data[: found.start()] + line + data[found.end() :]


def tasks(file: Path, kind: str) -> Iterator[tuple[str, Callable[[], object]]]:
    from isaacsim.core.experimental.actuators import (
        ActuatedArrays,
        ArticulationActuators,
        NeuralControlConfig,
        Simulation,
        inspect_robots,
        lint,
    )
    from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner

    def simulated() -> None:
        with Simulation(file, dt=1 / 240) as sim, ArticulationActuators("/"):
            sim.play()
            sim.step(2)

    def run() -> None:
        with Simulation(file, dt=1 / 240) as sim, GraphRunner(sim) as runner:
            sim.play()
            runner.run(6)
            assert all(error.startswith("</") for error in runner.errors), runner.errors

    def evaluate() -> None:
        with ActuatedArrays(["hip"], {"hip": [NeuralControlConfig(file)]}, 3) as actuated:
            q, qd, target = np.random.default_rng(0).normal(size=(3, 3, 1)).astype(np.float32)
            for _ in range(3):
                efforts = actuated.step(q, qd, target, 0.005)
                assert np.isfinite(efforts).all(), efforts

    if kind == "graph":
        yield "run", run
        return
    if kind == "onnx":
        yield "evaluate", evaluate
        return
    yield "inspect", lambda: inspect_robots(file)
    yield "lint", lambda: lint(file, dt=1 / 240)
    yield "simulate", simulated


def is_ours(error: BaseException, file: Path) -> bool:
    from isaacsim.core.experimental.actuators.base import errors

    own = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    if type(error) not in (ValueError, FileNotFoundError, *own) and type(error).__name__ != "GraphError":
        return False
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    text = str(error)
    # what nobody thought of, in words of ours
    if "cannot be read. Save the network again" in text:
        return False
    return "/actuators/" in last and (file.name in text or bool(re.search(r"(?:[<'(]|diverged: )/", text)))


def child(file: Path, kind: str, out: int) -> None:
    allowed = MEMORY + PER_BYTE * file.stat().st_size
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # addresses that are not used cost nothing: this only keeps the machine alive
    resource.setrlimit(resource.RLIMIT_AS, (6 * allowed + (16 << 30), resource.RLIM_INFINITY))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    warnings.simplefilter("ignore")
    for name, task in tasks(file, kind):
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + PROCESSOR + 1, int(used) + PROCESSOR + 1))
        os.write(out, json.dumps({"task": name}).encode() + b"\n")
        said = {"task": name, "end": "fine", "why": ""}
        try:
            task()
        except MemoryError:
            said |= {"end": "memory", "why": "MemoryError"}
        except BaseException as error:
            trace = [f"{Path(at.filename).name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)][-4:]
            why = f"{type(error).__name__}: {str(error)[:300]} at {' '.join(trace)}"
            said |= {"end": "refused" if is_ours(error, file) else "foreign", "why": why}
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        if grown > allowed:
            said |= {"end": "memory", "why": f"{grown / 1e9:.1f} GB; {said['why']}"}
        os.write(out, json.dumps(said).encode() + b"\n")


class Child:
    def __init__(self, file: Path, kind: str, number: int) -> None:
        self.file, self.number = file, number
        self.read, write = os.pipe()
        self.deadline = time.monotonic() + WALL
        self.text = b""
        self.pid = os.fork()
        if not self.pid:
            try:
                null = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(null, stream)
                child(file, kind, write)
            finally:
                os._exit(0)
        os.close(write)

    def ended(self) -> tuple[str, str] | None:
        if select.select([self.read], [], [], 0)[0] and (more := os.read(self.read, 1 << 16)):
            self.text += more
            self.deadline = time.monotonic() + WALL
            return None
        hung = time.monotonic() > self.deadline
        if hung:
            os.kill(self.pid, signal.SIGKILL)
        pid, status, _ = os.wait4(self.pid, 0 if hung else os.WNOHANG)
        if not pid:
            return None
        while more := os.read(self.read, 1 << 16):
            self.text += more
        os.close(self.read)
        said = [json.loads(line) for line in self.text.splitlines()]
        where = said[-1]["task"] if said else "before"
        if hung:
            return "hung", f"{where}: more than {WALL:g} s"
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            cpu = number in (signal.SIGXCPU, signal.SIGKILL)
            if cpu:
                return "hung", f"{where}: more than {PROCESSOR} s of processor time"
            return "crashed", f"{where}: {signal.Signals(number).name}"
        ends = [one for one in said if "end" in one]
        worst = max(ends, key=lambda one: ("fine", "refused", *BAD).index(one["end"]))
        return worst["end"], f"{worst['task']}: {worst['why']}"


def run_kind(kind: str, count: int, seed: int, only: int | None) -> Counter[str]:
    ends: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    bad = set(BAD).difference(OF_USD.get(kind, ()))
    with tempfile.TemporaryDirectory(prefix="files-") as name:
        folder = Path(name)
        # pxr has threads once it has worked: in a process of its own
        pid = os.fork()
        if not pid:
            (folder / "list").write_text("\n".join(map(str, originals(kind, folder / "data"))))
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        files = [Path(line) for line in (folder / "list").read_text().splitlines()]
        bytes_of = {file: file.read_bytes() for file in files}
        numbers = iter(range(count) if only is None else [only])
        working: list[Child] = []

        def start() -> None:
            if (number := next(numbers, None)) is None:
                return
            rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
            original = files[int(rng.integers(len(files)))]
            file = original.with_name(f"broken_{number}{original.suffix}")
            file.write_bytes(broken(rng, bytes_of[original], kind))
            if only is not None:
                kept = Path(tempfile.gettempdir()) / f"{kind}_{seed}_{number}_{original.stem}{original.suffix}"
                shutil.copy(file, kept)
                print(f"{original.name} as {kept}")
            working.append(Child(file, kind, number))

        for _ in range(AT_ONCE):
            start()
        while working:
            time.sleep(0.002)
            for one in list(working):
                if (ended := one.ended()) is None:
                    continue
                working.remove(one)
                one.file.unlink()
                ends[ended[0]] += 1
                reason = re.sub(r"\d+", "#", ended[1].rpartition(" at ")[2] or ended[1])
                if only is not None or (ended[0] in bad and not shown[reason] and len(shown) < 50 * SHOWN):
                    print(f"{ended[0]}, seed {seed}, {kind}:{one.number}: {ended[1]}", flush=True)
                shown[reason] += ended[0] in bad
                start()
    return ends


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="variants of each kind (default %(default)s)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: another one each time")
    parser.add_argument("--kind", choices=KINDS, action="append", help="of these files only")
    parser.add_argument("--only", help="this variant alone, KIND:NUMBER; it is kept in the folder of temporary files")
    args = parser.parse_args()
    # what every child needs, once; nothing is opened here
    for module in ("simulators.mujoco.host", "tools.stability.table", "files.networks.onnx", "loops.arrays"):
        importlib.import_module(f"isaacsim.core.experimental.actuators.{module}")
    for _ in tasks(Path(), "usda"):
        pass
    start, bad = time.perf_counter(), 0
    kinds, only = args.kind or KINDS, None
    if args.only:
        kinds, only = [args.only.partition(":")[0]], int(args.only.partition(":")[2])
    print(f"seed {args.seed}, {args.count} variants of each kind", flush=True)
    for kind in kinds:
        ends = run_kind(kind, args.count, args.seed, only)
        bad += sum(ends[end] for end in BAD if end not in OF_USD.get(kind, ()))
        told = ", ".join(f"{ends[end]} {end}" for end in ("fine", "refused", *BAD))
        print(f"{kind}: {told}; {time.perf_counter() - start:.0f} s", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
