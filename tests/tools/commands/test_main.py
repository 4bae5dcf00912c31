"""The console command: arguments, output, exit codes."""

import io
import json
import sys

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.version import __version__
from isaacsim.core.experimental.actuators.tools.commands import doctor, main
from isaacsim.core.experimental.actuators.tools.commands.answer import Answer, Table
from isaacsim.core.experimental.actuators.tools.commands.arguments import FIRST, SUBCOMMANDS
from isaacsim.core.experimental.actuators.tools.commands.show import show, show_json
from refusals import cases, refused
from warm_python import warm_python

_TABLE = Table(
    "joints",
    {"joint": "joint", "effort": "effort [N·m]", "limits": "limits", "driven": "driven"},
    [
        {"joint": "knee[0]", "effort": 1.23456, "limits": [-float("inf"), 2.0], "driven": True},
        {"joint": "hip", "effort": None, "limits": [], "driven": False},
    ],
    title="of [/World/Arm]",
)


def test_tables_show_numbers_units_and_brackets(capsys) -> None:
    show(Answer([_TABLE], ["Two joints [all]."]))
    text = capsys.readouterr().out
    assert "of [/World/Arm]" in text
    for cell in ("effort [N·m]", "knee[0]", "1.235", "-∞, 2", "yes", "hip", "-", "no", "Two joints [all]."):
        assert cell in text


def test_json_holds_the_same(capsys) -> None:
    show_json(Answer([_TABLE], ["Two joints."], is_wrong=True))
    said = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert said["joints"][0] == {"joint": "knee[0]", "effort": 1.23456, "limits": ["-inf", 2.0], "driven": True}
    assert said["notes"] == ["Two joints."] and said["is_wrong"] is True


@cases("wrong", False, True)
def test_exit_code_says_whether_something_is_wrong(wrong, monkeypatch) -> None:
    monkeypatch.setattr(doctor, "answer", lambda arguments: Answer(is_wrong=wrong))
    assert main.main(["doctor"]) == int(wrong)


@cases("error", ValueError("a: must be b.\nc: must be d."), FileNotFoundError("no e"))
def test_errors_are_shown_without_a_trace(error, monkeypatch, capsys) -> None:
    def answer(_) -> Answer:
        raise error

    monkeypatch.setattr(doctor, "answer", answer)
    assert main.main(["doctor", "--json"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.splitlines() == [f"error: {line}" for line in str(error).splitlines()]


def test_too_much_for_the_machine_is_one_line(monkeypatch, capsys) -> None:
    monkeypatch.setattr(doctor, "answer", lambda _: np.zeros(10**18))
    assert main.main(["doctor"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: out of memory: Unable to allocate") and line.endswith(" Give smaller numbers.")


def test_interrupt_is_one_line(monkeypatch, capsys) -> None:
    def answer(_) -> Answer:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "answer", answer)
    assert main.main(["doctor"]) == 130 and capsys.readouterr().err == "error: interrupted.\n"


def test_defects_keep_their_trace(monkeypatch) -> None:
    def answer(_) -> Answer:
        raise KeyError("a defect")

    monkeypatch.setattr(doctor, "answer", answer)
    refused(KeyError, lambda: main.main(["doctor"]), "a defect")


def test_wrong_arguments_are_refused(capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main.main(["doctor", "--jsn"])
    assert stopped.value.code == 2 and "--jsn" in capsys.readouterr().err


@cases("encoding", "ascii", "latin-1", "cp1252")
def test_output_that_lacks_signs_is_no_error(encoding, monkeypatch) -> None:
    for put in (show, show_json):
        shown = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding=encoding))
        put(Answer([_TABLE], ["→ 1 N·m"]))
        sys.stdout.flush()
        text = shown.getvalue().decode(encoding)
        assert "1.235" in text if put is show else json.loads(text)["notes"] == ["→ 1 N·m"]


def test_module_and_script_are_the_command() -> None:
    """`python -m` prints the answer only; completion for shells works."""
    name = "isaacsim.core.experimental.actuators"
    done = warm_python().run(["-m", name, "doctor", "--json"])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["is_wrong"] is False
    done = warm_python().run(["-m", name, "--tyro-print-completion", "bash"])
    assert "complete -F" in done.stdout and "doctor" in done.stdout


def test_version_is_said(capsys) -> None:
    assert main.main(["--version"]) == 0 and capsys.readouterr().out == f"actuators {__version__}\n"


def test_first_commands_are_shown_without_arguments(capsys) -> None:
    """Those that are there, within 80 columns."""
    assert main.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == [*FIRST]
    assert {*FIRST} <= {*SUBCOMMANDS} and max(map(len, lines)) <= 80


def test_a_near_command_is_named(capsys) -> None:
    assert main.main(["inspct", "robot.usda"]) == 2
    assert "inspct: must be a command. Did you mean inspect?" in capsys.readouterr().err


def test_parity_names_its_place(capsys) -> None:
    assert main.main(["parity", "--peer", "newton"]) == 1
    assert "no longer in the package: run `./python.sh -m benchmarks.parity`" in capsys.readouterr().err


@cases("command", *SUBCOMMANDS)
def test_help_shows_what_an_option_takes(command, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main.main([command.lower(), "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "{None}" not in text and "-h, --help" in text and max(map(len, text.splitlines())) <= 80


def test_none_is_no_value_of_an_option(capsys) -> None:
    refused(SystemExit, lambda: main.main(["compare", "robot.usda", "--seconds", "None"]))
    assert "--seconds" in "".join(capsys.readouterr())
