"""`actuators new`: a motor file to edit, of what the robot's file says, the catalogue, and gains with margins."""

from __future__ import annotations

import dataclasses
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ...base.saving import whole_file
from ...base.values import shortest
from ...files.motor_files.files import load_motors, plain_of
from ...files.motor_files.formats import render
from ...specs.joint_side import bounds_at_joint, gains_at_joint
from ...specs.motor_catalogue import MOTORS, MotorFigures
from ...specs.motors import MotorConfig
from ...specs.patterns import assigned, pattern_of
from ..inspection.described import InspectedJoint, InspectedRobot
from ..inspection.inspect import inspect_robots
from ..plots.units import SLIDING, TURNING
from ..tuning.plant import with_law
from ..tuning.tune import tune
from ..tuning.tuned import Tuned, TunedJoint
from .answer import Answer, Table, headings
from .arguments import New, by_pattern
from .show import briefly, progress_bar

_WIDTH = 100
# relative distance of limits that are those of a motor of the catalogue
_NEAR = 0.02
_COLUMNS = headings("joint | kp | kd | gains | effort_limit: limit | armature | catalogue: of this limit")
_BESIDES = """\
What a motor may have besides, below its pattern. `actuators excite` and `identify` find the numbers in a log:
  armature: 0.01           # inertia of the rotor times the square of the gear ratio, kg·m² or kg
  delay: {delay_steps: 2}  # commands that are late, in physics steps
  passive: [{law: friction, coulomb: 0.1, viscous: 0.01}]  # N·m and N·m·s/rad, or N and N·s/m
  feedback: {resolution: 0.0015}  # of the encoder, rad or m
All stages and their fields: docs/tutorials/describe_motors.md, "Every stage"."""


def answer(arguments: New) -> Answer:
    """Answer `actuators new`."""
    out, robot = arguments.out, arguments.robot
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise ValueError(f"{out}: must end in .yaml or .yml, which have comments. Rename it.")
    if out.exists():
        raise ValueError(f"{out}: is there already: must be a new file. Give another name with -o, or remove it.")
    described = inspect_robots(robot)
    joints = [joint for one in described for joint in one.joints]
    chosen = _chosen(arguments.motor, joints, f"{robot}: --motor")
    known = _known(arguments, chosen)
    if not known:
        raise ValueError(
            f"{robot}: {_driven(joints)}: must have a joint that a motor of its own drives. Take the motors of the "
            f"file: actuators export {robot} --to yaml -o {out}"
        )
    bare = {joint for joint, motor in known.items() if not any(gains_at_joint(motor) or ())}
    rows = _tuned(arguments, known, bare)
    # tune has one robot only
    page = _Page(described[0], robot.name, known, rows, bare, chosen)
    content = page.text(f"actuators run {robot} --config {out}", str(out.resolve().parent))
    with whole_file(out) as written:
        written.write_text(content, "utf-8")
    # what was written is what was meant
    load_motors(out)
    notes = [f"The motors are in {out}, with comments: edit it, then `actuators run {robot} --config {out}`."]
    return Answer([Table("joints", _COLUMNS, [page.row(joint) for joint in known], f"motors of {robot.name}")], notes)


def _chosen(texts: Sequence[str], joints: Sequence[InspectedJoint], subject: str) -> dict[str, str]:
    """Return motors of the catalogue by joint, from `pattern/motor` or `motor`."""
    names = by_pattern(texts)
    found, problems = assigned(names, [joint.name for joint in joints], subject, every=False)
    if problems:
        raise ValueError("\n".join(problems))
    return {joint: names[pattern] for joint, pattern in found.items()}


def _known(arguments: New, chosen: Mapping[str, str]) -> dict[str, MotorConfig]:
    """Return the motors of the robot by joint, of which some are chosen from the catalogue."""
    known = with_law(arguments.robot, None, arguments.dt)
    for joint, name in chosen.items():
        real = MotorConfig.from_catalogue(name, kp=0.0, kd=0.0)
        own = known.get(joint, real)
        known[joint] = dataclasses.replace(real, controller=own.controller or real.controller, delay=own.delay)
    for joint, motor in known.items():
        # what the robot lacks is left to be added
        zeros = [name for name in ("armature", "friction", "viscous_friction") if getattr(motor, name) == 0.0]
        known[joint] = dataclasses.replace(motor, **dict.fromkeys(zeros))
    return known


