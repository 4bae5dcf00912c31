"""Grasp a bar: a hand of 24 joints and 20 motors, of which four pull a cable over the last two joints of a finger.

./python.sh standalone_examples/grasp_with_tendons.py [--plot out.png]
"""

import argparse
import dataclasses
import re
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import mujoco
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

CLOSED = {"THJ5": 0.9, "[FMRL]FJ3": 1.2, "THJ4": 1.0, "THJ1": -0.4, "[FMRL]FJ[12]": 1.3}  # [rad]
SECONDS, CABLES = 1.0, ["FFJ2", "MFJ2", "RFJ2", "LFJ2"]


# docs: begin grasp
def as_cable(motor: ea.MotorConfig) -> ea.MotorConfig:
    """Return a motor on a tendon whose cable only pulls, with friction in its sheath."""
    (shaft,) = motor.others
    return dataclasses.replace(
        motor, others=[ea.ShaftFrictionConfig(coulomb=0.005, load=0.1), dataclasses.replace(shaft, unilateral=True)]
    )


def grasp() -> tuple[ea.Recording, np.ndarray]:
    """Return a recording of the joints of the cables, closing and opening, and the number of contacts over time."""
    model = mujoco.MjModel.from_xml_path(str(Path(__file__).parents[1] / "data" / "robots" / "shadow_hand.xml"))
    motors = ea.motors_of_model(model)  # J0 of a finger is a motor at its J2, on a tendon over J2 and J1
    motors |= {name: as_cable(motors[name]) for name in CABLES}
    with ea.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        hand, actuators = sim.articulation("hand"), ea.ArticulationActuators.from_configs("hand", motors)
        contacts, targets = [], np.zeros(hand.num_dofs, np.float32)
        for at, name in enumerate(hand.dof_names):
            targets[at] = next((angle for pattern, angle in CLOSED.items() if re.fullmatch(pattern, name)), 0.0)
        with actuators.record(dofs="[FMRL]FJ[12]") as log:
            for goal in (targets, 0.0 * targets):
                hand.set_dof_position_targets(goal)
                for _ in range(round(SECONDS / model.opt.timestep)):
                    actuators.step_actuators(model.opt.timestep)
                    mujoco.mj_step(model, data)
                    contacts.append(data.ncon)
    # docs: end grasp
    return log, np.array(contacts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="grasp_with_tendons.png", help="path of the picture")
    log, contacts = grasp()
    index = [log.joints.index(name) for name in ("FFJ2", "FFJ1")]
    angles, asked = log.positions[:, 0, index], log.computed_efforts[:, 0, index[0]]
    # the tendon has a coefficient of 1 at both joints
    pulled, is_slack = log.applied_efforts[:, 0, index[0]], log.limited_by[:, 0, index[0]] == "LinkageShaft"
    drawn, (top, bottom) = style.panels(11, 7, "A finger with one cable closes around a bar, and springs open", rows=2)
    top.set(ylabel="angle [rad]")
    bottom.set(xlabel="time [s]", ylabel="effort of the cable [N·m]")
    style.lines(top, log.time, angles, ["FFJ2", "FFJ1"])
    style.lines(bottom, log.time, np.transpose([asked, pulled]), ["asked for", "pulls"], [style.GREY, style.BLUE])
    for panel in (top, bottom):
        across = panel.get_xaxis_transform()
        panel.fill_between(log.time, 0, 1, where=is_slack, color=style.RED, alpha=0.15, transform=across)
    style.key(bottom, {}, {"slack": style.RED})
    style.save(drawn, picture := parser.parse_args().plot)
    half = len(angles) // 2
    closed, opened = log.positions[half - 1, 0], log.positions[-1, 0]
    print(log.saturation())
    print("last joints of the fingers, closed and open again [rad]:", closed.round(2), opened.round(2))
    good = contacts[half - 1] >= 6 and contacts[-1] == 0
    # slack is what opening asks for, and no cable ever pushes
    good &= closed.min() > 0.5 and np.abs(opened).max() < 0.1
    good &= pulled.min() >= 0.0 and bool(is_slack[half:].any()) and not is_slack[half // 2 : half].any()
    print(f"{'ok' if good else 'FAILED'}: the fingers close around the bar and open by their springs; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
