"""Open and drive robots by other people: `./python.sh -m tests.robots DIR [--json FILE]`.

DIR is a folder of USD, MJCF and URDF robots, such as `gather.py` makes, or a single file. A Markdown table with a line
per robot, and what came of all of them. Where the original of a USD file is known, or the file is MJCF or URDF itself,
it is compared with what MuJoCo makes of that.

| column | yes means |
|---|---|
| opens | `Simulation` plays it |
| DOFs, driven | how many there are, and how many got an actuator; followers of couplings get none |
| M, bias | as MuJoCo's on the original at 20 random states: the largest difference, relative to what the joint has |
| ranges, friction | as the original's |
| coupled | 0.5 s of motion broke no equality between joints or tendons, and no closed loop, of the original |
| finite, limits, gains | all of the motion; no effort above its limit; joint drives are back after `close` |
| s | seconds of processor time from the file to the first step |
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .files import Robot, plain, robots_of
from .one import SAME, faults_of

NONE = "-"
REPOSITORY = Path(__file__).parents[2]
COLUMNS = (
    *("robot", "opens", "DOFs", "driven", "M", "bias", "ranges", "friction", "coupled"),
    *("finite", "limits", "gains", "s", "what went wrong"),
)


@dataclass(frozen=True)
class Row:
    robot: Robot
    found: dict

    @property
    def opens(self) -> bool:
        return "seconds" in self.found

    @property
    def in_mujoco(self) -> bool:
        return self.is_compared and self.found["original_without"] != "refusal"

    @property
    def is_compared(self) -> bool:
        return bool(self.found.get("original_dofs"))

    @property
    def wrong(self) -> list[str]:
        """Everything that went wrong, the first thing first; empty for a robot that behaves."""
        found = self.found
        reasons = [f"{part}: {text}" for part, text in found["errors"].items() if part not in ("original", "explain")]
        if not self.opens:
            return reasons or ["open: no reason told"]
        if self.is_compared:
            lost = [name for name in found["lost"] if plain(name) not in found["outside"]]
            if lost:
                reasons.append(f"joints lost: {', '.join(lost[:5])}")
            if found["unknown"]:
                reasons.append(f"joints the original lacks: {', '.join(found['unknown'][:5])}")
        if not found["dofs"]:
            reasons.append("no DOFs: the joints are in no articulation" if found.get("outside") else "no DOFs")
        for name, text in (("finite", "motion"), ("within_limits", "limits"), ("gains_restored", "gains")):
            if found.get(name) is False:
                reasons.append(f"{text}: {name.replace('_', ' ')} is no")
        if found.get("driven") != found.get("to_drive"):
            reasons.append(f"driven: {found['driven']} of {found['to_drive']}")
        return reasons + list(self.different.values())

    @property
    def different(self) -> dict[str, str]:
        found = self.found
        return {
            kind: f"{kind} differs by {found[kind]:.0e} at {found['where'][kind]}"
            if kind in SAME
            else f"{kind} broken by {found['strain'][kind]:.1f} times what is slack"
            for kind in faults_of(found)
        }

    @property
    def lost(self) -> list[str]:
        """What was lost on the way to USD, where that is all that is wrong: the robot is as its file says."""
        told = self.found.get("explained", {})
        if not self.wrong or self.wrong != list(self.different.values()) or set(told) != set(self.different):
            return []
        return list(dict.fromkeys(reason for kind in self.different for reason in told[kind]))

    @property
    def told(self) -> dict:
        robot = {"file": str(self.robot.file), "original": str(self.robot.original or ""), "wheel": self.robot.wheel}
        robot = robot | {"name": self.robot.name, "behaves": not self.wrong}
        return robot | {"wrong": self.wrong, "lost": self.lost, "found": self.found}

    @property
    def cells(self) -> list[str]:
        found = self.found

        def yes(name: str) -> str:
            return {True: "yes", False: "no"}.get(found.get(name), NONE)

        def number(name: str) -> str:
            return f"{found[name]:.0e}" if self.is_compared and name in found else NONE

        coupled = ("no" if found.get("strain") else "yes") if found.get("coupled") else NONE
        texts = [
            *(self.robot.name, "yes" if self.opens else "no", found.get("dofs", NONE), found.get("driven", NONE)),
            *(number("mass"), number("bias"), number("range"), number("friction"), coupled),
            *(yes("finite"), yes("within_limits"), yes("gains_restored")),
            f"{found['seconds']:.1f}" if self.opens else NONE,
            (f"as the file says: {', '.join(self.lost)}: " if self.lost else "")
            + "; ".join(self.wrong)[:300].replace("|", "\\|"),
        ]
        return [str(text) for text in texts]


def run(robot: Robot, seconds: float, gibibytes: float) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        result, log = Path(folder) / "result.json", Path(folder) / "log"
        where = [str(REPOSITORY), str(REPOSITORY / "python"), os.environ.get("PYTHONPATH", "")]
        arguments = [robot.file, robot.original or "-", result, gibibytes]
        ended = ""
        with log.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.one", *map(str, arguments)],
                stdout=file,
                stderr=file,
                # MuJoCo logs its warnings where it runs
                cwd=folder,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, where)), "OMP_NUM_THREADS": "1"},
            )
            try:
                if code := process.wait(seconds):
                    ended = f"process ended with {code}"
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                ended = f"no end after {seconds:g} s"
        found = json.loads(result.read_text()) if result.exists() else {"errors": {}, "part": "start"}
        if ended:
            last = (log.read_text("utf-8", "replace").strip().splitlines() or [""])[-1]
            found["errors"][found["part"] or "end"] = f"{ended}: {last}"[:400]
    return Row(robot, found)


def rows_of(robots: Sequence[Robot], at_once: int, seconds: float, gibibytes: float) -> Iterator[Row]:
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda robot: run(robot, seconds, gibibytes), robots)


def summary(rows: Sequence[Row]) -> Iterator[str]:
    for name, some in (
        ("that MuJoCo opens", [row for row in rows if row.in_mujoco]),
        ("without an original that MuJoCo opens", [row for row in rows if not row.in_mujoco]),
    ):
        if some:
            opens, behaves = sum(row.opens for row in some), sum(not row.wrong for row in some)
            share = f"{opens / len(some):.0%} and {behaves / len(some):.0%}"
            yield f"opens {opens} of {len(some)} {name}, behaves {behaves} of {len(some)}: {share}"
    yield from classes(rows)
    seconds = sorted(row.found["seconds"] for row in rows if row.opens)
    if seconds:
        yield f"seconds of processor time to open: median {seconds[len(seconds) // 2]:.1f}, largest {seconds[-1]:.1f}"
    # what touches differs by who may touch whom; MuJoCo fixes the base of every URDF
    apart = [
        row.found["apart"]
        for row in rows
        if row.in_mujoco and row.robot.original.suffix == ".xml" and "apart" in row.found
        if row.found["contacts"] == row.found["original_contacts"] == 0
    ]
    if apart:
        near = sum(value <= 1e-3 for value in apart)
        yield f"of MJCF that touches nothing at first, moves as in plain MuJoCo within 1e-3: {near} of {len(apart)}"
    touching = [row for row in rows if row.found.get("original_contacts") == 0 and row.found.get("contacts")]
    if touching:
        one = touching[0].robot.file
        yield f"{len(touching)} touch themselves at first where the original does not (for one {one})"
    reasons: dict[str, list[Row]] = {}
    for row in rows:
        for reason in dict.fromkeys(map(in_general, [] if row.lost else row.wrong)):
            reasons.setdefault(reason, []).append(row)
    for reason, some in sorted(reasons.items(), key=lambda item: -len(item[1])):
        yield f"{len(some):4d} {reason} (for one {some[0].robot.file})"


def classes(rows: Sequence[Row]) -> Iterator[str]:
    """Of what MuJoCo opens: what came of it, and what was lost on the way to USD."""
    some = [row for row in rows if row.in_mujoco]
    if not some:
        return
    says = [row for row in some if row.lost]
    mend = [row for row in some if row.wrong and not row.lost]
    good = len(some) - len(mend)
    yield (
        f"of {len(some)}: opens {sum(row.opens for row in some)}, as the original {good - len(says)}, "
        f"as the file says {len(says)}, to mend {len(mend)}: {good / len(some):.1%} behave"
    )
    for reason, count in Counter(reason for row in says for reason in row.lost).most_common():
        yield f"{count:4d} as the file says, for: {reason}"
    for row in mend:
        yield f"     to mend: {row.robot.file}"


def in_general(reason: str) -> str:
    reason = re.sub(r"differs by .*|broken by .*|(?<=lost: ).*|(?<=lacks: ).*", "", reason)
    return re.sub(r"<[^>]*>|\[[^\]]*\]?|'[^']*'|/[\w/.-]+|[\d.]+(e[+-]?\d+)?", "…", reason)[:140].strip(" :")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="tests.robots", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place", type=Path, metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where everything that was found goes")
    parser.add_argument("--only", default="", metavar="TEXT", help="robots with this in their names or wheels")
    parser.add_argument(
        "--originals", action="store_true", help="open the MJCF and URDF that USD was made from instead"
    )
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="processes, default 2")
    parser.add_argument("--seconds", type=float, default=180.0, help="for each robot, default 180")
    parser.add_argument("--gibibytes", type=float, default=12.0, help="of memory for each robot, default 12")
    given = parser.parse_args(arguments)
    every = robots_of(given.place.resolve(), originals=given.originals)
    robots = [robot for robot in every if given.only in f"{robot.wheel}/{robot.name}"]
    if not robots:
        parser.error(f"{given.place}: no robot in it.")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    rows = []
    for row in rows_of(robots, given.at_once, given.seconds, given.gibibytes):
        rows.append(row)
        print(f"| {' | '.join(row.cells)} |", flush=True)
        if given.json:
            given.json.write_text(json.dumps([row.told for row in rows], indent=1))
    print()
    for line in summary(rows):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
