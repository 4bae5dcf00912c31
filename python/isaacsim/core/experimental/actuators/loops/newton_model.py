"""`ActuatedModel`: actuators on the arrays of a `newton.Model`, for any of newton's solvers. Newton is not imported.

Attributes of a model are read by their names of several versions: `joint_label` and `articulation_label` were
`joint_key` and `articulation_key` before 1.0, and targets `joint_target_pos` and `joint_target_vel` before 1.3.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ..base.errors import shown
from ..base.memory import Tensor
from ..base.untraced import untraced
from ..engine.actuator_group import ActuatorGroup
from ..engine.sim_arrays import find_arrays, missing
from ..engine.step.binding import Columns
from ..specs.effort_modes import EffortModes
from ..specs.patterns import pattern_problem
from ..specs.signals import INERTIAS
from .actuated import Actuated, AnyMotors, Changes

_STATE = ("joint_q", "joint_qd")
_CONTROL = ("joint_target_q", "joint_target_qd", "joint_act", "joint_f")
_PROPERTIES = {"armature": "joint_armature", "friction": "joint_friction", "viscous_friction": "joint_damping"}
_DRIVE = ("joint_target_ke", "joint_target_kd")
# number of sets of arrays that stay bound
_KEPT = 8


Bound = tuple[list[object], list[Columns]]
"""Arrays and their bindings."""


class ActuatedModel(Actuated):
    """Actuators on the robots of a `newton.Model`, in a loop of one's own.

    A robot is an articulation; all that match have to be equal and evenly spaced, as those of
    `ModelBuilder.replicate` are. Positions and velocities are read from a `newton.State`, targets and feedforward
    (`joint_act`) from a `newton.Control`, and the efforts of the driven joints are written to its `joint_f`: in place,
    on the CPU or CUDA. Joints of several axes are named `joint:0`, `joint:1` …; free and ball joints have no motors.
    Laws that need the inertia of joints get that of newton's mass matrices, which follow `state.body_q`, until
    `set_mass_matrix` sets another; a newton without `eval_mass_matrix` tells none.

    Until `close`, the model's own drives of the driven joints (`joint_target_ke`, `joint_target_kd`) are zero, and
    `joint_armature`, `joint_friction` and `joint_damping` are those of the motors, if given. The last two are zero
    where a stage computes the friction, and those of the stage with `FrictionConfig(in_engine=True)`. Make it before
    the solver, or notify the solver by `notify_model_changed`.

    Args:
        model: The finalized model.
        motors: Motors by pattern of joint names, as for `ArticulationActuators.from_configs`, or pairs of an
            `ActuatorConfig` and a joint name, as for `from_actuators`.
        articulations: Regular expression that labels of articulations match in full; by default all do.
        effort_mode: "explicit", as a motor controller computes efforts, or "implicit", those of the end of the physics
            step, which are stable at any gain; for all joints, or by pattern. None keeps what the motors have.

    Raises:
        ValueError: No articulation matches, they differ or are unevenly spaced, a joint cannot be driven, or as for
            `ActuatedArrays`.

    Example:
        >>> actuated = ActuatedModel(model, motors)  # doctest: +SKIP
        >>> solver = newton.solvers.SolverMuJoCo(model)  # doctest: +SKIP
        >>> for _ in range(1000):  # doctest: +SKIP
        ...     actuated.step(state, control, dt)
        ...     solver.step(state, following, control, None, dt)
        ...     state, following = following, state
    """

    _HAS_FRICTION = True

    def __init__(
        self, model: Any, motors: AnyMotors, *, articulations: str = ".*", effort_mode: EffortModes | None = None
    ) -> None:
        layout = _Layout(model, articulations)
        super().__init__(layout.names, motors, len(layout.rows), model.device, effort_mode)
        self._layout = layout.narrowed(self.actuated_dof_indices)
        self.articulation_labels = layout.labels
        """Label of the articulation of each row."""
        self._bound: dict[tuple[int, ...], Bound] = {}
        self._current: Bound | None = None
        self._changes = Changes(self)
        rows = layout.places()
        for array in find_arrays(model, _DRIVE):
            self._changes.set(array, rows[:, self._columns].ravel(), np.float32(0))
        for name, values in self._simulator_properties().items():
            given = ~np.isnan(values)
            # without such friction there is none to replace
            if values[given].any() or hasattr(model, _PROPERTIES[name]):
                self._changes.set(_first(model, _PROPERTIES[name]), rows[given], values[given])
        evaluate = getattr(sys.modules.get(type(model).__module__.partition(".")[0]), "eval_mass_matrix", None)
        if evaluate is None:
            return
        size, most = len(self._names), model.max_dofs_per_articulation
        places = np.arange(size)[:, None] * most + np.arange(size)
        self._follow_inertias(places, self._layout.joints(), self._layout.rows)
        if self._inertias is not None:
            count = model.articulation_count
            with wp.ScopedDevice(self._device):
                whole = wp.zeros((count, most, most), dtype=wp.float32)
                body = wp.zeros(model.body_count, dtype=wp.spatial_matrix)
                axes = wp.zeros(model.joint_dof_count, dtype=wp.spatial_vector)
            self._masses = whole.reshape((count, most * most))
            self._evaluate = lambda state: evaluate(model, state, H=whole, body_I_s=body, joint_S_s=axes)
            self._told.update(INERTIAS)

    @untraced
    def step(self, state: object, control: object, dt: float) -> None:
        """Compute the efforts of the coming physics step and write them to `control.joint_f`.

        Alternating states, and controls, are recognized and bound without a copy.

        Args:
            state: The `newton.State` that the solver reads next.
            control: The `newton.Control` that the solver reads next.
            dt: Physics step [s].

        Raises:
            ValueError: By name: an array is missing or does not fit the model, or `dt` is not a finite number > 0.
            RuntimeError: It was closed.
        """
        self._require_open()
        if self._inertias is not None:
            self._evaluate(state)
            self._inertias.follow(self._masses)
        self._require_step(dt)
        arrays = find_arrays(state, _STATE) + find_arrays(control, _CONTROL)
        found = self._bound.get(tuple(map(id, arrays)))
        if found is None:
            found = self._bind(state, control, arrays)
        if found is not self._current:
            self._current = None
            self._assembly.rebind(found[1])
            self._current = found
        self._assembly.step(dt)

    def close(self) -> None:
        """Restore drives and properties of the model, and release arrays and components."""
        self._changes.give_back()
        self._bound, self._current = {}, None
        super().close()

    def _robot_names(self) -> Sequence[str]:
        return self.articulation_labels

    def _bind(self, state: object, control: object, arrays: list[object]) -> Bound:
        """Views of the arrays, a row per robot; a `ValueError` names one that does not fit."""
        names = (*_STATE, *_CONTROL)
        for k, (name, array) in enumerate(zip(names, arrays, strict=True)):
            if array is None and name != "joint_act":
                raise missing(state if k < len(_STATE) else control, name)
        q, qd, q_target, qd_target, act, f = (
            None if array is None else self._layout.view(array, name) for name, array in zip(names, arrays, strict=True)
        )
        if act is None:
            act = wp.zeros(self._layout.shape, dtype=wp.float32, device=self._device)
        columns = [column - self._layout.first for column in self._columns]
        order = ("joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act", "joint_f")
        inputs = q, qd, q_target, qd_target, act
        found = arrays, self._assembly.bindings(columns, inputs, f, order, self._layout.first)
        self._bound[tuple(map(id, arrays))] = found
        if len(self._bound) > _KEPT:
            del self._bound[next(iter(self._bound))]
        return found


def drive_newton_model(model: object) -> ActuatorGroup:
    """Return a group of the actuators of a newton model itself, those of its builder or its USD file, on our plan.

    In the loop the group replaces `for actuator in model.actuators: actuator.step(…)`.

    Args:
        model: The finalized model.

    Returns:
        Actuators with the same components, whose efforts are added to the control's `joint_f`, as newton's are.

    Raises:
        ValueError: The model has no actuators, or one with a computation that ours do not have.

    Example:
        >>> group = drive_newton_model(model)  # doctest: +SKIP
        >>> states = group.state()  # doctest: +SKIP
        >>> for _ in range(1000):  # doctest: +SKIP
        ...     control.joint_f.zero_()
        ...     group.step(state, control, states, states, dt)
    """
    actuators = getattr(model, "actuators", ())
    if not actuators:
        raise ValueError(
            f"{type(model).__name__} has no actuators: must have one at least. Add them by add_actuator before "
            "finalize(), or drive it by an ActuatedModel."
        )
    return ActuatorGroup(actuators)


class _Layout:
    """Layout of the joints of equal articulations in a model's flat arrays; a regular expression picks their labels."""

    def __init__(self, model: object, articulations: str) -> None:
        labels = list(_first(model, "articulation_label", "articulation_key"))
        self.rows = _rows_of(labels, articulations)
        self.labels = [labels[row] for row in self.rows]
        names = "articulation_start", "joint_q_start", "joint_qd_start"
        starts, q, qd = (np.asarray(getattr(model, name).numpy()) for name in names)
        self.counts = {int(q[-1]): "joint_q", int(qd[-1]): "joint_qd"}
        self.num_q, self.num_qd = int(q[-1]), int(qd[-1])
        joints = _first(model, "joint_label", "joint_key")
        found = [_axes(joints, q, qd, range(int(starts[row]), int(starts[row + 1]))) for row in self.rows]
        if odd := [(label, axes) for label, axes in zip(self.labels, found, strict=True) if axes != found[0]]:
            label, axes = odd[0]
            raise ValueError(
                f"articulation {label!r} has joints {_names(axes)}: must be those of {self.labels[0]!r}, "
                f"{_names(found[0])}. Choose equal ones by articulations = …"
            )
        self.names, self._shifts = _names(found[0]), [shift for _, shift in found[0]]
        self._begin_q, self._begin_qd = (of[starts[self.rows]].astype(int) for of in (q, qd))
        self.first, self.shape = 0, (len(self.rows), len(self.names))
        self._shift = 0

    def narrowed(self, columns: Sequence[int]) -> _Layout:
        """Narrow views to these columns and return the layout; a `ValueError` if one view each cannot reach them."""
        for column in columns:
            if self._shifts[column] is None:
                raise ValueError(
                    f"joint {self.names[column]!r}: must have one position per axis, as hinges and sliders have. Drive "
                    "others by a law of your own."
                )
        shift = self._shifts[columns[0]]
        if odd := [self.names[column] for column in columns if self._shifts[column] != shift]:
            raise ValueError(
                f"joints {odd} stand behind a ball or free joint that {self.names[columns[0]]!r} stands before: must be"
                " driven by an ActuatedModel of their own. Make two."
            )
        if not all(map(_is_even, (self._begin_q, self._begin_qd))):
            raise ValueError(
                f"articulations {self.labels[:3]} …: must stand evenly spaced in joint_q. Build them by replicate, "
                "or choose those that do by articulations = …"
            )
        self.first, self._shift = columns[0], int(shift or 0)
        self.shape = len(self.rows), columns[-1] - columns[0] + 1
        return self

    def joints(self) -> list[int]:
        """Return the coordinate of each joint axis, -1 for one that has no position of its own."""
        return [-1 if shift is None else axis for axis, shift in enumerate(self._shifts)]

    def places(self) -> np.ndarray:
        """Return the place of each joint axis of each row in arrays by axis."""
        return self._begin_qd[:, None] + np.arange(len(self.names))

    def view(self, array: Tensor, name: str) -> wp.array:
        """A view of a flat array of the model's positions or velocities, else a `ValueError`, with a row per robot."""
        # targets of positions are as long as velocities before 1.3
        as_q = name == "joint_q" or (name == "joint_target_q" and len(array) == self.num_q)
        wanted = self.num_q if as_q else self.num_qd
        if array.ndim != 1 or len(array) != wanted or array.dtype is not wp.float32 or not array.is_contiguous:
            raise ValueError(
                f"{name} has {len(array)} numbers of {array.dtype.__name__}: must be {wanted} of float32 in a row, as "
                "the model has it. Take it from model.state() or model.control()."
            )
        begins = self._begin_q + self._shift if as_q else self._begin_qd
        pitch = int(begins[1] - begins[0]) if len(begins) > 1 else self.shape[1]
        start, strides = array.ptr + 4 * (int(begins[0]) + self.first), (4 * pitch, 4)
        return wp.array(ptr=start, dtype=wp.float32, shape=self.shape, strides=strides, device=array.device)


