"""Files that only Torch can run, and something in Torch's place that runs them where Torch is not installed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.files.networks import load as loading
from isaacsim.core.experimental.actuators.laws.networks.torch_network import TorchNetwork
from torch_archives import Raw, name, state_dict, zipped
from torch_corpus import bad_pickles, with_forward

UNKNOWN = with_forward("return torch.ldexp(torch.linear(x, self.weight), 1)")
"""A TorchScript archive with an operation that is not known."""


def unrecognised() -> dict[str, tuple[bytes, str]]:
    module = zipped({"data.pkl": bad_pickles()["a module"][0]})
    held = state_dict({"model": Raw(name("torch.nn", "Linear") + b")\x81")})
    export = zipped({"archive_format": "pt2", "models/model.json": "{}", "byteorder": "little"})
    return {
        "an unknown operation": (UNKNOWN, "operation ldexp"),
        "a file written": (with_forward('torch.save(x, "written")\nreturn x'), "operation save"),
        "a pickled module": (module, "pickle names torch.nn.modules.linear.Linear"),
        "a dict with a module": (held, "pickle names torch.nn.Linear"),
        "an unknown graph": (export, "archive has no"),
        "an old file": (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9\x20j\xa8P\x19.", "before PyTorch 1.6"),
    }


class StandIn(TorchNetwork):
    """What Torch would have loaded: the sum of two inputs."""

    def __init__(self) -> None:
        self.kind, self.inputs, self.num_layers, self.hidden_size = "mlp", 2, 0, 0

    def evaluator(self, rows: int, device="cpu"):
        return Sum()


class Sum:
    name = "torch"

    def evaluate(self, x, y, state_in: Sequence = (), state_out: Sequence = ()) -> None:
        y.numpy()[:] = x.numpy().sum(1)


@pytest.fixture
def run_by_torch(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Files that were handed to Torch, in whose place something else stands."""
    seen: list[bytes] = []

    def load(kind: str, data: bytes, given: Mapping) -> tuple[StandIn, dict]:
        seen.append(data)
        return StandIn(), {}

    monkeypatch.setattr(loading, "load_with_torch", load)
    return seen


def unknown_file(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(UNKNOWN)
    return path
