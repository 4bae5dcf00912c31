"""Groups from a file of Python, as Isaac Lab has its robots and `actuators export --to lab` writes: read, not run."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...specs.arguments import path_of, require_file
from . import cfgs as known_cfgs
from .kinds import MODELS
from .python_text import Imported, Record, Unread, problem, read_python
from .resolve import LATER

_ACTUATORS, _MODEL = "actuators", "class_type"
_CLASSES = (*MODELS, "BamMotorCfg")
_PATHS = {"network_file"}
# values in one file of cfgs
_MOST = 1_000_000


def load_groups(path: str | os.PathLike[str], name: str | None = None) -> dict[str, known_cfgs.ActuatorBaseCfg]:
    """Return the groups of a robot of Isaac Lab from the file of Python that defines it, as our cfgs by name.

    The file is read and never run: it may have constants, arithmetic of numbers, `math.pi` and such, dictionaries,
    lists, copies with `copy()` and `replace()`, and assignments to fields. Nothing of Isaac Lab needs to be installed.

    Args:
        path: Path of the file.
        name: Name in it of an `ArticulationCfg`, of a dictionary of actuator cfgs, or of one such cfg; None means the
            only `ArticulationCfg`, or the only dictionary where there is none.

    Returns:
        Cfgs by name of the group, for `ArticulationActuators.from_groups` and `to_usd`; where a limit has its name of
        3.0, all have the rules of 3.0. Relative paths of networks are
        those from the folder of the file, as in motor files.

    Raises:
        ValueError: A value that cannot be read, with its line; a field or class that is not known; no robot, or several
            where `name` is None.
        FileNotFoundError: There is no such file.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from isaacsim.core.experimental.actuators.compat.isaac_lab import load_groups
        >>> text = "KP = 20.0\\nLEGS = {'leg': ImplicitActuatorCfg(joint_names_expr=['.*'], stiffness=KP, damping=1)}"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = Path(folder, "leg.py").write_text(text)
        ...     load_groups(Path(folder, "leg.py"))["leg"].stiffness
        20.0
    """
    file = Path(path_of("path", path))
    require_file(file)
    return _Maker(file).groups(read_python(file), name)


class _Maker:
    def __init__(self, file: Path) -> None:
        self._file, self._left = file, _MOST

    def groups(self, values: Mapping[str, object], name: str | None) -> dict[str, known_cfgs.ActuatorBaseCfg]:
        """Return the groups of a robot by its name."""
        subject, found = self._chosen(values, name)
        if isinstance(found, Record) and _ACTUATORS in found.fields:
            subject, found = f"{subject}.{_ACTUATORS}", found.fields[_ACTUATORS]
        if isinstance(found, Record) and found.kind in MODELS:
            found = {subject: found}
        self._require_read(found)
        if not isinstance(found, dict):
            raise self._error(f"{subject} = {_shown(found)}", "must be a dictionary of actuator cfgs. Give another.")
        made = {self._group(group): self._cfg(subject, group, cfg) for group, cfg in found.items()}
        # one name of 3.0 tells the version of all
        rules = next(filter(None, (cfg.rules for cfg in made.values())), None)
        return {group: cfg.replace(rules=rules) for group, cfg in made.items()} if rules else made

    def _chosen(self, values: Mapping[str, object], name: str | None) -> tuple[str, object]:
        robots = _unique(values, lambda one: isinstance(one, Record) and _ACTUATORS in one.fields)
        robots = robots or _unique(values, _are_cfgs)
        if name is not None:
            if name in values:
                return name, values[name]
            raise self._error(f"has no {name}", f"must be a name in the file. Robots there are {_list(robots)}.")
        if len(robots) != 1:
            what = f"has {len(robots)} robots, {_list(robots)}" if robots else "has no robot"
            remedy = "Give the name of one: FILE.py:NAME." if robots else "Give the file that defines it."
            raise self._error(what, f"must have one ArticulationCfg, or one dictionary of actuator cfgs. {remedy}")
        return robots[0], values[robots[0]]

    def _group(self, name: object) -> str:
        if isinstance(name, str):
            return name
        raise self._error(f"group {name!r:.80}", "must have a text as its name. Correct it.")

    def _cfg(self, subject: str, group: str, cfg: object) -> known_cfgs.ActuatorBaseCfg:
        self._require_read(cfg)
        if isinstance(cfg, Record) and cfg.kind in MODELS:
            return self._made(cfg)
        raise self._error(
            f"{subject}[{group!r}] = {_shown(cfg)}", f"must be one of {', '.join(MODELS)}. Give one of these."
        )

    def _made(self, record: Record) -> Any:
        where = f"line {record.line}: {record.kind}"
        known = self._known_fields(where, record)
        given = {name: self._plain(f"{where}: {name}", value) for name, value in record.fields.items()}
        needed = {name for name, field in known.items() if field.default is dataclasses.MISSING}
        if missing := [name for name in known if name in needed.difference(given)]:
            raise self._error(f"{where} lacks {', '.join(missing)}", "must be given. Add it.")
        given |= {name: self._absolute(given[name]) for name in _PATHS & given.keys()}
        if LATER.keys() & given.keys():
            given["rules"] = "3.0"
        return known_cfgs.of_fields(record.kind, given)

    def _known_fields(self, where: str, record: Record) -> dict[str, dataclasses.Field[object]]:
        """Return the fields of the class of a call by name, among which are all that the call gives."""
        if record.kind not in _CLASSES:
            raise self._error(where, f"must be one of {', '.join(_CLASSES)}. Write the values in its place.")
        known = {field.name: field for field in dataclasses.fields(getattr(known_cfgs, record.kind))}
        if unknown := [name for name in record.fields if name not in known]:
            raise self._error(
                f"{where} has {', '.join(unknown)}", f"must have fields of {', '.join(known)}. Correct it."
            )
        return known

    def _absolute(self, path: object) -> object:
        if isinstance(path, str) and "://" not in path:
            return os.path.join(os.path.abspath(self._file.parent), path)
        return path

    def _plain(self, where: str, value: object) -> Any:
        self._left -= 1
        if self._left < 0:
            raise self._error("its cfgs", f"must have {_MOST} values at most. Give a smaller file.")
        self._require_read(value)
        if isinstance(value, Record):
            return self._made(value)
        if isinstance(value, Imported):
            if not where.endswith(f": {_MODEL}"):
                raise self._error(
                    f"{where} = {value.name}", "must not be of another file. Write the value in its place."
                )
            # as later versions write classes
            return ":".join(value.name.rpartition(".")[::2])
        if isinstance(value, dict):
            return {key: self._plain(where, one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(where, one) for one in value]
        return value

    def _require_read(self, value: object) -> None:
        if isinstance(value, Unread):
            raise ValueError(problem(self._file, value))

    def _error(self, what: str, rule: str) -> ValueError:
        return ValueError(f"{self._file}: {what}: {rule}")


def _are_cfgs(value: object) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return all(isinstance(one, Record) and one.kind in MODELS for one in value.values())


def _unique(values: Mapping[str, object], is_one: Callable[[object], bool]) -> list[str]:
    found = {id(one): name for name, one in reversed(list(values.items())) if is_one(one)}
    return list(reversed(found.values()))


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _shown(value: object) -> str:
    if isinstance(value, Record):
        return f"{value.name}(…)"
    return value.name if isinstance(value, Imported) else f"{type(value).__name__}"
