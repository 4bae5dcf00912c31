"""ONNX files: results are those of onnxruntime, which reads written files too; ambiguous files are refused."""

import io
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import onnx as reader
from isaacsim.core.experimental.actuators.laws.networks.network import Network, Unary
from network_oracle import evaluate
from refusals import cases, refused
from small_networks import NETWORKS, numbers

onnx = pytest.importorskip("onnx", reason="onnx is not installed: nothing reads its files")
from onnx import helper, numpy_helper  # noqa: E402

FLOAT, INT = 1, 7


def read(made) -> Network:
    return reader.read(made.SerializeToString())[0]


class Runtime:
    def __init__(self, data: bytes, rows: int) -> None:
        library = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing to compare with")
        self.session = library.InferenceSession(data)
        first, *states = self.session.get_inputs()
        self.shape = [size if isinstance(size, int) else -1 for size in first.shape]
        self.name = first.name
        self.states = {
            one.name: np.zeros([size if isinstance(size, int) else rows for size in one.shape], np.float32)
            for one in states
        }

    def step(self, x: np.ndarray) -> np.ndarray:
        effort, *states = self.session.run(None, {self.name: x.reshape(self.shape), **self.states})
        self.states = dict(zip(self.states, states, strict=True))
        return effort.reshape(-1)


def assert_agrees(data: bytes, network: Network, rows: int, tolerance: float = 5e-6) -> None:
    """Compare over steps of random motion; errors are relative to the largest effort."""
    runtime, hidden, cell = Runtime(data, rows), None, None
    random = np.random.default_rng(0)
    pairs = []
    for _ in range(30):
        x = random.normal(size=(rows, network.inputs)).astype(np.float32)
        effort, hidden, cell = evaluate(network, x, hidden, cell)
        pairs.append((effort, runtime.step(x)))
    ours, theirs = np.array(pairs).swapaxes(0, 1)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


@cases("name", *NETWORKS)
def test_what_is_written_is_read_back_and_computes_the_same(name) -> None:
    network = NETWORKS[name]
    data = reader.write(network, {"pos_scale": 0.5, "note": "Größe"})
    again, metadata = reader.read(data)
    assert reader.matches(data)
    about = {"model_type": network.kind, "num_layers": network.num_layers, "hidden_size": network.hidden_size}
    assert metadata == {**(about if network.cells else {}), "pos_scale": 0.5, "note": "Größe"}
    x, states = numbers(9, network.inputs, seed=5), numbers(network.num_layers, 9, network.hidden_size)
    for ours, first in zip(evaluate(again, x, states, -states), evaluate(network, x, states, -states), strict=True):
        if name == "softplus":  # of a slope that ONNX can only say in three steps
            np.testing.assert_allclose(ours, first, rtol=1e-12)
        else:
            np.testing.assert_array_equal(ours, first)


@cases("name", *NETWORKS)
def test_onnxruntime_computes_what_is_written(name) -> None:
    network = NETWORKS[name]
    # float32 is least accurate for reciprocals near zero and powers
    assert_agrees(reader.write(network, {}), network, 4, 1e-4 if name in ("reciprocal", "pow", "div") else 5e-6)


def test_numbers_alone_cannot_be_written() -> None:
    from isaacsim.core.experimental.actuators.laws.networks.network import Constant

    refused(NetworkError, lambda: reader.write(Network(1, (Constant(numbers(1)),)), {}), "does not depend on the input")


W, B = numbers(6, 3), numbers(3)
WEIGHTS = {"w": W, "b": B, "v": numbers(3, 1)}
LAYER, HEAD = ("MatMul x w > m", "Add b m > a"), "MatMul h v > y"


def node(step: str, **attributes):
    """The node of a text such as `Add x b > y`, in which `-` is an input that is left out."""
    (kind, *sources), results = (part.split() for part in step.split(">"))
    return helper.make_node(kind, ["" if one == "-" else one for one in sources], results, **attributes)


def model(*steps, inputs=None, outputs: Sequence[str] = ("y",), opset: int = 17, metadata: str = "", **tensors):
    """A model of nodes, or the texts of some without attributes, and of those of `WEIGHTS` that they name."""
    nodes = [node(step) if isinstance(step, str) else step for step in steps]
    tensors = {name: values for name, values in WEIGHTS.items() if any(name in one.input for one in nodes)} | tensors
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(k, FLOAT, v) for k, v in (inputs or {"x": ("rows", 6)}).items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(values), name) for name, values in tensors.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    helper.set_model_props(made, {"metadata": metadata} if metadata else {})
    return made


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


