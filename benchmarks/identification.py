"""Benchmark identification: a robot of legs with hidden motors, its log, and how near their parameters are found.

./python.sh -m benchmarks.identification [--quick] [--legs 4] [--seconds 60] [--seed 0] [--refine 1]

The robot has a fixed base and legs of three joints, coupled by their inertias. Armature, viscous and Coulomb friction
and encoder bias of each joint and one delay of all are hidden; the log has 400 samples per second and noise of 0.1
mrad. Errors are differences from what was hidden. The time is that of `identify`, with the simulations of the whole
robot at its end.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import (
    ArticulationActuators,
    EncoderConfig,
    FrictionConfig,
    MotorConfig,
    PDControlConfig,
    Simulation,
    TimedDelayConfig,
)
from isaacsim.core.experimental.actuators.tools.identification.identified import Identified
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions

KNOWN = PDControlConfig(25.0, 0.5)
# between samples and between physics steps of the hidden robot [s], and noise of its encoders [rad]
DT, SUBSTEPS, NOISE = 0.0025, 4, 1e-4
# smallest and largest hidden value
HIDDEN = {"armature": (0.004, 0.02), "viscous": (0.05, 0.3), "coulomb": (0.1, 0.6), "encoder_bias": (-0.03, 0.03)}
DELAY = (0.002, 0.006)
_LEG = """<body name="hip{n}" pos="{x} {y} 0"><joint name="hip{n}" axis="1 0 0"/>
<inertial pos="0 0.05 0" mass="0.6" diaginertia="0.002 0.002 0.002"/>
<body name="thigh{n}" pos="0 0.1 0"><joint name="thigh{n}" axis="0 1 0"/>
<inertial pos="0 0 -0.1" mass="1.0" diaginertia="0.006 0.006 0.002"/>
<body name="shank{n}" pos="0 0 -0.2"><joint name="shank{n}" axis="0 1 0"/>
<inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.002 0.002 0.0005"/></body></body></body>"""


@dataclass(frozen=True)
class Robot:
    """A robot with hidden motors, and its log.

    Args:
        path: Its file, without motors.
        hidden: Values of each joint by name of the parameter, shape `(joints,)`.
        log: Its log.
    """

    path: Path
    hidden: dict[str, np.ndarray]
    log: MotorLog


def hidden_robot(folder: Path, legs: int, seconds: float, seed: int) -> Robot:
    """Return a robot whose motors a seed draws, and its log under chirps from 0.1 to 5 Hz, one phase per joint."""
    draw = np.random.default_rng(seed)
    path = folder / "legs.xml"
    bodies = "".join(_LEG.format(n=n, x=0.2 * (n // 2), y=0.1 * (n % 2)) for n in range(legs))
    still = '<geom size="0.01" contype="0" conaffinity="0"/>'
    path.write_text(f'<mujoco model="legs"><worldbody><body name="base">{still}{bodies}</body></worldbody></mujoco>')
    names = [f"{part}{n}" for n in range(legs) for part in ("hip", "thigh", "shank")]
    hidden = {name: draw.uniform(*limits, len(names)) for name, limits in HIDDEN.items()}
    hidden["delay"] = np.full(len(names), draw.uniform(*DELAY))
    motors = {name: _motor({one: float(values[j]) for one, values in hidden.items()}) for j, name in enumerate(names)}
    time = np.arange(round(seconds / DT)) * DT
    phase = 2 * np.pi * (0.1 * time + 0.5 * 4.9 / seconds * time**2)
    command = 0.35 * np.sin(phase[:, None] + draw.uniform(0.0, 2 * np.pi, len(names)))
    position = np.empty_like(command)
    with Simulation(path, DT / SUBSTEPS) as simulation:
        robots: Any = simulation.articulation("/")
        with ArticulationActuators.from_configs("/", motors):
            simulation.play()
            columns = [robots.dof_names.index(name) for name in names]
            targets = np.zeros((1, len(names)), np.float32)
            for row, values in enumerate(command):
                position[row] = robots.get_dof_positions().numpy()[0, columns]
                targets[0, columns] = values
                robots.set_dof_position_targets(targets)
                simulation.step(SUBSTEPS)
    position += hidden["encoder_bias"] + draw.normal(0.0, NOISE, position.shape)
    return Robot(path, hidden, MotorLog(time, names, {"command": command, "position": position}, "hidden"))


def _motor(values: dict[str, float]) -> MotorConfig:
    friction = FrictionConfig(coulomb=values["coulomb"], viscous=values["viscous"])
    encoder = EncoderConfig(bias=values["encoder_bias"], velocity="register")
    delay: Any = TimedDelayConfig(seconds=values["delay"])
    return MotorConfig(KNOWN, delay=delay, armature=values["armature"], others=[friction, encoder])


def errors_of(found: Identified, robot: Robot) -> dict[str, np.ndarray]:
    """Return found less hidden values of each joint, by name of the parameter."""
    values = {(one.joint, one.name): one.value for one in found.estimates}
    return {
        name: np.array([values[joint, name] for joint in found.joints]) - hidden
        for name, hidden in robot.hidden.items()
    }


def lines(found: Identified, robot: Robot) -> list[str]:
    """Return the table of errors and times."""
    shown = [f"{'parameter':14}{'median error':>16}{'largest error':>16}"]
    for name, errors in errors_of(found, robot).items():
        size = np.abs(errors)
        if name in ("encoder_bias", "delay"):
            unit = "mrad" if name == "encoder_bias" else "ms"
            told = [f"{1e3 * one:.3f} {unit}" for one in (np.median(size), size.max())]
        else:
            told = [
                f"{100 * one:.2f} %"
                for one in (np.median(size / robot.hidden[name]), (size / robot.hidden[name]).max())
            ]
        shown.append(f"{name:14}{told[0]:>16}{told[1]:>16}")
    shown.append(f"whole robot, held out: {1e3 * found.error:.3f} mrad, before {1e3 * found.shipped:.1f}")
    shown.append(
        f"{found.seconds:.1f} s on {os.cpu_count()} cores, {len(found.joints)} joints, {robot.log.duration:.0f} s"
    )
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how near and how fast the parameters of hidden motors are found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two legs and 10 s")
    parser.add_argument("--legs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of the log")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--refine", type=int, default=1, help="rounds with the whole robot")
    given = parser.parse_args(arguments)
    legs, seconds = (2, 10.0) if given.quick else (given.legs, given.seconds)
    options = FitOptions(shared=["delay"], models=["Coulomb friction"], refine=given.refine)
    with tempfile.TemporaryDirectory() as folder:
        robot = hidden_robot(Path(folder), legs, seconds, given.seed)
        found = identify(robot.path, [robot.log], {".*": MotorConfig(KNOWN)}, options)
    print(*lines(found, robot), *found.warnings, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
