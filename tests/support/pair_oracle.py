"""A joint in float64: the formulas of `oracle`, chained in the order of the table of kinds, for explicit efforts.

A joint is one axis without a linkage, whose formulas are in `tests/engine/test_linkages.py`. Inputs are finite.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import oracle
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.configs import NeuralControlConfig
from isaacsim.core.experimental.actuators.specs.signals import SIGNALS
from isaacsim.core.experimental.actuators.specs.stages import KINDS, moves_behind
from neural_twin import Twin
from pair_joints import Joint
from pair_worlds import DTS, RESET_AT, STEPS, Arrays, Script

Columns = list[np.ndarray]
"""Numbers of all robots, each `(robots,)`."""


def has_formulas(joint: Joint) -> bool:
    known = all(one.__name__ in oracle.LAWS or one.__name__ in _BESIDE for one in joint.components)
    return known and len(joint.axes) == 1 and not joint.is_linkage and joint.mode == "explicit"


# laws without a formula of their own in `oracle`: a delay in steps, networks
_BESIDE = ("Delay", *(name for law in catalogue.LAWS for name in law.by_network.values()))


class Late:
    """Values that act late, linear between steps; a reset fills the past with the first value after it."""

    def __init__(self, robots: int) -> None:
        self._past: list[list[float]] = [[] for _ in range(robots)]

    def __call__(self, values: np.ndarray, lag: np.ndarray, runs: np.ndarray) -> np.ndarray:
        """Values that act of `lag` steps ago, of robots that run; those of the others do not count."""
        found = np.zeros(len(values))
        for robot in np.flatnonzero(runs):
            past = self._past[robot]
            past.append(float(values[robot]))
            whole = math.floor(lag[robot])
            newer, older = (past[max(0, len(past) - 1 - back)] for back in (whole, whole + 1))
            found[robot] = newer + (lag[robot] - whole) * (older - newer)
        return found

    def reset(self, robot: int) -> None:
        self._past[robot] = []


class Stage:
    def __init__(self, component, robots: int) -> None:
        self.component, self.name, self.kind = component, type(component).__name__, component.KIND
        law = catalogue.law_of(type(component))
        self.owner: Any = law.component if law else type(component)
        self.parameters = {name: self._read(name, robots) for name in self.owner.PARAMETERS}
        self.state = {name: np.full(robots, self.owner.START.get(name, 0.0)) for name in self.owner.STATE}
        self.late = [Late(robots) for _ in self.owner.LATE]

    def _read(self, name: str, robots: int) -> np.ndarray:
        try:
            return self.component.read(name).astype(np.float64)
        except ValueError:
            # an array that may be left out
            return np.zeros(robots)

    def reset(self, robot: int) -> None:
        kept = self.owner.KEPT
        for name, values in self.state.items():
            by = kept[name] if isinstance(kept, Mapping) and name in kept else None
            if not (name in kept and (by is None or self.state[by][robot] != 0.0)):
                values[robot] = self.owner.START.get(name, 0.0)
        for one in self.late:
            one.reset(robot)

    def published(self) -> dict[str, np.ndarray]:
        found = {}
        for signal, state in self.owner.PUBLISHES.items():
            other = self.owner.UNSET_AS.get(state)
            unset = SIGNALS[signal].neutral if other is None else self.parameters[other]
            found[signal] = np.where(np.isnan(self.state[state]), unset, self.state[state])
        return found

    def __call__(self, given: Sequence, position, velocity, runs: np.ndarray, asked: Mapping) -> Columns:
        """Results of the law; the state of robots that run becomes the new one."""
        over = {"position": position, "velocity": velocity, "speed": np.abs(velocity)}
        curves = [
            np.array([oracle.table_limit(at, *self._rows(name)) for at in over[of]])
            for name, of in self.owner.CURVES.items()
        ]
        state = [self._known(name) for name in self.state]
        asks = [asked[name] for name in self.owner.ASKS]
        with np.errstate(all="ignore"):
            found = oracle.LAWS[self.owner.__name__](*given, *asks, *state, *self.parameters.values(), *curves)
        found = [np.broadcast_to(np.asarray(one, float), runs.shape) for one in found]
        first = len(found) - len(state)
        for name, new in zip(self.state, found[first:], strict=True):
            # float64 needs no rest of a rounding
            new = np.zeros_like(new) if name.endswith("_rest") else new
            self.state[name] = np.where(runs, new, self.state[name])
        return found[:first]

    def _known(self, name: str) -> np.ndarray:
        if (other := self.owner.UNSET_AS.get(name)) is None:
            return self.state[name]
        return np.where(np.isnan(self.state[name]), self.parameters[other], self.state[name])

    def _rows(self, name: str) -> tuple[list[float], list[float]]:
        points, values = self.component.curve(name)
        return [[float(np.float32(one)) for one in column] for column in (points, values)]  # pyright: ignore


class Chain:
    def __init__(self, joint: Joint, robots: int) -> None:
        self.robots = robots
        self.world = Arrays([joint], robots)
        (actuator,) = self.world.arrays.actuators
        stages = [(stage, Stage(stage, robots)) for stage in actuator.stages if type(stage).__name__ not in _BESIDE]
        self.stages = [one for _, one in stages]
        by_kind = {one.kind: one for one in self.stages}
        self.sensor, self.timed, self.law = (by_kind.get(kind) for kind in ("feedback", "delay", "controller"))
        self.rate, self.gear = by_kind.get("rate"), by_kind.get("transmission")
        self.at_motor = getattr(self.sensor.component, "side", "joint") == "motor" if self.sensor else False
        self.at_motor = self.at_motor and self.gear is not None
        self.after = [one for one in self.stages if KINDS[one.kind].takes_effort]
        self.steps = [Late(robots) for _ in range(3)]
        self.lag = actuator.delay.read("delay_steps") if type(actuator.delay).__name__ == "Delay" else None
        self.twin: Twin | None = None
        for config in joint.axes[0]:
            if isinstance(config, NeuralControlConfig):
                checkpoint = load_checkpoint(config.model_path)
                self.twin = Twin(checkpoint.network, checkpoint.metadata, robots)  # pyright: ignore
        self.world.close()

    def reset(self, robot: int) -> None:
        for one in (*self.stages, *self.steps):
            one.reset(robot)
        if self.twin is not None:
            self.twin.reset(np.arange(self.robots) == robot)

    def step(self, inputs: np.ndarray, signals: Mapping[str, np.ndarray], h: float) -> np.ndarray:
        """Efforts `(robots,)` of inputs `(5, robots)`."""
        every = np.ones(self.robots, bool)
        q, qd, *commands = (np.asarray(one, np.float64) for one in inputs)
        asked = {name: np.full(self.robots, one.neutral) for name, one in SIGNALS.items()}
        asked |= {name: np.asarray(one, np.float64) for name, one in signals.items()}
        asked["robot_number"] = asked["joint_number"] = np.arange(self.robots, dtype=float)
        for one in self.stages:
            asked |= one.published()
        # a joint by itself
        asked |= {name: asked[one.total_of] for name, one in SIGNALS.items() if one.total_of}
        runs, h_law = every, np.full(self.robots, h)
        if self.rate is not None:
            numbers = list(self.rate.parameters.values())
            clock, period = self.rate.state["clock"], oracle.period_of(h, *numbers[:2])
            runs, h_law = np.isnan(clock) | (clock + 1 >= period - 1e-3), period * h
        if self.lag is not None:
            commands = [late(one, self.lag, runs) for late, one in zip(self.steps, commands, strict=True)]
        elif self.timed is not None:
            (lag,) = self.timed([h_law], q, qd, runs, asked)
            commands = [late(one, lag, runs) for late, one in zip(self.timed.late, commands, strict=True)]
        seen = (
            [q, qd] if self.sensor is None or self.at_motor else self._measured(self.sensor, q, qd, h_law, runs, asked)
        )
        for one in self.stages:
            if KINDS[one.kind].commands:
                shown = [q, qd] if self.at_motor else seen
                commands = one([*shown, *commands, h_law], *shown, runs, asked)
        felt = asked
        if self.gear is not None:
            hidden = self.sensor is not None and not self.at_motor
            motor = self._of_motor([*seen, *commands], hidden)
            seen, commands = motor[:2], motor[2:]
            felt = asked | self._felt(asked)
        if self.sensor is not None and self.at_motor:
            seen = self._measured(self.sensor, *seen, h_law, runs, felt)
        if self.twin is not None:
            effort = self.twin.step(*seen, *commands[:2], hold=np.flatnonzero(~runs))
        elif self.law is not None:
            (effort,) = self.law([*seen, *commands, h_law], *seen, runs, felt)
        else:
            effort = np.zeros(self.robots)
        here = q, qd
        if self.gear is not None:
            here = tuple(self._of_motor([q, qd, 0.0 * q, 0.0 * q, 0.0 * q], False)[:2])
        behind = False
        for one in self.after:
            is_joint = one is self.gear or moves_behind(one.component)
            is_joint = is_joint or KINDS[one.kind].coordinates in ("joint", "shaft")
            behind = behind or is_joint
            at, said = ((q, qd), asked) if is_joint else (here, felt)
            found = one([effort, *at, h], *at, every, said)
            if one.owner.LATE:
                effort = one.late[0](found[0], found[1], every)
            elif found:
                effort = found[0]
        return effort

    def _measured(self, sensor: Stage, q, qd, h, runs: np.ndarray, asked) -> Columns:
        measured_q, measured_qd, lag = sensor([q, qd, h], q, qd, runs, asked)
        return [late(one, lag, runs) for late, one in zip(sensor.late, (measured_q, measured_qd), strict=True)]

    def _of_motor(self, signals: Sequence, hidden: bool) -> Columns:
        assert self.gear is not None
        state = [np.full(self.robots, np.nan) if hidden else one for one in self.gear.state.values()]
        found = oracle.MOTORS[self.gear.owner.__name__](*signals, *state, *self.gear.parameters.values())
        return [np.asarray(one, float) for one in found]

    def _felt(self, asked: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Inertias and load at the motor: those of the joint, or of a rotor on a spring, whose drag is left out."""
        assert self.gear is not None
        numbers, state = self.gear.parameters, self.gear.state
        if "spring_effort" in state:
            rotor = numbers["rotor_inertia"]
            spring = state["spring_effort"] / numbers["ratio"]
            none = np.zeros(self.robots)
            return {"inertia": rotor, "coupled_inertia": rotor, "load": spring, "load_is_whole": none}
        inertias = {name: asked[name] / numbers["ratio"] ** 2 for name in ("inertia", "coupled_inertia")}
        return inertias | {"load": asked["load"] / numbers["ratio"]}


def expected_efforts(joint: Joint, told: Script, robots: int, resets: Sequence[int] = (1,)) -> np.ndarray:
    chain, found = Chain(joint, robots), []
    for step in range(STEPS):
        if step == RESET_AT:
            for robot in resets:
                chain.reset(robot)
        signals = {name: values[step, :, 0] for name, values in told.signals.items()}
        found.append(chain.step(told.inputs[:, step, :, 0], signals, DTS[step]))
    return np.array(found)
