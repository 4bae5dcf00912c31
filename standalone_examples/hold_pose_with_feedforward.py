"""Hold an arm out against gravity: with a PD law, with gravity feedforward at zero gains, and with both.

./python.sh standalone_examples/hold_pose_with_feedforward.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.table import Table

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda"
ARM = "/World/Panda"
# stretched out, at the largest gravity torque
POSE = np.array([0.0, 1.2, 0.0, -0.4, 0.0, 1.6, 0.785])
STEPS, TOLERANCE = 480, np.deg2rad(0.01)
# name: factor on the gains in the file, gravity feedforward
WAYS = {"PD alone": (1.0, False), "feedforward alone": (0.0, True), "PD + feedforward": (1.0, True)}


# docs: begin hold
def hold(gains: float, feedforward: bool) -> tuple[list[str], np.ndarray]:
    """Return joint names and the deviation of each joint from the pose over time [rad]."""
    deviations = []
    with ea.Simulation(ROBOT) as sim:
        arm, actuators = ea.Articulation(ARM), ea.ArticulationActuators(ARM)
        sim.play()
        arm.set_dof_positions(POSE)
        for actuator in actuators.actuators:
            # parameters are live: a write takes effect at the next step
            for gain in (actuator.controller.kp, actuator.controller.kd):
                gain.fill_(gains * float(gain.numpy()[0]))
        for _ in range(STEPS):
            if feedforward:
                actuators.set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())
            sim.step()
            deviations.append(arm.get_dof_positions().numpy()[0] - POSE)
        return arm.dof_names, np.array(deviations)
    # docs: end hold


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="hold_pose_with_feedforward.png", help="path of the picture")
    picture = parser.parse_args().plot
    results = {way: hold(*how) for way, how in WAYS.items()}
    names = results["PD alone"][0]
    sags = {way: np.rad2deg(np.abs(deviations[-1])) for way, (_, deviations) in results.items()}

    table = Table("joint", *[f"{way} \\[deg]" for way in WAYS], title=f"Sag after {STEPS / 240:g} s")
    for joint, name in enumerate(names):
        table.add_row(name, *[f"{sag[joint]:.5f}" for sag in sags.values()])
    Console().print(table)

    told = "With a PD law alone, every joint that carries weight sags; with feedforward none does"
    drawn, (left, right) = style.panels(11, 4.5, told, columns=2)
    worst = np.stack([np.rad2deg(np.abs(deviations)).max(axis=1) for _, deviations in results.values()], axis=1)
    shown = style.until_rest(time := (np.arange(STEPS) + 1) / 240, worst[:, :1])
    right.bar(range(7), sags["PD alone"], 0.6, color=style.BLUE)
    right.set_xticks(range(7), [name.removeprefix("panda_joint") for name in names])
    left.set(xlabel="time [s]", ylabel="deviation of the worst joint [deg]")
    right.set(xlabel="joint", ylabel=f"deviation with PD alone after {STEPS / 240:g} s [deg]")
    style.lines(left, time[shown], worst[shown], list(results))
    style.save(drawn, picture)

    with_feedforward = np.deg2rad([sags["feedforward alone"].max(), sags["PD + feedforward"].max()])
    held = bool((with_feedforward < TOLERANCE).all() and np.deg2rad(sags["PD alone"].max()) > 10 * TOLERANCE)
    print(f"{'ok' if held else 'FAILED'}: with feedforward the arm stays within 0.01 deg; see {picture}")
    return 0 if held else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
