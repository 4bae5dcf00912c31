"""`actuators doctor`: installed versions, libraries that cannot be used, the engine, and a self-test of the core."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from importlib.util import find_spec
from itertools import chain

import numpy as np

from ...base import native
from ...base.cores import missing_core
from ...base.extras import LIBRARIES, install_command, owners_of, repair_command
from ...base.version import __version__
from ...loops.arrays import ActuatedArrays
from ...specs.configs import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from .answer import Answer, Table
from .arguments import Doctor

# name of the variable that forces an instruction set
_FORCED = "ACTUATORS_ISA"
_PIPELINES = {
    "pd": [PDControlConfig(kp=80.0, kd=2.0), MaxEffortClampingConfig(20.0)],
    "pid": [PIDControlConfig(kp=50.0, ki=10.0, kd=1.0, integral_max=2.0), DelayConfig(3)],
    "motor": [PDControlConfig(kp=80.0, kd=2.0), DCMotorClampingConfig(40.0, 10.0, 25.0)],
    "table": [PDControlConfig(kp=80.0, kd=2.0), PositionBasedClampingConfig([-1.0, 0.0, 1.0], [5.0, 20.0, 5.0])],
}
# modules without which a library is too old
_NEEDED = {"mujoco": "mujoco._specs"}
_MARK = "actuators: "
_IMPORT = f"""
import importlib, json, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        error = ""
    except BaseException as raised:
        words = " ".join(str(raised).split())
        error = f"{{type(raised).__name__}}: {{words:.200}}.".replace("..", ".")
    print("\\n{_MARK}" + json.dumps(error), flush=True)
