"""A model's own actuators as motors: the same motion, and the others are named."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators import ActuatedArrays, LinkageConfig, MotorConfig, inspect_robots
from isaacsim.core.experimental.actuators.simulators.mujoco import model_actuators
from isaacsim.core.experimental.actuators.specs.dc_motors import INPUTS
from refusals import cases

STEPS = 500
HOT = 'motorconst="0.3" gear="2" thermal="2 1 0 0.0039 10 25"'


def swing(actuators: str, joint: str = "", inside: str = "") -> mujoco.MjModel:
    """A weightless hinge that carries a slide, with armature and damping of their own."""
    if not hasattr(mujoco, "mjtCtrlInput") and re.search("<(pid|dcmotor)", actuators):
        pytest.skip("MuJoCo before 3.17 has neither PID nor these DC motors")
    return mujoco.MjModel.from_xml_string(
        f"""
        <mujoco>
          <option timestep="0.002" gravity="0 0 0"><flag contact="disable"/></option>
          <worldbody>
            <site name="base"/>
            <body name="arm">
              <joint name="a" axis="0 1 0" armature="0.5" damping="0.1" {joint}/>
              <geom size="0.1" mass="1" pos="0.2 0 0"/>
              <body name="tip" pos="0.4 0 0">
                <joint name="b" type="slide" axis="1 0 0" armature="0.25" frictionloss="0.05"/>
                <geom size="0.05" mass="1"/><site name="end"/>
              </body>
            </body>
            <body name="top"><joint name="spin" type="ball"/><geom size="0.1" mass="1"/></body>
          </worldbody>
          {inside}
          <actuator>{actuators}</actuator>
        </mujoco>"""
    )


# the actuator; what its control stands for; what one has to multiply the control with to get it; and how far it goes
@cases(
    "actuator, target, factor, reach",
    ('<position joint="a" kp="10" kv="1"/>', "position", 1.0, 1.0),
    ('<position joint="a" kp="10" dampratio="1" gear="2"/>', "position", 0.5, 1.0),
    ('<position joint="a" kp="10" kv="1" gear="-2" forcerange="-3 3"/>', "position", -0.5, 2.0),
    ('<position joint="a" kp="10" kv="1" armature="0.2" damping="0.3"/>', "position", 1.0, 1.0),
    ('<velocity joint="a" kv="3" gear="2"/>', "velocity", 0.5, 1.0),
    ('<velocity joint="a" kv="3" gear="2" ctrlrange="-2 2"/>', "velocity", 0.5, 4.0),
    ('<motor joint="a" gear="5"/>', "effort", 5.0, 1.0),
    ('<motor joint="a" gear="5" ctrlrange="-1 1"/>', "effort", 5.0, 3.0),
    ('<general joint="a" gainprm="3" biasprm="1 -2 -3" biastype="affine" gear="2"/>', "position", 0.75, 2.0),
    ('<general jointinparent="a" gainprm="3" biasprm="0 0 -2" biastype="affine"/>', "effort", 3.0, 2.0),
    (
        '<general joint="a" gainprm="3" biasprm="0 0 -2" biastype="affine" ctrlrange="-.5 .5" forcerange="-1 1"/>',
        *("effort", 3.0, 3.0),
    ),
    ('<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="20"/>', "effort", 1.0, 1.0),
    (
        '<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="20" ctrlrange="-2 2" saturation="0.3 0 0"/>',
        *("effort", 1.0, 5.0),
    ),
    ('<pid joint="a" kp="10" kv="2"/>', "position", 1.0, 1.0),
    ('<pid joint="a" kp="10" kv="2" slewmax="1.5" gear="-2"/>', "position", -0.5, 2.0),
    (
        '<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="-2" input="pos" controller="3 0 0.4 2 0 4"/>',
        *("position", -0.5, 2.0),
    ),
    # a feedforward in volts
    ('<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="20" inductance="0.002"/>', "effort", 1.0, 4.0),
    (
        '<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="20" inductance="0.002" ctrlrange="-2 2"'
        ' saturation="0 0 40" cogging="0.02 3 0.4"/>',
        *("effort", 1.0, 3.0),
    ),
    (
        '<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="-20" inductance="0.002" armature="0.001"/>',
        *("effort", 1.0, 4.0),
    ),
    (
        '<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="-2" input="pos" controller="3 0 0.4 0 0 4"/>',
        *("position", -0.5, 2.0),
    ),
    (
        '<dcmotor joint="a" motorconst="0.1 0.12" resistance="0.5" gear="4" inductance="0 0.003" input="pos vel"'
        ' controller="1 0 0.1 0 0 6" saturation="0 0 200" cogging="0.05 -2 0.3"/>',
        *("position", 0.25, 4.0),
    ),
    # one that gets hot, with a resistance given at 10 °C
    (f'<dcmotor joint="a" resistance="0.5" {HOT}/>', "effort", 1.0, 4.0),
    (f'<dcmotor joint="a" resistance="0.5" {HOT} inductance="0.002" saturation="0 0 400"/>', "effort", 1.0, 4.0),
    (
        f'<dcmotor joint="a" resistance="0.5" {HOT} inductance="0.002" input="pos" controller="5 0 0.5 0 0 6"/>',
        *("position", 0.5, 2.0),
    ),
    ('<position joint="a" kp="8"/><velocity joint="a" kv="2"/>', "position", 1.0, 1.0),
)
def test_motor_moves_a_joint_as_the_actuator_did(actuator, target, factor, reach) -> None:
    controls = reach * np.sin(0.03 * np.arange(STEPS)) + 0.25 * reach
    model = swing(actuator, 'actuatorfrcrange="-12 12"')
    data = mujoco.MjData(model)
    expected = np.zeros((STEPS, 2))
    limits = 0
    for step in range(STEPS):
        data.ctrl[0] = controls[step]
        mujoco.mj_step(model, data)
        expected[step] = data.qpos[:2]
        limits += abs(data.qfrc_actuator[0]) == 12
    assert np.ptp(expected[:, 0]) > 0.05 and limits < STEPS / 2
    motors = aa.motors_of_model(model)
    assert motors["a"].armature == 0.5 and motors["a"].friction == 0.0
    data, seen = mujoco.MjData(model), np.zeros((STEPS, 2))
    with aa.MujocoSimulation(model, data) as sim, driven("arm", motors) as actuators:
        robot = sim.articulation("arm")
        # the controls go on, and do nothing
        data.ctrl[:] = 100.0
        for step in range(STEPS):
            wanted = factor * controls[step]
            if target == "position":
                robot.set_dof_position_targets(wanted, dof_indices=[0])
            elif target == "velocity":
                robot.set_dof_velocity_targets(wanted, dof_indices=[0])
            else:
                actuators.set_dof_feedforward_effort_targets(wanted, dof_indices=[0])
            sim.step()
            seen[step] = data.qpos[:2]
    np.testing.assert_allclose(seen, expected, rtol=0, atol=1e-6)


def test_what_motors_say() -> None:
    """Gains go with the square of the gear, limits with the gear; ranges of controls that set efforts are limits."""
    model = swing(
        """
        <position joint="a" kp="10" kv="1" gear="-2" forcerange="-3 3" ctrlrange="-1 4"/>
        <dcmotor joint="b" motorconst="0.1" resistance="0.5" gear="20" ctrlrange="-2 2" saturation="0.3 0 0"/>
        """,
        'actuatorfrcrange="-50 50"',
    )
    with pytest.warns(UserWarning, match=r"targets within their ctrlrange, .*: 'actuator_0' \(-2 … 0.5\), in rad or m"):
        motors = aa.motors_of_model(model)
    assert motors == {
        "a": aa.MotorConfig(
            aa.PDControlConfig(40.0, 4.0),
            [aa.MaxEffortClampingConfig(6.0)],
            armature=0.5,
            friction=0.0,
            viscous_friction=0.1,
        ),
        "b": aa.MotorConfig(
            aa.ServoControlConfig(0.0, 0.0, 2.0),
            [aa.MaxEffortClampingConfig(pytest.approx(0.3))],
            others=[
                aa.ElectricalConfig(0.1, 0.5, voltage=2.0, command="voltage", discretization="mujoco"),
                aa.TransmissionConfig(20.0, targets="motor"),
            ],
            armature=0.25,
            friction=0.05,
            viscous_friction=0.0,
        ),
    }
    plain = swing('<motor joint="a" name="m"/>', 'actuatorfrcrange="-50 50"')
    assert aa.motors_of_model(plain)["a"].clamping == [aa.MaxEffortClampingConfig(50.0)]
    assert aa.motors_of_model(swing('<motor joint="a"/>'))["a"].clamping == []


def test_names_are_patterns_that_match_themselves() -> None:
    names = ["left-hip", "left.hip", "hip(1)"]
    joints = "".join(f'<body><joint name="{name}"/><geom size="1"/></body>' for name in names)
    motors = "".join(f'<motor joint="{name}"/>' for name in names)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{joints}</worldbody><actuator>{motors}</actuator></mujoco>"
    )
    found = aa.motors_of_model(model)
    assert [[name for name in names if re.fullmatch(pattern, name)] for pattern in found] == [[n] for n in names]
    assert next(iter(found)) == "left-hip"


@cases(
    "actuator, why",
    ('<motor name="x" tendon="cord"/>', "acts on a tendon"),
    ('<motor name="x" site="end" refsite="base" gear="0 1 0"/>', "acts on a site"),
    ('<motor name="x" joint="spin" gear="1 0 0"/>', "acts on the ball joint 'spin'"),
    ('<muscle name="x" joint="a" lengthrange="0 1"/>', "activation dynamics of kind muscle"),
    ('<position name="x" tendon="cord" timeconst="0.1"/>', "acts on a tendon"),
    ('<intvelocity name="x" joint="a" actrange="-1 1"/>', "activation dynamics of kind integrator"),
    ('<dcmotor name="x" joint="a" motorconst="1" resistance="1" input="pos voltage"/>', "that adds a voltage"),
    (
        '<dcmotor name="x" joint="a" motorconst="1" resistance="1" input="vel" controller="1 0 1"/>',
        "whose position setpoint is fixed at 0",
    ),
    ('<dcmotor name="x" joint="a" motorconst="1" resistance="1" gear="0" cogging="1 2 0"/>', "with the gear 0"),
    (
        '<dcmotor name="x" joint="a" motorconst="1" resistance="1" inductance="1" ctrlrange="0 1"/>',
        "its ctrlrange 0 … 1, which limits the voltage, is not symmetric",
    ),
    (
        '<dcmotor name="x" joint="a" motorconst="1" resistance="1" cogging="1 2 0"/><motor joint="a"/>',
        "more than motor constant",
    ),
    ('<damper name="x" joint="a" kv="2" ctrlrange="0 1"/>', "its gain depends on position or velocity"),
    ('<general name="x" joint="a" biastype="affine" biasprm="0 2 0"/>', "its stiffness -2 or damping -0 is neg"),
    ('<motor name="x" joint="a" forcerange="-1 2"/>', "its forcerange -1 … 2 is not symmetric"),
    ('<motor name="x" joint="a" ctrlrange="0 1"/>', "its ctrlrange 0 … 1, which limits the effort, is not sym"),
    ('<motor name="x" joint="a" ctrlrange="-1 1"/><velocity joint="a" kv="1"/>', "one of 2 on joint 'a', with limits"),
    ('<position name="x" joint="a" delay="0.004" nsample="4"/>', "a delay of 0.004 s"),
    ('<pid name="x" joint="a" kp="3" kv="1" input="vel"/>', "a PID whose position setpoint is fixed at 0"),
    ('<pid name="x" joint="a" kp="3" ki="1" forcerange="-1 2"/>', "its forcerange -1 … 2 is not symmetric"),
    ('<pid name="x" joint="a" kp="3" ki="1" delay="0.004" nsample="4"/>', "a delay of 0.004 s"),
    ('<pid name="x" joint="a" kp="3" ki="1"/><motor joint="a"/>', "a PID with an integral or a slew rate"),
)
def test_actuators_that_no_motor_stands_for(actuator, why) -> None:
    cord = '<tendon><fixed name="cord"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>'
    model = swing(actuator + '<motor joint="b"/>', inside=cord)
    with pytest.warns(UserWarning, match=rf"'x' \(.*{re.escape(why)}.*They go on acting"):
        motors = aa.motors_of_model(model)
    assert list(motors) == ["b"]


def test_what_a_pid_becomes() -> None:
    model = swing(
        """
        <pid name="x" joint="a" kp="10" kv="2" ki="3" imax="0.2" gear="-2" forcerange="-4 4" ctrlrange="-1 2"/>
        <pid name="y" joint="b" kp="10" ki="3" imax="0.5" slewmax="5" gear="-2"/>
        """
    )
    with pytest.warns(UserWarning) as caught:
        motors = aa.motors_of_model(model)
    told = [str(one.message) for one in caught]
    assert len(told) == 1 and re.search(r"targets within their ctrlrange, .*: 'x' \(-1 … 0.5\)", told[0])
    assert motors["a"].controller == aa.PIDControlConfig(40.0, 12.0, 8.0, 0.1)
    assert motors["a"].clamping == [aa.MaxEffortClampingConfig(8.0)]
    assert motors["b"].controller == aa.SlewedPIDControlConfig(40.0, 12.0, 0.0, 2.5, 0.25)


@cases(
    "actuator, gear, is_full",
    ('<pid joint="a" kp="10" kv="2" ki="30"/>', 1.0, False),
    ('<pid joint="a" kp="10" kv="2" ki="30" imax="0.05"/>', 1.0, True),
    ('<pid joint="a" kp="10" kv="2" ki="30" imax="0.1" gear="-2" forcerange="-20 20"/>', -2.0, True),
    ('<pid joint="a" kp="10" ki="30" input="pos vel ff" gear="0.5"/>', 0.5, False),
)
def test_pid_commands_the_effort_that_the_actuator_did(actuator, gear, is_full) -> None:
    """For the same states, but for what the page says of the integral: it is a step earlier, and keeps its limit."""
    model = swing(actuator)
    (motor,) = (one for name, one in aa.motors_of_model(model).items() if name == "a")
    law, dt = motor.controller, model.opt.timestep
    assert isinstance(law, aa.PIDControlConfig)
    data, ours = mujoco.MjData(model), aa.ActuatedArrays(["a"], {"a": motor})
    total = np.zeros(STEPS)
    for step in range(STEPS):
        target = 0.25 + np.sin(0.03 * step)
        data.ctrl[0] = gear * target
        q, qd = float(data.qpos[0]), float(data.qvel[0])
        mujoco.mj_step(model, data)
        arrays = (np.array([[value]], np.float32) for value in (q, qd, target))
        mine, theirs = float(ours.step(*arrays, dt)[0, 0]), float(data.qfrc_actuator[0])
        total[step] = law.ki * (target - q) * dt
        explained = abs(total[step]) + (abs(total[:step]).max(initial=0.0) if is_full else 0.0)
        assert abs(mine - theirs) <= explained + 1e-4
    # the integral is far more than the difference that is allowed
    assert abs(total.cumsum()).max() > 20 * abs(total).max()


@pytest.mark.skipif(mujoco.__version__ < "4", reason="MuJoCo has no DC motor without a motor constant before version 4")
def test_what_a_dc_motor_becomes() -> None:
    model = swing(
        """
        <dcmotor name="x" joint="a" motorconst="0.1" resistance="0.5" gear="2" inductance="0.001" input="pos vel"
            controller="3 2 0.4 7 0.2 24" cogging="0.1 3 0.4" thermal="1.5 20 0 0.004 15 22"
            lugre="100 2 0.1 0.15 0.3" saturation="4 0 900"/>
        <dcmotor name="y" joint="b" motorconst="0" resistance="1" input="none" cogging="0.1 6 0"/>
        """
    )
    with pytest.warns(UserWarning, match="have what motors have not: 'x'") as caught:
        motors = aa.motors_of_model(model)
    said = str(caught[0].message)
    assert "a limit of the force that includes cogging" in said and "slew" not in said
    at_25 = 0.5 * 1.04
    expected = aa.MotorConfig(
        aa.SlewedPIDControlConfig(*(pytest.approx(one / 1.04) for one in (3.0, 2.0, 0.4)), 7.0, 0.2),
        [aa.MaxEffortClampingConfig(4.0)],
        armature=0.5,
        others=[
            aa.ElectricalConfig(
                *(0.1, at_25, pytest.approx(0.00104), 24.0),
                max_current_rate=900.0,
                temperature_coefficient=pytest.approx(0.004 / 1.04),
                discretization="mujoco",
            ),
            aa.ThermalConfig(
                *(20.0, 1.5),
                ambient=22.0,
                motor_constant=pytest.approx(0.1 / np.sqrt(at_25)),
                temperature_coefficient=pytest.approx(0.004 / 1.04),
                discretization="mujoco_inductance",
            ),
            aa.TransmissionConfig(2.0),
            aa.CoggingConfig(0.2, 6.0, 0.4),
            aa.LuGreFrictionConfig(400.0, 8.0, 0.1, 0.2, 0.3, 0.15, mujoco_discretization=True),
        ],
    )
    assert motors["a"] == expected
    assert motors["b"].controller is None and motors["b"].others == [aa.CoggingConfig(0.1, 6.0, 0.0)]


@pytest.mark.parametrize("inputs", ["voltage", "none"])
def test_dc_motor_with_bristles_moves_as_it_did(inputs) -> None:
    model = swing(
        f'<dcmotor joint="a" motorconst="0.1" resistance="0.5" gear="3" input="{inputs}" inductance="0.001"'
        ' lugre="20 0.3 0.02 0.03 0.3"/>'
    )
    # MuJoCo's damping of the joint is of the velocity after the step
    model.dof_damping[0] = 0.0
    controls = 3.0 * np.sin(0.03 * np.arange(STEPS)) + 0.5
    data, expected = mujoco.MjData(model), np.zeros((STEPS, 2))
    data.qvel[:2] = 2.0
    for step in range(STEPS):
        data.ctrl[:] = controls[step]
        mujoco.mj_step(model, data)
        expected[step] = data.qpos[:2]
    motors = aa.motors_of_model(model)
    assert [type(stage) for stage in motors["a"].others] == [
        aa.ElectricalConfig,
        aa.TransmissionConfig,
        aa.LuGreFrictionConfig,
    ]
    data, seen = mujoco.MjData(model), np.zeros((STEPS, 2))
    data.qvel[:2] = 2.0
    with aa.MujocoSimulation(model, data) as sim, driven("arm", motors) as actuators:
        for step in range(STEPS):
            actuators.set_dof_feedforward_effort_targets(controls[step], dof_indices=[0])
            sim.step()
            seen[step] = data.qpos[:2]
    assert np.ptp(expected[:, 0]) > 0.05
    np.testing.assert_allclose(seen, expected, rtol=0, atol=1e-5)


def test_limits_of_a_joint_that_are_none_of_a_motor() -> None:
    model = swing('<motor name="x" joint="a"/>', 'actuatorfrcrange="-1 2"')
    with pytest.warns(UserWarning, match=r"'x' \(the actuatorfrcrange -1 … 2 of its joint is not symmetric\)"):
        assert aa.motors_of_model(model) == {}


def test_model_without_actuators_has_no_motors() -> None:
    assert aa.motors_of_model(swing("")) == {}


@pytest.mark.skipif(not hasattr(mujoco, "mjtCtrlInput"), reason="this MuJoCo is such a version")
def test_versions_without_a_kind_of_control_have_motors(monkeypatch) -> None:
    monkeypatch.delattr(mujoco, "mjtCtrlInput")
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body></worldbody>'
        '<actuator><dcmotor joint="a" motorconst="1" resistance="2"/></actuator></mujoco>'
    )
    names = [name for name in dir(model) if name.startswith(("actuator_", "n"))]
    older = SimpleNamespace(**{name: getattr(model, name) for name in names if name != "actuator_ctrlspec"})
    found = model_actuators._dc_motor(cast("mujoco.MjModel", older), 0)
    assert found is not None and found.inputs == INPUTS["voltage"] and found.gain[:2] == (2.0, 1.0)
    older.actuator_gainprm = model.actuator_gainprm + 1.0
    assert model_actuators._dc_motor(cast("mujoco.MjModel", older), 0) is None


@pytest.mark.parametrize(
    "more", ['inductance="1e-9"', 'lugre="1e-6 0 1e-9 1e-9 1"', 'thermal="2 1e4 0 0.0039 25 25"', 'cogging="1e-9 3 0"']
)
@pytest.mark.parametrize("gear", ["", 'gear="-3"'])
def test_command_of_a_dc_motor_is_a_voltage_whatever_else_it_has(more, gear) -> None:
    ends = []
    for extra in ("", more):
        model = swing(f'<dcmotor joint="a" motorconst="0.3" resistance="0.7" {gear} {extra}/>')
        data, motors = mujoco.MjData(model), aa.motors_of_model(model)
        with aa.MujocoSimulation(model, data) as sim, driven("arm", motors) as actuators:
            actuators.set_dof_feedforward_effort_targets(5.0, dof_indices=[0])
            for _ in range(200):
                sim.step()
        own = mujoco.MjData(model)
        own.ctrl[0] = 5.0
        for _ in range(200):
            mujoco.mj_step(model, own)
        assert abs(data.qpos[0]) > 0.05
        # with bristles the damping of the joint is a part of them, and explicit
        np.testing.assert_allclose(data.qpos[0], own.qpos[0], rtol=1e-3)
        ends.append(data.qpos[0])
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


_ARM = """<mujoco><worldbody><body name="arm"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
<joint name="a"/><body name="b1"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><joint name="b"/>
<body name="c1"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><joint name="c"/></body></body></body></worldbody>
<actuator><intvelocity name="servo" joint="a" kp="5" actrange="-1 1"/></actuator>
<equality><joint joint1="b" joint2="a"{}/></equality></mujoco>"""


@pytest.mark.parametrize(("active", "follows"), [("", "another joint"), (' active="false"', "nothing")])
def test_actuators_without_a_motor_and_followers(active: str, follows: str, tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(_ARM.format(active))
    (robot,) = inspect_robots(file)
    assert [joint.driven_by for joint in robot.joints] == ["MJCF actuator", follows, "nothing"]
    assert robot.joint("a").driver == "servo" and robot.actuators == () and "'servo'" in robot.remarks[0]


WRIST = """
<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="pitch" axis="0 1 0"/><geom size=".05"/>
<body pos=".1 0 0"><joint name="roll" axis="1 0 0"/><geom size=".04"/>
<body pos=".1 0 0"><joint name="finger" axis="0 0 1"/><geom size=".03"/></body></body></body></worldbody>
<tendon>{tendons}</tendon><actuator>{actuators}</actuator></mujoco>
"""
LEFT = '<fixed name="left"><joint joint="pitch" coef="1"/><joint joint="roll" coef="0.5"/></fixed>'
RIGHT = '<fixed name="right"><joint joint="pitch" coef="1"/><joint joint="roll" coef="-0.5"/></fixed>'
BOTH = (
    '<position name="a" tendon="left" kp="4" kv="0.2" gear="3" forcerange="-6 6"/>'
    '<position name="b" tendon="right" kp="4" kv="0.2" gear="3" forcerange="-6 6"/>'
)


def model_of(tendons: str, actuators: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(WRIST.format(tendons=tendons, actuators=actuators))


def test_efforts_are_those_of_the_tendons(rng: np.random.Generator) -> None:
    model = model_of(LEFT + RIGHT, BOTH)
    motors = aa.motors_of_model(model)
    assert set(motors) == {"pitch", "roll"}
    arrays, data = ActuatedArrays(["pitch", "roll"], motors), mujoco.MjData(model)
    slopes = np.array([[1, 0.5], [1, -0.5]])
    limited = 0
    for _ in range(200):
        q, qd, target = rng.normal(size=(3, 2)).astype(np.float32) * [[0.6], [0.6], [0.6]]
        data.qpos[:2], data.qvel[:2], data.ctrl[:] = q, qd, 3 * slopes @ target
        mujoco.mj_forward(model, data)
        found = arrays.step(*(one[None].astype(np.float32) for one in (q, qd, target)), 0.002)
        np.testing.assert_allclose(np.asarray(found)[0], data.qfrc_actuator[:2], rtol=1e-5, atol=1e-4)
        limited += np.abs(data.actuator_force).max() >= 6
    assert 20 < limited < 180


def test_motors_switch_off_what_they_replace() -> None:
    model = model_of(LEFT + RIGHT, BOTH)
    pitch, roll = (model.joint(name).id for name in ("pitch", "roll"))
    assert sorted(model_actuators.own_actuators(model)[pitch] + model_actuators.own_actuators(model)[roll]) == [0, 1]
    shafts: list[LinkageConfig] = [
        stage
        for motor in aa.motors_of_model(model).values()
        for stage in motor.others
        if isinstance(stage, LinkageConfig)
    ]
    assert [one.joints for one in shafts] == [["pitch", "roll"]] * 2


def test_motor_is_at_a_joint_that_its_tendon_moves() -> None:
    tendons = (
        '<fixed name="one"><joint joint="roll" coef="2"/></fixed>'
        '<fixed name="two"><joint joint="pitch" coef="1"/><joint joint="roll" coef="1"/></fixed>'
    )
    model = model_of(tendons, '<motor name="a" tendon="one"/><motor name="b" tendon="two"/>')
    motors = aa.motors_of_model(model)
    found = {name: next(s for s in motor.others if isinstance(s, LinkageConfig)) for name, motor in motors.items()}
    assert found["roll"].coefficients == [0, 2] and found["pitch"].coefficients == [1, 1]


HAND = """
<mujoco><option timestep="0.002" gravity="0 0 0"/><default><joint axis="0 1 0" damping=".002" armature="1e-4"/>
<geom type="capsule" size=".008" fromto="0 0 0 .03 0 0" contype="0" conaffinity="0"/></default><worldbody>
<body><joint name="FFJ4" axis="0 0 1"/><geom/><body pos=".03 0 0"><joint name="FFJ3"/><geom/>
<body pos=".03 0 0"><joint name="FFJ2" stiffness=".05"/><geom/>
<body pos=".03 0 0"><joint name="FFJ1" stiffness=".02"/><geom/></body></body></body></body></worldbody>
<tendon><fixed name="FFJ0" armature="5e-5">
<joint joint="FFJ1" coef="0.8"/><joint joint="FFJ2" coef="1"/></fixed></tendon>
<actuator><position name="A_FFJ4" joint="FFJ4" kp="1" kv=".02"/>
<position name="A_FFJ3" joint="FFJ3" kp="1" kv=".02" forcerange="-.3 .3"/>
<position name="A_FFJ0" tendon="FFJ0" kp="1" kv=".02" forcerange="-.3 .3"/></actuator></mujoco>
"""


def test_finger_with_a_tendon_over_two_joints_moves_as_in_mujoco(rng: np.random.Generator) -> None:
    own, data = mujoco.MjModel.from_xml_string(HAND), None
    motors = aa.motors_of_model(own)
    assert set(motors) == {"FFJ4", "FFJ3", "FFJ2"}
    arrays = ActuatedArrays(["FFJ4", "FFJ3", "FFJ2", "FFJ1"], motors)
    data, driven = mujoco.MjData(own), mujoco.MjData(own)
    free = mujoco.MjModel.from_xml_string(HAND)
    free.actuator_gainprm[:], free.actuator_biasprm[:] = 0.0, 0.0
    for tick in range(1000):
        if tick % 100 == 0:
            target = rng.uniform(-0.6, 0.9, 4)
        data.ctrl[:] = target[0], target[1], 0.8 * target[3] + target[2]
        q, qd = (one[None].astype(np.float32) for one in (driven.qpos, driven.qvel))
        driven.qfrc_applied[:] = np.asarray(arrays.step(q, qd, target[None].astype(np.float32), 0.002))[0]
        mujoco.mj_step(own, data)
        mujoco.mj_step(free, driven)
    assert np.abs(data.qpos).max() > 0.1
    np.testing.assert_allclose(driven.qpos, data.qpos, atol=1e-5)


@cases(
    "tendons, actuators, why",
    (
        LEFT + RIGHT + LEFT.replace("left", "same"),
        BOTH + '<position name="c" tendon="same" kp="4"/>',
        "a tendon of 2 joints with 3 such actuators",
    ),
    (LEFT + LEFT.replace("left", "same"), BOTH.replace("right", "same"), "tendons that depend on each other"),
    (
        LEFT + RIGHT,
        BOTH + '<position name="c" joint="roll" kp="1"/>',
        "acts on a tendon of joints that have actuators of their own",
    ),
    (LEFT + RIGHT, BOTH.replace("-6 6", "-6 5"), "symmetric"),
)
def test_what_is_no_linkage_is_named(tendons: str, actuators: str, why: str) -> None:
    model = model_of(tendons, actuators)
    with pytest.warns(UserWarning, match="actuators of the model that no motor stands for") as told:
        motors: dict[str, MotorConfig] = aa.motors_of_model(model)
    assert why in "".join(str(one.message) for one in told)
    assert not any(isinstance(stage, LinkageConfig) for motor in motors.values() for stage in motor.others)


def test_range_of_targets_of_a_tendon_is_told() -> None:
    held = BOTH.replace('"left"', '"left" ctrlrange="-3 6" ctrllimited="true"')
    with pytest.warns(UserWarning, match=r"hold position targets within .*'a' \(-1 … 2\)"):
        aa.motors_of_model(model_of(LEFT + RIGHT, held))


def test_model_without_tendons_tells_nothing() -> None:
    assert set(aa.motors_of_model(model_of("", '<motor name="a" joint="roll"/>'))) == {"roll"}


PULLED = """
<mujoco><compiler angle="radian"/><option timestep="0.001" gravity="0 0 0"/>
<default><joint axis="0 1 0" damping=".02" range="0.1 1"/>
<geom type="capsule" size=".01" fromto="0 0 0 .1 0 0" contype="0" conaffinity="0"/></default><worldbody>
<site name="s0" pos="-.05 0 .03"/><site name="s3" pos="-.05 0 -.04"/><body name="finger"><joint name="a"/><geom/>
<site name="s1" pos=".03 0 .02"/><site name="s4" pos=".04 0 -.02"/>
<body pos=".1 0 0"><joint name="b" {limited}/><geom/><site name="s2" pos=".04 0 -.02"/></body></body></worldbody>
<tendon><spatial name="first"><site site="s0"/><site site="s1"/></spatial>
<spatial name="both"><site site="s3"/><site site="s4"/><site site="s2"/></spatial></tendon>
<actuator><position tendon="first" kp="300" kv="3"/>{other}</actuator></mujoco>
"""


@pytest.mark.parametrize("other", ["", '<motor tendon="both" gear="-2"/>'])
def test_spatial_tendons_are_tables_of_their_joints(other: str) -> None:
    """Of one joint, and of two with as many tendons: as MuJoCo's own, within what a table of moment arms says."""
    model = mujoco.MjModel.from_xml_string(PULLED.format(limited="", other=other))
    motors = aa.motors_of_model(model)
    assert set(motors) == ({"a", "b"} if other else {"a"})
    there, wanted = mujoco.MjData(model), 0.55 + 0.3 * np.sin(0.01 * np.arange(1000))

    def at(*positions: float) -> mujoco.MjData:
        there.qpos[: len(positions)] = positions
        mujoco.mj_fwdPosition(model, there)
        return there

    own, data = [], mujoco.MjData(model)
    data.qpos[:], data.ctrl[1:] = 0.5, 0.3
    for target in wanted:
        data.ctrl[0] = at(target).ten_length[0]
        mujoco.mj_step(model, data)
        own.append(data.qpos.copy())
    ours, data = [], mujoco.MjData(model)
    data.qpos[:] = 0.5
    with aa.MujocoSimulation(model, data) as sim, driven("finger", motors) as actuators:
        for target in wanted:
            sim.articulation("finger").set_dof_position_targets([[target, 0.5]])
            if other:
                # as much at the joints as the second tendon has of its control
                mine = slice(model.ten_J_rowadr[1], model.ten_J_rowadr[1] + model.ten_J_rownnz[1])
                actuators.set_dof_feedforward_effort_targets(-0.6 * np.ravel(at(*data.qpos).ten_J)[None, mine])
            sim.step()
            ours.append(data.qpos.copy())
    np.testing.assert_allclose(ours, own, rtol=0, atol=1e-4 if other else 1e-5)
    assert np.ptp(own, axis=0)[0] > 0.1


