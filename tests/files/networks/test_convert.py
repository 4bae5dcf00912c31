"""Conversion between formats: results are the same, metadata are kept, and a failure leaves no file."""

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import FORMATS, KINDS, checkpoint_file, network
from isaacsim.core.experimental.actuators import convert_checkpoint, load_metadata
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import convert, safetensors
from isaacsim.core.experimental.actuators.files.networks.convert import compare
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from isaacsim.core.experimental.actuators.laws.networks.network import Linear, Network, Unary
from network_oracle import evaluate
from refusals import cases, refused
from small_networks import NETWORKS

REAL = os.environ.get("ACTUATOR_NETS", "")
TARGETS = (".onnx", ".safetensors")
# unknown keys are kept too
METADATA = {"effort_scale": 20.0, "sample_dt": 0.005, "author": "bench 4 µ", "log": {"runs": [1, 2], "ok": None}}
needs_onnx = pytest.mark.skipif(importlib.util.find_spec("onnx") is None, reason="onnx is not installed")
links = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "knee.pt"
    path.write_bytes(checkpoint_file("torchscript", "lstm", METADATA))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@needs_onnx
@cases("ending", *TARGETS)
@cases("kind", *KINDS)
@cases("format", *FORMATS)
def test_every_format_is_converted_bit_for_bit(format, kind, ending, tmp_path) -> None:
    source, target = tmp_path / "old.bin", tmp_path / f"new{ending}"
    source.write_bytes(checkpoint_file(format, kind, METADATA))
    assert convert_checkpoint(source, target) == convert.Comparison(0.0, 1600)
    made = load_checkpoint(target)
    assert made.format == ending[1:] and made.metadata.items() >= METADATA.items()
    # compared with the original network too, not only with the file that was read
    assert compare(network(kind), made.network).difference == 0.0
    assert names(tmp_path) == sorted([source.name, target.name])


@needs_onnx
@cases("name", *NETWORKS)
def test_every_operation_is_converted_bit_for_bit(name, tmp_path) -> None:
    source, onnx, back = (tmp_path / one for one in ("a.safetensors", "b.onnx", "c.safetensors"))
    said = {"input_idx": [0, 1, 2]} if NETWORKS[name].kind == "mlp" else {}
    source.write_bytes(safetensors.write(NETWORKS[name], said))
    assert convert_checkpoint(source, onnx).difference == convert_checkpoint(onnx, back).difference == 0.0
    assert compare(NETWORKS[name], load_checkpoint(back).network).difference == 0.0


def test_metadata_given_and_of_the_json_file_are_in_the_new_file(source) -> None:
    source.with_suffix(".json").write_text('{"effort_scale": 21.0, "pos_scale": 2.0, "note": "a"}')
    target = source.with_name("hip.safetensors")
    convert_checkpoint(source, target, {"note": "b", "input_idx": (0,)})
    assert load_metadata(target) == METADATA | {"effort_scale": 21.0, "pos_scale": 2.0, "note": "b", "input_idx": [0]}
    assert not target.with_suffix(".json").exists()


def test_json_beside_the_target_may_not_say_otherwise(source) -> None:
    """It would go before the metadata of the new file and change its results."""
    beside = source.with_suffix(".json")
    beside.write_text('{"effort_scale": 21.0}')
    target = source.with_suffix(".safetensors")
    with pytest.raises(NetworkError, match=r"knee\.json says otherwise of effort_scale"):
        convert_checkpoint(source, target, {"effort_scale": 22.0})
    assert names(source.parent) == ["knee.json", "knee.pt"]
    # equal metadata are accepted
    convert_checkpoint(source, target)
    assert load_metadata(target)["effort_scale"] == 21.0
    beside.write_text("{")
    with pytest.raises(NetworkError, match="Invalid JSON"):
        convert_checkpoint(source.with_suffix(".safetensors"), source.with_name("knee.safetensors"))


@cases("name", "knee", "knee.pt2", "knee.json", ".onnx")
def test_ending_says_what_to_write(name, source) -> None:
    with pytest.raises(NetworkError, match=r"must end in \.onnx or \.safetensors"):
        convert_checkpoint(source, source.with_name(name))


def test_endings_in_capitals_do(source) -> None:
    convert_checkpoint(source, source.with_name("KNEE.SafeTensors"))
    assert load_checkpoint(source.with_name("KNEE.SafeTensors")).format == "safetensors"


def test_who_lacks_onnx_is_told_the_extra(source, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NetworkError, match=r"knee\.onnx: .*pip install .*\[nets\]'"):
        convert_checkpoint(source, source.with_suffix(".onnx"))
    assert names(source.parent) == ["knee.pt"]


def scaled(network: Network, factor: float) -> Network:
    last = network.operations[-1]
    assert isinstance(last, Linear)
    changed = Linear(last.source, last.weight, last.bias * np.float32(factor))
    return Network(network.inputs, (*network.operations[:-1], changed))


