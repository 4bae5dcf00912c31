"""From the arguments of the command line to an exit code."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence

from ..extras import needs
from ..version import __version__

# modules of the subcommands, each with a class of the same name
_COMMANDS = ("inspect", "lint", "diff", "resolve", "convert", "stability", "run", "plot", "train", "doctor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console command `actuators`.

    Args:
        arguments: Without the name of the program; None means those of the process.

    Returns:
        Exit code: 0, 1 when something is wrong with what was asked about, 2 when the arguments are.
    """
    if list(sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(f"actuators {__version__}")
        return 0
    try:
        with needs("The command actuators", "cli"):
            import tyro

            from .show import lines, show, show_json
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    from .command import Answer, Command

    with warnings.catch_warnings(record=True) as early:
        warnings.simplefilter("always", UserWarning)
        from ..components.quiet_warp import quiet_warp

        with quiet_warp():
            modules = {name: importlib.import_module(f"{__package__}.{name}") for name in _COMMANDS}
    classes = {name: getattr(module, name.title()) for name, module in modules.items()}
    # tyro makes a subcommand of each of them
    command: Command = tyro.extras.subcommand_cli_from_dict(
        classes,
        prog="actuators",
        description="Look at the actuators of robots, check them, and see them move. `--version` says which this is.",
        args=arguments,
    )
    problem: BaseException | None = None
    answer = Answer()
    with quiet_warp(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        try:
            answer = command.answer()
        except (OSError, ValueError, RuntimeError, ModuleNotFoundError) as error:
            problem = error
    for message in dict.fromkeys(str(warning.message) for warning in [*early, *warned]):
        print(f"warning: {message}", file=sys.stderr)
    if problem is not None:
        for line in lines(problem):
            print(f"error: {line}", file=sys.stderr)
        return 1
    (show_json if command.json else show)(answer)
    return int(answer.is_wrong)
