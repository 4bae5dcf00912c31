"""newton reading the same robot file with its own parser gives the same efforts."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ArticulationActuators, use_host
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from peers import newton_actuator
from pxr import Usd

with quiet_warp():
    pytest.importorskip("newton.actuators", reason="newton is not installed")

STEPS, TOLERANCE = 500, 1e-5


@pytest.mark.parametrize(
    ("file", "root"), [("franka_panda", "/World/Panda"), ("anymal_c", "/World/Anymal"), ("arm_2dof", "/World/Arm")]
)
@pytest.mark.slow
def test_same_file_gives_the_same_efforts(file, root, robots, rng) -> None:
    """500 random steps, two robots, moving targets and feedforward: within 1e-5 of the effort limit."""
    count = 2
    stage = Usd.Stage.Open(str(robots / f"{file}.usda"))
    joints = [
        str(prim.GetPath())
        for prim in stage.GetPrimAtPath(f"{root}/joints").GetChildren()
        if prim.IsA("PhysicsRevoluteJoint") or prim.IsA("PhysicsPrismaticJoint")
    ]
    names = [path.rsplit("/", 1)[1] for path in joints]
    host = ArraysHost(names, count, path=root, stage=stage, dof_paths=joints)
    with use_host(host), quiet_warp():
        host.play()
        wrapper = ArticulationActuators(f"{root}_.*")
        assert len(wrapper.actuated_dof_indices) == len(wrapper.actuators) > 1
        columns = {path: column for column, path in enumerate(joints)}
        theirs = [
            newton_actuator(
                prim, columns[str(prim.GetRelationship("newton:targets").GetTargets()[0])], count, len(names)
            )
            for prim in stage.Traverse()
            if prim.GetTypeName() == "NewtonActuator"
        ]
        assert len(theirs) == len(wrapper.actuators)
        articulation = wrapper.articulation
        arrays = host.arrays()
        limits = np.zeros(len(names))
        for actuator in wrapper.actuators:
            clamp = actuator.clamping[0]
            # the last parameter is the peak, of an effort limit and of a DC motor
            limits[names.index(actuator.dof_names[0])] = clamp.read(clamp.PARAMETERS[-1])[0]
        limits = np.tile(limits, count)
        device = {"dtype": wp.float32, "device": "cpu"}
        limited = 0
        for _ in range(STEPS):
            q, qd, q_target, qd_target, ff = (rng.normal(size=count * len(names)).astype(np.float32) for _ in range(5))
            q_target = q + 0.3 * q_target
            for name, values in (("positions", q), ("velocities", qd)):
                getattr(arrays, name)[:] = values
            arrays.position_targets[:], arrays.velocity_targets[:] = q_target, qd_target
            wrapper.set_dof_feedforward_effort_targets(ff.reshape(count, -1))
            host.step(0.01)
            ours = articulation.get_dof_efforts().numpy().ravel()
            state = SimpleNamespace(joint_q=wp.array(q, **device), joint_qd=wp.array(qd, **device))
            control = SimpleNamespace(
                joint_target_q=wp.array(q_target, **device),
                joint_target_qd=wp.array(qd_target, **device),
                joint_act=wp.array(ff, **device),
                joint_f=wp.zeros(count * len(names), **device),
            )
            for actuator, states in theirs:
                actuator.step(state, control, *states, dt=0.01)
                states.reverse()
            efforts = control.joint_f.numpy()
            limited += int((np.abs(efforts) == limits).sum())
            assert (np.abs(ours - efforts) <= TOLERANCE * limits).all()
        assert 0 < limited < STEPS * len(limits)
        wrapper.close()
