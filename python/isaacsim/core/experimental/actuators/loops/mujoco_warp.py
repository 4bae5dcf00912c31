"""`ActuatedWorlds`: actuators on the worlds of mujoco_warp, in its loop. mujoco_warp is not imported.

It has no disabled groups of actuators, so those of the model lose gain and bias and are limited to force 0, which its
implicit integrators respect. As with groups, armature and damping that an actuator adds to its joint remain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from ..base.memory import Tensor
from ..base.untraced import untraced
from ..base.values import ArrayLike
from ..engine.step.binding import Columns
from ..laws.contract.coupling import coupled_inertias, inverses_of
from ..simulators.binding import taken_on_device
from ..simulators.mujoco.fields import hard
from ..simulators.mujoco.joint_signals import mass_entries, mass_matrix_at_start
from ..simulators.mujoco.model_actuators import own_actuators
from ..simulators.mujoco.switches import WITHOUT_FORCE
from ..simulators.port import nothing
from ..specs.effort_modes import EffortModes
from ..specs.signals import INERTIAS
from .actuated import Actuated, AnyMotors, Changes
from .foreign import AnyArray, library, taken

_NAMES = ("data.qpos", "data.qvel", "q_target", "qd_target", "feedforward", "data.qfrc_applied")
_FIELDS = {"armature": "dof_armature", "friction": "dof_frictionloss", "viscous_friction": "dof_damping"}
# numbers of `mjtJoint`
_SLIDE, _HINGE = 2, 3
# number of sets of arrays that stay bound
_KEPT = 8


Bound = tuple[list[AnyArray | None], list[Columns], wp.array]
"""Arrays, their bindings, and the array of efforts."""


class ActuatedWorlds(Actuated):
    """Actuators on the worlds of a `mujoco_warp.Data`, in a loop of one's own.

    A world is a row, and a column a hinge or slide of the model, in its order. Positions and velocities are read from
    the data, and the efforts of the driven joints are set in its `qfrc_applied`: in place, on the CPU or CUDA. Laws
    that need inertia and load of the joints get those of the data, until others are set; after a step of physics they
    are those of the state before it.

    Until `close`, the model's own actuators of the driven joints are limited to force 0, and `dof_armature`,
    `dof_frictionloss` and `dof_damping` are those of the motors, if given; if these differ between worlds and the model
    has one row for all, it gets a row per world. The last two are zero where a stage computes the friction, and those
    of the stage with `FrictionConfig(in_engine=True)`, which is hard. Make it before a CUDA graph is captured.

    Args:
        mjm: The `mujoco.MjModel`, with the names; it is not changed.
        model: The result of `mujoco_warp.put_model`.
        motors: Motors by pattern of joint names, as for `ArticulationActuators.from_configs`, or pairs of an
            `ActuatorConfig` and a joint name, as for `from_actuators`. `motors_of_model(mjm)` are those it has.
        num_worlds: `nworld` of the data.
        effort_mode: "explicit", as a motor controller computes efforts, or "implicit", those of the end of the physics
            step, which are stable at any gain; for all joints, or by pattern. None keeps what the motors have.

    Raises:
        ValueError: `model` is that of another, a ball or free joint is between driven joints, or as for
            `ActuatedArrays`.

    Example:
        >>> actuated = ActuatedWorlds(mjm, model, motors, data.nworld)  # doctest: +SKIP
        >>> for _ in range(1000):  # doctest: +SKIP
        ...     actuated.step(data, q_target, dt)
        ...     mujoco_warp.step(model, data)
    """

    _HAS_FRICTION = True

    def __init__(
        self,
        mjm: Any,
        model: Any,
        motors: AnyMotors,
        num_worlds: int = 1,
        *,
        effort_mode: EffortModes | None = None,
    ) -> None:
        _require_same(mjm, model)
        joints = [joint for joint, kind in enumerate(mjm.jnt_type) if kind in (_SLIDE, _HINGE)]
        names = [mjm.joint(joint).name or f"joint_{joint}" for joint in joints]
        super().__init__(names, motors, num_worlds, model.qpos0.device, effort_mode)
        driven = self.actuated_dof_indices
        q, qd = mjm.jnt_qposadr[joints], mjm.jnt_dofadr[joints]
        self._require_neighbors(q - qd)
        # without ball or free joints between them, a range of columns is a range in all arrays
        self._first, self._span = driven[0], driven[-1] + 1 - driven[0]
        self._first_q, self._first_qd = int(q[driven[0]]), int(qd[driven[0]])
        self._nothing = wp.zeros((self._num_robots, self._span), dtype=wp.float32, device=self._device)
        # by the identity of arrays: these, their bindings, and the array of efforts
        self._bound: dict[tuple[object, ...], Bound] = {}
        self._current: Bound | None = None
        self._model, self._changes = model, Changes(self)
        self._changes.finally_do(_rest, self._bound, [column - self._first for column in self._columns])
        self._limit_own(mjm, [joints[column] for column in driven])
        for name, values in self._simulator_properties().items():
            self._set_property(_FIELDS[name], values, qd)
        self._harden(qd)
        self._follow_model(mjm, qd)
        # column of each driven joint among velocities; None where loads are not those of the data
        self._load_columns = [int(qd[column]) for column in self._columns] if "load" in self._assembly.signals else None
        self._followed: wp.array | None = None
        self._take_load: Callable[[], None] = nothing

    @untraced
    def step(
        self,
        data: Any,
        q_target: AnyArray,
        dt: float,
        *,
        qd_target: AnyArray | None = None,
        feedforward: AnyArray | None = None,
    ) -> None:
        """Compute the efforts of the coming physics step and write them to `data.qfrc_applied`.

        Arrays of targets are of any library with DLPack, float32 `(num_robots, DOFs)`, on the device of the data. They
        are read in place, and recognized when given again: write into them, or alternate between a few.

        Args:
            data: The `mujoco_warp.Data` that `mujoco_warp.step` reads next.
            q_target: Position targets [rad or m].
            dt: Physics step [s].
            qd_target: Velocity targets [rad/s or m/s]; None means 0.
            feedforward: Efforts that are passed through delay, controller and clamps [N·m or N]; None means 0.

        Raises:
            ValueError: By name: an array has another shape, type or device, or `dt` is not a finite number > 0.
            RuntimeError: It was closed.
        """
        self._require_open()
        if self._inertias is not None and (masses := getattr(data, "M", None)) is not None:
            self._inertias.follow(masses)
            self._told.update(INERTIAS)
        if self._load_columns is not None and (loads := getattr(data, "qfrc_bias", None)) is not None:
            if loads is not self._followed:
                parts = self._assembly.signals.get("load", ())
                copies = [(loads, [self._load_columns[joint] for joint in joints], to) for joints, to in parts]
                self._take_load, self._followed = taken_on_device(copies, self._num_robots, self._device), loads
            self._take_load()
        self._require_step(dt)
        arrays = [data.qpos, data.qvel, q_target, qd_target, feedforward, data.qfrc_applied]
        key = tuple(map(_identity, arrays))
        found = self._bound.get(key)
        if found is None:
            found = self._bind(arrays, key)
        if found is not self._current:
            self._current = None
            self._assembly.rebind(found[1])
            self._current = found
        self._assembly.step(dt)

    def close(self) -> None:
        """Restore the model's own actuators and properties, and set driven efforts to 0."""
        self._changes.give_back()
        self._bound.clear()
        self._current = None
        super().close()

    def set_loads(self, loads: ArrayLike, *, are_whole: bool = False) -> None:
        """Set the efforts that balance what else acts on the joints, in place of those of the data."""
        super().set_loads(loads, are_whole=are_whole)
        self._load_columns = None

    def _follow_model(self, mjm: Any, qd: np.ndarray) -> None:
        """Let inertias and loads be those of the data, as mujoco_warp computes them in each step."""
        rows, columns, entries = mass_entries(mjm)
        places = np.full((mjm.nv, mjm.nv), -1)
        places[rows, columns] = entries
        # joints of other trees do not couple, but by armatures of tendons
        mine = np.isin(mjm.dof_treeid, mjm.dof_treeid[qd]) | bool(mjm.tendon_armature.any())
        chosen = np.flatnonzero(mine)
        at = np.searchsorted(chosen, qd)
        self._follow_inertias(places[np.ix_(chosen, chosen)], at.tolist(), range(self._num_robots))
        if self._inertias is not None:
            # until the first step has computed those of the state
            masses = np.repeat(mass_matrix_at_start(mjm)[None], self._num_robots, axis=0)
            diagonal = np.arange(mjm.nv)
            masses[:, diagonal, diagonal] += self._model.dof_armature.numpy() - mjm.dof_armature
            inverse, _ = inverses_of(masses)
            inverse = inverse[:, qd[:, None], qd]
            alone = 1.0 / np.diagonal(inverse, axis1=1, axis2=2)
            for name, values in zip(INERTIAS, (alone, coupled_inertias(inverse)), strict=True):
                self._inertias.arrays[name].assign(values.astype(np.float32))

    def _require_neighbors(self, shifts: np.ndarray) -> None:
        """Raise if there is a ball or free joint between driven joints."""
        first, *others = self.actuated_dof_indices
        if odd := [self._names[column] for column in others if shifts[column] != shifts[first]]:
            raise ValueError(
                f"joints {odd} stand behind a ball or free joint that {self._names[first]!r} stands before: must be "
                "driven by an ActuatedWorlds of their own. Make two."
            )

    def _limit_own(self, mjm: Any, joints: list[int]) -> None:
        """Take the force from the model's own actuators of some joints."""
        by_joint = own_actuators(mjm)
        if own := [one for joint in joints for one in by_joint.get(joint, [])]:
            for name, value in WITHOUT_FORCE.items():
                array = getattr(self._model, name)
                # some fields have a row per world
                self._changes.set(array, own if array.ndim == 1 else np.s_[:, own], value)

    def _harden(self, qd: np.ndarray) -> None:
        """Make the dry friction hard at the joints whose friction stage is that of the simulator."""
        engine = [one for one in self._properties if (one.name, one.origin) == ("friction", "engine")]
        if in_engine := [column for one in engine for column in self._columns_with(one)]:
            for name, values in hard(float(self._model.opt.timestep.numpy()[0])).items():
                self._changes.set(getattr(self._model, f"dof_{name}"), np.s_[:, qd[in_engine]], values)

    def _set_property(self, field: str, values: np.ndarray, places: np.ndarray) -> None:
        """Set armature or friction of the joints that motors give one, a row per world."""
        given = np.flatnonzero(~np.isnan(values[0]))
        array = getattr(self._model, field)
        if len(array) == 1:
            if (values[:, given] == values[0, given]).all():
                values = values[:1]
            else:
                rows = np.repeat(array.numpy(), self._num_robots, axis=0)
                array = wp.array(rows, dtype=wp.float32, device=array.device)
                self._changes.replace(self._model, field, array)
        self._changes.set(array, np.s_[:, places[given]], values[:, given])

    def _bind(self, arrays: list[AnyArray | None], key: tuple[object, ...]) -> Bound:
        """Views of the arrays, from the first driven joint to the last; a `ValueError` names one that does not fit."""
        firsts = (self._first_q, self._first_qd, self._first, self._first, self._first, self._first_qd)
        widths = (self._model.nq, self._model.nv, *[len(self._names)] * 3, self._model.nv)
        views = []
        for name, array, first, width in zip(_NAMES, arrays, firsts, widths, strict=True):
            if array is None and name in ("qd_target", "feedforward"):
                views.append(self._nothing)
                continue
            rows, shape = taken(array, name), (self._num_robots, width)
            if tuple(rows.shape) != shape:
                raise ValueError(
                    f"{name} has shape {tuple(rows.shape)}: must be {shape}, a row per world. Reshape it, or make "
                    "another ActuatedWorlds for so many."
                )
            views.append(rows[:, first : first + self._span])
        columns = [column - self._first for column in self._columns]
        found = arrays, self._assembly.bindings(columns, views[:5], views[5], _NAMES, self._first), views[5]
        self._bound[key] = found
        if len(self._bound) > _KEPT:
            del self._bound[next(iter(self._bound))]
        return found


def _require_same(mjm: Any, model: Any) -> None:
    """Raise for a model that is not what `mujoco_warp.put_model` made of another."""
    sizes, expected = ([getattr(one, name, None) for name in ("nq", "nv", "njnt")] for one in (model, mjm))
    if None in expected or sizes != expected or isinstance(getattr(mjm, "qpos0", None), wp.array):
        raise ValueError(
            f"model is a {type(model).__name__} with (nq, nv, njnt) = {sizes}, mjm a {type(mjm).__name__} with "
            f"{expected}: must be the same model. Give an MjModel, and what mujoco_warp.put_model made of it."
        )


def _rest(bound: dict[tuple[object, ...], Bound], columns: list[int]) -> None:
    """Set the efforts of driven joints to 0 in the data of the last steps."""
    for _, _, efforts in bound.values():
        for column in columns:
            efforts[:, column].zero_()


def _identity(array: Tensor) -> object:
    # a tensor can get other memory and stay the same object
    return (id(array), array.data_ptr()) if library(array) == "torch" else id(array)
