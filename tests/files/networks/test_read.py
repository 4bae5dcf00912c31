"""Reading a network from bytes: by content, within bounds, without running anything, and with metadata merged."""

import hashlib
import importlib.util
import pickle
import sys

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import onnx, read, safetensors
from isaacsim.core.experimental.actuators.files.networks.read import read_checkpoint
from refusals import refused
from small_networks import mlp, recurrent

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
    refused(NetworkError, lambda: read_checkpoint(data, "net", sidecar=b"[]"), r"^net: sidecar")


def test_metadata_that_do_not_fit_are_refused() -> None:
    with pytest.raises(NetworkError, match=r"^metadata model_type = 'lstm' in /Robot/net: must be mlp"):
        read_checkpoint(safetensors.write(NETWORK, {"model_type": "lstm"}), "/Robot/net")


@needs_onnx
def test_the_name_decides_nothing() -> None:
    assert read_checkpoint(onnx.write(recurrent("gru", 1), {}), "net.safetensors").format == "onnx"


def test_who_lacks_the_library_is_told_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    refused(NetworkError, lambda: read_checkpoint(b"\x08\x08", "net"), r"^net: .*pip install .*\[nets\]'")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is an empty file"),
        (pickle.dumps({"a": 1}), "is a Python pickle"),
        (b"PK\3\4" + b"\0" * 100, "is a zip file, but none that PyTorch writes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS has not fetched"),
        (b"<html>", "a web page"),
        (b'{"a": 1}', "JSON"),
        (b"\x7fELF\2\1\1\0\0", "net: is of no known format: must be ONNX"),
    ],
)
def test_what_is_not_recognised_is_named_with_what_to_do(data, says) -> None:
    with pytest.raises(NetworkError) as error:
        read_checkpoint(data, "robot.usd's net")
    assert str(error.value).startswith("robot.usd's net: ") and says in str(error.value)
    assert "torch.onnx.export" in str(error.value) and "ELF" not in str(error.value)


def test_size_is_bounded(monkeypatch) -> None:
    assert read.LARGEST == 64 * 2**20
    data = safetensors.write(NETWORK, {})
    monkeypatch.setattr(read, "LARGEST", len(data) - 1)
    refused(NetworkError, lambda: read_checkpoint(data, "net"), "Use a smaller network")


def test_whatever_else_fails_is_one_error(monkeypatch) -> None:
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
