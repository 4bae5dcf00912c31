"""Joints whose effort is that of the end of the physics step, as `components/implicit_effort.py` computes it.

    g  = h/I                                 I the inertia with which the joint is stepped
    v₀ = v + d                               d what else moves the joint in a step, its load
    d  = d′ + s·(v − v′ − g·u′ − d′)         v′, u′ and d′ of the step before
    τ  = (Ki·z − K·(q + h·v₀) − Kd·v₀) / (1 + g·(Kd + h·K)),    K = Kp + h·Ki
    z⁺ = z − h·(q + h·(v₀ + g·τ))

The inertia I is the coupled one, else half the effective one, else the one that is assumed: as the engine has it. A
joint with a sensor has an explicit effort, as its controller acts on what was measured. The share s is 1, and 0 where
the simulator tells the whole load.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ...pipeline.actuator import Actuator
from ...pipeline.feedback import config_of
from ...pipeline.plan import has_law
from ...specs.implicit import ImplicitConfig
from ...specs.stages import KINDS, is_geared, kind_of

# where the inertia comes from, which says how an armature changes it
_ASSUMED, _HALF, _COUPLED = 0.0, 1.0, 2.0
# of what else moves a joint in a step, which counts as load, where the simulator does not tell the whole load
_SHARE: Final = 1.0
# kinds of stages beside which an effort cannot be that of the end of the step
_LATE: Final = ("rate", "effort_delay")


class Implicit:
    """The implicit joints of a robot.

    Args:
        values: Of each joint, shape `(3, …, J)`: inertia with which it is stepped [kg·m² or kg], NaN where the effort
            is explicit; the source of that inertia; the share of what else moves it that counts as load.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @classmethod
    def none(cls, *shape: int) -> Implicit:
        """Return those of joints that all are explicit."""
        values = np.zeros((3, *shape))
        values[0] = np.nan
        return cls(values)

    @classmethod
    def of_joint(cls, inertia: float, load_share: float) -> Implicit:
        """Return that of one implicit joint, with the inertia with which it is stepped."""
        return cls(np.array([[inertia], [_ASSUMED], [load_share]]))

    @classmethod
    def known(cls, coupled: Any, effective: Any, assumed: np.ndarray, told: Any) -> Implicit:
        """Return those with the inertia that the engine takes of some, 0 where it has none.

        Args:
            coupled: Coupled inertias that the simulator tells, 0 for none.
            effective: Effective inertias that it tells, 0 for none.
            assumed: Assumed inertias, `(…, J)`; NaN for explicit joints.
            told: 1 where the simulator tells the whole load.
        """
        inertia = np.where(
            np.greater(coupled, 0.0), coupled, np.where(np.greater(effective, 0.0), 0.5 * effective, assumed)
        )
        source = np.where(np.greater(coupled, 0.0), _COUPLED, np.where(np.greater(effective, 0.0), _HALF, _ASSUMED))
        inertia = np.where(np.isnan(assumed), np.nan, inertia)
        return cls(np.stack(np.broadcast_arrays(inertia, source, np.where(np.greater(told, 0.5), 0.0, _SHARE))))

    def __getitem__(self, key: Any) -> Implicit:
        """Return those of some joints, or of some joints of a robot."""
        return Implicit(self.values[(slice(None), *key) if isinstance(key, tuple) else (slice(None), key)])

    @property
    def inertias(self) -> np.ndarray:
        """Inertias with which joints are stepped, NaN where the effort is explicit."""
        return self.values[0]

    @property
    def mask(self) -> np.ndarray:
        """True for implicit joints."""
        return ~np.isnan(self.inertias)

    @property
    def is_assumed(self) -> np.ndarray:
        """True for implicit joints with an assumed inertia."""
        return self.mask & (self.values[1] == _ASSUMED)

    @property
    def load_shares(self) -> np.ndarray:
        """Shares of what else moves joints in a step that count as load; 0 where the simulator tells the whole load."""
        return self.values[2]

    def with_coupled(self, inverse: np.ndarray, chosen: np.ndarray) -> Implicit:
        """Return these and others, with the coupled inertia.

        Args:
            inverse: Inverse mass matrix, `(J, J)`.
            chosen: Mask of the other joints.
        """
        made = Implicit(self.values.copy())
        made.values[0, chosen] = coupled_inertias(inverse)[chosen]
        made.values[1:, chosen] = [[_COUPLED], [_SHARE]]
        return made

    def moved(self, before: np.ndarray, after: np.ndarray) -> Implicit:
        """Return those of a robot with other armatures; what is assumed stays.

        Args:
            before: Inverse mass matrix, `(J, J)`.
            after: The same with the other armatures.
        """
        made = Implicit(self.values.copy())
        alone = np.diag(before) / np.diag(after)
        coupled = coupled_inertias(after) / coupled_inertias(before)
        source = self.values[1]
        made.values[0] *= np.select([source == _COUPLED, source == _HALF], [coupled, alone], 1.0)
        return made


def coupled_inertias(inverse: np.ndarray) -> np.ndarray:
    """Return the inertias with which joints may be stepped one by one, `(J,)`, of an inverse mass matrix `(J, J)`."""
    own = np.sqrt(np.diag(inverse))
    return 1.0 / (own * (np.abs(inverse) / own).sum(axis=1))


def assumed_inertias(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return the inertia that an effort mode of an actuator assumes, `(robots, joints)`; NaN without such a mode."""
    config = _mode_of(map(config_of, actuator.stages))
    shape = num_robots, len(actuator.dof_names)
    values = np.nan if config is None else np.asarray(config.assumed_inertia, float)
    return np.broadcast_to(values, num_robots * shape[1]).reshape(shape)


def is_measured(actuator: Actuator) -> bool:
    """Return True if sensors make the effort of an implicit actuator explicit."""
    return bool(actuator.sensing) and _mode_of(map(config_of, actuator.stages)) is not None


def may_be_implicit(actuator: Actuator) -> bool:
    """Return True if the effort of an actuator can be that of the end of the step."""
    at_once = not actuator.sensing and all(kind not in _LATE for kind, _ in actuator.by_kind)
    return at_once and not is_geared(actuator) and all(has_law(stage) for stage in actuator.stages)


def assumed_of(stages: Iterable[Any]) -> float | None:
    """Return the inertia that an effort mode among configs assumes, or None if there is none.

    Raises:
        ValueError: It is beside a stage that acts late, or a transmission.
    """
    given = list(stages)
    config = _mode_of(given)
    if config is None:
        return None
    for stage in given:
        if (kind := kind_of(stage)) in _LATE or KINDS[kind or "passive"].is_before_joint:
            raise ValueError(
                f"stages has {type(config).__name__} beside {type(stage).__name__}: must be left out, as its effort is "
                "not that of the end of the step. Leave out one of them."
            )
    return config.assumed_inertia


def is_sensed(stages: Iterable[Any]) -> bool:
    """Return True if configs have a sensor."""
    return any(KINDS[kind].senses for stage in stages if (kind := kind_of(stage)))


def _mode_of(configs: Iterable[Any]) -> Any:
    """Return the config of an effort mode, or None."""
    return next((one for one in configs if isinstance(one, ImplicitConfig)), None)