def _tuned(arguments: New, known: dict[str, MotorConfig], bare: set[str]) -> Sequence[TunedJoint]:
    """Give gains to bare motors, and return what is known of the gains of all."""
    rows: Sequence[TunedJoint] = ()
    with progress_bar("reading the robot", hidden=arguments.json) as progress:

        def tuned(explain: bool) -> Tuned:
            given = {pattern_of(joint): motor for joint, motor in known.items()}
            return tune(arguments.robot, given, explain=explain, verify=False, dt=arguments.dt, progress=progress)

        if bare:
            made = tuned(explain=False)
            rows, motors = made.joints, made.motors.items()
            known |= {joint: motor for pattern, motor in motors for joint in bare if re.fullmatch(pattern, joint)}
        if len(bare) < len(known):
            rows = tuned(explain=True).joints
    return rows


class _Page:
    """The motors of a robot as a file for people, and what is known of each."""

    def __init__(
        self,
        robot: InspectedRobot,
        file: str,
        motors: Mapping[str, MotorConfig],
        rows: Sequence[TunedJoint],
        bare: set[str],
        chosen: Mapping[str, str],
    ) -> None:
        self._robot, self._file, self._motors = robot, file, motors
        self._rows, self._bare, self._chosen = {row.joint: row for row in rows}, bare, chosen

    def row(self, name: str) -> dict[str, object]:
        """Return what is known of a joint, for a table."""
        row, joint = self._rows.get(name), self._robot.joint(name)
        tuned = {} if row is None else {"kp": row.kp, "kd": row.kd, "effort_limit": row.effort_limit}
        gains = "" if row is None else "tuned" if name in self._bare else f"file: {row.verdict}"
        motor = self._chosen.get(name) or " or ".join(self._near(joint)) or None
        armature = self._motors[name].armature or joint.value("armature") or None
        return {"joint": name, "gains": gains, "armature": armature, "catalogue": motor, **tuned}

    def text(self, run: str, folder: str) -> str:
        """Return the file: a head, a block for each group of equal motors, and what motors may have besides."""
        groups: dict[str, list[str]] = {}
        for joint, motor in self._motors.items():
            groups.setdefault(repr((motor, joint in self._bare, self._chosen.get(joint))), []).append(joint)
        head = [
            f"Motors of {self._file}, drafted by `actuators new`. To see them at work:",
            f"  {run}",
            "Keys are patterns of whole joint names. Units are rad, N·m and s, of joints that slide m, N and s.",
        ]
        parts = [_comments(head)]
        for joints in groups.values():
            # one after the other, where a name is no word
            is_plain = all(re.fullmatch(r"\w+", joint) for joint in joints)
            pattern = "|".join(briefly(joints, ()).split(", ") if is_plain else map(pattern_of, joints))
            block = render(plain_of({pattern: self._motors[joints[0]]}, folder, shortest), ".yaml")
            parts.append(_comments(self._said(joints, pattern)) + block)
        if left := [joint for joint in self._robot.joints if joint.name not in self._motors]:
            parts.append(_comments([f"Joints without a motor, and what drives them: {_driven(left)}."]))
        return "\n".join([*parts, _comments(_BESIDES.splitlines())])

    def _said(self, joints: Sequence[str], pattern: str) -> Iterator[str]:
        """Yield what is known of joints with equal motors."""
        described = [self._robot.joint(name) for name in joints]
        first, motor = described[0], self._motors[joints[0]]
        yield f"{', '.join(_facts(described))} ({self._file})."
        if rows := list(filter(None, map(self._rows.get, joints))):
            yield from self._of_gains(rows, joints[0] in self._bare)
        if not list(bounds_at_joint(motor, "effort")):
            yield "No effort limit is known, so that it gives what its gains ask for: add one to `clamping`."
        yield from self._of_catalogue(first, pattern)
        friction = motor.friction or first.value("friction") or motor.others
        there = {"armature": motor.armature or first.value("armature"), "friction": friction, "delay": motor.delay}
        if unknown := ", ".join(name for name, value in there.items() if not value):
            yield f"Unknown, and none: {unknown}."

    def _of_catalogue(self, joint: InspectedJoint, pattern: str) -> Iterator[str]:
        """Yield the motor that was chosen from the catalogue, or those that may be chosen."""
        if name := self._chosen.get(joint.name):
            what = "Limit and armature" if MOTORS[name].armature else "Limit"
            yield f"{what} of {name} ({MOTORS[name].used_in}); sources: actuators motors {name}."
        elif near := self._near(joint):
            used = "; ".join(f"{name}: {MOTORS[name].used_in}" for name in near)
            yield f"Of the catalogue, with this limit ({used}): actuators new --motor '{pattern}/{near[0]}'."

    def _near(self, joint: InspectedJoint) -> list[str]:
        """Return the motors of the catalogue with the limits of a joint."""
        row, speed = self._rows.get(joint.name), joint.value("velocity_limit")
        effort = joint.value("effort_limit") if row is None else row.effort_limit
        if joint.linear or not math.isfinite(effort):
            return []
        return [name for name, figures in MOTORS.items() if _has_limits(figures, effort, speed)]

    def _of_gains(self, rows: Sequence[TunedJoint], tuned: bool) -> Iterator[str]:
        """Yield where gains come from, what they do in all poses, and what bounds or is wrong with them."""
        gain, phase = (min(getattr(row, name) for row in rows) for name in ("gain_margin", "phase_margin"))
        does = f"gain margin {gain:.2g}, phase margin {phase:.0f}°, up to {min(row.bandwidth for row in rows):.2g} Hz"
        if tuned:
            yield f"Gains by `actuators tune`: {does}; bounded by {rows[0].bound}."
            return
        yield f"Gains of {self._file}: {', '.join(dict.fromkeys(row.verdict for row in rows))}; {does}."
        first = {row.verdict: row for row in reversed(rows)}
        for word in dict.fromkeys(row.verdict for row in rows if row.reason):
            row = first[word]
            yield f"{word.capitalize()}: of {row.joint}, {row.reason}."


