"""Laws of peers beside ours: what is the same, what differs as documented, and what the comparison has to find."""

import dataclasses
from collections.abc import Collection

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import PDControlConfig, PIDControlConfig
from isaacsim.core.experimental.actuators.specs.config import Config
from places import REPOSITORY
from refusals import cases

from benchmarks.parity import compare as compared
from benchmarks.parity.cases import CASES, LEFT_OUT, PEERS
from benchmarks.parity.compare import UNKNOWN, compare, parity
from benchmarks.parity.differences import INTEGRAL_BEYOND
from benchmarks.parity.laws import Motor, Step, pass_on, pd
from benchmarks.parity.peer import Case, NotComparableError, Peer
from benchmarks.parity.signals import Signals

SMALL = 64, 20, 1
BY_NAME = {peer.name: peer for peer in PEERS}
# drawing and options of other libraries, as they are imported
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def installed(name: str) -> Peer:
    """A peer that can be compared here; the test is skipped otherwise."""
    peer = BY_NAME[name]
    if peer.version is None:
        pytest.skip(f"{name} is not installed")
    try:
        peer.laws()
    except ModuleNotFoundError as error:
        pytest.skip(f"{name} is installed without {error.name}")
    return peer


def id_of(case: Case) -> str:
    return f"{case.peer}, {case.law}: {' + '.join(part.__name__ for part in case.ours)}"


@pytest.mark.parametrize("case", CASES, ids=id_of)
def test_laws_are_the_same_but_for_what_is_documented(case) -> None:
    installed(case.peer)
    found = compare(case, *SMALL)
    assert (found.states, found.steps) == SMALL[:2] and found.is_explained
    assert found.is_same == (case.unlike is None) and found.largest > 1.0


def has_damping(case: Case) -> bool:
    motor = [part(np.random.default_rng(0)) for part in case.ours]
    return any(isinstance(one, PDControlConfig | PIDControlConfig) and one.kd for one in motor)


@pytest.mark.parametrize("case", [case for case in CASES if has_damping(case)], ids=id_of)
def test_a_wrong_gain_is_found(case) -> None:
    """A peer with a hundredth more damping differs; only the line of integrals beyond their limit explains that."""
    installed(case.peer)

    def make(stages: Motor, robots: int, commands: Collection[str]) -> Step:
        return case.make([with_damping(one, 1.01) for one in stages], robots, commands)

    found = compare(dataclasses.replace(case, make=make), *SMALL)
    assert not found.is_same and found.is_explained == (case.unlike is INTEGRAL_BEYOND)


def with_damping(config: Config, factor: float) -> Config:
    if not isinstance(config, PDControlConfig | PIDControlConfig):
        return config
    return dataclasses.replace(config, kd=factor * config.kd)


@pytest.mark.parametrize("case", CASES, ids=id_of)
def test_a_wrong_law_is_found(case) -> None:
    """A thousandth more effort of a peer differs, also passive; beyond the limit of an integral, twice the effort."""
    installed(case.peer)
    factor = 2.0 if case.unlike is INTEGRAL_BEYOND else 1.001

    def make(stages: Motor, robots: int, commands: Collection[str]) -> Step:
        step = case.make(stages, robots, commands)
        return lambda given: factor * step(given)

    found = compare(dataclasses.replace(case, make=make), *SMALL)
    assert not found.is_same and not found.is_explained


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_law_of_a_peer_is_in_the_table(peer) -> None:
    installed(peer.name)
    there = set(peer.laws())
    cases = {law for case in CASES if case.peer == peer.name for law in case.laws}
    left_out = [law for one in LEFT_OUT if one.peer == peer.name for law in one.laws]
    assert len(left_out) == len(set(left_out)) and not cases.intersection(left_out)
    assert cases.union(left_out) == there


def test_every_case_is_of_a_peer() -> None:
    assert {case.peer for case in CASES} == set(BY_NAME) and {one.peer for one in LEFT_OUT} <= set(BY_NAME)


