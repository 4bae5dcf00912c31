"""The benchmarks: the smallest run, and that nothing wrong is timed. No time is asserted."""

import contextlib
import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from places import REPOSITORY
from refusals import cases, refused
from warm_python import warm_python

# they are run from the repository root and not installed
sys.path.append(str(REPOSITORY))

from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.tools.plots import style

from benchmarks import against, candidates, environment, identification, learning, loops, new_arrays, physx_loop, tuning
from benchmarks.cases import OBJECT_PIPELINES
from benchmarks.check import TOLERANCE, Check
from benchmarks.measure import Case, Outcome, measure
from benchmarks.picture import draw
from benchmarks.problem import RANGES, Problem
from benchmarks.targets import targets
from benchmarks.timing import interleave

TICKS = [known for known in (*candidates.ARRAYS_TICKS, *candidates.MUJOCO_TICKS) if known.name != candidates.PASSING]
OBJECTS = [known for known in candidates.ACTUATORS if known.name != candidates.TICK]


def name_of(value) -> str:
    return f"{value.kind}" if isinstance(value, candidates.Known) else str(value)


def build(known: candidates.Known, problem: Problem) -> candidates.Candidate:
    try:
        return known.load()(problem)
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")


def changed(problem: Problem, name: str) -> Problem:
    other = copy.copy(problem)
    if name == "delay":
        other.delay -= 1
    elif name == "table":
        positions, (first, *rest) = problem.table
        other.table = positions, (1.1 * first, *rest)
    else:
        values = problem.parameters[name].copy()
        # the joint whose law has the parameter, of those that take turns
        place = {"ki": 1, "integral_max": 1, "max_effort": 1, "saturation_effort": 0, "velocity_limit": 0}
        values[:, place.get(name, 0)] *= 1.1
        other.parameters = {**problem.parameters, name: values}
    return other


@pytest.mark.slow
def test_smallest_run(tmp_path) -> None:
    figures, picture = tmp_path / "figures.json", tmp_path / "picture.png"
    what = [
        *("--here", "--robots", "12", "12free", "--sizes", "1", "--pipelines", "PD+max", "mixed"),
        *("--block-ms", "0.02"),
    ]
    command = ["-m", "benchmarks", *what, "--json", figures, "--plot", picture]
    done = warm_python().run(command, cwd=REPOSITORY, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Targets" in done.stdout and picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(figures.read_text())
    assert {"processor", "cores", "threads", "load", "versions", "engine"} <= set(found["machine"])
    assert all({"text", "goal", "value", "where", "reached"} == set(target) for target in found["targets"])
    # one robot was measured and no more
    assert [target["text"] for target in found["targets"] if target["value"] is not None] == [
        "tick on arrays, 12 x 1 PD+max, vs Isaac Sim per joint",
        "tick on MuJoCo with refresh and commit, 12 x 1 PD+max, vs Isaac Sim per joint",
        "engine, any case vs any peer, worst",
        "Actuator.step of 12 joints vs newton one object, worst pipeline",
    ]
    cases = [(case["section"], case["robot"], case["pipeline"], case["per_robot"]) for case in found["cases"]]
    assert len(cases) == len(set(cases)) == 4 + 4 + 2 + 1
    for case in found["cases"]:
        for name, outcome in case["outcomes"].items():
            if "is not installed" not in outcome["reason"]:
                assert outcome["seconds"] > 0 and outcome["ratio"] > 0, (case, name)
                assert name == candidates.STREAM or outcome["error"] <= TOLERANCE


def test_picture_says_how_much_longer_others_take(monkeypatch, tmp_path) -> None:
    drawn = []
    monkeypatch.setattr(style, "save", lambda figure, path: drawn.append(figure))
    cases = [Case("engine", "12of19", size, name, False) for size in (1, 1024) for name in ("PD", "PD+max")]
    for case, ratio in zip(cases, (1000.0, 4000.0, 2.0, 8.0), strict=True):
        ratios = {"ours": 1.0, "newton per joint": ratio, "Torch": None, candidates.STREAM: 0.1}
        case.outcomes = {name: Outcome(1e-7, one) for name, one in ratios.items()}
    draw(cases, tmp_path / "picture.png")
    (figure,) = drawn
    assert figure.get_suptitle() == "A step of others takes 2 to 4,000 times as long"
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), [2000.0, 4.0])


