"""Every law from a USD file to the efforts: authored, parsed, stepped, compared with the oracle and with newton."""

import warnings
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from peers import newton_actuator
from pxr import Usd, UsdPhysics
from stages import stage_of

ROOT, DT = "/Robot", 0.01
TABLE = aa.PositionBasedClampingConfig([-1.0, 0.0, 1.0], [2.0, 20.0, 5.0])
# joint name -> controller, clamps as authored, delay
MIXED: dict[str, tuple] = {
    "hip": (aa.PDControlConfig(40.0, 2.0, 1.0), [aa.MaxEffortClampingConfig(25.0)], None),
    "knee": (aa.PIDControlConfig(30.0, 200.0, 1.0, 0.05), [aa.MaxEffortClampingConfig(30.0)], aa.DelayConfig(2)),
    "ankle": (
        aa.PDControlConfig(60.0, 1.0),
        [aa.MaxEffortClampingConfig(15.0), aa.DCMotorClampingConfig(30.0, 1.5, 20.0)],
        None,
    ),
    "toe": (aa.PIDControlConfig(50.0, 10.0, 0.0), [TABLE], None),
    "finger": (aa.PDControlConfig(50.0, 1.0), [TABLE, aa.DCMotorClampingConfig(30.0, 2.0, 25.0)], aa.DelayConfig(1)),
}
# canonical order of the clamps read from USD
ORDER = (aa.DCMotorClampingConfig, aa.PositionBasedClampingConfig, aa.MaxEffortClampingConfig)


def stage_with(actuators: dict[str, tuple]) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(ROOT, "Xform"))
    for name, (controller, clamping, delay) in actuators.items():
        UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/{name}")
        aa.add_actuator(ROOT, name, name, controller, clamping=clamping, delay=delay, stage=stage)
    return stage


def oracle_joint(controller, clamping: list, delay: aa.DelayConfig | None) -> oracle.Joint:
    clamps: list[tuple] = []
    for clamp in sorted(clamping, key=lambda clamp: ORDER.index(type(clamp))):
        if isinstance(clamp, aa.MaxEffortClampingConfig):
            clamps.append(("max", clamp.max_effort))
        elif isinstance(clamp, aa.DCMotorClampingConfig):
            clamps.append(("dc", clamp.saturation_effort, clamp.velocity_limit, clamp.max_motor_effort))
        else:
            clamps.append(("table", clamp.lookup_positions, clamp.lookup_efforts))
    given = {name: value for name, value in vars(controller).items() if name != "wrap"}
    return oracle.Joint(**given, clamps=clamps, delay_steps=delay.delay_steps if delay else 0)


