"""Write the C++ twins of the laws: `native/generated_laws.h`, from the `wp.func` of every law in the catalogue.

What is translated is small on purpose: annotated float arguments, assignments, one `return`, arithmetic, comparisons,
`and`, `or`, `not`, conditional expressions, float literals and constants, other such functions, and `wp.abs`,
`wp.isfinite`, `wp.isnan`, `wp.sqrt`, `wp.nan`, `wp.inf`. The operations keep their order, so the twins have the bits of
Warp on the CPU. Everything else is refused by file and line. Where `components/functions.py` has the derivatives of a
function, its twin for duals takes them.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.components import catalogue
from isaacsim.core.experimental.actuators.components import functions as functions_of_laws
from isaacsim.core.experimental.actuators.components.curve import OVER, curve_row, curve_value
from isaacsim.core.experimental.actuators.components.law import (
    FELT_SIGNALS,
    MOTOR_SIGNALS,
    prepared_of,
    prepares_for_dt,
    require_law,
    results_of,
    signals_of,
)
from isaacsim.core.experimental.actuators.specs.signals import SIGNALS
from isaacsim.core.experimental.actuators.specs.stages import KINDS, follows_limits

TARGET = Path(__file__).resolve().parents[1] / "native" / "generated_laws.h"
WIDTH = 120
_ARITHMETIC: dict[type, tuple[str, int]] = {ast.Add: ("+", 5), ast.Sub: ("-", 5), ast.Mult: ("*", 6), ast.Div: ("/", 6)}
_COMPARISONS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
# how tightly an expression holds together in C++: a name, a sign, a comparison, a conjunction
_ATOM, _SIGN, _COMPARISON, _LOGIC = 9, 7, 4, 2
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
# The function that takes so long that loops compute it first, see native/first.h.
FIRST = "law_stribeck"
# what C has under the same name
_IN_C = {function.key for function in functions_of_laws.SLOPES}


class UnsupportedError(Exception):
    """A law says something that has no translation."""


@dataclass(frozen=True)
class Expression:
    """A C++ expression.

    Args:
        text: Its text.
        binds: How tightly it holds together.
        reads: Arguments of the function that it depends on.
        is_condition: Whether it is true or false rather than a number.
        results: How many numbers it is.
    """

    text: str
    binds: int
    reads: frozenset[str]
    is_condition: bool = False
    results: int = 1

    def within(self, binds: int) -> str:
        """Its text as a part of an expression that holds together so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"


@dataclass
class Function:
    """A translated function.

    Args:
        name: Its name.
        arguments: Names of its arguments.
        results: How many numbers it returns.
        reads: The arguments that any result depends on.
        text: The C++ function; empty if arithmetic.h has it.
    """

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

    def calls(self, function: Function, name: str) -> int:
        """How often a function calls the one of a name, also by those that it calls."""
        called = re.findall(r"\b(\w+)\(", function.text.partition("{")[2])
        inner = [self.functions[one] for one in called if one in self.functions]
        return sum(1 if one.name == name else self.calls(one, name) for one in inner)

    def function(self, function: Any) -> Function:
        """The twin of a `wp.func`.

        Raises:
            UnsupportedError: It says something that has no translation, or two functions share a name.
        """
        name = function.func.__name__
        name = f"law_{name}" if name in _IN_C else name
        if self._sources.setdefault(name, function.func) is not function.func:
            raise UnsupportedError(
                f"{_place(function.func)}: {name} is also a function of {_place(self._sources[name])}. Rename one."
            )
        if name not in self.functions and name in _BY_BITS:
            arguments = list(function.input_types)
            self.functions[name] = Function(name, arguments, _BY_BITS[name], frozenset(arguments), "")
        elif name not in self.functions:
            self.functions[name] = _Body(self, function.func).translate(name)
        return self.functions[name]


