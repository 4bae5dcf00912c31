"""A TorchScript archive read as data: its tensors unpickled, its code interpreted over a closed list of operations."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import Network
from ..tracer import ROWS, Value
from .archive import Archive, entry_names, metadata_of, only_our_errors
from .operations import perform
from .unpickle import Record, load
from .values import Builder, State, Unknown, new_states, refuse


def matches(data: bytes) -> bool:
    """Return True for a TorchScript archive, by its entries."""
    names = entry_names(data)
    if not names:
        return data.startswith(b"PK\3\4") and b"/constants.pkl" in data and b"/code/__torch__" in data
    return "data.pkl" in names and "constants.pkl" in names


@only_our_errors("TorchScript archive")
def read(data: bytes) -> tuple[Network, dict[str, object]]:
    """The network of a TorchScript archive, and its metadata.

    Its `forward` takes `x` of shape `(rows, in)`; with a recurrent layer `x` of `(rows, 1, in)` and the states, as `(h,
    c)`, as two or, for a GRU, as one, and returns the output and the new states in the same order. A `NetworkError`
    says that the file is damaged or too large, or does something that cannot be read as data.
    """
    archive = Archive(data)
    root = load(archive.read("data.pkl"), lambda key: archive.read(f"data/{key}"))
    constants = load(archive.read("constants.pkl"), lambda key: archive.read(f"constants/{key}"))
    if not isinstance(root, Record) or not isinstance(constants, tuple):
        raise NetworkError("archive holds no module: must. Save it with torch.jit.save.")
    return _network(Code(archive, constants), root), metadata_of(archive)


def _network(code: Code, root: Record) -> Network:
    """Interpret the forward pass for each width that the input may have, and return the network that fits."""
    held = arrays(root)
    networks: list[Network] = []
    # errors with the number of steps to each
    errors: list[tuple[int, NetworkError]] = []
    for inputs in _widths(code, held):
        builder, complete = Builder(inputs), 0
        interpreter = Interpreter(code, builder)
        try:
            output = _forward(code, root, interpreter, inputs)
            complete = MAX_STEPS
            networks.append(builder.network_of(output, held))
        except NetworkError as error:
            errors.append((complete + interpreter.steps, error))
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


def _widths(code: Code, held: Mapping[str, np.ndarray]) -> list[int]:
    known = [*held.values(), *(one for one in code.constants if isinstance(one, np.ndarray))]
    return sorted({1, *(n for one in known if 1 <= one.ndim <= 3 for n in one.shape)})[:32]


def _forward(code: Code, root: Record, interpreter: Interpreter, inputs: int) -> Value:
    method = code.member(root, "forward")
    if not isinstance(method, Method):
        raise NetworkError(f"{root.type} has no method forward: must have. Save the network anew.")
    states = _states(method.code.args.args[2:])
    x = Value(0, (ROWS, 1, inputs) if states else (ROWS, inputs))
    output, *returned = _flat(interpreter.call(method, [x, *states], {})) or [None]
    wanted = [one.name for one in _flat(states) if isinstance(one, State)]
    if not isinstance(output, Value):
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


# of all files together; a syntax tree takes a thousand times as much memory
MAX_TEXT = 1 << 18
MAX_STEPS = 20_000
MAX_CALLS = 32
MAX_NESTING = 150
_SEQUENCES: dict[type[ast.expr], Callable[[list[object]], object]] = {ast.List: list, ast.Tuple: tuple}

T = TypeVar("T")


@dataclass(frozen=True)
class Name:
    """A dotted name, resolved when it is called: `torch.add`, `__torch__.torch.nn.functional.relu`."""

    path: str


@dataclass(frozen=True, eq=False)
class Method:
    """A function of the archive; a method is bound to an object."""

    where: str
    code: ast.FunctionDef
    bound: tuple[object, ...] = ()


class _PlacedError(NetworkError):
    """An error whose message names the place in the code."""


class _Return(Exception):
    def __init__(self, value: object) -> None:
        self.value = value


ROOTS = ("torch", "ops", "__torch__")


class Code:
    """The classes and functions of an archive, read on demand, with `CONSTANTS.c0`, `CONSTANTS.c1` … of its code."""

    def __init__(self, archive: Archive, constants: tuple[object, ...]) -> None:
        self._archive = archive
        self.constants = constants
        self._files: dict[str, dict[str, ast.stmt]] = {}
        self._left = MAX_TEXT

    def find(self, path: str) -> ast.ClassDef | ast.FunctionDef:
        """The definition of a qualified name; a `NetworkError` if it is missing, or not as PyTorch writes it."""
        module, _, name = path.rpartition(".")
        found = self._file(f"code/{module.replace('.', '/')}.py").get(name)
        if not isinstance(found, ast.ClassDef | ast.FunctionDef):
            raise NetworkError(f"archive has no code of {path[:200]}: must have. Save it anew with PyTorch.")
        return found

    def _file(self, entry: str) -> dict[str, ast.stmt]:
        if entry not in self._files:
            content = self._archive.read(entry)
            self._left -= len(content)
            if self._left < 0:
                raise NetworkError(f"archive has more than {MAX_TEXT} bytes of code: must have fewer.")
            self._files[entry] = {
                item.name: item
                for item in parse(content, entry).body
                if isinstance(item, ast.ClassDef | ast.FunctionDef)
            }
        return self._files[entry]

    def constant(self, name: str) -> object:
        """Return the value of `CONSTANTS.c0`, `CONSTANTS.c1` …, by its last part."""
        number = int(name[1:]) if name[:1] == "c" and name[1:].isdecimal() and len(name) < 9 else -1
        if not 0 <= number < len(self.constants):
            raise NetworkError(f"archive has no constant {name[:100]}: must have. Save it anew with PyTorch.")
        return self.constants[number]

    def member(self, record: Record, name: str) -> object:
        """Return an attribute of an object, a constant of its class or a method."""
        if name in record.attributes:
            return record.attributes[name]
        kind = self.find(record.type)
        for item in kind.body if isinstance(kind, ast.ClassDef) else []:
            match item:
                case ast.FunctionDef(name=own) if own == name:
                    return Method(record.type, item, (record,))
                case ast.AnnAssign(target=ast.Name(id=own), value=ast.expr() as value) if own == name:
                    return literal(value)
        raise NetworkError(f"{record.type} has no {name[:100]}: must have. Save the network anew.")


def parse(content: bytes, entry: str) -> ast.Module:
    """The syntax tree of a text; a `NetworkError` if it is not valid, or too deeply nested."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content.decode("utf-8"))
    except (RecursionError, MemoryError) as error:
        raise NetworkError(f"{entry} is nested deeper than Python reads: must be flatter. Save it anew.") from error
    except (SyntaxError, ValueError) as error:
        raise NetworkError(f"{entry} is no code that PyTorch writes ({error}): must be. Save it anew.") from error


