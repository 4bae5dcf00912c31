"""Loading a checkpoint from a file: bounds, metadata beside the file, one copy of the numbers."""

import gc
import hashlib
import importlib.util
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import load, onnx, safetensors
from neural_twin import random_network, write_network
from refusals import cases, refused
from small_networks import mlp, recurrent

NETWORK = random_network("mlp", 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_network(tmp_path / "knee.safetensors", NETWORK, {"pos_scale": 2.0, "vel_scale": 3.0})


def test_metadata_by_who_says_it(path: Path) -> None:
    """The argument goes before the JSON file beside the network, which goes before the network's file."""
    assert load.load_metadata(path) == {"pos_scale": 2.0, "vel_scale": 3.0}
    path.with_suffix(".json").write_text('{"vel_scale": 4.0, "effort_scale": 5.0}')
    assert load.load_metadata(path) == {"pos_scale": 2.0, "vel_scale": 4.0, "effort_scale": 5.0}
    given = load.load_checkpoint(path, {"effort_scale": 6.0})
    assert given.metadata == {"pos_scale": 2.0, "vel_scale": 4.0, "effort_scale": 6.0}
    # and is not shared
    assert load.load_metadata(path)["effort_scale"] == 5.0


@cases("text", "", "{", "[]", '{"a": 1, "a": 2}', "\xff")
def test_json_beside_the_file_is_checked(text: str, path: Path) -> None:
    known = load.load_checkpoint(path)
    path.with_suffix(".json").write_text(text, "latin-1")
    refused(NetworkError, lambda: load.load_checkpoint(path), r"knee\.safetensors: .*sidecar")
    assert known.metadata


def test_same_bytes_are_one_checkpoint_while_it_is_used(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(path.read_bytes())
    first = load.load_checkpoint(path)
    assert load.load_checkpoint(copy) is first
    copy.with_suffix(".json").write_text('{"pos_scale": 9.0}')
    assert load.load_checkpoint(copy) is not first and load.load_checkpoint(path) is first
    before = len(load._known)
    del first
    gc.collect()
    assert len(load._known) < before or before == 0


@pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(ValueError, match="must be a regular file"):
            load.read_file(odd)
    with open(tmp_path / "large", "wb") as large:
        large.truncate(load.LARGEST + 1)
    refused(ValueError, lambda: load.read_file(tmp_path / "large"), f"has {load.LARGEST + 1} bytes: must be at most")
    refused(FileNotFoundError, lambda: load.read_file(tmp_path / "none"))


def test_link_is_followed_only_if_asked(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    assert load.read_file(tmp_path / "link") == path.read_bytes()
    refused(OSError, lambda: load.read_file(tmp_path / "link", follow=False))


def test_bytes_that_are_no_network(tmp_path: Path) -> None:
    refused(NetworkError, lambda: load.checkpoint_of(b"cos\nsystem\n(S'true'\ntR.", "knee"), "knee")


def apart(folder: Path, location: str, *, first: int = 8, count: int = 8, content: bytes | None = None) -> Path:
    """An ONNX file of effort = x @ [2, 3] with its weights in another file."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed: no file to read")
    make, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    weights = onnx.numpy_helper.from_array(np.array([[2.0], [3.0]], np.float32), "w")
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(first)), ("length", str(count))):
        weights.external_data.add(key=key, value=value)
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    ends = [[make(name, kind, ["rows", count])] for name, count in (("x", 2), ("y", 1))]
    graph = onnx.helper.make_graph([node], "g", *ends, [weights])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    (folder / "more").mkdir(exist_ok=True)
    (folder / "more" / "weights.bin").write_bytes(content or bytes(8) + np.array([2, 3], np.float32).tobytes())
    (folder / "knee.onnx").write_bytes(made.SerializeToString())
    return folder / "knee.onnx"


def test_weights_may_lie_in_the_folder_of_the_file(tmp_path: Path) -> None:
    first = load.load_checkpoint(apart(tmp_path, "more/weights.bin"))
    other = bytes(8) + np.array([4, 5], np.float32).tobytes()
    second = load.load_checkpoint(apart(tmp_path, "more/weights.bin", content=other))
    found = [one.network.operations[0].weight.tolist() for one in (first, second)]  # pyright: ignore
    assert found == [[[2.0, 3.0]], [[4.0, 5.0]]] and first.digest != second.digest


@cases(
    "location, bytes_of, told",
    ("../weights.bin", (8, 8), "must be a relative path to a file in the folder"),
    ("more/../../weights.bin", (8, 8), "must be a relative path to a file in the folder"),
    ("/etc/hostname", (0, 8), "must be a relative path to a file in the folder"),
    ("", (8, 8), "must be a relative path to a file in the folder"),
    ("link.bin", (8, 8), "must be a relative path to a file in the folder"),
    ("more", (8, 8), "must be a regular file"),
    ("gone.bin", (8, 8), "No such file"),
    ("more/weights.bin", (8, 9), "bytes 8 … 17 of 16: must be in the file"),
    ("more/weights.bin", (-8, 8), "bytes -8 … 0 of 16: must be in the file"),
    ("more/weights.bin", (8, 4), "has 1 numbers"),
)
def test_weights_elsewhere_are_refused(location: str, bytes_of: tuple[int, int], told: str, tmp_path: Path) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    (tmp_path / "weights.bin").write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    path = apart(folder, location, first=bytes_of[0], count=bytes_of[1])
    refused(NetworkError, lambda: load.load_checkpoint(path), rf"knee\.onnx: tensor 'w' .*{told}")
    # bytes without a folder have no other files
    with pytest.raises(NetworkError, match="must be inside, for this file is in no folder"):
        load.checkpoint_of(path.read_bytes(), "knee")


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for error in (NetworkError, FileNotFoundError):
        with pytest.raises(error, match=r"gone\.onnx does not exist: must be the path of a network file"):
            load.load_checkpoint(tmp_path / "gone.onnx")


READ_NETWORK = mlp("tanh", inputs=2)
needs_onnx = pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="onnx is not installed")


def test_a_checkpoint_holds_what_the_file_says() -> None:
    data = safetensors.write(READ_NETWORK, {"pos_scale": 2.0})
    checkpoint = load.read_checkpoint(data, "net.pt")
    assert checkpoint.format == "safetensors" and checkpoint.metadata == {"pos_scale": 2.0}
    assert checkpoint.digest == hashlib.sha256(data).hexdigest() and checkpoint.network.widths == READ_NETWORK.widths


def test_metadata_that_do_not_fit_are_refused() -> None:
    with pytest.raises(NetworkError, match=r"^metadata model_type = 'lstm' in /Robot/net: must be mlp"):
        load.read_checkpoint(safetensors.write(READ_NETWORK, {"model_type": "lstm"}), "/Robot/net")


@needs_onnx
def test_the_name_decides_nothing() -> None:
    assert load.read_checkpoint(onnx.write(recurrent("gru", 1), {}), "net.safetensors").format == "onnx"


def test_who_lacks_the_library_is_told_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    refused(NetworkError, lambda: load.read_checkpoint(b"\x08\x08", "net"), r"^net: .*pip install .*\[nets\]'")


@cases(
    "data, says",
    (b"", "is an empty file"),
    (pickle.dumps({"a": 1}), "is a Python pickle"),
    (b"PK\3\4" + b"\0" * 100, "is a zip file, but none that PyTorch writes"),
    (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS has not fetched"),
    (b"<html>", "a web page"),
    (b'{"a": 1}', "JSON"),
    (b"\x7fELF\2\1\1\0\0", "net: is of no known format: must be ONNX"),
)
def test_what_is_not_recognised_is_named_with_what_to_do(data: bytes, says: str) -> None:
    text = refused(NetworkError, lambda: load.read_checkpoint(data, "robot.usd's net"))
    assert text.startswith("robot.usd's net: ") and says in text
    assert "torch.onnx.export" in text and "ELF" not in text


def test_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load.LARGEST == 64 * 2**20
    data = safetensors.write(READ_NETWORK, {})
    monkeypatch.setattr(load, "LARGEST", len(data) - 1)
    refused(NetworkError, lambda: load.read_checkpoint(data, "net"), "Use a smaller network")


def test_whatever_else_fails_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(safetensors, "read", fail)
    with pytest.raises(NetworkError, match=r"^net: MemoryError\('no more'\)"):
        load.read_checkpoint(safetensors.write(READ_NETWORK, {}), "net")


def test_changed_bytes_are_read_or_one_error() -> None:
    data = safetensors.write(recurrent("lstm", 2), {"pos_scale": 2})
    random = np.random.default_rng(0)
    for _ in range(500):
        changed = bytearray(data)
        for place in random.integers(0, len(data) // 2, 2):
            changed[place] = random.integers(256)
        try:
            load.read_checkpoint(bytes(changed), "net")
        except NetworkError:
            continue
