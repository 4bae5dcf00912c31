"""Python text read as data: constants, arithmetic, dictionaries, and calls of classes with fields; nothing is run.

Statements act in their order: assignments to names, to fields and to entries. What cannot be read is an `Unread` in
place of a value, an error only for those who need it. A statement that cannot be read and mentions what the text
defines is an error at once, for it may change it.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, cast

from ...base.values import is_number

# bounds of a text and of its values, which keep arithmetic short
_MOST_ROUNDS = 10_000
_LARGEST_TEXT = 10_000_000
_LARGEST = 1_000_000
_LARGEST_INTEGER = 10**300
_SHOWN = 100


@dataclass(eq=False)
class Record:
    """An object with fields: a call, in some line, of a class of another module by keywords; others are missing."""

    name: str
    fields: dict[str, object]
    line: int

    @property
    def kind(self) -> str:
        """Name of the class without its module."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Imported:
    """Something of another module, by its name with that of its module."""

    name: str


@dataclass(frozen=True, eq=False)
class Unread:
    """Something in a line that cannot be read; `why` is the predicate of a sentence.

    `is_of_others` is True if nothing that the text defines can be a part of it.
    """

    line: int
    text: str
    why: str
    is_of_others: bool = False


def read_python(file: Path) -> dict[str, object]:
    """Return what the names in a file of Python are: numbers, text, collections, `Record`, `Imported` and `Unread`.

    Raises ValueError if it is not Python, or has a statement that cannot be read and may change what can.
    """
    return _Reader(file).read()


def problem(file: Path, unread: Unread) -> str:
    """Return the message for something that cannot be read."""
    return (
        f"{file}:{unread.line}: `{unread.text}` {unread.why}: must be constants, arithmetic, lists, dictionaries and "
        "cfg classes, for the file is read and not run. Write the value in its place."
    )