def source_of(node: ast.AST) -> str:
    """The text of a node, shortened; a `NetworkError` if it is too deeply nested."""
    try:
        return ast.unparse(node)[:100]
    except RecursionError as error:
        raise NetworkError("code is nested deeper than Python writes: must be flatter. Save it anew.") from error


def literal(node: ast.expr) -> object:
    """Return a number, text or list that is written in the code."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            if type(value) is int and value.bit_length() > 64:
                raise NetworkError("a whole number in the code has more than 64 bits: must have fewer.")
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id="inf"):
            return math.inf
        case ast.List(elts=items):
            return [literal(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(literal(item) for item in items)
    raise refuse(f"{source_of(node)} as a constant")


class Interpreter:
    """Interprets functions of an archive; operations on tensors go to a builder."""

    def __init__(self, code: Code, builder: Builder) -> None:
        self._code = code
        self._builder = builder
        self.steps = 0
        self._depth = 0
        self._nesting = 0

    def call(self, method: Method, arguments: list[object], named: dict[str, object]) -> object:
        """Call a function and return its result.

        A `NetworkError` names function, line and operation of what is outside the closed list.
        """
        self._depth += 1
        if self._depth > MAX_CALLS:
            raise NetworkError(f"functions of the code call each other more than {MAX_CALLS} deep: must not.")
        values = self._arguments(method, [*method.bound, *arguments], named)
        try:
            self._block(method, method.code.body, values)
        except _Return as result:
            return result.value
        finally:
            self._depth -= 1
        return None

    def _arguments(self, method: Method, given: list[object], named: dict[str, object]) -> dict[str, object]:
        spec, name = method.code.args, method.code.name
        names = [one.arg for one in spec.args]
        if spec.vararg or spec.kwarg or spec.posonlyargs or spec.kwonlyargs or len(given) > len(names):
            raise refuse(f"a call of {name} with {len(given)} values")
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        values = dict(zip(names, given, strict=False)) | named
        for one in sorted(set(names) - set(values), key=names.index):
            if one not in defaults:
                raise refuse(f"a call of {name} without {one}")
            values[one] = literal(defaults[one])
        if set(values) != set(names):
            raise refuse(f"a call of {name} with other names")
        return values

    def _block(self, method: Method, body: list[ast.stmt], values: dict[str, object]) -> None:
        for statement in body:
            try:
                self._statement(method, statement, values)
            except _PlacedError:
                raise
            except NetworkError as error:
                place = f"{method.where}.{method.code.name}, line {statement.lineno}"
                raise _PlacedError(f"{place}: {error}") from error

    def _statement(self, method: Method, statement: ast.stmt, values: dict[str, object]) -> None:
        self._count()
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._value(value, values), values)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = self._value(value, values)
            case ast.Expr(value=value):
                self._value(value, values)
            case ast.Return(value=value):
                raise _Return(None if value is None else self._value(value, values))
            case ast.If(test=test, body=body, orelse=other):
                chosen = body if self._condition(test, values) else other
                self._nest(lambda: self._block(method, chosen, values))
            case ast.Pass():
                pass
            case _:
                raise refuse(f"statement {type(statement).__name__.lower()}")

    def _condition(self, test: ast.expr, values: dict[str, object]) -> bool:
        chosen = self._value(test, values)
        if not isinstance(chosen, bool):
            raise refuse(f"if {source_of(test)}, which differs from row to row,")
        return chosen

    def _nest(self, action: Callable[[], T]) -> T:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise NetworkError(f"code is nested deeper than {MAX_NESTING}: must be flatter. Save the network anew.")
        try:
            return action()
        finally:
            self._nesting -= 1

    def _count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise NetworkError(f"code takes more than {MAX_STEPS} steps: must take fewer. Use a smaller network.")

    def _assign(self, target: ast.expr, value: object, values: dict[str, object]) -> None:
        match target:
            case ast.Name(id=name):
                values[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                if not isinstance(value, list | tuple) or len(value) != len(parts):
                    raise refuse(f"taking {len(parts)} values from one {type(value).__name__}")
                for part, one in zip(parts, value, strict=True):
                    self._assign(part, one, values)
            case _:
                raise refuse(f"an assignment to {source_of(target)}")

    def _value(self, node: ast.expr, values: dict[str, object]) -> object:
        return self._nest(lambda: self._expression(node, values))

    def _expression(self, node: ast.expr, values: dict[str, object]) -> object:
        self._count()
        match node:
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.Name(id=name) if name in ROOTS:
                return Name(name)
            case ast.Attribute(value=ast.Name(id="CONSTANTS"), attr=name):
                return self._code.constant(name)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(self._value(owner, values), name)
            case ast.Subscript(value=owner, slice=index):
                return self._item(self._value(owner, values), self._value(index, values))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                # not a method: it would take one more frame for each level
                return _SEQUENCES[type(node)]([self._value(item, values) for item in items])
            case ast.Call():
                return self._call(node, values)
            case _:
                return literal(node)

    def _attribute(self, owner: object, name: str) -> object:
        if isinstance(owner, Name):
            return Name(f"{owner.path}.{name}")
        if isinstance(owner, Record):
            return self._code.member(owner, name)
        raise refuse(f"attribute {name[:100]} of {type(owner).__name__}")

    def _item(self, owner: object, index: object) -> object:
        if isinstance(owner, list | tuple) and type(index) is int and -len(owner) <= index < len(owner):
            return owner[index]
        raise refuse(f"an item of {type(owner).__name__}")

    def _call(self, node: ast.Call, values: dict[str, object]) -> object:
        if isinstance(node.func, ast.Name) and node.func.id not in values:
            return self._builtin(node.func.id, node, values)
        function = self._value(node.func, values)
        arguments = [self._value(one, values) for one in node.args]
        if any(one.arg is None for one in node.keywords):
            raise refuse("a call with **")
        named = {str(one.arg): self._value(one.value, values) for one in node.keywords}
        if isinstance(function, Method):
            return self.call(function, arguments, named)
        if not isinstance(function, Name):
            raise refuse(f"a call of {type(function).__name__}")
        root, _, rest = function.path.partition(".")
        if root == "__torch__":
            return self.call(self._function(function.path), arguments, named)
        return perform(self._builder, rest.removeprefix("aten."), arguments, named)

    def _function(self, path: str) -> Method:
        found = self._code.find(path)
        if isinstance(found, ast.ClassDef):
            raise refuse(f"making an object of {path[:100]}")
        return Method(path.rpartition(".")[0], found)

    def _builtin(self, name: str, node: ast.Call, values: dict[str, object]) -> object:
        arguments = node.args
        if node.keywords:
            raise refuse(f"{name[:100]} with named values")
        match name, arguments:
            case ("annotate" | "unchecked_cast", [_kind, value]):
                return self._value(value, values)
            case "uninitialized", [_kind]:
                return None
            case "getattr", [owner, ast.Constant(value=str() as attribute)]:
                return self._attribute(self._value(owner, values), attribute)
            case (("int" | "float" | "bool"), [value]):
                return self._cast(name, self._value(value, values))
        raise refuse(f"operation {name[:100]}")

    def _cast(self, name: str, value: object) -> object:
        if name == "float" and isinstance(value, str) and value in ("inf", "-inf", "nan"):
            return float(value)
        value = perform(self._builder, "item", [value], {})
        if isinstance(value, bool | int | float):
            return {"int": int, "float": float, "bool": bool}[name](value)
        return value


def arrays(root: Record) -> dict[str, np.ndarray]:
    """Return all arrays in an object, by the path of their attributes."""
    found: dict[str, np.ndarray] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, np.ndarray):
            found.setdefault(path, value)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if path.count(".") > MAX_CALLS:
            raise NetworkError(f"objects of the archive hold each other more than {MAX_CALLS} deep: must not.")
        inner: Iterable[tuple[object, object]] = ()
        match value:
            case Record(attributes=attributes):
                inner = attributes.items()
            case dict():
                inner = value.items()
            case list() | tuple():
                inner = enumerate(value)
        waiting += [(f"{path}.{key}".strip("."), one) for key, one in inner]
    return found
