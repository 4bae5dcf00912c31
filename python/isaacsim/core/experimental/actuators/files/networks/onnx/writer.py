"""Writes a network as an ONNX file that other programs read too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks import network as net
from ....laws.networks.metadata import write_json
from ....laws.networks.network import GRUCell, LSTMCell, Network, Operation
from .messages import library
from .operators import BINARY, UNARY, sorted_gates

OPSET, IR_VERSION = 17, 8
UNARY_NODES = {function: kind for kind, function in UNARY.items()}
BINARY_NODES = {function: kind for kind, function in BINARY.items()}
STATES = {"lstm": ("hidden", "cell"), "gru": ("hidden",), "mlp": ()}
# PyTorch's index of each of ONNX's gates
GATES = {LSTMCell: (0, 3, 1, 2), GRUCell: (1, 0, 2)}


def write(network: Network, metadata: Mapping[str, object]) -> bytes:
    """An ONNX file, opset 17, that takes float32 rows.

    An MLP takes `(rows, inputs)`. A recurrent network takes `(1, rows, inputs)`, and of an LSTM hidden and cell state
    `(layers, rows, hidden_size)`, of a GRU the hidden state of each layer, `(1, rows, hidden_size)`; it returns effort
    `(rows, 1)` and these states. Property `metadata` holds the metadata as JSON, with the names of inputs and outputs.
    A `NetworkError` says that the package onnx is missing, or that metadata cannot be written as JSON.
    """
    return _Writer(network).write(metadata)


class _Writer:
    def __init__(self, network: Network) -> None:
        self._onnx: Any = library()
        self._network = network
        self._nodes: list[object] = []
        self._constants: list[object] = []
        self._states, layers = STATES[network.kind], range(network.num_layers)
        suffixes = [f"_{layer}" for layer in layers] if len(layers) > 1 else [""]
        # names of each layer's states before and after the step
        self._before, self._after = (
            {one: [f"{one}_{way}{suffix}" for suffix in suffixes] for one in self._states} for way in ("in", "out")
        )
        # an LSTM has one input and output for each state of all layers, a GRU one for each layer
        self._joined = network.kind == "lstm" and len(layers) > 1
        # input, output, and number of layers in these
        self._ports = [(f"{state}_in", f"{state}_out", len(layers)) for state in self._states]
        if network.kind == "gru":
            self._ports = [*zip(self._before["hidden"], self._after["hidden"], [1] * len(layers), strict=True)]
        # name of each value
        self._values = ["input_row" if layers else "input"]

    def write(self, metadata: Mapping[str, object]) -> bytes:
        """Return the file."""
        if isinstance(self._network.operations[-1], net.Constant):
            # a constant has one row
            raise NetworkError("effort does not depend on the input: cannot be written as ONNX. Use safetensors.")
        if self._joined:
            parts = self._constant("layers", np.ones(self._network.num_layers, np.int64))
            for state in self._states:
                self._node("Split", [f"{state}_in", parts], *self._before[state], axis=0)
        if self._states:
            self._zero = self._constant("axis_0", np.array([0], np.int64))
            self._pair = self._constant("axes_0_1", np.array([0, 1], np.int64))
            self._node("Squeeze", ["input", self._zero], "input_row")
        for number, operation in enumerate(self._network.operations, 1):
            name = f"value_{number}"
            self._add(name, operation)
            self._values.append(name)
        if self._joined:
            for state in self._states:
                self._node("Concat", self._after[state], f"{state}_out", axis=0)
        self._node("Identity", [self._values[-1]], "effort")
        return self._model(metadata)

    def _model(self, metadata: Mapping[str, object]) -> bytes:
        helper, network = self._onnx.helper, self._network
        size = network.hidden_size
        shape = (1, "rows", network.inputs) if self._states else ("rows", network.inputs)
        before = [self._port(name, count, "rows", size) for name, _, count in self._ports]
        after = [self._port(name, count, "rows", size) for _, name, count in self._ports]
        inputs, outputs = [self._port("input", *shape), *before], [self._port("effort", "rows", 1), *after]
        graph = helper.make_graph(self._nodes, "actuator", inputs, outputs, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        names = {"input_name": "input", "output_name": "effort"}
        if len(self._ports) == len(self._states):
            for state in self._states:
                names |= {f"{state}_in_name": f"{state}_in", f"{state}_out_name": f"{state}_out"}
        about = {"model_type": network.kind, "num_layers": network.num_layers, "hidden_size": size}
        text = write_json({**(about if self._states else {}), **metadata, **names})
        helper.set_model_props(model, {"metadata": text})
        return model.SerializeToString()

    def _node(self, kind: str, sources: list[str], *outputs: str, **attributes: object) -> None:
        self._nodes.append(self._onnx.helper.make_node(kind, sources, list(outputs), **attributes))

    def _constant(self, name: str, values: np.ndarray) -> str:
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _port(self, name: str, *shape: int | str) -> object:
        return self._onnx.helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, shape)

    def _add(self, name: str, operation: Operation) -> None:
        match operation:
            case net.Constant(values):
                self._constant(name, values[None])
            case net.Linear(source, weight, bias):
                arrays = [self._constant(f"{name}_weight", weight), self._constant(f"{name}_bias", bias)]
                self._node("Gemm", [self._values[source], *arrays], name, transB=1)
            case net.Unary():
                self._unary(name, operation)
            case net.Binary(function, first, second):
                self._node(BINARY_NODES[function], [self._values[first], self._values[second]], name)
            case net.Concatenate(sources):
                self._node("Concat", [self._values[source] for source in sources], name, axis=1)
            case net.Slice(source, start, stop):
                numbers = {"start": start, "stop": stop, "axis": 1}
                bounds = [self._constant(f"{name}_{at}", np.array([one], np.int64)) for at, one in numbers.items()]
                self._node("Slice", [self._values[source], *bounds], name)
            case _:
                self._cell(name, operation)

    def _unary(self, name: str, operation: net.Unary) -> None:
        x, function, numbers = self._values[operation.source], operation.function, operation.numbers
        if function == "clamp":
            bounds = zip("ab", numbers, strict=True)
            self._node(
                "Clip", [x, *(self._constant(f"{name}_{at}", np.array(one, np.float32)) for at, one in bounds)], name
            )
        elif function == "softplus" and numbers != (1.0,):
            factor = self._constant(f"{name}_beta", np.array(numbers[0], np.float32))
            self._node("Mul", [x, factor], f"{name}_scaled")
            self._node("Softplus", [f"{name}_scaled"], f"{name}_plus")
            self._node("Div", [f"{name}_plus", factor], name)
        else:
            alpha = {"alpha": numbers[0]} if numbers and function != "softplus" else {}
            self._node(UNARY_NODES[function], [x], name, **alpha)

    def _cell(self, name: str, operation: LSTMCell | GRUCell) -> None:
        order, source = GATES[type(operation)], operation.source
        # the input is one step already, and newton knows no Unsqueeze
        step = "input"
        if source != 0:
            step = f"{name}_step"
            self._node("Unsqueeze", [self._values[source], self._zero], step)
        if isinstance(operation, LSTMCell):
            biases, more = (operation.bias, np.zeros_like(operation.bias)), {}
        else:
            biases, more = (operation.bias_ih, operation.bias_hh), {"linear_before_reset": 1}
        weights = {
            "w": sorted_gates(operation.weight_ih, order)[None],
            "r": sorted_gates(operation.weight_hh, order)[None],
            "b": np.concatenate([sorted_gates(bias, order) for bias in biases])[None],
        }
        arrays = [self._constant(f"{name}_{key}", values) for key, values in weights.items()]
        before, after = ([one[state][operation.layer] for state in self._states] for one in (self._before, self._after))
        kind, size = self._network.kind.upper(), self._network.hidden_size
        self._node(kind, [step, *arrays, "", *before], f"{name}_y", *after, hidden_size=size, **more)
        self._node("Squeeze", [f"{name}_y", self._pair], name)
