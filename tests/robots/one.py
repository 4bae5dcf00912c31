"""Open one robot, compare it with its original, drive it: the process behind a line of the table.

What was found so far is written after each part, so that it is there when the next part crashes.
"""

import json
import os
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .files import MOVING_PRIMS, plain

DT, SECONDS, STATES = 0.002, 0.5, 20
# of what is compared: relative, and what single precision in files leaves
SAME = {"mass": 1e-4, "bias": 1e-3, "range": 1e-4, "friction": 1e-4}
# what inertias may change the mass matrix by that no body can have and that are repaired
REPAIRED = 0.05
MASS = ("mass", "bias")
# every how many steps a robot is looked at closely
SELDOM = 25
# of the pose controllers, and how far they are asked to move: rad, m
STIFFNESS, DAMPING, ANGLE, LENGTH = 8.0**2, 2 * 8.0, 0.3, 0.03


class Found:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.values: dict = {"errors": {}}

    def run(self, part: str, compute: Callable[[], dict]) -> bool:
        self.values["part"] = part
        self.write()
        try:
            self.values |= compute()
        # whatever a robot of other people brings about is a result here
        except Exception as error:
            text = next((line for line in str(error).splitlines() if line.strip()), "")
            self.values["errors"][part] = f"{type(error).__name__}: {text}"[:400]
            self.values["traces"] = self.values.get("traces", {}) | {part: str(error)[:4000]}
        self.values["part"] = ""
        self.write()
        return part not in self.values["errors"]

    def write(self) -> None:
        own = self._path.with_suffix(".part")
        own.write_text(json.dumps(self.values, default=float))
        os.replace(own, self._path)


def check(file: Path, origin: Path | None, found: Found) -> None:
    """Do all parts; those that need another one that failed are left out."""
    import isaacsim.core.experimental.actuators as ea

    opened = {}

    def open_it() -> dict:
        start = time.process_time()
        sim = opened["sim"] = ea.Simulation(file, dt=DT)
        sim.play()
        seconds = time.process_time() - start
        # the host knows the robots of files that have no stage, too
        paths = list(dict.fromkeys(robot.path for robot in sim._host.robots()))
        opened["robots"] = [robot for path in paths if (robot := ea.Articulation(path)).num_dofs]
        dofs = sum(robot.num_dofs for robot in opened["robots"])
        return {"seconds": seconds, "robots": len(opened["robots"]), "dofs": dofs, "contacts": int(sim.data(0).ncon)}

    def load_original() -> dict:
        from .original import Original

        original = opened["original"] = Original(origin, is_converted=origin != file)
        return {
            "original_dofs": len(original.joints),
            "original_without": original.without,
            "original_contacts": original.contacts,
            "massless": original.massless,
        }

    is_open = found.run("open", open_it)
    if origin is not None:
        found.run("original", load_original)
    if not is_open:
        return
    sim, robots, original = opened["sim"], opened["robots"], opened.get("original")
    matched = []
    if original:
        matched = match([names_of(sim, robot) for robot in robots], original)
        lost = set(original.joints) - {j for row in matched for j in row if j is not None}
        found.values["lost"] = [original.name(j) or f"joint {j}" for j in sorted(lost)]
        found.values["outside"] = sorted(outside(sim, robots) & {plain(name) for name in found.values["lost"]})
        rows = zip(robots, matched, strict=True)
        found.values["unknown"] = [one.dof_names[i] for one, row in rows for i, j in enumerate(row) if j is None]
        found.run("compare", lambda: compare(robots, matched, original))
        sim.reset()
    drive = Drive(sim, robots, matched, original)
    found.run("drive", drive.run)
    faults = faults_of(found.values)
    if faults and origin and file.suffix.startswith(".usd"):

        def explain() -> dict:
            from .explain import Explanation

            return {"explained": Explanation(file, origin, sim, robots, drive).of(set(faults))}

        found.run("explain", explain)
    found.run("close", lambda: sim.close() or {})


def faults_of(found: dict) -> list[str]:
    if not found.get("original_dofs"):
        return []
    refused = found["original_without"] == "refusal"
    kinds = [
        name
        for name, same in SAME.items()
        if name in found and not found[name] <= (REPAIRED if refused and name in MASS else same)
    ]
    return kinds + list(found.get("strain", {}))


