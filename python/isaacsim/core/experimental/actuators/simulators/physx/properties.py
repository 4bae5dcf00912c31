"""Per-DOF properties of a running scene: by their names here, with what PhysX does not do itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import numpy as np

from ...base.errors import HostError
from .scene import PhysxScene

_COLUMNS = {
    "armatures": "jointArmature",
    "max_velocities": "jointMaxVelocity",
    "static_frictions": "jointStaticFriction",
    "dynamic_frictions": "jointDynamicFriction",
    "viscous_frictions": "jointViscousFriction",
}
# what bounds a drive, and what lifts the bound
_BOUNDS = {
    "max_efforts": ("jointMaxForce", np.inf),
    "speed_effort_gradients": ("jointSpeedEffortGradient", 0.0),
    "max_actuator_velocities": ("jointMaxActuatorVelocity", np.inf),
    "velocity_dependent_resistances": ("jointVelocityDependentResistance", 0.0),
}
_LIMITS = ("lower_limits", "upper_limits")
# in whatever unit
_NO_LIMIT = 1e36
_FRICTIONS = ("static_frictions", "dynamic_frictions")


class SceneProperties:
    """Properties of all axes of a scene, flat, SI, ±inf for no limit; `authored` returns a stage's, NaN for none."""

    def __init__(self, scene: PhysxScene, authored: Callable[[str], np.ndarray]) -> None:
        self._scene = scene
        self._sent: dict[str, bytes] = {}
        # read in every step where laws need inertias, and a read costs more than such a step
        self._armatures: np.ndarray | None = None
        # what steps have besides
        self._added: np.ndarray | None = None
        columns = [column for column, _ in _BOUNDS.values()]
        kinds, limits, *bounds = scene.read("jointDriveType", "jointLimit", *columns)
        self._bounds = dict(zip(_BOUNDS, bounds, strict=True))
        # a joint without a drive gets one whose gains are zero
        self._bounds["max_efforts"][kinds == 0] = np.inf
        scene.write({"jointDriveType": np.maximum(kinds, 1)})
        # PhysX cannot limit these
        self._free = np.isinf(limits).all(axis=1)
        self._take_what_is_not_read(authored, limits)

    def read(self, name: str) -> np.ndarray:
        """A property in force."""
        if name in _BOUNDS:
            return self._bounds[name].copy()
        if name in _LIMITS:
            return self._scene.read("jointLimit")[0][:, _LIMITS.index(name)]
        if name == "armatures":
            if self._armatures is None:
                (self._armatures,) = self._scene.read(_COLUMNS[name])
            return self._armatures.copy()
        return self._scene.read(_COLUMNS[name])[0]

    def write(self, values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
        """Set properties at some places, all or, with a `HostError` of PhysX, none; `write_drives` is to follow."""
        after = {name: self._with(name, values[name], at) for name in values}
        self._require_limits(after)
        frictions = self._frictions(after)
        columns = {_COLUMNS[name]: column for name, column in after.items() if name in _COLUMNS}
        if frictions is not None:
            # the dynamic friction must never exceed the static one, between the writes included
            static, dynamic = frictions
            self._scene.write({"jointStaticFriction": np.maximum(static, self.read("static_frictions"))}, at)
            columns.pop("jointStaticFriction", None)
            columns |= {"jointDynamicFriction": dynamic, "jointStaticFriction": static}
        if not after.keys().isdisjoint(_LIMITS):
            columns["jointLimit"] = np.stack([after.get(name, self.read(name)) for name in _LIMITS], axis=1)
        if columns:
            self._write_sums(columns, at)
        self._bounds |= {name: column for name, column in after.items() if name in _BOUNDS}

    def _write_sums(self, columns: dict[str, np.ndarray], at: np.ndarray) -> None:
        """Write columns at some places, armatures with what steps have besides."""
        own = columns.get(_COLUMNS["armatures"])
        if own is not None and self._added is not None:
            columns[_COLUMNS["armatures"]] = own + self._added
        self._scene.write(columns, at)
        if own is not None:
            # PhysX has the sum, or is read for its rounding
            self._armatures = None if self._added is None else own

    def add_armatures(self, values: np.ndarray, at: np.ndarray) -> None:
        """Add to the armatures in the steps to come at some places; as they are read, they are without that."""
        own = self.read("armatures")
        added = np.zeros_like(own) if self._added is None else self._added
        added[at] = values
        self._added = added
        self._scene.write({_COLUMNS["armatures"]: own + added}, at)

    def write_drives(self, stiffnesses: np.ndarray, dampings: np.ndarray) -> None:
        """Set the gains of the drives, and the bounds of those that are on: PhysX bounds drive and effort together."""
        off = (stiffnesses == 0) & (dampings == 0)
        bounds = {column: np.where(off, none, self._bounds[name]) for name, (column, none) in _BOUNDS.items()}
        wanted = {"jointStiffness": stiffnesses, "jointDamping": dampings, **bounds}
        # bounds change rarely, and cost much more than gains
        now = {column: values.tobytes() for column, values in wanted.items()}
        if changed := {column: wanted[column] for column in wanted if self._sent.get(column) != now[column]}:
            self._scene.write(changed)
        self._sent = now

    def _with(self, name: str, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """All values of a property, some of them set."""
        column = self.read(name)
        column[at] = values
        return column

    def _take_what_is_not_read(self, authored: Callable[[str], np.ndarray], limits: np.ndarray) -> None:
        """Set what the stage authors and PhysX did not take from there."""
        static, dynamic = (authored(name) for name in _FRICTIONS)
        if (low := np.flatnonzero(static < dynamic)).size:
            warnings.warn(
                f"static friction {static[low[0]]:g} < dynamic friction {dynamic[low[0]]:g} of "
                f"<{self._scene.joints[low[0]]}>: engine 'physx' needs it to be >= and takes the dynamic one for both. "
                "Correct the stage.",
                stacklevel=2,
            )
        wanted = {name: authored(name) for name in (*_COLUMNS, *_BOUNDS)}
        wanted["static_frictions"] = np.fmax(static, dynamic)
        # an authored 0 means no limit, but would lock the joint in PhysX
        wanted["max_velocities"] = np.nan_to_num(wanted["max_velocities"], nan=np.inf, posinf=np.inf)
        for name, values in wanted.items():
            # some files use the largest float32 for no limit
            values = np.where(values > _NO_LIMIT, np.inf, values)
            found = self.read(name)
            if (places := np.flatnonzero(~np.isnan(values) & ~np.isclose(found, values, rtol=1e-5))).size:
                self.write({name: values[places]}, places)
        ends = [np.nan_to_num(authored(name), nan=none) for name, none in zip(_LIMITS, (-np.inf, np.inf), strict=True)]
        # with one limit alone, PhysX locks the axis
        if (places := np.flatnonzero(np.isinf(ends[0]) != np.isinf(ends[1]))).size:
            limits[places] = np.stack(ends, axis=1)[places]
            self._scene.write({"jointLimit": limits}, places)

    def _require_limits(self, after: Mapping[str, np.ndarray]) -> None:
        for name in _LIMITS:
            if name in after and (wrong := np.flatnonzero(self._free & np.isfinite(after[name]))).size:
                raise HostError(
                    f"set_dof_limits: <{self._scene.joints[wrong[0]]}> had no limits at play(), and engine 'physx' "
                    "cannot give it any while it runs. Set them before play(), however wide."
                )

    def _frictions(self, after: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
        """Static and dynamic frictions, checked; None where neither is set."""
        if after.keys().isdisjoint(_FRICTIONS):
            return None
        static, dynamic = (after.get(name, self.read(name)) for name in _FRICTIONS)
        if (wrong := np.flatnonzero(static < dynamic)).size:
            raise HostError(
                f"set_dof_friction_properties: static friction {static[wrong[0]]:g} < dynamic friction "
                f"{dynamic[wrong[0]]:g} of <{self._scene.joints[wrong[0]]}>: engine 'physx' needs it to be >=. "
                "Give both, or a greater static one."
            )
        return static, dynamic