FITS = {
    "bias of a product": model(*LAYER, "Tanh a > h", HEAD),
    "gemm": model(node("Gemm x w b > h", alpha=0.5, beta=2.0), HEAD),
    "gemm without bias": model("Gemm x w > h", HEAD),
    "gemm transposed": model(node("Gemm x w b > h", transB=1), HEAD, w=W.T.copy()),
    "sign": model(*LAYER, "Sign a > h", HEAD),
    "layer normalization": model(*LAYER, node("LayerNormalization a s b > h", epsilon=1e-3), HEAD, s=numbers(3)),
    "layer normalization without bias": model(*LAYER, node("LayerNormalization a s > h", axis=1), HEAD, s=numbers(3)),
    "softsign in parts": model(*LAYER, "Abs a > c", "Add c one > d", "Div a d > h", HEAD, one=np.float32(1.0)),
    "softplus with its threshold": model(
        *LAYER, "Softplus a > c", "Greater a t > d", "Where d a c > h", HEAD, t=np.float32(20.0)
    ),
    "split": model(node("Split x s > p q", axis=-1), "Mul p q > h", HEAD, s=ints(3, 3)),
    "split evenly": model(node("Split x > p q", axis=1), "Sub q p > h", HEAD, opset=11),
    "slice": model("Slice x s e a > h", HEAD, s=ints(-4), e=ints(-1), a=ints(-1)),
    "slice of all rows": model("Slice x s e > h", HEAD, s=ints(0, 3), e=ints(2**63 - 1, 6)),
    "gather": model(node("Gather x i > h", axis=1), HEAD, i=ints(5, 0, -2)),
    "gather side by side": model(node("Gather x i > h", axis=1), HEAD, i=ints(2, 3, 4)),
    "one column": model(node("Gather x i > c", axis=1), "Unsqueeze c n > y", i=np.int64(4), n=ints(-1)),
    "concat": model(*LAYER, node("Concat a x a > c", axis=-1), "MatMul c u > y", u=numbers(12, 1)),
    "clip below": model(*LAYER, "Clip a l > h", HEAD, l=np.float32(0.3)),
    "clip above": model(*LAYER, "Clip a - u > h", HEAD, u=np.float32(0.3)),
    "clip of old": model(*LAYER, node("Clip a > h", min=-0.5, max=0.25), HEAD, opset=10),
    "least of three": model(*LAYER, "Min a b a c > h", HEAD, c=B - 1),
    "gelu": model(*LAYER, "Gelu a > h", HEAD, opset=20),
    "gelu by tanh": model(*LAYER, node("Gelu a > h", approximate="tanh"), HEAD, opset=20),
    "hard swish": model(*LAYER, "HardSwish a > h", HEAD),
    "hard sigmoid": model(*LAYER, node("HardSigmoid a > h", alpha=0.3, beta=0.4), HEAD),
    "mish": model(*LAYER, "Mish a > h", HEAD, opset=18),
    "selu": model(*LAYER, "Selu a > h", HEAD),
    "elu": model(*LAYER, node("Elu a > h", alpha=0.3), HEAD),
    "leaky": model(*LAYER, "LeakyRelu a > h", HEAD),
    "folded": model("Transpose w > t", "Mul t t > s", node("Transpose s > u", perm=[1, 0]), "MatMul x u > h", HEAD),
    "constant": model(node("Constant > c", value_float=3.0), "Mul x c > d", "MatMul d w > h", HEAD),
    "cast": model(*LAYER, node("Cast a > h", to=FLOAT), HEAD),
    "flatten": model("Flatten x > f", "MatMul f w > h", HEAD, inputs={"x": ("rows", 1, 6)}),
    "shape": model(
        *("Shape x > s", "Gather s i > n", node("Concat n m > t", axis=0), "Reshape x t > f", "MatMul f w > h", HEAD),
        inputs={"x": ("rows", 1, 6)},
        i=ints(0),
        m=ints(-1),
    ),
    "whole quotient": model("Div p q > n", "Slice x z n o > h", HEAD, p=ints(-7), q=ints(-2), z=ints(0), o=ints(1)),
    "quotient of cast numbers": model(
        *(node("Cast p > f", to=FLOAT), node("Cast q > g", to=FLOAT), "Div f g > n", "Mul x n > a"),
        *("MatMul a w > h", HEAD),
        p=ints(7),
        q=ints(2),
    ),
    "shape copied": model("Reshape x t > f", "MatMul f w > h", HEAD, inputs={"x": ("r", 1, 6)}, t=ints(0, -1)),
    "time first": model(
        *(node("Transpose x > t", perm=[1, 0, 2]), "Squeeze t n > f", "MatMul f w > h", HEAD),
        inputs={"x": (1, "rows", 6)},
        n=ints(1),
    ),
    "squeezed of old": model(
        node("Squeeze x > f", axes=[1]), "MatMul f w > h", HEAD, opset=11, inputs={"x": ("rows", 1, 6)}
    ),
}


