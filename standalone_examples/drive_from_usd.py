"""Drive a 7-joint arm with the actuators in its USD file: author, save, reopen, drive.

./python.sh standalone_examples/drive_from_usd.py [--engine mujoco|physx|newton] [--plot out.png]
"""

from world import Articulation, World, parse, run  # first import: starts Isaac Sim if it is installed

# isort: split
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import until_interrupted
from isaacsim.core.experimental.actuators.tools.plots import style

ROBOT, FILE = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda", Path("drive_from_usd.usda")
ARM, JOINTS = "/World/Panda", [f"panda_joint{number}" for number in range(1, 8)]
# half a radian or more away from the pose in the file, on every joint
TARGETS = np.array([0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4])
# N·m, in the file and as authored below
LIMITS = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
WAIT, STEPS, LATE, RATE, TOLERANCE = 24, 720, 6, 240, 0.01  # steps, also of delay, steps a second, error [rad]


# docs: begin author
def author() -> None:
    """Give the wrist stiffer actuators with delayed commands, on motors whose limit falls with speed."""
    pd, delay = ea.PDControlConfig(kp=120.0, kd=12.0), ea.DelayConfig(delay_steps=LATE)
    motor = [ea.DCMotorClampingConfig(saturation_effort=12.0, velocity_limit=6.0, max_motor_effort=12.0)]
    for name in JOINTS[4:]:
        ea.add_actuator(ARM, name, name, pd, clamping=motor, delay=delay, overwrite_existing=True)
    # docs: end author


# docs: begin drive
def drive(sim: World) -> tuple[np.ndarray, np.ndarray]:
    """Return positions [rad] and efforts [N·m] over time, a column per joint."""
    arm, positions, efforts = Articulation(ARM), [], []
    with ea.ArticulationActuators(ARM) as actuators:
        sim.play()
        # the joint order depends on the simulator
        joints = arm.get_dof_indices(JOINTS)
        for step in until_interrupted(range(WAIT + STEPS)):
            if step == WAIT:
                arm.set_dof_position_targets(TARGETS, dof_indices=joints)
            # feedforward carries the weight of the arm; the PD law moves it, with measurements that are never late
            actuators.set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())
            sim.step()
            positions.append(arm.get_dof_positions(dof_indices=joints).numpy()[0])
            efforts.append(arm.get_dof_efforts(dof_indices=joints).numpy()[0])
    return np.array(positions), np.array(efforts)
    # docs: end drive


def main() -> int:
    options = parse(__doc__, "drive_from_usd.png")
    with World(ROBOT) as sim:
        author()
        sim.stage.Export(str(FILE))
    with World(FILE, engine=options.engine) as sim:
        positions, efforts = drive(sim)
    errors, peaks = np.abs(positions[-1] - TARGETS), np.abs(efforts).max(axis=0)

    print("joint         target [rad]  error [rad]  peak effort [N·m]  limit [N·m]")
    for name, target, error, peak, limit in zip(JOINTS, TARGETS, errors, peaks, LIMITS, strict=True):
        print(f"{name:12}{target:14.2f}{error:13.5f}{peak:19.1f}{limit:13.0f}")
    time = (np.arange(len(positions)) - WAIT) / RATE
    shown = style.until_rest(time, positions)
    drawn, (top, bottom) = style.panels(10, 7, "Each joint reaches its target, no effort exceeds its limit", rows=2)
    style.caption(bottom, "Before that, the wrist damps the motion that the arm gives it: measurements have no delay")
    style.mark(top, "commands reach the wrist, joints 5 to 7", x=LATE / RATE)
    style.mark(bottom, x=LATE / RATE)
    top.set(ylabel="position - target [rad]")
    bottom.set(xlabel="time since the command [s]", ylabel="effort / limit")
    style.lines(top, time[shown], (positions - TARGETS)[shown], JOINTS)
    style.lines(bottom, time[shown], (efforts / LIMITS)[shown], JOINTS)
    style.save(drawn, options.plot)
    reached = bool((errors < TOLERANCE).all() and (peaks <= LIMITS).all())
    print(f"{'ok' if reached else 'FAILED'}: errors below {TOLERANCE} rad, efforts within limits; see {options.plot}")
    return 0 if reached else 1


if __name__ == "__main__":
    run(main)
