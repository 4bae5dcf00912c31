"""Arguments of all subcommands; the module of the same name runs each.

They are separate from these modules, so that `--help`, completion and argument errors import no more than tyro.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(kw_only=True)
class Arguments:
    """Arguments of a subcommand: its fields are the options, its docstring is the help."""

    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print JSON instead of tables."""
    plugin: tyro.conf.UseAppendAction[list[Path]] = field(default_factory=list)
    """Python file to run first, with all your rights, which registers laws of your own."""


@dataclass(kw_only=True)
class Simulated(Arguments):
    """Arguments of a subcommand that simulates a file: initial placement of its robots, as in `Simulation`."""

    floating_base: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Make fixed bases of an MJCF or URDF file floating."""
    ground: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Add a ground plane to an MJCF or URDF file, on which robots with --floating-base start."""
    keyframe: str | None = None
    """Name or number of the initial keyframe of an MJCF file."""
    initial_positions: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PATTERN=VALUE ...")] = ()
    """Initial joint positions [rad or m], by pattern of whole joint names; quote patterns for the shell."""


@dataclass(kw_only=True)
class Inspect(Arguments):
    """Show the joints of a robot file, their limits and actuators, and the layer of each value.

    The table of values lists authored properties of joints and all parameters of actuators.
    """

    file: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, instead of those of the file."""
    variant: tuple[str, ...] = ()
    """Variants of a USD file to select, SET=CHOICE each."""


@dataclass(kw_only=True)
class Lint(Arguments):
    """Check robot files for errors and doubtful values; the exit code is 1 if there are any.

    Checks unusable actuators, joints without a drive, contradictory limits, degrees in place of radians, values that no
    motor has, and with --dt gains that are too high for that physics step.
    """

    files: tyro.conf.Positional[tuple[Path, ...]]
    """USD, MJCF (.xml, .mjcf) or URDF files."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, instead of those of the files."""
    dt: float | None = None
    """Physics step [s] at which gains have to be stable; needs MuJoCo."""
    untrusted: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Read each file in a child process with limits of memory (4 GB) and time (60 s): for files of unknown origin."""
    fix: Annotated[Path | None, tyro.conf.arg(metavar="OUT.usda")] = None
    """Write an overlay of a single file with the corrections that need no guess; the file itself is not changed."""


@dataclass(kw_only=True)
class Diff(Arguments):
    """Show the differences between the joints and motors of two files; the exit code is 1 if there are any.

    Robots are matched by path, or if each file has one; joints by name. Numbers are SI, so that a USD file can be
    compared with an MJCF file. The same file twice with different variants compares the variants of a robot.
    """

    first: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    second: tyro.conf.Positional[Path]
    """The file to compare with."""
    first_variant: tuple[str, ...] = ()
    """Variants to select in the first file, SET=CHOICE each."""
    second_variant: tuple[str, ...] = ()
    """Variants to select in the second file, SET=CHOICE each."""


@dataclass(kw_only=True)
class Compare(Arguments):
    """Compare how two simulations of a robot move, and show which causes make them differ.

    Both follow the same commands from the same pose: two simulators, two files, two configurations of motors, or the
    motors of a file and a robot of Isaac Lab. Gains, limits, armature, friction, delay, rate, order of joints and
    others are put equal one after the other. The exit code is 1 if the motions differ.
    """

    first: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file of one robot."""
    second: tyro.conf.Positional[Path | None] = None
    """File of the same robot to compare with; default: the first one."""
    engines: str = "mujoco"
    """Simulators of the first and of the second, `mujoco,physx`, or one of both; also `mujoco_warp` and `newton`."""
    config: Path | None = None
    """Motors of both by pattern of joint names, .yaml, .yml, .toml or .json; default: those of the files."""
    config_b: Path | None = None
    """Motors of the second, if they are others."""
    lab: str | None = None
    """Actuator cfgs of Isaac Lab for the second, `FILE.py` or `FILE.py:NAME`; not run, models are this package's."""
    lab_rules: Literal["documentation", "code", "3.0"] | None = None
    """Rules of Isaac Lab for values of --lab: its documentation, its code of 2.3, or 3.0; default: those of cfgs."""
    dt: float | None = None
    """Physics step of both [s]; default: those of the files, 1/240 for USD."""
    seconds: float | None = None
    """Duration [s]; default: 3, or that of the CSV file."""
    amplitude: float | None = None
    """Largest distance of targets from the pose [rad or m]; default: 0.3 rad and 0.03 m, less if limits are near."""
    targets: Path | None = None
    """CSV file of targets with column `time [s]` and one per joint; default: sines that get faster, and steps."""
    by_index: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Give the second the commands by the number of joints, as a program does that ignores names."""
    tolerance: float = 1e-3
    """Largest difference of motions that agree [rad or m]."""
    plot: Path | None = None
    """Save a plot of both motions."""


@dataclass(kw_only=True)
class Resolve(Arguments):
    """Show the values of each joint after play: in the file, in a configuration, as applied, and the rule.

    `actuator_limit` is the largest effort of the actuator, `effort_limit` that of the joint, which bounds its drive
    only.
    """

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json; default: the actuators of the file."""
    groups: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Compare with the Isaac Lab groups that `to_usd` wrote into the stage; only differences are listed."""


@dataclass(kw_only=True)
class Convert(Simulated):
    """Convert an MJCF or URDF file to USD, optionally with motors.

    The table lists the DOFs of the new file in their order, which is breadth-first. The last line names what USD
    lacks or has otherwise, and the exit code is then 1.
    """

    source: tyro.conf.Positional[Path]
    """MJCF (.xml, .mjcf) or URDF file."""
    target: tyro.conf.Positional[Path | None] = None
    """USD file to write, .usd, .usda or .usdc; an existing file is replaced."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """The same file, as other commands name theirs."""
    motors: Annotated[Path | None, tyro.conf.arg(aliases=["--config"])] = None
    """Motors by pattern of joint names, .yaml, .toml or .json, which become actuator prims of each robot."""
    lossy: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Exit with 0 although USD has not all of it."""


