"""What acts on a shaft before the joints that it moves: friction of tendons, and rotors that couple joints."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.simulators.mujoco.address import mujoco

NAMES = ["a", "b", "c"]
DT = 1e-3


def tendon(*stages: Any, radii: tuple[float, ...] = (1.0, 0.6, 0.3), **given: Any) -> dict[str, list[Any]]:
    shaft = aa.LinkageConfig.tendon(dict(zip(NAMES, radii, strict=False)), **given)
    return {"a": [aa.PDControlConfig(4.0, 0.05), aa.MaxEffortClampingConfig(3.0), *stages, shaft]}


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
@pytest.mark.parametrize("unilateral", [False, True])
def test_friction_of_a_tendon_is_that_of_a_rope_behind_its_motor(unilateral: bool) -> None:
    """A chain of three joints in float64: the tendon slides, sticks, and holds what is below its friction."""
    mass = np.array([[3.0, 0.8, 0.3], [0.8, 1.5, 0.2], [0.3, 0.2, 0.9]]) * 1e-3
    springs, damping = np.array([0.05, 0.04, 0.03]), np.array([3e-2, 2e-2, 1e-2])
    g = np.array([1.0, 0.6, 0.3])
    coulomb, viscous, load = 0.02, 0.01, 0.3
    rope = aa.ShaftFrictionConfig(coulomb, viscous, load)
    arrays = aa.ActuatedArrays(NAMES, tendon(rope, unilateral=unilateral))
    arrays.set_mass_matrix(mass)
    inverse = np.linalg.inv(mass)
    inertia = 1 / (g @ inverse @ g)
    q, qd, found = np.zeros(3), np.zeros(3), []
    dry, v_before, u_before = 0.0, np.nan, np.nan
    for tick in range(2500):
        target = np.array([0.8, 0.5, 0.2]) * (tick < 1200) + 0.1 * (tick > 2000)
        state = [one.astype(np.float32)[None] for one in (q, qd, target)]
        efforts = np.array(arrays.step(*state, DT), float)[0]
        v = float(g @ state[1][0].astype(float))
        tau = np.clip(4.0 * float(g @ (state[2] - state[0])[0]) - 0.05 * v, -3.0, 3.0)
        if tick == 0:
            v_before, u_before = v, tau
        level, heavy = coulomb + load * abs(tau), inertia + DT * viscous
        free = (inertia * (2 * v - v_before) + DT * (tau - u_before)) / heavy
        after = np.clip(dry - 0.5 * heavy * free / DT, -level, level)
        u = tau - viscous * (free + DT * (after - dry) / heavy)
        dry, v_before, u_before, wanted = after, v, u, u + after
        wanted = max(wanted, 0.0) if unilateral else wanted
        np.testing.assert_allclose(efforts, g * wanted, rtol=2e-4, atol=2e-4)
        qd = qd + DT * inverse @ (efforts - springs * q - damping * qd)
        q = q + DT * qd
        found.append((wanted, v, tau))
    pulled, speed, asked = np.transpose(found)
    # it rests with the motor's effort held in part, and moves in between
    assert np.abs(speed[1150:1200]).max() < 5e-3 < np.abs(speed).max()
    assert np.abs(pulled - asked)[1150] > coulomb and (pulled.min() >= 0.0) == unilateral and not arrays.faults


def test_inertia_of_a_shaft_is_that_of_the_mass_matrix() -> None:
    model = mujoco.MjModel.from_xml_string(CHAIN.format(armature="", across="b"))
    rope = aa.ShaftFrictionConfig(0.01)
    second = [aa.PDControlConfig(1.0, 0.01), rope, aa.LinkageConfig.tendon({"c": 1.0, "d": 0.5})]
    first = [aa.PDControlConfig(1.0, 0.01), rope, aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6})]
    with aa.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        actuators = driven("finger", {"a": first, "c": second})
        data.qpos[:], mass = 0.3, np.zeros((4, 4))
        there = mujoco.MjData(model)
        there.qpos[:] = 0.3
        mujoco.mj_forward(model, there)
        mujoco.mj_fullM(model, there, mass)
        sim.step()
        g = np.array([[1, 0.6, 0, 0], [0, 0, 1, 0.5]])
        among = g @ np.linalg.inv(mass) @ g.T
        scale = np.sqrt(np.diag(among))
        expected = 1 / (np.abs(among) * scale[:, None] / scale).sum(axis=1)
        ((joints, array),) = actuators._assembly.signals["shaft_inertia"]
        names = [actuators._assembly.dof_names[joint] for joint in joints]
        np.testing.assert_allclose(array.numpy()[0, [names.index("a"), names.index("c")]], expected, rtol=1e-4)
        assert not actuators.faults
    alone = aa.ActuatedArrays(NAMES, tendon(rope))
    with pytest.raises(ValueError, match="assumed_inertia"):
        alone.step(zero := np.zeros((1, 3), np.float32), zero, zero, DT)


CHAIN = """
<mujoco><option timestep="0.001" gravity="0 0 -2"/><default><joint axis="0 1 0" damping=".002"/>
<geom type="capsule" size=".008" fromto="0 0 0 .03 0 0" contype="0" conaffinity="0"/></default><worldbody>
<body name="finger"><joint name="a" stiffness=".05"/><geom/>
<body pos=".03 0 0"><joint name="b" stiffness=".05"/><geom/>
<body pos=".03 0 0"><joint name="c" stiffness=".02"/><geom/></body></body>
<body pos="0 .03 0"><joint name="d" stiffness=".02"/><geom/></body></body></worldbody>
<tendon><fixed name="rope" {armature}><joint joint="a" coef="1"/><joint joint="{across}" coef="0.6"/>
</fixed></tendon></mujoco>
"""


def motion(model: Any, motors: dict[str, Any], ticks: int = 2000) -> np.ndarray:
    found = []
    with aa.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        robot, actuators = sim.articulation("finger"), driven("finger", motors)
        for tick in range(ticks):
            robot.set_dof_position_targets(0.4 * np.sin(2 * np.pi * 1.5 * tick * DT))
            sim.step()
            found.append(data.qpos.copy())
        assert not actuators.faults
    return np.array(found)


@pytest.mark.parametrize("rotor", [2e-5, 2e-3])
def test_rotor_that_couples_joints_moves_them_as_an_exact_one(rotor: float) -> None:
    """Along a chain, where MuJoCo's tendon has the armature: a small one closely, a heavy one stays stable."""
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6})
    motor = [aa.PDControlConfig(0.2, 0.01), shaft]
    with_rotor = [*motor[:1], aa.TransmissionConfig(1.0, rotor_inertia=rotor), shaft]
    exact = mujoco.MjModel.from_xml_string(CHAIN.format(armature=f'armature="{rotor}"', across="b"))
    plain = mujoco.MjModel.from_xml_string(CHAIN.format(armature="", across="b"))
    right, ours, without = motion(exact, {"a": motor}), motion(plain, {"a": with_rotor}), motion(plain, {"a": motor})
    off, effect = np.abs(ours - right).max(), np.abs(without - right).max()
    assert off < 0.02 * effect and off < 5e-3


