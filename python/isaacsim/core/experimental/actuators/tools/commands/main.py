"""The console command: command line to exit code."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from ...base.errors import did_you_mean
from ...base.extras import needs
from ...base.version import __version__
from ...compat.moved import OUTSIDE
from .answer import Answer

if TYPE_CHECKING:
    from .arguments import Arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console command `actuators`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        print(f"actuators {__version__}")
        return 0
    if words[:1] == ["parity"]:
        _print_each("error", [f"actuators parity is no longer in the package: {OUTSIDE['toolbox.parity']}."])
        return 1
    try:
        with needs("The command actuators", "cli"):
            import tyro

            from .arguments import SUBCOMMANDS
        if not words:
            return _show_first()
        if words[0] not in SUBCOMMANDS and not words[0].startswith("-"):
            seen = "A program shows a robot with sim.view(). " if words[0] in ("view", "watch", "show") else ""
            _print_each("error", [f"{words[0]}: must be a command. {seen}{did_you_mean(words[0], SUBCOMMANDS)}"])
            return 2
        with contextlib.redirect_stdout(cast(TextIO, _Filled(sys.stdout))):
            given = tyro.extras.subcommand_cli_from_dict(
                SUBCOMMANDS,
                prog="actuators",
                description="Inspect, check, simulate and train actuators of robots. `--version` prints the version.",
                args=arguments,
                # options that may be left out are no options for the word None
                config=(tyro.conf.DisallowNone,),
            )
        with needs("The command actuators", "cli"):
            importlib.import_module(f"{__package__}.show")
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return _run(given)


class _Filled:
    """A stream on which sentences are broken between words, as tyro does for options only."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        width = shutil.get_terminal_size().columns
        lines = (line if {*line} & {*"╭│╰\x1b"} else textwrap.fill(line, width) for line in text.split("\n"))
        return self._stream.write("\n".join(lines))

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def _run(given: Arguments) -> int:
    """Print the answer of a subcommand, and return the exit code."""
    from .show import lines, show, show_json

    try:
        answer, problem, warned = _ask(given)
    except KeyboardInterrupt:
        print("error: interrupted.", file=sys.stderr)
        return 130
    _print_each("warning", warned)
    if problem is not None:
        _print_each("error", lines(problem))
        return 1
    (show_json if given.json else show)(answer)
    return int(answer.is_wrong)


def _print_each(what: str, texts: Iterable[str]) -> None:
    for text in texts:
        print(f"{what}: {text}", file=sys.stderr)


def _show_first() -> int:
    """Print the commands that one needs first, and return the exit code."""
    from .arguments import FIRST, SUBCOMMANDS

    print("Motors of robots: what they are, whether they are right, how they move.\n")
    for name in FIRST:
        # up to what follows a comma or semicolon
        first = re.split(r"[,;:.]", SUBCOMMANDS[name].__doc__ or "")[0]
        print(textwrap.fill(first, 80, initial_indent=f"  {name:12}", subsequent_indent=" " * 14))
    print("\nAll commands: actuators --help. One of them: actuators inspect --help.")
    return 0


def _run_plugin(path: Path) -> None:
    """Run a Python file that registers laws; ValueError if it fails, or there is none."""
    try:
        # as a module, for classes are found by the name of theirs
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ValueError("must be a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"plugin {path}: {problem}. Correct it, or leave --plugin out.") from error


def _ask(given: Arguments) -> tuple[Answer, Exception | None, list[str]]:
    """Return answer, error for the user, and warnings of the module of a subcommand."""
    answer, problem = Answer(), None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        # the first import of Warp may warn too
        from ...base.quiet_warp import quiet_warp

        with quiet_warp():
            # `convert` has another name for them
            if getattr(given, "config", getattr(given, "motors", None)) is not None:
                from ...specs.arguments import HAVE_MOTORS

                # the warning asks for these motors
                warnings.filterwarnings("ignore", HAVE_MOTORS)
            module = importlib.import_module(f"{__package__}.{type(given).__name__.lower()}")
            try:
                for plugin in given.plugin:
                    _run_plugin(plugin)
                answer = module.answer(given)
            except (OSError, ValueError, RuntimeError, ModuleNotFoundError) as error:
                problem = error
            except MemoryError as error:
                problem = MemoryError(f"out of memory: {error or 'too much for this machine'}. Give smaller numbers.")
    return answer, problem, list(dict.fromkeys(str(warning.message) for warning in warned))
