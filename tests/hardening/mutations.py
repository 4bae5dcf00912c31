"""Small faults put into the native core and the pipeline, one at a time: do the tests that belong to them notice?

    ./python.sh tests/hardening/mutations.py --native 50 --pipeline 50 --seed 18
    ./python.sh tests/hardening/mutations.py --pipeline 50 --only pipeline/parameters.py

Each fault is made in a copy of the tree: an operator or a comparison exchanged, a constant changed, two arguments
swapped, a condition turned over, a statement left out. The core is compiled with one instruction set, only what
includes the file. A fault that does not compile, or compiles to the same code, is drawn anew. The tests at the file's
path come first, then those of the pipeline, the laws, the networks and what stands on them. Survivors are printed as
they are found, and listed at the end.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pybind11

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests" / "support"))

from isaacsim.core.experimental.actuators import native  # noqa: E402
from test_rooms import TESTED_IN  # noqa: E402

PACKAGE = Path("python/isaacsim/core/experimental/actuators")
NATIVE = Path("native")
UNITS = sorted(path.stem for path in (Path(__file__).parents[2] / NATIVE).glob("*.cpp"))
FLAGS = ["-O1", "-std=c++17", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
FLAGS += ["-fvisibility=hidden", "-w", "-DACTUATORS_VARIANT=baseline", "-DACTUATORS_SYMBOL=kBaseline"]
FLAGS += ['-DACTUATORS_NAME="baseline"']
# seconds for the tests of one fault: a fault that never ends is noticed too
LONG = 900

STEPS = ["tests/pipeline/step/test_native.py", "tests/pipeline/step/test_same_bits.py"]
# what is tested elsewhere than at its path, the quickest first
TESTS = {
    "native/network.cpp": ["tests/networks/test_evaluator.py", "tests/pipeline/step/test_networks.py"],
    "native/network_gradients.cpp": ["tests/pipeline/test_gradients_of_networks.py"],
    "native/network.h": ["tests/networks/test_evaluator.py", "tests/pipeline/step/test_networks.py"],
    "native/functions.h": ["tests/networks/test_evaluator.py", "tests/pipeline/step/test_networks.py"],
    "native/bound_network.h": ["tests/networks/test_evaluator.py", "tests/pipeline/step/test_networks.py"],
    "native/gradients.cpp": ["tests/pipeline/test_gradients.py"],
    "native/gradients.h": ["tests/pipeline/test_gradients.py"],
    "native/dual.h": ["tests/pipeline/test_gradients.py"],
    "native/law_in_block.h": ["tests/pipeline/test_gradients.py"],
    "native/bound_gradients.h": ["tests/pipeline/test_gradients.py"],
    "native/calls.h": ["tests/pipeline/test_calls.py"],
    "native/draws.h": ["tests/pipeline/test_randomization.py"],
    "native/transfer.h": ["tests/hosts/test_transfer.py"],
    "native/tape.h": ["tests/recording"],
    "native/helper.h": ["tests/native/test_threads.py", *STEPS],
    "native/laws_alone.h": ["tests/components/test_conformance_of_laws.py"],
    "native/generated_laws.h": ["tests/components/test_conformance_of_laws.py"],
    "native/arithmetic.h": ["tests/components/test_conformance_of_laws.py"],
}
MORE = ["tests/pipeline", "tests/components", "tests/networks", "tests/native", "tests/recording", "tests/loops"]
MORE += ["tests/test_articulation_actuators.py", "tests/test_state_of_wrappers.py"]

Edit = tuple[int, int, str, str]


@dataclass(frozen=True)
class Fault:
    """A stretch of a file replaced by another text."""

    path: Path
    start: int
    end: int
    text: str
    rule: str

    def apply(self, source: str) -> str:
        """The file with it."""
        return source[: self.start] + self.text + source[self.end :]

    def diff(self, source: str) -> str:
        """What it changes."""
        lines = difflib.unified_diff(
            source.splitlines(), self.apply(source).splitlines(), str(self.path), self.rule, "", "", 1, ""
        )
        return "\n".join(lines)


# ---- faults in C++: by the text, comments, texts and lines of the preprocessor left alone

CPP_OPERATORS = {
    " <= ": " < ", " < ": " <= ", " >= ": " > ", " > ": " >= ", " == ": " != ", " != ": " == ", " && ": " || ",
    " || ": " && ", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " * ", " += ": " -= ",
    " -= ": " += ", " |= ": " &= ", " &= ": " |= ", " & ": " | ", " | ": " & ", " << ": " >> ", " >> ": " << ",
}  # fmt: skip
CPP_DECLARATION = re.compile(
    r"\s*(const|constexpr|auto|int|int32_t|int64_t|uint\w+|size_t|float|double|bool|char|using|return|static|struct|"
    r"std::|py::|template|public|private|case|default|break|continue|typedef|extern|throw|\w+[*&]? \w+[;({=])"
)


def hidden(source: str) -> str:
    """The text with blanks for what is no code."""
    kinds = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|static_assert\([^;]*;'
    kinds += r"|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*"
    return re.sub(kinds, lambda found: re.sub(r"[^\n]", " ", found[0]), source, flags=re.MULTILINE | re.DOTALL)


def cpp_edits(source: str) -> Iterator[Edit]:
    """Places where something can be changed."""
    code = hidden(source)
    for old, new in CPP_OPERATORS.items():
        for found in re.finditer(re.escape(old), code):
            yield found.start(), found.end(), new, f"{old.strip()} to {new.strip()}"
    for found in re.finditer(r"(?<![\w.])(\d+)(?![\w.'])", code):
        yield found.start(), found.end(), str(int(found[1]) + 1), "constant"
    for found in re.finditer(r"(?<![\w.])(\d+\.\d*)f?(?![\w.])", code):
        yield found.start(), found.end(), found[0].replace(found[1], str(float(found[1]) + 0.5)), "constant"
    for found in re.finditer(r"\b(true|false)\b", code):
        yield found.start(), found.end(), "false" if found[1] == "true" else "true", "constant"
    for found in re.finditer(r"(?<=[( ])!(?=[\w(])", code):
        yield found.start(), found.end(), "", "without not"
    for found in re.finditer(r"(?<=\w\()([\w.\[\]]+), ([\w.\[\]]+)(?=[,)])", code):
        if found[1] != found[2]:
            yield found.start(), found.end(), f"{found[2]}, {found[1]}", "swapped arguments"
    for found in re.finditer(r"^[ \t]+[^\n{}]+;$", code, re.MULTILINE):
        line = source[found.start() : found.end()]
        before = code[: found.start()].rstrip()
        whole = before.endswith((";", "{", "}", ")"))
        if whole and not CPP_DECLARATION.match(line) and line.count("(") == line.count(")"):
            yield found.start(), found.end(), "    ;", "statement left out"


# ---- faults in Python: by the tree

COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "is not": "is"}
COMPARED |= {"in": "not in", "not in": "in"}
COMPUTED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "&": "|", "|": "&", "**": "*"}


class Places(ast.NodeVisitor):
    """Collects them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Edit] = []

    def at(self, line: int, column: int) -> int:
        begin = self.starts[line - 1]
        text = self.source[begin : self.starts[line]]
        return begin + len(text.encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def between(self, left: ast.expr, right: ast.expr, known: dict[str, str]) -> None:
        start, end = self.span(left)[1], self.span(right)[0]
        old = self.source[start:end].strip()
        if old in known:
            self.found.append((start, end, f" {known[old]} ", f"{old} to {known[old]}"))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        # no annotations, decorators and texts
        if node.name in ("__repr__", "__str__", "label"):
            return
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        for item in node.body:
            self.visit(item)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        start, end = self.span(node.test)
        self.found.append((start, end, f"not ({self.source[start:end]})", "condition turned over"))
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            self.between(left, right, COMPARED)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.between(node.left, node.right, COMPUTED)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, {"and": "or", "or": "and"})
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self.span(node)
        if isinstance(node.value, bool):
            self.found.append((start, end, str(not node.value), "constant"))
        elif isinstance(node.value, (int, float)):
            self.found.append((start, end, str(node.value + 1), "constant"))

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        if called == "refuse" or called.startswith("_log"):
            return
        # these would only raise a TypeError
        swapped = called not in ("isinstance", "issubclass", "getattr", "hasattr", "setattr")
        for left, right in zip(node.args, node.args[1:], strict=False):
            (start, middle), (other, end) = self.span(left), self.span(right)
            text = self.source[other:end] + self.source[middle:other] + self.source[start:middle]
            if swapped and not isinstance(left, ast.Starred) and text != self.source[start:end]:
                self.found.append((start, end, text, "swapped arguments"))
        self.generic_visit(node)

    def left_out(self, node: ast.stmt) -> None:
        self.found.append((*self.span(node), "pass", "statement left out"))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.left_out(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.left_out(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
            self.left_out(node)
        else:
            self.generic_visit(node)


def python_edits(source: str) -> Iterator[Edit]:
    """Places where something can be changed."""
    places = Places(source)
    places.visit(ast.parse(source))
    yield from places.found


# ---- a copy of the tree, its core and its tests


class Tree:
    """A copy in which faults are made."""

    def __init__(self, place: Path) -> None:
        self.place = place
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).exists():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        self.objects = place / "build"
        self.objects.mkdir()
        self.core = place / PACKAGE / "native" / f"core{sysconfig.get_config_var('EXT_SUFFIX')}"
        self.first = place / "build" / self.core.name

    def compile(self, unit: str, to: Path) -> bool:
        """Whether it compiles."""
        includes = [f"-I{pybind11.get_include()}", f"-I{sysconfig.get_path('include')}"]
        command = ["c++", *FLAGS, *includes, "-c", str(self.place / NATIVE / f"{unit}.cpp"), "-o", str(to)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def link(self, objects: list[Path], to: Path) -> bool:
        """Whether it links."""
        command = ["c++", "-shared", *map(str, objects), "-o", str(to), "-lpthread"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def build(self) -> None:
        """The core without a fault."""
        objects = [self.objects / f"{unit}.o" for unit in UNITS]
        with ThreadPoolExecutor(2) as pool:
            assert all(pool.map(self.compile, UNITS, objects)), "the core does not compile"
        assert self.link(objects, self.first)
        shutil.copy2(self.first, self.core)

    def units_of(self, path: Path) -> list[str]:
        """What includes a file, or is compiled from it."""

        def included(name: str, seen: set[str]) -> set[str]:
            if name not in seen:
                seen.add(name)
                for one in re.findall(r'#include "([^"]+)"', (self.place / NATIVE / name).read_text()):
                    included(one, seen)
            return seen

        return [unit for unit in UNITS if path.name in included(f"{unit}.cpp", set())]

    def rebuild(self, path: Path) -> str:
        """Compile what includes a file: "" where that makes another core, or why not."""
        objects = {unit: self.objects / f"{unit}.o" for unit in UNITS}
        differs = False
        for unit in self.units_of(path):
            made = self.objects / f"{unit}-fault.o"
            if not self.compile(unit, made):
                return "does not compile"
            differs |= made.read_bytes() != objects[unit].read_bytes()
            objects[unit] = made
        if not differs:
            return "is the same code"
        # loaded files are not written over
        self.core.unlink()
        return "" if self.link(list(objects.values()), self.core) else "does not link"

    def passes(self, tests: list[str], jobs: int) -> bool:
        """Whether tests do."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", str(jobs)]
        environment = os.environ | {"PYTHONPATH": str(self.place / PACKAGE.parts[0]), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("ACTUATORS_ISA", None)
        try:
            done = subprocess.run(
                [*command, *tests], cwd=self.place, env=environment, capture_output=True, text=True, timeout=LONG,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        self.said = done.stdout[-2000:] + done.stderr[-500:]
        return done.returncode == 0


def tests_of(path: Path, place: Path) -> list[str]:
    """The tests that belong to a file, those at its path or listed."""
    if path.parts[0] == "native":
        return TESTS.get(str(path), STEPS)
    inside = path.relative_to(PACKAGE)
    own = Path("tests") / inside.parent / f"test_{inside.stem.strip('_')}.py"
    if (place / own).exists():
        return [str(own)]
    module = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
    return [f"tests/{TESTED_IN[module]}"] if module in TESTED_IN else STEPS


def try_fault(tree: Tree, fault: Fault, jobs: int, more: bool) -> str:
    """How a fault came out; the tree is as before afterwards."""
    path = tree.place / fault.path
    source = path.read_text("utf-8")
    native = fault.path.parts[0] == "native"
    try:
        path.write_text(fault.apply(source), "utf-8")
        if native:
            why_not = tree.rebuild(fault.path)
            if why_not:
                return why_not
        else:
            try:
                compile(fault.apply(source), str(path), "exec")
            except SyntaxError:
                return "does not compile"
        own = tests_of(fault.path, tree.place)
        if not tree.passes(own, 0):
            return "killed"
        if more and not tree.passes(MORE, jobs):
            return "killed later"
        return "survived"
    finally:
        path.write_text(source, "utf-8")
        if native:
            tree.core.unlink(missing_ok=True)
            shutil.copy2(tree.first, tree.core)


def faults_of(place: Path, kind: str, only: str | None) -> list[Fault]:
    """All faults that can be made in the core or in the pipeline."""
    files = (
        sorted([*(place / NATIVE).glob("*.h"), *(place / NATIVE).glob("*.cpp")])
        if kind == "native"
        else sorted((place / PACKAGE / "pipeline").rglob("*.py"))
    )
    edits = cpp_edits if kind == "native" else python_edits
    return [
        Fault(file.relative_to(place), *edit)
        for file in files
        if only is None or str(file).endswith(only)
        for edit in edits(file.read_text("utf-8"))
    ]


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", type=int, default=0)
    parser.add_argument("--pipeline", type=int, default=0)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="a file, by the end of its path")
    parser.add_argument("--minutes", type=float, default=600, help="start no further fault after so long")
    parser.add_argument("--first-tests-only", action="store_true", help="leave out the tests that take long")
    options = parser.parse_args()
    begin = time.monotonic()
    survivors: list[str] = []
    killed = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder))
        if options.native:
            tree.build()
        elif native.core is not None:
            shutil.copy2(native.core.__file__, tree.core)
        print(f"seed {options.seed}, built in {time.monotonic() - begin:.0f} s", flush=True)
        checked: set[str] = set()
        for kind, count in (("native", options.native), ("pipeline", options.pipeline)):
            faults = faults_of(tree.place, kind, options.only)
            order = np.random.default_rng([options.seed, kind == "native"]).permutation(len(faults))
            print(f"{kind}: {count} of {len(faults)} faults", flush=True)
            wanted = tried + count
            for number in order:
                if tried >= wanted or time.monotonic() - begin > 60 * options.minutes:
                    break
                fault = faults[number]
                for test in tests_of(fault.path, tree.place):
                    if test not in checked:
                        assert tree.passes([test], 0), f"{test} fails without any fault:\n{tree.said}"
                        checked.add(test)
                source = (tree.place / fault.path).read_text("utf-8")
                since = time.monotonic()
                outcome = try_fault(tree, fault, options.jobs, not options.first_tests_only)
                line = source[: fault.start].count("\n") + 1
                seconds = time.monotonic() - since
                print(f"{outcome:17}{seconds:5.0f} s  {fault.path}:{line}  {fault.rule}", flush=True)
                if outcome.startswith(("killed", "survived")):
                    tried += 1
                    killed += outcome.startswith("killed")
                if outcome == "survived":
                    survivors.append(fault.diff(source))
                    print(survivors[-1], flush=True)
    print(f"\n{killed} of {tried} killed, {len(survivors)} survived, {time.monotonic() - begin:.0f} s")
    print(*survivors, sep="\n\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
