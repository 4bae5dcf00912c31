"""The arguments of all subcommands, each answered by the module of the same name.

They stand apart from what answers them, so that `--help`, completion and wrong arguments cost no more than tyro.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(kw_only=True)
class Arguments:
    """Arguments of a subcommand: fields are what it takes, the docstring is its help."""

    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print JSON instead of tables."""


@dataclass(kw_only=True)
class Simulated(Arguments):
    """Arguments of a subcommand that simulates a file: how its robots stand and begin, as `Simulation` takes them."""

    floating_base: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Give robots of an MJCF or URDF file whose base is fixed one that floats."""
    ground: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Add a plane to an MJCF or URDF file, on which robots with --floating-base begin."""
    keyframe: str | None = None
    """Name or number of the keyframe of an MJCF file to begin in."""
    initial_positions: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PATTERN=VALUE ...")] = ()
    """Initial joint positions [rad or m], by pattern of whole joint names; quote patterns for the shell."""


@dataclass(kw_only=True)
class Inspect(Arguments):
    """Show what a robot file says: joints, limits, what drives each, and the layer each value comes from.

    Values that no file says are left out of the second table, but for those of actuators.
    """

    file: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    variant: tuple[str, ...] = ()
    """Variants of a USD file to select, SET=CHOICE each."""


@dataclass(kw_only=True)
class Lint(Arguments):
    """Look for what is wrong or doubtful in robot files; the exit code is 1 where something is left.

    Every problem that keeps actuators from being made, joints without drive, limits that contradict each other, degrees
    in the place of radians, values that no motor has, and with --dt gains that are too high for that physics step.
    """

    files: tyro.conf.Positional[tuple[Path, ...]]
    """USD, MJCF (.xml, .mjcf) or URDF files."""
    dt: float | None = None
    """Physics step [s] at which gains have to be stable; takes MuJoCo."""
    untrusted: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Read each file in a child process with limits of memory (4 GB) and time (60 s): for files of unknown origin."""
    fix: Annotated[Path | None, tyro.conf.arg(metavar="OUT.usda")] = None
    """Write a layer over the one file that corrects what can be corrected without guessing; the file stays as it is."""


@dataclass(kw_only=True)
class Diff(Arguments):
    """Show what differs between the joints and motors of two files; the exit code is 1 where something does.

    Robots are the same by path, or where each file has one; joints by name. Numbers are SI, so that a USD file can be
    compared with an MJCF file. With the same file twice and a variant, the variants of a robot are compared.
    """

    first: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    second: tyro.conf.Positional[Path]
    """Another one."""
    first_variant: tuple[str, ...] = ()
    """Variants to select in the first file, SET=CHOICE each."""
    second_variant: tuple[str, ...] = ()
    """Variants to select in the second file, SET=CHOICE each."""


@dataclass(kw_only=True)
class Resolve(Arguments):
    """Show which values hold after play: what the file says, what a configuration says, what is applied, and why.

    `actuator_limit` is the largest effort that the actuator gives, `effort_limit` that of the joint, which bounds its
    drive only.
    """

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json; by default the actuators of the file."""
    groups: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Compare with the Isaac Lab groups that `to_usd` wrote into the stage; only differences are listed."""


@dataclass(kw_only=True)
class Convert(Simulated):
    """Write an MJCF or URDF file as USD, with motors where some are given.

    The table has the DOFs of the new file in their order, which is breadth-first. Warnings name what is lost.
    """

    source: tyro.conf.Positional[Path]
    """MJCF (.xml, .mjcf) or URDF file."""
    target: tyro.conf.Positional[Path]
    """The USD file to write, .usd, .usda or .usdc; one that is there is replaced."""
    motors: Path | None = None
    """Motors by pattern of joint names, .yaml, .toml or .json, which become actuator prims of every robot."""


@dataclass(kw_only=True)
class Stability(Simulated):
    """Say whether the actuators of a robot make it vibrate, and what would cure it."""

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, in place of those of the file."""
    dt: float | None = None
    """Physics step [s]; by default that of the file, 1/240 for USD."""
    robot: str | None = None
    """Path of the robot, or of a prim above several equal ones; by default all."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """Physics simulator; stability limits depend on it, because simulators integrate positions differently."""


@dataclass(kw_only=True)
class Run(Simulated):
    """See a robot move, or run the action graphs of a file."""

    file: tyro.conf.Positional[Path]
    """A USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file with robots, or a USD file with
    action graphs."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, in place of those of the file."""
    targets: str | None = None
    """What the joints are to do: `hold` their pose (default), `sine` or `step` around it, or a CSV file with a column
    `time [s]` and one per joint."""
    seconds: float | None = None
    """How long [s]; by default 3, or as long as the CSV file. With `--view` and no CSV file until the window is closed,
    or Ctrl+C."""
    steps: int | None = None
    """How long, in physics steps instead."""
    dt: float | None = None
    """Physics step [s]; by default that of the file, 1/240 for USD."""
    robot: str | None = None
    """Path of the robot, or of a prim above several equal ones; by default all."""
    amplitude: float | None = None
    """Of `sine` and `step` [rad or m]; by default 0.2 rad and 0.02 m, less where limits are near."""
    frequency: float | None = None
    """Of `sine` [Hz]; by default 0.5."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """Physics simulator."""
    record: Path | None = None
    """Write what happened to a file: .npz, .csv, .parquet, or .rrd for the viewer Rerun."""
    plot: Path | None = None
    """Draw what happened."""
    view: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show it live, as fast as the clock; what `hold` holds can be moved there."""
    strict: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Refuse inertias that no body can have, in place of taking the closest."""
    frame_rate: float | None = None
    """Of action graphs: frames per second, rounded to whole steps; by default 60."""
    watch: tyro.conf.UseAppendAction[list[str]] = field(default_factory=list)
    """Of action graphs: a port to draw, /World/Graph/Node.outputs:x; repeat."""
    trust: tyro.conf.UseAppendAction[list[str]] = field(default_factory=list)
    """Let Torch run networks that are not recognised, of this file or folder; repeat."""


@dataclass(kw_only=True)
class Plot(Simulated):
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
    seconds: float = 2.0
    """How long after the jump is looked at [s]; what is shown ends when all has settled."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("plot.png")
    """Where the picture goes."""


@dataclass(kw_only=True)
class Train(Arguments):
    """Learn a network from a log of an actuator, and save it for a robot's file."""

    log: tyro.conf.Positional[Path]
    """The log, .npz or .csv with columns time, position, velocity, position_target, effort, and joint where there are
    several."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("actuator.safetensors")
    """Where the network goes, .safetensors or .onnx."""
    kind: Literal["mlp", "lstm", "gru"] = "mlp"
    """Kind of network."""
    dt: float | None = None
    """Step of the logs [s], where their times are rounded or missing."""
    test: Path | None = None
    """Another log, of other motion, to tell errors on."""
    epochs: int = 100
    """How often the log is gone through at most."""
    seed: int = 0
    """Of weights and of the order in which the log is gone through."""
    report: Path | None = None
    """Folder for a picture and the figures."""


@dataclass(kw_only=True)
class Doctor(Arguments):
    """Say which versions and extras are there, which engine runs, and test the compiled core."""


# in the order of the help
SUBCOMMANDS: dict[str, type[Arguments]] = {
    one.__name__.lower(): one for one in (Inspect, Lint, Diff, Resolve, Convert, Stability, Run, Plot, Train, Doctor)
}
