"""The laws in C++, as the native core and C headers have them, from the source of their `wp.func`.

What is translated is small on purpose: annotated float arguments, assignments, one `return`, arithmetic, comparisons,
`and`, `or`, `not`, conditional expressions, float literals and constants, other such functions, and `wp.abs`,
`wp.isfinite`, `wp.isnan`, `wp.sqrt`, `wp.nan`, `wp.inf`. The operations keep their order, so the twins have the bits of
Warp on the CPU. Everything else raises an error with file and line.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

from ...laws.contract import catalogue
from ...laws.contract.curve import curve_value
from ...laws.contract.functions import SLOPES
from .c_literals import wrapped

_ARITHMETIC: dict[type, tuple[str, int]] = {ast.Add: ("+", 5), ast.Sub: ("-", 5), ast.Mult: ("*", 6), ast.Div: ("/", 6)}
_COMPARISONS: dict[type, str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.Eq: "==", ast.NotEq: "!="},
}
# how tightly an expression holds together in C++: a name, a sign, a comparison, a conjunction
_ATOM, _SIGN, _COMPARISON, _LOGIC = 9, 7, 4, 2
_BUILTINS = {wp.abs: "magnitude", wp.sqrt: "square_root", wp.isfinite: "finite"}
_NAN = "splat<V>(kNaN)"
# names that a function, an argument or a variable cannot have on the other side
_TAKEN = set(
    "V Values List auto bool break case catch char class const constexpr continue default delete do double else enum "
    "explicit export extern false finite float for friend goto if inline int long magnitude mutable namespace new "
    "operator pick private protected public register return short signed sizeof splat static struct switch template "
    "this throw true try typedef typename union unsigned using virtual void volatile while "
    "kInfinity kMax kNaN negative".split()
)
# Exact functions that arithmetic.h implements by bits, hence with the same results, and how many numbers they return.
_BY_BITS = {"power_of_two": 1, "mantissa_and_exponent": 2, "uniform": 1}
# what C has under the same name
_IN_C = {function.key for function in SLOPES}


class UnsupportedError(Exception):
    """A law says something that has no translation."""


@dataclass(frozen=True)
class Expression:
    """A C++ expression; `binds` is how tightly its parts hold together, `reads` are arguments that it depends on."""

    text: str
    binds: int
    reads: frozenset[str]
    is_condition: bool = False
    results: int = 1

    def within(self, binds: int) -> str:
        """Return its text as a part of an expression that holds together so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"


@dataclass
class Function:
    """A translated function; `reads` are the arguments that any result depends on; no text if arithmetic.h has it."""

    name: str
    arguments: list[str]
    results: int
    reads: frozenset[str]
    text: str


@dataclass
class Translator:
    """Translates functions and those that they call, each once, callees first."""

    functions: dict[str, Function] = field(default_factory=dict)
    _sources: dict[str, Any] = field(default_factory=dict)

    def function(self, function: Any) -> Function:
        """Return the twin of a `wp.func`."""
        name = function.func.__name__
        name = f"law_{name}" if name in _IN_C else name
        if self._sources.setdefault(name, function.func) is not function.func:
            raise UnsupportedError(
                f"{place(function.func)}: {name} is also a function of {place(self._sources[name])}. Rename one."
            )
        if name not in self.functions and name in _BY_BITS:
            arguments = list(function.input_types)
            self.functions[name] = Function(name, arguments, _BY_BITS[name], frozenset(arguments), "")
        elif name not in self.functions:
            self.functions[name] = _Body(self, function.func).translate(name)
        return self.functions[name]


