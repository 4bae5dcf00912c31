"""The table of peers, of laws that are compared, and of laws that are not. A law, and a peer, is a line."""

from __future__ import annotations

from typing import Final

from . import isaac_lab, mjlab, mujoco, newton, newton_actuators
from .differences import INTEGRAL, INTEGRAL_BEYOND, NO_BRAKE, NO_FIRST_COMMAND, REST
from .laws import (
    bristles,
    cogging,
    coil_in_volts,
    damper,
    dc_motor,
    dc_motor_cutoff,
    delay,
    dry,
    max_effort,
    pass_on,
    pass_on_volts,
    pd,
    pd_with_bias,
    pid,
    pid_with_bias,
    pid_without_limit,
    table,
    viscous,
    winding_in_volts,
    winding_with_supply,
)
from .peer import Case, LeftOut, Peer
from .signals import COMMANDS

PEERS: Final = (
    Peer("newton", "pip install newton", newton.laws),
    Peer("newton-actuators", "pip install newton-actuators", newton_actuators.laws),
    Peer("isaaclab", "pip install --no-deps isaaclab; pip install torch", isaac_lab.laws),
    Peer("mujoco", "pip install mujoco", mujoco.laws),
    Peer("mjlab", "pip install --no-deps mjlab mujoco-warp; pip install torch mediapy imageio-ffmpeg", mjlab.laws),
)

_POSITION, _VELOCITY, _FEEDFORWARD = ("position_targets",), ("velocity_targets",), ("feedforward",)
_SET = _POSITION + _VELOCITY
_SINGLE, _DOUBLE = "float32", "float64"

CASES: Final = (
    Case("newton", ("DrivePD",), (pd_with_bias,), newton.actuator),
    Case("newton", ("DrivePD", "ClampingMaxEffort"), (pd, max_effort), newton.actuator),
    Case("newton", ("DrivePD", "ClampingDCMotor"), (pd, dc_motor), newton.actuator),
    Case("newton", ("DrivePD", "ClampingPositionBased"), (pd, table), newton.actuator),
    Case("newton", ("DrivePID",), (pid_with_bias,), newton.actuator),
    Case("newton", ("DrivePID", "ClampingMaxEffort"), (pid, max_effort), newton.actuator),
    Case("newton", ("Delay", "DrivePD", "ClampingMaxEffort"), (delay, pd, max_effort), newton.actuator),
    Case(
        "newton",
        ("Delay", "DrivePID", "ClampingDCMotor", "ClampingPositionBased", "ClampingMaxEffort"),
        (delay, pid, dc_motor, table, max_effort),
        newton.actuator,
    ),
    *(
        Case("newton-actuators", (name,), ours, newton_actuators.actuator(name), unlike=unlike)
        for name, ours, unlike in (
            ("ActuatorPD", (pd_with_bias, max_effort), None),
            ("ActuatorPID", (pid_with_bias, max_effort), None),
            ("ActuatorDCMotor", (pd, dc_motor_cutoff), None),
            ("ActuatorDCMotor", (pd, dc_motor), NO_BRAKE),
            ("ActuatorDelayedPD", (delay, pd, max_effort), NO_FIRST_COMMAND),
            ("ActuatorRemotizedPD", (delay, pd, table), NO_FIRST_COMMAND),
        )
    ),
    *(
        Case("isaaclab", (name,), ours, isaac_lab.model(name))
        for name, ours in (
            ("IdealPDActuator", (pd, max_effort)),
            ("DCMotor", (pd, dc_motor)),
            ("DelayedPDActuator", (delay, pd, max_effort)),
            ("RemotizedPDActuator", (delay, pd, table)),
        )
    ),
    *(
        Case("mujoco", (name,), ours, mujoco.actuator(text), commands, unlike, options, _DOUBLE)
        for name, options, text, ours, commands, unlike in (
            ("motor", "", mujoco.motor, (pass_on, max_effort), _FEEDFORWARD, None),
            ("position", "", mujoco.position, (pd, max_effort), _POSITION, None),
            ("velocity", "", mujoco.velocity, (damper, max_effort), _VELOCITY, None),
            ("general", "affine bias", mujoco.general, (pd_with_bias, max_effort), _POSITION, None),
            ("pid", "", mujoco.pid, (pd, max_effort), _SET, None),
            ("pid", "ki", mujoco.pid, (pid_without_limit,), _SET, INTEGRAL),
            ("pid", "ki, imax", mujoco.pid, (pid, max_effort), _SET, INTEGRAL_BEYOND),
            ("dcmotor", "", mujoco.dcmotor_in_volts, (pass_on_volts, winding_in_volts), _FEEDFORWARD, None),
            ("dcmotor", "inductance", mujoco.dcmotor_in_volts, (pass_on_volts, coil_in_volts), _FEEDFORWARD, None),
            (
                *("dcmotor", "cogging, lugre", mujoco.dcmotor_in_volts),
                *((pass_on_volts, winding_in_volts, cogging, bristles), _FEEDFORWARD, None),
            ),
            ("dcmotor", "PD", mujoco.dcmotor_with_controller, (pd, winding_with_supply), _POSITION, None),
            ("dcmotor", "PID", mujoco.dcmotor_with_controller, (pid, winding_with_supply), _POSITION, INTEGRAL),
        )
    ),
    *(
        Case("mujoco", (text.__name__,), (pass_on, ours), mujoco.joint(text), (), unlike, precision=_DOUBLE)
        for text, ours, unlike in ((mujoco.damping, viscous, None), (mujoco.frictionloss, dry, REST))
    ),
    *(
        Case("mjlab", (name,), ours, mjlab.actuator(name), commands, precision=precision)
        for name, ours, commands, precision in (
            ("IdealPdActuator", (pd, max_effort), COMMANDS, _SINGLE),
            ("IdealPdActuator", (delay, pd, max_effort), COMMANDS, _SINGLE),
            ("DcMotorActuator", (pd, dc_motor), COMMANDS, _SINGLE),
            ("DcMotorActuator", (delay, pd, dc_motor), COMMANDS, _SINGLE),
            ("BuiltinMotorActuator", (pass_on, max_effort), _FEEDFORWARD, _DOUBLE),
            ("BuiltinPositionActuator", (pd, max_effort), _POSITION, _DOUBLE),
            ("BuiltinVelocityActuator", (damper, max_effort), _VELOCITY, _DOUBLE),
            ("BuiltinPdActuator", (pd, max_effort), _SET, _DOUBLE),
        )
    ),
)

