"""Hostile files: nothing in them runs, and each gives one clear error that names its prim, at a bounded cost."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import FORMATS
from isaacsim.core.experimental.actuators import convert_checkpoint
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError, NetworkError
from isaacsim.core.experimental.actuators.files.networks import safetensors
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint, read_checkpoint
from isaacsim.core.experimental.actuators.files.usd.discover import discover
from isaacsim.core.experimental.actuators.laws.networks.evaluator import make_evaluator
from isaacsim.core.experimental.actuators.laws.networks.network import (
    MOST_OPERATIONS,
    Concatenate,
    Network,
    Slice,
    Unary,
)
from malicious_networks import MARK, doubled, good, harmless, malicious
from network_oracle import evaluate
from places import REPOSITORY
from pxr import Usd
from torch_stand_in import unrecognised

pytestmark = pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="onnx is not installed")
posix = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
# limits for the most expensive file; a good file takes milliseconds
SECONDS, MEGABYTES = 20.0, 640
METADATA = {"input_idx": [0]}
ROOT = "/Robot"


@pytest.fixture(scope="module")
def corpus() -> dict[str, tuple[bytes, str]]:
    return malicious()


@pytest.mark.slow
def test_each_is_one_clear_error(corpus) -> None:
    wrong: dict[str, str] = {}
    for key, (data, told) in corpus.items():
        began = time.perf_counter()
        try:
            wrong[key] = f"was read as {read_checkpoint(data, 'knee').format}"
            continue
        except NetworkError as error:
            text = str(error)
        if not text.startswith("knee: ") or not re.search(told, text):
            wrong[key] = text[:300]
        elif len(text) > 1000 or not text.endswith((".", ")")):
            wrong[key] = f"{len(text)} letters, ends in {text[-50:]!r}"
        elif (took := time.perf_counter() - began) > SECONDS:
            wrong[key] = f"took {took:.1f} s"
    assert not wrong and len(corpus) > 150


@pytest.mark.parametrize("format", FORMATS)
def test_file_cut_off_anywhere_is_one_error(format) -> None:
    data, random = good(format, {"effort_scale": 20.0}), np.random.default_rng(0)
    for end in sorted({*range(40), *range(0, len(data), max(len(data) // 150, 1)), *range(len(data) - 40, len(data))}):
        try:
            found = read_checkpoint(data[:end], "knee")
        except NetworkError:
            continue
        # a message of protobuf has no end: only metadata after the graph were cut off
        assert format == "onnx" and end not in range(40)
        assert found.metadata == {} and evaluate(found.network, np.ones((1, 2))) is not None
    for _ in range(100):
        place = int(random.integers(len(data)))
        changed = data[:place] + random.bytes(20) + data[place + 20 :]
        try:
            read_checkpoint(changed, "knee")
        except NetworkError:
            continue


WATCH = """
    import json, sys, time
    from pathlib import Path
    try:
        import resource
    except ImportError:
        resource = None
    import onnx
    from isaacsim.core.experimental.actuators.files.networks.load import read_checkpoint

    contents = {path.name: path.read_bytes() for path in sorted(Path(sys.argv[1]).iterdir())}
    seen, said, armed = [], {}, False

    def watch(event, arguments):
        if not armed:
            return
        # parsing text raises this event too, but creates no code
        compiled = event == "compile" and arguments[1] != "<unknown>"
        # after a failure Python looks for the text under this name
        if event == "open" and arguments[:2] == ("<unknown>", "rb"):
            return
        begins = (
            *("exec", "import", "os.", "subprocess", "socket", "pickle", "ctypes", "shutil", "urllib", "code.", "open"),
            *("marshal", "tempfile", "mmap", "glob", "pathlib", "pty", "signal", "fcntl", "cpython"),
            *("builtins.input", "builtins.breakpoint", "sys.set", "sys.add", "gc.", "winreg", "msvcrt"),
        )
        if compiled or event.startswith(begins):
            seen.append([event, repr(arguments)[:200]])

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 if resource else 0

    # first-use imports happen before the hook is armed
    for name in [name for name in contents if name.startswith("good")]:
        read_checkpoint(contents[name], name)
        assert not {"torch", "onnxruntime"} & set(sys.modules), name
    before = peak()
    sys.addaudithook(watch)
    for name, data in contents.items():
        armed = True
        try:
            said[name] = read_checkpoint(data, name).format
        except ValueError as error:
            said[name] = "refused"
        armed = False
        assert not {"torch", "onnxruntime"} & set(sys.modules), name
    print(json.dumps([said, seen, peak() - before]))
