"""Printed output of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from .candidates import NO_RIVALS, SECTIONS, STREAM, Known
from .measure import Case
from .targets import Target, geometric_mean

# wide enough for all candidates if no terminal defines the width
WIDTH = 160


def make_console() -> Console:
    """Return a console that does not break tables when the output goes to a file."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def show(console: Console, machine: dict[str, Any], cases: Sequence[Case], goals: Sequence[Target]) -> None:
    """Print all results, their meaning, the targets, and the machine."""
    console.print("Cells: CPU time of a step, and its ratio to ours (median of paired ratios).")
    for section, (title, candidates) in SECTIONS.items():
        mine = [case for case in cases if case.section == section]
        if not mine:
            continue
        for robot, per_robot in dict.fromkeys((case.robot, case.per_robot) for case in mine):
            parameters = "parameters per robot" if per_robot else "shared parameters"
            console.print(f"\n[bold]{title}: robot {robot}, {parameters}[/]")
            console.print(_case_table([case for case in mine if (case.robot, case.per_robot) == (robot, per_robot)]))
        console.print(f"\n[bold]{title}: ratio to ours, geometric mean (worst)[/]")
        console.print(_summary_table(mine))
        for known in candidates:
            console.print(f"  [bold]{known.name}[/]: {known.note}")
        if section == "engine":
            console.print(
                f"  [bold]{STREAM}[/]: read five arrays and write one, for as many joints; in percent of our time, "
                "which is the part of the memory bandwidth that ours uses where no more has to be moved (PD and limits)"
            )
    untimed = {(case.section, name, o.reason) for case in cases for name, o in case.outcomes.items() if o.reason}
    for section, name, reason in sorted(untimed):
        console.print(f"[bold red]not timed[/] {section}, {name}: {reason}", highlight=False)
    console.print("\n[bold]Targets[/]")
    console.print(_target_table(goals))
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    console.print(
        f"[bold]{machine['processor']}[/], {machine['cores']} cores, one thread used, engine {machine['engine']}; "
        f"load {machine['load']} at the start; {machine['system']}; Python {machine['python']}; {versions}; "
        f"{machine['date']}",
        highlight=False,
    )


def _case_table(cases: Sequence[Case]) -> Table:
    names = list(dict.fromkeys(name for case in cases for name in case.outcomes))
    table = Table("pipeline")
    # a heading can take two lines, a number cannot
    for heading in ["robots", *(name.replace(" per ", "\nper ").replace(" one ", "\none ") for name in names)]:
        table.add_column(heading, justify="right", no_wrap=True)
    for case in cases:
        table.add_row(case.pipeline, f"{case.num_robots}", *(_cell(case, name) for name in names))
    return table


def _cell(case: Case, name: str) -> str:
    outcome = case.outcomes.get(name)
    if outcome is None or outcome.seconds is None:
        return "-"
    if name == Known.OURS or outcome.ratio is None:
        return f"[bold]{duration(outcome.seconds)}[/]"
    share = f"{outcome.ratio:.0%}" if name in NO_RIVALS else _times(outcome.ratio)
    return f"{duration(outcome.seconds)} {share}"


def _summary_table(cases: Sequence[Case]) -> Table:
    sizes = sorted({case.num_robots for case in cases})
    table = Table("candidate")
    for heading in ["all cases", *(f"N = {size}" for size in sizes)]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("worst case")
    names = dict.fromkeys(name for case in cases for name in case.outcomes)
    for name in names:
        found = {case: ratio for case in cases if (ratio := case.ratio(name)) is not None}
        if name in (Known.OURS, *NO_RIVALS) or not found:
            continue
        cells = []
        for size in [None, *sizes]:
            ratios = [ratio for case, ratio in found.items() if size in (None, case.num_robots)]
            cells.append(f"{_times(geometric_mean(ratios))} ({_times(min(ratios))})" if ratios else "-")
        table.add_row(name, *cells, str(min(found, key=lambda case: found[case])))
    return table


def _target_table(goals: Sequence[Target]) -> Table:
    table = Table("target", "goal", "measured", "", "lowest at")
    for goal in goals:
        verdict = {None: "not measured", True: "[green]reached[/]", False: "[red]missed[/]"}[goal.reached]
        value = "-" if goal.value is None else f"{goal.value:,.0f}" if goal.value >= 100 else f"{goal.value:.2g}"
        table.add_row(goal.text, goal.goal, value, verdict, goal.where)
    return table


def duration(seconds: float) -> str:
    """Return a time with three digits and a unit."""
    factor, unit = next((pair for pair in ((1, "s"), (1e3, "ms"), (1e6, "µs")) if seconds * pair[0] >= 1), (1e9, "ns"))
    return f"{float(f'{seconds * factor:.3g}'):g} {unit}"


def _times(ratio: float) -> str:
    """Return a ratio with two digits, or all digits before the point."""
    return (f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}") + "x"
