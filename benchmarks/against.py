"""Benchmark this tree against another revision, paired in one run.

./python.sh -m benchmarks.against REVISION [--quick] [--sizes N …] [--pipelines …]

The revision is checked out into a temporary folder, where its native core is built. Each tree runs in a separate
process with its own candidates, both on one core. Both get the same problems; timing starts after a comparison of
their efforts.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import environment

# set before NumPy is imported; the processes of the trees inherit them
os.environ.update(dict.fromkeys(environment.THREAD_COUNTS, "1"))

if TYPE_CHECKING:
    from .measure import Case

WORKER = Path(__file__).with_name("against_worker.py")
PACKAGE = Path("python/isaacsim/core/experimental/actuators")
SLOWER, AGAIN = 1 / 1.05, 3
"""Cases below this ratio are repeated in this number of new process pairs: each process has its own bias,
from the location of its memory."""


class TreeError(RuntimeError):
    """A tree cannot be built or run."""


class Side:
    """The process that runs one tree."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree.resolve()
        paths = os.pathsep.join(str(path) for path in (self.tree / "python", self.tree))
        # -P: the worker is among the benchmarks of this tree, which it must not import
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],
            env={**os.environ, "PYTHONPATH": paths},
            cwd=self.tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def check(self) -> None:
        """Check that the process runs this tree and its core, not an installed package or Warp."""
        package, has_core = self.ask("origin")
        if not package.is_relative_to(self.tree):
            raise TreeError(f"{self.tree}: {package} was loaded instead. Name the root of a tree of this repository.")
        if not has_core:
            raise TreeError(f"{self.tree}: the native core is not built. Run 'python setup.py build_ext --inplace'.")

    def send(self, name: str, *arguments: Any) -> None:
        """Send a request; `receive` returns the answer."""
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            pickle.dump((name, arguments), self._process.stdin)
            self._process.stdin.flush()

    def receive(self) -> Any:
        """Return the answer to the last request."""
        assert self._process.stdout
        try:
            fine, answer = pickle.load(self._process.stdout)
        except EOFError:
            raise TreeError(f"{self.tree}: its process ended with code {self._process.wait()}, see above.") from None
        if not fine:
            raise TreeError(f"{self.tree}: {answer}")
        return answer

    def ask(self, name: str, *arguments: Any) -> Any:
        """Send and receive."""
        self.send(name, *arguments)
        return self.receive()

    def block(self, count: int) -> float:
        """Run some steps and return the seconds of one."""
        return self.ask("block", count)

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._process.wait()


Sides = tuple[Side, Side]
"""This tree and the other tree."""


@dataclass
class Compared:
    """Result of a case.

    Args:
        ours: Median time of a step [s].
        theirs: The same, of the other tree.
        ratio: Median over the rounds of their time over ours.
        again: The same in new processes, if it was repeated.
    """

    ours: float
    theirs: float
    ratio: float
    again: list[float] = field(default_factory=list)

    @property
    def believed(self) -> float:
        """Median of the new pairs if there are any, because the first ratio was selected for being low."""
        return statistics.median(self.again or [self.ratio])


@contextlib.contextmanager
def both(other: Path) -> Iterator[Sides]:
    """Run this tree and another."""
    with contextlib.ExitStack() as stack:
        sides = []
        for tree in (environment.REPOSITORY, other):
            sides.append(Side(tree))
            stack.callback(sides[-1].close)
            sides[-1].check()
        yield sides[0], sides[1]


def compare(case: Case, sides: Sides, rounds: int, block_seconds: float) -> Compared:
    """Build a case in both trees, compare their efforts, and time them alternately.

    Raises:
        TreeError: One of them cannot be built or stepped.
        ArithmeticError: Their efforts differ.
    """
    import numpy as np

    from .candidates import SECTIONS
    from .timing import interleave

    title = SECTIONS[case.section][0]
    try:
        _ask_both(sides, "build", title, case.robot, case.num_robots, case.pipeline, case.per_robot)
        if not (difference := _difference(sides)) <= 1:
            raise ArithmeticError(f"efforts differ by {difference:.1e} of what is allowed")
        blocks = {"ours": sides[0].block, "theirs": sides[1].block}
        times = interleave(blocks, rounds, block_seconds)
    finally:
        _ask_both(sides, "close")
    ours, theirs = times["ours"], times["theirs"]
    return Compared(float(np.median(ours)), float(np.median(theirs)), float(np.median(theirs / ours)))


def _difference(sides: Sides) -> float:
    """Return the largest difference of efforts over some steps relative to the tolerance; NaN if there is a NaN."""
    import numpy as np

    from .check import STEPS, TOLERANCE

    found, largest = [], []
    for step in range(STEPS):
        ours, theirs = _ask_both(sides, "efforts", step)
        found.append(np.abs(ours - theirs).max())
        largest.append(np.abs(theirs).max())
    return float(np.max(found) / (TOLERANCE * np.max(largest)))


def _ask_both(sides: Sides, name: str, *arguments: Any) -> list[Any]:
    """Send a request to both at once; both have answered before an error is raised."""
    for side in sides:
        side.send(name, *arguments)
    answers, errors = [], []
    for side in sides:
        try:
            answers.append(side.receive())
        except TreeError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return answers


