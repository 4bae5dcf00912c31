"""Frequency response of a joint on its robot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...engine.actuator import Actuator
from ...extension.articulation_actuators import ArticulationActuators
from ..plots.bode import FrequencyResponse, draw_bode
from ..plots.style import save
from ..stability.frequency import frequency_response
from ..stability.implicit import Implicit
from ..stability.timing import timing_of
from .envelope import find_actuator, one_joint

if TYPE_CHECKING:
    from ..plots.style import Figure


def plot_bode(
    actuators: ArticulationActuators, joint: str, *, robot: int = 0, path: str | os.PathLike[str] | None = None
) -> Figure:
    """Draw the control loop of a joint over frequency, with its margins.

    The loop is that of `stability`: the current pose, gains and inertia, the other joints free, one effort per physics
    step, of its start or, for an implicit joint, of its end. A delay turns the phase from target to position and does
    not change the margins, as it delays no feedback; the latency of an encoder, the delay of efforts and the rate of a
    controller do.

    Args:
        actuators: Actuators with running physics.
        joint: Name of the joint.
        robot: Number of the robot.
        path: File of the picture, with an extension that Matplotlib knows; None saves none.

    Returns:
        The figure. It belongs to no window; a notebook shows it.

    Raises:
        ValueError: No actuator drives such a joint, its law has no gains, or there is no such robot.
        HostError: Physics does not run, or the simulator does not provide mass matrices or its step.
        ModuleNotFoundError: Matplotlib is missing.

    Example:
        >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation, plot_bode
        >>> with Simulation("data/robots/pendulum.usda") as sim:
        ...     actuators = ArticulationActuators("/World/Pendulum")
        ...     sim.play()
        ...     print(plot_bode(actuators, "hinge").get_suptitle())
        hinge: frequency response
    """
    return save(draw_bode(loop_response(actuators, joint, robot=robot)), path)


def loop_response(actuators: ArticulationActuators, joint: str, *, robot: int = 0) -> FrequencyResponse:
    """Return the frequency response of the loop of a joint."""
    actuator, column = find_actuator(actuators, joint)
    table = actuators.stability(indices=[robot])
    if joint in table.unknown:
        raise ValueError(
            f"{joint}: a network, a law of one's own or none drives it: must be a PD or PID law for this. Look at its "
            "step response instead."
        )
    (row,) = [row for row in table.joints if row.joint == joint]
    weight = table.robots[0].velocity_weight
    timing = timing_of(actuator)[robot, [column]]
    late = _command_delay(actuator, robot, column, table.dt * float(timing.periods(table.dt)[0]))
    is_implicit = row.effort_mode == "implicit"
    implicit = Implicit.of_joint(row.stepped_inertia, row.load_share) if is_implicit else None
    return frequency_response(joint, (row.kp, row.kd, row.ki), row.inertia, table.dt, late, weight, timing, implicit)


def _command_delay(actuator: Actuator, robot: int, column: int, period: float) -> float:
    """Return the command delay of a joint in steps of its controller, without what is drawn anew."""
    if actuator.delay is None:
        return 0.0
    delay = one_joint(actuator.delay, actuator, robot, column)
    if "delay_steps" in delay.PARAMETERS:
        return float(delay.read("delay_steps")[0])
    return float(delay.read("steps")[0] + delay.read("seconds")[0] / period)