class _Body:
    """Translates the body of one function."""

    def __init__(self, translator: Translator, function: Any) -> None:
        lines, self._first_line = inspect.getsourcelines(function)
        self._tree: Any = ast.parse(textwrap.dedent("".join(lines))).body[0]
        self._translator, self._function = translator, function
        self._known: dict[str, Expression] = {}
        self._calls = 0

    def translate(self, name: str) -> Function:
        arguments = self._arguments()
        self._known = {argument: Expression(argument, _ATOM, frozenset([argument])) for argument in arguments}
        body = list(self._tree.body)
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            del body[0]
        if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
            raise self._unsupported(self._tree, "a function that does not end with one return of a value")
        lines = [line for statement in body[:-1] for line in self._assignment(statement, body)]
        results, value = self._returned(body[-1].value)
        kind = "V" if results == 1 else f"Values<V, {results}>"
        reads = frozenset().union(*(one.reads for one in value))
        text = value[0].text if len(value) == 1 else "{{" + ", ".join(one.text for one in value) + "}}"
        self._check_name(self._tree, name)
        signature = f"inline {kind} {name}({', '.join(f'V {argument}' for argument in arguments)}) {{"
        head = ["template <class V>" if arguments else "template <class V = float>", *wrapped(signature)]
        inner = [part for line in [*lines, f"return {text};"] for part in wrapped(f"    {line}")]
        return Function(name, arguments, results, reads, "\n".join([*head, *inner, "}"]))

    def _arguments(self) -> list[str]:
        given = self._tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
            raise self._unsupported(self._tree, "an argument that is not a plain one")
        for argument in given.args:
            if argument.annotation is None or ast.unparse(argument.annotation) not in ("float", "wp.float32"):
                raise self._unsupported(argument, f"the argument {argument.arg}, which is not annotated as float")
            self._check_name(argument, argument.arg)
        return [argument.arg for argument in given.args]

    def _assignment(self, statement: Any, body: Sequence[Any]) -> list[str]:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise self._unsupported(statement, "this statement")
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            value = self._expression(statement.value)
            self._require_single(statement.value, value)
            return [self._assign(target, value, body)]
        if not isinstance(target, ast.Tuple) or not all(isinstance(one, ast.Name) for one in target.elts):
            raise self._unsupported(target, "this target")
        if not isinstance(statement.value, ast.Call):
            raise self._unsupported(statement.value, "taking apart what is not a call")
        value = self._expression(statement.value)
        if value.results != len(target.elts):
            raise self._unsupported(statement, f"taking {value.results} results apart into {len(target.elts)} names")
        self._calls += 1
        source = f"results_{self._calls}"
        parts = [Expression(f"{source}.at[{at}]", _ATOM, value.reads) for at in range(value.results)]
        named = zip(target.elts, parts, strict=True)
        # a name with an underscore in front is not used
        assigned = [self._assign(name, part, body) for name, part in named if not ast.unparse(name).startswith("_")]
        return [f"const auto {source} = {value.text};", *assigned]

    def _assign(self, target: Any, value: Expression, body: Sequence[Any]) -> str:
        self._check_name(target, target.id)
        before = self._known.get(target.id)
        self._known[target.id] = Expression(target.id, _ATOM, value.reads, value.is_condition)
        if before is not None:
            if before.is_condition != value.is_condition:
                raise self._unsupported(target, f"{target.id} as a number here and a condition there")
            return f"{target.id} = {value.text};"
        stores = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        constant = "const " if sum(node.id == target.id for node in stores) == 1 else ""
        return f"{constant}{'auto' if value.is_condition else 'V'} {target.id} = {value.text};"

    def _returned(self, node: Any) -> tuple[int, list[Expression]]:
        if isinstance(node, ast.Tuple):
            values = [self._expression(one) for one in node.elts]
            for one, value in zip(node.elts, values, strict=True):
                self._require_single(one, value)
        else:
            values = [self._expression(node)]
        if any(value.is_condition for value in values):
            raise self._unsupported(node, "returning a condition")
        return (values[0].results if len(values) == 1 else len(values)), values

    def _expression(self, node: Any) -> Expression:
        if isinstance(node, ast.Name) and node.id in self._known:
            return self._known[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            return self._literal(node, node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, float):
                return self._literal(node, 0.0 - node.operand.value)
            inner = self._number(node.operand)
            return Expression(f"negative({inner.text})", _ATOM, inner.reads)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._condition(node.operand)
            return Expression(f"!{inner.within(_ATOM)}", _SIGN, inner.reads, is_condition=True)
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            sign, binds = _ARITHMETIC[type(node.op)]
            left, right = self._number(node.left), self._number(node.right)
            text = f"{left.within(binds)} {sign} {right.within(binds + 1)}"
            return Expression(text, binds, left.reads | right.reads)
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARISONS for op in node.ops):
            return self._comparison(node)
        if isinstance(node, ast.BoolOp):
            parts = [self._condition(value) for value in node.values]
            text = (" & " if isinstance(node.op, ast.And) else " | ").join(part.within(_ATOM) for part in parts)
            return Expression(text, _LOGIC, frozenset().union(*(part.reads for part in parts)), is_condition=True)
        if isinstance(node, ast.IfExp):
            test, yes, no = self._condition(node.test), self._number(node.body), self._number(node.orelse)
            if no.text == _NAN:
                # by bits, see arithmetic.h
                return Expression(f"nan_unless({test.text}, {yes.text})", _ATOM, test.reads | yes.reads)
            text = f"pick({test.text}, {yes.text}, {no.text})"
            return Expression(text, _ATOM, test.reads | yes.reads | no.reads)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Name | ast.Attribute):
            value = self._resolve(node)
            if isinstance(value, float):
                return self._literal(node, value)
        raise self._unsupported(node, f"`{ast.unparse(node)}`")

    def _comparison(self, node: ast.Compare) -> Expression:
        values = [self._number(one) for one in (node.left, *node.comparators)]
        signs = [_COMPARISONS[type(op)] for op in node.ops]
        pairs = [
            f"{left.within(_COMPARISON + 1)} {sign} {right.within(_COMPARISON + 1)}"
            for left, sign, right in zip(values, signs, values[1:], strict=False)
        ]
        reads = frozenset().union(*(value.reads for value in values))
        if len(pairs) == 1:
            return Expression(pairs[0], _COMPARISON, reads, is_condition=True)
        return Expression(" & ".join(f"({pair})" for pair in pairs), _LOGIC, reads, is_condition=True)

    def _call(self, node: ast.Call) -> Expression:
        called = self._resolve(node.func)
        if node.keywords or not isinstance(called, wp.Function):
            raise self._unsupported(node, f"calling `{ast.unparse(node.func)}` like this")
        values = [self._number(one) for one in node.args]
        inner = ", ".join(value.text for value in values)
        reads = frozenset().union(*(value.reads for value in values))
        if called.is_builtin():
            if called is wp.abs:
                return Expression(f"magnitude({inner})", _ATOM, reads)
            if called is wp.sqrt:
                return Expression(f"square_root({inner})", _ATOM, reads)
            if called is wp.isfinite:
                return Expression(f"finite({inner})", _ATOM, reads, is_condition=True)
            if called is wp.isnan:
                one = values[0].within(_COMPARISON + 1)
                return Expression(f"{one} != {one}", _COMPARISON, reads, is_condition=True)
            raise self._unsupported(node, f"`{ast.unparse(node.func)}`")
        function = self._translator.function(called)
        if len(values) != len(function.arguments):
            raise self._unsupported(node, f"{len(values)} arguments where {function.name} takes {function.arguments}")
        passed = zip(function.arguments, values, strict=True)
        reads = frozenset().union(*(value.reads for name, value in passed if name in function.reads))
        template = "" if values else "<V>"
        return Expression(f"{function.name}{template}({inner})", _ATOM, reads, results=function.results)

    def _literal(self, node: Any, value: float) -> Expression:
        if math.isnan(value):
            return Expression(_NAN, _ATOM, frozenset())
        if math.isinf(value):
            return Expression(f"splat<V>({'-' if value < 0 else ''}kInfinity)", _ATOM, frozenset())
        with np.errstate(over="ignore"):
            single = np.float32(value)
        if np.isinf(single):
            raise self._unsupported(node, f"{value!r}, which is beyond the range of float32,")
        return Expression(f"splat<V>({single!s}f)", _ATOM, frozenset())

    def _number(self, node: Any) -> Expression:
        value = self._expression(node)
        if value.is_condition:
            raise self._unsupported(node, "a condition where a number is due")
        self._require_single(node, value)
        return value

    def _condition(self, node: Any) -> Expression:
        value = self._expression(node)
        if not value.is_condition:
            raise self._unsupported(node, "a number where a condition is due")
        return value

    def _require_single(self, node: Any, value: Expression) -> None:
        if value.results != 1:
            raise self._unsupported(node, f"{value.results} results where one value is due")

    def _resolve(self, node: Any) -> Any:
        """What a name of the function's file stands for; None for none."""
        if isinstance(node, ast.Name):
            return self._function.__globals__.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._resolve(node.value), node.attr, None)
        return None

    def _check_name(self, node: Any, name: str) -> None:
        if name in _TAKEN or not name.isascii() or name.startswith("results_"):
            raise self._unsupported(node, f"the name {name}, which C++ has for something else,")

    def _unsupported(self, node: Any, what: str) -> UnsupportedError:
        line = self._first_line + node.lineno - 1
        return UnsupportedError(
            f"{self._function.__code__.co_filename}, line {line}: {what} has no C++ twin. "
            "Write the law with what tools/laws_header.py translates."
        )


