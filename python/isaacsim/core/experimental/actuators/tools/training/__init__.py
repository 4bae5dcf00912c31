"""Training of networks from logs of actuators, to files for `NeuralControlConfig`.

Training needs the extra `train`; the networks do not.
"""

from .log import ActuatorLog as ActuatorLog
from .train import train_actuator as train_actuator
from .trained import Errors as Errors
from .trained import TrainedActuator as TrainedActuator

__all__ = ["ActuatorLog", "Errors", "TrainedActuator", "train_actuator"]
