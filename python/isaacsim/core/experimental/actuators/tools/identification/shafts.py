"""Motors of several joints: each is identified at its shaft, which logs tell as the sum of the joints that it moves.

While the joints that a shaft moves follow its effort τ, and all others the log,

    M·q̈ + l = gᵀ·τ,   so   θ̈ = (τ − I·g·M⁻¹·l)/I,   I = 1/(g·M⁻¹·gᵀ),   θ = g·q + offset

with mass matrix M and load l of the joints of the linkage, that of the other joints in l. With that inertia and load
the shaft is a joint of its own. The load changes by wᵀ·K·w per angle, w = I·M⁻¹·gᵀ, K the slopes of those of the
joints. Friction is that of the shaft, and the armature of the fit its rotor.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np

from ...specs.configs import Config, FrictionConfig, TransmissionConfig
from ...specs.linkage import LinkageConfig
from ...specs.motors import MotorConfig
from ...specs.shaft import ShaftFrictionConfig, ShaftInertiaConfig
from .identified import Replay
from .log import MotorLog
from .models import SIMPLE
from .options import FitOptions

_OF_SHAFT = (LinkageConfig, ShaftFrictionConfig, ShaftInertiaConfig, FrictionConfig)
# signals of a log that are sums over joints; others are of the motor
_SUMS = ("command", "position", "velocity")
MODELS = ("as in the file", *SIMPLE)
"""The models of friction that a shaft has, too."""


def linkage_of(motor: MotorConfig) -> LinkageConfig | None:
    """Return the linkage of a motor, or None."""
    return next((one for one in motor.others if isinstance(one, LinkageConfig)), None)


class Shafts:
    """The columns of the joints and shafts of logs, a shaft's by the name of the joint that has its motor.

    Raises ValueError for a linkage that logs of its joints do not tell.
    """

    def __init__(self, motors: Mapping[str, MotorConfig], joints: Sequence[str]) -> None:
        self._motors, self.joints = motors, tuple(joints)
        self._wholes: dict[int, tuple[MotorLog, MotorLog]] = {}
        found = {name: linkage_of(motors[name]) for name in joints if name in motors}
        self.linkages = {name: linkage for name, linkage in found.items() if linkage is not None}
        """Linkages by the joint of their motor."""
        for name, linkage in self.linkages.items():
            self._require(name, linkage)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        moved = {joint for linkage in self.linkages.values() for joint in linkage.joints}
        return tuple(name for name in self.joints if name in self.linkages or name not in moved)

    @functools.cached_property
    def at(self) -> list[int]:
        """The joint of each column, by number."""
        return [self.joints.index(name) for name in self.names]

    @property
    def are_joints(self) -> np.ndarray:
        """True for columns of joints, `(columns,)`."""
        return np.array([name not in self.linkages for name in self.names])

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """Coefficients of the columns, `(columns, joints)`."""
        found = np.zeros((len(self.names), len(self.joints)))
        for row, name in zip(found, self.names, strict=True):
            linkage = self.linkages.get(name) or LinkageConfig([name], [1.0])
            row[[self.joints.index(joint) for joint in linkage.joints]] = linkage.coefficients
        return found

    @functools.cached_property
    def offset(self) -> np.ndarray:
        """Positions of the columns where all joints are at 0, `(columns,)`."""
        return np.array([self.linkages[name].offset if name in self.linkages else 0.0 for name in self.names])

    def _require(self, name: str, linkage: LinkageConfig) -> None:
        others = [one for joint, one in self.linkages.items() if joint != name]
        told = {*linkage.joints} <= {*self.joints}
        alone = not any({*one.joints} & {*linkage.joints} for one in others)
        if linkage.is_table or linkage.unilateral or not (told and alone):
            raise ValueError(
                f"{name}: the linkage of its motor, of joints {', '.join(linkage.joints)}: must have constant "
                "coefficients, no other motor, joints that are all in the logs, and a shaft that pulls and pushes. "
                "Leave it out of the logs, or identify it on a bench, as the joint of its shaft."
            )

    def options(self, options: FitOptions) -> FitOptions:
        """Return what is fitted: friction of shafts is Coulomb and viscous; a `ValueError` for networks."""
        if not self.linkages:
            return options
        if options.residual is not None:
            raise ValueError(
                f"residual: {', '.join(self.linkages)}: motors move several joints, by a linkage, and networks are of "
                "one: must be left out. Identify without it."
            )
        return dataclasses.replace(options, models=[name for name in options.models if name in MODELS])

    def of_log(self, log: MotorLog) -> MotorLog:
        """Return a log with these columns."""
        if not self.linkages:
            return log
        signals = {name: values[:, self.at] for name, values in log.signals.items()}
        own = [name in self.linkages and _is_own(self._motors[name]) for name in self.names]
        for name in signals.keys() & {*_SUMS}:
            offset = 0.0 if name == "velocity" else self.offset
            summed = log.signals[name] @ self.rows.T + offset
            signals[name] = np.where(own, signals[name], summed) if name == "command" else summed
        made = MotorLog(log.time, self.names, signals, log.source, log.settings)
        self._wholes[id(made)] = made, log
        return made

    def of_replay(self, replay: Replay) -> Replay:
        """Return a replay with these columns."""
        log = next((made for made, whole in self._wholes.values() if whole is replay.log), replay.log)
        turns = None if replay.turns is None else [replay.turns[at] for at in self.at]
        return Replay(log, replay.positions @ self.rows.T + self.offset, replay.held_out, turns)

    def bare(self) -> dict[str, MotorConfig]:
        """Return the motors to fit: those of shafts as if these were joints."""
        return {name: _bare(self._motors[name]) for name in self.names}

    def whole(self, motors: Mapping[str, MotorConfig]) -> dict[str, MotorConfig]:
        """Return all motors, those that were fitted with their linkages, and friction and rotors at the shafts."""
        return {name: motor for name, motor in self._motors.items() if name not in self.names} | {
            name: _whole(motor, self.linkages[name], self._motors[name]) if name in self.linkages else motor
            for name, motor in motors.items()
        }

    def whole_of(self, log: MotorLog) -> MotorLog:
        """Return the log with a column per joint that a log was made of."""
        return self._wholes.get(id(log), (log, log))[1]


def _is_own(motor: MotorConfig) -> bool:
    """Return True if the targets of a motor are its own, not those of its joints."""
    return any(isinstance(one, TransmissionConfig) and one.targets == "motor" for one in motor.others)


def _bare(motor: MotorConfig) -> MotorConfig:
    """Return a motor whose shaft is a joint."""
    if linkage_of(motor) is None:
        return motor
    others: list[Config] = [one for one in motor.others if not isinstance(one, _OF_SHAFT)]
    armature = motor.armature
    for one in motor.others:
        if isinstance(one, ShaftFrictionConfig):
            others.append(FrictionConfig(one.coulomb, viscous=one.viscous, motor_load=one.load))
        elif isinstance(one, ShaftInertiaConfig):
            armature = one.inertia
    return dataclasses.replace(motor, others=others, armature=armature)


def _whole(motor: MotorConfig, linkage: LinkageConfig, before: MotorConfig) -> MotorConfig:
    """Return a motor of a joint as that of a shaft, which has the friction that its joint had before, too."""
    friction = [one for one in motor.others if isinstance(one, FrictionConfig)]
    others: list[Config] = [one for one in motor.others if not isinstance(one, FrictionConfig)]
    others += [ShaftFrictionConfig(one.coulomb, one.viscous, one.motor_load, one.assumed_inertia) for one in friction]
    rotor = motor.armature if isinstance(motor.armature, int | float) else 0.0
    others += [ShaftInertiaConfig(rotor)] if rotor else []
    if any(isinstance(one, FrictionConfig) for one in before.others):
        motor = dataclasses.replace(motor, friction=0.0, viscous_friction=0.0)
    return dataclasses.replace(motor, others=[*others, linkage], armature=None, intervals={})