def header() -> str:
    """Return the text of the header.

    Raises:
        UnsupportedError: A law says something that has no translation.
        TypeError: A law does not take what its class promises.
    """
    translator = Translator()
    translator.function(curve_row)
    translator.function(curve_value)
    functions = []
    for function, slopes in functions_of_laws.SLOPES.items():
        translated = translator.function(function)
        functions.append(_dual_text(translated, [translator.function(slope).name for slope in slopes]))
        functions.append(_function_struct(translated))
    laws = {"Controllers": catalogue.laws("controller"), "EffortStages": catalogue.effort_laws()}
    laws["Feedbacks"] = catalogue.sensing_laws()
    structs = [_struct(translator, law) for lines in laws.values() for law in lines]
    lists = [f"using {title} = List<{', '.join(law.name or '' for law in lines)}>;" for title, lines in laws.items()]
    titles = [f"Function{function.key.capitalize()}" for function in functions_of_laws.SLOPES]
    lists.insert(0, f"using Functions = List<{', '.join(titles)}>;")
    parts = [
        "// Generated by `./python.sh tools/generate.py` from the laws in components/; a test compares.\n"
        "//\n"
        "// First the laws and what they call, for one number or a vector of them; then what the catalogue says of\n"
        "// each law, in canonical order. Operations are those of the wp.func in their order, hence the same bits.\n"
        "// clang-format off\n"
        "#pragma once\n"
        '#include "arithmetic.h"',
        "namespace ACTUATORS_VARIANT {",
        _signals_text(),
        *(function.text for function in translator.functions.values() if function.text),
        *functions,
        *structs,
        "\n".join(lists),
        "}  // namespace ACTUATORS_VARIANT\n// clang-format on",
    ]
    return "\n\n".join(parts) + "\n"


