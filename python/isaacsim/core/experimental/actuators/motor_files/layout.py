"""What a file of motors looks like, as plain data; keys are the fields of the configs, laws the names of their classes.

    pattern: {controller: {law, …}, clamping: [{law, …}, …], delay: {…}, armature, friction}

and so for every kind of stage, a list where a motor may have several. A number is one for all joints of the pattern, or
a dictionary by pattern. Infinity may be written "inf". Paths are relative to the folder of the file. What has a default
may be left out.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from ..components.catalogue import snake_case
from ..specs.configs import CONFIGS, Config
from ..specs.fields import Parameter, complaint, parameters_of, shown
from ..specs.motors import MotorConfig, Motors, motor_of, problems_of
from ..specs.patterns import pattern_problem
from ..specs.stages import KINDS, LISTED, parts_of, places_of

LAW = "law"
# who wrote a hundred has something else in mind
MAX_PROBLEMS = 100


def law_name(config: type[Config]) -> str:
    """`DCMotorClampingConfig` as `dc_motor`."""
    return snake_case(config.stem())


# by kind and name; where a kind has one law its name goes without saying
LAWS: dict[str, dict[str, type[Config]]] = {
    kind: {law_name(config): config for config in CONFIGS if config.KIND == kind}
    for kind in sorted({config.KIND for config in CONFIGS}, key=LISTED.index)
}


class Problems(list[str]):
    """What is wrong so far; raises once that is enough."""

    def say(self, problem: str) -> None:
        """Add a problem.

        Raises:
            ValueError: There are too many.
        """
        self.append(problem)
        if len(self) >= MAX_PROBLEMS:
            self.append(f"and perhaps more: reading ended after {MAX_PROBLEMS} problems.")
            self.end()

    def end(self) -> None:
        """Raise a ValueError of all problems, if there are any."""
        if self:
            raise ValueError("\n".join(self))


def motors_of(plain: Any, folder: str) -> dict[str, MotorConfig]:
    """The motors that plain data says.

    Args:
        plain: What `plain_of` returns, or anything.
        folder: Absolute path of the folder that paths are relative to.

    Raises:
        ValueError: It is something else; a line for each problem, with its place.
    """
    problems = Problems()
    motors: dict[str, MotorConfig] = {}
    if not isinstance(plain, dict):
        problems.say(f"{shown(plain)}: must be motors by pattern of joint names. Write pattern: motor.")
        problems.end()
    for pattern, given in plain.items():
        if why := pattern_problem(pattern):
            problems.say(f"{shown(pattern)} {why}")
        else:
            motors[pattern] = _motor(given, repr(pattern), folder, problems)
    problems.end()
    return motors


def plain_of(motors: Motors, folder: str) -> dict[str, Any]:
    """The plain data that `motors_of` makes the same motors of.

    Args:
        motors: Motors by pattern.
        folder: Absolute path of the folder that paths become relative to.

    Raises:
        TypeError: Something is no motor.
        ValueError: A file cannot hold it; a line for each problem, with its place.
    """
    problems = Problems()
    plain: dict[str, Any] = {}
    for pattern, given in motors.items():
        place = repr(pattern)
        if why := pattern_problem(pattern):
            problems.say(f"{shown(pattern)} {why}")
            continue
        motor = motor_of(given)
        for problem in problems_of(motor, place):
            problems.say(problem)
        known: dict[str, Any] = {}
        for where, stage in places_of(motor):
            written = _plain_config(stage, f"{place}.{where}", folder, problems)
            if KINDS[stage.KIND].many:
                known.setdefault(stage.KIND, []).append(written)
            else:
                known[stage.KIND] = written
        plain[pattern] = known | _plain_fields(motor, place, folder, problems)
    problems.end()
    return plain


def _motor(given: Any, place: str, folder: str, problems: Problems) -> MotorConfig:
    if not isinstance(given, dict):
        problems.say(f"{place} = {shown(given)}: must be a motor. Write controller, clamping and so on below it.")
        return MotorConfig()
    _refuse_unknown(given, [*LAWS, *parameters_of(MotorConfig)], place, problems)
    stages: list[Any] = []
    for kind in LAWS:
        found = given.get(kind)
        # what may be None in Python may be there without a value
        if found is None:
            continue
        if not KINDS[kind].many:
            stages.append(_config(found, kind, f"{place}.{kind}", folder, problems))
        elif isinstance(found, list):
            stages += [_config(one, kind, f"{place}.{kind}[{at}]", folder, problems) for at, one in enumerate(found)]
        else:
            problems.say(f"{place}.{kind} = {shown(found)}: must be a list of {KINDS[kind].words}. Put it into a list.")
    motor = MotorConfig(**parts_of(stage for stage in stages if stage is not None))
    for name, described in parameters_of(MotorConfig).items():
        if given.get(name) is not None:
            setattr(motor, name, _value(given[name], described, f"{place}.{name}", folder, problems))
    return motor


def _config(given: Any, kind: str, place: str, folder: str, problems: Problems) -> Any:
    """The config that a dictionary says, or None where it says none."""
    laws = LAWS[kind]
    if not isinstance(given, dict):
        problems.say(f"{place} = {shown(given)}: must be a {kind}. Write its values by name.")
        return None
    config: type[Any] | None = next(iter(laws.values()))
    if len(laws) > 1:
        law = given.get(LAW)
        config = laws.get(law) if isinstance(law, str) else None
        if config is None:
            said = f"{place}.{LAW} = {shown(law)}" if LAW in given else f"{place} has no {LAW}"
            problems.say(f"{said}: must be one of {', '.join(laws)}. {_meant(law, laws)}")
            return None
    described = parameters_of(config)
    before = len(problems)
    _refuse_unknown(given, [*([LAW] if len(laws) > 1 else []), *described], place, problems)
    for field in dataclasses.fields(config):
        if field.name not in given and field.default is dataclasses.MISSING:
            problems.say(f"{place} has no {field.name}: {described[field.name].rule}. Add it.")
    values = {
        name: _value(given[name], rule, f"{place}.{name}", folder, problems)
        for name, rule in described.items()
        if name in given
    }
    if len(problems) > before:
        return None
    try:
        return config(**values)
    except ValueError as error:
        # what does not fit together
        for line in str(error).splitlines():
            problems.say(f"{place}{line.removeprefix(config.__name__)}")
    return None


def _value(given: Any, described: Parameter, place: str, folder: str, problems: Problems) -> Any:
    """A value as Python has it, of one number or by pattern; what is wrong is said."""
    if isinstance(given, dict) and described.type in ("float", "int"):
        if not given:
            problems.say(f"{place} has no pattern: must have a value for each joint. Give a number, or one by pattern.")
        for pattern in given:
            if why := pattern_problem(pattern):
                problems.say(f"{place}: {shown(pattern)} {why}")
        return {
            pattern: _single(one, described, f"{place}[{shown(pattern)}]", folder, problems)
            for pattern, one in given.items()
        }
    return _single(given, described, place, folder, problems)


def _single(given: Any, described: Parameter, place: str, folder: str, problems: Problems) -> Any:
    value: Any = math.inf if given == "inf" and described.infinite else given
    if why := complaint(place, value, described, of_motor=True):
        problems.say(why)
        return None
    if described.means_joint(value):
        return value
    if described.type == "asset":
        return os.path.normpath(os.path.join(folder, value))
    return float(value) if described.type == "float" else value


def _plain_config(config: Config, place: str, folder: str, problems: Problems) -> dict[str, Any]:
    laws = LAWS[config.KIND]
    if type(config) not in laws.values():
        known = ", ".join(one.__name__ for one in laws.values())
        problems.say(
            f"{place} = {shown(config)}: a file knows {known} only. Use one of these, or hand the motor over in Python."
        )
        return {}
    law = {LAW: law_name(type(config))} if len(laws) > 1 else {}
    return law | _plain_fields(config, place, folder, problems)


def _plain_fields(config: Any, place: str, folder: str, problems: Problems) -> dict[str, Any]:
    """The described fields that are not at their default."""
    described = parameters_of(config)
    defaults = {field.name: field.default for field in dataclasses.fields(config)}
    plain: dict[str, Any] = {}
    for name, rule in described.items():
        value = getattr(config, name)
        if value is None:
            continue
        written = _plain_value(value, rule, f"{place}.{name}", folder, problems)
        if written != defaults[name]:
            plain[name] = written
    return plain


def _plain_value(value: Any, rule: Parameter, place: str, folder: str, problems: Problems) -> Any:
    if rule.type == "asset":
        return _relative(str(value) if isinstance(value, PurePath) else value, folder)
    if rule.type == "float[]":
        return [float(one) for one in value]
    if isinstance(value, Mapping):
        return {pattern: _plain_value(one, rule, place, folder, problems) for pattern, one in value.items()}
    if rule.means_joint(value):
        return value
    if not rule.accepts(value):
        # numbers out of range were told already
        if isinstance(value, list | tuple) or hasattr(value, "shape"):
            problems.say(
                f"{place} = {shown(value)}: a file knows no values per robot. Write one number, or numbers by pattern, "
                "and set what differs in Python."
            )
        return None
    return float(value) if rule.type == "float" else int(value)


def _relative(path: str, folder: str) -> str:
    try:
        return PurePath(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        # on another drive
        return PurePath(os.path.abspath(path)).as_posix()


def _refuse_unknown(given: Mapping[Any, Any], known: list[str], place: str, problems: Problems) -> None:
    for key in given:
        if key not in known:
            problems.say(f"{place} has {shown(key)}: must be one of {', '.join(known)}. {_meant(key, known)}")


def _meant(given: Any, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(given[:100], list(known), n=1, cutoff=0.5) if isinstance(given, str) else []
    return f"Did you mean {close[0]}?" if close else "Use one of these or remove it."
