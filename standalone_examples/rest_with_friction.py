"""Rest with friction: push an arm once, with MuJoCo's default friction, with `tanh` friction and with `FrictionConfig`.

./python.sh standalone_examples/rest_with_friction.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from pxr import Sdf, Usd

ROBOT, ARM, ELBOW = Path(__file__).parents[1] / "data" / "robots" / "so101.usda", "/World/SO101", 2
# 1.5 times the gravity torque of the elbow, the largest [N·m]; a constant load that no actuator knows of [N·m]
FRICTION, LOAD = 0.63, 0.2 * 0.63
DT, SECONDS, SLOPE = 0.005, 6, 0.01  # step [s], duration [s], velocity scale of tanh [rad/s]
TANH, MUJOCO, OURS = WAYS = ("tanh", "MuJoCo's default", "FrictionConfig")


def stage(friction: float) -> Usd.Stage:
    """Return the robot with this friction in the simulator, as soft as MuJoCo's default."""
    opened = Usd.Stage.Open(str(ROBOT))
    for joint in opened.GetPrimAtPath(f"{ARM}/Physics").GetChildren():
        joint.CreateAttribute("mjc:solreffriction", Sdf.ValueTypeNames.DoubleArray).Set([0.02, 1.0])
        for name in ("staticFrictionEffort", "dynamicFrictionEffort"):
            joint.CreateAttribute(f"physxJointAxis:angular:{name}", Sdf.ValueTypeNames.Float).Set(friction)
    return opened


# docs: begin rest
def rest(way: str) -> tuple[np.ndarray, np.ndarray]:
    """Return positions [rad] and velocities [rad/s] of all joints over time."""
    with ea.Simulation(stage(FRICTION if way == MUJOCO else 0.0), DT) as sim:
        arm, seen = ea.Articulation(ARM), []
        if way == OURS:
            _actuators = ea.ArticulationActuators.from_configs(ARM, {".*": [ea.FrictionConfig(coulomb=FRICTION)]})

        def act(dt: float, context: object) -> None:
            efforts = arm.get_dof_efforts().numpy() if way == OURS else np.zeros(arm.num_dofs)
            if way == TANH:
                efforts -= FRICTION * np.tanh(arm.get_dof_velocities().numpy()[0] / SLOPE)
            arm.set_dof_efforts(efforts + LOAD)

        sim.bus.on_pre_step(act, order=1)  # after the actuators
        sim.play()
        arm.set_dof_velocities(np.array([1.0, -1.0] * 3))
        for _ in range(round(SECONDS / DT)):
            sim.step()
            seen.append([arm.get_dof_positions().numpy()[0], arm.get_dof_velocities().numpy()[0]])
    return np.array(seen)[:, 0], np.array(seen)[:, 1]
    # docs: end rest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="rest_with_friction.png", help="path of the picture")
    picture, last = parser.parse_args().plot, round(1 / DT)
    positions, velocities = np.array([rest(way) for way in WAYS]).swapaxes(0, 1)
    speeds = np.sqrt((velocities[:, -last:] ** 2).mean(axis=(1, 2)))
    drifts = 1000 * np.abs(positions[:, -1] - positions[:, -last]).max(axis=1)
    print("in the last second  rms velocity [rad/s]  drift [mrad]")
    for row in zip(WAYS, speeds, drifts, strict=True):
        print("{:18}  {:20.1e}  {:12.4f}".format(*row))
    drawn, (top, bottom) = style.panels(10, 7, "Friction 1.5 times gravity, one push: one arm comes to rest", rows=2)
    time, elbow = DT * np.arange(1, positions.shape[1] + 1), 1000 * positions[:, :, ELBOW].T
    top.set(ylabel="angle of the elbow [mrad]", ylim=(-20, 420))
    bottom.set(xlabel="time [s]", ylabel="speed of the fastest joint [rad/s]", yscale="log", ylim=(1e-10, 10))
    style.lines(top, time, elbow - elbow[0], WAYS, linewidth=style.THICK)
    style.lines(bottom, time, np.abs(velocities).max(axis=2).T, WAYS)
    style.dress([zoom := top.inset_axes((0.06, 0.64, 0.28, 0.29))])
    style.lines(zoom, time[-last:], elbow[-last:] - elbow[-last])
    style.caption(zoom, "the last second [mrad]")
    style.save(drawn, picture)
    good = speeds[2] < 1e-6 and drifts[2] < 0.01 and drifts[:2].min() > 1
    print(f"{'ok' if good else 'FAILED'}: only with FrictionConfig does the arm rest; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
