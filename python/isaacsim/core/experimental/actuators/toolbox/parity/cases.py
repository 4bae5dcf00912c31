"""The table of peers, of laws that are compared, and of laws that are not. A law, and a peer, is a line."""

from __future__ import annotations

from typing import Final

from . import mujoco, newton, newton_actuators
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
    table,
    viscous,
    winding_in_volts,
    winding_with_supply,
)
from .peer import Case, LeftOut, Peer

PEERS: Final = (
    Peer("newton", "pip install newton", "float32", newton.laws),
    Peer("newton-actuators", "pip install newton-actuators", "float32", newton_actuators.laws),
    Peer("mujoco", "pip install mujoco", "float64", mujoco.laws),
)

_POSITION, _VELOCITY, _FEEDFORWARD = ("position_targets",), ("velocity_targets",), ("feedforward",)
_SET = _POSITION + _VELOCITY

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
        Case("mujoco", (name,), ours, mujoco.actuator(text), commands, unlike, options)
        for name, options, text, ours, commands, unlike in (
            ("motor", "", mujoco.motor, (pass_on, max_effort), _FEEDFORWARD, None),
            ("position", "", mujoco.position, (pd, max_effort), _POSITION, None),
            ("velocity", "", mujoco.velocity, (damper, max_effort), _VELOCITY, None),
            ("general", "affine bias", mujoco.general, (pd_with_bias, max_effort), _POSITION, None),
            ("pid", "", mujoco.pid, (pd, max_effort), _SET, None),
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
        Case("mujoco", (text.__name__,), (pass_on, ours), mujoco.joint(text), (), unlike)
        for text, ours, unlike in ((mujoco.damping, viscous, None), (mujoco.frictionloss, dry, REST))
    ),
)

_NETWORK = "its law is a file of weights; a test compares networks with it"
_NOT_OF_A_JOINT = "it drives no single joint by position, velocity or effort"

LEFT_OUT: Final = (
    LeftOut("newton", ("DriveNeuralMLP", "DriveNeuralLSTM", "DriveNeuralGRU"), _NETWORK),
    LeftOut("newton-actuators", ("ActuatorNetMLP", "ActuatorNetLSTM"), _NETWORK),
    LeftOut("mujoco", ("damper",), "its control scales the damping, which no stage here has"),
    LeftOut("mujoco", ("intvelocity",), "it integrates its control, which no stage here has"),
    LeftOut("mujoco", ("muscle", "cylinder"), "activation and force of muscles and cylinders, which no stage here has"),
    LeftOut("mujoco", ("adhesion", "orientation"), _NOT_OF_A_JOINT),
)
