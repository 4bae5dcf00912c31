"""What a user writes: mypy and pyright find its one mistake, and nothing else."""

from typing import Any, assert_type

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    Articulation,
    ArticulationActuators,
    ControllerPD,
    MaxEffortClampingConfig,
    PDControlConfig,
    Simulation,
    Stability,
)

with Simulation("data/robots/franka_panda.usda", num_envs=4) as sim:
    assert_type(sim, Simulation)
    arm = Articulation("/World/Panda")
    actuators = ArticulationActuators("/World/Panda")
    assert_type(actuators, ArticulationActuators)
    sim.play()
    arm.set_dof_position_targets(np.zeros(7), dof_indices=[0, 1])
    names: list[str] = arm.dof_names
    assert_type(actuators.stability(), Stability)
    actuators.set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())
    with actuators.record() as log:
        sim.step(10)
    log.save("log.npz")
motors = {".*": [PDControlConfig(kp=80.0, kd=2.0), MaxEffortClampingConfig(max_effort=20.0)]}
leg = ActuatedArrays(["hip", "knee"], motors, num_robots=3)
q, qd, q_target = np.zeros((3, 3, 2), np.float32)
efforts: np.ndarray = leg.step(q, qd, q_target, 0.005)
kp: "wp.array[Any, int]" = ControllerPD(wp.ones(2), wp.ones(2)).kp
PDControlConfig(kp="soft")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