class _Reader:
    def __init__(self, file: Path) -> None:
        self._file, self._left = file, _MOST_ROUNDS
        self._names: dict[str, object] = {"__file__": str(file), "__name__": file.stem}

    def read(self) -> dict[str, object]:
        """Return the values by name."""
        content = self._file.read_bytes()
        if len(content) > _LARGEST_TEXT:
            raise ValueError(
                f"{self._file}: has {len(content)} bytes: must have {_LARGEST_TEXT} at most. Give the cfg's file."
            )
        try:
            self._run(ast.parse(content).body)
        except (SyntaxError, UnicodeError) as error:
            raise ValueError(f"{self._file}: is not Python ({error}): must be. Correct it.") from error
        except (RecursionError, MemoryError) as error:
            raise ValueError(f"{self._file}: is nested too deeply: must be flatter. Simplify it.") from error
        return self._names

    # statements

    def _run(self, statements: Iterable[ast.stmt]) -> None:
        for one in statements:
            match one:
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Import() | ast.ImportFrom():
                    self._import(one)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._names[name] = Unread(one.lineno, name, "is defined in the file")
                case ast.If(test=test) if _is_false(test):
                    self._run(one.orelse)
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    self._assignment(one)
                case ast.For(target=target, iter=given, body=body, orelse=[]) if _only_assigns(body):
                    self._repeat(one, target, self._value(given), body)
                case _:
                    self._leave_out(one)

    def _repeat(self, loop: ast.For, target: ast.expr, values: object, body: list[ast.stmt]) -> None:
        if not isinstance(values, list | tuple):
            self._leave_out(loop)
            return
        for value in values:
            self._left -= 1
            if self._left < 0:
                raise ValueError(
                    f"{self._file}: has loops of more than {_MOST_ROUNDS} rounds: must have fewer. Cut them."
                )
            self._assign(target, value)
            self._run(body)

    def _import(self, one: ast.Import | ast.ImportFrom) -> None:
        for alias in one.names:
            if isinstance(one, ast.ImportFrom):
                module = "." * one.level + (one.module or "")
                self._names[alias.asname or alias.name] = _named(f"{module}.{alias.name}")
            elif alias.asname:
                self._names[alias.asname] = Imported(alias.name)
            else:
                first = alias.name.partition(".")[0]
                self._names[first] = Imported(first)

    def _assignment(self, one: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        if one.value is None:
            return
        value = self._value(one.value)
        if isinstance(one, ast.AugAssign):
            before = self._value(one.target)
            if not isinstance(before, _UNCHANGED):
                self._refuse(one)
            value = _arithmetic(one, one.op, before, value)
        for target in one.targets if isinstance(one, ast.Assign) else [one.target]:
            self._assign(target, value)

    def _assign(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._assign_parts(target, targets, value)
            case ast.Attribute(value=base, attr=name):
                self._assign_within(target, self._value(base), name, value)
            case ast.Subscript(value=base, slice=key):
                self._assign_within(target, self._value(base), self._value(key), value)
            case _:
                self._refuse(target)

    def _assign_parts(self, target: ast.expr, targets: Sequence[ast.expr], value: object) -> None:
        """Assign each part of a value, which are not read where one of them takes several."""
        parts = value if isinstance(value, list | tuple) else []
        if len(parts) != len(targets) or any(isinstance(item, ast.Starred) for item in targets):
            parts = [_unread(target, "takes apart what cannot be read")] * len(targets)
        for item, part in zip(targets, parts, strict=True):
            self._assign(item.value if isinstance(item, ast.Starred) else item, part)

    def _assign_within(self, target: ast.expr, base: object, key: Any, value: object) -> None:
        """Set a field or an entry; those of other modules' objects are none of ours."""
        is_field = isinstance(target, ast.Attribute)
        if isinstance(base, Record) and is_field:
            base.fields[key] = value
        elif not is_field and _has_place(base, key):
            base[key] = value
        elif not isinstance(base, Imported) and not (isinstance(base, Unread) and self._is_harmless(base, target)):
            self._refuse(target)

    @staticmethod
    def _is_harmless(base: Unread, target: ast.expr) -> bool:
        """Return True if a change of this cannot be one of something that was read."""
        # of an earlier line, it is not used either
        return base.is_of_others or base.line < target.lineno

    def _leave_out(self, one: ast.stmt) -> None:
        """Leave out a statement that changes nothing that the text defines but the names it assigns."""
        names = [item for item in ast.walk(one) if isinstance(item, ast.Name)]
        for item in names:
            if isinstance(item.ctx, ast.Load) and not isinstance(self._names.get(item.id, 0), _HARMLESS):
                self._refuse(one)
        for item in names:
            if not isinstance(item.ctx, ast.Load):
                self._names[item.id] = _unread(one, "is a statement that is not read")
        for item in ast.walk(one):
            if isinstance(item, ast.Import | ast.ImportFrom):
                self._import(item)

    def _refuse(self, node: ast.expr | ast.stmt) -> None:
        raise ValueError(problem(self._file, _unread(node, "may change a cfg and cannot be read")))

    # expressions

    def _value(self, node: ast.expr) -> object:
        read = _EXPRESSIONS.get(type(node))
        return _unread(node, "cannot be read") if read is None else read(self, node)

    def read_name(self, node: ast.Name) -> object:
        if node.id in self._names:
            return self._names[node.id]
        return _named(node.id)

    def read_attribute(self, node: ast.Attribute) -> object:
        base = self._value(node.value)
        if isinstance(base, Imported):
            return _named(f"{base.name}.{node.attr}")
        if isinstance(base, Record):
            missing = _unread(node, f"is no field that {base.kind} is given here", is_of_others=True)
            return base.fields.get(node.attr, missing)
        return base if isinstance(base, Unread) else _unread(node, "cannot be read")

    def read_list(self, node: ast.List | ast.Tuple) -> object:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return _unread(node, "takes apart another list")
        items = [self._value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)

    def read_dict(self, node: ast.Dict) -> object:
        found: dict[object, object] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self._value(value_node)
            key = None if key_node is None else self._value(key_node)
            if key_node is None and isinstance(value, Mapping):
                found |= value
            elif key_node is not None and _is_key(key):
                found[key] = value
            else:
                return _unread(key_node or value_node, "is a key or dictionary that cannot be read")
        return found

    def read_unary(self, node: ast.UnaryOp) -> object:
        value = self._value(node.operand)
        if isinstance(value, Unread):
            return value
        if not is_number(value) or not isinstance(node.op, ast.USub | ast.UAdd):
            return _unread(node, "cannot be read")
        return -value if isinstance(node.op, ast.USub) else value

    def read_binary(self, node: ast.BinOp) -> object:
        return _arithmetic(node, node.op, self._value(node.left), self._value(node.right))

    def read_text(self, node: ast.JoinedStr) -> object:
        parts: list[str] = []
        for item in node.values:
            is_plain = isinstance(item, ast.FormattedValue) and item.format_spec is None and item.conversion == -1
            value = self._value(item.value) if isinstance(item, ast.FormattedValue) else self._value(item)
            if isinstance(value, Imported):
                return _unread(node, f"has {value.name} in it, of another file")
            if not isinstance(value, str | int) or not (is_plain or isinstance(item, ast.Constant)):
                return value if isinstance(value, Unread) else _unread(node, "cannot be read")
            parts.append(str(value))
        return _limited(node, "".join(parts))

    def read_entry(self, node: ast.Subscript) -> object:
        base, key = self._value(node.value), self._value(node.slice)
        if isinstance(base, Imported):
            return _unread(node, "is of another file", is_of_others=True)
        for one in (base, key):
            if isinstance(one, Unread):
                return one
        with contextlib.suppress(KeyError, IndexError, TypeError):
            if isinstance(base, dict | list | tuple):
                return cast(Any, base)[key]
        return _unread(node, "is no entry that can be read")

    def read_call(self, node: ast.Call) -> object:
        keywords = self._keywords(node)
        if isinstance(keywords, Unread):
            return keywords
        if isinstance(node.func, ast.Attribute):
            base = self._value(node.func.value)
            if isinstance(base, Record | dict) and not node.args:
                return self._method(node, base, node.func.attr, keywords)
        called = self._value(node.func)
        if not isinstance(called, Imported):
            return _unread(node, "is a call, which is not run")
        return self._call_imported(node, called, keywords)

    def _call_imported(self, node: ast.Call, called: Imported, keywords: Mapping[str, object]) -> object:
        """Return the result of a known function; that of any other name is an object of fields."""
        if (function := _FUNCTIONS.get(called.name)) is not None:
            return self._function(node, function, keywords)
        if (method := _COPIES.get(called.name)) is not None and len(node.args) == 1:
            base = self._value(node.args[0])
            if isinstance(base, Record | dict):
                return self._method(node, base, method, keywords)
        if node.args:
            return _unread(node, f"is a call of {called.name}, which is not run")
        return _record(called.name, keywords, node)

    def _keywords(self, node: ast.Call) -> dict[str, object] | Unread:
        found: dict[str, object] = {}
        for one in node.keywords:
            value = self._value(one.value)
            if one.arg is not None:
                found[one.arg] = value
            elif isinstance(value, Mapping):
                found |= value
            else:
                return _unread(one.value, "is no dictionary that can be read")
        return found

    @staticmethod
    def _method(
        node: ast.Call, base: Record | dict[object, object], name: str, keywords: Mapping[str, object]
    ) -> object:
        if name == "copy" and not keywords:
            return copy.deepcopy(base) if isinstance(base, Record) else dict(base)
        if name == "replace" and isinstance(base, Record):
            return _record(base.name, {**base.fields, **keywords}, node)
        return _unread(node, "is a call, which is not run")

    def _function(self, node: ast.Call, function: Callable[..., object], keywords: Mapping[str, object]) -> object:
        arguments = [self._value(one) for one in node.args]
        if unread := next((one for one in arguments if isinstance(one, Unread)), None):
            return unread
        try:
            return _limited(node, function(*arguments, **keywords))
        except (ValueError, TypeError, ArithmeticError) as error:
            return _unread(node, f"cannot be computed ({error})")


def _record(name: str, fields: Mapping[str, object], node: ast.Call) -> Record:
    return Record(name, copy.deepcopy(dict(fields)), node.lineno)


def _only_assigns(body: Iterable[ast.stmt]) -> bool:
    """Return True for statements that end no loop before its time."""
    kinds = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Pass
    return all(isinstance(line, kinds) or (isinstance(line, ast.For) and _only_assigns(line.body)) for line in body)


def _is_false(test: ast.expr) -> bool:
    """Return True for conditions that do not hold when a program imports the file."""
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]):
            return True
    return False


