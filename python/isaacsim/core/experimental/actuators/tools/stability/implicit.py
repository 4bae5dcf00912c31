"""Joints whose effort is that of the end of the physics step, as `laws/implicit_effort.py` computes it.

    g  = h/I                                 I the inertia with which the joint is stepped
    v₀ = v + d                               d the velocity that a step gains of what else moves the joint
    d  = d′ + w·(v − v′ − g·u′ − d′)         v′, u′ and d′ of the step before
    τ  = (Ki·z − K·(q + h·v₀) − Kd·v₀) / (1 + g·(Kd + h·K)),    K = Kp + h·Ki
    z⁺ = z − h·(q + h·(v₀ + g·τ))

The inertia I is the coupled one, else half the effective one, else the one that is assumed: as the engine has it. The
share w is `load_share·(I/I_e)²` with the effective inertia I_e, 1 for a joint with friction, and 0 where the simulator
tells the whole load. A joint with a sensor has an explicit effort, as its controller acts on what was measured.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...engine.actuator import Actuator
from ...engine.plan import has_law
from ...laws.contract.coupling import coupled_inertias
from ...specs.engine_friction import is_friction
from ...specs.implicit import ImplicitConfig
from ...specs.stages import KINDS, is_geared, kind_of
from ..feedback import config_of

# where the inertia comes from, which says how an armature changes it
_ASSUMED, _HALF, _COUPLED = 0.0, 1.0, 2.0
# kinds of stages beside which an effort cannot be that of the end of the step
_LATE: Final = ("rate", "effort_delay")


class Implicit:
    """The implicit joints of a robot, as `values`, shape `(4, …, J)`.

    These are inertia with which a joint is stepped [kg·m² or kg], NaN where the effort is explicit; the source of that
    inertia; its `load_share`, and the ratio I/I_e.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @classmethod
    def none(cls, *shape: int) -> Implicit:
        """Return those of joints that all are explicit."""
        values = np.zeros((4, *shape))
        values[0] = np.nan
        return cls(values)

    @classmethod
    def of_joint(cls, inertia: float, load_share: float) -> Implicit:
        """Return that of one implicit joint, with the inertia with which it is stepped."""
        return cls(np.array([[inertia], [_ASSUMED], [load_share], [1.0]]))

    @classmethod
    def known(
        cls, coupled: npt.ArrayLike, effective: np.ndarray | float, assumed: np.ndarray, shares: np.ndarray | float
    ) -> Implicit:
        """Return those with the inertia that the engine takes of some, 0 where it has none.

        The simulator tells `coupled` and `effective` inertias, 0 for none, and the whole load where `shares` are 0;
        `assumed`, `(…, J)`, is NaN for explicit joints.
        """
        is_coupled, is_effective = np.greater(coupled, 0.0), np.greater(effective, 0.0)
        inertia = np.where(is_coupled, coupled, np.where(is_effective, 0.5 * effective, assumed))
        inertia = np.where(np.isnan(assumed), np.nan, inertia)
        source = np.where(is_coupled, _COUPLED, np.where(is_effective, _HALF, _ASSUMED))
        ratio = inertia / np.where(np.greater(effective, inertia), effective, inertia + (inertia == 0.0))
        return cls(np.stack(np.broadcast_arrays(inertia, source, shares, ratio)))

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
        return np.minimum(self.values[2] * self.values[3] ** 2, 1.0)

    def with_coupled(self, inverse: np.ndarray, chosen: np.ndarray) -> Implicit:
        """Return these and others, by a mask, with the coupled inertia of the inverse mass matrix."""
        coupled, effective = coupled_inertias(inverse), 1.0 / np.diag(inverse)
        others = Implicit.known(coupled, effective, np.zeros(len(coupled)), ImplicitConfig().load_share)
        return Implicit(np.where(chosen, others.values, self.values))

    def moved(self, before: np.ndarray, after: np.ndarray) -> Implicit:
        """Return those of a robot with other armatures, by the inverse mass matrices; what is assumed stays."""
        made = Implicit(self.values.copy())
        alone = np.diag(before) / np.diag(after)
        coupled = coupled_inertias(after) / coupled_inertias(before)
        source = self.values[1]
        made.values[0] *= np.select([source == _COUPLED, source == _HALF], [coupled, alone], 1.0)
        made.values[3] *= np.where(source == _COUPLED, coupled / alone, 1.0)
        return made


def mode_values(actuator: Actuator, num_robots: int) -> np.ndarray:
    """Return what an effort mode of an actuator assumes, `(2, robots, joints)`: inertia and share of the load.

    The inertia is NaN without such a mode.
    """
    config = _mode_of(map(config_of, actuator.stages))
    shape = num_robots, len(actuator.dof_names)
    values = (np.nan, 0.0) if config is None else (config.assumed_inertia, config.load_share)
    every = [np.broadcast_to(np.asarray(one, float), num_robots * shape[1]) for one in values]
    return np.array(every).reshape(2, *shape)


def is_at_end(actuator: Actuator) -> bool:
    """Return True if the effort of an actuator is meant to be that of the end of the step."""
    return _mode_of(map(config_of, actuator.stages)) is not None


def is_measured(actuator: Actuator) -> bool:
    """Return True if sensors make the effort of an implicit actuator explicit."""
    return bool(actuator.sensing) and is_at_end(actuator)


def may_be_implicit(actuator: Actuator) -> bool:
    """Return True if the effort of an actuator can be that of the end of the step."""
    at_once = not actuator.sensing and all(kind not in _LATE for kind, _ in actuator.by_kind)
    return at_once and not is_geared(actuator) and all(has_law(stage) for stage in actuator.stages)


def mode_of(stages: Iterable[object]) -> ImplicitConfig | None:
    """Return the effort mode among configs, or None if there is none."""
    given = list(stages)
    config = _mode_of(given)
    if config is None:
        return None
    for stage in given:
        # an effort at the end of the step is not lagged in the equations
        if (kind := kind_of(stage)) in (*_LATE, "effort_lag") or KINDS[kind or "passive"].is_before_joint:
            raise ValueError(
                f"stages has {type(config).__name__} beside {type(stage).__name__}: must be left out, as its effort is "
                "not that of the end of the step. Leave out one of them."
            )
    return config


def is_sensed(stages: Iterable[object]) -> bool:
    """Return True if configs have a sensor."""
    return any(KINDS[kind].senses for stage in stages if (kind := kind_of(stage)))


def _mode_of(configs: Iterable[object]) -> ImplicitConfig | None:
    given = list(configs)
    mode = next((one for one in given if isinstance(one, ImplicitConfig)), None)
    # all that the step before shows, however strong the coupling
    return dataclasses.replace(mode, load_share=math.inf) if mode and any(map(is_friction, given)) else mode