def _signals_text() -> str:
    """What the core knows of the signals that laws may ask for."""
    unbounded = ", ".join(str(signal.is_unbounded).lower() for signal in SIGNALS.values())
    return (
        "// Of each signal that laws may ask for, whether infinity is one of its values.\n"
        f"constexpr bool kUnbounded[] = {{{unbounded}}};"
    )


def outputs() -> dict[Path, str]:
    """Return the text of each file that this module writes, by path."""
    return {TARGET: header()}


def wrapped(line: str) -> list[str]:
    """The line broken at blanks where it is too long, but for those between a type and a name."""
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 8)
    kept = re.sub(r"(?<=\bV) (?=\w)|(?<=\bfloat) (?=\w)|(?<=\)) (?={)", "\0", line)
    parts = textwrap.wrap(kept, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in parts]


def _dual_text(function: Function, slopes: Sequence[str]) -> str:
    """The twin for duals: value and derivatives, whatever the function consists of."""
    values = ", ".join(f"{name}.value" for name in function.arguments)
    terms = [f"{name}.d * {slope}({values})" for name, slope in zip(function.arguments, slopes, strict=True)]
    lines = [
        "template <class V>",
        f"inline Dual<V> {function.name}({', '.join(f'Dual<V> {name}' for name in function.arguments)}) {{",
        *wrapped(f"    return {{{function.name}({values}), {' + '.join(terms)}}};"),
        "}",
    ]
    return "\n".join(lines)


