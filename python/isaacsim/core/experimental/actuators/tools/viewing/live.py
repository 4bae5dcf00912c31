"""The model of a live view: data of a simulation to show, and requests to it."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.actuator import Actuator
from ...engine.bounds import StageBounds, known_of_motor
from ...engine.plan import description_of
from ...extension.attachment import attached_to
from ...simulators.port import turning
from ...specs.arguments import whole_of
from ...specs.fields import Parameter, complaint
from ...specs.thermal import DERATING
from ..feedback import gears, has_passive_stages
from ..recording.recorder import recorded_states
from ..recording.recording import Recording

if TYPE_CHECKING:
    from ...extension.articulation_actuators import ArticulationActuators
    from ...laws.contract.base import Component
    from ...simulators.mujoco.host import MujocoHost

# duration of charts [s]
HISTORY = 3.0
_SIGNALS = ("positions", "position_targets", "velocities", "computed_efforts", "applied_efforts", "limited_by")
# of wrappers with passive stages
_FRICTION = ("motor_efforts", "passive_efforts", "sticking")
# of wrappers with a thermal law
_HEAT = "winding_temperatures"
# range of a slider for a joint without limits [rad or m]
_OPEN = math.pi

# rule of any finite number
_ANY = Parameter("", "float", "", 0.0)

REQUESTS = ("select", "set_target", "set_gain", "hold_base", "reset")
"""Methods of `Live` that a page may request."""


@dataclass(frozen=True)
class Joint:
    """A joint of the shown robot."""

    name: str
    # ends of its targets [rad or m]
    lower: float
    upper: float
    # those that can be set, `kp` and `kd`
    gains: tuple[str, ...] = ()
    driven: bool = False
    # class names of its actuator's stages, in the order in which they act
    stages: tuple[str, ...] = ()
    # some of them are passive, friction for instance
    passive: bool = False
    # temperatures of the winding at which the derating of its motor starts and ends [°C], inf without one; None without
    # a thermal law
    derating: tuple[float, float] | None = None
    # else it slides; None if unknown
    turns: bool | None = None


@dataclass(frozen=True)
class Effort:
    """Effort of the motor of a joint in the last step [N·m or N]."""

    column: int
    # of the control law, at the joint behind a transmission; NaN where that is unknown
    computed: float
    # after all stages
    applied: float
    # least and largest of the motor within its stages at the velocity of that step, without stages that compute
    # arrays or have state
    lower: float
    upper: float
    # class name of the clamp that changed the effort last
    limited_by: str
    # after all limits; without passive stages it is the applied one
    motor: float
    # of the passive stages; None without
    friction: float | None = None
    # see `Recording.sticking`
    sticking: bool = False
    # of the winding [°C]; None without a thermal law
    temperature: float | None = None


@dataclass
class _Watched:
    """The recorded actuators of the shown robot; a wrapper itself is not referenced, as it closes when unreferenced."""

    log: Recording
    columns: list[int]
    # actuator, and number of the joint within it, by column
    places: dict[int, tuple[Actuator, int]] = field(default_factory=dict)
    # effort at the joint per effort of the motor, by column
    ratios: dict[int, float] = field(default_factory=dict)
    # columns, and bounds of their stages
    bounds: list[tuple[list[int], StageBounds]] = field(default_factory=list)


class Live:
    """One environment and robot of a playing simulation at a time."""

    def __init__(self, sim: Any, host: MujocoHost) -> None:
        self._sim, self._host = sim, host
        self._records = contextlib.ExitStack()
        self.is_held = False
        """True while the base of the shown robot is held."""
        self.env = 0
        """Environment that is shown."""
        self.robot = 0
        """Number of the robot in it whose joints are shown."""
        self.refresh()

    @property
    def is_current(self) -> bool:
        """True while physics and wrappers are those of the last `refresh`."""
        found = self._host.generation, [id(wrapper) for wrapper in attached_to(self._sim.bus)]
        return found == self._found

    def refresh(self) -> None:
        """Find robots and wrappers."""
        # MuJoCo is an extra
        from ...simulators.mujoco.picture import Drawing

        self.drawing = Drawing(self._host)
        self.envs = self._sim.num_envs
        self._look(min(self.env, self.envs - 1), self.robot)

    def select(self, env: int, robot: int) -> None:
        """Show another environment, and the joints of another robot; ValueError if there is none of that number."""
        for name, number, count in (("environment", env, self.envs), ("robot", robot, max(1, len(self.robots)))):
            if whole_of(name, number) >= count:
                raise ValueError(f"{name} = {number}: must be below {count}. Choose another.")
        self._look(env, robot)

    @property
    def title(self) -> str:
        """Name of the shown robot, and the file."""
        names = [self.robots[self.robot].rpartition("/")[2]] if self.robots else []
        return ", ".join([*names, os.path.basename(self._sim._source)])

    @property
    def is_floating(self) -> bool:
        """True if the shown robot has a floating base."""
        return bool(self.robots) and self._host.layout_of(self._prototype).floating

    def _look(self, env: int, robot: int) -> None:
        self._records.close()
        self.hold_base(False)
        wrappers = attached_to(self._sim.bus)
        self._found = self._host.generation, [id(wrapper) for wrapper in wrappers]
        here = [one for one in self._host.robots() if one.env == env]
        self.robots = [one.path for one in here]
        self.env, self.robot = env, robot if robot < len(here) else 0
        starts = np.cumsum([0, *(len(one.dof_names) for one in here)])
        self._driven = np.zeros(starts[-1], bool)
        self._watched: list[_Watched] = []
        self.joints: list[Joint] = []
        for wrapper in wrappers if here else ():
            self._add(wrapper, starts)
        if here:
            self._prototype = here[self.robot].prototype[0]
            self._number = self._host.robots().index(here[self.robot])
            self.articulation = self._sim.articulation(self.robots[self.robot])
            """The robot whose joints are shown."""
            self.joints = self._joints()

    def _add(self, wrapper: ArticulationActuators, starts: np.ndarray) -> None:
        """Mark the joints that a wrapper drives, and record it if it drives the shown robot."""
        paths = list(wrapper.articulation.paths)
        for path, start in zip(self.robots, starts, strict=False):
            if path in paths:
                self._driven[start + np.array(wrapper.commanded_dof_indices, int)] = True
        if wrapper.actuated_dof_indices and self.robots[self.robot] in paths:
            row = paths.index(self.robots[self.robot])
            capacity = max(2, math.ceil(HISTORY / self._sim.dt))
            passive = any(map(has_passive_stages, wrapper.actuators))
            warm = any(_thermal(actuator) is not None for actuator in wrapper.actuators)
            signals = (*_SIGNALS, *(_FRICTION if passive else ()), *((_HEAT,) if warm else ()))
            log = self._records.enter_context(wrapper.record(signals, capacity=capacity, robots=[row]))
            found = _Watched(log, wrapper.actuated_dof_indices)
            for actuator in wrapper.actuators:
                count = len(actuator.dof_names)
                columns = (
                    actuator.indices.numpy()[row * count : (row + 1) * count] - row * wrapper.articulation.num_dofs
                )
                rows = range(row * count, (row + 1) * count)
                found.places |= {column: (actuator, at) for column, at in zip(columns.tolist(), rows, strict=True)}
                found.ratios |= zip(columns.tolist(), gears(actuator)[0, row].tolist(), strict=True)
                found.bounds.append((columns.tolist(), StageBounds(known_of_motor(actuator), rows)))
            self._watched.append(found)

    def _joints(self) -> list[Joint]:
        """Return the joints of the shown robot."""
        places = {column: place for one in self._watched for column, place in one.places.items()}
        lower, upper = (np.array(end.numpy()[0], float) for end in self.articulation.get_dof_limits())
        lower, upper = np.where(np.isfinite(lower), lower, -_OPEN), np.where(np.isfinite(upper), upper, _OPEN)
        ranges = zip(self.articulation.dof_names, lower.tolist(), upper.tolist(), strict=True)
        kinds = turning(self.articulation) or [None] * len(lower)
        motors = (_motor(places.get(column)) for column in range(len(kinds)))
        return [Joint(*one, **motor, turns=kind) for one, motor, kind in zip(ranges, motors, kinds, strict=True)]

    def close(self) -> None:
        """Stop recording, and let the base go."""
        self._records.close()
        self.hold_base(False)

    # data

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._sim.time

    def poses(self) -> np.ndarray:
        """Return position and quaternion of each body of the environment, `(bodies, 7)`."""
        return self.drawing.poses(self.env)

    def target_poses(self) -> np.ndarray:
        """Return the same with robots at their targets; joints without position control stay."""
        if (arrays := self._host.arrays()) is None:
            return self.poses()
        width = len(self._driven)
        mine = slice(self.env * width, (self.env + 1) * width)
        held = self._driven | (arrays.stiffnesses[mine] > 0)
        return self.drawing.target_poses(self.env, np.where(held, arrays.position_targets[mine], np.nan))

    def positions(self) -> np.ndarray:
        """Return the positions of the joints [rad or m]."""
        return self.articulation.get_dof_positions().numpy()[0]

    def targets(self) -> np.ndarray:
        """Return the position targets of the joints [rad or m]."""
        return self.articulation.get_dof_position_targets().numpy()[0]

    def efforts(self) -> list[Effort]:
        """Return the efforts of the motors in the last step, by column; none before the first."""
        found = []
        for one in self._watched:
            if not len(one.log):
                continue
            last = {name: getattr(one.log, name)[-1, 0] for name in one.log.signals}
            for columns, bounds in one.bounds:
                here = [one.columns.index(column) for column in columns]
                ends = bounds(last["positions"][here], last["velocities"][here])
                ends = np.where(np.isnan(ends), [[-np.inf], [np.inf]], ends)
                for column, at, lower, upper in zip(columns, here, *ends.tolist(), strict=True):
                    joint, applied = self.joints[column], float(last["applied_efforts"][at])
                    computed = float(last["computed_efforts"][at]) * one.ratios[column]
                    effort = Effort(column, computed, applied, lower, upper, str(last["limited_by"][at]), applied)
                    if joint.passive:
                        motor, friction = (float(last[name][at]) for name in _FRICTION[:2])
                        effort = replace(effort, motor=motor, friction=friction, sticking=bool(last["sticking"][at]))
                    if joint.derating is not None:
                        effort = replace(effort, temperature=float(last[_HEAT][at]))
                    found.append(effort)
        return sorted(found, key=lambda effort: effort.column)

    def history(self, column: int) -> tuple[np.ndarray, ...]:
        """Times to now [s], computed and applied efforts of a joint; if passive, those of motor and passive stages."""
        passive = self._joint(column).passive
        names = ("computed_efforts", *(_FRICTION[:2] if passive else ("applied_efforts",)))
        for one in self._watched:
            if column in one.columns and len(one.log):
                at, time = one.columns.index(column), one.log.time
                computed, *rest = (getattr(one.log, name)[:, 0, at] for name in names)
                return time - time[-1], computed * np.float32(one.ratios[column]), *rest
        return (np.zeros(0),) * (1 + len(names))

    def motion(self, column: int) -> tuple[np.ndarray, ...]:
        """Return times relative to now [s], positions and position targets of a joint in the last seconds."""
        for one in self._watched:
            if column in one.columns and len(one.log):
                at, time = one.columns.index(column), one.log.time
                return time - time[-1], one.log.positions[:, 0, at], one.log.position_targets[:, 0, at]
        return (np.zeros(0),) * 3

    def gain(self, column: int, name: str) -> float:
        """Return the current gain of a joint."""
        actuator, place = self._place(column)
        return float(actuator.controller.read(name)[place])

    # requests

    def set_target(self, column: int, value: float) -> None:
        """Set the position target of a joint [rad or m]; ValueError if it is not finite in single precision."""
        if problem := complaint(f"target of {self._joint(column).name}", value, _ANY):
            raise ValueError(problem)
        self.articulation.set_dof_position_targets([[value]], dof_indices=[column])

    def set_gain(self, column: int, name: str, value: float) -> None:
        """Set a gain of a joint of this robot only."""
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

    def hold_base(self, wanted: bool) -> None:
        """Hold a floating base where it is, as on a stand, or let it go."""
        wanted = bool(wanted) and self.is_floating
        if wanted != self.is_held:
            self.is_held = wanted
            if self._sim.playing:
                self._host.hold_root(self._number, wanted)

    def reset(self) -> None:
        """Reset the environment."""
        self._sim.reset([self.env])

    def _joint(self, column: int) -> Joint:
        """Return a joint, which may no longer exist."""
        if not 0 <= column < len(self.joints):
            raise ValueError(f"joint = {column}: must be below {len(self.joints)}. Choose another.")
        return self.joints[column]

    def _place(self, column: int) -> tuple[Actuator, int]:
        return next(one.places[column] for one in self._watched if column in one.places)


def _thermal(actuator: Actuator) -> Component | None:
    """Return the thermal law of an actuator, or None."""
    return next((stage for stage in actuator.stages if _HEAT in recorded_states(stage)), None)


def _derating(actuator: Actuator, at: int) -> tuple[float, float] | None:
    """Return where the derating of a joint starts and ends [°C], see `Joint`."""
    law = _thermal(actuator)
    if law is None:
        return None
    start, end = (float(law.read(name)[at]) for name in ("derating_start", "max_temperature"))
    return min(start, end - DERATING), end


def _motor(place: tuple[Actuator, int] | None) -> dict[str, Any]:
    """Return the properties of a `Joint` that its actuator has; none without one."""
    if place is None:
        return {}
    actuator, at = place
    known = getattr(type(actuator.controller), "PARAMETERS", ())
    return {
        "gains": tuple(name for name in ("kp", "kd") if name in known),
        "driven": True,
        "stages": tuple(type(stage).__name__ for stage in actuator.stages),
        "passive": has_passive_stages(actuator),
        "derating": _derating(actuator, at),
    }
