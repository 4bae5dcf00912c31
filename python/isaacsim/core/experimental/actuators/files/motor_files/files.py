"""Read and write a file of motors; keys are the fields of the configs, laws the names of their classes.

    pattern: {controller: {law, …}, clamping: [{law, …}, …], delay: {…}, armature, friction,
              viscous_friction, intervals: {name: [low, high]}}

and so for every kind of stage, a list if a motor may have several. A number holds for all joints of the pattern; a
dictionary gives numbers by pattern. Infinity may be written "inf". Paths are relative to the folder of the file. Values
with a default may be left out.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from ...base.saving import relative_path, whole_file
from ...laws.contract.catalogue import registered_laws, snake_case
from ...specs.arguments import path_of, require_file
from ...specs.configs import CONFIGS, Config, DelayConfig, ForeignConfig
from ...specs.effort_modes import EffortMode
from ...specs.fields import Parameter, complaint, parameters_of, shown
from ...specs.implicit import ImplicitConfig
from ...specs.motors import MotorConfig, Motors, interval_problems, motor_of, problems_of
from ...specs.patterns import pattern_problem
from ...specs.stages import KINDS, LISTED, parts_of, places_of
from ...specs.transmission import TransmissionConfig
from ..networks import trust
from . import formats


def load_motors(path: str | os.PathLike[str]) -> dict[str, MotorConfig]:
    """Return the motors of a file, by pattern of joint names.

    Args:
        path: A file that ends in .yaml, .yml, .toml or .json. Paths of networks in it are relative to its folder, and
            absolute in what is returned. They lead into its folder or below it, symbolic links resolved, unless
            `allow_checkpoints` permits more or this process saved them. YAML needs the extra `files`.

    Raises:
        ValueError: The content is not motors: a line for each problem, with its place; or one line for a file that is
            no such format, too large, too deep, or has a key twice, a tag or a reference, and for no regular file, as
            a pipe.
        ImportError: The library of the format is missing.
        OSError: The file cannot be read.
    """
    file = path_of("path", path)
    ending = _ending(file)
    require_file(file)
    with file.open("rb") as stream:
        content = stream.read(formats.MAX_BYTES + 1)
    plain = _parsed(content, file, ending)
    try:
        motors = motors_of(plain, _folder(file))
    except ValueError as error:
        raise ValueError("\n".join(f"{file}: {line}" for line in str(error).splitlines())) from None
    own, permitted = os.path.realpath(file.parent), trust.roots()
    if refused := [
        f"{file}: {place} = {path!r}: leads to {real}: must lie in the folder of the motor file, links resolved. Move "
        "the file beside it, or permit its folder by allow_checkpoints."
        for place, path in _named_files(motors)
        if not trust.may_name(real := os.path.realpath(path), own, permitted)
    ]:
        raise ValueError("\n".join(refused))
    return motors


def _named_files(motors: Motors) -> Iterator[tuple[str, str]]:
    for pattern, given in motors.items():
        for where, stage in places_of(motor_of(given)):
            for name, rule in parameters_of(stage).items():
                if rule.type == "asset":
                    yield f"{pattern!r}.{where}.{name}", os.fspath(getattr(stage, name))


def save_motors(path: str | os.PathLike[str], motors: Motors) -> None:
    """Write motors into a file, from which `load_motors` returns the same.

    Nothing is written unless all of it can be. Values at their default are left out.

    Args:
        path: A file that ends in .yaml, .yml, .toml or .json; an existing one is replaced. YAML and TOML need
            the extra `files`.
        motors: Motors, or lists of configs, by pattern of joint names. Paths of networks become relative to the folder
            of the file.

    Raises:
        TypeError: Something is no motor.
        ValueError: A value is out of range, or cannot be in a file: arrays with a value per robot, configs of laws
            that are not the package's own, and more than `load_motors` reads; a line for each problem.
        ImportError: The library of the format is missing.
        OSError: The file cannot be written.
    """
    save_with(path, motors, float)


def save_with(path: str | os.PathLike[str], motors: Motors, number: Callable[[float], float]) -> None:
    """Do what `save_motors` does, with what `number` makes of each number: `shortest` of those of USD files, say."""
    file = path_of("path", path)
    ending = _ending(file)
    content = formats.render(plain_of(motors, _folder(file), number), ending).encode()
    # raises if it could not be read again
    _parsed(content, file, ending)
    with whole_file(file) as written:
        written.write_bytes(content)
    for _, path in _named_files(motors):
        trust.note_named(path)


def _parsed(content: bytes, file: Path, ending: str) -> object:
    if len(content) > formats.MAX_BYTES:
        raise ValueError(
            f"{file}: must be at most {formats.MAX_BYTES} bytes. Leave to Python what differs from robot to robot."
        )
    try:
        return formats.parse(content.decode("utf-8-sig"), ending)
    except ValueError as error:
        raise ValueError(f"{file}: must be {ending[1:].upper()}, but {error}") from None


def _ending(file: Path) -> str:
    ending = file.suffix.lower()
    if ending not in formats.ENDINGS:
        raise ValueError(f"{file}: must end in {', '.join(formats.ENDINGS)}. Rename it.")
    return ending


def _folder(file: Path) -> str:
    return os.path.abspath(file.parent)


LAW, INTERVALS = "law", "intervals"
# laws without a name in files, as those that are the only one of their kind
_UNNAMED: tuple[type[Config], ...] = (DelayConfig, TransmissionConfig)
_PLAIN = {"int": int, "bool": bool, "token": str}
# a file with a hundred problems is no motor file
MAX_PROBLEMS = 100


def law_name(config: type[Config]) -> str:
    """Return the name of a law in files: `dc_motor` of `DCMotorClampingConfig`."""
    return snake_case(config.stem())


# by kind and name
LAWS: dict[str, dict[str, type[Config]]] = {
    kind: {law_name(config): config for config in CONFIGS if config.KIND == kind}
    for kind in sorted({config.KIND for config in CONFIGS}, key=LISTED.index)
}


def is_unnamed(config: type[Config]) -> bool:
    """Return True if a law needs no name in files."""
    return len(LAWS[config.KIND]) == 1 or config in _UNNAMED


class Problems(list[str]):
    """Problems found so far; raises when there are too many."""

    def add(self, problem: str) -> None:
        """Add a problem; a `ValueError` ends too many."""
        self.append(problem)
        if len(self) >= MAX_PROBLEMS:
            self.append(f"and perhaps more: reading ended after {MAX_PROBLEMS} problems.")
            self.end()

    def end(self) -> None:
        """Raise a ValueError of all problems, if there are any."""
        if self:
            raise ValueError("\n".join(self))


def motors_of(plain: object, folder: str) -> dict[str, MotorConfig]:
    """The motors of plain data, with paths relative to an absolute folder.

    A `ValueError` has a line for each problem of anything else, with its place.
    """
    reader = _Reader(folder)
    motors: dict[str, MotorConfig] = {}
    if not isinstance(plain, dict):
        raise ValueError(f"{shown(plain)}: must be motors by pattern of joint names. Write pattern: motor.")
    for pattern, given in plain.items():
        if why := pattern_problem(pattern):
            reader.problems.add(f"{shown(pattern)} {why}")
        else:
            motors[pattern] = reader.motor(given, repr(pattern))
    reader.problems.end()
    return motors


def plain_of(motors: Motors, folder: str, number: Callable[[float], float] = float) -> dict[str, object]:
    """The plain data of which `motors_of` makes the same motors, with paths relative to an absolute folder.

    What `number` makes of each number is in it.

    A `TypeError` names what is no motor; a `ValueError` has a line for each thing that a file cannot hold, with its
    place.
    """
    writer = _Writer(folder, number)
    plain: dict[str, object] = {}
    for pattern, given in motors.items():
        if why := pattern_problem(pattern):
            writer.problems.add(f"{shown(pattern)} {why}")
        else:
            plain[pattern] = writer.motor(motor_of(given), repr(pattern))
    writer.problems.end()
    return plain


class _Reader:
    """Makes motors of plain data, and collects problems; paths are relative to a folder."""

    def __init__(self, folder: str) -> None:
        self.folder, self.problems = folder, Problems()

    def motor(self, given: object, place: str) -> MotorConfig:
        """Return the motor of a pattern."""
        if not isinstance(given, dict):
            self.problems.add(
                f"{place} = {shown(given)}: must be a motor. Write controller, clamping and so on below it."
            )
            return MotorConfig()
        self._refuse_unknown(given, [*LAWS, *parameters_of(MotorConfig), INTERVALS], place)
        # what may be None in Python may be there without a value
        kinds = [kind for kind in LAWS if given.get(kind) is not None]
        stages = itertools.chain(*(self._stages(given[kind], kind, f"{place}.{kind}") for kind in kinds))
        motor = MotorConfig(**parts_of(stages))
        for name, described in parameters_of(MotorConfig).items():
            if given.get(name) is not None:
                setattr(motor, name, self._value(given[name], described, f"{place}.{name}"))
        intervals = given.get(INTERVALS) or {}
        if problems := interval_problems(intervals, f"{place}.{INTERVALS}"):
            self.problems.add("\n".join(problems))
        else:
            motor.intervals = {str(name): (float(low), float(high)) for name, (low, high) in intervals.items()}
        return motor

    def _stages(self, given: object, kind: str, place: str) -> list[Config]:
        if not KINDS[kind].many:
            found = [self._config(given, kind, place)]
        elif isinstance(given, list):
            found = [self._config(one, kind, f"{place}[{at}]") for at, one in enumerate(given)]
        else:
            self.problems.add(f"{place} = {shown(given)}: must be a list of {KINDS[kind].words}. Put it into a list.")
            found = []
        return [stage for stage in found if stage is not None]

    def _config(self, given: object, kind: str, place: str) -> Config | None:
        if not isinstance(given, dict):
            return self._named(given, kind, place)
        if isinstance(law := given.get(LAW), str) and law in (own := registered_laws(kind)):
            return self._own(given, kind, own[law], place)
        config = self._class(given, kind, place)
        if config is None:
            return None
        before = len(self.problems)
        values = self._values(config, given, place)
        if len(self.problems) > before:
            return None
        try:
            return config(**values)
        except ValueError as error:
            # values that do not fit together
            for line in str(error).splitlines():
                self.problems.add(f"{place}{line.removeprefix(config.__name__)}")
        return None

    def _named(self, given: object, kind: str, place: str) -> Config | None:
        """Return the effort mode of a name; nothing else is without values."""
        is_mode = kind == ImplicitConfig.KIND
        if is_mode and given in get_args(EffortMode):
            return None if given == "explicit" else ImplicitConfig(in_engine=given == "in_engine")
        article = "an" if kind[0] in "aeiou" else "a"
        remedy = "implicit or in_engine" if is_mode else "its values by name"
        self.problems.add(f"{place} = {shown(given)}: must be {article} {kind}. Write {remedy}.")
        return None

    def _own(self, given: Mapping[str, Any], kind: str, known: Sequence[str] | None, place: str) -> Config:
        """Return the config of a registered law; its parameters are not known if they are None."""
        values = {name: value for name, value in given.items() if name != LAW}
        self._refuse_unknown(values, list(values if known is None else known), place)
        for name in (name for name in known or () if name not in values):
            self.problems.add(f"{place} has no {name}: {given[LAW]} needs it. Add it.")
        for name, value in values.items():
            if not _is_plain(value):
                self.problems.add(
                    f"{place}.{name} = {shown(value)}: must be a number, text or list of them. Write one."
                )
        return ForeignConfig(given[LAW], kind, values)

    def _values(self, config: Any, given: Mapping[str, object], place: str) -> dict[str, Any]:
        described = parameters_of(config) | getattr(config, "SWITCHES", {})
        self._refuse_unknown(given, [LAW, *described], place, LAWS[config.KIND])
        for field in dataclasses.fields(config):
            if field.name not in given and field.default is dataclasses.MISSING:
                self.problems.add(f"{place} has no {field.name}: {described[field.name].rule}. Add it.")
        there = {name: rule for name, rule in described.items() if name in given}
        return {name: self._value(given[name], rule, f"{place}.{name}") for name, rule in there.items()}

    def _class(self, given: Mapping[str, object], kind: str, place: str) -> type[Config] | None:
        laws = LAWS[kind]
        if LAW not in given and (unnamed := next(filter(is_unnamed, laws.values()), None)):
            return unnamed
        law = given.get(LAW)
        config = laws.get(law) if isinstance(law, str) else None
        if config is None:
            subject = f"{place}.{LAW} = {shown(law)}" if LAW in given else f"{place} has no {LAW}"
            is_own = isinstance(law, str) and law.endswith("API")
            remedy = "Register your own law by --plugin with its Python file." if is_own else _suggestion(law, laws)
            self.problems.add(f"{subject}: must be one of {', '.join([*laws, *registered_laws(kind)])}. {remedy}")
        return config

    def _value(self, given: object, described: Parameter, place: str) -> object:
        """Return a value as Python has it, one or several by pattern."""
        if not (isinstance(given, dict) and described.is_single):
            return self._single(given, described, place)
        if not given:
            self.problems.add(
                f"{place} has no pattern: must have a value for each joint. Give a number, or one by pattern."
            )
        for pattern in given:
            if why := pattern_problem(pattern):
                self.problems.add(f"{place}: {shown(pattern)} {why}")
        return {key: self._single(one, described, f"{place}[{shown(key)}]") for key, one in given.items()}

    def _single(self, given: object, described: Parameter, place: str) -> object:
        value: Any = math.inf if given == "inf" and described.infinite else given
        if why := complaint(place, value, described, of_motor=True):
            self.problems.add(why)
            return None
        if described.means_joint(value):
            return value
        if described.type == "asset":
            return os.path.normpath(os.path.join(self.folder, value))
        return float(value) if described.type == "float" else value

    def _refuse_unknown(
        self, given: Iterable[object], known: list[str], place: str, laws: Mapping[str, type[Config]] | None = None
    ) -> None:
        for key in given:
            if key not in known:
                others = [law for law, config in (laws or {}).items() if key in parameters_of(config)]
                remedy = f"Write law: {others[0]}, which has it." if others else _suggestion(key, known)
                self.problems.add(f"{place} has {shown(key)}: must be one of {', '.join(known)}. {remedy}")


class _Writer:
    """Makes plain data of motors, and collects problems; paths become relative to a folder."""

    def __init__(self, folder: str, number: Callable[[float], float]) -> None:
        self._folder, self._plain, self.problems = folder, _PLAIN | {"float": number}, Problems()

    def motor(self, motor: MotorConfig, place: str) -> dict[str, object]:
        """Return the plain data of a motor."""
        for problem in problems_of(motor, place):
            self.problems.add(problem)
        plain: dict[str, Any] = {}
        for where, stage in places_of(motor):
            written = self._config(stage, f"{place}.{where}")
            if KINDS[stage.KIND].many:
                plain.setdefault(stage.KIND, []).append(written)
            else:
                plain[stage.KIND] = "implicit" if isinstance(stage, ImplicitConfig) and not written else written
        plain |= self._fields(motor, place)
        if motor.intervals:
            plain[INTERVALS] = {name: list(map(self._plain["float"], pair)) for name, pair in motor.intervals.items()}
        return plain

    def _config(self, config: Config, place: str) -> dict[str, object]:
        laws = LAWS[config.KIND]
        if isinstance(config, ForeignConfig) and config.SCHEMA in registered_laws(config.KIND):
            return {LAW: config.SCHEMA} | {
                name: self._own(one, f"{place}.{name}") for name, one in config.values.items()
            }
        if type(config) not in laws.values():
            known = ", ".join(one.__name__ for one in laws.values())
            self.problems.add(
                f"{place} = {shown(config)}: a file knows {known} only. Use one of these, or hand the motor over in "
                "Python."
            )
            return {}
        law = {} if is_unnamed(type(config)) else {LAW: law_name(type(config))}
        return law | self._fields(config, place)

    def _own(self, value: Any, place: str) -> object:
        """Return a value of a law of the user's own."""
        plain = list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
        if not _is_plain(plain):
            self.problems.add(f"{place} = {shown(value)}: a file knows numbers, text and lists of them. Use these.")
        return self._plain["float"](plain) if isinstance(plain, float) else plain

    def _fields(self, config: Any, place: str) -> dict[str, object]:
        described = parameters_of(config)
        # a list of none by default is a tuple
        defaults = {field.name: [] if field.default == () else field.default for field in dataclasses.fields(config)}
        given = {name: value for name in described if (value := getattr(config, name)) is not None}
        plain = {name: self._value(value, described[name], f"{place}.{name}") for name, value in given.items()}
        return {name: value for name, value in plain.items() if value != defaults[name]}

    def _value(self, value: Any, rule: Parameter, place: str) -> object:
        if rule.type == "asset":
            return relative_path(os.fspath(value), self._folder)
        if rule.type in ("float[]", "token[]"):
            return list(map(self._plain[rule.type.removesuffix("[]")], value))
        if isinstance(value, Mapping):
            return {pattern: self._value(one, rule, place) for pattern, one in value.items()}
        if rule.means_joint(value):
            return value
        if rule.accepts(value):
            return self._plain[rule.type](rule.word(value))
        # numbers out of range are problems of the motor
        if hasattr(value, "__len__"):
            self.problems.add(
                f"{place} = {shown(value)}: a file knows no values per robot. Write one number, or numbers by pattern, "
                "and set what differs in Python."
            )
        return None


def _is_plain(value: object) -> bool:
    """Return True if a value of a law of the user's own can be in a file: a number, text, or a list of these."""
    return isinstance(value, bool | int | float | str) or (isinstance(value, list) and all(map(_is_plain, value)))


# words for what a linkage is
_LINKAGES = ("tendon", "cable", "coupling", "differential")


def _suggestion(given: object, known: Iterable[str]) -> str:
    if given in _LINKAGES:
        return f"A {given} is a linkage: write linkage: {{joints: [a, b], coefficients: [1.0, 0.8]}} by the controller."
    # a law or the last of the words in place of its kind: `encoder` or `sensor` for `feedback`
    close = [kind for kind in LAWS if kind in known and (given in LAWS[kind] or given == KINDS[kind].words.split()[-1])]
    if isinstance(given, str):
        close += difflib.get_close_matches(given[:100], list(known), n=1, cutoff=0.5)
    return f"Did you mean {close[0]}?" if close else "Use one of these or remove it."