class _Body(ast.NodeVisitor):
    """Translates the body of one function."""

    def __init__(self, translator: Translator, function: Any) -> None:
        lines, self._first_line = inspect.getsourcelines(function)
        self._tree: Any = ast.parse(textwrap.dedent("".join(lines))).body[0]
        self._translator, self._function = translator, function
        names = [node for node in ast.walk(self._tree) if isinstance(node, ast.Name)]
        self._stores = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
        self._known: dict[str, Expression] = {}
        self._calls = 0

    def translate(self, name: str) -> Function:
        arguments = self._arguments()
        self._known = {argument: Expression(argument, _ATOM, frozenset([argument])) for argument in arguments}
        body = self._tree.body[ast.get_docstring(self._tree) is not None :]
        if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
            raise self._unsupported(self._tree, "a function that does not end with one return of a value")
        lines = [line for statement in body[:-1] for line in self._assignment(statement)]
        results, values = self._returned(body[-1].value)
        self._check_name(self._tree, name)
        kind = "V" if results == 1 else f"Values<V, {results}>"
        lines.append(f"return {_listed(values)};" if len(values) == 1 else f"return {{{{{_listed(values)}}}}};")
        return Function(name, arguments, results, _reads(values), _text(f"{kind} {name}", arguments, lines))

    def _arguments(self) -> list[str]:
        given = self._tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
            raise self._unsupported(self._tree, "an argument that is not a plain one")
        for argument in given.args:
            if argument.annotation is None or ast.unparse(argument.annotation) not in ("float", "wp.float32"):
                raise self._unsupported(argument, f"the argument {argument.arg}, which is not annotated as float")
            self._check_name(argument, argument.arg)
        return [argument.arg for argument in given.args]

    def _assignment(self, statement: ast.stmt) -> list[str]:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise self._unsupported(statement, "this statement")
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            value = self.visit(statement.value)
            self._require_single(statement.value, value)
            return [self._assign(target, value)]
        return self._taken_apart(statement, target)

    def _taken_apart(self, statement: ast.Assign, target: ast.expr) -> list[str]:
        """Return the lines of an assignment of the results of a call, each to a name."""
        elements = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [element for element in elements if isinstance(element, ast.Name)]
        if len(names) < len(elements):
            raise self._unsupported(target, "this target")
        if not isinstance(statement.value, ast.Call):
            raise self._unsupported(statement.value, "taking apart what is not a call")
        value = self.visit(statement.value)
        if value.results != len(names):
            raise self._unsupported(statement, f"taking {value.results} results apart into {len(names)} names")
        self._calls += 1
        source = f"results_{self._calls}"
        assigned = [
            self._assign(name, Expression(f"{source}.at[{at}]", _ATOM, value.reads))
            for at, name in enumerate(names)
            # a name with an underscore in front is not used
            if not name.id.startswith("_")
        ]
        return [f"const auto {source} = {value.text};", *assigned]

    def _assign(self, target: ast.Name, value: Expression) -> str:
        self._check_name(target, target.id)
        before = self._known.get(target.id)
        self._known[target.id] = Expression(target.id, _ATOM, value.reads, value.is_condition)
        if before is not None:
            if before.is_condition != value.is_condition:
                raise self._unsupported(target, f"{target.id} as a number here and a condition there")
            return f"{target.id} = {value.text};"
        constant = "const " if self._stores[target.id] == 1 else ""
        return f"{constant}{'auto' if value.is_condition else 'V'} {target.id} = {value.text};"

    def _returned(self, node: ast.expr) -> tuple[int, list[Expression]]:
        if isinstance(node, ast.Tuple):
            values = [self.visit(element) for element in node.elts]
            for element, value in zip(node.elts, values, strict=True):
                self._require_single(element, value)
        else:
            values = [self.visit(node)]
        if any(value.is_condition for value in values):
            raise self._unsupported(node, "returning a condition")
        return (values[0].results if len(values) == 1 else len(values)), values

    def generic_visit(self, node: Any) -> Any:
        raise self._unsupported(node, f"`{ast.unparse(node)}`")

    def visit_Constant(self, node: ast.Constant) -> Expression:
        return self._literal(node, node.value) if isinstance(node.value, float) else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Expression:
        return self._known[node.id] if node.id in self._known else self.visit_Attribute(node)

    def visit_Attribute(self, node: ast.Name | ast.Attribute) -> Expression:
        value = self._resolve(node)
        return self._literal(node, value) if isinstance(value, float) else self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Expression:
        if isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, float):
                return self._literal(node, 0.0 - node.operand.value)
            inner = self._number(node.operand)
            return Expression(f"negative({inner.text})", _ATOM, inner.reads)
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        inner = self._condition(node.operand)
        return Expression(f"!{inner.within(_ATOM)}", _SIGN, inner.reads, is_condition=True)

    def visit_BinOp(self, node: ast.BinOp) -> Expression:
        if type(node.op) not in _ARITHMETIC:
            return self.generic_visit(node)
        sign, binds = _ARITHMETIC[type(node.op)]
        left, right = self._number(node.left), self._number(node.right)
        return Expression(f"{left.within(binds)} {sign} {right.within(binds + 1)}", binds, left.reads | right.reads)

    def visit_BoolOp(self, node: ast.BoolOp) -> Expression:
        parts = [self._condition(value) for value in node.values]
        text = (" & " if isinstance(node.op, ast.And) else " | ").join(part.within(_ATOM) for part in parts)
        return Expression(text, _LOGIC, _reads(parts), is_condition=True)

    def visit_IfExp(self, node: ast.IfExp) -> Expression:
        test, yes, no = self._condition(node.test), self._number(node.body), self._number(node.orelse)
        # by bits, see arithmetic.h
        text = (
            f"nan_unless({test.text}, {yes.text})" if no.text == _NAN else f"pick({test.text}, {yes.text}, {no.text})"
        )
        return Expression(text, _ATOM, _reads([test, yes, no]))

    def visit_Compare(self, node: ast.Compare) -> Expression:
        if not all(type(op) in _COMPARISONS for op in node.ops):
            return self.generic_visit(node)
        values = [self._number(value) for value in (node.left, *node.comparators)]
        pairs = [
            f"{left.within(_COMPARISON + 1)} {_COMPARISONS[type(op)]} {right.within(_COMPARISON + 1)}"
            for left, op, right in zip(values, node.ops, values[1:], strict=False)
        ]
        if len(pairs) == 1:
            return Expression(pairs[0], _COMPARISON, _reads(values), is_condition=True)
        return Expression(" & ".join(f"({pair})" for pair in pairs), _LOGIC, _reads(values), is_condition=True)

    def visit_Call(self, node: ast.Call) -> Expression:
        called = self._resolve(node.func)
        if node.keywords or not isinstance(called, wp.Function):
            raise self._unsupported(node, f"calling `{ast.unparse(node.func)}` like this")
        values = [self._number(argument) for argument in node.args]
        if called is wp.isnan:
            value = values[0].within(_COMPARISON + 1)
            return Expression(f"{value} != {value}", _COMPARISON, _reads(values), is_condition=True)
        if called in _BUILTINS:
            text = f"{_BUILTINS[called]}({_listed(values)})"
            return Expression(text, _ATOM, _reads(values), is_condition=called is wp.isfinite)
        if called.is_builtin():
            raise self._unsupported(node, f"`{ast.unparse(node.func)}`")
        function = self._translator.function(called)
        if len(values) != len(function.arguments):
            raise self._unsupported(node, f"{len(values)} arguments where {function.name} takes {function.arguments}")
        passed = zip(function.arguments, values, strict=True)
        reads = _reads([value for name, value in passed if name in function.reads])
        text = f"{function.name}{'<V>' * (not values)}({_listed(values)})"
        return Expression(text, _ATOM, reads, results=function.results)

    def _literal(self, node: ast.expr, value: float) -> Expression:
        if math.isnan(value):
            return Expression(_NAN, _ATOM, frozenset())
        if math.isinf(value):
            return Expression(f"splat<V>({'-' if value < 0 else ''}kInfinity)", _ATOM, frozenset())
        with np.errstate(over="ignore"):
            single = np.float32(value)
        if np.isinf(single):
            raise self._unsupported(node, f"{value!r}, which is beyond the range of float32,")
        return Expression(f"splat<V>({single!s}f)", _ATOM, frozenset())

    def _number(self, node: ast.expr) -> Expression:
        value = self.visit(node)
        if value.is_condition:
            raise self._unsupported(node, "a condition where a number is due")
        self._require_single(node, value)
        return value

    def _condition(self, node: ast.expr) -> Expression:
        value = self.visit(node)
        if not value.is_condition:
            raise self._unsupported(node, "a number where a condition is due")
        return value

    def _require_single(self, node: ast.expr, value: Expression) -> None:
        if value.results != 1:
            raise self._unsupported(node, f"{value.results} results where one value is due")

    def _resolve(self, node: ast.expr) -> Any:
        """Return the object of a name in the function's file, or None."""
        if isinstance(node, ast.Name):
            return self._function.__globals__.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._resolve(node.value), node.attr, None)
        return None

    def _check_name(self, node: ast.expr | ast.stmt | ast.arg, name: str) -> None:
        if name in _TAKEN or not name.isascii() or name.startswith("results_"):
            raise self._unsupported(node, f"the name {name}, which C++ has for something else,")

    def _unsupported(self, node: ast.expr | ast.stmt | ast.arg, what: str) -> UnsupportedError:
        line = self._first_line + node.lineno - 1
        return UnsupportedError(
            f"{self._function.__code__.co_filename}, line {line}: {what} has no C++ twin. "
            "Write the law with what tools/export/law_translator.py translates."
        )


