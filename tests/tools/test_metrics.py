"""The report on size and complexity counts what it says."""

import ast
from pathlib import Path

import metrics
import pytest

FUNCTIONS = {
    "def f(): pass": 1,
    "def f(a):\n    return 1 if a else 2": 2,
    "def f(a, b):\n    if a and b:\n        return 1": 3,
    "def f(a):\n    for x in a:\n        pass\n    else:\n        pass": 3,
    "def f(a):\n    return [x for x in a if x if x > 1]": 4,
    "def f():\n    try:\n        pass\n    except ValueError:\n        pass": 2,
    "def f(a):\n    def g(b):\n        return b and a\n    return g": 1,
}


@pytest.mark.parametrize(("text", "expected"), FUNCTIONS.items())
def test_complexity_counts_branches(text, expected) -> None:
    assert metrics.complexity(ast.parse(text).body[0]) == expected


def test_signatures_leave_self_and_stars_out() -> None:
    (function,) = ast.parse("def f(self, a, b=1, *more, c, **others): pass").body
    assert isinstance(function, ast.FunctionDef) and metrics.signature_length(function) == 3


@pytest.mark.slow
def test_totals_are_sums(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["metrics.py"])
    metrics.main()
    _, *rows, total = (line.split()[1:] for line in capsys.readouterr().out.splitlines())
    sums = [sum(map(int, column)) for column in zip(*(row[-6:] for row in rows), strict=True)]
    assert sums == list(map(int, total))
    assert sums[0] == sum(len(file.read_text("utf-8").splitlines()) for file in Path(metrics.PACKAGE).rglob("*.py"))