@cases("name", *FITS)
def test_each_operator_computes_what_onnxruntime_does(name) -> None:
    made = FITS[name]
    assert_agrees(made.SerializeToString(), read(made), 3)


def test_parts_become_one_operation() -> None:
    """A bias becomes part of its layer, and `x / (1 + |x|)` a softsign."""
    assert [type(one).__name__ for one in read(FITS["bias of a product"]).operations] == ["Linear", "Unary", "Linear"]
    functions = [one.function for one in read(FITS["softsign in parts"]).operations if isinstance(one, Unary)]
    assert functions == ["softsign"]


def recurrent(kind: str = "LSTM", **changes):
    gates = 4 if kind == "LSTM" else 3
    states = ["h", "c"][: gates - 2]
    tensors = {"W": numbers(1, gates * 4, 2), "R": numbers(1, gates * 4, 4), "B": numbers(1, gates * 8)}
    tensors |= {"v": numbers(4, 1), "n": ints(0, 1), **changes.pop("tensors", {})}
    attributes = {"hidden_size": 4} | ({"linear_before_reset": 1} if kind == "GRU" else {})
    attributes |= changes.pop("attributes", {})
    attributes = {key: value for key, value in attributes.items() if value is not None}
    sources = changes.pop("sources", f"x W R B - {' '.join(states)}")
    after = [f"{one}_out" for one in states]
    layer = node(f"{kind} {sources} > s {' '.join(after)}", **attributes)
    inputs = {"x": changes.pop("x", (1, "rows", 2)), **dict.fromkeys(states, (1, "rows", 4))}
    changes = {"outputs": ("y", *after), **changes}
    return model(
        layer, "Squeeze s n > q", "MatMul q v > y", *changes.pop("nodes", []), inputs=inputs, **changes, **tensors
    )


@cases("kind", "LSTM", "GRU")
def test_recurrent_layers_compute_what_onnxruntime_does(kind) -> None:
    made = recurrent(kind)
    assert read(made).kind == kind.lower()
    assert_agrees(made.SerializeToString(), read(made), 5)
    without = recurrent(kind, sources="x W R - - h c" if kind == "LSTM" else "x W R - - h")
    without.graph.initializer.remove(next(one for one in without.graph.initializer if one.name == "B"))
    assert_agrees(without.SerializeToString(), read(without), 2)


def test_states_by_name_may_stand_in_any_order() -> None:
    names = '"hidden_in_name": "h", "hidden_out_name": "h_out", "cell_in_name": "c", "cell_out_name": "c_out"'
    swapped = ("c_out", "y", "h_out")
    made = recurrent(outputs=swapped, metadata=f'{{{names}, "input_name": "x", "output_name": "y", "pos_scale": 2}}')
    network, metadata = reader.read(made.SerializeToString())
    assert network.kind == "lstm" and metadata == {"pos_scale": 2}
    refused(NetworkError, lambda: read(recurrent(outputs=swapped)), r"state|effort")


def broken(change: Callable):
    made = model(*LAYER, "Tanh a > h", HEAD)
    change(made)
    return made


def tensor(made, **fields) -> None:
    for name, value in fields.items():
        if isinstance(value, list):
            getattr(made.graph.initializer[0], name)[:] = value
        else:
            setattr(made.graph.initializer[0], name, value)


def external(made) -> None:
    one = made.graph.initializer[0]
    one.data_location = 1
    one.external_data.add(key="location", value="../../../etc/passwd")