def _function_struct(function: Function) -> str:
    """A function by its name, for tests."""
    name = function.name.removeprefix("law_")
    lines = [
        f"struct Function{name.capitalize()} {{",
        f'    static constexpr const char* kName = "{name}";',
        f"    static constexpr int kArguments = {len(function.arguments)};",
        "    template <class V>",
        f"    static inline V value({_numbers(function.arguments)}) {{",
        f"        return {function.name}({', '.join(function.arguments)});",
        "    }",
        "};",
    ]
    return "\n".join(lines)


def _struct(translator: Translator, law: catalogue.Law) -> str:
    """What the catalogue says of a law, and the law with all arguments of its kind."""
    component, kind = law.component, KINDS[law.kind]
    signals = kind.takes
    require_law(component, signals)
    function = translator.function(component.LAW)
    taken = signals_of(component, signals)
    results = results_of(component) + len(component.STATE)
    if function.results != results:
        raise UnsupportedError(
            f"{_place(component.LAW.func)}: {function.name} returns {function.results} values: must return {results}, "
            f"those of its kind and {component.STATE}. Correct the law or STATE."
        )
    # all take the time step, whether or not their law does
    arguments = list(function.arguments)
    if "dt" not in taken:
        arguments.insert(len(signals), "")
    prepared = prepared_of(component, signals)
    watched = [name for name in signals if name != "dt"]
    reads = _reads(component, watched, function)
    over = [str(OVER.index(one)) for one in component.CURVES.values()]
    call = f"{function.name}({', '.join(function.arguments)})"
    parameters, prepare = _preparation(translator, component, function, prepared)
    counts = {
        # with a law that says how late its results act, one more than it gives
        "kResults": results_of(component),
        "kGives": kind.gives,
        "kLate": len(component.LATE),
        "kParameters": len(component.PARAMETERS),
        "kPrepared": len(prepared),
        "kStates": len(component.STATE),
        "kCurves": len(component.CURVES),
        "kAsked": len(component.ASKS),
        "kArguments": len(arguments),
        # 1 if it calls what its loop computes first, see native/first.h; the array of the lag keeps that
        "kFirst": int(translator.calls(function, FIRST) == 1 and not component.LATE),
    }
    asks = [list(SIGNALS).index(name) for name in component.ASKS]
    costly = {name: component.USUAL[name] for name in component.COSTLY}
    constants = {
        f"{title}{end}": _constants_text(values, names)
        for title, values in (("kUsual", component.USUAL), ("kCostly", costly))
        for end, names in (("", prepared), ("Asked", component.ASKS))
    }
    lines = [
        f"struct {law.name} {{",
        f'    static constexpr const char *kName = "{law.name}", *kKind = "{law.kind}";',
        f"    static constexpr bool kLimits = {str(kind.is_limit).lower()}, kConverts = {str(kind.converts).lower()};",
        f"    static constexpr bool kCouples = {str(kind.couples).lower()};",
        f"    static constexpr bool kFollows = {str(follows_limits(law.kind)).lower()};",
        f"    static constexpr int {', '.join(f'{name} = {value}' for name, value in counts.items())};",
        f"    static constexpr bool kPrepares = {str(component.PREPARE is not None).lower()};",
        "    // whether what is prepared depends on the time step",
        f"    static constexpr bool kTimed = {str(prepares_for_dt(component)).lower()};",
        "    // the parameter that each prepared number is as it stands, -1 for one that is derived",
        f"    static constexpr int kPasses[] = {{{', '.join(map(str, _passes(component))) or '-1'}}};",
        "    // what each curve runs over: 0 for the position, 1 for the velocity, 2 for the speed",
        f"    static constexpr int kOver[] = {{{', '.join(over) or '-1'}}};",
        "    // numbers of the signals that it asks for",
        f"    static constexpr int kAsks[] = {{{', '.join(map(str, asks)) or '-1'}}};",
        "    // states that are unknown after a reset",
        f"    static constexpr bool kUnset[] = {{{', '.join(_unset(component)) or 'false'}}};",
        "    // values that are compiled as constants, NaN for none: all usual ones, or the costly ones alone",
        f"    static constexpr bool kHasUsual = {str(bool(component.USUAL)).lower()};",
        f"    static constexpr bool kHasCostly = {str(bool(costly)).lower()};",
        *(f"    static constexpr float {title}[] = {{{text}}};" for title, text in constants.items()),
        f"    // {', '.join(name.replace('_', ' ') for name in watched)}",
        f"    static constexpr bool kReads[] = {{{', '.join(str(one).lower() for one in reads) or 'false'}}};",
        "",
        "    template <class V>",
        *wrapped(f"    static inline Values<V, kResults + kStates> law({_numbers(arguments)}) {{"),
        *wrapped(f"        return {_values(call, results)};"),
        "    }",
        "    template <class V>",
        *wrapped(f"    static inline Values<V, kPrepared> prepare({_numbers(parameters)}) {{"),
        *wrapped(f"        return {prepare};"),
        "    }",
        *(_motor_lines(translator, component) if kind.converts else ()),
        f"    static constexpr bool kFelt = {str(component.FELT is not None).lower()};",
        *(_felt_lines(translator, component) if component.FELT is not None else ()),
        f"    static constexpr bool kTicks = {str(component.TICK is not None).lower()};",
        *(_tick_lines(translator, component) if component.TICK is not None else ()),
        f"    static constexpr bool kEnds = {str(component.END is not None).lower()};",
        *(_end_lines(translator, component) if component.END is not None else ()),
        "};",
    ]
    return "\n".join(lines)


