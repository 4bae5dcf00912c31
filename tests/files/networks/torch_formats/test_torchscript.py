"""TorchScript archives made without PyTorch: their code is interpreted, and unknown operations are refused."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks.torch_formats import torchscript as reader
from isaacsim.core.experimental.actuators.laws.networks.network import Binary, Linear, Network, Slice, Unary
from network_oracle import evaluate, sigmoid
from refusals import cases, refused
from torch_archives import Object, Writer, forward, name, state_dict, torchscript
from torch_corpus import bad_archives, with_pickle

RNG = np.random.default_rng(11)
W = RNG.normal(size=(1, 3)).astype(np.float32)
B = RNG.normal(size=1).astype(np.float32)
SCALE = np.array([2.0, 0.25, -3.0], np.float32)
X = RNG.normal(size=(5, 3))
LAST = "torch.linear({}, self.w, self.b)"


def network(body: str, constants: tuple[object, ...] = (), **attributes: object) -> Network:
    """Return the network of a module with this forward pass, weight `w` and bias `b`."""
    data = torchscript(Object("__torch__.M", w=W, b=B, **attributes), forward(body), constants)
    assert reader.matches(data)
    found, metadata = reader.read(data)
    assert metadata == {}
    return found


def linear(x: np.ndarray) -> np.ndarray:
    return (x @ W.T.astype(np.float64) + B)[:, 0]


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ELEMENTWISE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "torch.mul(x, 2.5)": lambda x: x * 2.5,
    "torch.add(x, 1, alpha=3)": lambda x: x + 3,
    "torch.sub(x, x, alpha=2)": lambda x: -x,
    "torch.rsub(x, 1.)": lambda x: 1 - x,
    "torch.div(x, torch.add(torch.abs(x), 1))": lambda x: x / (1 + np.abs(x)),
    "torch.div(x, torch.add(torch.abs(x), 2))": lambda x: x / (2 + np.abs(x)),
    "torch.mul(x, torch.sigmoid(x))": lambda x: x * sigmoid(x),
    "torch.neg(torch.relu(x))": lambda x: -np.maximum(x, 0),
    "torch.pow(x, 2)": lambda x: x**2,
    "torch.pow(x, 3)": lambda x: x**3,
    "torch.pow(torch.exp(x), 1.5)": lambda x: np.exp(1.5 * x),
    "torch.rsqrt(torch.exp(x))": lambda x: np.exp(-x / 2),
    "torch.clamp(x, -0.5, 0.25)": lambda x: np.clip(x, -0.5, 0.25),
    "torch.clamp(x, None, 0.25)": lambda x: np.minimum(x, 0.25),
    "torch.clamp_min(x, 0.25)": lambda x: np.maximum(x, 0.25),
    "torch.hardtanh(x)": lambda x: np.clip(x, -1, 1),
    "torch.elu(x, 0.5)": lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)),
    "torch.celu(x, 0.5)": lambda x: np.where(x > 0, x, 0.5 * np.expm1(x / 0.5)),
    "torch.leaky_relu(x)": lambda x: np.where(x > 0, x, 0.01 * x),
    "torch.softplus(x)": lambda x: np.log1p(np.exp(x)),
    "torch.hardswish(x)": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    'torch.gelu(x, approximate="tanh")': gelu,
    "torch.minimum(x, torch.neg(x))": lambda x: -np.abs(x),
    "torch.max(x, torch.neg(x))": np.abs,
    "torch.sign(x)": np.sign,
    "torch.sgn(x)": np.sign,
    "torch.dropout(x, 0.5, False)": lambda x: x,
    "torch.mul(x, torch.pow(2., 3))": lambda x: x * 8,
    "torch.mul(x, CONSTANTS.c0)": lambda x: x * 5,
    "torch.cat([torch.slice(x, 1, 1), torch.slice(x, 1, 0, 1)], -1)": lambda x: x[:, [1, 2, 0]],
    "torch.cat([torch.slice(x, 1, -2), torch.unsqueeze(torch.select(x, -1, 0), 1)], 1)": lambda x: x[:, [1, 2, 0]],
    "torch.cat(torch.split(x, [1, 2], 1), 1)": lambda x: x,
    'torch.add(x, torch.full([torch.size(x, 0), 1], 2.5, dtype=6, device=torch.device("cpu")))': lambda x: x + 2.5,
    "torch.mul(torch.full_like(x, 3.), torch.add(x, torch.zeros([1, 3])))": lambda x: 3 * x,
    "torch.cat([torch.slice(x, 1, 0, 2), torch.ones([(torch.size(x))[0], 1])], 1)": lambda x: np.c_[
        x[:, :2], x[:, :1] ** 0
    ],
    "torch.cat(torch.chunk(x, 2, 1), 1)": lambda x: x,
    "torch.stack([torch.select(x, 1, 2), torch.select(x, 1, 0), torch.select(x, 1, 1)], 1)": lambda x: x[:, [2, 0, 1]],
    "torch.view(x, [torch.size(x, 0), -1])": lambda x: x,
    "torch.squeeze(torch.reshape(x, [-1, 1, 3]), 1)": lambda x: x,
    "torch.flatten(torch.unsqueeze(x, 1), 1)": lambda x: x,
    "torch.t(torch.t(x))": lambda x: x,
    "torch.squeeze(torch.permute(torch.unsqueeze(x, 0), [1, 0, 2]), 1)": lambda x: x,
    "torch.to(x, ops.prim.dtype(x))": lambda x: x,
    "torch.relu_(torch.mul(x, -1))": lambda x: np.maximum(-x, 0),
}


@cases("code", *ELEMENTWISE)
def test_operations(code) -> None:
    found = network(f"y = {code}\nreturn {LAST.format('y')}", constants=(np.array(5.0),))
    np.testing.assert_allclose(evaluate(found, X)[0], linear(ELEMENTWISE[code](X)), rtol=1e-6, atol=1e-6)


@cases(
    "code, attributes",
    ("torch.linear(x, self.w, self.b)", {}),
    ("torch.addmm(self.b, x, torch.t(self.w))", {}),
    ("torch.addmm(torch.mul(self.b, 0.5), x, torch.numpy_T(self.w), beta=2, alpha=1)", {}),
    ("torch.add(torch.matmul(x, torch.transpose(self.w, 0, 1)), self.b)", {}),
    ("torch.add(torch.mm(x, torch.permute(self.w, [1, 0])), self.b, alpha=1)", {}),
    ("torch.add(torch.matmul(x, torch.select(self.w, 0, 0)), self.b)", {}),
    ("torch.squeeze(torch.linear(x, self.w, self.b))", {}),
)
def test_forms_of_a_linear_layer(code, attributes) -> None:
    np.testing.assert_allclose(evaluate(network(f"return {code}"), X)[0], linear(X), rtol=1e-6)


def test_scales_in_code_buffers_and_attributes() -> None:
    found = network(
        f"y = {LAST.format('torch.mul(x, self.scale)')}\nreturn torch.add(torch.mul(y, self.gain), 0.5)",
        scale=SCALE, gain=20.0,
    )  # fmt: skip
    np.testing.assert_allclose(evaluate(found, X)[0], linear(X * SCALE) * 20 + 0.5, rtol=1e-6)


def test_softsign_written_out_is_one_operation_and_nothing_is_left_over() -> None:
    found = network(f"y = torch.div(x, torch.add(torch.abs(x), 1))\nz = torch.exp(x)\nreturn {LAST.format('y')}")
    assert [type(operation) for operation in found.operations] == [Unary, Linear]
    assert found.operations[0] == Unary("softsign", 0)
    part = network(f"y = torch.cat([torch.slice(x, 1, 0, 2), torch.slice(x, 1, 2)], 1)\nreturn {LAST.format('y')}")
    assert [one for one in part.operations if isinstance(one, Slice)] == [Slice(0, 0, 2), Slice(0, 2, 3)]


CONTROL = {
    "if self.training:\n  y = torch.save(x)\nelse:\n  y = x": 1.0,
    "if torch.__is__(self.nothing, None):\n  y = torch.mul(x, 3)\nelse:\n  y = x": 3.0,
    "if torch.ne(torch.size(x, -1), 3):\n  ops.prim.RaiseException('no')\nelse:\n  pass\ny = x": 1.0,
    "if torch.eq(torch.dim(x), 2):\n  y = torch.mul(x, 4)\nelse:\n  y = torch.fft(x)": 4.0,
    "if torch.__and__(True, torch.__not__(torch.lt(2, 1))):\n  y = torch.mul(x, 2)\nelse:\n  y = x": 2.0,
    "_0, _1, = (x, 2.5)\ny = torch.mul(_0, _1)": 2.5,
    "_0 = annotate(List[float], [1., 6.])\ny = torch.mul(unchecked_cast(Tensor, x), _0[1])": 6.0,
    "y = torch.mul(x, float(int(2.75)))": 2.0,
    "y = (self).twice(torch.relu(x), )\ny = torch.sub(y, (self).twice(torch.relu(torch.neg(x)), ))": 2.0,
    "_0 = __torch__.tools.scaled\ny = _0(x, )": 7.0,
    "y = __torch__.tools.scaled(x, by=-1.5)": -1.5,
    'y = torch.mul(x, getattr(self.inner, "0"))': 9.0,
    "y = torch.mul(x, self.inner.fixed)": 11.0,
}


@cases("body", *CONTROL)
def test_the_code_is_walked_over(body) -> None:
    lines = "".join(f"    {line}\n" for line in f"{body}\nreturn {LAST.format('y')}".splitlines())
    code = {
        "__torch__": f"class M(Module):\n  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n{lines}"
        "  def twice(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.mul(x, 2)\n",
        "__torch__.tools": "def scaled(x: Tensor, by: float=7.) -> Tensor:\n  return torch.mul(x, by)\n"
        "class Inner(Module):\n  fixed : Final[float] = 11.\n",
    }
    inner = Object("__torch__.tools.Inner", **{"0": 9.0})
    root = Object("__torch__.M", w=W, b=B, training=False, nothing=None, inner=inner)
    found, _ = reader.read(torchscript(root, code))
    np.testing.assert_allclose(evaluate(found, X)[0], linear(X * CONTROL[body]), rtol=1e-6, atol=1e-6)


def test_writing_in_place_reaches_all_names_of_a_value() -> None:
    found = network(f"y = torch.mul(x, 1)\nz = torch.relu_(y)\nreturn {LAST.format('torch.add(y, z)')}")
    np.testing.assert_allclose(evaluate(found, X)[0], linear(2 * np.maximum(X, 0)), rtol=1e-6, atol=1e-6)
    found = network("y = torch.matmul(x, torch.select(self.w, 0, 0))\nz = torch.relu_(y)\nreturn torch.add(y, self.b)")
    np.testing.assert_allclose(evaluate(found, X)[0], np.maximum(linear(X) - B, 0) + B, rtol=1e-6, atol=1e-6)
    for body in ("y = torch.unsqueeze(x, 1)\nz = torch.relu_(x)", "y = torch.slice(x, 1, 0, 2)\nz = torch.relu_(y)"):
        with pytest.raises(NetworkError, match="used elsewhere"):
            network(f"{body}\nreturn {LAST.format('x')}")


REFUSED = {
    "torch.mul(x, torch.size(x, 0))": "mul of Value and Rows",
    "torch.view(x, [10, 3])": "axes may only be added, dropped or moved",
    "torch.view(x, [3, -1])": "axes may only be added, dropped or moved",
    "torch.select(x, 0, 0)": "along the rows",
    "torch.slice(x, 0, 1)": "slice of rows",
    "torch.max(x, 1)": "along an axis",
    "torch.cat([x, x], 0)": "side by side along axis 0",
    "torch.add(x, torch.full([1, 3], 1, dtype=4))": "numbers of type 4",
    "torch.add(x, torch.full([3, torch.size(x, 0)], x))": "full of ",
    "torch.add(x, torch.zeros([2, torch.size(x, 0), 3]))": "the numbers of a row along one axis",
    "torch.add(x, torch.ones([100000, 100000]))": "a constant of too many numbers",
    "torch.dropout(x, 0.5, True)": r"eval\(\)",
    "torch.softplus(x, 1., 2.)": "threshold 2",
    'torch.div(x, 2., rounding_mode="floor")': "rounding_mode",
    "torch.to(x, 5)": "type 5",
    "torch.add(x, torch.t(x))": "they must fit",
    "torch.add(x, torch.unsqueeze(x, 1))": "they must fit",
    "torch.mul(x, CONSTANTS.c3)": "no constant c3",
    "torch.mul(x, self.gone)": "has no gone",
    "torch.mul(x, gone)": "gone as a constant",
    "__torch__.gone(x)": "no code of __torch__.gone",
    "torch.lstm(x, [x, x], [self.w], True, 1, 0., False, False, True)": "recurrent layer whose state",
    "ops.prim.RaiseException('such')": "raises an error, 'such'",
}


@cases("code", *REFUSED)
def test_what_cannot_be_said_is_refused_and_named(code) -> None:
    text = refused(NetworkError, lambda: network(f"y = {code}\nreturn {LAST.format('y')}"), REFUSED[code])
    assert text.startswith("__torch__.M.forward, line 3: ")


LSTM_CODE = """\
_0, _1, = hc
if torch.ne(torch.size(_0), [{layers}, torch.size(x, 0), 4]):
  ops.prim.RaiseException("size")