@cases("per_robot", False, True, ids=["shared", "per robot"])
@cases("known", *candidates.ENGINES, *TICKS, ids=name_of)
@pytest.mark.slow("NewtonPerJoint")
def test_candidate_passes_its_check(known, per_robot) -> None:
    """All laws at once on 12 of 19 columns; on physics, which has shared parameters only, on all 12."""
    physics = known in candidates.MUJOCO_TICKS
    problem = Problem("12free" if physics else "12of19", 5, "mixed", per_robot and not physics)
    candidate = build(known, problem)
    try:
        assert Check(problem).error(candidate) <= TOLERANCE
    finally:
        candidate.close()


@cases("pipeline", *OBJECT_PIPELINES)
@cases("known", *OBJECTS, ids=name_of)
def test_object_passes_its_check(known, pipeline) -> None:
    problem = Problem("12of19", 5, pipeline, per_robot=True)
    assert Check(problem).error(build(known, problem)) <= TOLERANCE
    assert Check(problem).error(build(known, changed(problem, "kp"))) > TOLERANCE


@cases("name", *RANGES, "delay", "table")
@cases("known", *candidates.ENGINES, ids=name_of)
def test_check_fails_for_a_changed_parameter(known, name) -> None:
    problem = Problem("12", 20, "mixed")
    assert Check(problem).error(build(known, changed(problem, name))) > TOLERANCE


@cases("known", *TICKS, ids=name_of)
def test_check_of_a_tick_fails_for_a_changed_parameter(known) -> None:
    problem = Problem("12", 5, "PD+max")
    candidate = build(known, changed(problem, "kp"))
    try:
        assert Check(problem).error(candidate) > TOLERANCE
    finally:
        candidate.close()


def test_check_fails_for_columns_not_driven() -> None:
    problem = Problem("12of19", 2, "PD")
    candidate = candidates.ENGINES[0].load()(problem)
    candidate.efforts[1, 6] = 0.5
    assert Check(problem).error(candidate) > TOLERANCE


def test_wrong_candidate_is_reported_and_not_timed(monkeypatch) -> None:
    numpy = next(known for known in candidates.ENGINES if known.name == "NumPy")
    monkeypatch.setattr(numpy.load(), "step", lambda self: self.efforts.fill(np.nan))
    case = Case("engine", "12", 1, "PD", per_robot=False)
    measure(case, rounds=1, block_seconds=1e-5)
    wrong = case.outcomes["NumPy"]
    assert wrong.failed and wrong.seconds is None and "error nan" in wrong.reason
    assert case.outcomes[candidates.Known.OURS].ratio == 1 and case.outcomes["newton one object"].seconds


def test_every_block_runs_in_every_round() -> None:
    counts: dict[str, list[int]] = {"slow": [], "fast": []}

    def block(name: str, seconds: float):
        def run(count: int) -> float:
            counts[name].append(count)
            return seconds

        return run

    times = interleave({"slow": block("slow", 1e-2), "fast": block("fast", 1e-4)}, rounds=3, block_seconds=2e-3)
    assert {name: values.tolist() for name, values in times.items()} == {"slow": [1e-2] * 3, "fast": [1e-4] * 3}
    assert counts["slow"][-3:] == [1] * 3 and counts["fast"][-3:] == [20] * 3


def with_ratio(ratio: float, pipeline: str, name: str = "newton one object", size: int = 1024) -> Case:
    return Case("engine", "12", size, pipeline, False, outcomes={name: Outcome(seconds=1.0, ratio=ratio)})


def test_targets_are_reached_missed_or_not_measured() -> None:
    goals = targets([with_ratio(40, "PD"), with_ratio(90, "PD+max"), with_ratio(0.9, "PD", "NumPy", 64)], 999_999)
    found = {goal.text: goal for goal in goals}
    mean = found["engine, 12 x 1024 vs newton one object, geometric mean of pipelines"]
    assert mean.reached and mean.value == pytest.approx(60)
    never_slower = found["engine, any case vs any peer, worst"]
    assert never_slower.reached is False and never_slower.value == 0.9 and "NumPy" in never_slower.where
    assert found["memory beyond the arrays, 12 x 16384 PD+max, feedforward counted"].reached
    assert found["tick on arrays, 12 x 4096 PD+max, vs Isaac Sim per joint"].reached is None


def test_actuator_has_goals_beside_newton_and_beside_the_wrapper() -> None:
    def case(pipeline: str, size: int, name: str, ratio: float) -> Case:
        return Case("actuator", "12", size, pipeline, False, outcomes={name: Outcome(seconds=1.0, ratio=ratio)})

    newton, tick = "newton one object", (1024, candidates.TICK, 0.25)
    goals = targets([case("PD+max", 1, newton, 60), case("PID+max", 1, newton, 29), case("PD+max", *tick)], None)
    found = {goal.text: goal for goal in goals}
    beside_newton = found["Actuator.step of 12 joints vs newton one object, worst pipeline"]
    assert beside_newton.reached is False and beside_newton.value == 29 and "PID+max" in beside_newton.where
    beside_tick = found["Actuator.step of 12 x 1024 joints PD+max, times the wrapper's tick on arrays"]
    assert beside_tick.reached and beside_tick.value == 4