def _unset(component: Any) -> list[str]:
    return [str(math.isnan(component.START.get(name, 0.0))).lower() for name in component.STATE]


def _constants_text(values: Mapping[str, float], names: Sequence[str]) -> str:
    return ", ".join(f"{np.float32(values[name])!s}f" if name in values else "kNaN" for name in names) or "kNaN"


def _reads(component: Any, watched: Sequence[str], function: Function) -> list[bool]:
    """Which of the signals make a NaN of the result where they are NaN: by themselves or by a curve over them."""
    reads = [own in function.reads for own in function.arguments[: len(watched)]]
    first = len(function.arguments) - len(component.CURVES)
    for own, over in zip(function.arguments[first:], component.CURVES.values(), strict=True):
        reads[watched.index("position" if over == "position" else "velocity")] |= own in function.reads
    return reads


def _preparation(
    translator: Translator, component: Any, function: Function, prepared: Sequence[str]
) -> tuple[list[str], str]:
    """Arguments of what prepares the parameters of a law, the time step behind them, and its value."""
    if component.PREPARE is None:
        # a parameter may be called as C++ cannot call it, an argument not
        return [*prepared, ""], f"{{{{{', '.join(prepared)}}}}}"
    preparing = translator.function(component.PREPARE)
    if preparing.results != len(prepared):
        raise UnsupportedError(
            f"{_place(component.PREPARE.func)}: {preparing.name} returns {preparing.results} values: must return "
            f"the {len(prepared)} that {function.name} takes ({', '.join(prepared)}). Correct one of them."
        )
    call = f"{preparing.name}({', '.join(preparing.arguments)})"
    arguments = preparing.arguments if prepares_for_dt(component) else [*preparing.arguments, ""]
    return arguments, _values(call, preparing.results)