@dataclass(kw_only=True)
class Export(Arguments):
    """Write the motors of a robot for another system.

    The last lines name what that system cannot say, with sizes and joints, and the exit code is then 1; the file has
    them as comments, where it may have some.
    """

    robot_file: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    to: Literal["yaml", "mjcf", "c", "ros2", "lab", "urdf", "mjlab"]
    """`yaml`: motor file; `mjcf`: actuators of MuJoCo; `c`: C99 header with a step of the motors; `ros2`: folder for
    ros2_control; `lab`, `mjlab`: actuator cfgs of Isaac Lab and mjlab; `urdf`: limits and friction of joints."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """File to write, a folder for `ros2`; existing files are replaced."""
    into: Path | None = None
    """MJCF file for `mjcf`, or URDF file for `urdf`, to write whole, with the motors on its joints; default: the file
    of the robot if it is of that kind, else a fragment is written."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, instead of those of the file."""
    robot: str | None = None
    """Path of the robot; default: the only one of the file."""
    strict: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Write nothing, with exit code 1, if the target cannot say all of it."""
    lossy: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Exit with 0 although the target cannot say all of it."""
    dt: float | None = None
    """Physics step of the target [s], in whose steps `lab` and `mjlab` have a delay in seconds, rounded up; default:
    that of the robot file."""


