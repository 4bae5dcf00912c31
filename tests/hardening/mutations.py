"""Small faults put into the native core and the pipeline, one at a time: do the tests that belong to them notice?

    ./python.sh tests/hardening/mutations.py --native 50 --pipeline 50 --seed 18
    ./python.sh tests/hardening/mutations.py --pipeline 50 --only engine/parameters.py
    ./python.sh tests/hardening/mutations.py --listed faults.txt

Each fault is made in a copy of the tree: an operator or a comparison exchanged, a constant changed, two arguments
swapped, a condition turned over, a statement left out. The core is compiled with one instruction set, only what
includes the file. A fault that does not compile, or compiles to the same code, is drawn anew. The tests at the file's
path come first, then those of the pipeline, the laws, the networks and what stands on them, as far as they enter the
function with the fault, and at last, for the core, those that compile it themselves. Which enter what is measured
before, without a fault, when all of them must pass; it is kept in `build/reached.json`, and measured anew of what was
changed since. Survivors are printed as they are found, and listed at the end.

A list has a fault a line, `file text other-text more-tests` with tabs between them. The text stands once in the file;
the tests are those of the file, and those that are named. A fault of a law is one of all its forms, as the generated
files are written anew: only its formula in float64, or what follows from it, can tell. The test that notices it is
printed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

try:
    import pybind11
except ModuleNotFoundError:
    sys.exit("mutations.py needs pybind11, which the tests do not bring. Run `./python.sh -m pip install pybind11`.")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests" / "support"))

from test_rooms import TESTED_IN  # noqa: E402
from warm_python import WarmPython  # noqa: E402

PACKAGE = Path("python/isaacsim/core/experimental/actuators")
NATIVE = Path("native")
UNITS = sorted(path.stem for path in (Path(__file__).parents[2] / NATIVE).glob("*.cpp"))
FLAGS = ["-O1", "-std=c++17", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
FLAGS += ["-fvisibility=hidden", "-w", "-DACTUATORS_VARIANT=baseline", "-DACTUATORS_SYMBOL=kBaseline"]
FLAGS += ['-DACTUATORS_NAME="baseline"', "-DACTUATORS_HAS_BASELINE"]
# tests that run together, the longest by themselves [s]
MANY = 60
KEPT = ROOT / "build" / "reached.json"
# of other people, by the tests
LOADED = ("numpy.testing", "hypothesis.strategies", "_pytest.pytester", "xdist.plugin", "warp", "pxr.UsdPhysics")
# of each thread: a process that runs its tests, and what they said
LOCAL = threading.local()
STEPS = ["tests/engine/step/test_native.py", "tests/engine/step/test_same_bits.py"]
# what is tested elsewhere than at its path, the quickest first
NETWORKS = ["tests/laws/networks/test_evaluator.py", "tests/engine/step/test_networks.py"]
LAWS = "tests/laws/test_conformance_of_laws.py"
TESTS = {
    f"native/{name}": tests
    for names, tests in {
        "network.cpp network_block.h network.h functions.h bound_network.h": NETWORKS,
        "network_gradients.cpp": ["tests/engine/test_gradients_of_networks.py"],
        "gradients.cpp gradients.h dual.h law_in_block.h bound_gradients.h": [
            "tests/engine/gradients/test_actuator_gradients.py"
        ],
        "calls.h": ["tests/engine/test_calls.py"],
        "draws.h": ["tests/engine/random/test_randomization.py"],
        "transfer.h": ["tests/simulators/test_transfer.py"],
        "tape.h": ["tests/tools/recording/test_recorder.py"],
        "helper.h": ["tests/native/test_helper.py", "tests/native/test_threads.py", *STEPS],
        # all forms of a law are written from its file
        "laws_alone.cpp generated_laws.h arithmetic.h": [LAWS],
    }.items()
    for name in names.split()
}
MORE = ["tests/engine", "tests/laws", "tests/base/native", "tests/tools/recording", "tests/loops"]
MORE += ["tests/extension/test_articulation_actuators.py", "tests/test_state_of_wrappers.py", "tests/test_misuse.py"]
# compile the core themselves: only asked of a fault in it that no others notice
COMPILING = ["tests/engine/step/test_made_up_laws.py"]
GENERATED = NATIVE / "generated_laws.h"
Edit = tuple[int, int, str, str]


@dataclass(frozen=True)
class Fault:
    path: Path
    start: int
    end: int
    text: str
    rule: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]

    def diff(self, source: str) -> str:
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
    kinds = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|static_assert\([^;]*;'
    kinds += r"|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*"
    return re.sub(kinds, lambda found: re.sub(r"[^\n]", " ", found[0]), source, flags=re.MULTILINE | re.DOTALL)


def cpp_edits(source: str):
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
        whole = code[: found.start()].rstrip().endswith((";", "{", "}", ")"))
        if whole and not CPP_DECLARATION.match(line) and line.count("(") == line.count(")"):
            yield found.start(), found.end(), "    ;", "statement left out"


COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "is not": "is"}
COMPARED |= {"in": "not in", "not in": "in"}
COMPUTED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "&": "|", "|": "&", "**": "*"}


class Places(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Edit] = []

    def at(self, line: int, column: int) -> int:
        begin = self.starts[line - 1]
        return begin + len(self.source[begin : self.starts[line]].encode()[:column].decode())

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

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
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
        for child in (node.func, *node.args, *(one for one in node.keywords if one.arg != "strict")):
            self.visit(child)

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


def python_edits(source: str):
    places = Places(source)
    places.visit(ast.parse(source))
    yield from places.found


@dataclass(frozen=True)
class Reached:
    """What one file of tests enters, files of code and first and last lines of functions, and how long it takes."""

    seconds: float
    functions: dict[str, list[list[int]]] | None

    def enters(self, path: Path, line: int, all_of: bool) -> bool:
        """Whether its tests enter a function around a line, or anything of the file; unknown counts as yes."""
        if self.functions is None:
            return True
        functions = self.functions.get(str(path), [])
        return bool(functions) if all_of else any(first <= line <= last for first, last in functions)


def functions_of(source: str):
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.FunctionDef):
            yield min([item.lineno, *(one.lineno for one in item.decorator_list)]), item.end_lineno or item.lineno
        else:
            waiting += ast.iter_child_nodes(item)


# ---- a copy of the tree, its core and its tests


class Tree:
    def __init__(self, place: Path, source: Path = ROOT) -> None:
        self.place = place
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (source / name).exists():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, place / name)
        self.objects = place / "build"
        self.objects.mkdir()
        self.core = place / PACKAGE / "base/native" / f"core{sysconfig.get_config_var('EXT_SUFFIX')}"
        self.first = place / "build" / self.core.name

    def compile(self, unit: str, to: Path, *more: str) -> bool:
        includes = [f"-I{pybind11.get_include()}", f"-I{sysconfig.get_path('include')}"]
        command = ["c++", *FLAGS, *more, *includes, "-c", str(NATIVE / f"{unit}.cpp"), "-o", str(to)]
        return subprocess.run(command, cwd=self.place, capture_output=True, check=False).returncode == 0

    def link(self, objects: list[Path], to: Path, *more: str) -> bool:
        command = ["c++", "-shared", *more, *map(str, objects), "-o", str(to), "-lpthread"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def build(self, *more: str) -> None:
        objects = [self.objects / f"{unit}.o" for unit in UNITS]
        with ThreadPoolExecutor(2) as pool:
            compiled = list(pool.map(lambda unit, to: self.compile(unit, to, *more), UNITS, objects))
        assert all(compiled), "the core does not compile"
        assert self.link(objects, self.first, *more)
        shutil.copy2(self.first, self.core)

    def built_like(self, other: Tree) -> Tree:
        shutil.copytree(other.objects, self.objects, dirs_exist_ok=True)
        shutil.copy2(self.first, self.core)
        return self

    def units_of(self, path: Path) -> list[str]:
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
        # what compiles quickest first
        for unit in sorted(self.units_of(path), key=lambda unit: objects[unit].stat().st_size):
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

    def generate(self) -> bool:
        before = (self.place / GENERATED).read_bytes()
        command = [sys.executable, "tools/generate.py"]
        environment = os.environ | {"PYTHONPATH": PACKAGE.parts[0], "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(command, cwd=self.place, env=environment, capture_output=True, check=True)
        return (self.place / GENERATED).read_bytes() != before

    def passes(self, tests: list[str], *more: str, **environment: str) -> bool:
        if not hasattr(LOCAL, "warm"):
            LOCAL.warm = WarmPython(LOADED)
        environment |= {"PYTHONPATH": f"{self.place / PACKAGE.parts[0]}:{self.place / 'tests' / 'hardening'}"}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
        # loaded before pytest could rewrite it
        arguments = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
        # a fault that never ends is noticed too: processor time, waiting, and memory
        limits = {"RLIMIT_CPU": 120, "RLIMIT_DATA": 8 << 30}
        command = ["-m", "pytest", *arguments, *more, *tests]
        done = LOCAL.warm.run(command, cwd=self.place, env=os.environ | environment, timeout=1800, limits=limits)
        LOCAL.said = (done.stdout + done.stderr)[-2500:]
        return done.returncode == 0

    def reached(self, tests: str, covered: Tree) -> Reached:
        """What a file of tests enters, in Python, and in the core of a tree that was compiled to tell."""
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "told.json"
            place = {"GCOV_PREFIX": folder, "GCOV_PREFIX_STRIP": str(len(covered.objects.parts) - 1)}
            since = time.monotonic()
            fine = covered.passes([tests], "-p", "reached", REACHED=str(told), **place)
            seconds = time.monotonic() - since
            # some have bounds on time
            assert fine or self.passes([tests]), f"{tests} fails without any fault:\n{LOCAL.said}"
            if not told.exists():
                # too slow when watched
                return Reached(seconds, None)
            entered = {(name, line) for name, line in json.loads(told.read_text())}
            functions: dict[str, list[list[int]]] = {}
            for name in {name for name, _ in entered}:
                functions[str(Path(name).relative_to(covered.place))] = [
                    [first, last]
                    for first, last in [*functions_of(Path(name).read_text("utf-8")), (0, 0)]
                    if last == 0 or any((name, line) in entered for line in range(first, last + 1))
                ]
            for data in Path(folder).glob("*.gcda"):
                shutil.copy2(covered.objects / f"{data.stem}.gcno", folder)
                command = ["gcov", "--json-format", "--stdout", "--relative-only", data.name]
                said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
                for file in json.loads(said)["files"]:
                    functions.setdefault(file["file"], []).extend(
                        [one["start_line"], one["end_line"]] for one in file["functions"] if one["execution_count"]
                    )
        return Reached(seconds, functions)


def reached_by_tests(tree: Tree, covered: Tree, jobs: int) -> dict[str, Reached]:
    """What all files of tests enter, kept from the run before where nothing was changed."""

    def key(*names: str) -> str:
        return hashlib.sha256(b"".join((tree.place / name).read_bytes() for name in names)).hexdigest()

    shared = sorted(
        str(path.relative_to(tree.place))
        for folder in (PACKAGE, NATIVE, "tests/support")
        for path in (tree.place / folder).rglob("*")
        if path.suffix in (".py", ".cpp", ".h")
    )
    folders = [tree.place / name for name in MORE]
    files = [file for folder in folders for file in ([folder] if folder.is_file() else folder.rglob("test_*.py"))]
    own = (
        tests_of(path.relative_to(tree.place), tree.place) for path in (tree.place / PACKAGE / "pipeline").rglob("*.py")
    )
    names = sorted(
        ({str(file.relative_to(tree.place)) for file in files} | {*chain(*own, *TESTS.values())}) - {*COMPILING}
    )
    keys = {name: key(*shared, name) for name in names}
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    missing = [name for name in names if kept.get(name, {}).get("key") != keys[name]]
    if missing:
        covered.build("--coverage", "-O0", f"-fprofile-filter-files={NATIVE}/.*")
        with ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(tree.reached, name, covered): name for name in missing}
            for done in as_completed(running):
                name, reached = running[done], done.result()
                kept[name] = {"key": keys[name], "seconds": reached.seconds, "functions": reached.functions}
                KEPT.parent.mkdir(exist_ok=True)
                KEPT.write_text(json.dumps(kept))
                print(f"{reached.seconds:5.0f} s  {name}", flush=True)
    return {name: Reached(kept[name]["seconds"], kept[name]["functions"]) for name in names}


def tests_of(path: Path, place: Path) -> list[str]:
    if path.parts[0] == "native":
        return TESTS.get(str(path), STEPS)
    inside = path.relative_to(PACKAGE)
    own = Path("tests") / inside.parent / f"test_{inside.stem.strip('_')}.py"
    if not (place / own).exists():
        module = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
        own = Path("tests") / TESTED_IN.get(module, "")
    return STEPS if own.suffix == "" or str(own) in COMPILING else [str(own)]


def try_fault(tree: Tree, fault: Fault, reached: dict[str, Reached]) -> str:
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
        if not tree.passes(own):
            return "killed"
        line = source[: fault.start].count("\n") + 1
        # what is in no function, or runs while others are compiled, concerns all that load the file
        more = [name for name, one in reached.items() if one.enters(fault.path, line, False)]
        more = more or [name for name, one in reached.items() if one.enters(fault.path, line, True)]
        more = sorted(set(more) - set(own), key=lambda name: reached[name].seconds)
        seconds = np.cumsum([reached[name].seconds for name in more])
        # some at a time, the quickest first
        for number in np.unique(seconds // MANY):
            tests = [name for name, after in zip(more, seconds, strict=True) if after // MANY == number]
            if not tree.passes(tests):
                return "killed later"
        return "killed later" if native and not tree.passes(COMPILING) else "survived"
    finally:
        path.write_text(source, "utf-8")
        if native:
            tree.core.unlink(missing_ok=True)
            shutil.copy2(tree.first, tree.core)


def is_of_law(path: Path) -> bool:
    return path.parent == PACKAGE / "laws"


def try_listed(tree: Tree, fault: Fault, tests: list[str]) -> str:
    path = tree.place / fault.path
    source = path.read_text("utf-8")
    of_law, of_core = is_of_law(fault.path), fault.path.parent == NATIVE
    try:
        if of_law:
            path.write_text(fault.apply(source), "utf-8")
            # without the core, which takes minutes
            if not tree.passes([LAWS], "-k", "oracle or formula or config or neutral or authored"):
                return "killed"
            of_core = tree.generate()
            path.write_text(source, "utf-8")
            tree.generate()
        if of_core and not [*tree.objects.glob("*.o")]:
            tree.build()
        path.write_text(fault.apply(source), "utf-8")
        if of_law:
            tree.generate()
        if of_core and (why_not := tree.rebuild(GENERATED if of_law else fault.path)):
            return why_not
        return "survived" if tree.passes(tests) else "killed"
    finally:
        path.write_text(source, "utf-8")
        if of_law:
            tree.generate()
        if of_core:
            tree.core.unlink(missing_ok=True)
            shutil.copy2(tree.first, tree.core)


def run_listed(tree: Tree, list_of_faults: str) -> int:
    survivors, passing = 0, set[str]()
    for line in filter(None, list_of_faults.splitlines()):
        name, old, new, *more = (part.strip() for part in line.split("\t"))
        path = next(one for one in (Path(name), PACKAGE / name) if (tree.place / one).exists())
        source = (tree.place / path).read_text("utf-8")
        if source.count(old) != 1:
            print(f"stands {source.count(old)} times in {name}: {old}", flush=True)
            survivors += 1
            continue
        fault = Fault(path, source.index(old), source.index(old) + len(old), new, "listed")
        tests = [*tests_of(path, tree.place), *([LAWS] if is_of_law(path) else []), *(more[0].split() if more else [])]
        for one in set(tests) - passing:
            assert tree.passes([one]), f"{one} fails without any fault:\n{LOCAL.said}"
        passing |= {*tests}
        outcome = try_listed(tree, fault, list(dict.fromkeys(tests)))
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", LOCAL.said, re.MULTILINE) if outcome == "killed" else []
        print(f"{outcome:17}{name} | {old} | {new} | {' '.join(failed)}", flush=True)
        survivors += outcome != "killed"
    return survivors


def faults_of(place: Path, kind: str, only: str | None) -> list[Fault]:
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


def drawn(faults: list[Fault], place: Path, seed: int):
    """Faults in an order that is random, and the same for those whose lines stay as they are."""
    sources = {path: (place / path).read_text("utf-8") for path in {fault.path for fault in faults}}
    seen: Counter[str] = Counter()
    order = []
    for fault in faults:
        source = sources[fault.path]
        begin = source.rfind("\n", 0, fault.start) + 1
        line = source[begin : source.find("\n", fault.end)]
        what = f"{seed} {fault.path} {fault.rule} {fault.start - begin} {fault.text} {line}"
        seen[what] += 1
        order.append((hashlib.sha256(f"{what} {seen[what]}".encode()).hexdigest(), fault))
    yield from (fault for _, fault in sorted(order, key=lambda one: one[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", type=int, default=0)
    parser.add_argument("--pipeline", type=int, default=0)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="a file, by the end of its path")
    parser.add_argument("--listed", type=Path, help="a file of faults to try, see above")
    parser.add_argument("--minutes", type=float, default=600, help="start no further fault after so long")
    options = parser.parse_args()
    begin = time.monotonic()
    # chosen in the tests
    os.environ.pop("ACTUATORS_ISA", None)
    survivors: list[str] = []
    killed = tried = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        tree = Tree(Path(folder) / "0")
        if options.listed:
            shutil.copy2(ROOT / tree.core.relative_to(tree.place), tree.core)
            return min(run_listed(tree, options.listed.read_text("utf-8")), 1)
        covered = Tree(Path(folder) / "covered")
        tree.build()
        print(f"seed {options.seed}, built in {time.monotonic() - begin:.0f} s", flush=True)
        reached = reached_by_tests(tree, covered, options.jobs)
        print(f"{len(reached)} files of tests, after {time.monotonic() - begin:.0f} s", flush=True)
        trees: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        for number in range(options.jobs):
            trees.put(Tree(Path(folder) / str(number), covered.place).built_like(tree) if number else tree)

        def outcome_of(fault: Fault) -> tuple[str, float]:
            since = time.monotonic()
            tree = trees.get()
            try:
                return try_fault(tree, fault, reached), time.monotonic() - since
            finally:
                trees.put(tree)

        for kind, count in (("pipeline", options.pipeline), ("native", options.native)):
            every = faults_of(tree.place, kind, options.only)
            print(f"{kind}: {count} of {len(every)} faults", flush=True)
            faults = drawn(every, tree.place, options.seed)
            wanted = tried + count
            running: deque[tuple[Fault, Future[tuple[str, float]]]] = deque()
            while tried < wanted:
                # no more than count, in the order drawn
                while len(running) < wanted - tried and time.monotonic() - begin < 60 * options.minutes:
                    fault = next(faults, None)
                    if fault is None:
                        break
                    running.append((fault, pool.submit(outcome_of, fault)))
                if not running:
                    break
                fault, result = running.popleft()
                outcome, seconds = result.result()
                source = (covered.place / fault.path).read_text("utf-8")
                line = source[: fault.start].count("\n") + 1
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