def _motor_lines(translator: Translator, component: Any) -> list[str]:
    """The law of a transmission that gives signals of the motor."""
    function = translator.function(component.MOTOR)
    if function.results != len(MOTOR_SIGNALS):
        raise UnsupportedError(
            f"{_place(component.MOTOR.func)}: {function.name} returns {function.results} values: must return "
            f"{len(MOTOR_SIGNALS)} ({', '.join(MOTOR_SIGNALS)}). Correct MOTOR."
        )
    return [
        "    template <class V>",
        *wrapped(f"    static inline Values<V, {function.results}> motor({_numbers(function.arguments)}) {{"),
        *wrapped(f"        return {function.name}({', '.join(function.arguments)});"),
        "    }",
    ]


def _felt_lines(translator: Translator, component: Any) -> list[str]:
    """The function of a transmission that gives inertia and load as the motor feels them."""
    function = translator.function(component.FELT)
    if function.results != len(FELT_SIGNALS):
        raise UnsupportedError(
            f"{_place(component.FELT.func)}: {function.name} returns {function.results} values: must return "
            f"{len(FELT_SIGNALS)} ({', '.join(FELT_SIGNALS)}). Correct FELT."
        )
    return [
        "    template <class V>",
        *wrapped(f"    static inline Values<V, {function.results}> felt({_numbers(function.arguments)}) {{"),
        *wrapped(f"        return {function.name}({', '.join(function.arguments)});"),
        "    }",
    ]


def _tick_lines(translator: Translator, component: Any) -> list[str]:
    """The function of a rate that says whether the controller runs in a step."""
    function = translator.function(component.TICK)
    return [
        "    template <class V>",
        *wrapped(f"    static inline V tick({_numbers(function.arguments)}) {{"),
        *wrapped(f"        return {function.name}({', '.join(function.arguments)});"),
        "    }",
    ]


def _end_lines(translator: Translator, component: Any) -> list[str]:
    """The function of an effort mode that says what a joint does in a step without its motor."""
    function = translator.function(component.END)
    return [
        "    template <class V>",
        *wrapped(f"    static inline Values<V, {function.results}> end({_numbers(function.arguments)}) {{"),
        *wrapped(f"        return {function.name}({', '.join(function.arguments)});"),
        "    }",
    ]


def _passes(component: Any) -> list[int]:
    """Which parameter each prepared number is as it stands, -1 for one that is derived."""
    if component.PREPARE is None:
        return list(range(len(component.PARAMETERS)))
    function: Any = ast.parse(textwrap.dedent(inspect.getsource(component.PREPARE.func))).body[0]
    # the time step that may follow is no parameter
    names = [argument.arg for argument in function.args.args[: len(component.PARAMETERS)]]
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    value = function.body[-1].value
    elements = value.elts if isinstance(value, ast.Tuple) else [value]
    return [
        names.index(one.id) if isinstance(one, ast.Name) and one.id in names and one.id not in stored else -1
        for one in elements
    ]


def _values(call: str, results: int) -> str:
    return call if results > 1 else f"{{{{{call}}}}}"


def _numbers(names: Sequence[str]) -> str:
    return ", ".join(f"V {name}".rstrip() for name in names)


def _place(function: Any) -> str:
    return f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"