"""


@pytest.mark.slow
def test_nothing_runs_opens_or_sends(corpus, tmp_path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    contents = {f"good {format}": good(format) for format in FORMATS}
    contents |= {f"harmless {format}": data for format, data in harmless().items()}
    expected = {name: name.partition(" ")[2] for name in contents}
    for number, (data, _) in enumerate(corpus.values()):
        contents[f"{number:03}"] = data
        expected[f"{number:03}"] = "refused"
    # files that only Torch can run
    for number, (data, _) in enumerate(unrecognised().values()):
        contents[f"unknown {number}"] = data
        expected[f"unknown {number}"] = "refused"
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WATCH), str(folder)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said, seen, megabytes = json.loads(done.stdout)
    assert seen == [] and said == expected and megabytes < MEGABYTES and not (tmp_path / MARK).exists()


@pytest.mark.slow
def test_watch_sees_what_runs(tmp_path) -> None:
    """The hook would report each of these."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "good x").write_bytes(good("onnx"))
    for code in ("import pickle; pickle.loads(pickle.dumps(sys.exit))", "open('x')", "exec('1')", "__import__('wave')"):
        script = textwrap.dedent(WATCH).replace("    armed = True\n", f"    armed = True; {code}\n")
        done = subprocess.run(
            [sys.executable, "-c", script.replace("open('x')", "open(sys.argv[0] or 'x', 'a')"), str(folder)],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)[1], code


def test_largest_network_is_laid_out_soon() -> None:
    count = MOST_OPERATIONS - 2
    operations = (*[Unary("neg", 0)] * count, Concatenate(tuple(range(1, count + 1))), Slice(count + 1, 0, 1))
    began = time.perf_counter()
    network = read_checkpoint(safetensors.write(Network(2, operations), METADATA), "knee").network
    x, y = np.ones((1, 2), np.float32), np.zeros(1, np.float32)
    make_evaluator(network, 1).evaluate(x, y)
    assert y == -1.0 and time.perf_counter() - began < SECONDS


@pytest.mark.parametrize("format", ["torchscript", "pt2", "onnx"])
def test_forward_that_doubles_its_output_is_honoured(format, tmp_path) -> None:
    networks = []
    for number, data in enumerate(doubled()[format]):
        (tmp_path / f"{number}.pt").write_bytes(data)
        convert_checkpoint(tmp_path / f"{number}.pt", tmp_path / f"{number}.safetensors", METADATA)
        networks += [load_checkpoint(tmp_path / f"{number}{ending}").network for ending in (".pt", ".safetensors")]
    x = np.random.default_rng(0).normal(size=(5, 2))
    plain, plain_converted, twice, twice_converted = (evaluate(network, x)[0] for network in networks)
    assert np.abs(plain).max() > 0.1
    np.testing.assert_array_equal(twice, 2 * plain)
    np.testing.assert_array_equal(plain_converted, plain)
    np.testing.assert_array_equal(twice_converted, twice)


def stage_with(folder: Path, files: dict[str, str]) -> Usd.Stage:
    """A robot, written as text, whose joints have the networks at these paths."""
    joints = "".join(f'def PhysicsRevoluteJoint "{joint}" {{}}\n' for joint in files)
    actuators = "".join(
        f'def NewtonActuator "{joint}" (prepend apiSchemas = ["NewtonNeuralControlAPI"]) {{\n'
        f"    rel newton:targets = <{ROOT}/joints/{joint}>\n    asset newton:modelPath = @{path}@\n}}\n"
        for joint, path in files.items()
    )
    (folder / "robot.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "Robot"\n    metersPerUnit = 1\n)\n'
        'def Xform "Robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {\n'
        f'def "joints" {{\n{joints}}}\ndef "Actuators" {{\n{actuators}}}\n}}\n'
    )
    return Usd.Stage.Open(str(folder / "robot.usda"))


