"""One way from bytes to a network: by content, within bounds, without running anything, and with metadata merged."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.errors import NetworkError
from isaacsim.core.experimental.actuators.networks import onnx, read, safetensors
from isaacsim.core.experimental.actuators.networks.read import read_checkpoint
from small_networks import mlp, recurrent
from torch_archives import Object, forward, torchscript
from torch_corpus import files
from torch_stand_in import unrecognised

NETWORK = mlp("tanh", inputs=2)
GOOD = "return torch.linear(x, self.weight)"
needs_onnx = pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="onnx is not installed")


def test_a_checkpoint_holds_what_the_file_says() -> None:
    data = safetensors.write(NETWORK, {"pos_scale": 2.0})
    checkpoint = read_checkpoint(data, "net.pt")
    assert checkpoint.format == "safetensors" and checkpoint.metadata == {"pos_scale": 2.0}
    assert checkpoint.digest == hashlib.sha256(data).hexdigest()
    assert checkpoint.network.widths == NETWORK.widths


def test_metadata_given_go_before_the_sidecar_and_that_before_the_file() -> None:
    data = safetensors.write(NETWORK, {"pos_scale": 1.0, "vel_scale": 1.0, "effort_scale": 1.0})
    sidecar = b'{"pos_scale": 2.0, "vel_scale": 2.0}'
    checkpoint = read_checkpoint(data, "net", metadata={"pos_scale": 3.0}, sidecar=sidecar)
    assert checkpoint.metadata == {"pos_scale": 3.0, "vel_scale": 2.0, "effort_scale": 1.0}
    with pytest.raises(NetworkError, match=r"^net: sidecar"):
        read_checkpoint(data, "net", sidecar=b"[]")


def test_metadata_that_do_not_fit_are_refused() -> None:
    with pytest.raises(NetworkError, match=r"^/Robot/net: metadata model_type = 'lstm'"):
        read_checkpoint(safetensors.write(NETWORK, {"model_type": "lstm"}), "/Robot/net")


@needs_onnx
def test_the_name_decides_nothing() -> None:
    assert read_checkpoint(onnx.write(recurrent("gru", 1), {}), "net.safetensors").format == "onnx"


def test_who_lacks_the_library_is_told_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NetworkError, match=r"^net: .*pip install 'articulation-actuators\[nets\]'"):
        read_checkpoint(b"\x08\x08", "net")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is an empty file"),
        (pickle.dumps({"a": 1}), "is a Python pickle"),
        (b"PK\3\4" + b"\0" * 100, "is a zip file, but none that PyTorch writes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS has not fetched"),
        (b"<html>", "a web page"),
        (b'{"a": 1}', "JSON"),
        (b"\x7fELF\2\1\1\0\0", "begins with b'\\x7fELF"),
    ],
)
def test_what_is_not_recognised_is_named_with_what_to_do(data: bytes, says: str) -> None:
    with pytest.raises(NetworkError) as error:
        read_checkpoint(data, "robot.usd's net")
    assert str(error.value).startswith("robot.usd's net: ") and says in str(error.value)
    assert "torch.onnx.export" in str(error.value)


def test_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read.LARGEST == 64 * 2**20
    data = safetensors.write(NETWORK, {})
    monkeypatch.setattr(read, "LARGEST", len(data) - 1)
    with pytest.raises(NetworkError, match="Use a smaller network"):
        read_checkpoint(data, "net")


def test_whatever_else_fails_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(safetensors, "read", fail)
    with pytest.raises(NetworkError, match=r"^net: MemoryError\('no more'\)"):
        read_checkpoint(safetensors.write(NETWORK, {}), "net")


def test_changed_bytes_are_read_or_one_error() -> None:
    data = safetensors.write(recurrent("lstm", 2), {"pos_scale": 2})
    random = np.random.default_rng(0)
    for _ in range(500):
        changed = bytearray(data)
        for place in random.integers(0, len(data) // 2, 2):
            changed[place] = random.integers(256)
        try:
            read_checkpoint(bytes(changed), "net")
        except NetworkError:
            continue


# what reading a file has no need of: to run, open, send or load anything
WATCH = """
    import sys, json
    from isaacsim.core.experimental.actuators.networks.read import read_checkpoint
    try:
        import onnx
    except ImportError:
        pass
    assert not {"torch", "onnxruntime"} & set(sys.modules)
    files = [open(path, "rb").read() for path in sys.argv[1:]]
    seen = []
    kinds = ("exec", "subprocess", "socket", "os.", "pickle", "open", "ctypes", "shutil", "import", "marshal", "code.")

    def hook(event, arguments):
        # the parser looks for the line of an error in a file of that name
        if event.startswith(kinds) and (event, *arguments[:2]) != ("open", "<unknown>", "rb"):
            seen.append([event, repr(arguments)[:200]])

    # what is loaded on first use is loaded now
    for data in files[:2]:
        read_checkpoint(data, "first")
    sys.addaudithook(hook)
    said = []
    for data in files:
        try:
            said.append(read_checkpoint(data, "net").format)
        except ValueError as error:
            said.append(str(error)[:4])
    print(json.dumps([said, seen, [one for one in ("torch", "onnxruntime", "pickle") if one in sys.modules]]))
"""


def test_reading_runs_opens_and_sends_nothing(tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "ran",))

    good = safetensors.write(NETWORK, {})
    contents = [good, pickle.dumps(Payload()), good[:40], b"PK\3\4" + pickle.dumps(Payload())]
    wanted = ["safetensors", "net:", "net:", "net:"]
    if importlib.util.find_spec("onnx"):
        contents += [b"\x08\x08garbage", onnx.write(NETWORK, {}), onnx.write(recurrent("lstm", 2), {})]
        wanted += ["net:", "onnx", "onnx"]
        # the first use of protobuf's parser
        contents.insert(0, contents[-1])
        wanted.insert(0, "onnx")
    # the first use of a zip archive
    contents.insert(0, torchscript(Object("__torch__.M", weight=np.ones((1, 2), np.float32)), forward(GOOD)))
    wanted.insert(0, "torchscript")
    # what only Torch could run, and what means harm
    hostile = [data for data, _ in unrecognised().values()] + list(files().values())
    contents += hostile
    wanted += ["net:"] * len(hostile)
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / f"{number}.pt")
        paths[-1].write_bytes(content)
    command = [sys.executable, "-c", textwrap.dedent(WATCH), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said, seen, loaded = json.loads(done.stdout)
    assert said == wanted and seen == [] and not (tmp_path / "ran").exists()
    assert not {"torch", "onnxruntime"} & set(loaded)
