"""Effort bounds of stages, measured: copies of the stages run with commands beyond any motor."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import warp as wp

from ..laws.contract.base import Component
from ..laws.controller_pd import ControllerPD
from ..specs.stages import KINDS, acts_at_joint, follows_limits, is_linked, kind_of, parts_of
from .actuator import Actuator
from .plan import has_law
from .user_components import remove_from_plan, shallow_copy

# a command beyond any motor, and the effort above which there is no bound, also behind a gear that divides it by ten
_COMMAND, _UNBOUNDED = 1e9, 0.9e8


class StageBounds:
    """The bounds of some joints of an actuator, or of one joint at several points; each call starts with fresh states.

    Stages before a transmission have bounds at the joint if the transmission is among them. `rows` are numbers of the
    joints among those of the actuator, robot-major.
    """

    def __init__(self, stages: Sequence[Component], rows: Sequence[int] | np.ndarray) -> None:
        self._stages, self._rows = list(stages), np.asarray(rows, int)
        self._copies = [copied(stage, self._rows) for stage in stages]

        def zeros() -> wp.array:
            return wp.zeros(len(self._rows), dtype=wp.float32, device="cpu")

        self._state = SimpleNamespace(joint_q=zeros(), joint_qd=zeros())
        self._control = SimpleNamespace(joint_target_q=zeros(), joint_target_qd=zeros(), joint_act=zeros())
        self._control.joint_f = zeros()
        indices = wp.array(np.arange(len(self._rows)), dtype=wp.uint32, device="cpu")
        self._actuator = Actuator(indices, **parts_of([ControllerPD(zeros(), zeros()), *self._copies]))

    def __call__(self, positions: npt.ArrayLike, velocities: npt.ArrayLike) -> np.ndarray:
        """Return the lowest and highest effort [N·m or N], shape `(2, points)`, of states `(points,)`; NaN for none."""
        for stage, mine in zip(self._stages, self._copies, strict=True):
            for name in stage.PARAMETERS:
                vars(mine)[name].numpy()[:] = _values(stage, name, self._rows)
        self._state.joint_q.numpy()[:], self._state.joint_qd.numpy()[:] = positions, velocities
        found = np.empty((2, len(self._rows)))
        for row, command in zip(found, (-_COMMAND, _COMMAND), strict=True):
            self._control.joint_act.fill_(command)
            self._control.joint_f.zero_()
            self._actuator.step(self._state, self._control, self._actuator.state(), self._actuator.state(), 0.001)
            row[:] = self._control.joint_f.numpy()
        # a motor that turns the other way has its largest command at the lowest effort
        found.sort(axis=0)
        return np.where(np.abs(found) > _UNBOUNDED, np.nan, found)


def known_at_once(actuator: Actuator) -> list[Component]:
    """Stages whose bounds depend only on position and velocity: those with a law and without state.

    Before a transmission with state, and before a linkage, nothing is known.
    """
    is_known = all(not stage.STATE for stage in actuator.after_controller if converts(stage))
    is_known = is_known and not is_linked(actuator)
    stages = (stage for stage in actuator.after_controller if is_known or acts_at_joint(stage))
    return [one for one in stages if has_law(one) and not one.STATE and not KINDS[kind_of(one) or "passive"].couples]


def converts(stage: object) -> bool:
    """Return True for a transmission."""
    return KINDS[kind_of(stage) or "passive"].converts


def known_of_motor(actuator: Actuator) -> list[Component]:
    """Return those of them that bound the effort of the motor: passive stages act after it."""
    return [stage for stage in known_at_once(actuator) if not follows_limits(kind_of(stage) or "")]


def _values(component: Component, name: str, rows: np.ndarray) -> np.ndarray:
    """Values of a parameter for some joints; shared values are stored once."""
    values = component.read(name)
    return values[rows % len(values)]


def copied(component: Component, rows: np.ndarray) -> Component:
    """Return a copy of a component for some joints, by number."""
    other = remove_from_plan(shallow_copy(component), component)
    for name in component.PARAMETERS:
        values = _values(component, name, rows)
        vars(other)[name] = wp.array(values, dtype=wp.dtype_from_numpy(values.dtype), device="cpu")
    return other