"""
_STEPS, _ROBOTS, _DT = 50, 37, 0.002
# single precision against double, relative to the largest term
_CLOSE = 1e-5


def answer(arguments: Doctor) -> Answer:
    """Answer `actuators doctor`."""
    tests = list(_tests())
    wrong = any(row["result"] != "passed" for row in tests)
    faults = list(_faults())
    notes = list(faults)
    if native.core is None:
        notes.append(missing_core() or "The native core is present but not loaded: Warp steps instead, slower.")
    what = {"what": "property", "value": "value"}
    test = {"test": "self-test of the core", "result": "result"}
    library = {"library": "library", "version": "version", "extra": "extra", "command": "install"}
    return Answer(
        [
            Table("here", what, list(_here())),
            Table("libraries", library, list(_libraries())),
            Table("tests", test, tests),
        ],
        notes,
        wrong or bool(faults),
    )


def _here() -> Iterator[dict[str, str]]:
    variants = [] if native.core is None else native.core.variants()
    rows = {
        "articulation-actuators": __version__,
        "Python": f"{platform.python_version()}, {sys.executable}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "engine": f"native, {os.environ.get(_FORCED) or variants[0]}" if variants else "Warp",
        "instruction sets": ", ".join(variants) or "none",
    }
    yield from ({"what": what, "value": value} for what, value in rows.items())


def _libraries() -> Iterator[dict[str, str | None]]:
    """Return each library once, with the first extra that includes it."""
    seen: set[str] = set()
    distributions = packages_distributions()
    for name in ("numpy", "warp"):
        yield {"library": name, "version": _version(name, distributions), "extra": None, "command": None}
    for extra, names in LIBRARIES.items():
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            found = _version(name, distributions) if find_spec(name) else None
            command = None if found else install_command(extra)
            yield {"library": name, "version": found, "extra": extra, "command": command}


def _faults() -> Iterator[str]:
    """Yield what is wrong with installed libraries, each a sentence with the command that repairs it."""
    there = [name for name in dict.fromkeys(chain(*LIBRARIES.values())) if find_spec(name)]
    for name, error in _import_errors(there).items():
        yield f"{name} {_version(name, packages_distributions())} cannot be used: {error} Run `{repair_command(name)}`."
    for name in there:
        if len(apart := _apart(owners_of(name))) > 1:
            rule = "must be of one of them, for they overwrite each other"
            yield f"{name} has files of {' and '.join(apart)}: {rule}. Run `{repair_command(name)}`."
    yield from _incomplete(there)


def _incomplete(there: Sequence[str]) -> Iterator[str]:
    """Yield a sentence on each extra of which most libraries are there, with those that it alone brings."""
    extras_with = Counter(chain(*LIBRARIES.values()))
    for extra, names in LIBRARIES.items():
        missing = [name for name in names if name not in there]
        has_own = any(extras_with[name] == 1 for name in names if name in there)
        if missing and has_own and 2 * len(missing) < len(names):
            told = f"The extra {extra} lacks {', '.join(missing)}: all of it must be there"
            yield f"{told}. Run `{install_command(extra)}`."


def _import_errors(names: Sequence[str]) -> dict[str, str]:
    """Return the errors of libraries that cannot be imported, by name; in another process, which one may end."""
    errors: dict[str, str] = {}
    left = list(names)
    while left:
        modules = [_NEEDED.get(name, name) for name in left]
        command = [sys.executable, "-W", "ignore", "-c", _IMPORT, *modules]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = [json.loads(line[len(_MARK) :]) for line in done.stdout.splitlines() if line.startswith(_MARK)]
        errors |= {name: error for name, error in zip(left, told, strict=False) if error}
        left = left[len(told) :]
        if left:
            errors[left.pop(0)] = f"its import ends Python with code {done.returncode}."
    return errors


def _apart(owners: Sequence[str]) -> list[str]:
    """Return the distributions of several that none of the others brings."""
    needed = [one for owner in owners for one in distribution(owner).requires or []]
    brought = {re.split(r"[^\w.-]", one)[0] for one in needed}
    return [owner for owner in owners if owner not in brought]


def _version(name: str, distributions: Mapping[str, list[str]]) -> str:
    """Return the version of an importable package; without pip metadata it has none."""
    for owner in distributions.get(name, []):
        with contextlib.suppress(PackageNotFoundError):
            return version(owner)
    return "present"


def _tests() -> Iterator[dict[str, str]]:
    """Test PD against its equation in double precision, and all instruction sets for bit-identical results."""
    variants: list[str | None] = list(native.core.variants()) if native.core is not None else [None]
    first = {name: _run(name, variants[0]) for name in _PIPELINES}
    q, qd, target = _inputs()
    expected = np.clip(80.0 * (target - q) - 2.0 * qd, -20.0, 20.0)
    largest = float(np.abs(first["pd"] - expected).max())
    engine = variants[0] or "Warp"
    result = "passed" if largest <= _CLOSE * 80.0 else f"failed, {largest:.3g} N·m off"
    yield {"test": f"{engine}: PD with a limit, against its equation", "result": result}
    for other in variants[1:]:
        differ = [name for name in _PIPELINES if not np.array_equal(_run(name, other), first[name])]
        result = f"failed: {', '.join(differ)} differ" if differ else "passed"
        yield {"test": f"{other}: all pipelines, bit-identical to {engine}", "result": result}


def _inputs() -> np.ndarray:
    """Return positions, velocities and targets, shape `(3, steps, robots, joints)`."""
    return np.random.default_rng(1).uniform(-1.5, 1.5, (3, _STEPS, _ROBOTS, 3)).astype(np.float32)


def _run(pipeline: str, variant: str | None) -> np.ndarray:
    """Return the efforts of a pipeline on the inputs of the test."""
    before = os.environ.get(_FORCED)
    try:
        if variant is not None:
            os.environ[_FORCED] = variant
        joints = ActuatedArrays(["hip", "knee", "foot"], {".*": _PIPELINES[pipeline]}, num_robots=_ROBOTS)
    finally:
        os.environ.pop(_FORCED, None)
        if before is not None:
            os.environ[_FORCED] = before
    return np.stack([joints.step(q, qd, target, _DT).copy() for q, qd, target in zip(*_inputs(), strict=True)])
