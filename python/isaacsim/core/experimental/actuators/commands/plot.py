"""`actuators plot`: what the motor of a joint can give, how it answers to a step, and its loop over frequency."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from ..articulation_actuators import ArticulationActuators
from ..hosts.dof_properties import DofType
from ..plots.bode import draw_bode
from ..plots.envelope import draw_envelope
from ..plots.step_response import draw_step_response
from ..plots.style import require_picture, save
from ..simulation import Simulation
from ..trials.bode import loop_response
from ..trials.envelope import envelope, find_actuator
from ..trials.step_response import step_response
from .command import Answer, Command, Table
from .opened import actuators_of, opened, require_actuators

if TYPE_CHECKING:
    from ..plots.style import Figure

# default jumps [rad], [m], and how long they are watched [s]
_TURN, _SLIDE, _SECONDS = 0.2, 0.02, 2.0
_ENVELOPE = {
    "joint": "joint",
    "stall_effort": "effort at standstill [N·m or N]",
    "corner_speed": "in full up to [rad/s or m/s]",
    "no_load_speed": "no-load speed [rad/s or m/s]",
    "delay": "delay [s]",
    "clamps": "clamps",
}
_STEP = {
    "drive": "drive",
    "rise_time": "rise time [s]",
    "overshoot": "overshoot [%]",
    "settling_time": "settling time [s]",
    "error": "error left [rad or m]",
    "largest_effort": "largest effort [N·m or N]",
}
_BODE = {
    "joint": "joint",
    "gain_margin": "gain margin",
    "phase_crossover": "at [Hz]",
    "phase_margin": "phase margin [deg]",
    "gain_crossover": "at [Hz]",
    "bandwidth": "bandwidth [Hz]",
}


@dataclass(kw_only=True)
class Plot(Command):
    """Draw what the motor of a joint can give, how it answers to a step, or its loop over frequency."""

    what: tyro.conf.Positional[Literal["envelope", "step", "bode"]]
    """`envelope`: effort over speed; `step`: a jump of the target, against an ideal drive; `bode`: magnitude and phase
    of the loop."""
    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    joint: tyro.conf.Positional[str]
    """Name of the joint."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, in place of those of the file."""
    robot: str | None = None
    """Path of the robot; by default the only one there is."""
    dt: float | None = None
    """Physics step [s]; by default that of the file, 1/240 for USD."""
    amplitude: float | None = None
    """Of the jump [rad or m]; by default 0.2 rad or 0.02 m, less where a limit is near."""
    seconds: float = _SECONDS
    """How long after the jump is looked at [s]; what is shown ends when all has settled."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("plot.png")
    """Where the picture goes."""

    def answer(self) -> Answer:
        """See the class."""
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"--seconds {self.seconds}: must be a finite number > 0.")
        require_picture(self.out)
        drawn, table, is_wrong = {"envelope": self._envelope, "step": self._step, "bode": self._bode}[self.what]()
        save(drawn, self.out)
        return Answer([table], [f"The picture is in {self.out}."], is_wrong)

    def _open(self) -> Simulation:
        return Simulation(self.file, self.dt)

    def _open_actuators(self, path: str) -> ArticulationActuators:
        return actuators_of(path, self.config)

    def _envelope(self) -> tuple[Figure, Table, bool]:
        with opened(self._open(), self.robot, self.config, told=False) as one:
            actuators, robots = require_actuators(one, self.file), one.robots
            find_actuator(actuators, self.joint)
            column = robots.dof_names.index(self.joint)
            lower, upper = (float(limits.numpy()[0, column]) for limits in robots.get_dof_limits())
            largest = float(robots.get_dof_max_efforts().numpy()[0, column])
            found = envelope(actuators, self.joint, limits=(lower, upper), dt=one.simulation.dt, drive_limit=largest)
        row: dict[str, Any] = {name: getattr(found, name, None) for name in _ENVELOPE} | {"clamps": list(found.clamps)}
        return draw_envelope(found), Table("envelope", _ENVELOPE, [row]), False

    def _step(self) -> tuple[Figure, Table, bool]:
        with opened(self._open(), self.robot, self.config, told=False) as one:
            require_actuators(one, self.file)
            path, kinds = one.robots.paths[0], dict(zip(one.robots.dof_names, one.robots.dof_types, strict=True))
        usual = _TURN if kinds.get(self.joint) is DofType.Rotation else _SLIDE
        amplitude = usual if self.amplitude is None else self.amplitude
        found = step_response(
            self._open, path, self.joint, amplitude=amplitude, seconds=self.seconds, open_actuators=self._open_actuators
        )
        rows = [
            {
                "drive": name,
                "rise_time": one.rise_time,
                "overshoot": None if one.overshoot is None else 100 * one.overshoot,
                "settling_time": one.settling_time,
                "error": float(one.target[-1]) - one.final,
                "largest_effort": float(abs(one.effort).max()),
            }
            for name, one in (("actuator", found.actual), ("ideal", found.ideal))
        ]
        title = f"{self.joint}, a jump by {found.actual.target[-1] - found.actual.target[0]:.3g} rad or m"
        return draw_step_response(found), Table("step", _STEP, rows, title=title), False

    def _bode(self) -> tuple[Figure, Table, bool]:
        with opened(self._open(), self.robot, self.config, told=False) as one:
            actuators = require_actuators(one, self.file)
            one.simulation.play()
            found = loop_response(actuators, self.joint)
        said = {name: getattr(found, name) for name in _BODE}
        return draw_bode(found), Table("bode", _BODE, [said]), found.gain_margin < 1
