"""Config of an effort that is computed for the end of the physics step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .config import Config
from .fields import described, parameter


@dataclass
class ImplicitConfig(Config):
    """Effort at the end of the physics step, which is stable at any gain.

    Controller, winding and limits see the position and velocity with which the joint ends the step, under their own
    effort; `effort_mode="implicit"` adds this stage. Without it an effort is explicit: that of the start of the step,
    which a real motor controller computes, and which vibrates if gains are too large for step and inertia. Isaac Lab
    calls another thing implicit: the drive of its simulator. Not with a rate, an effort delay, a network or a
    gear; a sensor that is late is read as it is. Motors of a `LinkageConfig` are solved at their shafts, which all
    its joints move: with the inertia that a shaft feels, and nothing of its own between shaft and joints. The schema is
    our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorImplicitAPI"
    KIND: ClassVar[str] = "effort_mode"

    assumed_inertia: float = parameter(**described("implicit", "assumedInertia", "kg·m² or kg", 0.0, lower=0.0))
    """Effective inertia of the joint, or of the shaft of a linkage [kg·m² or kg], where the simulator provides none.

    Too small an estimate is stable, and slower; twice the true one vibrates. With 0 every step on such a simulator is a
    fault.
    """
    load_share: float = parameter(**described("implicit", "loadShare", "", 0.05, lower=0.0, upper=1.0))
    """Share of the load that a physics step shows, which the next one takes over, of what the simulator does not tell.

    The joint sags under such a load until it is known, 1/`load_share` steps; one that a contact holds takes 1 + S times
    as long, with S = (kd·dt + kp·dt²)/inertia. A larger share is faster, and may vibrate in contact; of coupled joints
    it is less.
    """
    in_engine: bool = parameter(**described("implicit", "inEngine", "", False, type="bool"))
    """True if the simulator takes over how the effort falls with the final velocity, as armature of the joint.

    Contacts and coupling then count in the step in which they act, at any gain. It needs a simulator that takes
    armatures per physics step: `Simulation` on MuJoCo or PhysX. Others refuse it, when the actuators are made. That of
    a linkage is the armature of a fixed tendon, of a MuJoCo model that has the shaft as one, with its joints on one
    chain; what is none is refused when physics starts.
    """