@pytest.fixture(scope="module")
def sides() -> Iterator[against.Sides]:
    with against.both(REPOSITORY) as both:
        yield both


@cases("section", "engine", "arrays", "actuator")
def test_tree_equals_itself(sides, section) -> None:
    found = against.compare(Case(section, "12", 2, "PID+max", False), sides, rounds=3, block_seconds=1e-5)
    assert found.ours > 0 and found.theirs > 0 and found.ratio > 0


@cases("wrong", 1.001, np.nan)
def test_trees_that_differ_are_not_timed(sides, monkeypatch, wrong) -> None:
    right = sides[1].receive
    monkeypatch.setattr(sides[1], "receive", lambda: None if (answer := right()) is None else wrong * answer)
    with pytest.raises(ArithmeticError, match="efforts differ"):
        against.compare(Case("engine", "12", 2, "PD", False), sides, rounds=1, block_seconds=1e-5)


def test_tree_that_cannot_do_a_case_is_told(sides) -> None:
    case = Case("actuator", "12", 1, "mixed", False)
    with pytest.raises(against.TreeError, match="ValueError: too many values"):
        against.compare(case, sides, rounds=1, block_seconds=1e-5)
    assert sides[0].ask("titles") == sides[1].ask("titles")


@pytest.mark.slow
def test_tree_is_this_repository(tmp_path) -> None:
    with pytest.raises(against.TreeError, match="was loaded instead"), against.both(tmp_path):
        pass


@cases("what", [], ["main", "--tree", "."], ids=["neither", "both"])
def test_revision_or_tree(what, capsys) -> None:
    refused(SystemExit, lambda: against.main(what))
    assert "--tree" in capsys.readouterr().err


