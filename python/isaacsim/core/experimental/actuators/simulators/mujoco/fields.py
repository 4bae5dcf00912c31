"""Fields of MuJoCo's model, which differ between environments once they are set, and the properties they hold.

Dry friction is a constraint that gives way:

    v = τ·A·(1 − d)/d · d′·T/2      velocity at which a joint creeps whose friction withstands an effort τ [N·m or N]

`d` and `d′` begin its solimp, `T` [s] begins its solref, and `A` is the joint's inverse inertia, `dof_invweight0`. With
MuJoCo's defaults, d = 0.9, d′ = 0.95 and T = 20 ms, an arm creeps by some milliradians a second, however large its
friction is. Hard friction has d = d′ = 0.9999 and a T of two physics steps, the shortest that MuJoCo takes.
Source: MuJoCo documentation, "Computation", Constraint model.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import HostError
from .address import LOCKED, NO_FORCE, OPEN_END, AxisAddress, Fields, mujoco

if TYPE_CHECKING:
    from .simulations import Batch


# fields of one number per DOF, and the properties they are
_PER_DOF = {
    "armatures": "dof_armature",
    "static_frictions": "dof_frictionloss",
    "dynamic_frictions": "dof_frictionloss",
    "viscous_frictions": "dof_damping",
}
# fields with the armature in them; from the latter MuJoCo takes the inertia of bodies with the center on their joint
_WITH_ARMATURE = ("dof_armature", "dof_M0")
_LIMITS = {"lower_limits": 0, "upper_limits": 1}
KNOWN = (*_PER_DOF, *_LIMITS, "max_efforts")
# fields that constants of the model are computed from
CONSTANTS = ("dof_armature", "body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos", "body_iquat")
# constants that equations of motion are computed with
_OF_BODIES = (*CONSTANTS, "body_subtreemass", "dof_M0")


class ModelFields(Fields):
    """The fields of a batch by environment: those of the model it was made of until one is written."""

    def __init__(self, model: mujoco.MjModel, batch: Batch) -> None:
        self._model, self._batch = model, batch
        self._own: dict[str, np.ndarray] = {}
        self.added: np.ndarray | None = None
        """Armatures that joints have in the steps to come besides their own, `(environments, velocities)`, or None."""
        self.added_to_tendons: np.ndarray | None = None
        """The same of tendons, `(environments, tendons)`, or None."""
        # MuJoCo's arrays, with the sums
        self._stepped: dict[str, np.ndarray] = {}

    def read(self, name: str) -> np.ndarray:
        """Values of a field, an environment a row; not to be written."""
        return self._own[name] if name in self._own else self.former(name)

    def former(self, name: str) -> np.ndarray:
        """Values of a field before anything was written: those of the model."""
        value = np.asarray(operator.attrgetter(name)(self._model))
        return np.broadcast_to(value, (self._batch.nsim, *value.shape))

    def differs(self, name: str) -> bool:
        """Return True if environments have different values."""
        return name in self._own

    def own(self, name: str) -> np.ndarray:
        """Values of a field by environment, to be written; then call `written`."""
        if name not in self._own:
            self._own[name] = self._batch.expand(name)
        return self._own[name]

    def written(self, name: str, envs: np.ndarray | slice) -> None:
        """Update the model's constants after a field was written."""
        if name in CONSTANTS:
            self._set_constants(None if isinstance(envs, slice) else np.unique(envs))

    def add_armatures(self, envs: np.ndarray, columns: np.ndarray, values: np.ndarray) -> bool:
        """Add to the armatures of joints from now on, but not to the fields as read; return True the first time."""
        is_first = self.added is None
        if self.added is None:
            self._stepped = {name: self.own(name) for name in _WITH_ARMATURE}
            self._own |= {name: values.copy() for name, values in self._stepped.items()}
            self.added = np.zeros_like(self._stepped[_WITH_ARMATURE[0]])
        self.added[envs, columns] = values
        self._write_sums()
        return is_first

    def add_tendon_armatures(self, envs: np.ndarray, tendons: np.ndarray, values: np.ndarray) -> bool:
        """Let tendons have these armatures besides their own, as `add_armatures` does."""
        is_first = self.added_to_tendons is None
        if self.added_to_tendons is None:
            self.added_to_tendons = np.zeros((self._batch.nsim, self._model.ntendon))
            self._batch.expand("tendon_armature")
        self.added_to_tendons[envs, tendons] = values
        self._write_sums()
        return is_first

    def _write_sums(self) -> None:
        if self.added_to_tendons is not None:
            self._batch.expand("tendon_armature")[:] = self._model.tendon_armature + self.added_to_tendons
        for name, stepped in self._stepped.items():
            stepped[:] = self._own[name] + self.added

    def _set_constants(self, envs: np.ndarray | None = None) -> None:
        """Have MuJoCo compute its constants, of joints with the armatures of their own."""
        for name, stepped in self._stepped.items():
            stepped[:] = self._own[name]
        if self.added_to_tendons is not None:
            self._batch.expand("tendon_armature")[:] = self._model.tendon_armature
        self._batch.set_const(envs)
        for name, stepped in self._stepped.items():
            self._own[name][:] = stepped
        self._write_sums()

    def restore_bases(self, envs: np.ndarray) -> np.ndarray:
        """Put fixed bases back to where the stage has them; return the environments in which one was elsewhere."""
        elsewhere = np.zeros(len(envs), bool)
        for name in ("body_pos", "body_quat"):
            if name in self._own:
                authored, rows = getattr(self._model, name), self._own[name][envs]
                # constants that follow from it take their time
                here = (rows != authored).any(axis=(1, 2))
                if (moved := envs[here]).size:
                    self._own[name][moved] = authored
                    self.written(name, moved)
                    elsewhere |= here
        return envs[elsewhere]

    def copy_to(self, other: ModelFields) -> None:
        """Give other simulations of the same model the same fields."""
        for name, values in self._own.items():
            other.own(name)[:] = values
        other.hardened[:] = self.hardened
        if not self._own.keys().isdisjoint(CONSTANTS):
            other._set_constants()
        if self.added is not None:
            count, width = self.added.shape
            other.add_armatures(np.arange(count)[:, None], np.arange(width), self.added)
        if self.added_to_tendons is not None:
            count, width = self.added_to_tendons.shape
            other.add_tendon_armatures(np.arange(count)[:, None], np.arange(width), self.added_to_tendons)

    def bodies_to(self, other: Batch) -> None:
        """Give other simulations of the same bodies their masses, inertias, places and armatures."""
        for name in _OF_BODIES:
            if self._batch.expanded(name) is not None:
                other.expand(name)[:] = self.constant(name)

    @property
    def has_own_bodies(self) -> bool:
        """True once masses, inertias, places or armatures of environments were set."""
        return any(self._batch.expanded(name) is not None for name in _OF_BODIES)

    def constant(self, name: str) -> np.ndarray:
        """Values of a constant that MuJoCo computes of other fields, an environment a row; not to be written."""
        values = self._own[name] if name in self._stepped else self._batch.expanded(name)
        return self.former(name) if values is None else values