@dataclass(kw_only=True)
class Stability(Simulated):
    """Show the stability margins of a robot: whether its actuators make it vibrate, and remedies."""

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, instead of those of the file."""
    dt: float | None = None
    """Physics step [s]; default: that of the file, 1/240 for USD."""
    robot: str | None = None
    """Path of the robot, or of a prim above several equal ones; default: all."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """Physics simulator; stability depends on it, as simulators integrate positions differently."""


@dataclass(kw_only=True)
class Tune(Arguments):
    """Find gains for the motors of a robot, with their margins over poses, and say what bounds them.

    All loops keep a gain margin of 2 and a phase margin of 45 degrees in all poses, with the delays, rates and filters
    of the motors, at the physics step. Without a wish, gains are the best there are. A floating base is held. The exit
    code is 1 if it misses what was asked.
    """

    robot: tyro.conf.Positional[Path]
    """USD, MJCF or URDF file of one robot."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File of the motors: a USD layer over the robot, or a motor file, .yaml, .toml or .json."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json; default: those of the robot file."""
    motor: tuple[str, ...] = ()
    """Motors of the catalogue instead, for a robot that has none yet, such as `dynamixel_xl330`, or
    `.*_knee/unitree_go1_knee` of some joints."""
    bandwidth: float | None = None
    """Frequency up to which joints follow within 3 dB in all poses [Hz]."""
    settle: float | None = None
    """Time to settle to 2 % of a step in all poses [s]."""
    damping_ratio: float | None = None
    """Smallest damping ratio over poses; default: 1 with a wish, and a free one without."""
    step: float | None = None
    """Step that must not saturate longer than --saturation [rad or m]; default: 0.05 rad and 0.005 m."""
    saturation: float = 0.0
    """How long such a step may saturate [s]."""
    integral: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Add an integral gain, with a bound against windup that holds gravity."""
    rule: Literal["inertia", "armature"] | None = None
    """Gains by a rule instead, judged in the same way: of the nominal inertia, kp = I·ω² and kd = 2ζIω, or of the
    armature alone, as learned locomotion has them."""
    frequency: float | None = None
    """Natural frequency of the rule [Hz]; default: 10."""
    explain: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Judge the gains that are there."""
    quick: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Do not simulate steps."""
    poses: int = 20
    """Number of poses: that of the file, and random ones within the limits."""
    seed: int = 0
    """Seed of these poses."""
    dt: float | None = None
    """Physics step [s]; default: that of the file, 1/240 for USD."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """Simulator of the steps."""
    plot: Path | None = None
    """Save a plot of the steps of all joints, with a band over poses."""


@dataclass(kw_only=True)
class New(Arguments):
    """Write a motor file for a robot, with comments, of what its file says, the catalogue, and gains with margins.

    Gains of the file are kept, and judged in comments; where there are none, they are those of `tune`. What is not
    known, such as friction, is named and not guessed.
    """

    robot: tyro.conf.Positional[Path]
    """USD, MJCF or URDF file of one robot."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("motors.yaml")
    """Motor file to write, .yaml or .yml; an existing one is kept."""
    motor: tuple[str, ...] = ()
    """Motors of the catalogue, whose limit and armature take the place of those of the file: `unitree_go1_hip`, or
    `.*_calf_joint/unitree_go1_knee` of some joints."""
    dt: float | None = None
    """Physics step [s] for which gains are judged; default: that of the file, 1/240 for USD."""


@dataclass(kw_only=True)
class Run(Simulated):
    """Simulate robots that follow targets, or run the action graphs of a file."""

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file with robots or action graphs."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, instead of those of the file."""
    targets: str | None = None
    """`hold` the pose (default), `sine` or `step` around it, or a CSV file with column `time [s]` and one per joint."""
    seconds: float | None = None
    """Duration [s]; default: 3, or that of the CSV file; with `--view` and no CSV file until closed or Ctrl+C."""
    steps: int | None = None
    """Duration in physics steps, instead of seconds."""
    dt: float | None = None
    """Physics step [s]; default: that of the file, 1/240 for USD."""
    robot: str | None = None
    """Path of the robot, or of a prim above several equal ones; default: all."""
    amplitude: float | None = None
    """Amplitude of `sine` and `step` [rad or m]; default: 0.2 rad and 0.02 m, less if limits are near."""
    frequency: float | None = None
    """Frequency of `sine` [Hz]; default: 0.5."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """Physics simulator."""
    record: Path | None = None
    """Save a recording: .npz, .csv, .parquet, .rrd for the viewer Rerun, or .mcap for ROS 2 and Foxglove."""
    plot: Path | None = None
    """Save a plot of the recording."""
    view: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show the simulation live, in real time; targets of `hold` can be moved there."""
    strict: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Reject inertias that no body can have, instead of using the closest."""
    frame_rate: float | None = None
    """Frames per second of action graphs, rounded to whole steps; default: 60."""
    watch: tyro.conf.UseAppendAction[list[str]] = field(default_factory=list)
    """Port of an action graph to plot, /World/Graph/Node.outputs:x."""
    trust: tyro.conf.UseAppendAction[list[str]] = field(default_factory=list)
    """File or folder whose networks Torch may run if their format is not recognized."""


@dataclass(kw_only=True)
class Plot(Simulated):
    """Plot the effort envelope of a motor, or the step or frequency response of a joint."""

    what: tyro.conf.Positional[Literal["envelope", "step", "bode"]]
    """`envelope`: effort over speed; `step`: step response, beside an ideal drive; `bode`: frequency response."""
    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    joint: tyro.conf.Positional[str]
    """Name of the joint."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, instead of those of the file."""
    robot: str | None = None
    """Path of the robot; default: the only one of the file."""
    dt: float | None = None
    """Physics step [s]; default: that of the file, 1/240 for USD."""
    amplitude: float | None = None
    """Amplitude of the step [rad or m]; default: 0.2 rad or 0.02 m, less if a limit is near."""
    seconds: float = 2.0
    """Duration after the step [s]; the plot ends when the joint has settled."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("plot.png")
    """File of the plot."""


@dataclass(kw_only=True)
class Train(Arguments):
    """Train a network on a log of an actuator, for use in robot files."""

    log: tyro.conf.Positional[Path]
    """Log, .npz or .csv with time, position, velocity, position_target, effort, and joint if there are several."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("actuator.safetensors")
    """File of the network, .safetensors or .onnx."""
    kind: Literal["mlp", "lstm", "gru"] = "mlp"
    """Kind of network."""
    dt: float | None = None
    """Step of the logs [s], if their times are rounded or missing."""
    test: Path | None = None
    """Log of another motion, for test errors."""
    epochs: int = 100
    """Largest number of passes over the log."""
    seed: int = 0
    """Seed of initial weights and of the order of samples."""
    report: Path | None = None
    """Folder for a report with a plot and the errors."""


