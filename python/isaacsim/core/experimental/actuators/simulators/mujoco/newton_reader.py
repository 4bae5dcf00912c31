"""A robot file as newton reads it: the model of its MuJoCo solver, as MJCF that MuJoCo's host simulates.

Joints and bodies have the last part of their labels as names, as in this package. Only this module of the hosts knows
newton.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import functools
import logging
import os
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np
import warp as wp

from ...base.errors import HostError
from ...base.extras import needs
from ...base.quiet_warp import quiet_warp
from ...specs.arguments import DEFAULT_DT
from .warp_host import mujoco_warp_for

_SUBJECT = "engine = 'newton'"
# method of newton's builder by ending; all others are USD
_READERS = {".xml": "add_mjcf", ".mjcf": "add_mjcf", ".urdf": "add_urdf"}
# newton's limit of a joint without one is as large as this, or larger [rad, m]
_NO_RANGE = 1e9
# newton and its solver fail with these where a file or a version does not fit
_FAILURES = (ArithmeticError, AttributeError, ImportError, LookupError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class NewtonReading:
    """A robot file as newton reads it: the model of its MuJoCo solver, and the initial positions of axes by name.

    The physics step `dt` [s] is that of an MJCF file, and 1/240 otherwise: newton's models have none.
    """

    mjcf: str
    dt: float
    positions: Mapping[str, float]

    @contextmanager
    def as_file(self, name: str) -> Iterator[Path]:
        """Write the model into a file of that name, without ending, which is gone after the `with` block."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{name}.xml")
            path.write_text(self.mjcf, "utf-8")
            yield path


def read_by_newton(file: str | os.PathLike[str]) -> NewtonReading:
    """A robot file, USD, MJCF or URDF, as newton reads it, once.

    A `FileNotFoundError` says that there is none, a `HostError` that newton, mujoco_warp or a version does not fit.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file. Give the path of a USD, MJCF or URDF file.")
    return _read(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> NewtonReading:
    mujoco_warp_for(_SUBJECT)
    with needs(_SUBJECT, "newton", HostError), quiet_warp():
        import newton
    with _quiet(), wp.ScopedDevice("cpu"), tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "model.xml")
        try:
            model, solver = _opened(newton, path, saved)
            return _reading(path, solver, _names(model), saved.read_text("utf-8"))
        except _FAILURES as error:
            raise HostError(
                f"{path}: newton {newton.__version__} makes no model of MuJoCo {mujoco.__version__} of it: {error} Use "
                "engine='mujoco', or install versions of newton and MuJoCo that fit together."
            ) from error


def _opened(newton: ModuleType, path: Path, saved: Path) -> tuple[Any, Any]:
    """Newton's model of a file, and its solver, which saves its own model."""
    builder, solver = newton.ModelBuilder(), newton.solvers.SolverMuJoCo
    # else attributes of MuJoCo in the file are ignored
    solver.register_custom_attributes(builder)
    getattr(builder, _method(path))(str(path))
    model = builder.finalize(device="cpu")
    return model, solver(model, use_mujoco_cpu=True, save_to_mjcf=str(saved))


def _names(model: object) -> dict[str, str]:
    """Our names of joints and bodies by those in MuJoCo's model; two of the same name stay as they are."""
    found: dict[str, str] = {}
    for labels in (model.joint_label, model.body_label):
        last = {label: label.rpartition("/")[2] for label in labels}
        often = Counter(last.values())
        found |= {label.replace("/", "_"): name for label, name in last.items() if often[name] == 1}
    return found


def _reading(path: Path, solver: object, names: Mapping[str, str], xml: str) -> NewtonReading:
    """The model of the solver with other names, and with what its file lacks: stops, and what has no limit."""
    model, positions = solver.mj_model, {}
    spec = mujoco.MjSpec.from_string(re.sub('(?<==")[^"]*(?=")', lambda one: names.get(one[0], one[0]), xml))
    for number in np.argsort(solver.mjc_jnt_to_newton_dof.numpy()[0], kind="stable"):
        own = model.joint(number).name
        joint = spec.joint(names.get(own, own))
        if joint.type not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            continue
        # give a joint of the file what only the model has; infinite limits of a file cannot be read
        joint.solref_limit = model.jnt_solref[number]
        if not np.isfinite(model.jnt_actfrcrange[number]).all():
            joint.actfrclimited, joint.actfrcrange = mujoco.mjtLimited.mjLIMITED_FALSE, [0, 0]
        if np.abs(model.jnt_range[number]).min() > _NO_RANGE:
            joint.limited, joint.range = mujoco.mjtLimited.mjLIMITED_FALSE, [0, 0]
        lower, upper = model.jnt_range[number] if model.jnt_limited[number] else (-np.inf, np.inf)
        # newton lets joints begin outside, from where physics pushes them back
        positions[joint.name] = float(np.clip(solver.mj_data.qpos[model.jnt_qposadr[number]], lower, upper))
    spec.compile()
    return NewtonReading(spec.to_xml(), _step_of(path), positions)


def _step_of(path: Path) -> float:
    """Physics step of an MJCF file, which newton leaves out, or the usual one."""
    is_mjcf = _method(path) == "add_mjcf"
    return mujoco.MjSpec.from_file(str(path)).option.timestep if is_mjcf else DEFAULT_DT


def _method(path: Path) -> str:
    return _READERS.get(path.suffix.lower(), "add_usd")


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress messages that nothing is lost by: of saved models, and of versions, whose misfit is an error here."""
    log = logging.getLogger("newton")
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        with quiet_warp(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "MuJoCo dependency version mismatch")
            yield
    finally:
        log.setLevel(before)