def read_property(fields: Fields, at: AxisAddress, name: str) -> np.ndarray:
    """A property of all axes, an environment a row; ±inf is no limit."""
    if name in _PER_DOF:
        return fields.read(_PER_DOF[name])[:, at.velocity]
    if name == "max_efforts":
        bound = fields.read("jnt_actfrcrange")[:, at.joint, 1]
        bound = np.where(bound <= NO_FORCE, 0.0, bound)
        return np.where(fields.read("jnt_actfrclimited")[:, at.joint], bound, np.inf)
    bounds = fields.read("jnt_range")[:, at.joint]
    values = np.where(np.ptp(bounds, axis=2) <= 2.1 * LOCKED, bounds.mean(axis=2), bounds[..., _LIMITS[name]])
    limited = fields.read("jnt_limited")[:, at.joint] & (np.abs(values) < OPEN_END)
    return np.where(limited, values, np.copysign(np.inf, _LIMITS[name] - 0.5))


def write_properties(
    fields: Fields, at: AxisAddress, values: Mapping[str, np.ndarray], envs: np.ndarray | slice, axes: np.ndarray
) -> None:
    """Set properties of some axes of some environments: `fields[envs, axes]` are of the shape of the values."""
    _require_writable(values)
    # two names of dry friction are one field
    for field, given in {field: values[name] for name, field in _PER_DOF.items() if name in values}.items():
        if field == "dof_frictionloss":
            follow_friction(fields, at, given, envs, axes)
        place = envs, at.velocity[axes]
        former = fields.former(field)[place]
        # the model's own value comes back to the bit, in double precision
        fields.own(field)[place] = np.where(former.astype(np.float32) == given, former, given)
        fields.written(field, envs)
    joints = at.joint[axes]
    if "max_efforts" in values:
        bound = np.clip(values["max_efforts"].astype(float), NO_FORCE, np.finfo(float).max)
        fields.own("jnt_actfrcrange")[envs, joints] = np.stack([-bound, bound], axis=-1)
        fields.own("jnt_actfrclimited")[envs, joints] = np.isfinite(values["max_efforts"])
    if not _LIMITS.keys().isdisjoint(values):
        lower, upper = (
            np.clip(values[name].astype(float), -OPEN_END, OPEN_END)
            if name in values
            else np.clip(read_property(fields, at, name)[envs, axes], -OPEN_END, OPEN_END)
            for name in _LIMITS
        )
        # MuJoCo wants limits apart
        apart = np.where(upper - lower < 2 * LOCKED, LOCKED, 0.0)
        fields.own("jnt_range")[envs, joints] = np.stack([lower - apart, upper + apart], axis=-1)
        fields.own("jnt_limited")[envs, joints] = (lower > -OPEN_END) | (upper < OPEN_END)


