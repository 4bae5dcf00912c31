"""Networks of archives made by Torch in several ways give Torch's results."""

import io
import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.files.networks.torch_formats import state_dict, torchscript
from isaacsim.core.experimental.actuators.laws.networks.network import Network, Unary
from network_oracle import evaluate
from refusals import cases, refused

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
nn = torch.nn
F = torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
ROWS = 7


class MLP(nn.Module):
    def __init__(self, activation, layers: int = 2, inputs: int = 6) -> None:
        super().__init__()
        widths = [inputs, *[5] * layers]
        parts = [part for n in range(layers) for part in (nn.Linear(widths[n], widths[n + 1]), activation)]
        self.net = nn.Sequential(*parts, nn.Linear(widths[-1], 1))

    def forward(self, x):
        return self.net(x)


class Gated(nn.Module):
    """x · sigmoid(x), written out."""

    def forward(self, x):
        return x * torch.sigmoid(x)


class Soft(nn.Module):
    """x / (1 + |x|), written out."""

    def forward(self, x):
        return x / (1.0 + x.abs())


class Scaled(nn.Module):
    """Scales in code, buffers and attributes; parts of the input; a skip connection."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = 7.25
        self.register_buffer("mean", torch.randn(6))
        self.register_buffer("std", torch.rand(6) + 0.5)
        self.first = nn.Linear(6, 4)
        self.second = nn.Linear(8, 1)

    def forward(self, x):
        x = (x - self.mean) / self.std
        a, b = x[:, :3], x[:, 3:]
        x = torch.cat([a * 2.0, b.clamp(-1.0, 0.5)], dim=-1)
        y = torch.tanh(self.first(x))
        y = torch.cat([y, y**2], dim=1)
        return (self.second(y) * self.gain - 0.125).squeeze(-1)


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.batch = nn.BatchNorm1d(6)
        self.batch.running_mean.normal_()
        self.batch.running_var.uniform_(0.5, 2.0)
        self.first = nn.Linear(6, 5)
        self.layer = nn.LayerNorm(5)
        self.drop = nn.Dropout(0.3)
        self.last = nn.Linear(5, 1)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.layer(self.first(self.batch(x))))))


class Recurrent(nn.Module):
    """A recurrent network with a head, scales and a usual way to take the last output."""

    def __init__(self, kind: str, layers: int, way: str = "last", bias: bool = True) -> None:
        super().__init__()
        self.way = way
        self.rnn = {"lstm": nn.LSTM, "gru": nn.GRU}[kind](2, 6, layers, batch_first=True, bias=bias)
        self.head = nn.Sequential(nn.Linear(6, 4), nn.ELU(), nn.Linear(4, 1))
        self.register_buffer("scale", torch.tensor([2.0, 0.25]))


class LSTM(Recurrent):
    def forward(self, x: torch.Tensor, hc: tuple[torch.Tensor, torch.Tensor]):
        y, hc = self.rnn(x * self.scale, hc)
        if self.way == "last":
            y = y[:, -1]
        elif self.way == "squeeze":
            y = y.squeeze(1)
        elif self.way == "hidden":
            y = hc[0][-1]
        elif self.way == "view":
            y = y.reshape(-1, 6)
        return self.head(y) * 20.0, hc


class FlatLSTM(Recurrent):
    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor):
        y, (h, c) = self.rnn(x * self.scale, (h, c))
        return self.head(y), h, c


class GRU(Recurrent):
    def forward(self, x: torch.Tensor, h: torch.Tensor):
        y, h = self.rnn(x * self.scale, h)
        return self.head(y).view(x.shape[0], -1), h


def scripted(module, example):
    return torch.jit.script(module)


def traced(module, example):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of what it fixes, such as checks of shapes
        return torch.jit.trace(module, example)


def frozen(module, example):
    return torch.jit.freeze(torch.jit.script(module))


def traced_and_frozen(module, example):
    return torch.jit.freeze(traced(module, example))


WAYS = [scripted, traced, frozen, traced_and_frozen]


def saved(module, **extra: str) -> bytes:
    file = io.BytesIO()
    torch.jit.save(module, file, _extra_files={f"{key}.json": value for key, value in extra.items()})
    return file.getvalue()


def read(module) -> Network:
    data = saved(module)
    assert torchscript.matches(data) and not state_dict.matches(data)
    return torchscript.read(data)[0]


def agrees(network: Network, module, kind: str = "mlp", flat: bool = False) -> None:
    """Compare over some steps of motion, in float64."""
    module = module.double()
    rng = np.random.default_rng(3)
    h, c = np.zeros((2, network.num_layers, ROWS, network.hidden_size))
    th, tc = torch.tensor(h), torch.tensor(c)
    for _ in range(1 if kind == "mlp" else 20):
        x = rng.normal(size=(ROWS, network.inputs)) * 2
        y, h, c = evaluate(network, x, h, c)
        tx = torch.tensor(x)
        with torch.no_grad():
            if kind == "mlp":
                expected = module(tx)
            elif kind == "gru":
                expected, th = module(tx[:, None], th)
            elif flat:
                expected, th, tc = module(tx[:, None], th, tc)
            else:
                expected, (th, tc) = module(tx[:, None], (th, tc))
        expected = expected.numpy().reshape(-1)
        assert np.ptp(expected) > 1e-3
        np.testing.assert_allclose(y, expected, rtol=0, atol=1e-6 * max(1.0, float(np.abs(expected).max())))


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(5)


ACTIVATIONS: dict[str, Callable] = {
    **{
        kind.__name__: kind
        for kind in (
            *(nn.ELU, nn.ReLU, nn.Tanh, nn.Sigmoid, nn.Softsign, nn.Softplus, nn.LeakyReLU, nn.SELU, nn.GELU, nn.SiLU),
            *(nn.Mish, nn.Hardtanh, nn.ReLU6, nn.CELU, nn.Hardswish, nn.Hardsigmoid, nn.LogSigmoid, nn.PReLU),
            *(nn.Tanhshrink, nn.Identity, Gated, Soft),
        )
    },
    "ELU in place": lambda: nn.ELU(0.5, inplace=True),
    "ReLU in place": lambda: nn.ReLU(inplace=True),
    "GELU tanh": lambda: nn.GELU(approximate="tanh"),
    "Softplus 3": lambda: nn.Softplus(3.0),
}


@cases("way", *WAYS)
@cases("name", *ACTIVATIONS)
def test_activations(name, way) -> None:
    module = MLP(ACTIVATIONS[name]()).eval()
    agrees(read(way(module, torch.zeros(3, 6))), module)


@cases("way, layers", *itertools.product(WAYS, (1, 3, 5)))
def test_depths(way, layers) -> None:
    module = MLP(nn.Softsign(), layers).eval()
    network = read(way(module, torch.zeros(3, 6)))
    agrees(network, module)
    assert [operation for operation in network.operations if isinstance(operation, Unary)]
    assert len(network.operations) == 2 * layers + 1


@cases("way", *WAYS)
@cases("kind", Scaled, Normed)
def test_what_stands_in_the_code_is_honoured(kind, way) -> None:
    module = kind().eval()
    agrees(read(way(module, torch.zeros(3, 6))), module)


@cases("way", *WAYS)
@cases("layers, take, bias", (1, "last", True), (2, "hidden", False), (3, "view", True))
def test_lstm(way, layers, take, bias) -> None:
    module = LSTM("lstm", layers, take, bias).eval()
    state = torch.zeros(layers, 3, 6)
    network = read(way(module, (torch.zeros(3, 1, 2), (state, state))))
    assert (network.kind, network.num_layers, network.hidden_size, network.inputs) == ("lstm", layers, 6, 2)
    agrees(network, module, "lstm")


@cases("way", *WAYS)
def test_lstm_with_its_states_apart(way) -> None:
    module = FlatLSTM("lstm", 2).eval()
    state = torch.zeros(2, 3, 6)
    agrees(read(way(module, (torch.zeros(3, 1, 2), state, state))), module, "lstm", flat=True)


@cases("way, layers", *itertools.product(WAYS, (1, 2)))
def test_gru(way, layers) -> None:
    module = GRU("gru", layers).eval()
    network = read(way(module, (torch.zeros(3, 1, 2), torch.zeros(layers, 3, 6))))
    assert (network.kind, network.num_layers) == ("gru", layers)
    agrees(network, module, "gru")


def test_metadata_travels_with_the_archive() -> None:
    data = saved(torch.jit.script(MLP(nn.ELU()).eval()), metadata='{"model_type": "mlp", "input_idx": [0, 2, 4]}')
    assert torchscript.read(data)[1] == {"model_type": "mlp", "input_idx": [0, 2, 4]}


@cases("dtype", torch.float64, torch.float16, torch.bfloat16)
def test_other_numbers_become_float32(dtype) -> None:
    module = MLP(nn.ELU()).to(dtype).eval()
    agrees(read(torch.jit.script(module)), module)


class Looped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(3, 1)

    def forward(self, x):
        for _ in range(2):
            x = torch.tanh(x)
        return self.last(x)


class Wrote(Looped):
    def forward(self, x):
        torch.save(x, "/nowhere/written")
        return self.last(x)


class Printed(Looped):
    def forward(self, x):
        print(x)
        return self.last(x)


class Softmaxed(Looped):
    def forward(self, x):
        return self.last(torch.softmax(x, dim=-1))


class Branched(Looped):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2.0
        return self.last(x)


class Unused(Looped):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return self.last(x)


@cases(
    "kind, told",
    (Looped, "statement for"),
    (Wrote, "operation save"),
    (Printed, "operation print"),
    (Softmaxed, "operation softmax"),
    (Branched, "operation"),
    (Unused, "tensor scale"),
)
def test_anything_else_is_refused_by_name(kind, told) -> None:
    text = refused(torchscript.NetworkError, lambda: read(torch.jit.script(kind().eval())), told)
    assert "Convert the checkpoint to ONNX" in text


def test_dropout_of_training_is_refused() -> None:
    with pytest.raises(torchscript.NetworkError, match=r"eval\(\)"):
        read(torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 1)).train()))


def pickled(value, **options) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


@cases("protocol", 2, 3, 4, 5)
def test_state_dict_of_an_mlp(protocol) -> None:
    module = MLP(nn.ELU(), 3).eval()
    checkpoint = {"model": module.state_dict(), "metadata": {"activation": "elu", "input_idx": [0, 1, 2]}}
    data = pickled(checkpoint, pickle_protocol=protocol)
    assert state_dict.matches(data) and not torchscript.matches(data)
    network, metadata = state_dict.read(data)
    assert metadata == {"activation": "elu", "input_idx": [0, 1, 2]}
    agrees(network, module)


@cases("kind", LSTM, GRU)
def test_state_dict_of_a_recurrent_network(kind) -> None:
    module = kind(kind.__name__.lower(), 2).eval()
    del module.scale
    module.register_buffer("scale", torch.ones(2), persistent=False)
    network, _ = state_dict.read(pickled({"state_dict": module.state_dict(), "metadata": {"activation": "elu"}}))
    if kind is LSTM:  # its forward multiplies by 20, which no tensor tells
        module.head[-1].weight.data /= 20.0
        module.head[-1].bias.data /= 20.0
    agrees(network, module, network.kind)


def test_a_pickled_module_and_an_old_file_are_refused() -> None:
    with pytest.raises(state_dict.NetworkError, match=r"torch\.nn\.modules\.\S+: must hold tensors"):
        state_dict.read(pickled(nn.Linear(2, 1)))
    old = pickled(nn.Linear(2, 1).state_dict(), _use_new_zipfile_serialization=False)
    assert state_dict.matches(old)
    refused(state_dict.NetworkError, lambda: state_dict.read(old), r"before PyTorch 1\.6")
