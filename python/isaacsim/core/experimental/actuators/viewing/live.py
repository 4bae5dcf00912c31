"""What a live view shows of a simulation, and what it may ask of it: plain data, whatever shows it."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..attachment import attached_to
from ..pipeline.bounds import StageBounds, known_at_once
from ..pipeline.plan import description_of
from ..recording.recording import Recording
from ..specs.arguments import whole_of
from ..specs.fields import Parameter, complaint

# what of the past is kept for charts [s]
HISTORY = 3.0
_SIGNALS = ("positions", "velocities", "computed_efforts", "applied_efforts", "limited_by")
# range of a slider for a joint without limits [rad or m]
_OPEN = math.pi

# rule of a number of which nothing else is known
_ANY = Parameter("", "float", "", 0.0)

REQUESTS = ("select", "set_target", "set_gain", "reset")
"""Methods of `Live` that a page may ask for."""


@dataclass(frozen=True)
class Joint:
    """A joint of the robot that is looked at.

    Args:
        name: Its name.
        lower: Lower end of the targets one may choose [rad or m].
        upper: Upper end [rad or m].
        gains: Names of gains that can be set, `kp` and `kd`, or none.
        driven: Whether an actuator has it.
        stages: Class names of the stages of that actuator, in the order in which they act.
    """

    name: str
    lower: float
    upper: float
    gains: tuple[str, ...] = ()
    driven: bool = False
    stages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effort:
    """What the motor of a joint did in the last step.

    Args:
        column: Of the joint.
        computed: Effort of the control law [N·m or N].
        applied: Effort after all stages [N·m or N].
        lower: Least effort that the stages let through at the velocity of that step [N·m or N]; those aside that
            compute arrays, or remember something.
        upper: Largest effort [N·m or N].
        limited_by: Class name of the clamp that changed the effort last, empty for none.
    """

    column: int
    computed: float
    applied: float
    lower: float
    upper: float
    limited_by: str


@dataclass
class _Watched:
    """What drives the robot looked at; wrappers themselves are not held, for they close when nobody holds them."""

    log: Recording
    columns: list[int]
    # actuator, and number of the joint among those of it, by column
    places: dict[int, tuple[Any, int]] = field(default_factory=dict)
    # what stages let through, and for which columns
    bounds: list[tuple[list[int], StageBounds]] = field(default_factory=list)


class Live:
    """A simulation that plays, one environment and robot of it at a time.

    Args:
        sim: The simulation.
        host: Its host.
    """

    def __init__(self, sim: Any, host: Any) -> None:
        self._sim, self._host = sim, host
        self._records = contextlib.ExitStack()
        self.env = 0
        """Environment that is shown."""
        self.robot = 0
        """Number of the robot in it whose joints are shown."""
        self.refresh()

    @property
    def is_current(self) -> bool:
        """Whether physics and wrappers are those that were found; `refresh` looks again."""
        found = self._host.generation, [id(wrapper) for wrapper in attached_to(self._sim.bus)]
        return found == self._found

    def refresh(self) -> None:
        """Look for robots and wrappers."""
        # MuJoCo is an extra
        from ..hosts.mujoco.drawing import Drawing

        self.drawing = Drawing(self._host)
        self.envs = self._sim.num_envs
        self._look(min(self.env, self.envs - 1), self.robot)

    def select(self, env: int, robot: int) -> None:
        """Show another environment, and the joints of another robot.

        Raises:
            ValueError: There is none of that number.
        """
        for name, number, count in (("environment", env, self.envs), ("robot", robot, max(1, len(self.robots)))):
            if whole_of(name, number) >= count:
                raise ValueError(f"{name} = {number}: must be below {count}. Choose another.")
        self._look(env, robot)

    def _look(self, env: int, robot: int) -> None:
        self._records.close()
        wrappers = attached_to(self._sim.bus)
        self._found = self._host.generation, [id(wrapper) for wrapper in wrappers]
        here = [one for one in self._host.robots() if one.env == env]
        self.robots = [one.path for one in here]
        self.env, self.robot = env, robot if robot < len(here) else 0
        self._driven = np.zeros(sum(len(one.dof_names) for one in here), bool)
        self._watched: list[_Watched] = []
        self.joints: list[Joint] = []
        if not here:
            return
        starts = np.cumsum([0, *(len(one.dof_names) for one in here)])
        for wrapper in wrappers:
            paths = list(wrapper.articulation.paths)
            for path, start in zip(self.robots, starts, strict=False):
                if path in paths:
                    self._driven[start + np.array(wrapper.commanded_dof_indices, int)] = True
            if wrapper.actuated_dof_indices and self.robots[self.robot] in paths:
                self._watched.append(self._watch(wrapper, paths.index(self.robots[self.robot])))
        self.articulation = self._sim.articulation(self.robots[self.robot])
        """The robot whose joints are shown."""
        places = {column: place for one in self._watched for column, place in one.places.items()}
        bounds = [end.numpy()[0] for end in self.articulation.get_dof_limits()]
        for column, (name, *ends) in enumerate(zip(self.articulation.dof_names, *bounds, strict=True)):
            lower, upper = (float(end) if math.isfinite(end) else sign * _OPEN for sign, end in zip((-1, 1), ends))  # noqa: B905
            place = places.get(column)
            self.joints.append(Joint(name, lower, upper, _gains(place), place is not None, _stages(place)))

    def close(self) -> None:
        """Record no more."""
        self._records.close()

    # what is to be seen

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._sim.time

    def poses(self) -> np.ndarray:
        """Position and quaternion of each body of the environment, `(bodies, 7)`."""
        return self.drawing.poses(self.env)

    def target_poses(self) -> np.ndarray:
        """The same with robots where their targets are; joints that nothing holds in a position stay."""
        arrays = self._host.arrays()
        width = len(self._driven)
        mine = slice(self.env * width, (self.env + 1) * width)
        held = self._driven | (arrays.stiffnesses[mine] > 0)
        return self.drawing.target_poses(self.env, np.where(held, arrays.position_targets[mine], np.nan))

    def positions(self) -> np.ndarray:
        """Positions of the joints [rad or m]."""
        return self.articulation.get_dof_positions().numpy()[0]

    def targets(self) -> np.ndarray:
        """Position targets of the joints [rad or m]."""
        return self.articulation.get_dof_position_targets().numpy()[0]

    def efforts(self) -> list[Effort]:
        """What the motors did in the last step, by column; none before the first."""
        found = []
        for one in self._watched:
            if not len(one.log):
                continue
            last = {name: getattr(one.log, name)[-1, 0] for name in _SIGNALS}
            for columns, bounds in one.bounds:
                here = [one.columns.index(column) for column in columns]
                ends = bounds(last["positions"][here], last["velocities"][here])
                ends = np.where(np.isnan(ends), [[-np.inf], [np.inf]], ends)
                for column, at, lower, upper in zip(columns, here, *ends.tolist(), strict=True):
                    computed, applied = (float(last[name][at]) for name in _SIGNALS[2:4])
                    found.append(Effort(column, computed, applied, lower, upper, str(last["limited_by"][at])))
        return sorted(found, key=lambda effort: effort.column)

    def history(self, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Time before now [s], computed and applied efforts of a joint in the last seconds."""
        for one in self._watched:
            if column in one.columns and len(one.log):
                at, time = one.columns.index(column), one.log.time
                efforts = (getattr(one.log, name)[:, 0, at] for name in ("computed_efforts", "applied_efforts"))
                return time - time[-1], *efforts
        return np.zeros(0), np.zeros(0), np.zeros(0)

    def gain(self, column: int, name: str) -> float:
        """A gain of a joint as it is now."""
        actuator, place = self._place(column)
        return float(actuator.controller.read(name)[place])

    # what may be asked for

    def set_target(self, column: int, value: float) -> None:
        """Set the position target of a joint [rad or m].

        Raises:
            ValueError: It is not finite in single precision.
        """
        if problem := complaint(f"target of {self._joint(column).name}", value, _ANY):
            raise ValueError(problem)
        self.articulation.set_dof_position_targets([[value]], dof_indices=[column])

    def set_gain(self, column: int, name: str, value: float) -> None:
        """Set a gain of a joint, for this robot alone.

        Raises:
            ValueError: The joint has no such gain, or the value breaks the rule of the parameter.
        """
        joint = self._joint(column)
        if name not in joint.gains:
            raise ValueError(f"{name} of {joint.name}: must be a gain of its actuator. Choose another.")
        actuator, place = self._place(column)
        described, subject = description_of(actuator.controller, name), f"{name} of {joint.name}"
        if problem := complaint(subject, value, described or _ANY):
            raise ValueError(problem)
        array = getattr(actuator.controller, name)
        values = array.numpy().copy()
        values[place] = value
        array.assign(values)

    def reset(self) -> None:
        """Put the environment back to its beginning."""
        self._sim.reset([self.env])

    # inside

    def _watch(self, wrapper: Any, row: int) -> _Watched:
        capacity = max(2, math.ceil(HISTORY / self._sim.dt))
        log = self._records.enter_context(wrapper.record(_SIGNALS, capacity=capacity, robots=[row]))
        found = _Watched(log, wrapper.actuated_dof_indices)
        for actuator in wrapper.actuators:
            count = len(actuator.dof_names)
            columns = actuator.indices.numpy()[row * count : (row + 1) * count] - row * wrapper.articulation.num_dofs
            rows = range(row * count, (row + 1) * count)
            found.places |= {column: (actuator, at) for column, at in zip(columns.tolist(), rows, strict=True)}
            found.bounds.append((columns.tolist(), StageBounds(known_at_once(actuator), rows)))
        return found

    def _joint(self, column: int) -> Joint:
        """A joint that may have gone since it was asked for."""
        if not 0 <= column < len(self.joints):
            raise ValueError(f"joint = {column}: must be below {len(self.joints)}. Choose another.")
        return self.joints[column]

    def _place(self, column: int) -> tuple[Any, int]:
        return next(one.places[column] for one in self._watched if column in one.places)


def _gains(place: tuple[Any, int] | None) -> tuple[str, ...]:
    """Gains of an actuator that are numbers."""
    if place is None:
        return ()
    known = getattr(type(place[0].controller), "PARAMETERS", ())
    return tuple(name for name in ("kp", "kd") if name in known)


def _stages(place: tuple[Any, int] | None) -> tuple[str, ...]:
    """Class names of the stages of an actuator."""
    return () if place is None else tuple(type(stage).__name__ for stage in place[0].stages)