def _require_writable(values: Mapping[str, np.ndarray]) -> None:
    """Raise for properties that MuJoCo does not have, and for two dry frictions."""
    if unknown := [name for name in values if name not in KNOWN]:
        what = ", ".join(name.replace("_", " ") for name in unknown)
        raise HostError(
            f"{what}: MuJoCo does not have them. Author them while physics is stopped, for other simulators, or use "
            "engine='physx'."
        )
    both = [values[name] for name in ("static_frictions", "dynamic_frictions") if name in values]
    if len(both) == 2 and both[0] is not both[1] and (both[0] != both[1]).any():
        place = tuple(np.argwhere(both[0] != both[1])[0])
        raise HostError(
            f"static friction {both[0][place]:g} with dynamic friction {both[1][place]:g}: MuJoCo has one dry "
            "friction. Give the same values for both, or one of them alone."
        )


_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)


def hard(dt: float) -> dict[str, Sequence[float]]:
    """Return solref and solimp of hard friction at a physics step [s]."""
    return {"solref": (2 * dt, 1.0), "solimp": _SOLIMP}


def follow_friction(
    fields: Fields, at: AxisAddress, friction: np.ndarray, envs: np.ndarray | slice, axes: np.ndarray
) -> None:
    """Make frictions `fields[envs, axes]` hard that are about to be set; a model's own becomes as soft as it was.

    What a model has other than MuJoCo's defaults was chosen, and stays, as does what `harden` made hard.
    """
    if fields.unchosen is None:
        return
    place = envs, at.velocity[axes]
    unchosen = fields.unchosen[place]
    is_set = fields.former("dof_frictionloss")[place].astype(np.float32) != friction
    becomes = unchosen & (is_set | fields.hardened[place])
    if not np.array_equal(becomes, unchosen & _are_hard(fields)[place]):
        for name, values in hard(fields.dt).items():
            former = fields.former(f"dof_{name}")[place]
            fields.own(f"dof_{name}")[place] = np.where(becomes[..., None], values, former)


def harden(fields: Fields, at: AxisAddress, on: bool, envs: np.ndarray | slice, axes: np.ndarray) -> None:
    """Keep the frictions of some axes hard, whatever they are, or end that; arguments as for `follow_friction`."""
    place = envs, at.velocity[axes]
    fields.hardened[place] = on
    follow_friction(fields, at, fields.read("dof_frictionloss")[place].astype(np.float32), envs, axes)


def follow_step(fields: Fields) -> None:
    """Let friction that was set be hard at the physics step of now."""
    if fields.unchosen is not None and (hardened := fields.unchosen & _are_hard(fields)).any():
        fields.own("dof_solref")[hardened] = hard(fields.dt)["solref"]


def _are_hard(fields: Fields) -> np.ndarray:
    return fields.read("dof_solimp")[..., 0] == _SOLIMP[0]
