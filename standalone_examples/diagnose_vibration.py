"""Diagnose a vibrating arm: gains, physics rate and armature give a stability criterion for each joint.

./python.sh standalone_examples/diagnose_vibration.py [--plot out.png]
"""

import argparse
import warnings
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from pxr import Usd
from rich.console import Console
from rich.table import Table

ROBOT, ARM = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda", "/World/Panda"
KP, KD, MAX_EFFORT = 400.0, 40.0, [87.0] * 4 + [12.0] * 3  # N·m/rad, N·m·s/rad, N·m
RATES, ARMATURES, QUIET = [60, 120, 240, 480, 960], [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5], 0.01  # Hz, kg·m², rad/s


# docs: begin inertias
def inertias(stage: Usd.Stage) -> np.ndarray:
    """Return the effective inertia [kg·m²] of each joint, measured with a push of 1 N·m."""
    with ea.Simulation(stage, dt=1e-4) as sim:
        arm, felt = ea.Articulation(ARM), []
        sim.play()
        arm.set_dof_gains(0.0, 0.0)
        for push in np.eye(arm.num_dofs):
            sim.reset()
            arm.set_dof_efforts(arm.get_dof_gravity_compensation_forces().numpy() + push)
            sim.step()
            felt.append(sim.dt / (arm.get_dof_velocities().numpy()[0] @ push))
        return np.array(felt)
    # docs: end inertias


def vibration(stage: Usd.Stage, rate: int) -> float:
    """Return the highest joint speed [rad/s] in the last quarter second, in which the arm should be at rest."""
    with ea.Simulation(stage, dt=1 / rate) as sim:
        arm, speeds = ea.Articulation(ARM), []
        gains = [wp.array([gain], dtype=wp.float32, device="cpu") for gain in (KP, KD)]
        limits = [ea.ClampingMaxEffort(wp.array([effort], dtype=wp.float32, device="cpu")) for effort in MAX_EFFORT]
        motors = [ea.ActuatorConfig(ea.ControllerPD(*gains), clamping=[limit]) for limit in limits]
        _actuators = ea.ArticulationActuators.from_actuators(ARM, list(zip(motors, arm.dof_names, strict=True)))
        sim.play()
        warnings.filterwarnings("ignore", ".* will vibrate at dt")
        for _ in range(rate):
            sim.step()
            speeds.append(np.abs(arm.get_dof_velocities().numpy()).max())
        return max(speeds[-rate // 4 :])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="diagnose_vibration.png", help="path of the picture")
    picture, stage = parser.parse_args().plot, Usd.Stage.Open(str(ROBOT))
    measured, figures = np.zeros((2, len(RATES), len(ARMATURES)))
    for column, armature in enumerate(ARMATURES):
        for number in range(1, 8):
            stage.GetAttributeAtPath(f"{ARM}/joints/panda_joint{number}.newton:armature").Set(armature)
        measured[:, column] = [vibration(stage, rate) for rate in RATES]
        # docs: begin figure
        dt, inertia = 1 / np.array(RATES)[:, None], inertias(stage)
        figures[:, column] = ((KD * dt + KP * dt**2 / 2) / inertia).max(axis=1)
        # docs: end figure
    table = Table("rate", *map(str, ARMATURES), title="Speed at rest in rad/s (criterion) over armature in kg·m²")
    for rate, speeds, row in zip(RATES, measured, figures, strict=True):
        table.add_row(f"{rate} Hz", *[f"{speed:.3f} ({figure:.2f})" for speed, figure in zip(speeds, row, strict=True)])
    Console(width=125).print(table)
    drawn, (panel,) = style.panels(9, 5, "The arm vibrates where the criterion is above 2")
    style.mark(panel, "criterion 2", x=2.0)
    panel.set(xlabel="(kd·dt + kp·dt²/2) / inertia", ylabel="speed at rest [rad/s]", xscale="log", yscale="log")
    style.lines(panel, figures.T[::-1], measured.T[::-1], [f"{rate} Hz" for rate in RATES], linestyle="", marker="o")
    style.save(drawn, picture)
    told = bool(((figures < 2) == (measured < QUIET)).all() and 0 < (figures < 2).sum() < figures.size)
    print(f"{'ok' if told else 'FAILED'}: the arm is at rest exactly where the criterion is below 2; see {picture}")
    return int(not told)


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