@dataclass(kw_only=True)
class Excite(Arguments):
    """Write commands from whose log `identify` finds the parameters of motors, within the limits of the joints.

    All joints move at once, each in its own way, from the first pose and back to it. The robot with its motors is
    simulated; what breaks a limit of position, speed or effort, or has links touch, is made smaller or slower.
    """

    robot: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file of a robot with a fixed base."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("excitation.csv")
    """File of the commands: .csv with columns `time` and `<joint>/command`, or .npz with time, joints and command."""
    config: Path | None = None
    """Motors as they are known so far, .yaml, .yml, .toml or .json; default: those of the robot file."""
    joints: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PATTERN ...")] = ()
    """Patterns of whole names of joints that move; the others hold their pose. Default: all with a motor."""
    kinds: tuple[Literal["chirp", "multisine", "steps", "holds"], ...] = ()
    """Motions one after the other; default: all four."""
    tune: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Small steps alone, of 0.05 rad and 0.005 m, with which a robot shows what its gains do."""
    seconds: float = 40.0
    """Duration of the whole [s]."""
    rate: float = 200.0
    """Commands per second [Hz]."""
    share: float = 0.5
    """Share of the range of a joint that it moves through, 0 to 1."""
    amplitude: float | None = None
    """Largest amplitude [rad or m]; default: 0.5 rad and 0.05 m for joints without position limits."""
    speed: float | None = None
    """Limit of speeds [rad/s or m/s]; default: 3 rad/s and 0.3 m/s for joints without a speed limit."""
    frequency: float | None = None
    """Highest frequency [Hz]; default: 5, or a tenth of the rate if that is less."""
    seed: int = 0
    """Seed of phases, levels and times."""
    initial_positions: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PATTERN=VALUE ...")] = ()
    """Positions at which the robot begins [rad or m], by pattern of joint names; default: those of the file."""
    plot: Path | None = None
    """Save a plot of commands and of the predicted motion."""


@dataclass(kw_only=True)
class Identify(Arguments):
    """Identify the motors of a robot from logs of its commands and positions.

    Fits friction, armature and delay of each joint, and its encoder bias and gains where errors then fall clearly, to
    positions and, where the logs have them, efforts, currents, supply voltages and duties. Models of friction are tried
    from simple to rich; a richer one is kept if it is clearly better on what is held out of the fit. At the end the
    whole robot is simulated under the commands of the logs. The exit code is 1 if that disagrees with the joints alone,
    or if a joint is off by far more than the noise of its encoder.
    """

    robot: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file of a robot with a fixed base."""
    logs: tyro.conf.Positional[tuple[Path, ...]]
    """Logs: .csv, .npz or .parquet with columns `time`, `<joint>/command`, `<joint>/position`, SI; recordings; ROS 2
    bags; folders of datasets of LeRobot."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File of the result: a USD layer over the robot, or a motor file, .yaml, .toml or .json; default: motors.usda for
    a robot in USD, motors.yaml for one in MJCF or URDF."""
    config: Path | None = None
    """Motors to start from, .yaml, .yml, .toml or .json; default: those of the robot file."""
    gains: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Fit those of kp, kd, torque_constant and resistance that the motors have; default: if positions are then clearly
    better."""
    keep_gains: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Keep them in any case."""
    fit: tuple[str, ...] = ()
    """Further parameters to fit, such as `max_effort`, `electrical.inductance` (with --bounds) or `knee/kp`."""
    shared: tuple[str, ...] = ()
    """Parameters that joints have alike, such as `delay`, or `knee_.*/coulomb` of some joints."""
    bounds: tuple[str, ...] = ()
    """Ranges of parameters, such as `armature=0.001:0.1`, or `knee_.*/viscous=0:2` of some joints."""
    prior: tuple[str, ...] = ()
    """Prior knowledge of parameters, value and standard deviation, such as `torque_constant=0.5:0.05`."""
    model: tuple[str, ...] = ()
    """Models of friction to try; default: all."""
    held_out: int = 0
    """How many logs, the last ones, are not fitted but only judge the motors."""
    motor: tuple[str, ...] = ()
    """Priors of the catalogue, such as `dynamixel_xl330`, or `.*_knee/unitree_go1_knee` of some joints."""
    refine: int = 1
    """Largest number of rounds in which the fits of several joints are refined with the whole robot."""
    search: int = 0
    """0: the random search has gone, for fits begin with the best of 512 starts."""
    seed: int = 0
    """Seed of these starts, and of networks."""
    mass_error: float = 0.02
    """How uncertain the masses of the links are, which widens the intervals of values: a share, 0.02 for 2 %."""
    residual: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Learn a network for what the best model leaves, of each joint with PD control, and keep it if it pays: Torch."""
    ray: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Fit joints on the Ray cluster at RAY_ADDRESS, or without one in processes of this machine."""
    topics: tuple[str, ...] = ()
    """Topics of ROS 2 bags: `command=/x`, `position=/y`; of an array of commands `command=/x:JOINT,JOINT`."""
    units: tuple[str, ...] = ()
    """Units of positions in datasets of LeRobot, of all and of joints: `degrees`, `gripper=percent`."""
    columns: Annotated[tuple[str, ...], tyro.conf.arg(metavar="WHAT=NAME:UNIT ...")] = ()
    """Names and units of columns of tables: `time=t_ms:ms`, `position=pos:deg` of one joint, `hip/position=q1:deg`, or
    `position=pos_{joint}:deg` for each joint; without a name the usual one, `time=:ms`."""
    calibration: Path | None = None
    """Calibration file of LeRobot, for datasets in its units `normalized`, `percent` and `degrees`."""
    robot_index: int | None = None
    """Number of the robot in recordings of several, from 0; default: the only one."""
    report: Path | None = None
    """HTML file for a report with the curves of all joints."""
    plot: Path | None = None
    """Save a plot of measured and simulated positions."""
    force: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Fit logs, too, that seem to be wrong."""


@dataclass(kw_only=True)
class Motors(Arguments):
    """Show the catalogue of real motors: published figures at the joint, and their sources."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Motors to show with their sources; default: all motors."""


