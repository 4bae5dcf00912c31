"""Drive a pendulum with a custom control law: sliding mode, a few lines of Warp, instead of PD.

./python.sh standalone_examples/drive_from_python.py [--engine mujoco|physx|newton] [--plot out.png]
"""

from world import Articulation, World, parse, run  # first import: starts Isaac Sim if it is installed

# isort: split
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.tools.plots import style

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "pendulum.usda"
PENDULUM, TARGET, DT, STEPS, TOLERANCE = "/World/Pendulum", 0.8, 1 / 500, 1000, 0.02


# docs: begin law
@wp.func
def sliding_mode(
    q: float, qd: float, q_target: float, qd_target: float, feedforward: float, dt: float, strength: float
) -> float:
    """Full effort toward the line `5·e + ė = 0`, smoothed close to it."""
    return strength * wp.tanh(20.0 * (5.0 * (q_target - q) - qd))


class SlidingMode(ea.Controller):
    """One `strength` [N·m] per robot; everything else is inherited."""

    PARAMETERS = ("strength",)
    LAW = sliding_mode
    # docs: end law


# docs: begin drive
def drive(sim: World, law: type[ea.Controller], *values: float) -> tuple[np.ndarray, np.ndarray]:
    """Return angles [rad] and efforts [N·m] over time for a law with these parameters, limited to 10 N·m."""
    *parameters, limit = (wp.array([value], dtype=wp.float32, device="cpu") for value in (*values, 10.0))
    motor = ea.ActuatorConfig(law(*parameters), clamping=[ea.ClampingMaxEffort(limit)])
    with ea.ArticulationActuators.from_actuators(PENDULUM, [(motor, "hinge")]) as actuators:
        # stepped explicitly below, to read each effort before it acts
        actuators.disable_auto_step_pre_physics()
        robot, seen = Articulation(PENDULUM), []
        # armature [kg·m²]
        robot.set_dof_armatures(0.1)
        sim.play()
        robot.set_dof_position_targets(TARGET)
        for _ in range(STEPS):
            actuators.step_actuators(DT)
            seen.append([robot.get_dof_positions().numpy()[0, 0], robot.get_dof_efforts().numpy()[0, 0]])
            sim.step()
        sim.stop()
    angles, efforts = np.array(seen).T
    return angles, efforts
    # docs: end drive


def main() -> int:
    options = parse(__doc__, "drive_from_python.png")
    with World(ROBOT, DT, options.engine) as sim:
        found = {"PD": drive(sim, ea.ControllerPD, 20.0, 2.0), "sliding mode": drive(sim, SlidingMode, 10.0)}

    for name, (angles, _) in found.items():
        print(f"{name:12} error {abs(angles[-1] - TARGET):.4f} rad after {STEPS * DT:.0f} s")
    time, (angles, efforts) = np.arange(STEPS) * DT, np.transpose(list(found.values()), (1, 2, 0))
    shown = style.until_rest(time, angles)
    drawn, (top, bottom) = style.panels(9, 6, "PD stays below its target; the custom law does not", rows=2)
    style.mark(top, "target", y=TARGET)
    style.lines(top, time[shown], angles[shown], list(found))
    style.lines(bottom, time[shown], efforts[shown], list(found))
    top.set(ylabel="angle [rad]")
    bottom.set(xlabel="time [s]", ylabel="effort [N·m]")
    style.save(drawn, options.plot)
    pd, own = (abs(angles[-1] - TARGET) for angles, _ in found.values())
    good = own < TOLERANCE and own < pd
    print(f"{'ok' if good else 'FAILED'}: the custom law is within {TOLERANCE} rad, closer than PD; see {options.plot}")
    return 0 if good else 1


if __name__ == "__main__":
    run(main)
