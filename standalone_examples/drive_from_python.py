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


# fmt: off
@wp.kernel
def sliding_mode(
    strength: wp.array[float], q: wp.array[float], qd: wp.array[float], target: wp.array[float],
    q_at: wp.array[wp.uint32], qd_at: wp.array[wp.uint32], target_at: wp.array[wp.uint32], efforts: wp.array[float],
):
    """Full effort towards the line `5·e + ė = 0`, softened close to it."""
    i = wp.tid()
    efforts[i] = strength[i] * wp.tanh(20.0 * (5.0 * (target[target_at[i]] - q[q_at[i]]) - qd[qd_at[i]]))
# fmt: on


class SlidingMode(ea.Controller):
    """One `strength` [N·m] per robot; the rest of the contract is inherited."""

    def __init__(self, strength: wp.array) -> None:
        self.strength = strength

    def compute(self, q, qd, target, target_vel, ff, q_at, qd_at, target_at, vel_at, efforts, state, dt, device=None):
        """Write the efforts [N·m]."""
        inputs = [self.strength, q, qd, target, q_at, qd_at, target_at]
        wp.launch(sliding_mode, dim=len(efforts), inputs=inputs, outputs=[efforts], device=device)


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