def _unread(node: ast.expr | ast.stmt, why: str, *, is_of_others: bool = False) -> Unread:
    try:
        text = ast.unparse(node).partition("\n")[0][:_SHOWN]
    except RecursionError:
        text = "…"
    return Unread(node.lineno, text, why, is_of_others)


def _named(name: str) -> object:
    return _CONSTANTS.get(name, Imported(name))


def _has_place(base: object, key: object) -> TypeGuard[dict[object, object] | list[object]]:
    """Return True for a dictionary that can have a key, and for a list with an index."""
    if isinstance(base, list):
        return isinstance(key, int) and -len(base) <= key < len(base)
    return isinstance(base, dict) and _is_key(key)


def _is_key(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _are_operands(function: object, first: object, second: object) -> bool:
    """Return True for numbers, and for texts or lists that are put together."""
    if isinstance(first, str | list | tuple):
        return function is operator.add and type(first) is type(second)
    return is_number(first) and is_number(second)


def _arithmetic(node: ast.expr | ast.stmt, operation: ast.operator, first: Any, second: Any) -> object:
    for one in (first, second):
        if isinstance(one, Unread):
            return one
        if isinstance(one, Imported):
            return _unread(node, f"has {one.name} in it, of another file")
    function = _OPERATIONS.get(type(operation))
    if function is None or not _are_operands(function, first, second):
        return _unread(node, "cannot be read")
    if function is operator.pow and abs(second) > _SHOWN:
        return _unread(node, "has too large an exponent")
    try:
        return _limited(node, function(first, second))
    except ArithmeticError as error:
        return _unread(node, f"cannot be computed ({error})")


def _limited(node: ast.expr | ast.stmt, value: object) -> object:
    size, most = (abs(value), _LARGEST_INTEGER) if isinstance(value, int) else (_length(value), _LARGEST)
    if size > most:
        return _unread(node, "is too large")
    return _unread(node, "is no real number") if isinstance(value, complex) else value


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0


def _range(*bounds: int) -> list[int]:
    found = range(*bounds)
    if len(found) > _LARGEST:
        raise ValueError("too large")
    return list(found)


def _join(*parts: str) -> str:
    if not all(isinstance(one, str) for one in parts):
        raise TypeError("parts must be text")
    return os.path.join(*parts)


def _constant(_: _Reader, node: ast.Constant) -> object:
    known = node.value is None or isinstance(node.value, bool | int | float | str)
    return _limited(node, node.value) if known else _unread(node, "cannot be read")


_HARMLESS = (int, float, str, Imported, type(None))
# a new value replaces one of these; others are changed themselves
_UNCHANGED = (*_HARMLESS, tuple, Unread)
_EXPRESSIONS: dict[type[ast.expr], Callable[[_Reader, Any], object]] = {
    ast.Constant: _constant,
    ast.Name: _Reader.read_name,
    ast.Attribute: _Reader.read_attribute,
    ast.List: _Reader.read_list,
    ast.Tuple: _Reader.read_list,
    ast.Dict: _Reader.read_dict,
    ast.UnaryOp: _Reader.read_unary,
    ast.BinOp: _Reader.read_binary,
    ast.JoinedStr: _Reader.read_text,
    ast.Subscript: _Reader.read_entry,
    ast.Call: _Reader.read_call,
}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_CONSTANTS = {
    f"{module}.{name}": getattr(math, name) for module in ("math", "numpy", "torch") for name in ("pi", "inf", "nan")
} | {"math.tau": math.tau, "math.e": math.e}


def _functions() -> Iterator[tuple[str, Callable[..., object]]]:
    yield from ((one.__name__, one) for one in (float, int, abs, min, max, round, list, tuple, dict))
    yield "range", _range
    yield from ((f"math.{one.__name__}", one) for one in (math.radians, math.degrees, math.sqrt))
    for long, short in (("deg2rad", math.radians), ("rad2deg", math.degrees), ("sqrt", math.sqrt)):
        yield f"numpy.{long}", short
    yield "os.path.join", _join
    yield "os.path.dirname", os.path.dirname
    yield "os.path.abspath", os.path.abspath


# functions that are methods of their argument
_COPIES = {
    **{"isaaclab.utils.clone": "copy", "copy.copy": "copy", "copy.deepcopy": "copy"},
    **{"isaaclab.utils.replace": "replace", "dataclasses.replace": "replace"},
}
_FUNCTIONS = dict(_functions())