def _driven(joints: Sequence[InspectedJoint]) -> str:
    return ", ".join(f"{joint.name} ({joint.driven_by})" for joint in joints)


def _facts(joints: Sequence[InspectedJoint]) -> Iterator[str]:
    """Yield the number of joints, and what their file says of them: ranges, limits, and inertias."""
    units = SLIDING if joints[0].linear else TURNING
    yield f"{len(joints)} joint{'s' * (len(joints) > 1)}"
    ranges = {(joint.value("lower_limit"), joint.value("upper_limit")) for joint in joints}
    if len(ranges) == 1 and all(map(math.isfinite, *ranges)):
        lower, upper = ranges.pop()
        yield f"range {lower:.3g} … {upper:.3g} {units.position}"
    words = {"effort_limit": units.effort, "velocity_limit": units.velocity, "armature": units.inertia}
    for name, unit in words.items():
        values = {joint.value(name) for joint in joints if joint.values[name].said}
        if values and math.isfinite(max(values)):
            ends = " … ".join(map("{:.4g}".format, dict.fromkeys((min(values), max(values)))))
            yield f"{name.replace('_', ' ')} {ends} {unit}"


def _has_limits(motor: MotorFigures, effort: float, speed: float) -> bool:
    """Return whether a motor of the catalogue has a torque limit, and a speed limit if both are known."""
    if motor.max_torque is None or abs(effort / motor.max_torque - 1.0) >= _NEAR:
        return False
    fastest = motor.max_speed or motor.no_load_speed
    return fastest is None or math.isinf(speed) or abs(speed / fastest - 1.0) < _NEAR


def _comments(lines: Iterator[str] | Sequence[str]) -> str:
    """Return lines as comments, broken between words, but for those that are content."""
    wrapped = []
    for line in lines:
        indented = line.startswith(" ")
        wrapped += (
            [line] if indented else textwrap.wrap(line, _WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False)
        )
    return "".join(f"# {line}\n" for line in wrapped)
