"""A model's own actuators as motors: the same motion, and the others are named."""

import re
import warnings
from types import SimpleNamespace
from typing import cast

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.simulators.mujoco import model_actuators
from isaacsim.core.experimental.actuators.specs.dc_motors import INPUTS

STEPS = 500
HOT = 'motorconst="0.3" gear="2" thermal="2 1 0 0.0039 10 25"'


def swing(actuators: str, joint: str = "", inside: str = "") -> mujoco.MjModel:
    """A weightless hinge that carries a slide, with armature and damping of their own."""
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
@pytest.mark.parametrize(
    ("actuator", "target", "factor", "reach"),
    [
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
    ],
)
def test_motor_moves_a_joint_as_the_actuator_did(actuator, target, factor, reach) -> None:
    """With a control that swings, and beyond its limits where there are some."""
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


@pytest.mark.parametrize(
    ("actuator", "why"),
    [
        ('<motor name="x" tendon="cord"/>', "acts on a tendon"),
        ('<motor name="x" site="end" refsite="base" gear="0 1 0"/>', "acts on a site"),
        ('<motor name="x" joint="spin" gear="1 0 0"/>', "acts on the ball joint 'spin'"),
        ('<muscle name="x" joint="a" lengthrange="0 1"/>', "activation dynamics of kind muscle"),
        ('<position name="x" joint="a" timeconst="0.1"/>', "activation dynamics of kind filterexact"),
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
        (
            '<motor name="x" joint="a" ctrlrange="-1 1"/><velocity joint="a" kv="1"/>',
            "one of 2 on joint 'a', with limits",
        ),
        ('<position name="x" joint="a" delay="0.004" nsample="4"/>', "a delay of 0.004 s"),
        ('<pid name="x" joint="a" kp="3" kv="1" input="vel"/>', "a PID whose position setpoint is fixed at 0"),
        ('<pid name="x" joint="a" kp="3" ki="1" forcerange="-1 2"/>', "its forcerange -1 … 2 is not symmetric"),
        ('<pid name="x" joint="a" kp="3" ki="1" delay="0.004" nsample="4"/>', "a delay of 0.004 s"),
        ('<pid name="x" joint="a" kp="3" ki="1"/><motor joint="a"/>', "a PID with an integral or a slew rate"),
    ],
)
def test_actuators_that_no_motor_stands_for(actuator, why) -> None:
    """They are named, their joints left out, and the others are read."""
    cord = '<tendon><fixed name="cord"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>'
    model = swing(actuator + '<motor joint="b"/>', inside=cord)
    with pytest.warns(UserWarning, match=rf"'x' \(.*{re.escape(why)}.*They go on acting"):
        motors = aa.motors_of_model(model)
    assert list(motors) == ["b"]


def test_what_a_pid_becomes() -> None:
    """Its integral in the error of the joint; what motors have not is named."""
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


@pytest.mark.parametrize(
    ("actuator", "gear", "is_full"),
    [
        ('<pid joint="a" kp="10" kv="2" ki="30"/>', 1.0, False),
        ('<pid joint="a" kp="10" kv="2" ki="30" imax="0.05"/>', 1.0, True),
        ('<pid joint="a" kp="10" kv="2" ki="30" imax="0.1" gear="-2" forcerange="-20 20"/>', -2.0, True),
        ('<pid joint="a" kp="10" ki="30" input="pos vel ff" gear="0.5"/>', 0.5, False),
    ],
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


def test_what_a_dc_motor_becomes() -> None:
    """Controller, winding and heat before the gear, the rest at the joint; what motors have not is named."""
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
    """In volts, and as a passive joint that its shorted winding brakes."""
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aa.motors_of_model(swing("")) == {}


def test_versions_without_a_kind_of_control_have_motors(monkeypatch) -> None:
    """They have no `actuator_ctrlspec`: their DC motors say the kind among the numbers of the gain."""
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
    """MuJoCo's control, before the gear."""
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
