"""Gains, largest efforts and dry friction of actuators at their joints, with the current parameters."""

from __future__ import annotations

import functools

import numpy as np

from ..engine.actuator import Actuator
from ..engine.plan import has_law
from ..laws.contract.base import Component
from ..laws.contract.catalogue import law_of
from ..specs.configs import Config
from ..specs.dry_friction import is_dry
from ..specs.engine_friction import is_friction
from ..specs.fields import parameters_of
from ..specs.joint_side import bounds_at_joint, gains_at_joint
from ..specs.stages import KINDS, follows_limits
from ..specs.transmission import TransmissionConfig


def feedback_gains(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return the current proportional, derivative and integral gains at the joints, float64 `(3, robots, joints)`.

    A gear ratio enters squared, a servo has the back-EMF of its winding as damping. Gains of networks and custom laws
    are NaN, and so are gains before a transmission of the user's own. Behind a spring they are those of the loop that
    the motor closes.
    """
    gains = gains_at_joint(actuator, config_of)
    return np.array([_by_joint(one, actuator, num_robots) for one in gains or [np.nan] * 3])


def largest_efforts(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return the current largest efforts in the direction of motion at the joints [N·m or N], `(robots, joints)`.

    They are float64, and inf without a bound. Custom stages count as unbounded, and so do limits before a transmission
    of the user's own.
    """
    bounds = [most for _, _, most in bounds_at_joint(actuator, "effort", config_of)]
    return _by_joint(functools.reduce(np.minimum, bounds, np.inf), actuator, num_robots)


def largest_speeds(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return the current speeds without load at the joints [rad/s or m/s], shaped like `largest_efforts`.

    They are inf where no stage of the motor bounds its speed.
    """
    bounds = [most for _, _, most in bounds_at_joint(actuator, "speed", config_of)]
    return _by_joint(functools.reduce(np.minimum, bounds, np.inf), actuator, num_robots)


def gears(actuator: Actuator) -> np.ndarray:
    """Return the current ratio and offset [rad] of the transmission of each joint, float64 `(2, robots, joints)`.

    They are 1 and 0 without a transmission, and NaN for one of the user's own and for a linkage. The offset of a spring
    is NaN, too: the shaft of its motor moves by itself.
    """
    # a linkage is the last of them
    stage = next((one for kind, one in reversed(actuator.by_kind) if KINDS[kind].is_before_joint), None)
    if stage is None:
        values: tuple[float | np.ndarray, float | np.ndarray] = (1.0, 0.0)
    elif isinstance(config := config_of(stage), TransmissionConfig):
        values = config.ratio, config.offset if config.IS_RIGID else np.nan
    else:
        values = np.nan, np.nan
    num_robots = actuator.num_actuators // len(actuator.dof_names)
    return np.array([_by_joint(one, actuator, num_robots) for one in values])


def is_rigid(actuator: Actuator) -> bool:
    """Return True if the shaft of a motor turns exactly as its joint does, by a known ratio."""
    return not np.isnan(gears(actuator)).any()


def has_passive_stages(actuator: Actuator) -> bool:
    """Return True if stages act after all limits and the transmission, on the effort at the joint."""
    return any(_is_passive(kind) for kind, _ in actuator.by_kind)


def has_dry_friction(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return a mask of the joints with dry friction, shape `(robots, joints)`.

    Values are those of now. Of the user's own stages nothing is known.
    """
    found = np.array(False)
    for kind, stage in actuator.by_kind:
        line = law_of(type(stage)) if follows_limits(kind) else None
        if line is None:
            continue
        names = list(filter(is_dry, stage.PARAMETERS))
        # friction without such a number has a table of them
        found = found | (is_friction(line.config) and not names)
        for name in names:
            found = found | (stage.read(name) > 0.0)
    return _by_joint(found, actuator, num_robots) > 0.0


def of_passive_stages(actuator: Actuator, parameter: str, num_robots: int, combine: np.ufunc = np.add) -> np.ndarray:
    """Return a parameter of the passive stages that have it, by default their sum, `(robots, joints)`; 0 for none.

    Values are those of now. Of the user's own stages nothing is known.
    """
    laws = [stage for kind, stage in actuator.by_kind if _is_passive(kind) and law_of(type(stage))]
    found = [stage.read(parameter) for stage in laws if parameter in stage.PARAMETERS]
    return _by_joint(functools.reduce(combine, found, 0.0), actuator, num_robots)


def of_transmission(actuator: Actuator, parameter: str, num_robots: int) -> np.ndarray:
    """Return a parameter of the transmission, `(robots, joints)`; 0 without one or without such a parameter.

    Values are those of now. Of the user's own transmissions nothing is known.
    """
    gears = [stage for kind, stage in actuator.by_kind if KINDS[kind].converts and law_of(type(stage))]
    found = next((stage.read(parameter) for stage in gears if parameter in stage.PARAMETERS), 0.0)
    return _by_joint(found, actuator, num_robots)


def config_of(component: Component) -> Config | None:
    """Return the config of a component's law, with float64 arrays; None for networks and custom laws."""
    law = law_of(type(component))
    if law is None or not has_law(component):
        return None
    arrays = component.read_all()
    taken = {name for name, one in parameters_of(law.config).items() if one.of_law}
    fields = taken.difference(law.parameters)
    return law.config(
        **{name: array.astype(float) for name, array in arrays.items()},
        **{name: getattr(component, name) for name in fields},
    )


def _is_passive(kind: str) -> bool:
    """Return True for a kind whose stages change the effort at the joint, after all limits."""
    return follows_limits(kind) and KINDS[kind].changes_effort


def _by_joint(values: object, actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return values `(robots, joints)` of one value for all, or of robot-major values."""
    shape = num_robots, len(actuator.dof_names)
    return np.broadcast_to(np.asarray(values, float), num_robots * shape[1]).reshape(shape)
