"""Motors in your own MuJoCo loop, from MJCF, without USD: the model's own servos, then a DC motor with less speed.

./python.sh standalone_examples/your_own_mujoco.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import mujoco
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

without_traceback()
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", default="your_own_mujoco.png", help="path of the picture")
# docs: begin loop
model = mujoco.MjModel.from_xml_path(str(Path(__file__).parents[1] / "data" / "robots" / "arm_2dof.xml"))
own, angles = ea.motors_of_model(model), {}
slow = own | {"shoulder": [own["shoulder"].controller, ea.DCMotorClampingConfig(60.0, 1.0, 60.0)]}
for name, motors in {"the model's servos": None, "the same as motors": own, "a DC motor": slow}.items():
    with ea.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        data.ctrl[:] = goal = [1.0, 0.3]  # [rad], [m], in the order of the model
        sim.articulation("arm").set_dof_position_targets(goal)
        actuators = motors and ea.ArticulationActuators.from_configs("arm", motors)
        angles[name] = np.zeros(1000)
        for step in range(1000):
            if actuators:
                actuators.step_actuators(model.opt.timestep)
            mujoco.mj_step(model, data)
            angles[name][step] = data.joint("shoulder").qpos[0]
# docs: end loop
time, turned = np.arange(1000) * model.opt.timestep, np.transpose(list(angles.values()))
shown = style.until_rest(time, turned)
drawn, (panel,) = style.panels(9, 5, "Your own MuJoCo model and loop")
panel.set(xlabel="time [s]", ylabel="shoulder [rad]")
style.lines(panel, time[shown], turned[shown, :1], colors=[style.GREY], **style.BROAD)
style.key(panel, {"the model's own servos": style.BROAD})
style.lines(panel, time[shown], turned[shown, 1:], list(angles)[1:])
style.save(drawn, picture := parser.parse_args().plot)
servo, motor, dc = angles.values()
good = (error := np.abs(motor - servo).max()) < 1e-5 and np.diff(dc).max() < 0.7 * np.diff(servo).max()
print(f"{'ok' if good else 'FAILED'}: motors within {error:.1e} rad of servos, DC motor slower; see {picture}")
raise SystemExit(0 if good else 1)
