"""From data sheet to gains to the robot, in five commands; a simulation with more friction stands in for the robot.

./python.sh standalone_examples/data_sheet_to_gains.py [--plot out.png]
"""

import argparse
import tempfile
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
from isaacsim.core.experimental.actuators.tools.commands.main import main as actuators
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback

ROBOT, FRICTION = str(Path(__file__).parents[1] / "data" / "robots" / "pendulum.usda"), 0.15


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="data_sheet_to_gains.png", help="path of the picture")
    picture = parser.parse_args().plot
    with tempfile.TemporaryDirectory() as folder:
        names = "motors.yaml", "steps.csv", "log.npz", "found.yaml"
        known, steps, log, found = (f"{folder}/{name}" for name in names)
        # docs: begin commands
        wish = ["--motor", "hinge/unitree_go1_hip", "--settle", "0.5", "--poses", "5"]
        done = actuators(["motors", "unitree_go1_hip"])
        done += actuators(["tune", ROBOT, *wish, "-o", known, "--plot", picture])
        done += actuators(["excite", ROBOT, "--config", known, "--tune", "--seconds", "12", "-o", steps])
        # docs: end commands
        motors = ea.load_motors(known)
        for motor in motors.values():
            motor.friction = FRICTION
        ea.save_motors(f"{folder}/robot.yaml", motors)
        moved = ["run", ROBOT, "--config", f"{folder}/robot.yaml", "--targets", steps, "--dt", "0.005"]
        done += actuators([*moved, "--record", log])
        done += actuators(["identify", ROBOT, log, "--config", known, "--keep-gains", "-o", found])
        done += actuators(["tune", ROBOT, "--config", found, "--explain", "--poses", "5"])
        (motor,) = ea.load_motors(found).values()
    (friction,) = [stage.coulomb for stage in motor.others if isinstance(stage, ea.FrictionConfig)]
    if done or abs(friction - FRICTION) > 0.1 * FRICTION:
        print(f"failed: a friction of {friction:.3g} N·m was identified, of {FRICTION:g}")
        return 1
    print(f"ok: gains from a data sheet, and {friction:.3g} N·m of {FRICTION:g} identified from small steps: {picture}")
    return 0


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
