"""The same three networks, an MLP, an LSTM and a GRU, in files of every format, made without PyTorch."""

import json
from collections.abc import Mapping

import exported_archives as exported
import numpy as np
from isaacsim.core.experimental.actuators.files.networks import onnx, safetensors
from isaacsim.core.experimental.actuators.laws.networks.network import (
    GRUCell,
    Linear,
    LSTMCell,
    Network,
    Operation,
    Unary,
)
from small_networks import numbers
from torch_archives import Object, forward, state_dict, torchscript

FORMATS = ("onnx", "safetensors", "torchscript", "pt2", "state dict")
KINDS = ("mlp", "lstm", "gru")
GATES = {"lstm": 4, "gru": 3}
LAYERS, SIZE = 2, 4


def weights(kind: str) -> dict[str, np.ndarray]:
    if kind == "mlp":
        return dict(exported.WEIGHTS)
    found: dict[str, np.ndarray] = {}
    for layer in range(LAYERS):
        rows = GATES[kind] * SIZE
        shapes = {"weight_ih": (rows, SIZE if layer else 2), "weight_hh": (rows, SIZE)}
        for seed, (name, shape) in enumerate((shapes | {"bias_ih": (rows,), "bias_hh": (rows,)}).items()):
            found[f"rnn.{name}_l{layer}"] = numbers(*shape, seed=10 * layer + seed)
    return found | {"head.weight": numbers(1, SIZE), "head.bias": numbers(1)}


def network(kind: str) -> Network:
    held = list(weights(kind).values())
    if kind == "mlp":
        return Network(2, (Linear(0, held[0], held[1]), Unary("tanh", 1), Linear(2, held[2], held[3])))
    operations: list[Operation] = []
    for layer in range(LAYERS):
        ih, hh, bias_ih, bias_hh = held[4 * layer : 4 * layer + 4]
        one = LSTMCell(layer, layer, ih, hh, bias_ih + bias_hh)
        operations.append(one if kind == "lstm" else GRUCell(layer, layer, ih, hh, bias_ih, bias_hh))
    return Network(2, (*operations, Linear(LAYERS, held[-2], held[-1])))


def checkpoint_file(format: str, kind: str, metadata: Mapping) -> bytes:
    held = weights(kind)
    match format:
        case "onnx":
            return onnx.write(network(kind), metadata)
        case "safetensors":
            return safetensors.write(network(kind), metadata)
        case "torchscript":
            return _torchscript(kind, held, metadata)
        case "pt2":
            return exported.archive(exported_parts(kind, metadata))
    # no tensor tells what stands between linear layers
    return state_dict({"model": held, "metadata": {"activation": "tanh", **metadata}})


def _torchscript(kind: str, held: Mapping[str, np.ndarray], metadata: Mapping) -> bytes:
    said = {"extra/metadata.json": json.dumps(metadata)}
    if kind == "mlp":
        body = "y = torch.tanh(torch.linear(x, self.a, self.b))\nreturn torch.linear(y, self.c, self.d)"
        module = Object("__torch__.M", **dict(zip("abcd", held.values(), strict=True)))
        return torchscript(module, forward(body), **said)
    *cells, w, b = held.values()
    states, taken = {"lstm": ("h, c", "[_0, _1]"), "gru": ("h", "hx")}[kind]
    body = f"y, {states}, = torch.{kind}(x, {taken}, self.cells, True, {LAYERS}, 0., False, False, True)\n"
    body = ("_0, _1, = hx\n" if kind == "lstm" else "") + body
    after = "(h, c)" if kind == "lstm" else "h"
    body += f"return (torch.linear(torch.squeeze(y, 1), self.w, self.b), {after})"
    signature = "x: Tensor, hx: Tuple[Tensor, Tensor]" if kind == "lstm" else "x: Tensor, hx: Tensor"
    return torchscript(Object("__torch__.M", cells=cells, w=w, b=b), forward(body, signature, "Any"), **said)


def exported_parts(kind: str, metadata: Mapping) -> dict:
    """Parts of a `.pt2`, see `exported_archives.archive`."""
    if kind == "mlp":
        made = exported.parts()
        # twenty times the output is said by the code of that archive only
        made["graph"]["nodes"].pop()
        made["outputs"] = [{"user_output": {"arg": exported.tensor("c")}}]
    else:
        made = _recurrent_parts(kind)
    made["files"]["extra/metadata.json"] = json.dumps(metadata).encode()
    return made


def _recurrent_parts(kind: str) -> dict:
    tensor, meta, held = exported.tensor, exported.meta, weights(kind)
    states = ["h", "c"] if kind == "lstm" else ["h"]
    names = [f"p_{name}" for name in held]
    cells = {"as_tensors": [{"name": name} for name in names[:-2]]}
    hidden = {"as_tensors": [{"name": name} for name in states]} if kind == "lstm" else tensor("h")
    flags = [{"as_bool": one} for one in (True, False, False, True)]
    truth = [flags[0], {"as_int": LAYERS}, {"as_float": 0.0}, *flags[1:]]
    layers = exported.operation(f"{kind}.input", "y", tensor("x"), hidden, cells, *truth)
    layers["outputs"] += [tensor(f"{name}_after") for name in states]
    axis = {"as_int": 1}
    nodes = [
        layers,
        exported.operation("squeeze.dim", "z", tensor("y"), axis),
        exported.operation("linear.default", "effort", tensor("z"), *map(tensor, names[-2:])),
    ]
    shapes = {"x": meta(exported.OPEN, 1, 2), **{name: meta(LAYERS, exported.OPEN, SIZE) for name in states}}
    specs = [{"parameter": {"arg": {"name": f"p_{name}"}, "parameter_name": name}} for name in held]
    listed = {
        name: {"path_name": f"w{place}", "use_pickle": False, "tensor_meta": meta(*values.shape)}
        for place, (name, values) in enumerate(held.items())
    }
    return {
        "weights": listed,
        "constants": {},
        "graph": {"nodes": nodes, "tensor_values": shapes},
        "inputs": [*specs, *({"user_input": {"arg": tensor(name)}} for name in ("x", *states))],
        "outputs": [{"user_output": {"arg": tensor(n)}} for n in ("effort", *(f"{one}_after" for one in states))],
        "files": {f"data/weights/w{place}": values.tobytes() for place, values in enumerate(held.values())},
    }
