"""`actuators doctor`: installed versions, the engine, and a self-test of the core."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec

import numpy as np

from ... import native
from ...cores import missing_core
from ...extras import LIBRARIES, install_command
from ...loops.arrays import ActuatedArrays
from ...specs.configs import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from ...version import __version__
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
_STEPS, _ROBOTS, _DT = 50, 37, 0.002
# single precision against double, relative to the largest term
_CLOSE = 1e-5


def answer(arguments: Doctor) -> Answer:
    """Answer `actuators doctor`."""
    tests = list(_tests())
    wrong = any(row["result"] != "passed" for row in tests)
    notes = []
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
        wrong,
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


def _version(name: str, distributions: Mapping[str, list[str]]) -> str:
    """Return the version of an importable package; without pip metadata it has none."""
    for distribution in distributions.get(name, []):
        with contextlib.suppress(PackageNotFoundError):
            return version(distribution)
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
