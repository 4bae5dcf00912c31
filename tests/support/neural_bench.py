"""A controller with a network on flat arrays, stepped beside its twin."""

from types import SimpleNamespace

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import Actuator
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from neural_twin import Twin, random_motion

COUNT, STEPS, DT = 5, 1000, 0.005


def array(values, dtype=wp.float32) -> wp.array:
    return wp.array(values, dtype=dtype, device="cpu")


def largest_difference(
    controller, twin: Twin, rng: np.random.Generator, *, dt: float = DT, steps: int = STEPS
) -> float:
    """Step both through random motion with random masked resets, 1000 steps by default."""
    # positions, velocities and efforts stand at places of their own
    places = [rng.permutation(2 * COUNT)[:COUNT].astype(np.uint32) for _ in range(3)]
    at, at_position, at_effort = (array(place, wp.uint32) for place in places)
    with quiet_warp():
        actuator = Actuator(at, controller, pos_indices=at_position, effort_indices=at_effort)
    states = [actuator.state(), actuator.state()]
    worst = largest = 0.0
    for step, signals in enumerate(random_motion(rng, 2 * COUNT, steps)):
        if step and rng.random() < 0.02:
            mask = rng.random(COUNT) < 0.4
            states[0].reset(array(mask, wp.bool))
            twin.reset(mask)
        q, qd, q_target, qd_target, feedforward = (array(values) for values in signals)
        forces = wp.zeros(2 * COUNT, dtype=wp.float32, device="cpu")
        sim_state = SimpleNamespace(joint_q=q, joint_qd=qd)
        targets = {"joint_target_pos": q_target, "joint_target_vel": qd_target}
        control = SimpleNamespace(joint_act=feedforward, joint_f=forces, **targets)
        actuator.step(sim_state, control, *states, dt=dt)
        states.reverse()
        where = (places[1], places[0], places[1], places[0])
        expected = twin.step(*(values[place] for values, place in zip(signals, where, strict=False)))
        found = forces.numpy()[places[2]]
        worst, largest = max(worst, np.abs(found - expected).max()), max(largest, np.abs(expected).max())
    assert largest > 0.1
    return worst / largest
