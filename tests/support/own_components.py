"""Components that a plan does not know: laws computed by methods, as a user's own are."""

import numpy as np
from isaacsim.core.experimental.actuators import ClampingDCMotor, ClampingMaxEffort, Controller, ControllerPID, Delay


class OwnDelay(Delay):
    """A delay that a plan does not know."""


class OwnController(ControllerPID):
    def compute(self, *args, **kwargs) -> None:
        super().compute(*args, **kwargs)


class OwnMotor(ClampingDCMotor):
    def modify_forces(self, *args, **kwargs) -> None:
        super().modify_forces(*args, **kwargs)


class OwnLimit(ClampingMaxEffort):
    def modify_forces(self, *args, **kwargs) -> None:
        super().modify_forces(*args, **kwargs)


class Loaded(Controller):
    custom_inputs = ("load",)

    def is_stateful(self) -> bool:
        return False

    def compute(self, *arguments, custom_inputs=None, **_) -> None:
        indices, forces = arguments[6], arguments[9]
        load = custom_inputs["load"]
        assert load is None or np.isfinite(load.numpy()).all()
        forces.assign(np.full(len(forces), -9.0) if load is None else -load.numpy()[indices.numpy()])