def _reads(expressions: Sequence[Expression]) -> frozenset[str]:
    return frozenset().union(*(expression.reads for expression in expressions))


def _listed(expressions: Sequence[Expression]) -> str:
    return ", ".join(expression.text for expression in expressions)


def _text(name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
    """Return a function in C++: its type and name, its arguments and the lines of its body."""
    signature = f"inline {name}({', '.join(f'V {argument}' for argument in arguments)}) {{"
    head = ["template <class V>" if arguments else "template <class V = float>", *cpp_lines(signature)]
    return "\n".join([*head, *(part for line in lines for part in cpp_lines(f"    {line}")), "}"])


def cpp_lines(line: str) -> list[str]:
    """Return a line of C++ as several where it is too long."""
    return wrapped(line, 120, r"(?<=\bV) (?=\w)|(?<=\bfloat) (?=\w)|(?<=\)) (?={)").splitlines()


def place(function: Any) -> str:
    """Return file and line of a function."""
    return f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"


_PRIMITIVES = (
    *("negative", "pick", "magnitude", "square_root", "finite", "nan_unless"),
    *("power_of_two", "mantissa_and_exponent", "uniform"),
)


@functools.cache
def functions() -> dict[str, tuple[int, str]]:
    """Return number of results and text of each function by name, callees first; `@` stands for the prefix of names."""
    translator = Translator()
    translator.function(curve_value)
    for law in catalogue.laws():
        if law.name is not None and not law.by_network:
            component = law.component
            for function in (component.LAW, component.PREPARE, component.MOTOR, component.FELT, component.TICK):
                if function is not None:
                    translator.function(function)
    translated = {name: function for name, function in translator.functions.items() if function.text}
    return {name: (function.results, _in_c(function, translated)) for name, function in translated.items()}


def _in_c(function: Function, functions: dict[str, Function]) -> str:
    """Return the text of a function in C99."""
    body = function.text.partition("\n")[2]
    results = {name: callee.results for name, callee in functions.items()} | {"mantissa_and_exponent": 2}
    body = re.sub(r"const auto (results_\d+) = (\w+)", lambda m: f"const @values_{results[m[2]]} {m[1]} = {m[2]}", body)
    body = re.sub(r"(?:const )?auto (\w+) =", r"const int \1 =", body)
    body = re.sub(r"^inline ", "static inline ", body)
    body = re.sub(r"Values<V, (\d+)>", r"@values_\1", body)
    if function.results > 1:
        body = body.replace("return {{", f"return (@values_{function.results}){{{{")
    body = re.sub(r"splat<V>\((-?)", r"(\1", body)
    body = body.replace("kInfinity", "INFINITY").replace("kNaN", "NAN").replace("<V>(", "(")
    body = re.sub(r"\bV (?=\w)", "float ", body)
    body = re.sub(rf"(?<![@\w])({'|'.join([*functions, *_PRIMITIVES])})\(", r"@\1(", body)
    if not function.arguments:
        body = body.replace("()", "(void)", 1)
    return "\n".join(wrapped(line, 116) for line in re.sub(r"\n {8,}", " ", body).splitlines())