@cases(
    "limited, other, why",
    ("", '<motor joint="b"/><motor tendon="both"/>', "which have others, no range"),
    ('limited="false"', '<motor tendon="both"/>', "which have others, no range"),
    ("", '<motor tendon="both"/><motor tendon="both"/>', "2 joints with 3 such actuators"),
)
def test_spatial_tendons_that_are_no_tables_are_named(limited: str, other: str, why: str) -> None:
    model = mujoco.MjModel.from_xml_string(PULLED.format(limited=limited, other=other))
    with pytest.warns(UserWarning, match=why):
        aa.motors_of_model(model)


@cases(
    "tendon, actuator, led",
    ("", '<motor tendon="t"/>', {"pitch", "roll"}),
    ("", '<motor joint="pitch"/>', set()),
    ('range="-1 1"', '<motor joint="pitch"/>', {"roll"}),
    ('stiffness="2"', '<motor joint="roll"/>', {"pitch"}),
    ('stiffness="2"', '<motor joint="finger"/>', set()),
)
def test_joints_that_a_tendon_moves_need_no_motor(tendon: str, actuator: str, led: set[str]) -> None:
    fixed = f'<fixed name="t" {tendon}><joint joint="pitch" coef="1"/><joint joint="roll" coef="2"/></fixed>'
    text = WRIST.format(tendons=fixed, actuators=actuator)
    assert model_actuators.followers_of_model(mujoco.MjModel.from_xml_string(text)) == led
    assert model_actuators.followers(mujoco.MjSpec.from_string(text)) == led
    # a motor of ours is one, too
    bare, ours = WRIST.format(tendons=fixed, actuators=""), {*re.findall('joint="(\\w+)', actuator)}
    if ours:
        assert model_actuators.followers_of_model(mujoco.MjModel.from_xml_string(bare), ours) == led
        assert model_actuators.followers(mujoco.MjSpec.from_string(bare), ours) == led
