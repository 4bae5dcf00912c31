"""Print the size and complexity of the package: lines, complex functions, long signatures, `Any` annotations.

    ./python.sh tools/metrics.py            # one row per room, and the totals
    ./python.sh tools/metrics.py --list     # the complex functions and long signatures by name, too

Complexity is McCabe's, counted as radon does: 1 plus each branch, loop, handler, assertion, Boolean operator and
comprehension. CI prints the table as a report; it is no limit.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python/isaacsim/core/experimental/actuators"
# folders whose folders are rooms
WINGS = ("engine", "extension", "files", "laws", "simulators", "tools")
COMPLEX, VERY_COMPLEX, LONG_SIGNATURE = 10, 15, 7

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Room:
    """Measures of one folder of the package, or of the files at its top."""

    lines: int = 0
    complexities: dict[str, int] = field(default_factory=dict)
    signatures: dict[str, int] = field(default_factory=dict)
    any_annotations: int = 0

    def add(self, other: Room) -> None:
        """Add the measures of another room."""
        self.lines += other.lines
        self.complexities |= other.complexities
        self.signatures |= other.signatures
        self.any_annotations += other.any_annotations

    def above(self, measure: dict[str, int], bound: int) -> int:
        """Number of functions above a bound."""
        return sum(value > bound for value in measure.values())

    def row(self) -> tuple[int, ...]:
        """The numbers of a row of the table."""
        return (
            self.lines,
            len(self.complexities),
            self.above(self.complexities, COMPLEX),
            self.above(self.complexities, VERY_COMPLEX),
            self.above(self.signatures, LONG_SIGNATURE),
            self.any_annotations,
        )


def complexity(function: ast.AST) -> int:
    """Cyclomatic complexity of a function, without the functions and classes inside it."""
    total = 1
    for node in _own_nodes(function):
        if isinstance(node, ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.Assert):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        elif isinstance(node, ast.Match):
            total += len(node.cases)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Try) and node.orelse:
            total += 1
    return total


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if isinstance(child, AnyFunction | ast.ClassDef):
            continue
        yield child
        yield from _own_nodes(child)


def signature_length(function: AnyFunction) -> int:
    """Number of parameters, without self, cls and the starred ones."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def measure(file: Path) -> Room:
    """Measures of a file."""
    text = file.read_text("utf-8")
    room, tree = Room(lines=len(text.splitlines())), ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, AnyFunction):
            name = f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name}"
            room.complexities[name] = complexity(node)
            room.signatures[name] = signature_length(node)
        # of annotations and casts; the import is none
        room.any_annotations += isinstance(node, ast.Name) and node.id == "Any"
    return room


def rooms() -> dict[str, Room]:
    """Measures by room, the largest first."""
    found: dict[str, Room] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE).parts
        depth = 2 if place[0] in WINGS else 1
        found.setdefault("/".join(place[:-1][:depth]) or "(top)", Room()).add(measure(file))
    return dict(sorted(found.items(), key=lambda one: -one[1].lines))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name the complex functions and long signatures")
    arguments = parser.parse_args()
    found, total = rooms(), Room()
    heads = ("lines", "functions", f"> {COMPLEX}", f"> {VERY_COMPLEX}", f"> {LONG_SIGNATURE} parameters", "Any")
    print(f"{'room':<24}" + "".join(f"{head:>16}" for head in heads))
    for name, room in found.items():
        total.add(room)
        print(f"{name:<24}" + "".join(f"{number:>16}" for number in room.row()))
    print(f"{'total':<24}" + "".join(f"{number:>16}" for number in total.row()))
    if arguments.list:
        for title, measured, bound in (
            ("complexity", total.complexities, COMPLEX),
            ("parameters", total.signatures, LONG_SIGNATURE),
        ):
            print(f"\n{title} above {bound}")
            for name, value in sorted(measured.items(), key=lambda one: -one[1]):
                if value > bound:
                    print(f"{value:>4}  {name}")


if __name__ == "__main__":
    main()