def test_cases_that_look_slower_are_measured_again(monkeypatch, capsys) -> None:
    # the first two cases below the line, of which one was an accident
    ratios = iter([0.8, 0.9, 1.2, 1.0, 1.0, *[1.1] * 3, 0.9, 0.7, 1.1])

    @contextlib.contextmanager
    def both(_: Path) -> Iterator:
        yield [SimpleNamespace(ask=lambda _: titles) for _ in range(2)]

    titles = [title for title, _ in candidates.SECTIONS.values() if "MuJoCo" not in title]
    monkeypatch.setattr(against, "both", both)
    monkeypatch.setattr(against, "compare", lambda *_: against.Compared(1.0, 1.0, next(ratios)))
    assert against.main(["--tree", "old", "--quick", "--sizes", "1", "--pipelines", "PD+max"]) == 0
    assert not list(ratios)
    shown = capsys.readouterr().out
    assert "not in old: Wrapper: one tick on MuJoCo" in shown
    assert "1.1x 1.1x 1.1x" in shown and "0.9x 0.7x 1.1x" in shown
    assert "worst 0.9x: engine, 12 x 1 PD+max, per robot" in shown
    assert shown.count("slower 0.9x") == 1 and "slower 0.8x" not in shown


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Keep the environment in an empty folder and record what would be run there instead of running it."""
    recorded: list[list[str]] = []

    def run(command: list[str], **_) -> subprocess.CompletedProcess[bytes]:
        recorded.append([str(part) for part in command])
        environment.FOLDER.mkdir(exist_ok=True)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(environment, "FOLDER", tmp_path / "peers")
    monkeypatch.setattr(environment.subprocess, "run", run)
    return recorded


def test_environment_is_made_once(commands) -> None:
    assert environment.run_with_peers(["--quick"]) == 0
    assert [command[2] for command in commands] == ["venv", "pip", "benchmarks"]
    assert environment.run_with_peers(["--quick"]) == 0 and len(commands) == 4
    assert commands[3][1:] == ["-m", "benchmarks", "--here", "--quick"]


def test_failed_installation_is_told_and_tried_again(commands, monkeypatch, capsys) -> None:
    works = environment.subprocess.run

    def fail(command: list[str], **options):
        works(command, **options)
        raise subprocess.CalledProcessError(2, command)

    monkeypatch.setattr(environment.subprocess, "run", fail)
    assert environment.run_with_peers([]) == 1 and "--here" in capsys.readouterr().err and len(commands) == 1
    monkeypatch.setattr(environment.subprocess, "run", works)
    assert environment.run_with_peers([]) == 0
    assert [command[2] for command in commands[1:]] == ["venv", "pip", "benchmarks"]


@pytest.fixture
def table():
    return learning.titled("", "", "step")


QUICK = SimpleNamespace(quick=True)


@pytest.mark.slow
def test_rows_of_learning_are_right(table) -> None:
    learning.steps_of_robots(table, 2, 4, QUICK)
    learning.decimated(table, 2, QUICK)
    learning.own_loops(table, QUICK)
    assert not learning.wrong_cells(table)
    names = list(table.columns[1].cells)
    assert {"Simulation + motors", "mujoco.rollout, the same steps per call", "sim.step(4)"} <= set(names)
    assert {"ActuatedArrays.step", "ActuatedModel.step, newton", "MujocoSimulation.step"} <= set(names)
    rates = [cell for cell in table.columns[3].cells if cell]
    assert len(rates) == len(names) - names.count("vector environment")
    assert all(float(rate.replace(",", "")) > 0 for rate in rates)


def test_wrong_rows_of_learning_are_told(table, monkeypatch) -> None:
    from isaacsim.core.experimental.actuators import Simulation

    made = learning.Plain.__init__

    def elsewhere(plain: learning.Plain, envs: int, decimation: int) -> None:
        made(plain, envs, decimation)
        plain.efforts *= 1.05

    monkeypatch.setattr(learning.Plain, "__init__", elsewhere)
    learning.steps_of_robots(table, 1, 4, QUICK)
    step = Simulation.step
    monkeypatch.setattr(Simulation, "step", lambda sim, steps=1: step(sim, steps + (steps == 4)))
    learning.decimated(table, 1, QUICK)
    assert len(learning.wrong_cells(table)) == 2 + 4


def test_missing_mujoco_warp_is_told(table, tmp_path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\necho 'no module mujoco_warp' >&2\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    learning.with_mujoco_warp(table, str(tmp_path / "python"), QUICK)
    assert list(table.columns[2].cells) == ["[red]no module mujoco_warp"]


def test_rows_of_physx_are_there() -> None:
    pytest.importorskip("ovphysx")
    rows = physx_loop.physx_rows(5)
    assert len({row.name for row in rows}) == len(rows) == len(physx_loop.ROBOTS) * 3
    assert all(0 < row.median <= row.worst for row in rows)


@pytest.mark.slow
def test_whole_loops_are_compared_before_they_are_timed(monkeypatch) -> None:
    """Every part runs, with two robots where it takes many; another law in the script is noticed."""
    monkeypatch.setattr(loops, "MANY", 2)
    rows = [row for part in loops.PARTS for row in part(1)]
    assert len({row[0] for row in rows}) == len(rows) >= 16
    monkeypatch.setattr(loops, "KP", 21.0)
    monkeypatch.setattr(loops.Script, "tick", lambda *_: [np.zeros(12), np.zeros(12), np.zeros(7)])
    refused(AssertionError, lambda: list(loops.jobs(1)), "Not equal to tolerance")


@pytest.mark.slow
def test_new_arrays_are_compared_before_they_are_timed(monkeypatch) -> None:
    assert len(list(new_arrays.rows(["numpy"], [1], 1, 1e-3))) == 1
    monkeypatch.setattr(new_arrays.Theirs, "step", lambda self: np.ones((1, 12)))
    refused(AssertionError, lambda: list(new_arrays.rows(["numpy"], [1], 1, 1e-3)))


@pytest.mark.slow
def test_hidden_motors_are_found_and_errors_are_told(capsys, tmp_path) -> None:
    pytest.importorskip("scipy")
    if native.core is None:
        pytest.skip("the native core is not built")
    assert identification.main(["--legs", "1", "--seconds", "6"]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert float(rows["coulomb"][0]) < 5.0 and float(rows["encoder_bias"][2]) < 10.0
    robot = identification.hidden_robot(tmp_path, 1, 1.0, 0)
    assert (robot.log.position == identification.hidden_robot(tmp_path, 1, 1.0, 0).log.position).all()
    assert set(robot.hidden) == {*identification.HIDDEN, "delay"}


@pytest.mark.slow
def test_gains_are_judged_in_simulation_and_beside_others(capsys) -> None:
    assert tuning.main(["--quick"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:-1]]
    expected = [("pendulum", "1", "1", "0"), ("arm_2dof", "2", "2", "0")]
    assert [(row[0], row[1], row[2], row[6]) for row in rows] == expected
    assert tuning.main(["--quick", "--grid"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[1] for row in rows] == ["shoulder", "extension"]
    assert all(int(row[2]) > 1 and float(row[4]) < 10.0 for row in rows)
