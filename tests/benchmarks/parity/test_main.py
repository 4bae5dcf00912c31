"""`python -m benchmarks.parity`: its tables, exit codes, and the page that shows them."""

import dataclasses
import json
import re
from collections.abc import Collection

import numpy as np
import pytest
from places import REPOSITORY

from benchmarks.parity import compare
from benchmarks.parity.__main__ import COLUMNS, main
from benchmarks.parity.cases import CASES, LEFT_OUT, PEERS
from benchmarks.parity.laws import Motor, Step, names_of, pd
from benchmarks.parity.peer import Case, Peer

SMALL = ["--states", "16", "--steps", "8"]
PAGE = (REPOSITORY / "docs" / "Parity.md").read_text("utf-8")


def in_place_of_peers(monkeypatch: pytest.MonkeyPatch, factor: float = 1.0, name: str = "numpy") -> None:
    def make(stages: Motor, _: int, __: Collection[str]) -> Step:
        law = stages[0]
        kp, kd = law.kp, np.float32(factor * law.kd)  # pyright: ignore[reportAttributeAccessIssue]
        return lambda given: (
            np.float32(kp) * (given.position_targets - given.positions)
            + kd * (given.velocity_targets - given.velocities)
            + given.feedforward
        )

    monkeypatch.setattr(compare, "PEERS", (Peer(name, "pip install it", lambda: ["Law", "New"]),))
    monkeypatch.setattr(compare, "CASES", (Case(name, ("Law",), (pd,), make),))


def test_a_law_that_is_the_same(monkeypatch, capsys) -> None:
    in_place_of_peers(monkeypatch)
    assert main([*SMALL]) == 0
    text = capsys.readouterr().out
    for words in (
        f"numpy {np.__version__}",
        *("Law", "PD", "float32", "16", "same to 1e-06", "New", "new in this version"),
    ):
        assert words in text


def test_a_wrong_law_is_found(monkeypatch, capsys) -> None:
    """A hundredth more damping: exit code 1, and a note."""
    in_place_of_peers(monkeypatch, 1.01)
    assert main([*SMALL]) == 1
    text = capsys.readouterr().out
    assert "differs" in text
    assert re.search(r"numpy, Law: differs by 0\.\d+ N·m that no line of docs/ explains\.", text)


def test_a_law_that_fails(monkeypatch, capsys) -> None:
    def broken(*_: object) -> Step:
        raise TypeError("no such argument")

    in_place_of_peers(monkeypatch)
    monkeypatch.setattr(compare, "CASES", (dataclasses.replace(compare.CASES[0], make=broken),))
    assert main([*SMALL]) == 1
    text = capsys.readouterr().out
    assert "failed" in text and "numpy, Law: TypeError: no such argument" in text and "No law was compared." in text


def test_a_missing_peer_is_named(monkeypatch, capsys) -> None:
    in_place_of_peers(monkeypatch, name="newton")
    monkeypatch.setattr(Peer, "version", None)
    assert main([]) == 0 and re.search(r"newton +not installed +pip install it", capsys.readouterr().out)
    assert main(["--peer", "newton"]) == 1


def test_json_has_all_digits_and_the_line(capsys) -> None:
    pytest.importorskip("newton_actuators")
    assert main(["--peer", "newton-actuators", *SMALL, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = [row for row in said["laws"] if row["law"] == "ActuatorDelayedPD"]
    assert [row["verdict"] for row in rows] == ["differs as documented"]
    assert rows[0]["line"] == "docs/tutorials/migrate_from_newton_actuators.md, Delay: until the delay is full"
    assert rows[0]["ours"] == ["DelayConfig", "PDControlConfig", "MaxEffortClampingConfig"]
    assert rows[0]["unexplained"] <= 1e-6 * rows[0]["largest"] < rows[0]["difference"]
    assert {row["peer"] for row in said["laws"]} == {"newton-actuators"}


@pytest.mark.parametrize("option", ["--states", "--steps"])
def test_wrong_arguments_are_told(option, capsys) -> None:
    assert main([option, "0"]) == 1 and f"{option.removeprefix('--')} = 0: must be" in capsys.readouterr().err


def rows_of_page(first: str) -> list[list[str]]:
    block = re.search(rf"^\| {re.escape(first)} \|.*?(?=\n\n|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert block is not None
    lines = [line for line in block[0].splitlines() if not line.startswith("|---")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_page_shows_the_table_of_this_version() -> None:
    head, *rows = rows_of_page(COLUMNS["peer"])
    assert head == list(COLUMNS.values())
    shown = [(row[0].rpartition(" ")[0], row[1], row[2], row[3]) for row in rows]
    random = np.random.default_rng(0)
    short = [[name.removesuffix("Config") for name in names_of([part(random) for part in one.ours])] for one in CASES]
    short = [[name.removesuffix("Control").removesuffix("Clamping") for name in one] for one in short]
    expected = [(one.peer, one.law, " + ".join(ours), one.precision) for one, ours in zip(CASES, short, strict=True)]
    assert shown == expected
    verdicts = [row[-1] for row in rows]
    wanted = ["same to 1e-06" if one.unlike is None else "differs as documented" for one in CASES]
    assert [verdict.partition(" [")[0] for verdict in verdicts] == wanted


def test_the_page_names_what_is_left_out() -> None:
    rows = re.findall(r"^\| ([\w-]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    shown = [row for row in rows if row[0] in {peer.name for peer in PEERS}]
    assert shown == [(one.peer, ", ".join(one.laws), one.reason) for one in LEFT_OUT]
    assert not any(peer.install in PAGE.partition("## Last output")[2].partition("## ")[0] for peer in PEERS)