_NETWORK = "its law is a file of weights; a test compares networks with it"
_NOT_OF_A_JOINT = "it drives no single joint by position, velocity or effort"

LEFT_OUT: Final = (
    LeftOut("newton", ("DriveNeuralMLP", "DriveNeuralLSTM", "DriveNeuralGRU"), _NETWORK),
    LeftOut("newton", ("JointSpaceResponse",), "it solves for all joints of a robot at once; a test compares it"),
    LeftOut("newton-actuators", ("ActuatorNetMLP", "ActuatorNetLSTM"), _NETWORK),
    LeftOut("isaaclab", ("ActuatorNetMLP", "ActuatorNetLSTM"), _NETWORK),
    LeftOut("isaaclab", ("ImplicitActuator",), "it passes targets on to the drive of the simulator"),
    LeftOut("mujoco", ("damper",), "its control scales the damping, which no stage here has"),
    LeftOut("mujoco", ("intvelocity",), "it integrates its control, which no stage here has"),
    LeftOut("mujoco", ("muscle", "cylinder"), "activation and force of muscles and cylinders, which no stage here has"),
    LeftOut("mujoco", ("adhesion", "orientation"), _NOT_OF_A_JOINT),
    LeftOut("mjlab", ("LearnedMlpActuator",), "its law is a file of weights"),
    LeftOut("mjlab", ("BuiltinDcMotorActuator",), "it writes MuJoCo's dcmotor, which is compared as that"),
    LeftOut("mjlab", ("BuiltinMuscleActuator",), "activation and force of a muscle, which no stage here has"),
    LeftOut("mjlab", ("XmlActuator",), "its law is the actuator of an MJCF file, which is compared as MuJoCo's"),
)