def test_rotor_across_branches_couples_them() -> None:
    """MuJoCo has the diagonal alone there: a spring of one joint moves the other, too, for their sum is heavy."""
    rotor = 5e-3
    model = mujoco.MjModel.from_xml_string(CHAIN.format(armature="", across="b"))
    model.opt.gravity[:] = 0
    model.jnt_stiffness[:] = [0, 0, 0, 0.02]
    shaft = aa.LinkageConfig.tendon({"c": 1.0, "d": 1.0})
    motors = {"c": [aa.PDControlConfig(0.0, 0.0), aa.TransmissionConfig(1.0, rotor_inertia=rotor), shaft]}
    with aa.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        actuators = driven("finger", motors)
        c, d = (model.joint(name).qposadr[0] for name in "cd")
        data.qpos[d] = -0.5
        sim.step(60)
        # the rotor resists the sum of both alone: they turn against each other
        assert data.qvel[d] > 0.1 and abs(data.qvel[c] + data.qvel[d]) < 0.2 * data.qvel[d]
        lag = [stage for one in actuators.actuators for stage in one.stages if isinstance(stage, aa.ShaftInertia)]
        assert len(lag) == 1


def test_energy_of_a_tendon_finger_with_springs_does_not_grow() -> None:
    """Rotors and springs without motor and damping: the mean over a period of a long motion stays, or falls."""
    rotor, ticks = 4e-4, 40_000
    model = mujoco.MjModel.from_xml_string(CHAIN.format(armature="", across="b"))
    model.dof_damping[:], model.opt.gravity[:] = 0, 0
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 1.0, "c": 1.0})
    motors = {"a": [aa.PDControlConfig(0.0, 0.0), aa.TransmissionConfig(1.0, rotor_inertia=rotor), shaft]}
    with aa.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        driving = driven("finger", motors)
        data.qpos[:3] = 0.3, -0.2, 0.1
        energies = []
        mass = np.zeros((4, 4))
        for _ in range(ticks):
            sim.step()
            mujoco.mj_fullM(model, data, mass)
            v, q = data.qvel, data.qpos
            energies.append(
                0.5 * v @ mass @ v + 0.5 * rotor * v[:3].sum() ** 2 + 0.5 * (model.jnt_stiffness * q**2).sum()
            )
        assert not driving.faults
    means = np.mean(np.reshape(energies, (8, -1)), axis=1)
    assert (np.diff(means) <= 1e-9 * means[0]).all() or means.max() <= 1.001 * means[0]
