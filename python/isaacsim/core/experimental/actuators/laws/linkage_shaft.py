"""Shafts of motors that move joints together: differential wrists and hips, parallel ankles, four-bar knees.

    φ = c(q),  φ̇ = G(q)·q̇,  G = ∂c/∂q            φ  angles of the shafts, q  positions of the joints
    effort = Gᵀ·(τ − J·Ġ·q̇)                        τ  efforts of the shafts, J  inertias of their rotors

Power is kept: φ̇ᵀ·τ = q̇ᵀ·Gᵀ·τ. c is linear, or a table over one or two joints whose angles and slopes are interpolated
linearly; beyond it the slopes at its end hold. The simulator has the inertia GᵀJG as armature of the joints; as G
changes, J·Ġ·q̇ is what is missing, with Ġ the change of the slopes within the step. Targets become φ* = c(q*) and
G(q*)·q̇*, a feedforward f becomes G⁻ᵀ·f, both before the delay.

The law of one joint leaves the effort as it is: the engines run the linkage as a whole, `native/linkage.h` and
`engine/step/linkage_kernels.py`, with the same bits. Edges: a fault of one motor or joint is one of all joints of the
linkage.
Source: d'Alembert's principle of virtual work; H. Asada, J.-J. Slotine, Robot Analysis and Control, 1986, ch. 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import warp as wp

from ..specs.fields import parameters_of
from ..specs.linkage import LinkageConfig
from .contract.base import Linkage


@wp.func
def shaft_effort(effort: float, position: float, velocity: float):
    """Return the effort of a shaft [N·m], which the engine distributes to the joints."""
    return effort


class LinkageShaft(Linkage):
    """The shaft of one motor of a linkage.

    Args:
        joints: Names of the joints that the shaft depends on.
        values: The other fields of a `LinkageConfig`.

    Raises:
        ValueError: They do not fit together.
    """

    SHARED_PARAMS: ClassVar[set[str]] = set(parameters_of(LinkageConfig))
    LAW = shaft_effort

    def __init__(self, joints: Sequence[str], **values: Any) -> None:
        self.shaft = LinkageConfig(list(joints), **values)
        vars(self).update(vars(self.shaft))
        self.inertia = 0.0
        """Inertia of the rotor at the shaft [kg·m²], of which the engine takes the part that changes."""

    @classmethod
    def from_config(cls, config: LinkageConfig, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config."""
        return cls(**vars(config))

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, object]:
        """Keep the arguments that are given and check them."""
        given = {name: args[name] for name in cls.SHARED_PARAMS if args.get(name) is not None}
        cls(**given)
        return given

    def __repr__(self) -> str:
        kept = self.shaft.coefficients or f"table of {self.shaft.counts}"
        return f"{type(self).__name__}(joints={self.shaft.joints}, coefficients={kept})"
