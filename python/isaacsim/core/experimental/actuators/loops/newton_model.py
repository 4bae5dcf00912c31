"""`ActuatedModel`: actuators on the arrays of a `newton.Model`, for any of newton's solvers. Newton is not imported.

Read are attributes of a model, which newton renamed once: `joint_label` and `articulation_label` were `joint_key` and
`articulation_key` before 1.0, and targets `joint_target_pos` and `joint_target_vel` before 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ..pipeline.actuator_group import ActuatorGroup
from ..pipeline.sim_arrays import find_arrays, missing
from ..pipeline.step.binding import Columns
from ..untraced import untraced
from .actuated import Actuated, AnyMotors
from .changes import Changes

_STATE = ("joint_q", "joint_qd")
_CONTROL = ("joint_target_q", "joint_target_qd", "joint_act", "joint_f")
_DRIVE = ("joint_target_ke", "joint_target_kd")
# how many sets of arrays stay bound
_KEPT = 8


class ActuatedModel(Actuated):
    """Actuators on the robots of a `newton.Model`, in a loop of one's own.

    A robot is an articulation; all that match have to be equal, and stand evenly spaced as those do that
    `ModelBuilder.replicate` makes. Positions and velocities are read from a `newton.State`, targets and feedforward
    (`joint_act`) from a `newton.Control`, and the efforts of the driven joints are written to its `joint_f`: in place,
    on the CPU or CUDA. Joints of several axes are named `joint:0`, `joint:1` …; free and ball joints have no motors.

    Until `close`, the model's own drives of the driven joints (`joint_target_ke`, `joint_target_kd`) are zero, and
    `joint_armature` and `joint_friction` are those of the motors, where they were given any. Make it before the solver,
    or tell the solver by `notify_model_changed`.

    Args:
        model: The finalized model.
        motors: Motors by pattern of joint names, as for `ArticulationActuators.from_configs`, or pairs of an
            `ActuatorConfig` and a joint name, as for `from_actuators`.
        articulations: Regular expression that labels of articulations match as a whole; by default all do.

    Raises:
        ValueError: No articulation matches, they differ or stand unevenly, a joint cannot be driven, or as for
            `ActuatedArrays`.

    Example:
        >>> actuated = ActuatedModel(model, motors)  # doctest: +SKIP
        >>> solver = newton.solvers.SolverMuJoCo(model)  # doctest: +SKIP
        >>> for _ in range(1000):  # doctest: +SKIP
        ...     actuated.step(state, control, dt)
        ...     solver.step(state, following, control, None, dt)
        ...     state, following = following, state
    """

    def __init__(self, model: Any, motors: AnyMotors, *, articulations: str = ".*") -> None:
        layout = _Layout(model, articulations)
        super().__init__(layout.names, motors, len(layout.rows), model.device)
        self._layout = layout.narrowed(self.actuated_dof_indices)
        self.articulation_labels = layout.labels
        """Label of the articulation of each row."""
        self._bound: dict[tuple[int, ...], tuple[list[Any], list[Columns]]] = {}
        self._current: Any = None
        self._changes = Changes(self)
        rows = layout.places()
        for array in find_arrays(model, _DRIVE):
            self._changes.set(array, rows[:, self._columns].ravel(), np.float32(0))
        for name, values in self.joint_properties.items():
            given = ~np.isnan(values)
            self._changes.set(_first(model, f"joint_{name}"), rows[given], values[given])

    @untraced
    def step(self, state: Any, control: Any, dt: float) -> None:
        """Compute the efforts of the coming physics step and write them to `control.joint_f`.

        States that take turns, and controls, are recognised and bound again without a copy.

        Args:
            state: The `newton.State` that the solver is about to read.
            control: The `newton.Control` that the solver is about to read.
            dt: Physics step [s].

        Raises:
            ValueError: By name: an array is not there or does not fit the model, or `dt` is not a finite number > 0.
            RuntimeError: It was closed.
        """
        self._require_step(dt)
        arrays = find_arrays(state, _STATE) + find_arrays(control, _CONTROL)
        found = self._bound.get(tuple(map(id, arrays)))
        if found is None:
            found = self._look_at(state, control, arrays)
        if found is not self._current:
            self._current = None
            self._assembly.rebind(found[1])
            self._current = found
        self._assembly.step(dt)

    def close(self) -> None:
        """Give the drives of the model back, and what motors changed; let go of arrays and components."""
        self._changes.give_back()
        self._bound, self._current = {}, None
        super().close()

    # inside

    def _robot_names(self) -> Sequence[str]:
        return self.articulation_labels

    def _look_at(self, state: Any, control: Any, arrays: list[Any]) -> tuple[list[Any], list[Columns]]:
        """Views of the arrays, a row per robot.

        Raises:
            ValueError: By name.
        """
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
        found = (
            arrays,
            self._assembly.bindings(columns, (q, qd, q_target, qd_target, act), f, order, self._layout.first),
        )
        self._bound[tuple(map(id, arrays))] = found
        if len(self._bound) > _KEPT:
            del self._bound[next(iter(self._bound))]
        return found


def drive_newton_model(model: Any) -> ActuatorGroup:
    """Step the actuators that a newton model has by itself, those of its builder or its USD file, by our plan.

    In the loop the group takes the place of `for actuator in model.actuators: actuator.step(…)`.

    Args:
        model: The finalized model.

    Returns:
        Actuators with the same components, whose efforts are added to the control's `joint_f`, as newton's are.

    Raises:
        ValueError: The model has no actuators, or one that computes in a way that ours do not.

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
    """Where the joints of equal articulations stand in the flat arrays of a model.

    Args:
        model: The model.
        articulations: Regular expression for labels.
    """

    def __init__(self, model: Any, articulations: str) -> None:
        labels = list(_first(model, "articulation_label", "articulation_key"))
        self.rows = [row for row, label in enumerate(labels) if re.fullmatch(articulations, label)]
        if not self.rows:
            raise ValueError(f"articulations = {articulations!r}: must match one of {sorted(set(labels))}. Correct it.")
        self.labels = [labels[row] for row in self.rows]
        joints = _first(model, "joint_label", "joint_key")
        starts, q, qd = (
            np.asarray(getattr(model, name).numpy())
            for name in ("articulation_start", "joint_q_start", "joint_qd_start")
        )
        self.counts = {int(q[-1]): "joint_q", int(qd[-1]): "joint_qd"}
        self.num_q, self.num_qd = int(q[-1]), int(qd[-1])
        told = []
        for row in self.rows:
            names: list[str] = []
            shifts: list[int | None] = []
            begin, end = int(starts[row]), int(starts[row + 1])
            for joint in range(begin, end):
                axes, coordinates = int(qd[joint + 1] - qd[joint]), int(q[joint + 1] - q[joint])
                name = joints[joint].rpartition("/")[2]
                names += [name] if axes == 1 else [f"{name}:{axis}" for axis in range(axes)]
                # how much further than its velocity its position stands; a quaternion's have no place of their own
                further = int(q[joint] - q[begin]) - int(qd[joint] - qd[begin])
                shifts += [further if axes == coordinates else None] * axes
            told.append((names, shifts))
        for label, one in zip(self.labels, told, strict=True):
            if one != told[0]:
                raise ValueError(
                    f"articulation {label!r} has joints {one[0]}: must be those of {self.labels[0]!r}, {told[0][0]}. "
                    "Choose equal ones by articulations = …"
                )
        self.names, self._shifts = told[0]
        self._begin_q, self._begin_qd = (of[starts[self.rows]].astype(int) for of in (q, qd))
        self.first, self.shape = 0, (len(self.rows), len(self.names))
        self._shift = 0

    def narrowed(self, columns: Sequence[int]) -> _Layout:
        """Itself, its views narrowed to these columns and what is between them.

        Raises:
            ValueError: They cannot be reached by one view each, or the rows are not evenly spaced.
        """
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
        for begins in (self._begin_q, self._begin_qd):
            pitches = np.diff(begins)
            if len(pitches) and (pitches[0] <= 0 or (pitches != pitches[0]).any()):
                raise ValueError(
                    f"articulations {self.labels[:3]} …: must stand evenly spaced in joint_q. Build them by replicate, "
                    "or choose those that do by articulations = …"
                )
        self.first, self._shift = columns[0], int(shift or 0)
        self.shape = len(self.rows), columns[-1] - columns[0] + 1
        return self

    def places(self) -> np.ndarray:
        """Where each joint axis of each row stands in arrays by axis."""
        return self._begin_qd[:, None] + np.arange(len(self.names))

    def view(self, array: Any, name: str) -> wp.array:
        """A flat array with a row per robot, in place.

        Raises:
            ValueError: It is no array of the model's positions or velocities.
        """
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
        return wp.array(
            ptr=array.ptr + 4 * (int(begins[0]) + self.first),
            dtype=wp.float32,
            shape=self.shape,
            strides=(4 * pitch, 4),
            device=array.device,
        )


def _first(model: Any, *names: str) -> Any:
    """The first of these attributes that there is.

    Raises:
        ValueError: There is none.
    """
    for name in names:
        found = getattr(model, name, None)
        if found is not None:
            return found
    raise ValueError(f"{type(model).__name__} has no {names[0]}: must be a finalized newton.Model. Call finalize().")
