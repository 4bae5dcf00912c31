"""Archives of `torch.export` are read without PyTorch, compute what it computes, and never unpickle."""

import copy
import io
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from exported_archives import OPEN, WEIGHTS, archive, meta, operation, parts, tensor
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks.torch_formats import exported
from network_oracle import evaluate
from small_networks import numbers


def test_an_archive_is_read_without_torch() -> None:
    given = parts()
    given["files"]["extra/metadata.json"] = b'{"input_idx": [0], "pos_scale": 2}'
    # every archive holds a pickle, which is not opened
    given["files"]["data/sample_inputs/model.pt"] = b"not even a pickle"
    data = archive(given)
    network, metadata = exported.read(data)
    assert exported.matches(data) and metadata == {"input_idx": [0], "pos_scale": 2}
    x = numbers(5, 2, seed=4)
    by_hand = np.tanh(x @ WEIGHTS["0.weight"].T.astype(float) + WEIGHTS["0.bias"]) @ WEIGHTS["2.weight"][0]
    np.testing.assert_allclose(evaluate(network, x)[0], 20 * (by_hand + WEIGHTS["2.bias"]), rtol=1e-12)


def test_strides_are_honoured() -> None:
    given = parts()
    given["weights"]["0.weight"]["tensor_meta"]["strides"] = [{"as_int": 1}, {"as_int": 4}]
    given["files"]["data/weights/w0"] = WEIGHTS["0.weight"].T.tobytes()
    x = numbers(5, 2, seed=4)
    plain, strided = (evaluate(exported.read(archive(one))[0], x)[0] for one in (parts(), given))
    np.testing.assert_array_equal(plain, strided)


def changed(*path, value) -> Callable[[dict], None]:
    def change(given: dict) -> None:
        for step in path[:-1]:
            given = given[step]
        given[path[-1]] = copy.deepcopy(value)

    return change