def another(_: Network, said: Mapping) -> bytes:
    return safetensors.write(Network(2, (Linear(0, np.ones((1, 2), np.float32), np.ones(1, np.float32)),)), said)


WRONG: dict[str, tuple[Callable[[Network, Mapping], bytes], str]] = {
    "another bias": (lambda net, said: safetensors.write(scaled(net, 1.001), said), "would differ by"),
    "another network": (another, "must take and remember the same"),
    "nothing": (lambda net, said: b"", "empty file"),
    "half of it": (lambda net, said: safetensors.write(net, said)[:-200], "knee"),
    "fewer metadata": (lambda net, said: safetensors.write(net, {"author": "bench 4 µ"}), "effort_scale.* would be"),
}


@cases("existing", False, True)
@cases("name", *WRONG)
def test_file_that_is_not_the_network_is_not_kept(name, existing, source, monkeypatch) -> None:
    write, says = WRONG[name]
    monkeypatch.setitem(convert.WRITERS, ".safetensors", write)
    target = source.with_suffix(".safetensors")
    if existing:
        target.write_bytes(b"before")
    refused(NetworkError, lambda: convert_checkpoint(source, target), says)
    assert names(source.parent) == ["knee.pt", *(["knee.safetensors"] if existing else [])]
    assert not existing or target.read_bytes() == b"before"


