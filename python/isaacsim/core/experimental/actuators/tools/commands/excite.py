"""`actuators excite`: commands for a robot from whose log the parameters of its motors can be found."""

from __future__ import annotations

import numpy as np

from ..identification.excitation import Excitation, excitation
from ..identification.excitation_output import plot_excitation, require_excitation, save_excitation
from ..identification.excitation_plan import ExcitationPlan
from ..identification.safety import SAFE
from ..identification.waves import WAVES
from ..plots.style import require_picture
from ..tuning.plant import default_step
from .answer import Answer, Table, headings, written
from .arguments import Excite
from .opened import initial_positions, motors_in
from .show import progress_bar, with_units

_JOINT = headings(
    "joint | start | lowest: lowest command | highest: highest command | speed: largest speed | speed_limit: limit | "
    "effort: largest effort | effort_limit: limit"
)
_QUANTITIES = {
    **dict.fromkeys(("start", "lowest", "highest"), "position"),
    **dict.fromkeys(("speed", "speed_limit"), "velocity"),
    **dict.fromkeys(("effort", "effort_limit"), "effort"),
}


def answer(arguments: Excite) -> Answer:
    """Answer `actuators excite`."""
    require_excitation(arguments.out)
    require_picture(arguments.plot)
    small = (default_step(True), default_step(False)) if arguments.tune else None
    plan = ExcitationPlan(
        joints=arguments.joints,
        kinds=arguments.kinds or (("steps",) if arguments.tune else tuple(WAVES)),
        seconds=arguments.seconds,
        rate=arguments.rate,
        share=arguments.share,
        amplitude=small if arguments.amplitude is None else arguments.amplitude,
        speed=arguments.speed,
        frequency=arguments.frequency,
        seed=arguments.seed,
        initial_positions=initial_positions(arguments.initial_positions),
    )
    motors = motors_in(arguments.config)
    with progress_bar("simulating the robot", hidden=arguments.json) as progress:
        found = excitation(arguments.robot, motors, plan, progress=progress)
    save_excitation(found, arguments.out)
    parts = [f"{part.kind} from {found.time[part.rows.start]:.3g} s" for part in found.parts[1:-1]]
    words = (
        f"{found.time[-1] + found.time[1]:.3g} s: {', '.join(parts)}. Speeds and efforts stay below {SAFE:.0%} of "
        "their limits if the motors are as described. Begin with less --share and --speed, and a hand on the switch."
    )
    notes = [*found.notes, words, f"The commands are in {arguments.out}."]
    notes += written(arguments.plot, "picture is", lambda path: plot_excitation(found, path))
    return Answer([_table(found)], notes)


def _table(found: Excitation) -> Table:
    limits = found.limits
    columns = {
        "start": limits.start,
        "lowest": found.command.min(axis=0),
        "highest": found.command.max(axis=0),
        "speed": np.abs(found.velocities).max(axis=0),
        "speed_limit": limits.speed,
        "effort": np.abs(found.efforts).max(axis=0),
        "effort_limit": limits.effort,
    }
    rows = [
        {"joint": name, **{key: float(values[j]) for key, values in columns.items()}}
        for j, name in enumerate(found.joints)
    ]
    table = Table("joints", _JOINT, rows, title=f"{found.robot}: predicted with the motors as they are known")
    return with_units(table, _QUANTITIES, limits.turns.tolist())