def test_mixed_robot_agrees_with_oracle_and_newton(rng) -> None:
    """Five joints, five pipelines, three robots, 300 steps of moving signals."""
    pytest.importorskip("newton.actuators", reason="newton is not installed")
    names, robots = list(MIXED), 3
    stage = stage_with(MIXED)
    host = ArraysHost(names, robots, path=ROOT, stage=stage)
    joints = [[oracle_joint(*parts) for parts in MIXED.values()] for _ in range(robots)]
    with aa.use_host(host), quiet_warp(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        wrapper = aa.ArticulationActuators(f"{ROOT}_.*")
        host.play()
        peers = [
            newton_actuator(stage.GetPrimAtPath(f"{ROOT}/Actuators/{name}"), column, robots, len(names))
            for column, name in enumerate(names)
        ]
        arrays, device = host.arrays(), {"dtype": wp.float32, "device": "cpu"}
        for _ in range(300):
            signals = [rng.normal(size=(robots, len(names))).astype(np.float32) for _ in range(5)]
            inputs = ("positions", "velocities", "position_targets", "velocity_targets")
            for name, values in zip(inputs, signals, strict=False):
                getattr(arrays, name)[:] = values.ravel()
            wrapper.set_dof_feedforward_effort_targets(signals[4])
            host.step(DT)
            ours = arrays.efforts.reshape(robots, -1)
            expected = np.empty_like(ours, np.float64)
            for robot, column in np.ndindex(expected.shape):
                expected[robot, column] = joints[robot][column].step(*(s[robot, column] for s in signals), DT)
            np.testing.assert_allclose(ours, expected, atol=2e-4, rtol=0)
            q, qd, q_target, qd_target, ff = (wp.array(values.ravel(), **device) for values in signals)
            state = SimpleNamespace(joint_q=q, joint_qd=qd)
            forces = wp.zeros(len(q), **device)
            control = SimpleNamespace(joint_target_q=q_target, joint_target_qd=qd_target, joint_act=ff, joint_f=forces)
            for actuator, states in peers:
                actuator.step(state, control, *states, dt=DT)
                states.reverse()
            np.testing.assert_allclose(ours.ravel(), forces.numpy(), atol=2e-4, rtol=0)
        assert wrapper.faults == []
        wrapper.close()


@pytest.mark.parametrize("clamps", [[0, 1], [1, 0]])
def test_max_effort_holds_in_whatever_order_it_was_authored(clamps) -> None:
    """Far beyond no-load speed the motor brakes with all it has, yet never above the plain limit."""
    both = [aa.MaxEffortClampingConfig(10.0), aa.DCMotorClampingConfig(100.0, 10.0, np.inf)]
    stage = stage_with({"knee": (aa.PDControlConfig(1.0, 0.0), [both[i] for i in clamps], None)})
    host = ArraysHost(["knee"], path=ROOT, stage=stage)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators(ROOT)
        host.play()
        host.arrays().position_targets[:], host.arrays().velocities[:] = 30.0, 40.0
        host.step(DT)
        assert host.arrays().efforts[0] == -10.0
        wrapper.close()


def test_integral_follows_dt_and_reset() -> None:
    stage = stage_with({"knee": (aa.PIDControlConfig(0.0, 10.0, 0.0, 0.05), [], None)})
    host = ArraysHost(["knee"], path=ROOT, stage=stage)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators(ROOT)
        host.play()
        host.arrays().position_targets[:] = 1.0
        efforts = []
        for dt in (0.01, 0.02, 0.01, 0.04):
            host.step(dt)
            efforts.append(float(host.arrays().efforts[0]))
        assert efforts == pytest.approx([0.1, 0.3, 0.4, 0.5])
        wrapper.reset()
        host.step(0.01)
        assert host.arrays().efforts[0] == pytest.approx(0.1)
        wrapper.close()


def test_infinite_saturation_warns_and_switches_the_curve_off() -> None:
    clamps = [aa.DCMotorClampingConfig(np.inf, 1.0, 5.0)]
    host = ArraysHost(["knee"], path=ROOT, stage=stage_with({"knee": (aa.PDControlConfig(100.0, 0.0), clamps, None)}))
    with aa.use_host(host):
        with pytest.warns(UserWarning, match=r"Actuators/knee.*velocityLimit = 1 has no effect"):
            wrapper = aa.ArticulationActuators(ROOT)
        host.play()
        host.arrays().position_targets[:], host.arrays().velocities[:] = 1.0, 50.0
        host.step(DT)
        assert host.arrays().efforts[0] == 5.0
        wrapper.close()


def test_pid_removes_the_sag_that_pd_leaves(robots) -> None:
    found = {}
    for control in (aa.PDControlConfig(20.0, 2.0), aa.PIDControlConfig(20.0, 30.0, 2.0)):
        stage = stage_of(robots / "pendulum.usda")
        aa.add_actuator("/World/Pendulum", "hinge", "hinge", control, overwrite_existing=True, stage=stage)
        with aa.Simulation(stage) as sim:
            wrapper = aa.ArticulationActuators("/World/Pendulum")
            sim.play()
            wrapper.articulation.set_dof_position_targets(0.8)
            sim.step(2400)
            found[type(control)] = abs(float(wrapper.articulation.get_dof_positions().numpy()[0, 0]) - 0.8)
    assert found[aa.PDControlConfig] > 0.1 and found[aa.PIDControlConfig] < 1e-3