def names_of(sim, robot) -> list[tuple[str, str, str]]:
    """Of each DOF: its name, the name its joint had before it was made fit for USD, and that of the link it carries."""
    stage = sim.stage
    names = []
    for name, path in zip(robot.dof_names, robot.dof_paths[0], strict=True):
        prim = stage.GetPrimAtPath(path) if stage else None
        shown, link = "", ""
        if prim:
            shown = prim.GetDisplayName()
            targets = prim.GetRelationship("physics:body1").GetTargets()
            if targets and (carried := stage.GetPrimAtPath(targets[0])):
                link = carried.GetDisplayName() or carried.GetName()
        names.append((name, shown, link))
    return names


def outside(sim, robots: list) -> set[str]:
    """Names of joints of the stage that are in no articulation, as `plain` has them."""
    if not sim.stage:
        return set()
    known = {path for robot in robots for path in robot.dof_paths[0]}
    prims = [prim for prim in sim.stage.Traverse() if prim.GetTypeName() in MOVING_PRIMS]
    return {plain(prim.GetDisplayName() or prim.GetName()) for prim in prims if str(prim.GetPath()) not in known}


def match(robots: list[list[tuple[str, str, str]]], original) -> list[list[int | None]]:
    """The original's joint of each DOF, by the joint's name, or by its link's where the joint has none."""
    numbers: dict[str, int] = {}
    links: dict[str, list[int]] = {}
    for j in original.joints:
        numbers.setdefault(plain(original.name(j)), j)
        if link := original.body(j)[0]:
            links.setdefault(plain(link), []).append(j)
    taken: set[int] = set()
    rows: list[list[int | None]] = []
    for names in robots:
        row: list[int | None] = []
        for name, shown, link in names:
            known = [numbers.get(plain(one)) for one in (shown, name) if one]
            known += [j for j in links.get(plain(link), []) if not original.name(j)]
            j = next((j for j in known if j is not None and j not in taken), None)
            taken |= {j} - {None}
            row.append(j)
        rows.append(row)
    return rows


def compare(robots: list, matched: list[list[int | None]], original) -> dict:
    """Mass matrix and bias at random states within limits; limits and friction."""
    from .original import no_limit

    random = np.random.default_rng(1)
    worst = {"mass": 0.0, "bias": 0.0, "range": 0.0, "friction": 0.0}
    where: dict[str, str] = {}
    shifted = False
    for robot, row in zip(robots, matched, strict=True):
        columns = [i for i, j in enumerate(row) if j is not None]
        joints = [row[i] for i in columns]
        if not columns:
            continue
        rest = original.rest(joints)
        ranges = original.ranges(joints)
        low, high = np.clip(ranges, rest[:, None] - 1.0, rest[:, None] + 1.0).T
        draws = [(random.uniform(low, high), random.uniform(-1, 1, len(joints))) for _ in range(STATES)]
        # USD has no position of a joint in the pose of the file but zero; both ways of counting are told apart here
        tries = [measure(robot, columns, joints, original, draws, shift) for shift in [np.zeros_like(rest), rest]]
        off = [sum(map(np.max, one)) for one in tries]
        best = int(rest.any() and off[1] < off[0] and off[0] > SAME["mass"])
        shifted |= best == 1
        mass, bias = tries[best]
        lower, upper = (one.numpy()[0][columns] for one in robot.get_dof_limits())
        due = ranges - (rest[:, None] if best else 0.0)
        static, _, viscous = (one.numpy()[0][columns] for one in robot.get_dof_friction_properties())
        apart = {
            "mass": mass,
            "bias": bias,
            "range": distance(no_limit(np.stack([lower, upper], axis=1)), due),
            "friction": distance(np.stack([static, viscous], axis=1), original.frictions(joints)),
        }
        for name, errors in apart.items():
            at = int(np.argmax(errors))
            if not errors[at] <= worst[name]:
                worst[name], where[name] = float(errors[at]), robot.dof_names[columns[at]]
    return {**worst, "where": where, "shifted": shifted}