REFUSED = {
    "other files": (broken(external), "lies in another file"),
    "2^60 numbers": (broken(lambda m: tensor(m, dims=[2**30, 2**30])), "needs 1152921504606846976"),
    "negative size": (broken(lambda m: tensor(m, dims=[-6, -3])), "Copy the file again"),
    "numbers cut off": (broken(lambda m: tensor(m, raw_data=b"\x00" * 7)), "needs 18"),
    "texts": (broken(lambda m: tensor(m, data_type=8)), "data type 8"),
    "bfloat16": (broken(lambda m: tensor(m, data_type=16)), "data type 16"),
    "not finite": (model(*LAYER[:1], "MatMul m v > y", w=W * np.nan), "not finite"),
    "name twice": (broken(lambda m: tensor(m, name="b")), "comes twice"),
    "unused numbers": (model(*LAYER, "Tanh a > h", HEAD, z=B), "initializers z"),
    "circle": (model("Add x q > p", "Add x p > q", "MatMul p w > y", w=numbers(6, 1)), "not there yet"),
    "value twice": (model(*LAYER, "Tanh a > h", "Tanh a > h"), "twice"),
    "input overwritten": (model("Tanh x > x"), "comes twice"),
    "operator": (model(*LAYER, "Sin a > y"), "node 2 '', operator Sin: is not one"),
    "loop": (model("Loop x > y"), "operator Loop"),
    "own domain": (model(helper.make_node("Tanh", ["x"], ["y"], domain="ai.own")), "domain 'ai.own'"),
    "attribute": (model(*LAYER, node("Tanh a > h", gain=2.0), HEAD), "attributes gain"),
    "old": (model(*LAYER, "Tanh a > h", HEAD, opset=7), "opset 7"),
    "mean of rows": (model(node("Gather x i > y", axis=0), i=ints(0)), "along the rows"),
    "rows as columns": (model("Transpose x > t", "MatMul t w > y"), "MatMul"),
    "rows mixed": (model("Reshape x t > y", t=ints(-1, 1)), "axes may only"),
    "rows crossed": (model("MatMul x w > c", "Transpose c > t", "Add c t > y", w=numbers(6, 1)), "must fit"),
    "wide output": (model(*LAYER, outputs=("a",)), "output has 3 numbers"),
    "two outputs": (model(*LAYER, "Tanh a > h", HEAD, outputs=("y", "h")), "2 outputs"),
    "threshold": (
        model(*LAYER, "Softplus a > c", "Greater a t > d", "Where d a c > h", HEAD, t=np.float32(2.0)),
        "threshold of a softplus",
    ),
    "huge constant": (model("Add p q > s", "Mul x s > y", p=numbers(1, 9000), q=numbers(9000, 1)), "too many numbers"),
    "weights that depend": (model("MatMul x x > y"), "no constant matrix"),
    "sequence": (recurrent(x=(5, "rows", 2)), "rows x 1 x numbers"),
    "no state": (recurrent(sources="x W R B - - -"), "must be inputs"),
    "fixed state": (recurrent(sources="x W R B - z c", tensors={"z": numbers(1, 1, 4)}), "begins with something else"),
    "states swapped": (recurrent(outputs=("y", "c_out", "h_out")), "state 'h'"),
    "state not returned": (recurrent(outputs=("y", "h_out")), "2 outputs"),
    "state halved": (
        recurrent(tensors={"half": np.float32(0.5)}, nodes=["Mul h_out half > z"], outputs=("y", "z", "c_out")),
        "state 'h'",
    ),
    "one state twice": (recurrent(sources="x W R B - h h"), "state"),
    "peepholes": (recurrent(sources="x W R B - h c P", tensors={"P": numbers(1, 12)}), "inputs|peepholes"),
    "lengths": (recurrent(sources="x W R B l h c", tensors={"l": np.array([1], np.int32)}), "lengths"),
    "both ways": (recurrent(attributes={"direction": "bidirectional"}), "direction must be forward"),
    "batch first": (recurrent(attributes={"layout": 1}), "layout 0"),
    "clipped": (recurrent(attributes={"clip": 1.0}), "attributes clip"),
    "coupled": (recurrent(attributes={"input_forget": 1}), "input_forget 0"),
    "activations": (recurrent(attributes={"activations": ["Sigmoid", "Relu", "Tanh"]}), "activations must be"),
    "wrong size": (recurrent(attributes={"hidden_size": 5}), "must be constants of shape"),
    "reset after": (recurrent("GRU", attributes={"linear_before_reset": 0}), "linear_before_reset must be 1"),
    "reset after by default": (recurrent("GRU", attributes={"linear_before_reset": None}), "must be 1"),
    "no influence": (
        recurrent(nodes=[node("Gather x i > g", axis=2)], tensors={"i": ints(0)}, outputs=("g", "h_out", "c_out")),
        "no influence|output",
    ),
    "metadata": (model(metadata="[1]"), "expected a JSON object"),
    "no axis": (model("Concat x x > y"), "operator Concat: axis is missing"),
    "attribute of another type": (
        model(*LAYER, node("Elu a > h", alpha="[1]"), HEAD),
        "attribute alpha is of type 3: must be a number",
    ),
    "list of another type": (recurrent(attributes={"activations": 3}), "activations is of type 2: must be texts"),
    "end of another type": (model(node("Shape x > s", end=1.0)), "end is of type 1: must be a whole"),
    "rows as a size": (
        model("Shape x > s", node("Split x s > p q", axis=-1), "Mul p q > y"),
        "split depends on the number of rows",
    ),
    "rows twice": (
        model(node("Shape x > s", end=1), node("Concat s s > t", axis=0), "Reshape x t > y"),
        "rows are one axis",
    ),
    "bound that is no whole number": (
        model("Mul a b > c", "Slice x z c o > y", a=B[:1], **dict.fromkeys("bzo", ints(1))),
        "ends is no list of constant whole numbers",
    ),
    "a bound": (model(node("Shape x > s", end=1), "Slice x z s > y", z=ints(0)), "ends depends on the number of rows"),
    "rows as a number": (
        model(node("Shape x > s", end=1), node("Cast s > n", to=FLOAT), "Mul x n > y"),
        "computes with the number of rows",
    ),
    "comparison as a number": (
        model("Greater x t > c", "Identity c > d", "Mul x d > y", t=B[:1]),
        "operator Identity: computes with a comparison",
    ),
    "division by zero": (model("Div a b > y", a=ints(7), b=ints(0)), "number by zero"),
}