FIRST = ("weights", "0.weight")
HUGE = [{"as_int": 2**30}, {"as_int": 2**30}]
REFUSED = {
    "pickled weights": (changed(*FIRST, "use_pickle", value=True), "runs code"),
    "perhaps pickled": (changed(*FIRST, "use_pickle", value="false"), "runs code"),
    "2^60 numbers": (changed(*FIRST, "tensor_meta", "sizes", value=HUGE), "must be what its shape needs"),
    "2^60 numbers of one": (
        changed(*FIRST, "tensor_meta", value={**meta(1, 1), "sizes": HUGE, "strides": [{"as_int": 0}] * 2}),
        "must be what its shape needs",
    ),
    "beyond the end": (changed(*FIRST, "tensor_meta", "storage_offset", value={"as_int": 1}), "what its shape needs"),
    "before the start": (changed(*FIRST, "tensor_meta", "storage_offset", value={"as_int": -1}), "whole numbers"),
    "backwards": (changed(*FIRST, "tensor_meta", "strides", value=[{"as_int": -2}, {"as_int": 1}]), "whole numbers"),
    "numbers cut off": (changed("files", "data/weights/w0", value=b"\0" * 31), "what its shape needs"),
    "no numbers": (changed("files", "data/weights/w0", value=None), "has no 'data/weights/w0'"),
    "path outside": (changed(*FIRST, "path_name", value="../../../etc/passwd"), "has no"),
    "bfloat16": (changed(*FIRST, "tensor_meta", "dtype", value=13), "must be dense float32"),
    "sparse": (changed(*FIRST, "tensor_meta", "layout", value=1), "must be dense"),
    "other format": (changed("files", "archive_format", value=b"pt3"), "must be pt2"),
    "two graphs": (changed("files", "models/other.json", value=b"{}"), "2 graphs"),
    "graph of nothing": (changed("files", "models/model.json", value=b"{}"), "cannot be read|can be read"),
    "nested graph": (changed("files", "models/model.json", value=b"[" * 100_000), "must be JSON"),
    "a hole": (changed("graph", "nodes", 1, "target", value="torch.ops.aten.sin_hole.default"), "operation sin_hole"),
    "other library": (changed("graph", "nodes", 1, "target", value="torch.ops.own.tanh.default"), "torch.ops.own.tanh"),
    "function": (changed("graph", "nodes", 1, "target", value="os.system"), "operation os.system"),
    "circle": (changed("graph", "nodes", 0, "inputs", 0, "arg", value=tensor("c")), "'c' is not there yet"),
    "value twice": (changed("graph", "nodes", 1, "outputs", 0, value=tensor("a")), "'a' comes twice"),
    "input overwritten": (changed("graph", "nodes", 1, "outputs", 0, value=tensor("x")), "'x' comes twice"),
    "unused weight": (
        changed("weights", "z", value={"path_name": "w0", "use_pickle": False, "tensor_meta": meta(4, 2)}),
        "'z'",
    ),
    "numbers returned": (changed("outputs", 0, value={"user_output": {"arg": {"as_int": 1}}}), "returns or changes"),
    "buffer changed": (changed("outputs", 0, value={"buffer_mutation": {"arg": {"name": "d"}}}), "returns or changes"),
    "own object": (changed("inputs", 0, value={"custom_obj": {"arg": {"name": "p"}}}), "an input of kind custom_obj"),
    "outputs": (changed("outputs", value=[{"user_output": {"arg": tensor(one)}} for one in "dc"]), "does not return"),
    "three axes": (
        changed("graph", "tensor_values", "x", "sizes", value=[OPEN, {"as_int": 5}, {"as_int": 2}]),
        "one step",
    ),
    "open inputs": (changed("graph", "tensor_values", "x", "sizes", value=[OPEN, OPEN]), "must be rows x inputs"),
    "subgraph": (changed("graph", "nodes", 1, "inputs", 0, "arg", value={"as_graph": {}}), "an argument as_graph"),
    "metadata": (changed("files", "extra/metadata.json", value=b"[]"), "expected a JSON object"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_plain_network_is_refused(name) -> None:
    change, says = REFUSED[name]
    given = parts()
    change(given)
    with pytest.raises(NetworkError, match=says), pytest.MonkeyPatch.context() as patch:
        # nothing may be written or read anywhere else
        patch.setattr("builtins.open", None)
        exported.read(archive(given))


def test_a_fixed_number_of_rows_is_said_to_be_one() -> None:
    given = parts()
    given["graph"]["tensor_values"]["x"] = meta(3, 2)
    given["graph"]["nodes"].insert(0, operation("reshape.default", "r", tensor("x"), {"as_ints": [3, 2]}))
    given["graph"]["nodes"][1]["inputs"][0]["arg"] = tensor("r")
    with pytest.raises(NetworkError, match="dynamic_shapes leaves it open"):
        exported.read(archive(given))


def test_damaged_archives_are_one_error() -> None:
    data = archive(parts())
    for end in range(0, len(data), 97):
        with pytest.raises(NetworkError):
            exported.read(data[:end])


@pytest.mark.parametrize("kind", ["mlp", "LSTM", "GRU"])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("open_rows", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_what_torch_exports_computes_the_same(kind, layers, open_rows, batch_first) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    nn, rows = torch.nn, 3 if open_rows else 1

    class Net(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            width = 6
            if kind != "mlp":
                self.cells = getattr(nn, kind)(2, 8, num_layers=layers, batch_first=batch_first)
                width = 8
            self.register_buffer("scale", torch.tensor([2.0, 0.25] if kind != "mlp" else [2.0] * 3 + [0.25] * 3))
            self.head = nn.Sequential(
                *(nn.Linear(width, 8), nn.Softsign(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 8), nn.Softplus()),
                *(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1)),
            )

        def forward(self, x, *states):
            if kind == "mlp":
                return self.head(x * self.scale) * 20.0
            y, after = self.cells(x * self.scale, states if kind == "LSTM" else states[0])
            y = y[:, -1, :] if batch_first else y.squeeze(0)
            return self.head(y) * 20.0, *(after if kind == "LSTM" else (after,))

    torch.manual_seed(0)
    count = {"mlp": 0, "GRU": 1, "LSTM": 2}[kind]
    shape = (rows, 6) if kind == "mlp" else (rows, 1, 2) if batch_first else (1, rows, 2)
    states = [torch.zeros(layers, rows, 8) for _ in range(count)]
    n, axis = torch.export.Dim("n", min=1, max=9999), 0 if kind == "mlp" or batch_first else 1
    shapes = ({axis: n}, *([tuple({1: n} for _ in range(count))] if count else [])) if open_rows else None
    file, net = io.BytesIO(), Net().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter
        torch.export.save(torch.export.export(net, (torch.zeros(shape), *states), dynamic_shapes=shapes), file)
    network = exported.read(file.getvalue())[0]
    assert network.kind == kind.lower()
    hidden = cell = None
    pairs, random = [], np.random.default_rng(0)
    net, states = net.double(), [state.double() for state in states]
    for _ in range(30):
        x = random.normal(size=shape).astype(np.float32)
        ours, hidden, cell = evaluate(network, x.reshape(rows, -1), hidden, cell)
        with torch.no_grad():
            result = net(torch.tensor(x, dtype=torch.float64), *states)
        effort, *states = result if count else (result,)
        pairs.append((ours, effort.numpy().reshape(-1)))
    first, second = np.array(pairs).swapaxes(0, 1)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-6 * np.abs(second).max())