else:
  pass
y, h, c = torch.lstm(torch.mul(x, self.scale), [_0, _1], self.weights, True, 2, 0., False, False, {first})
_2 = torch.linear(y, self.w, self.b)
return ({returned})"""
SIGNATURE = "x: Tensor, hc: Tuple[Tensor, Tensor]"
RETURNED = "torch.squeeze(_2), (h, c)"


def lstm(returned: str = RETURNED, layers: int = 2, first: bool = True) -> tuple[bytes, list[np.ndarray]]:
    """An archive of two LSTM layers of 4, and its weights."""
    rng = np.random.default_rng(2)
    weights = [rng.normal(size=shape).astype(np.float32) for n in (2, 4) for shape in ((16, n), (16, 4), (16,), (16,))]
    w, b, scale = rng.normal(size=(1, 4)).astype(np.float32), np.ones(1, np.float32), np.float32([2.0, 0.25])
    root = Object("__torch__.M", w=w, b=b, scale=scale, weights=weights)
    body = LSTM_CODE.format(returned=returned, layers=layers, first=first)
    return torchscript(root, forward(body, SIGNATURE, "Any")), [*weights, w, b, scale]


def test_lstm_of_two_layers() -> None:
    data, (*weights, w, b, scale) = lstm()
    found, _ = reader.read(data)
    assert (found.kind, found.inputs, found.num_layers, found.hidden_size) == ("lstm", 2, 2, 4)
    x, h, c = RNG.normal(size=(5, 2)), RNG.normal(size=(2, 5, 4)), RNG.normal(size=(2, 5, 4))
    y = x * scale
    for layer in range(2):
        ih, hh, bias_ih, bias_hh = (one.astype(np.float64) for one in weights[4 * layer : 4 * layer + 4])
        i, f, g, o = np.split(y @ ih.T + bias_ih + h[layer] @ hh.T + bias_hh, 4, axis=1)
        y = sigmoid(o) * np.tanh(sigmoid(f) * c[layer] + sigmoid(i) * np.tanh(g))
    np.testing.assert_allclose(evaluate(found, x, h, c)[0], (y @ w.T + b)[:, 0], rtol=1e-6, atol=1e-6)


@cases(
    "made, told",
    (lstm("_2, (c, h)"), r"takes states \['h', 'c'\] and returns \['c', 'h'\]"),
    (lstm("_2, (_0, _1)"), r"returns \['\?', '\?'\]"),
    (lstm("_2, (h, torch.mul(c, 2))"), "operation mul|mul of State"),
    (lstm("_2"), r"returns \[\]"),
    (lstm("(h, c), _2"), "output first"),
    (lstm("torch.mul(torch.slice(x, 2, 0, 1), 2), (h, c)"), "recurrent|use"),
    (lstm(layers=3), "not of 2 layers"),
    (lstm(first=False), "batch_first"),
)
def test_states_that_are_not_kept_as_they_are_refused(made, told) -> None:
    refused(NetworkError, lambda: reader.read(made[0]), told)


def test_gru_of_one_layer() -> None:
    weights = [RNG.normal(size=shape).astype(np.float32) for shape in ((12, 3), (12, 4), (12,), (12,))]
    w = RNG.normal(size=(1, 4)).astype(np.float32)
    body = (
        "y, h, = torch.gru(x, hx, self.weights, True, 1, 0., False, False, True)\n"
        "return (torch.linear(torch.select(h, 0, -1), self.w, None), h)"
    )
    data = torchscript(Object("__torch__.M", weights=weights, w=w), forward(body, "x: Tensor, hx: Tensor", "Any"))
    found, _ = reader.read(data)
    assert (found.kind, found.hidden_size) == ("gru", 4)
    h = RNG.normal(size=(1, 5, 4))
    ih, hh, bias_ih, bias_hh = (one.astype(np.float64) for one in weights)
    a, b = np.split(X @ ih.T + bias_ih, 3, axis=1), np.split(h[0] @ hh.T + bias_hh, 3, axis=1)
    r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    new = (1 - z) * np.tanh(a[2] + r * b[2]) + z * h[0]
    np.testing.assert_allclose(evaluate(found, X, h)[0], (new @ w.T)[:, 0], rtol=1e-6, atol=1e-6)


def test_metadata_of_the_archive() -> None:
    root, more = Object("__torch__.M", w=W, b=B), {"extra/metadata.json": '{"model_type": "mlp", "input_idx": [0]}'}
    data = torchscript(root, forward(f"return {LAST.format('x')}"), **more)
    assert reader.read(data)[1] == {"model_type": "mlp", "input_idx": [0]}


def test_a_width_that_no_layer_tells_is_refused() -> None:
    long = RNG.normal(size=(1, 7)).astype(np.float32)
    body = f"return torch.add({LAST.format('torch.slice(x, 1, 0, 3)')}, torch.sum(self.long))"
    refused(NetworkError, lambda: network(body, long=long), "operation sum")
    with pytest.raises(NetworkError, match=r"any of \[3, 7\] wide"):
        network(body.replace("torch.sum(self.long)", "torch.select(torch.select(self.long, 0, 0), 0, 1)"), long=long)


def test_steps_that_are_nobodys_parameter_may_be_left_alone() -> None:
    found = network(f"return {LAST.format('x')}", num_batches_tracked=np.array(7))
    assert len(found.operations) == 1 and not any(isinstance(one, Binary) for one in found.operations)


def test_other_files_are_not_taken_for_archives() -> None:
    assert not reader.matches(b"") and not reader.matches(b"PK\3\4") and not reader.matches(b"\x08\x07onnx")
    assert not reader.matches(state_dict({"0.weight": W}))


BAD = bad_archives()


@cases("bad", *BAD)
def test_what_a_file_must_not_do(bad) -> None:
    from isaacsim.core.experimental.actuators.files.networks.torch_formats import state_dict

    data, told = BAD[bad]
    read = reader.read if reader.matches(data) or not state_dict.matches(data) else state_dict.read
    assert len(refused(NetworkError, lambda: read(data), told)) < 2000


def test_objects_that_hold_each_other_end() -> None:
    made = name("__torch__", "M") + b")\x81"
    chain = made + b"q\0" + 200 * (made + b"}" + Writer().value("inner") + b"h\0sbq\0")
    root = made + b"}" + Writer().value("all") + b"](" + chain + b"esb"
    refused(NetworkError, lambda: reader.read(with_pickle(b"\x80\x02" + root + b".")), "more than 32 deep")


REAL = os.environ.get("ACTUATOR_NETS", "")


@pytest.mark.skipif(not REAL, reason="ACTUATOR_NETS does not name the folder of the real networks")
def test_the_real_network_is_its_torch_self_over_1000_steps() -> None:
    path = Path(REAL) / "anydrive_v3_lstm.pt"
    found, metadata = reader.read(path.read_bytes())
    assert (found.kind, found.inputs, found.num_layers, found.hidden_size, metadata) == ("lstm", 2, 2, 8, {})
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Torch would rather have other files
        module = torch.jit.load(str(path))
    h = c = None
    states = (torch.zeros(2, 12, 8), torch.zeros(2, 12, 8))
    rng, worst, largest = np.random.default_rng(4), 0.0, 0.0
    for _ in range(1000):
        x = (rng.normal(size=(12, 2)) * [0.3, 3.0]).astype(np.float32)
        y, h, c = evaluate(found, x, h, c)
        with torch.no_grad():
            expected, states = module(torch.tensor(x[:, None]), states)
        worst = max(worst, float(np.abs(y - expected.numpy().reshape(-1)).max()))
        largest = max(largest, float(np.abs(y).max()))
    assert largest > 20.0 and worst <= 1e-6 * largest