def _rows_of(labels: Sequence[str], articulations: str) -> list[int]:
    """Rows of the articulations whose labels a pattern matches."""
    if problem := pattern_problem(articulations, name_length=max(map(len, labels), default=0)):
        raise ValueError(f"articulations = {shown(articulations)}: {problem}")
    rows = [row for row, label in enumerate(labels) if re.fullmatch(articulations, label)]
    if not rows:
        raise ValueError(f"articulations = {articulations!r}: must match one of {sorted(set(labels))}. Correct it.")
    return rows


def _axes(joints: Sequence[str], q: np.ndarray, qd: np.ndarray, numbers: range) -> list[tuple[str, int | None]]:
    """Name of each joint axis of an articulation, and how far its position is from its velocity in the arrays.

    None for a quaternion, whose numbers belong to no axis. `q` and `qd` are where each joint starts.
    """
    found: list[tuple[str, int | None]] = []
    for joint in numbers:
        axes, coordinates = int(qd[joint + 1] - qd[joint]), int(q[joint + 1] - q[joint])
        name = joints[joint].rpartition("/")[2]
        shift = int(q[joint] - q[numbers[0]]) - int(qd[joint] - qd[numbers[0]]) if axes == coordinates else None
        names = [name] if axes == 1 else [f"{name}:{axis}" for axis in range(axes)]
        found += [(one, shift) for one in names]
    return found


def _names(axes: Sequence[tuple[str, int | None]]) -> list[str]:
    return [name for name, _ in axes]


def _is_even(begins: np.ndarray) -> bool:
    pitches = np.diff(begins)
    return not len(pitches) or bool(pitches[0] > 0 and (pitches == pitches[0]).all())


def _first(model: object, *names: str) -> Any:
    """The first of some attributes that exists; a `ValueError` if there is none."""
    for name in names:
        found = getattr(model, name, None)
        if found is not None:
            return found
    raise ValueError(f"{type(model).__name__} has no {names[0]}: must be a finalized newton.Model. Call finalize().")
