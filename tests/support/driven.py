"""Wrappers of some of the joints there are."""

import warnings
from collections.abc import Mapping

from isaacsim.core.experimental.actuators import ArticulationActuators, MotorConfig


def driven(paths: str, motors: Mapping[str, MotorConfig]) -> ArticulationActuators:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "<.*>: joints .* have no motor", UserWarning)
        return ArticulationActuators.from_configs(paths, motors)
