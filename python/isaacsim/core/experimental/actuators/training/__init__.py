"""Networks learned from logs of actuators: a log in, a file for `NeuralControlConfig` out.

Needs the extra `train`; what was trained runs without.
"""

from .log import ActuatorLog as ActuatorLog
from .train import train_actuator as train_actuator
from .trained import Errors as Errors
from .trained import TrainedActuator as TrainedActuator

__all__ = ["ActuatorLog", "Errors", "TrainedActuator", "train_actuator"]
