"""Jump until hot: a leg on a rail jumps once a second, until its windings are hot; its battery sags at each jump.

./python.sh standalone_examples/jump_until_hot.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import mujoco
import numpy as np
from isaacsim.core.experimental.actuators.toolbox.plots import style

LEG = """
<mujoco model="leg">
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="trunk" pos="0 0 0.4">
      <joint name="rail" type="slide" axis="0 0 1" damping="2"/>
      <geom type="box" size="0.06 0.05 0.04" mass="3" contype="0"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.4" contype="0"/>
        <body name="shank" pos="0 0 -0.2">
          <joint name="knee" axis="0 1 0" armature="0.01"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.012" mass="0.1" contype="0"/>
          <geom type="sphere" pos="0 0 -0.2" size="0.02" mass="0.05" friction="1.2" solref="0.008 1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
# angles of hip and knee [rad]; the rail at the crouch [m]; duration of a jump and of its push [s]
CROUCH, STRETCH, LOW, PERIOD, PUSH = [0.95, -1.9], [0.15, -0.3], -0.15, 1.0, (0.6, 0.75)
JUMPS = 60
# docs: begin motor
MOTOR = [
    ea.PDControlConfig(kp=90.0, kd=2.5),
    ea.ElectricalConfig(
        torque_constant=0.41,  # N·m/A, at the joint
        resistance=0.17,  # Ω at 25 °C
        max_current=60.0,  # A
        temperature_coefficient=0.00393,  # copper
        magnet_coefficient=0.0011,  # neodymium
    ),
    ea.ThermalConfig(
        winding_capacity=18.0,  # J/K
        winding_resistance=0.8,  # K/W, to the housing
        housing_capacity=150.0,
        housing_resistance=2.0,
        derating_start=90.0,  # °C
        max_temperature=130.0,
        continuous_share=0.3,
    ),
    ea.SupplyConfig(voltage=25.2, resistance=0.06),
]
# docs: end motor


def jump() -> tuple[np.ndarray, ea.Recording]:
    """Return the height of the trunk [m] over time, and the recording of the motors."""
    model = mujoco.MjModel.from_xml_string(LEG)
    data, heights = mujoco.MjData(model), []
    data.qpos[:] = [LOW, *CROUCH]
    with ea.MujocoSimulation(model, data) as sim:
        leg = sim.articulation("trunk")
        motors = ea.ArticulationActuators.from_configs("trunk", {"hip|knee": MOTOR, "rail": ea.MotorConfig()})
        with motors.record() as log:
            for step in range(round(JUMPS * PERIOD / model.opt.timestep)):
                time = step * model.opt.timestep % PERIOD
                goal = STRETCH if PUSH[0] <= time < PUSH[1] else CROUCH
                leg.set_dof_position_targets(goal, dof_indices=[1, 2])
                motors.step_actuators(model.opt.timestep)
                mujoco.mj_step(model, data)
                heights.append(data.qpos[0] - LOW)
    return np.array(heights), log


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="jump_until_hot.png", help="path of the picture")
    picture = parser.parse_args().plot
    heights, log = jump()
    print(log.motors())
    by_jump = heights.reshape(JUMPS, -1).max(axis=1)
    lowest = log.supply_voltages[:, 0].min(axis=1).reshape(JUMPS, -1).min(axis=1)
    drawn, (top, middle, bottom) = style.panels(10, 8, "One jump a second, until the windings are hot", rows=3)
    jumps = 1 + np.arange(JUMPS)
    top.set(ylabel="height of the jump [cm]", ylim=(0, 110 * by_jump.max()))
    style.lines(top, jumps, 100 * by_jump[:, None], ["height"])
    style.lines(middle, log.time, log.winding_temperatures[:, 0], log.joints)
    middle.set(ylabel="temperature of the winding [°C]")
    style.lines(bottom, jumps, lowest[:, None], ["battery"])
    bottom.set(xlabel="jump, one a second", ylabel="lowest voltage [V]")
    style.save(drawn, picture)
    hottest = log.winding_temperatures.max()
    good = by_jump[-1] < 0.8 * by_jump[0] and 90.0 < hottest < 130.0 and lowest.min() < 24.0
    print(f"jump 1: {100 * by_jump[0]:.1f} cm, jump {JUMPS}: {100 * by_jump[-1]:.1f} cm, at {hottest:.0f} °C")
    print(f"{'ok' if good else 'FAILED'}: a warm motor jumps less high; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
