"""Compare MuJoCo and PhysX: one motion of an arm with the same file and actuators, joint by joint.

./python.sh -m pip install --editable ".[physx]"
./python.sh standalone_examples/two_engines.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.table import Table

ROBOT, ARM = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda", "/World/Panda"
# there and back within the velocity limits of the file
REACH = np.array([0.6, 0.3, -0.6, 0.5, 0.6, -0.4, 0.6])
DT, STEPS, TOLERANCE = 1 / 1000, 2000, 1e-3


# docs: begin move
def move(engine: str) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return joint names, positions [rad] and efforts [N·m] over time, and effort limits [N·m]."""
    positions, efforts = [], []
    with ea.Simulation(ROBOT, DT, engine=engine) as sim:
        arm, actuators = ea.Articulation(ARM), ea.ArticulationActuators(ARM)
        sim.play()
        start = arm.get_dof_positions().numpy()[0]
        sim.bus.on_pre_step(lambda dt, context: efforts.append(arm.get_dof_efforts().numpy()[0]), order=1)
        for step in range(1, STEPS + 1):
            arm.set_dof_position_targets(start + REACH * (1 - np.cos(2 * np.pi * step / STEPS)) / 2)
            actuators.set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())
            sim.step()
            positions.append(arm.get_dof_positions().numpy()[0])
        limits = np.array([actuator.clamping[0].max_effort.numpy()[0] for actuator in actuators.actuators])
        return arm.dof_names, np.array(positions), np.array(efforts), limits
    # docs: end move


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="two_engines.png", help="path of the picture")
    picture = parser.parse_args().plot
    with needs("This example", "physx", SystemExit):
        import ovphysx  # noqa: F401
    names, on_physx, physx_efforts, limits = move("physx")
    _, on_mujoco, mujoco_efforts, _ = move("mujoco")
    apart, first = np.abs(on_physx - on_mujoco), np.abs(physx_efforts[0] - mujoco_efforts[0]) / limits

    table = Table(
        "joint", "travel \\[rad]", "largest difference \\[rad]", "first effort difference", title="PhysX against MuJoCo"
    )
    for row in zip(names, np.ptp(on_mujoco, axis=0), apart.max(axis=0), first, strict=True):
        table.add_row(row[0], f"{row[1]:.3f}", f"{row[2]:.6f}", f"{row[3]:.1e} of the limit")
    Console().print(table)
    time = np.arange(1, STEPS + 1) * DT
    drawn, (top, bottom) = style.panels(10, 7, "The motion of the arm on MuJoCo and on PhysX", rows=2)
    top.set(ylabel="displacement [rad]")
    bottom.set(xlabel="time [s]", ylabel="PhysX - MuJoCo [mrad]")
    style.lines(top, time, on_mujoco - on_mujoco[0], **style.BROAD)
    style.lines(top, time, on_physx - on_physx[0], names, linewidth=style.THIN)
    style.key(top, {"MuJoCo": style.BROAD, "PhysX": {"linewidth": style.THIN}})
    style.lines(bottom, time, 1000 * (on_physx - on_mujoco), names)
    style.save(drawn, picture)
    alike = bool((apart < TOLERANCE).all() and (first < 1e-5).all())
    print(f"{'ok' if alike else 'FAILED'}: within {apart.max():.1e} rad, first efforts agree; see {picture}")
    return 0 if alike else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
