"""Archives of `torch.export` (`.pt2`) made without it: a graph in JSON and weights as raw numbers."""

import io
import json
import zipfile

from small_networks import numbers

WEIGHTS = {"0.weight": numbers(4, 2), "0.bias": numbers(4), "2.weight": numbers(1, 4), "2.bias": numbers(1)}
OPEN = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 3}}}


def meta(*sizes) -> dict:
    lengths = [size if isinstance(size, dict) else {"as_int": size} for size in sizes]
    steps = [1]
    for size in reversed(sizes[1:]):
        steps.insert(0, steps[0] * (size if isinstance(size, int) else 1))
    strides = [{"as_int": step} for step in steps]
    return {"dtype": 7, "sizes": lengths, "strides": strides, "storage_offset": {"as_int": 0}, "layout": 7}


def tensor(name: str) -> dict:
    return {"as_tensor": {"name": name}}


def operation(target: str, result: str, *arguments: dict) -> dict:
    inputs = [{"name": str(place), "arg": one, "kind": 1} for place, one in enumerate(arguments)]
    return {"target": f"torch.ops.aten.{target}", "inputs": inputs, "outputs": [tensor(result)]}


def parts() -> dict:
    """What an archive of two layers holds: tanh between them, and the output times 20."""
    held = {
        name: {"path_name": f"w{place}", "use_pickle": False, "tensor_meta": meta(*values.shape)}
        for place, (name, values) in enumerate(WEIGHTS.items())
    }
    specs = [{"parameter": {"arg": {"name": f"p_{name}"}, "parameter_name": name}} for name in WEIGHTS]
    nodes = [
        operation("linear.default", "a", tensor("x"), tensor("p_0.weight"), tensor("p_0.bias")),
        operation("tanh.default", "b", tensor("a")),
        operation("linear.default", "c", tensor("b"), tensor("p_2.weight"), tensor("p_2.bias")),
        operation("mul.Tensor", "d", tensor("c"), {"as_float": 20.0}),
    ]
    return {
        "weights": held,
        "constants": {},
        "graph": {"nodes": nodes, "tensor_values": {"x": meta(OPEN, 2)}},
        "inputs": [*specs, {"user_input": {"arg": tensor("x")}}],
        "outputs": [{"user_output": {"arg": tensor("d")}}],
        "files": {f"data/weights/w{place}": values.tobytes() for place, values in enumerate(WEIGHTS.values())},
    }


def archive(given: dict) -> bytes:
    signature = {"input_specs": given["inputs"], "output_specs": given["outputs"]}
    files = {
        "archive_format": b"pt2",
        "models/model.json": json.dumps({"graph_module": {"graph": given["graph"], "signature": signature}}),
        "data/weights/model_weights_config.json": json.dumps({"config": given["weights"]}),
        "data/constants/model_constants_config.json": json.dumps({"config": given["constants"]}),
        **given["files"],
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in files.items():
            if content is not None:
                made.writestr(f"net/{name}", content)
    return file.getvalue()
