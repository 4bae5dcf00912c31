"""From data sheet to gains to the robot, in five commands; a simulation with more friction stands in for the robot.

./python.sh standalone_examples/data_sheet_to_gains.py
"""

import tempfile

import isaacsim.core.experimental.actuators as ea
from isaacsim.core.experimental.actuators.tools.commands.main import main as actuators

ROBOT, FRICTION = "data/robots/pendulum.usda", 0.15


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        names = "motors.yaml", "steps.csv", "log.npz", "found.yaml"
        known, steps, log, found = (f"{folder}/{name}" for name in names)
        judged = ["--poses", "5"]
        # docs: begin commands
        done = actuators(["motors", "unitree_go1_hip"])
        wish = ["--motor", "hinge/unitree_go1_hip", "--settle", "0.5"]
        done += actuators(["tune", ROBOT, *wish, *judged, "-o", known])
        done += actuators(["excite", ROBOT, "--config", known, "--tune", "--seconds", "12", "-o", steps])
        # docs: end commands
        motors = ea.load_motors(known)
        for motor in motors.values():
            motor.friction = FRICTION
        ea.save_motors(f"{folder}/robot.yaml", motors)
        moved = ["run", ROBOT, "--config", f"{folder}/robot.yaml", "--targets", steps, "--dt", "0.005"]
        done += actuators([*moved, "--record", log])
        done += actuators(["identify", ROBOT, log, "--config", known, "--keep-gains", "-o", found])
        done += actuators(["tune", ROBOT, "--config", found, "--explain", *judged])
        (motor,) = ea.load_motors(found).values()
    (friction,) = [stage.coulomb for stage in motor.others if isinstance(stage, ea.FrictionConfig)]
    print(f"The robot has a friction of {FRICTION:g} N·m, and {friction:.3g} N·m was identified.")
    return int(done != 0 or abs(friction - FRICTION) > 0.1 * FRICTION)


if __name__ == "__main__":
    raise SystemExit(main())
