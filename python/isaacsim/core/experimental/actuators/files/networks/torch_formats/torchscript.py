"""A TorchScript archive read as data: its tensors unpickled, its code interpreted over a closed list of operations."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import Network
from .archive import Archive, entry_names, metadata_of
from .interpreter import MAX_STEPS, Code, Interpreter, Method, arrays
from .unpickle import Record, load
from .values import ROWS, Builder, State, Tensor, Unknown, new_states, refuse


def matches(data: bytes) -> bool:
    """Return True for a TorchScript archive, by its entries."""
    names = entry_names(data)
    if not names:
        return data.startswith(b"PK\3\4") and b"/constants.pkl" in data and b"/code/__torch__" in data
    return "data.pkl" in names and "constants.pkl" in names


def read(data: bytes) -> tuple[Network, dict[str, object]]:
    """Return the network of a TorchScript archive, and its metadata.

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
    # a hostile file may fail in any way
    except Exception as error:
        raise NetworkError(f"file is no TorchScript archive that can be read ({error!r}). Save it anew.") from error


def _read(data: bytes) -> tuple[Network, dict[str, object]]:
    archive = Archive(data)
    root = load(archive.read("data.pkl"), lambda key: archive.read(f"data/{key}"))
    constants = load(archive.read("constants.pkl"), lambda key: archive.read(f"constants/{key}"))
    if not isinstance(root, Record) or not isinstance(constants, tuple):
        raise NetworkError("archive holds no module: must. Save it with torch.jit.save.")
    code = Code(archive, constants)
    return _network(code, root), metadata_of(archive)


def _network(code: Code, root: Record) -> Network:
    """Interpret the forward pass for each width that the input may have, and return the network that fits."""
    held = arrays(root)
    networks: list[Network] = []
    # errors with the number of steps to each
    errors: list[tuple[int, NetworkError]] = []
    for inputs in _widths(code, held):
        found = _attempt(code, root, inputs, held)
        if isinstance(found, Network):
            networks.append(found)
        else:
            errors.append(found)
        # a third one decides no more
        if len(networks) > 2:
            break
    # an input of one number fits too where scales as wide as the input repeat it
    if len(networks) > 1 and networks[0].inputs == 1:
        del networks[0]
    if len(networks) > 1:
        widths = [network.inputs for network in networks[:2]]
        raise NetworkError(f"input may be any of {widths} wide: must be told by a layer. Convert it to ONNX.")
    if not networks:
        raise max(errors, key=lambda one: one[0])[1]
    return networks[0]


def _widths(code: Code, held: dict[str, np.ndarray]) -> list[int]:
    """Lengths of axes of constants and attributes, one of which is the width of the input."""
    known = [*held.values(), *(one for one in code.constants if isinstance(one, np.ndarray))]
    return sorted({1, *(n for one in known if 1 <= one.ndim <= 3 for n in one.shape)})[:32]


def _attempt(code: Code, root: Record, inputs: int, held: dict[str, np.ndarray]) -> Network | tuple[int, NetworkError]:
    """The network with an input of this width, or the number of steps to its error."""
    builder, complete = Builder(inputs), 0
    interpreter = Interpreter(code, builder)
    try:
        output = _forward(code, root, interpreter, inputs)
        complete = MAX_STEPS
        return builder.network(output, held)
    except NetworkError as error:
        return complete + interpreter.steps, error


def _forward(code: Code, root: Record, interpreter: Interpreter, inputs: int) -> Tensor:
    """Return the output of the forward pass, after the states that it returns are checked."""
    method = code.member(root, "forward")
    if not isinstance(method, Method):
        raise NetworkError(f"{root.type} has no method forward: must have. Save the network anew.")
    states = _states(method.code.args.args[2:])
    x = Tensor(0, (ROWS, 1, inputs) if states else (ROWS, inputs))
    output, *returned = _flat(interpreter.call(method, [x, *states], {})) or [None]
    wanted = [one.name for one in _flat(states) if isinstance(one, State)]
    if not isinstance(output, Tensor):
        raise refuse("a forward pass that does not return its output first")
    if (got := new_states(returned)) != wanted:
        raise refuse(f"a forward pass that takes states {wanted} and returns {got}")
    return output


def _states(parameters: Sequence[ast.arg]) -> list[Any]:
    """Return the states that a forward pass takes besides the input, in the form of its parameters."""
    kinds = [ast.unparse(one.annotation or ast.Constant("")) for one in parameters]
    # flags with defaults come last
    while kinds and "Tensor" not in kinds[-1]:
        kinds.pop()
    layers, size = Unknown(), Unknown()
    both, text = [State("h", layers, size), State("c", layers, size)], "".join(kinds)
    if "Tuple[" not in text and "List[" not in text and len(kinds) < 3:
        return both[: len(kinds)]
    if len(kinds) == 1:
        return [tuple(both) if "Tuple[" in text else both]
    raise refuse(f"a forward pass of {len(kinds) + 1} inputs")


def _flat(value: object) -> list[object]:
    """Return the values of a list, those of inner lists in place of these."""
    flat: list[object] = []
    for one in value if isinstance(value, list | tuple) else [value]:
        flat += one if isinstance(one, list | tuple) else [one]
    return flat
