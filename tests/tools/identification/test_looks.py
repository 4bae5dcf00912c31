"""Plants that differ from their simulation by one effect; the look of what is left names it."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.identified import Replay
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.looks import look_of
from refusals import cases

DT, FINE, NOISE = 0.01, 10, 2e-4
TIME = np.arange(4000) * DT
# moves to other heights and rests there, then a sine that gets faster
LEVELS = np.repeat(np.random.default_rng(3).uniform(-0.8, 0.8, 10), 200)
STEPS = np.convolve(np.pad(LEVELS, (29, 0), "edge"), np.ones(30) / 30, "valid")
COMMAND = np.concatenate([STEPS, LEVELS[-1] + 0.15 * np.sin(1.1 * TIME[:2000] ** 2)])


def arm(*, mass: float = 0.3, coulomb: float = 0.05, wall: float = np.inf, softens: float = 0.0) -> np.ndarray:
    found, q, v = np.empty_like(COMMAND), float(COMMAND[0]), 0.0
    for row, command in enumerate(COMMAND):
        found[row] = q
        for _ in range(FINE):
            h, kp = DT / FINE, 20.0 * (1.0 - softens * row / len(COMMAND))
            free = v + h / 0.05 * (kp * (command - q) - 1.0 * v - 9.81 * 0.2 * mass * np.cos(q))
            v = np.sign(free) * max(0.0, abs(free) - h / 0.05 * coulomb)
            q += h * v
            if q > wall:
                q, v = wall, 0.0
    return found


def on_a_spring(positions: np.ndarray) -> np.ndarray:
    """Return the positions of a link on a spring of 5 Hz behind a joint."""
    found, omega, velocity = positions.copy(), 2 * np.pi * 5.0, 0.0
    for row in range(1, len(positions)):
        velocity += DT * (omega**2 * (positions[row - 1] - found[row - 1]) - 0.1 * omega * velocity)
        found[row] = found[row - 1] + DT * velocity
    return found


def late(positions: np.ndarray) -> np.ndarray:
    """Return positions whose rows come up to 60 ms late, at times more and at times less."""
    return np.interp(TIME - 0.03 * (1.0 - np.cos(0.3 * TIME)), TIME, positions)


def sticking(positions: np.ndarray) -> np.ndarray:
    place = np.repeat(np.random.default_rng(1).normal(0.0, 0.01, 10), 200)
    return positions + np.concatenate([np.where(np.arange(2000) % 200 > 60, place, 0.0), np.zeros(2000)])


@cases(
    "measured, word",
    (on_a_spring, "rings at 5"),
    (lambda base: base + 0.0005 * TIME, "drifts by 20"),
    (late, "lag that varies"),
    (lambda _: arm(mass=0.4), "as if its load were 1."),
    (sticking, "stands still"),
    (lambda base: base + np.where((TIME < 20.0) & (TIME % 2.0 > 1.3), 0.02, 0.0), "moves while"),
    (lambda _: arm(wall=0.3), "touches"),
    (lambda base: base + np.where((TIME > 8.6) & (TIME < 9.9), 0.1, 0.0), "touches"),
)
def test_look_names_the_effect(measured, word) -> None:
    base = arm()
    position = measured(base) + np.random.default_rng(0).normal(0.0, NOISE, len(TIME))
    log = MotorLog(TIME, ["hinge"], {"command": COMMAND[:, None], "position": position[:, None]})
    assert word in look_of([Replay(log, base[:, None], False)], 0, NOISE)


def test_noise_looks_like_nothing() -> None:
    position = arm() + np.random.default_rng(0).normal(0.0, NOISE, len(TIME))
    log = MotorLog(TIME, ["hinge"], {"command": COMMAND[:, None], "position": position[:, None]})
    for simulated in (arm(), position):
        assert look_of([Replay(log, simulated[:, None], False)], 0, NOISE) == ""
