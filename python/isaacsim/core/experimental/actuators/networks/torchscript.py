"""A TorchScript archive read as data: its tensors unpickled, its code interpreted over a closed list."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..errors import NetworkError
from .network import Network
from .torch_archive import Archive, entry_names, metadata_of
from .torch_pickle import Record, load
from .torchscript_code import MAX_STEPS, Code, Interpreter, Method, arrays
from .torchscript_values import ROWS, Builder, State, Tensor, Unknown, refuse


def matches(data: bytes) -> bool:
    """Is this a TorchScript archive, by its entries?"""
    names = entry_names(data)
    if not names:
        return data.startswith(b"PK\3\4") and b"/constants.pkl" in data and b"/code/__torch__" in data
    return "data.pkl" in names and "constants.pkl" in names


def read(data: bytes) -> tuple[Network, dict[str, Any]]:
    """The network of a TorchScript archive, and its metadata.

    Its `forward` takes `x` of shape `(rows, in)`; with a recurrent layer `x` of `(rows, 1, in)` and the states, as
    `(h, c)`, as two or, for a GRU, as one, and returns the output and the new states in the same order.

    Args:
        data: Bytes of the file.

    Raises:
        NetworkError: The file is damaged or too large, or does something that cannot be read as data.
    """
    try:
        return _read(data)
    except NetworkError:
        raise
    except Exception as error:  # whatever a hostile file makes fail is one error
        raise NetworkError(f"file is no TorchScript archive that can be read ({error!r}). Save it anew.") from error


def _read(data: bytes) -> tuple[Network, dict[str, Any]]:
    archive = Archive(data)
    root = load(archive.read("data.pkl"), lambda key: archive.read(f"data/{key}"))
    constants = load(archive.read("constants.pkl"), lambda key: archive.read(f"constants/{key}"))
    if not isinstance(root, Record) or not isinstance(constants, tuple):
        raise NetworkError("archive holds no module: must. Save it with torch.jit.save.")
    code = Code(archive, constants)
    return _network(code, root), metadata_of(archive)


def _network(code: Code, root: Record) -> Network:
    """Interprets the forward pass for each width that the input may have, and keeps the one that fits."""
    held = arrays(root)
    constants = [one for one in code.constants if isinstance(one, np.ndarray)]
    sizes = {n for one in [*held.values(), *constants] if 1 <= one.ndim <= 3 for n in one.shape} | {1}
    networks: list[Network] = []
    deepest: tuple[int, NetworkError] | None = None
    for inputs in sorted(sizes)[:32]:
        builder = Builder(inputs)
        interpreter = Interpreter(code, builder)
        far = 0
        try:
            output = _forward(code, root, interpreter, inputs)
            far = MAX_STEPS
            networks.append(builder.network(output, held))
            if sum(network.inputs > 1 for network in networks) > 1:
                break
        except NetworkError as error:
            far += interpreter.steps
            if deepest is None or far > deepest[0]:
                deepest = (far, error)
    if len(networks) > 1:  # an input of one number fits too where scales as wide as the input repeat it
        networks = [network for network in networks if network.inputs > 1]
    if len(networks) > 1:
        widths = [network.inputs for network in networks]
        raise NetworkError(f"input may be any of {widths} wide: must be told by a layer. Convert it to ONNX.")
    if not networks:
        assert deepest is not None
        raise deepest[1]
    return networks[0]


def _forward(code: Code, root: Record, interpreter: Interpreter, inputs: int) -> Tensor:
    """Output of the forward pass, after the states that it returns were checked."""
    method = code.member(root, "forward")
    if not isinstance(method, Method):
        raise NetworkError(f"{root.type} has no method forward: must have. Save the network anew.")
    spec = method.code.args
    given = spec.args[2:]
    kinds = ["" if one.annotation is None else ast.unparse(one.annotation) for one in given]
    while kinds and "Tensor" not in kinds[-1]:  # flags with defaults
        kinds.pop()
    layers, size = Unknown(), Unknown()
    hidden, cell = State("h", layers, size), State("c", layers, size)
    states: list[Any]
    match ["pair" if "Tuple[" in kind or "List[" in kind else "one" for kind in kinds]:
        case []:
            states = []
        case ["pair"]:
            states = [(hidden, cell)] if "Tuple[" in kinds[0] else [[hidden, cell]]
        case ["one"]:
            states = [hidden]
        case ["one", "one"]:
            states = [hidden, cell]
        case _:
            raise refuse(f"a forward pass of {len(kinds) + 1} inputs")
    x = Tensor(0, (ROWS, 1, inputs) if states else (ROWS, inputs))
    result = interpreter.call(method, [x, *states], {})
    output, *returned = _flat(result) or [None]
    wanted = [one.name for one in _flat(states) if isinstance(one, State)]
    got = [one.name if isinstance(one, State) and one.nodes is not None else "?" for one in returned]
    if not isinstance(output, Tensor):
        raise refuse("a forward pass that does not return its output first")
    if got != wanted:
        raise refuse(f"a forward pass that takes states {wanted} and returns {got}")
    return output


def _flat(value: Any) -> list[Any]:
    """What a value holds, with what is in lists inside."""
    flat = []
    for one in value if isinstance(value, list | tuple) else [value]:
        flat += one if isinstance(one, list | tuple) else [one]
    return flat