@cases("name", *REFUSED)
def test_what_cannot_be_said_is_refused_by_name(name) -> None:
    made, says = REFUSED[name]
    refused(NetworkError, lambda: read(made), says)


def test_text_that_is_none_is_refused() -> None:
    """Protobuf would return bytes."""
    data = FITS["clip of old"].SerializeToString()
    with pytest.raises(NetworkError, match=r"AttributeProto.name = b'm\\xffn': must be UTF-8"):
        reader.read(data.replace(b"min", b"m\xffn"))


def test_damaged_files_are_one_error() -> None:
    data = reader.write(NETWORKS["mlp"], {})
    for end in range(2, len(data), 7):
        with pytest.raises(NetworkError):
            reader.read(data[:end])
    random = np.random.default_rng(0)
    for _ in range(300):
        changed = bytearray(data)
        for place in random.integers(0, len(data), 3):
            changed[place] = random.integers(256)
        try:
            reader.read(bytes(changed))
        except NetworkError:
            continue


@cases("dynamo", False, True)
@cases("kind", "mlp", "LSTM", "GRU")
@cases("open_rows", False, True)
def test_what_torch_exports_computes_what_onnxruntime_does(dynamo, kind, open_rows) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing exports")
    if dynamo:
        pytest.importorskip("onnxscript", reason="onnxscript is not installed: PyTorch exports with it")
    nn, rows = torch.nn, 3 if open_rows else 1

    class Net(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            width = 6
            if kind != "mlp":
                self.cells = getattr(nn, kind)(2, 8, num_layers=2, batch_first=True)
                width = 8
            self.head = nn.Sequential(
                *(nn.Linear(width, 8), nn.Softsign(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 8), nn.Softplus()),
                *(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1)),
            )

        def forward(self, x, *states):
            if kind == "mlp":
                return self.head(x.reshape(x.shape[0], -1) * 0.25) * 20.0
            y, after = self.cells(x * 0.25, states if kind == "LSTM" else states[0])
            return self.head(y[:, -1, :]) * 20.0, *(after if kind == "LSTM" else (after,))

    torch.manual_seed(0)
    count = {"mlp": 0, "GRU": 1, "LSTM": 2}[kind]
    inputs = (torch.zeros(rows, *((6,) if kind == "mlp" else (1, 2))), *(torch.zeros(2, rows, 8) for _ in range(count)))
    names = ["x", "h", "c"][: 1 + count]
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter
        if dynamo:
            n = torch.export.Dim("n", min=1, max=9999)
            shapes = ({0: n}, *([tuple({1: n} for _ in range(count))] if count else [])) if open_rows else None
            torch.onnx.export(
                Net().eval(), inputs, input_names=names, dynamic_shapes=shapes, dynamo=True, verbose=False
            ).save(file)
        else:
            axes = {name: {1 if place else 0: "n"} for place, name in enumerate(names)} if open_rows else None
            torch.onnx.export(Net().eval(), inputs, file, input_names=names, dynamic_axes=axes, dynamo=False)
    network = reader.read(file.getvalue())[0]
    assert network.kind == kind.lower()
    assert_agrees(file.getvalue(), network, rows)
