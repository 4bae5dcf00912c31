"""A test bench that logs a known actuator: it turns shafts with random commands against random loads."""

from types import SimpleNamespace

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.tools.training import ActuatorLog

__all__ = ["DT", "KD", "KP", "known_actuator", "record", "rms"]

DT, SHAFTS = 1 / 200, 8  # physics step [s]
KP, KD, DELAY = 200.0, 5.0, 2  # [N·m/rad], [N·m·s/rad], steps
STALL, NO_LOAD, PEAK = 120.0, 10.0, 60.0  # [N·m], [rad/s], [N·m]
COULOMB, VISCOUS = 2.0, 0.5  # [N·m], [N·m·s/rad]


# docs: begin actuator
@wp.func
def friction(effort: float, position: float, velocity: float, coulomb: float, viscous: float) -> float:
    """Return the motor effort minus friction: dry, smooth around standstill, and viscous."""
    return effort - coulomb * wp.tanh(velocity / 0.2) - viscous * velocity


class Friction(ea.Clamping):
    """Friction between motor and joint; as the last clamp it acts on the output of the motor."""

    PARAMETERS = ("coulomb", "viscous")
    LAW = friction


def known_actuator(count: int) -> ea.ActuatorConfig:
    """Return PD with a delay of two steps, on a DC motor with friction, for `count` actuators."""

    def each(value: float, dtype: type = wp.float32) -> wp.array:
        return wp.full(count, value, dtype=dtype, device="cpu")

    motor = ea.ClampingDCMotor(each(STALL), each(NO_LOAD), each(PEAK))
    clamping = [motor, Friction(each(COULOMB), each(VISCOUS))]
    return ea.ActuatorConfig(ea.ControllerPD(each(KP), each(KD)), clamping, ea.Delay(each(DELAY, wp.int32), DELAY))
    # docs: end actuator


def waves(rng: np.random.Generator, steps: int, highest: float, size: float) -> np.ndarray:
    """Return sums of six sines up to `highest` [Hz], a column per shaft, bounded by ± `size`."""
    size = size * rng.uniform(0.1, 1.0, SHAFTS)
    sizes, phases = rng.uniform(size=(2, 6, 1, SHAFTS))
    phases = 2 * np.pi * (phases + rng.uniform(0.1, highest, (6, 1, SHAFTS)) * DT * np.arange(steps)[:, None])
    return size * (sizes / sizes.sum(0) * np.sin(phases)).sum(0)


# docs: begin record
def record(seed: int, seconds: float) -> ActuatorLog:
    """Log the actuator on shafts of 0.1 to 1 kg·m², with sine and step commands and loads up to 60 N·m."""
    rng, steps = np.random.default_rng(seed), round(seconds / DT)
    targets, loads, inertias = waves(rng, steps, 3.0, 1.0), waves(rng, steps, 3.0, 60.0), rng.uniform(0.1, 1.0, SHAFTS)
    for column in targets.T:
        # one step per second, at random times
        column += rng.uniform(-0.3, 0.3, steps)[np.cumsum(rng.random(steps) < DT)]
    config, shafts = known_actuator(SHAFTS), wp.array(np.arange(SHAFTS), dtype=wp.uint32, device="cpu")
    actuator = ea.Actuator(shafts, config.controller, config.delay, config.clamping)
    states = [actuator.state(), actuator.state()]
    q, qd, target, effort = (wp.zeros(SHAFTS, dtype=wp.float32, device="cpu") for _ in range(4))
    state, control = SimpleNamespace(joint_q=q, joint_qd=qd), SimpleNamespace(joint_target_pos=target, joint_f=effort)
    control.joint_target_vel = wp.zeros_like(target)
    rows = np.zeros((4, steps, SHAFTS), np.float32)
    for step in range(steps):
        target.assign(targets[step])
        effort.zero_()
        actuator.step(state, control, *states, dt=DT)
        states.reverse()
        rows[:, step] = [signal.numpy() for signal in (q, qd, target, effort)]
        qd.assign(qd.numpy() + DT * (effort.numpy() + loads[step]) / inertias)
        q.assign(q.numpy() + DT * qd.numpy())
    return ActuatorLog(DT, *rows, turns=True)
    # docs: end record


def rms(values: np.ndarray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.square(values).mean()))
