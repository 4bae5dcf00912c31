"""Drive a pendulum by a control law of your own: sliding mode, a few lines of Warp, in the place of PD.

./python.sh standalone_examples/drive_from_python.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import matplotlib.pyplot as plt
import numpy as np
import warp as wp

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "pendulum.usda"
PENDULUM, TARGET, STEPS, TOLERANCE = "/World/Pendulum", 0.8, 1000, 0.02


# docs: begin law
@wp.func
def sliding_mode(
    q: float, qd: float, q_target: float, qd_target: float, feedforward: float, dt: float, strength: float
) -> float:
    """Full effort towards the line `5·e + ė = 0`, softened close to it."""
    return strength * wp.tanh(20.0 * (5.0 * (q_target - q) - qd))


class SlidingMode(ea.Controller):
    """One `strength` [N·m] per robot; everything else is inherited."""

    PARAMETERS = ("strength",)
    LAW = sliding_mode
    # docs: end law


# docs: begin drive
def drive(law: type[ea.Controller], *values: float) -> np.ndarray:
    """Return the angle [rad] over time under a law with these parameters, limited to 10 N·m."""
    with ea.Simulation(ROBOT, dt=1 / 500) as sim:
        robot = ea.Articulation(PENDULUM)
        *parameters, limit = (wp.array([value], dtype=wp.float32, device="cpu") for value in (*values, 10.0))
        motor = ea.ActuatorConfig(law(*parameters), clamping=[ea.ClampingMaxEffort(limit)])
        actuators = ea.ArticulationActuators.from_actuators(PENDULUM, [(motor, "hinge")])
        sim.play()
        robot.set_dof_position_targets(TARGET)
        angles = []
        for _ in range(STEPS):
            sim.step()
            angles.append(float(robot.get_dof_positions().numpy()[0, 0]))
        assert not actuators.faults
        return np.array(angles)
    # docs: end drive


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="drive_from_python.png", help="where the picture goes")
    picture = parser.parse_args().plot
    found = {"PD": drive(ea.ControllerPD, 20.0, 2.0), "sliding mode": drive(SlidingMode, 10.0)}

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name, angles in found.items():
        axes.plot(np.arange(STEPS) / 500, angles, label=name)
        print(f"{name:12} off by {abs(angles[-1] - TARGET):.4f} rad after {STEPS / 500:.0f} s")
    axes.axhline(TARGET, color="gray", linestyle=":", label="target")
    axes.set(xlabel="time [s]", ylabel="angle [rad]", title="PD hangs below its target; a law of your own need not")
    axes.legend()
    figure.savefig(picture, dpi=120)
    good = abs(found["sliding mode"][-1] - TARGET) < TOLERANCE < abs(found["PD"][-1] - TARGET)
    print(f"{'ok' if good else 'FAILED'}: the own law is within {TOLERANCE} rad and PD is not; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
