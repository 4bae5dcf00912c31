"""Faults that people make between two simulations, seeded into the motors of a small arm."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
from isaacsim.core.experimental.actuators.tools.export import export, read_robot
from places import ROBOTS
from pxr import Usd

ARM = str(ROBOTS / "arm_2dof.usda")
ARM_XML = ROBOTS / "arm_2dof.xml"
Motors = dict[str, aa.MotorConfig]


def good_motors() -> Motors:
    """Motors with all that can go wrong: of the motor before a gear of 10 at the shoulder, of the joint behind it."""
    gear = aa.TransmissionConfig(ratio=10.0, rotor_inertia=5e-3)
    return {
        "shoulder": aa.MotorConfig(
            aa.PDControlConfig(2.0, 0.2),
            [aa.MaxEffortClampingConfig(2.5)],
            aa.DelayConfig(1),
            friction=1.0,
            viscous_friction=0.2,
            others=[gear],
        ),
        "extension": aa.MotorConfig(
            aa.PDControlConfig(800.0, 60.0),
            [aa.MaxEffortClampingConfig(20.0)],
            aa.DelayConfig(1),
            armature=0.4,
            friction=2.0,
            viscous_friction=1.0,
        ),
    }


def joint_motors() -> Motors:
    motors = good_motors()
    motors["shoulder"] = dataclasses.replace(
        motors["shoulder"],
        controller=aa.PDControlConfig(200.0, 20.0),
        clamping=[aa.MaxEffortClampingConfig(25.0)],
        others=[],
        armature=0.5,
    )
    return motors


def _scaled(name: str, factor: float, joint: str) -> Callable[[Motors], None]:
    def change(motors: Motors) -> None:
        _scale(motors[joint].controller, name, factor)

    return change


def _armature(motors: Motors) -> None:
    for motor in motors.values():
        if motor.others:
            motor.others = [aa.TransmissionConfig(ratio=10.0)]
        else:
            motor.armature = 0.0


def _friction(motors: Motors) -> None:
    motors["shoulder"].friction = 10.0


def _limit(motors: Motors) -> None:
    for motor in motors.values():
        motor.clamping = [aa.MaxEffortClampingConfig(1e9)]


def _delay(motors: Motors) -> None:
    for motor in motors.values():
        motor.delay = aa.DelayConfig(2)


def _rate(motors: Motors) -> None:
    for motor in motors.values():
        motor.others = [*motor.others, aa.RateConfig(decimation=2)]


def _swapped(motors: Motors) -> None:
    motors["shoulder"], motors["extension"] = motors["extension"], motors["shoulder"]


def _gear(motors: Motors) -> None:
    motors["shoulder"].others = [aa.TransmissionConfig(ratio=5.0, rotor_inertia=5e-3)]


def slightly_other(motors: Motors) -> Motors:
    """The motors, each value off by a few per cent, as two models of one robot are."""
    for motor, most in zip(motors.values(), (0.96, 0.95), strict=True):
        _scale(motor.controller, "kp", 1.04)
        _scale(motor.controller, "kd", 0.96)
        _scale(motor, "friction", 1.1)
        _scale(motor, "viscous_friction", 0.9)
        motor.clamping = [aa.MaxEffortClampingConfig(most * one.max_effort) for one in motor.clamping]
        if motor.others:
            motor.others = [aa.TransmissionConfig(ratio=10.0, rotor_inertia=5.2e-3)]
        else:
            _scale(motor, "armature", 1.05)
    return motors


def _scale(of, name: str, factor: float) -> None:
    setattr(of, name, factor * getattr(of, name))


# the name of the cause, and what makes the fault, by its name
MOTOR_FAULTS: dict[str, tuple[str, Callable[[Motors], None]]] = {
    "kp in degrees": ("gains", _scaled("kp", 57.3, "extension")),
    "kp per degree": ("gains", _scaled("kp", 1 / 57.3, "extension")),
    "kd in degrees": ("gains", _scaled("kd", 1 / 57.3, "shoulder")),
    "forgotten armature": ("armature", _armature),
    "ten times the friction": ("friction", _friction),
    "limits of 1e9": ("limits", _limit),
    "a step of delay": ("delay", _delay),
    "half the rate": ("rate", _rate),
    "exchanged motors": ("joint order", _swapped),
    "half the gear ratio": ("gear ratio", _gear),
}
# those of which Isaac Lab has no word
NOT_IN_LAB = ("half the rate", "half the gear ratio")


def lab_file(folder: Path, motors: Motors) -> Path:
    path = folder / "lab.py"
    # the speed limits of its joints are none
    export(read_robot(ARM, motors), "lab", path, strict=True)
    return path


def usd_file(folder: Path, motors: Motors) -> Path:
    stage = Usd.Stage.Open(ARM)
    aa.add_motors("/World/Arm", motors, stage=stage, overwrite_existing=True)
    path = folder / "arm.usda"
    stage.Export(str(path))
    stage.Reload()
    return path


def exchanged_names(folder: Path) -> Path:
    text = ARM_XML.read_text()
    for old, new in (("shoulder", "?"), ("extension", "shoulder"), ("?", "extension")):
        text = text.replace(f'joint name="{old}"', f'joint name="{new}"').replace(f'joint="{old}"', f'joint="{new}"')
    path = folder / "exchanged.xml"
    path.write_text(text)
    return path


def other_mass(folder: Path) -> Path:
    """The arm as a file of MuJoCo with a carriage of three times the mass."""
    path = folder / "heavy.xml"
    path.write_text(ARM_XML.read_text().replace('pos="-0.1 0 0" mass="1"', 'pos="-0.1 0 0" mass="3"'))
    return path