def test_lines_are_there() -> None:
    unlike = [case.unlike for case in CASES if case.unlike is not None]
    assert unlike
    for one in unlike:
        assert f"- **{one.line}.**" in (REPOSITORY / "docs" / one.page).read_text("utf-8")


def made_up(monkeypatch: pytest.MonkeyPatch, laws, *cases: Case, name: str = "numpy") -> None:
    monkeypatch.setattr(compared, "PEERS", (Peer(name, "pip install it", laws),))
    monkeypatch.setattr(compared, "CASES", cases)


def test_a_missing_peer_is_named(monkeypatch) -> None:
    made_up(monkeypatch, lambda: [], name="no-such-library")
    (missing,) = parity().missing
    assert (missing.peer.name, missing.peer.install, missing.reason) == (
        *("no-such-library", "pip install it"),
        "not installed",
    )


@cases(
    "error, why",
    (ModuleNotFoundError("no torch", name="torch"), "without torch"),
    (NotComparableError("without a robot"), "without a robot"),
    (AttributeError("no x"), "here: AttributeError: no x"),
)
def test_a_peer_that_cannot_be_imported_is_named(error, why, monkeypatch) -> None:
    def laws() -> list[str]:
        raise error

    made_up(monkeypatch, laws)
    (missing,) = parity().missing
    assert missing.reason == f"{np.__version__} is installed, not comparable {why}"


def law(_: Motor, robots: int, __: Collection[str]) -> Step:
    return lambda given: np.zeros(robots)


def test_a_law_that_is_not_in_the_table_is_named(monkeypatch) -> None:
    made_up(monkeypatch, lambda: ["Known", "New"], Case("numpy", ("Known",), (pass_on,), law, ()))
    (left_out,) = parity(states=8, steps=1).left_out
    assert (left_out.laws, left_out.reason) == (("New",), UNKNOWN)


def test_one_failing_law_leaves_the_others(monkeypatch) -> None:
    def broken(*_) -> Step:
        raise TypeError("no such argument")

    def absent(*_) -> Step:
        raise NotComparableError("this version has no such law")

    laws = [Case("numpy", (name,), (pd,), make) for name, make in (("A", broken), ("B", absent), ("C", law))]
    made_up(monkeypatch, lambda: ["A", "B", "C"], *laws)
    found = parity(states=8, steps=2)
    assert [(one.case.law, one.error) for one in found.failed] == [("A", "TypeError: no such argument")]
    assert [(one.laws, one.reason) for one in found.left_out] == [(("B",), "this version has no such law")]
    assert [one.case.law for one in found.compared] == ["C"]


def test_an_effort_that_is_no_number_is_a_difference() -> None:
    def make(_: Motor, robots: int, __: Collection[str]) -> Step:
        return lambda given: np.where(np.arange(robots) == 1, np.nan, given.positions)

    found = compare(Case("newton", ("X",), (pd,), make), *SMALL)
    assert np.isnan(found.difference) and not found.is_same and not found.is_explained


def test_numbers_of_a_case_do_not_depend_on_others() -> None:
    def make(seen: list[Signals]):
        def law(_: Motor, robots: int, __: Collection[str]) -> Step:
            return lambda given: (seen.append(given), np.zeros(robots))[1]

        return law

    runs = []
    for seed in (3, 3, 4):
        seen: list[Signals] = []
        compare(Case("newton", ("X",), (pd,), make(seen)), 8, 1, seed)
        runs.append(seen[0].positions.tolist())
    assert runs[0] == runs[1] != runs[2]


@cases(
    "given, why",
    ({"states": 0}, "states = 0: must be"),
    ({"steps": 0}, "steps = 0: must be"),
    ({"seed": -1}, "seed = -1: must be"),
    ({"peers": ["bullet"]}, "peers = 'bullet': must be one of newton, "),
)
def test_wrong_arguments_are_told(given, why) -> None:
    with pytest.raises(ValueError, match=why):
        parity(**given)
