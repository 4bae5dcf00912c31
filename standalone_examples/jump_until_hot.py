"""Jump until hot: a leg on a rail jumps once a second, until its windings are hot; its battery sags at each jump.

./python.sh standalone_examples/jump_until_hot.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import mujoco
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import until_interrupted, without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

LEG = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="trunk" pos="0 0 0.4">
      <joint name="rail" type="slide" axis="0 0 1" damping="2"/>
      <geom type="box" size="0.06 0.05 0.04" mass="3" contype="0"/>
      <body>
        <joint name="hip" axis="0 1 0" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.4" contype="0"/>
        <body pos="0 0 -0.2">
          <joint name="knee" axis="0 1 0" armature="0.01"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.012" mass="0.1" contype="0"/>
          <geom type="sphere" pos="0 0 -0.2" size="0.02" mass="0.05" friction="1.2" solref="0.008 1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
# angles of hip and knee [rad]; the rail at the crouch [m]; steps of a jump, and those of its push
CROUCH, STRETCH, LOW, PERIOD, PUSH, JUMPS = [0.95, -1.9], [0.15, -0.3], -0.15, 1000, range(600, 750), 60
# docs: begin motor
COPPER, NEODYMIUM = 0.00393, 0.0011  # 1/K
WINDING = ea.ElectricalConfig(
    0.41, 0.17, max_current=60.0, temperature_coefficient=COPPER, magnet_coefficient=NEODYMIUM
)
HEAT = ea.ThermalConfig(
    **{"winding_capacity": 18.0, "winding_resistance": 0.8, "housing_capacity": 150.0, "housing_resistance": 2.0},
    **{"derating_start": 90.0, "max_temperature": 130.0, "continuous_share": 0.3},  # °C
)
MOTOR = [ea.PDControlConfig(kp=90.0, kd=2.5), WINDING, HEAT, ea.SupplyConfig(voltage=25.2, resistance=0.06)]
# docs: end motor
without_traceback()
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", default="jump_until_hot.png", help="path of the picture")
picture, model = parser.parse_args().plot, mujoco.MjModel.from_xml_string(LEG)
data, heights = mujoco.MjData(model), np.zeros((JUMPS, PERIOD))
data.qpos[:] = [LOW, *CROUCH]
with ea.MujocoSimulation(model, data) as sim:
    leg = sim.articulation("trunk")
    motors = ea.ArticulationActuators.from_configs("trunk", {"hip|knee": MOTOR, "rail": ea.MotorConfig()})
    with motors.record() as log:
        for jump in until_interrupted(range(JUMPS)):
            for step in range(PERIOD):
                leg.set_dof_position_targets(STRETCH if step in PUSH else CROUCH, dof_indices=[1, 2])
                motors.step_actuators(model.opt.timestep)
                mujoco.mj_step(model, data)
                heights[jump, step] = data.qpos[0] - LOW
print(log.motors())
by_jump = heights[: jump + 1].max(axis=1)
lowest = log.supply_voltages.reshape(len(by_jump), -1).min(axis=1)
jumps = 1 + np.arange(len(by_jump))
lost = 1.0 - by_jump[-1] / by_jump[0]
told = f"Hot windings get less current: a jump is {lost:.0%} lower, and the battery sags less"
drawn, (top, middle, bottom) = style.panels(10, 8, told, rows=3)
top.set(ylabel="height of the jump [cm]", ylim=(0, 110 * by_jump.max()))
middle.set(ylabel="temperature of the winding [°C]")
bottom.set(xlabel="jump, one a second", ylabel="lowest voltage of a jump [V]")
style.mark(middle, "less effort from here", y=HEAT.derating_start)
style.lines(top, jumps, 100 * by_jump[:, None], ["height"])
style.lines(middle, log.time, log.winding_temperatures[:, 0], log.joints)
style.lines(bottom, jumps, lowest[:, None], ["battery"])
style.save(drawn, picture)
hottest = log.winding_temperatures.max()
good = by_jump[-1] < 0.8 * by_jump[0] and 90.0 < hottest < 130.0 and lowest.min() < 24.0
print(f"jump 1: {100 * by_jump[0]:.1f} cm, jump {jumps[-1]}: {100 * by_jump[-1]:.1f} cm, at {hottest:.0f} °C")
print(f"{'ok' if good else 'FAILED'}: a warm motor jumps less high; see {picture}")
raise SystemExit(0 if good else 1)