@cases("step", "write_bytes", "replace")
def test_disk_that_fails_leaves_nothing(step, source, monkeypatch) -> None:
    target = source.with_suffix(".safetensors")
    target.write_bytes(b"before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, step, fail)
    refused(OSError, lambda: convert_checkpoint(source, target), r"knee\.safetensors: .*No space left.* Make room")
    assert names(source.parent) == ["knee.pt", "knee.safetensors"] and target.read_bytes() == b"before"


@links
def test_link_is_followed(source, tmp_path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = source.with_suffix(".safetensors")
    link.symlink_to(folder / "real.safetensors")
    for _ in range(2):
        convert_checkpoint(source, link)
        assert link.is_symlink() and load_checkpoint(folder / "real.safetensors").format == "safetensors"
        assert names(folder) == ["real.safetensors"]
    # JSON files beside the link and beside its target are read
    link.with_suffix(".json").symlink_to(folder / "none.json")
    refused(FileNotFoundError, lambda: convert_checkpoint(source, link))
    link.with_suffix(".json").unlink()
    (folder / "real.json").write_text('{"effort_scale": 1.0}')
    refused(NetworkError, lambda: convert_checkpoint(source, link), r"real\.json says otherwise")


@links
def test_target_is_a_file(source, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    (tmp_path / "folder.onnx").mkdir()
    (tmp_path / "loop.onnx").symlink_to(tmp_path / "loop.onnx")
    for name in ("pipe", "folder", "loop"):
        with pytest.raises(NetworkError, match=rf"{name}\.onnx: must be a regular file"):
            convert_checkpoint(source, tmp_path / f"{name}.onnx")
    with pytest.raises(FileNotFoundError, match="No such folder"):
        convert_checkpoint(source, tmp_path / "none" / "knee.safetensors")


@links
def test_mode_is_that_of_any_new_file(source) -> None:
    before = os.umask(0o027)
    try:
        convert_checkpoint(source, source.with_suffix(".safetensors"))
    finally:
        os.umask(before)
    assert source.with_suffix(".safetensors").stat().st_mode & 0o777 == 0o640


def test_file_is_converted_in_place(tmp_path) -> None:
    path = tmp_path / "knee.safetensors"
    path.write_bytes(checkpoint_file("state dict", "gru", METADATA))
    convert_checkpoint(path, path, {"author": "me"})
    made = load_checkpoint(path)
    assert made.format == "safetensors" and made.metadata["author"] == "me"
    assert compare(network("gru"), made.network).difference == 0.0 and names(tmp_path) == [path.name]


@cases("value", float("nan"), float("inf"), {1, 2}, b"x")
def test_metadata_that_are_no_json_are_refused(value, source) -> None:
    with pytest.raises(NetworkError, match=r"hip\.safetensors: metadata: .* must be JSON"):
        convert_checkpoint(source, source.with_name("hip.safetensors"), {"note": value})
    assert names(source.parent) == ["knee.pt"]


def linear(weight: float, bias: float = 0.0) -> Network:
    return Network(1, (Linear(0, np.full((1, 1), weight, np.float32), np.full(1, bias, np.float32)),))


def test_comparison_sees_small_differences_at_small_inputs() -> None:
    assert compare(linear(3.0), linear(3.0)).difference == 0.0
    assert compare(linear(3.0), linear(3.0, 1e-30)).difference == np.inf
    assert compare(linear(3.0, 1.0), linear(3.0, 1.0 + 2e-6)).difference == pytest.approx(2e-6, rel=0.1)
    bent = Network(1, (*linear(1.0).operations, Unary("clamp", 1, (-1e5, 1e5))))
    assert compare(linear(1.0), bent).difference > 0.5


def test_comparison_looks_at_what_is_remembered() -> None:
    first = network("lstm")
    cell = first.cells[0]
    bias = cell.bias.copy()
    bias[4] += 1e-4
    second = Network(2, (type(cell)(0, 0, cell.weight_ih, cell.weight_hh, bias), *first.operations[1:]))
    head = first.operations[-1]
    assert isinstance(head, Linear)
    mute = Linear(head.source, np.zeros_like(head.weight), np.ones_like(head.bias))
    first, second = (Network(2, (*one.operations[:-1], mute)) for one in (first, second))
    assert compare(first, second).difference > 1e-6


def test_comparison_knows_what_is_not_finite() -> None:
    large = Network(1, (*linear(1.0).operations, Unary("exp", 1)))
    assert compare(large, large).difference == 0.0
    assert compare(large, Network(1, (*linear(1.0).operations, Unary("softplus", 1, (1.0,))))).difference == np.inf
    never = Network(1, (*linear(0.0, -1.0).operations, Unary("log", 1)))
    refused(NetworkError, lambda: compare(never, never), "no finite output")


@needs_onnx
@pytest.mark.filterwarnings("ignore")  # of Torch, while it writes
@cases("ending", *TARGETS)
@cases("kind", "LSTM", "GRU", "MLP")
@cases("way", "script", "trace", "export")
def test_files_of_torch_compute_the_same_when_converted(way, kind, ending, tmp_path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    module, given = _module_of_torch(torch, kind)
    source, target = tmp_path / ("net.pt2" if way == "export" else "net.pt"), tmp_path / f"net{ending}"
    if way == "export":
        n = torch.export.Dim("n", min=1, max=9999)
        states = {"LSTM": ({1: n}, {1: n}), "GRU": ({1: n},), "MLP": ()}[kind]
        torch.export.save(torch.export.export(module, given, dynamic_shapes=({0: n}, *states)), str(source))
    else:
        torch.jit.save(torch.jit.script(module) if way == "script" else torch.jit.trace(module, given), str(source))
    assert convert_checkpoint(source, target).difference == 0.0
    found = load_checkpoint(target)
    assert (found.format, found.network.kind) == (ending[1:], kind.lower())
    rng, hidden, cell, states = np.random.default_rng(1), None, None, given[1:]
    for _ in range(20):
        x = rng.normal(size=tuple(given[0].shape)).astype(np.float32)
        ours, hidden, cell = evaluate(found.network, x.reshape(3, 2), hidden, cell)
        with torch.no_grad():
            result = module(torch.tensor(x), *states)
        effort, *states = result if kind != "MLP" else (result,)
        expected = effort.numpy().reshape(-1)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def _module_of_torch(torch, kind: str) -> tuple:
    """Return a module that scales its inputs and output in its code, and arguments of three rows."""
    torch.manual_seed(3)
    nn = torch.nn

    class Scaled(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            cells = {"LSTM": nn.LSTM, "GRU": nn.GRU}.get(kind)
            self.cells = cells(2, 8, num_layers=2, batch_first=True) if cells else nn.Linear(2, 8)
            self.register_buffer("scale", torch.tensor([2.0, 0.25]))
            self.head = nn.Sequential(nn.Linear(8, 8), nn.Softsign(), nn.Linear(8, 1))

    class MLP(Scaled):
        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.head(self.cells(x * self.scale)) * 20.0

    class LSTM(Scaled):
        def forward(self, x, h, c):  # type: ignore[no-untyped-def]
            y, (h, c) = self.cells(x * self.scale, (h, c))
            return self.head(y[:, -1]) * 20.0, h, c

    class GRU(Scaled):
        def forward(self, x, h):  # type: ignore[no-untyped-def]
            y, h = self.cells(x * self.scale, h)
            return self.head(y[:, -1]) * 20.0, h

    states = [torch.zeros(2, 3, 8) for _ in range({"LSTM": 2, "GRU": 1, "MLP": 0}[kind])]
    x = torch.zeros((3, 2) if kind == "MLP" else (3, 1, 2))
    return {"LSTM": LSTM, "GRU": GRU, "MLP": MLP}[kind]().eval(), (x, *states)


@needs_onnx
@pytest.mark.skipif(not REAL, reason="ACTUATOR_NETS does not name the folder of the real networks")
@cases("ending", *TARGETS)
def test_real_network_is_converted(ending, tmp_path) -> None:
    path = Path(REAL) / "anydrive_v3_lstm.pt"
    assert convert_checkpoint(path, tmp_path / f"net{ending}").difference == 0.0
    assert compare(load_checkpoint(path).network, load_checkpoint(tmp_path / f"net{ending}").network).difference == 0.0
