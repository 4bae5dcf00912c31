"""Logs of robots whose motors have friction, a delay and encoder biases that a test knows."""

from collections.abc import Mapping, Sequence

import isaacsim.core.experimental.actuators as aa
import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from places import ROBOTS

PENDULUM = str(ROBOTS / "pendulum.usda")
ARM = str(ROBOTS / "arm_2dof.usda")
QUADRUPED = str(ROBOTS / "unitree_go1.usda")
RECORDED = {"effort": "motor_efforts", "current": "currents", "volts": "supply_voltages", "velocity": "velocities"}
"""Recorded signals by column of a log."""
# physics steps from one sample to the next
_SUBSTEPS = 4


def known_motor(kp: float = 40.0, kd: float = 1.0) -> aa.MotorConfig:
    return aa.MotorConfig(aa.PDControlConfig(kp, kd), clamping=[aa.MaxEffortClampingConfig(500.0)])


def hidden_motor(
    viscous: float = 0.2,
    coulomb: float = 0.4,
    armature: float = 0.03,
    bias: float = 0.02,
    delay: float = 0.008,
    kp: float = 40.0,
    kd: float = 1.0,
) -> aa.MotorConfig:
    others = [aa.FrictionConfig(coulomb=coulomb, viscous=viscous), aa.EncoderConfig(bias=bias, velocity="register")]
    return aa.MotorConfig(
        aa.PDControlConfig(kp, kd),
        clamping=[aa.MaxEffortClampingConfig(500.0)],
        delay=aa.TimedDelayConfig(seconds=delay),
        armature=armature,
        others=others,
    )


def hidden_log(
    robot: str,
    motors: Mapping[str, aa.MotorConfig],
    joints: Sequence[str],
    *,
    seconds: float = 8.0,
    dt: float = 0.004,
    noise: float = 1e-4,
    seed: int = 0,
    size: float = 1.0,
    command: np.ndarray | None = None,
    columns: Sequence[str] = (),
) -> MotorLog:
    """Return a log of chirps from 0.1 to 4 Hz, or of given commands, with noise of the encoders.

    Further columns are of `RECORDED`, right after each command, with noise of 1 %.
    """
    samples = round(seconds / dt) if command is None else len(command)
    generator, time = np.random.default_rng(seed), np.arange(samples) * dt
    if command is None:
        phase = 2 * np.pi * (0.1 * time + 0.5 * 3.9 / seconds * time**2)
        command = np.stack([0.4 * size * np.sin(phase + 1.3 * (seed + j)) + 0.2 for j in range(len(joints))], 1)
    bias = np.array([next(s.bias for s in motors[name].others if isinstance(s, aa.EncoderConfig)) for name in joints])
    with aa.Simulation(robot, dt / _SUBSTEPS) as simulation:
        robots = simulation.articulation("/")
        with aa.ArticulationActuators.from_configs("/", dict(motors)) as actuators:
            simulation.play()
            places = [robots.dof_names.index(name) for name in joints]
            found = np.empty_like(command)
            targets = robots.get_dof_position_targets().numpy().copy()
            with actuators.record(signals=["positions", *(RECORDED[name] for name in columns)]) as recording:
                for row, values in enumerate(command):
                    found[row] = robots.get_dof_positions().numpy()[0, places]
                    targets[0, places] = values
                    robots.set_dof_position_targets(targets)
                    simulation.step(_SUBSTEPS)
    signals = {"command": command, "position": found + bias + generator.normal(0.0, noise, found.shape)}
    for name in columns:
        true = getattr(recording, RECORDED[name])[::_SUBSTEPS, 0][:, places].astype(float)
        signals[name] = true + generator.normal(0.0, 0.01 * true.std(), true.shape)
    return MotorLog(time, joints, signals, f"hidden {seed}")
