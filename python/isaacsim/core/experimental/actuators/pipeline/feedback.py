"""How strongly actuators answer to positions and velocities: their gains, seen from the joint."""

from __future__ import annotations

import numpy as np

from ..components.catalogue import law_of
from ..specs.configs import GearedPDControlConfig, GearedPIDControlConfig, PDControlConfig, PIDControlConfig
from .actuator import Actuator
from .plan import has_law

_LINEAR = (PDControlConfig, PIDControlConfig, GearedPDControlConfig, GearedPIDControlConfig)


def feedback_gains(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return proportional, derivative and integral gains at the joints, shape `(3, robots, joints)`.

    They are those of now, float64; a gear counts squared. NaN where the law is a network or the user's own, which has
    no gains.
    """
    shape = num_robots, len(actuator.dof_names)
    controller = actuator.controller
    law = law_of(type(controller))
    if law is None or law.config not in _LINEAR or not has_law(controller):
        return np.full((3, *shape), np.nan)

    def read(name: str) -> np.ndarray:
        return controller.read(name).reshape(shape).astype(float)

    has = type(controller).PARAMETERS
    # an integral that is held at zero does nothing
    integral = np.where(read("integral_max") > 0.0, read("ki"), 0.0) if "ki" in has else np.zeros(shape)
    gear = read("gear") if "gear" in has else np.ones(shape)
    return np.array([read("kp"), read("kd"), integral]) * gear**2
