"""Split 96 pendulums with different motors across processes; the results do not depend on their number.

./python.sh standalone_examples/shard_with_torchrun.py [--plot out.png]
torchrun --nproc-per-node 2 standalone_examples/shard_with_torchrun.py
"""

import argparse
import hashlib
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.table import Table

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "pendulum.usda"
PENDULUM, ENVS, STEPS = "/World/Pendulum", 96, 2400
TARGET, WEIGHT, MAX_EFFORT, TOLERANCE = 0.8, 9.81 * 0.5, 20.0, 1e-3  # [rad], [N·m] when level, [N·m], [N·m]


# docs: begin simulate
def simulate(shard: ea.Shard) -> np.ndarray:
    """Return the stiffnesses [N·m/rad] and the rest angles [rad] of this process's pendulums."""
    motor = [ea.PDControlConfig(20.0, 3.0), ea.MaxEffortClampingConfig(MAX_EFFORT), ea.DelayConfig(5)]
    random = {"kp": ea.Uniform(5.0, 40.0), "kd": ea.Uniform(2.0, 4.0), "delay_steps": ea.Uniform(0, 5)}
    with ea.Simulation(ROBOT, num_envs=shard.num_envs) as sim:
        pendulums = ea.Articulation(PENDULUM)
        actuators = ea.ArticulationActuators.from_configs(PENDULUM, {"hinge": motor})
        sim.play()
        actuators.randomize(random, seed=shard.seed, first_robot=shard.first_env)
        pendulums.set_dof_position_targets(TARGET)
        sim.step(STEPS)
        return np.stack([actuators.actuators[0].controller.kp.numpy(), pendulums.get_dof_positions().numpy()[:, 0]])
    # docs: end simulate


# docs: begin gather
def gather(shard: ea.Shard) -> list[tuple[ea.Shard, np.ndarray]]:
    """Simulate; return the results of all processes in the first process, and nothing in the others."""
    if shard.num_ranks == 1:
        return [(shard, simulate(shard))]
    with needs(f"WORLD_SIZE = {shard.num_ranks}: gathering", "train"):
        import torch.distributed as processes
    processes.init_process_group("gloo")
    mine, found = (shard, simulate(shard)), [None] * shard.num_ranks
    processes.gather_object(mine, found if shard.rank == 0 else None)
    processes.destroy_process_group()
    return found if shard.rank == 0 else []
    # docs: end gather


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="shard_with_torchrun.png", help="path of the picture")
    picture, shard = parser.parse_args().plot, ea.Shard.from_environment(ENVS, seed=7)
    if not (found := gather(shard)):
        return 0
    table, digest, off, labels = Table("rank", "pendulums", "off \\[N·m]"), hashlib.sha256(), [], []
    drawn, (panel,) = style.panels(9, 5, f"{ENVS} pendulums: stiffer ones are closer to the target")
    for part, (kp, angles) in found:
        # at rest the motor carries the weight
        off.append(np.abs(kp * (TARGET - angles) - WEIGHT * np.sin(angles)).max())
        table.add_row(f"{part.rank}", f"{part.envs[0]} … {part.envs[-1]}", f"{off[-1]:.1e}")
        digest.update(angles.tobytes())
        color, stiffest = style.COLORS[part.rank % len(style.COLORS)], angles[kp.argmax()]
        panel.plot(kp, angles, ".", color=color)
        labels.append((stiffest[None], f"rank {part.rank}", color))
    Console().print(table)
    style.mark(panel, "target", y=TARGET)
    panel.set(xlabel="stiffness [N·m/rad]", ylabel="angle at rest [rad]")
    panel.margins(x=0.02)
    style.label_ends(panel, labels)
    style.save(drawn, picture)
    print(f"{digest.hexdigest()[:16]}: digest of all angles, the same for any number of processes")
    good = sum(part.num_envs for part, _ in found) == ENVS and max(off) < TOLERANCE
    print(f"{'ok' if good else 'FAILED'}: each motor carries its pendulum within {TOLERANCE} N·m; see {picture}")
    return int(not good)


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
