"""The laws in C99: those of `law_translator.py`, with types, templates and structured results respelled."""

from __future__ import annotations

import functools
import re

from ...laws.contract import catalogue
from ...laws.contract.curve import curve_value
from .c_literals import wrapped
from .law_translator import Function, Translator

_KINDS = (
    *("feedback", "delay", "controller", "rate", "effort_delay", "electrical", "clamping", "thermal"),
    *("transmission", "linkage", "passive"),
)
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
        if law.kind in _KINDS and law.name is not None and not law.by_network:
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