def parsed(stage: Usd.Stage, joints):
    return discover(stage, ROOT, [f"{ROOT}/joints/{joint}" for joint in joints], files=True)


def test_every_format_is_read_through_a_prim(tmp_path) -> None:
    files = {f"joint_{number}": f"./net_{number}.bin" for number in range(len(FORMATS))}
    for format, path in zip(FORMATS, files.values(), strict=True):
        (tmp_path / path).write_bytes(good(format))
    assert [spec.checkpoint.format for spec in parsed(stage_with(tmp_path, files), files)] == list(FORMATS)


@pytest.mark.slow
def test_every_problem_names_its_prim(corpus, tmp_path) -> None:
    files = {f"joint_{number:03}": f"./{number:03}.pt" for number in range(len(corpus))}
    for path, (data, _) in zip(files.values(), corpus.values(), strict=True):
        (tmp_path / path).write_bytes(data)
    with pytest.raises(ActuatorParseError) as caught:
        parsed(stage_with(tmp_path, files), files)
    issues = sorted(caught.value.issues)
    assert len(issues) == len(files)
    for issue, (joint, path), (_, told) in zip(issues, files.items(), corpus.values(), strict=True):
        assert issue.startswith(f"<{ROOT}/Actuators/{joint}>.newton:modelPath = '{path}' (")
        assert re.search(told, issue) and "\n" not in issue and len(issue) < 1200
        assert issue.endswith(("Or deactivate the prim.", "Use a smaller network."))


@posix
def test_what_is_no_file_names_its_prim(tmp_path) -> None:
    asset = tmp_path / "asset"
    asset.mkdir()
    (asset / "loop").symlink_to(asset / "loop")
    (asset / "one").symlink_to(asset / "two")
    (asset / "two").symlink_to(asset / "one")
    (asset / "device").symlink_to("/dev/zero")
    (asset / "away").symlink_to(tmp_path / "secret.onnx")
    (asset / "up").symlink_to(tmp_path)
    (tmp_path / "secret.onnx").write_bytes(good("onnx"))
    (asset / "folder").mkdir()
    os.mkfifo(asset / "pipe")
    with open(asset / "large", "wb") as large:
        large.truncate(1 << 40)
    (asset / "closed").write_bytes(good("onnx"))
    (asset / "pipe_beside.onnx").write_bytes(good("onnx"))
    os.mkfifo(asset / "pipe_beside.json")
    outside = "must lie in the folder of the layer"
    told = {
        "./loop": "no such file|cannot be read|symbolic",
        "./one": "no such file|cannot be read|symbolic",
        "./device": outside,
        "./away": outside,
        "./up/secret.onnx": outside,
        "../secret.onnx": outside,
        "/etc/passwd": outside,
        "/dev/zero": outside,
        "/proc/self/environ": outside,
        "./folder": "must be a regular file",
        "./pipe": "must be a regular file",
        "./large": "must be at most",
        "./pipe_beside.onnx": "must be a regular file",
        "file:///etc/passwd": "not a URL",
    }
    files = {f"joint_{number:02}": path for number, path in enumerate(told)}
    stage = stage_with(asset, files)
    began = time.perf_counter()
    with pytest.raises(ActuatorParseError) as caught:
        parsed(stage, files)
    assert time.perf_counter() - began < 5.0
    issues = sorted(caught.value.issues)
    assert len(issues) == len(files)
    for issue, (joint, path) in zip(issues, files.items(), strict=True):
        assert issue.startswith(f"<{ROOT}/Actuators/{joint}>.newton:modelPath = ")
        assert re.search(told[path], issue), issue