@contextlib.contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Provide a tree of a revision with its core built."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        tree = Path(folder) / "tree"
        _run(["git", "worktree", "add", "--quiet", "--detach", str(tree), revision], environment.REPOSITORY)
        try:
            _build(tree)
            yield tree
        finally:
            _run(["git", "worktree", "remove", "--force", str(tree)], environment.REPOSITORY)


def _build(tree: Path) -> None:
    _require_compiler_packages()
    _run([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], tree)
    # the core is optional there, so a failed build is not an error
    if not list((tree / PACKAGE).glob("**/native/core.*")):
        raise TreeError(f"{tree}: the native core was not built, see above. Build it elsewhere and give --tree.")


def _require_compiler_packages() -> None:
    """Check that the build dependencies of the core are installed."""
    try:
        importlib.metadata.version("pybind11")
        enough = int(importlib.metadata.version("setuptools").partition(".")[0]) >= 77
    except importlib.metadata.PackageNotFoundError:
        enough = False
    if not enough:
        raise TreeError(
            "to build the native core, setuptools>=77 and pybind11 must be installed: run './python.sh -m pip install "
            "setuptools pybind11', or give a built tree with --tree."
        )


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, stdout=sys.stderr, check=True)
    except subprocess.CalledProcessError as error:
        raise TreeError(f"'{' '.join(command)}' ended with code {error.returncode}, see above.") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 means that a case could not be compared."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.revision is None) == (options.tree is None):
        parser.error("name a revision, or a built tree with --tree.")
    name = options.revision or str(options.tree)
    tree = contextlib.nullcontext(options.tree) if options.tree else checked_out(options.revision)
    try:
        with tree as other:
            return _measure(options, name, other)
    except TreeError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


def _parser() -> argparse.ArgumentParser:
    from .cases import add_choices

    parser = argparse.ArgumentParser(
        prog="benchmarks.against", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", nargs="?", help="a commit, branch or tag")
    parser.add_argument("--tree", type=Path, metavar="DIR", help="a tree with a built core, instead of a revision")
    parser.add_argument(
        "--pairs",
        type=int,
        default=0,
        metavar="N",
        help="repeat all cases in N new process pairs",
    )
    add_choices(parser)
    return parser


def _measure(options: argparse.Namespace, name: str, other: Path) -> int:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from .candidates import SECTIONS
    from .cases import chosen
    from .report import make_console

    rounds, block_seconds = 21 if options.quick else 41, options.block_ms / 1e3
    console, cases = make_console(), chosen(options)
    environment.use_one_core()
    compared: dict[Case, Compared | str] = {}
    with both(other) as sides:
        titles = sides[1].ask("titles")
        known = [case for case in cases if SECTIONS[case.section][0] in titles]
        bar = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*bar, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=len(known))
            for case in known:
                progress.update(task, description=f"{case.section}: {case}")
                try:
                    compared[case] = compare(case, sides, rounds, block_seconds)
                except (TreeError, ArithmeticError) as error:
                    compared[case] = str(error)
                progress.advance(task)
    for case, found in compared.items():
        if isinstance(found, Compared) and (options.pairs or found.ratio < SLOWER):
            for _ in range(options.pairs or AGAIN):
                with both(other) as sides:
                    found.again.append(compare(case, sides, rounds, block_seconds).ratio)
    for section in dict.fromkeys(case.section for case in cases if case not in known):
        console.print(f"[bold]not in {name}[/]: {SECTIONS[section][0]}")
    _show(console, name, compared)
    return int(any(isinstance(found, str) for found in compared.values()))


def _show(console: Any, name: str, compared: dict[Case, Compared | str]) -> None:
    """Print a table for each section, then the worst cases and the mean."""
    from rich.table import Table

    from .candidates import SECTIONS
    from .report import duration
    from .targets import geometric_mean

    console.print(f"CPU time of a step here and in {name}, and how many times ours that is (median of pairs).")
    for section, (title, _) in SECTIONS.items():
        mine = {case: found for case, found in compared.items() if case.section == section}
        if not mine:
            continue
        table = Table("pipeline", "robot", "parameters", title=title)
        for heading in ("robots", "ours", "theirs", "ratio", "again"):
            table.add_column(heading, justify="right", no_wrap=True)
        for case, found in mine.items():
            parameters = "per robot" if case.per_robot else "shared"
            cells = ["-"] * 4
            if isinstance(found, Compared):
                again = " ".join(f"{ratio:.3g}x" for ratio in found.again)
                cells = [duration(found.ours), duration(found.theirs), f"{found.ratio:.3g}x", again]
            table.add_row(case.pipeline, case.robot, parameters, f"{case.num_robots}", *cells)
        console.print(table)
    for case, found in compared.items():
        if isinstance(found, str):
            console.print(f"[bold red]not compared[/] {case.section}: {case}: {found}", highlight=False)
    timed = {case: found.believed for case, found in compared.items() if isinstance(found, Compared)}
    if timed:
        worst = min(timed, key=lambda case: timed[case])
        console.print(f"geometric mean {geometric_mean(timed.values()):.3g}x")
        console.print(f"worst {timed[worst]:.3g}x: {worst.section}, {worst}", highlight=False)
    for case in sorted((case for case in timed if timed[case] < SLOWER), key=lambda case: timed[case]):
        console.print(f"[bold red]slower[/] {timed[case]:.3g}x: {case.section}, {case}", highlight=False)
    console.print(f"load {environment.load()} at the end", highlight=False)


if __name__ == "__main__":
    raise SystemExit(main())
