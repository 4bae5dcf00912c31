"""Identify a servo: friction, armature, delay and encoder bias of a hidden motor, from a log of a pendulum.

./python.sh standalone_examples/identify_a_servo.py [--plot out.png] [--out motors.yaml]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.identification import (
    MotorLog,
    identify,
    plot_identified,
    save_identified,
)
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "pendulum.usda"
DT, SECONDS = 0.004, 12.0  # between samples, of the log [s]
KNOWN = ea.PDControlConfig(kp=40.0, kd=1.0)
HIDDEN = ea.MotorConfig(
    KNOWN,
    delay=ea.TimedDelayConfig(seconds=0.008),
    armature=0.03,
    others=[ea.FrictionConfig(coulomb=0.4, viscous=0.2), ea.EncoderConfig(bias=0.02, velocity="register")],
)
TRUE = {"delay": 0.008, "encoder_bias": 0.02, "armature": 0.03, "viscous": 0.2, "coulomb": 0.4}


def log_of(motor: ea.MotorConfig) -> MotorLog:
    """Return what a pendulum with this motor does under a chirp, as its noisy encoder measures it."""
    time = np.arange(round(SECONDS / DT)) * DT
    command = 0.2 + 0.4 * np.sin(2 * np.pi * (0.1 * time + 0.15 * time**2))
    with ea.Simulation(ROBOT, DT / 4) as sim:
        sim.play()
        motors = ea.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
        arm, position = ea.Articulation("/World/Pendulum"), np.empty_like(command)
        for row, target in enumerate(command):
            position[row] = arm.get_dof_positions().numpy()[0, 0] + motor.others[1].bias
            arm.set_dof_position_targets(target)
            sim.step(4)
        motors.close()
    position += np.random.default_rng(0).normal(0.0, 1e-4, len(time))
    return MotorLog(time, ["hinge"], {"command": command[:, None], "position": position[:, None]}, "hidden servo")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="identify_a_servo.png", help="path of the picture")
    parser.add_argument("--out", help="file for the motors, .usda or .yaml")
    arguments = parser.parse_args()
    found = identify(
        ROBOT,
        [log_of(HIDDEN)],
        {"hinge": ea.MotorConfig(KNOWN)},
        progress=lambda words, share: print(f"{100 * share:3.0f} % {words}"),
    )
    for model in found.models:
        print(f"{model.name:20} {1e3 * model.training:8.3f} mrad, held out {1e3 * model.validation:8.3f} mrad")
    for one in found.estimates:
        true = f"   true {TRUE[one.name]:g}" if one.name in TRUE else ""
        print(f"{one.name:20} {one.value:8.4f} {one.unit}{true}")
    print(f"whole robot: {1e3 * found.error:.2f} mrad, with the motor it had {1e3 * found.shipped:.2f} mrad")
    plot_identified(found, arguments.plot)
    if arguments.out:
        save_identified(found, arguments.out)
    friction = next(one.value for one in found.estimates if one.name == "coulomb")
    good = not found.disagrees and abs(friction - TRUE["coulomb"]) < 0.05 * TRUE["coulomb"]
    print(f"{'ok' if good else 'FAILED'}: the hidden friction is found; see {arguments.plot}")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
