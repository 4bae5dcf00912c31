"""Grasp a post: a finger whose tendon turns two joints, and a thumb of three joints on one cable that only pulls.

./python.sh standalone_examples/grasp_with_tendons.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import mujoco
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

CLOSED, SECONDS, RADII = 1.4, 0.6, {"thumb_1": 0.012, "thumb_2": 0.009, "thumb_3": 0.006}  # [rad], [s], [m]


# docs: begin grasp
def grasp() -> tuple[ea.Recording, np.ndarray]:
    """Return a recording of the thumb, closing and opening, and the number of contacts over time."""
    model = mujoco.MjModel.from_xml_path(str(Path(__file__).parents[1] / "data" / "robots" / "tendon_hand.xml"))
    motors = ea.motors_of_model(model)  # the servo of the first joint, and that on the tendon over the other two
    cable = ea.LinkageConfig.underactuated_finger(RADII)  # force [N] times radius [m] at each joint
    motors["thumb_1"] = [ea.PDControlConfig(1500.0, 10.0), ea.MaxEffortClampingConfig(10.0), cable]
    with ea.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        hand, actuators = sim.articulation("hand"), ea.ArticulationActuators.from_configs("hand", motors)
        contacts = []
        with actuators.record(dofs="thumb_.*") as log:
            for goal in (CLOSED, 0.0):
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
    angles, asked = log.positions[:, 0], log.computed_efforts[:, 0, 0]
    pulled, is_slack = log.applied_efforts[:, 0, 0] / RADII["thumb_1"], log.limited_by[:, 0, 0] == "LinkageShaft"
    time = log.time
    drawn, (top, bottom) = style.panels(11, 7, "A thumb on one cable closes around a post, and springs open it", rows=2)
    top.set(ylabel="angle [rad]")
    bottom.set(xlabel="time [s]", ylabel="force of the cable [N]")
    style.lines(top, time, angles, list(RADII))
    style.lines(
        bottom, time, np.transpose([asked.clip(-20, 20), pulled]), ["asked for", "pulls"], [style.GREY, style.BLUE]
    )
    for panel in (top, bottom):
        panel.fill_between(
            time, 0, 1, where=is_slack, color=style.RED, alpha=0.15, transform=panel.get_xaxis_transform()
        )
    style.key(bottom, {}, {"slack": style.RED})
    style.save(drawn, picture := parser.parse_args().plot)
    closed, opened = angles[len(angles) // 2 - 1], angles[-1]
    print(log.saturation())
    print("joints of the thumb, closed and open again [rad]:", closed.round(3).tolist(), opened.round(3).tolist())
    good = contacts[len(contacts) // 2 - 1] >= 4 and contacts[-1] == 0
    # it bends where nothing holds it; slack is what opening asks for, and the cable never pushes
    good &= (np.diff(closed) > 0.05).all() and np.abs(opened).max() < 0.02
    good &= pulled.min() >= 0.0 and bool(is_slack.any()) and not is_slack[: len(is_slack) // 2].any()
    print(f"{'ok' if good else 'FAILED'}: the thumb closes around the post and opens by its springs; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
