"""`Recording`: inputs and outputs of actuators over time, as arrays, files, a picture and a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ...base.saving import require_place, whole_file
from ...engine.recorded_signals import SIGNALS
from ...specs.arguments import names_of, path_of, require_file, require_type, whole_of
from ..plots.style import save
from .bags import save_mcap
from .files import Subject, load_npz, save_npz
from .rerun_stream import save_rrd, send
from .statistics import FrictionTable, MotorTable, NotedTable, SaturationTable, friction, motors, saturation
from .tables import load_csv, load_parquet, save_csv, save_parquet

if TYPE_CHECKING:
    from ..plots.style import Figure

_T = TypeVar("_T")
_Table = TypeVar("_Table", bound=NotedTable[Any])
_WRITERS = {".npz": save_npz, ".csv": save_csv, ".parquet": save_parquet, ".rrd": save_rrd, ".mcap": save_mcap}
_READERS = {".npz": load_npz, ".csv": load_csv, ".parquet": load_parquet}

FORMATS = tuple(_WRITERS)
"""Extensions of files that `Recording.save` writes."""


class Recording:
    """Inputs and outputs of actuators, step by step; made by `ActuatorSet.record`.

    Row k of each array belongs to step k: positions, velocities and targets at its start, and the efforts that act
    during it. Arrays have the shape `(steps, robots, joints)`. Access to a signal that was not recorded raises
    `AttributeError`.

    Args:
        subject: Robots, joints and clamps.
        signals: Names of the recorded signals.
        read: Returns an array by name, or `dt` [s] of each step.

    Example:
        >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
        >>> with Simulation("data/robots/pendulum.usda") as sim:
        ...     sim.play()
        ...     actuators = ArticulationActuators("/World/Pendulum")
        ...     with actuators.record() as log:
        ...         sim.step(10)
        >>> print(log, log.positions.shape)
        <Recording: 10 steps of 1 robots x 1 joints> (10, 1, 1)
    """

    def __init__(self, subject: Subject, signals: Sequence[str], read: Callable[[str], np.ndarray]) -> None:
        require_type("subject", subject, Subject, "a Subject")
        require_type("read", read, Callable, "a function")  # type: ignore[arg-type]
        self._subject, self._signals, self._read = subject, tuple(names_of("signals", signals)), read

    # content

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the arrays besides `time`."""
        return self._signals

    @property
    def robots(self) -> list[str]:
        """Names of the robots: paths, labels, or numbers if they have neither."""
        return list(self._subject.robots)

    @property
    def joints(self) -> list[str]:
        """Names of the joints, in the order of their columns."""
        return list(self._subject.joints)

    @property
    def max_efforts(self) -> np.ndarray:
        """Plain limits at the joints at the start of the recording [N·m or N], `(robots, joints)`; NaN for none."""
        return self._subject.max_efforts.copy()

    @property
    def dt(self) -> float:
        """The step [s], the last one if it changed; NaN before the first."""
        steps = self._read("dt")
        return float(steps[-1]) if len(steps) else float("nan")

    def __len__(self) -> int:
        return len(self._read("dt"))

    # arrays

    @property
    def time(self) -> np.ndarray:
        """Start of each step [s] since the first one that is kept, shape `(steps,)`; a reset does not set it back."""
        steps = self._read("dt")
        return np.r_[0.0, np.cumsum(steps)][:-1]

    @property
    def positions(self) -> np.ndarray:
        """Joint positions [rad or m]."""
        return self._get("positions")

    @property
    def velocities(self) -> np.ndarray:
        """Joint velocities [rad/s or m/s]."""
        return self._get("velocities")

    @property
    def position_targets(self) -> np.ndarray:
        """Position targets as given [rad or m]."""
        return self._get("position_targets")

    @property
    def velocity_targets(self) -> np.ndarray:
        """Velocity targets as given [rad/s or m/s]."""
        return self._get("velocity_targets")

    @property
    def delayed_position_targets(self) -> np.ndarray:
        """Position targets at the controller [rad or m]."""
        return self._get("delayed_position_targets")

    @property
    def delayed_velocity_targets(self) -> np.ndarray:
        """Velocity targets at the controller [rad/s or m/s]."""
        return self._get("delayed_velocity_targets")

    @property
    def measured_positions(self) -> np.ndarray:
        """Positions that the controllers got [rad or m], float32 `(steps, robots, joints)`; see `EncoderConfig`."""
        return self._get("measured_positions")

    @property
    def measured_velocities(self) -> np.ndarray:
        """Velocities that the controllers got [rad/s or m/s], float32 `(steps, robots, joints)`."""
        return self._get("measured_velocities")

    @property
    def computed_efforts(self) -> np.ndarray:
        """Efforts before the clamps [N·m or N]; with a transmission those on the motor's shaft, before the gear."""
        return self._get("computed_efforts")

    @property
    def motor_efforts(self) -> np.ndarray:
        """Efforts after the clamps and the transmission [N·m or N], before passive stages."""
        return self._get("motor_efforts")

    @property
    def shaft_positions(self) -> np.ndarray:
        """Angles of the motors' shafts, before the gear [rad]: `ratio·position + offset`.

        Of joints without a gear it is their position. Ratio and offset are those at the start of the recording. All
        signals of shafts are NaN for transmissions of the user's own, and before springs, where the shaft moves by
        itself.
        """
        return self._get("shaft_positions")

    @property
    def shaft_velocities(self) -> np.ndarray:
        """Speeds of the motors' shafts, before the gear [rad/s]: `ratio·velocity`."""
        return self._get("shaft_velocities")

    @property
    def shaft_efforts(self) -> np.ndarray:
        """Torques of the motors on their shafts, after the clamps and before the gear [N·m]: `motor_efforts/ratio`."""
        return self._get("shaft_efforts")

    @property
    def applied_efforts(self) -> np.ndarray:
        """Efforts after all stages [N·m or N], as passed to the simulator: those of motors and passive stages."""
        return self._get("applied_efforts")

    @property
    def passive_efforts(self) -> np.ndarray:
        """Efforts of passive stages [N·m or N], friction and cogging: applied efforts less those of the motors."""
        return self._get("passive_efforts")

    @property
    def limited_by(self) -> np.ndarray:
        """Class name of the clamp that changed each effort last, empty for none."""
        return self._get("limited_by")

    @property
    def faults(self) -> np.ndarray:
        """Faults, which hold until a reset: 0 for none, else a bit for each input that was not finite.

        Lowest first: position, velocity, position target, velocity target, feedforward, effort, and a signal that a law
        reads.
        """
        return self._get("faults")

    @property
    def power(self) -> np.ndarray:
        """Mechanical power [W], applied effort times the mean velocity over the step; negative while the motor brakes.

        The mean is that of the velocities at the start of the step and of the next one, so the sum of power times `dt`
        is the work. The velocity after the last step is read from the array of velocities at the end of the recording.
        The velocity at the start of a step replaces the mean if no velocity follows from the step: before a reset or a
        restored state of the robot, before a velocity that is not finite, and in the last step of a loop that passes
        new arrays to each step. Velocities that a program writes between two steps count as motion. A file keeps its
        power.
        """
        return self._get("power")

    @property
    def currents(self) -> np.ndarray:
        """Currents of the windings at the end of each step [A]; 0 for motors without an electrical law."""
        return self._get("currents")

    @property
    def terminal_voltages(self) -> np.ndarray:
        """Voltages at the windings [V]; 0 for motors without an electrical law."""
        return self._get("terminal_voltages")

    @property
    def electrical_power(self) -> np.ndarray:
        """Electrical power of the windings [W]; negative while a motor generates.

        Voltage times mean current, at the mean velocity of the step as far as the winding can foresee it.
        """
        return self._get("electrical_power")

    @property
    def losses(self) -> np.ndarray:
        """Electrical power less the mechanical power of the motor [W], and `loss_power`.

        It is the heat of winding and driver where the simulator gives inertias, and includes the change of magnetic
        energy of a winding with inductance. Mechanical power is that of `motor_efforts`, computed like `power`.
        """
        return self._get("losses")

    @property
    def loss_power(self) -> np.ndarray:
        """Power that motors draw beside that of windings [W]: iron, weak field, idle driver; 0 without such a law."""
        return self._get("loss_power")

    @property
    def housing_heat(self) -> np.ndarray:
        """Heat of the housings by iron, friction and gear [W]; 0 for motors without a law of losses."""
        return self._get("housing_heat")

    @property
    def at_voltage_limit(self) -> np.ndarray:
        """True where the voltage of a winding is that of its `SupplyConfig`, or else of its own at the start."""
        return self._get("at_voltage_limit")

    @property
    def winding_temperatures(self) -> np.ndarray:
        """Temperatures of the windings [°C]; 0 for motors without a thermal law."""
        return self._get("winding_temperatures")

    @property
    def housing_temperatures(self) -> np.ndarray:
        """Temperatures of the housings [°C]; 0 for motors without a thermal law."""
        return self._get("housing_temperatures")

    @property
    def magnet_temperatures(self) -> np.ndarray:
        """Temperatures of the magnets [°C]; 0 for motors without a thermal law."""
        return self._get("magnet_temperatures")

    @property
    def brake_power(self) -> np.ndarray:
        """Power of the brake resistor of each motor's supply, which is one for its robot [W]; 0 without a supply."""
        return self._get("brake_power")

    @property
    def charges(self) -> np.ndarray:
        """Charge that is left in each motor's battery, 0 … 1; 0 without a supply."""
        return self._get("charges")

    @property
    def supply_voltages(self) -> np.ndarray:
        """Voltages of the supplies [V]; 0 for motors without a supply law."""
        return self._get("supply_voltages")

    @property
    def rotor_positions(self) -> np.ndarray:
        """Positions of rotors behind a spring, at the joint, after each step [rad or m]; 0 for other joints."""
        return self._get("rotor_positions")

    @property
    def rotor_velocities(self) -> np.ndarray:
        """Velocities of rotors behind a spring, at the joint, after each step [rad/s or m/s]; 0 for other joints."""
        return self._get("rotor_velocities")

    @property
    def passive_power(self) -> np.ndarray:
        """Mechanical power of passive efforts [W], computed like `power`; negative where friction dissipates energy."""
        return self._get("passive_power")

    @property
    def sticking(self) -> np.ndarray:
        """True where a joint with dry friction rests: slower than 1e-3 rad/s or m/s at the start and end of a step.

        The velocity after a step is that of `power`. Joints have dry friction as of the start of the recording; of
        passive stages of one's own this is unknown, and false.
        """
        return self._get("sticking")

    def arrays(self) -> dict[str, np.ndarray]:
        """Return `time` and all arrays by name, as copies."""
        return {"time": self.time, **{name: self._get(name) for name in self._signals}}

    # evaluation and files

    def saturation(self, *, of_all_robots: bool = False) -> SaturationTable:
        """Return, per robot, joint and clamp, the share of time with limited efforts, and the longest such interval.

        Args:
            of_all_robots: Take all robots as one: shares of their time together, and the longest interval of any.

        Raises:
            AttributeError: `limited_by` was not recorded.
        """
        given = self.limited_by, self._read("dt"), self.robots, self.joints
        return self._with_faults(saturation(*given, of_all_robots))

    def friction(self) -> FrictionTable:
        """Return, per robot and joint, the share of time in which it sticks, the friction effort, and the energy lost.

        Raises:
            AttributeError: Signals of passive stages were not recorded; joints without such stages have none.
        """
        signals = self.sticking, self.passive_efforts, self.passive_power
        return self._with_faults(friction(signals, self._read("dt"), self.robots, self.joints, self._subject.turns))

    def motors(self) -> MotorTable:
        """Return, per robot and joint, electrical energy, losses, currents, voltages and the highest temperature.

        Raises:
            AttributeError: Signals of electrical laws were not recorded; joints without such laws have none.
        """
        names = ("electrical_power", "losses", "currents", "terminal_voltages", "at_voltage_limit")
        signals = {name: self._get(name) for name in names}
        if "winding_temperatures" in self._signals:
            signals["winding_temperatures"] = self.winding_temperatures
        return motors(signals, self._read("dt"), self.robots, self.joints)

    def plot(
        self, joint: str | int | None = None, *, robot: int = 0, path: str | os.PathLike[str] | None = None
    ) -> Figure:
        """Draw position with target, effort with limit, and power or velocity over time.

        The efforts of one joint with friction are those of the motor and of the friction; the time in which it sticks
        is shaded.

        Args:
            joint: Name or number of a joint of the recording; None means all.
            robot: Number of the robot in the recording.
            path: File of the picture, with an extension that Matplotlib knows; None saves none.

        Returns:
            The figure. It belongs to no window; a notebook shows it.

        Raises:
            ValueError: There is no such joint or robot, or no step was recorded.
            ModuleNotFoundError: Matplotlib is missing.
        """
        from .picture import draw

        columns = self._columns(joint)
        if not whole_of("robot", robot) < len(self._subject.robots):
            raise ValueError(f"robot = {robot}: must be below {len(self._subject.robots)}. Correct it.")
        if not len(self):
            raise ValueError("no step was recorded: must have one at least. Step within the `with` block.")
        shown = {name: array[:, robot, columns] for name, array in self.arrays().items() if name != "time"}
        subject = self._subject
        joints, max_efforts = [subject.joints[column] for column in columns], subject.max_efforts[robot, columns]
        turns = None if subject.turns is None else [subject.turns[column] for column in columns]
        return save(draw(subject.robots[robot], joints, self.time, shown, max_efforts, turns), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: `.npz`, `.csv` or `.parquet`, `.rrd` for the viewer Rerun, or `.mcap` for ROS 2 and Foxglove.

        `.csv` and `.parquet` are tables with a line per step, robot and joint; `.rrd` has the data of `send_to_rerun`.
        `.mcap` is a ROS 2 bag with two topics of joint states: `/joint_states` has positions, velocities and efforts of
        the motors, `/joint_commands` the targets. Other signals are left out of it.

        Raises:
            ValueError: The name has another extension; `.mcap`, and none of its signals was recorded.
            OSError: The file cannot be written; no part of it remains.
            ModuleNotFoundError: `.parquet`, and pyarrow is missing; `.rrd`, and rerun-sdk is; `.mcap`, and rosbags is.
        """
        write = _by_extension(path, _WRITERS)
        with whole_file(path) as written:
            write(written, self._read("dt"), self._subject, self.arrays())

    def send_to_rerun(self, stream: object = None) -> None:
        """Add the recording to the log of a program in Rerun, joints as entities `robot/joint`.

        Times are those of `time` on the timeline of that name; the timeline `step` numbers the steps.

        Args:
            stream: A `rerun.RecordingStream`; None means the current one.

        Raises:
            ModuleNotFoundError: rerun-sdk is missing.
        """
        send(stream, self._read("dt"), self._subject, self.arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a `.npz`, `.csv` or `.parquet` file that `save` wrote.

        Lines of a table may be in any order.

        Raises:
            ValueError: The name has another extension, the file has other content or is no regular file, as a pipe, or
                a line of a table is missing or comes twice.
            OSError: There is no such file, or it cannot be read.
            ModuleNotFoundError: `.parquet`, and pyarrow is missing.
        """
        read = _by_extension(path, _READERS)
        require_file(Path(path))
        steps, subject, arrays = read(Path(path))
        return cls._of(subject, [name for name in SIGNALS if name in arrays], {"dt": steps, **arrays})

    def __reduce__(self) -> tuple[Callable[..., Recording], tuple[object, ...]]:
        # the current content, without the recorder
        arrays = {name: self._read(name) for name in ("dt", *self._signals)}
        return type(self)._of, (self._subject, self._signals, arrays)

    def __repr__(self) -> str:
        return (
            f"<Recording: {len(self)} steps of {len(self._subject.robots)} robots x {len(self._subject.joints)} joints>"
        )

    def _with_faults(self, table: _Table) -> _Table:
        """Return a table with a note on joints that had faults, which limits and friction do not show."""
        if "faults" in self._signals and (had := np.argwhere((self.faults != 0).any(axis=0))).size:
            robot, joint = had[0]
            table.note = (
                f"faults: {len(had)} of {len(self.robots) * len(self.joints)} joints, which got no effort in such "
                f"steps, first {self.joints[joint]} of {self.robots[robot]}"
            )
        return table

    @classmethod
    def _of(cls, subject: Subject, signals: Sequence[str], arrays: dict[str, np.ndarray]) -> Self:
        return cls(subject, signals, lambda name: arrays[name].copy())

    def _columns(self, joint: str | int | None) -> list[int]:
        """Return the numbers of one joint or all."""
        joints = self._subject.joints
        if joint is None:
            return list(range(len(joints)))
        if isinstance(joint, str) and joint in joints:
            return [joints.index(joint)]
        if isinstance(joint, int) and 0 <= joint < len(joints):
            return [joint]
        raise ValueError(f"joint = {joint!r}: must be one of {self.joints}, or its number. Correct it.")

    def _get(self, name: str) -> np.ndarray:
        if name not in self._signals:
            raise AttributeError(
                f"{name} was not recorded, only {', '.join(self._signals)}. Ask for it by record(signals=…)."
            )
        array = self._read(name)
        return np.array(self._subject.clamps)[array] if name == "limited_by" and array.dtype.kind == "u" else array


def writable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a recording that can be saved there."""
    _by_extension(path, _WRITERS)
    require_place(Path(path))
    return Path(path)


def _by_extension(path: str | os.PathLike[str], known: Mapping[str, _T]) -> _T:
    extension = path_of("path", path).suffix.lower()
    if extension not in known:
        raise ValueError(f"{path}: must end with {' or '.join(known)}. Rename the file.")
    return known[extension]