def distance(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Largest relative difference of each row; infinite where only one of two is."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-2)
    return np.where(ours == theirs, 0.0, np.where(np.isnan(apart), np.inf, apart)).max(axis=1)


def measure(
    robot, columns: list[int], joints: list[int], original, draws: list[tuple], shift: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By joint, the largest difference of a mass matrix and of a bias, relative to what the joint has."""
    masses, biases, sizes = [], [], []
    at = np.array(columns) + (robot.get_mass_matrices().shape[1] - robot.num_dofs)
    rows = np.zeros((2, robot.num_dofs), np.float32)
    for positions, velocities in draws:
        rows[0, columns], rows[1, columns] = positions - shift, velocities
        robot.set_dof_positions(rows[:1])
        robot.set_dof_velocities(rows[1:])
        ours = robot.get_mass_matrices().numpy()[0].astype(float)[np.ix_(at, at)]
        bias = robot.get_dof_gravity_compensation_forces().numpy()[0].astype(float)
        bias = (bias + robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()[0])[columns]
        mass, due = original.dynamics(joints, rows[0, columns].astype(float) + shift, rows[1, columns].astype(float))
        size = np.sqrt(np.abs(np.outer(mass.diagonal(), mass.diagonal())))
        # a joint that moves nothing, in an original that MuJoCo refuses, says nothing
        masses.append(np.divide(np.abs(ours - mass), size, out=np.zeros_like(size), where=size > 0).max(axis=1))
        biases.append(np.abs(bias - due))
        # an acceleration of 1 rad/s² or m/s² matters, less does not
        sizes.append(np.abs(due) + np.abs(mass.diagonal()))
    most, size = np.max(biases, axis=0), np.max(sizes, axis=0)
    return np.max(masses, axis=0), np.divide(most, size, out=np.zeros_like(size), where=size > 0)


class Drive:
    """Half a second of a sine on all joints but those that follow others, and of the original under the same law."""

    def __init__(self, sim, robots: list, matched: list[list[int | None]], original) -> None:
        import isaacsim.core.experimental.actuators as ea

        passive = original.passive() if original else set()
        self.runs = []
        for i, robot in enumerate(robots):
            idle = [column for column, j in enumerate(matched[i]) if j in passive] if original else []
            self.runs.append(Run(ea, robot, [column for column in range(robot.num_dofs) if column not in idle]))
        self._sim, self._matched, self._original = sim, matched, original
        self.track: list[np.ndarray] = []
        """Positions now and then, as the original counts them."""
        self.touching: set[tuple[str, str]] = set()
        """Pairs of prims that did."""

    def run(self) -> dict:
        sim, runs = self._sim, self.runs
        twin = Twin(self._original, runs, self._matched) if self._original else None
        twins = []
        finite, kept, fastest, apart = True, True, 0.0, 0.0
        for step in range(round(SECONDS / DT)):
            for run in runs:
                run.aim(step * DT)
            sim.step()
            for run in runs:
                kept &= run.is_within_limits()
                speeds = np.abs(run.robot.get_dof_velocities().numpy())
                finite &= bool(np.isfinite(speeds).all() and np.isfinite(run.robot.get_dof_positions().numpy()).all())
                fastest = max(fastest, float(speeds.max()))
            if twin:
                theirs = twin.step(step * DT)
                now = [run.robot.get_dof_positions().numpy()[0][run.known] for run in runs]
                ours = np.concatenate([*now, np.zeros(0)]) + twin.shift
                apart = max(apart, float(np.abs(ours - theirs).max(initial=0.0)))
                if step % SELDOM == 0:
                    self.track.append(ours)
                    twins.append(theirs)
                    self._touch()
        restored = [run.end() for run in runs]
        strains = broken(self._original, twin.joints, self.track, twins) if twin else ({}, [])
        return {
            "driven": sum(len(run.driven) for run in runs),
            "to_drive": sum(len(run.columns) for run in runs),
            "finite": finite,
            "fastest": fastest,
            "apart": apart if twin else None,
            "within_limits": kept,
            "strain": strains[0],
            "coupled": strains[1],
            "gains_restored": all(restored),
        }

    def strain(self, other) -> dict[str, float]:
        """What was broken, where another original than that of the run breaks it no less."""
        twin = Twin(other, self.runs, self._matched)
        steps = [twin.step(step * DT) for step in range(round(SECONDS / DT))]
        return broken(self._original, twin.joints, self.track, steps[::SELDOM])[0]

    def _touch(self) -> None:
        data = self._sim.data(0)
        for contact in data.contact[: data.ncon]:
            names = [data.model.geom(geom).name.rpartition("#")[0] for geom in contact.geom]
            self.touching.add((min(names), max(names)))


def broken(
    original, joints: list[int], ours: list[np.ndarray], theirs: list[np.ndarray]
) -> tuple[dict[str, float], list[str]]:
    """What couples joints and is broken in ours, and not in theirs: how many times its slack; and all that does."""
    strained: dict[str, list[float]] = {}
    twins: dict[str, list[float]] = {}
    for track, into in ((ours, strained), (theirs, twins)):
        for positions in track:
            for name, value in original.strains(joints, positions).items():
                into.setdefault(name, []).append(value)
    # a blow strains what is soft for a moment; what the original does not hold either is not ours
    worst = {name: float(np.median(values)) for name, values in strained.items()}
    allowed = {name: 1.0 + 2.0 * float(np.median(values)) for name, values in twins.items()}
    return {name: value for name, value in worst.items() if not value <= allowed[name]}, sorted(worst)


class Run:
    def __init__(self, ea, robot, columns: list[int]) -> None:
        self.robot, self.columns = robot, columns
        mass = robot.get_mass_matrices().numpy()[0].astype(float)
        # what a joint alone has to accelerate, the others being free, and by how much all together have less
        each = 1.0 / np.diag(np.linalg.inv(mass))
        least = np.linalg.eigvals(np.linalg.solve(mass, np.diag(each))).real.max()
        inertia = each[-robot.num_dofs :] * min(1.0, 4.0 / least)
        linear = np.array([kind.value == "translation" for kind in robot.dof_types])
        self.start = robot.get_dof_positions().numpy()[0].astype(float)
        gravity = np.abs(robot.get_dof_gravity_compensation_forces().numpy()[0].astype(float))
        low, high = (one.numpy()[0] for one in robot.get_dof_limits())
        reach = np.where(linear, LENGTH, ANGLE)
        self._up = np.clip(high - self.start, 0.0, reach)
        self._down = np.clip(self.start - low, 0.0, reach)
        self._limits = (gravity + STIFFNESS * inertia * reach / 2).astype(np.float32)
        self._inertia = inertia
        self.known: list[int] = []
        self._gains = self._gains_now()
        motors = {}
        for name in dict.fromkeys(robot.dof_names[i] for i in columns):
            mine = [i for i in columns if robot.dof_names[i] == name]
            stiffness = (inertia[mine] * STIFFNESS).astype(np.float32)[None]
            damping = (inertia[mine] * DAMPING).astype(np.float32)[None]
            limit = ea.MaxEffortClampingConfig(self._limits[mine][None])
            motors[re.escape(name)] = [ea.PDControlConfig(stiffness, damping), limit]
        self._actuators = ea.ArticulationActuators.from_configs(robot.paths[0], motors) if motors else None
        self.driven = self._actuators.actuated_dof_indices if self._actuators else []

    def targets(self, time_now: float) -> np.ndarray:
        """A sine about the first position, as far as the joints go."""
        wave = np.sin(2 * np.pi * 2.0 * time_now)
        return self.start + np.where(wave > 0, self._up, self._down) * wave

    def aim(self, time_now: float) -> None:
        self.robot.set_dof_position_targets(self.targets(time_now).astype(np.float32)[None])

    def law(self, time_now: float, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        pull = STIFFNESS * (self.targets(time_now)[self.known] - positions) - DAMPING * velocities
        limits = self._limits[self.known]
        driven = np.isin(self.known, self.driven)
        return np.where(driven, np.clip(self._inertia[self.known] * pull, -limits, limits), 0.0)

    def is_within_limits(self) -> bool:
        efforts = self.robot.get_dof_efforts().numpy()[0][self.driven]
        return bool((np.abs(efforts) <= self._limits[self.driven] * (1 + 1e-6)).all())

    def end(self) -> bool:
        if self._actuators:
            self._actuators.close()
        return bool(np.array_equal(self._gains, self._gains_now()))

    def _gains_now(self) -> np.ndarray:
        return np.stack([one.numpy()[0].copy() for one in self.robot.get_dof_gains()])


class Twin:
    def __init__(self, original, runs: list[Run], matched: list[list[int | None]]) -> None:
        self._original, self._runs = original, runs
        for run, row in zip(runs, matched, strict=True):
            run.known = [i for i, j in enumerate(row) if j is not None]
        self.joints = [j for row in matched for j in row if j is not None]
        original.start(DT)
        starts = np.concatenate([*(run.start[run.known] for run in runs), np.zeros(0)])
        self.shift = original.state(self.joints)[0] - starts

    def step(self, time_now: float) -> np.ndarray:
        positions, velocities = self._original.state(self.joints)
        positions = positions - self.shift
        efforts, first = [], 0
        for run in self._runs:
            mine = slice(first, first + len(run.known))
            efforts.append(run.law(time_now, positions[mine], velocities[mine]))
            first = mine.stop
        self._original.step(self.joints, np.concatenate([*efforts, np.zeros(0)]))
        return self._original.state(self.joints)[0]


def main() -> None:
    """Run as `python -m tests.robots.one FILE ORIGINAL RESULT GIBIBYTES`, `-` for no original."""
    file, origin, result, memory = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(float(memory) * 2**30),) * 2)
    found = Found(Path(result))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check(Path(file), None if origin == "-" else Path(origin), found)
    found.values["warnings"] = list(dict.fromkeys(str(one.message)[:300] for one in told))
    found.write()


if __name__ == "__main__":
    main()