@dataclass(kw_only=True)
class Doctor(Arguments):
    """Show installed versions, extras and the engine, import what is installed, and test the compiled core.

    The exit code is 1 if a library is broken, too old or of two distributions, if an extra is installed in part, or if
    the core computes wrongly; a note has the command that repairs it.
    """


# in the order of the help
SUBCOMMANDS: dict[str, type[Arguments]] = {
    one.__name__.lower(): one
    for one in (
        Inspect,
        Lint,
        Diff,
        Compare,
        Resolve,
        Convert,
        Export,
        Stability,
        New,
        Tune,
        Run,
        Plot,
        Train,
        Excite,
        Identify,
        Motors,
        Doctor,
    )
}

FIRST = ("inspect", "new", "run", "tune", "identify", "export")
"""The subcommands that one needs first."""


def by_pattern(texts: Iterable[str]) -> dict[str, str]:
    """Return names of motors by pattern of joint names, from `pattern/motor` or `motor`."""
    parts = (text.rpartition("/") for text in texts)
    return {pattern or ".*": name for pattern, _, name in parts}


def choices(texts: Iterable[str]) -> dict[str, str]:
    """Return the choices by variant set."""
    by_set = {}
    for text in texts:
        name, between, choice = text.partition("=")
        if not (name and between):
            raise ValueError(f"variant {text!r}: must be SET=CHOICE. Write gripper=none, say.")
        by_set[name] = choice
    return by_set
