"""Other libraries with the same laws: newton, and the older newton-actuators."""

import warnings

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp

# the order in which clamps read from USD act here; newton keeps the authored one
_ORDER = ("ClampingDCMotor", "ClampingPositionBased", "ClampingMaxEffort")


def newton_actuator(prim, column: int, robots: int, dofs: int) -> tuple:
    with quiet_warp():
        import newton.actuators as peer
    parsed = peer.parse_actuator_prim(prim)
    drive, delay, clamping = None, None, []
    for component, given in [(parsed.drive_class, parsed.drive_kwargs), *parsed.component_specs]:
        values = component.resolve_arguments(dict(given))
        if component is peer.Delay:
            steps = values["delay_steps"]
            delay = peer.Delay(wp.full(robots, steps, dtype=wp.int32, device="cpu"), steps)
            continue
        if component is not peer.ClampingPositionBased:
            values = {name: wp.full(robots, value, dtype=wp.float32, device="cpu") for name, value in values.items()}
        if component is parsed.drive_class:
            drive = component(**values)
        else:
            clamping.append(component(**values))
    clamping.sort(key=lambda clamp: _ORDER.index(type(clamp).__name__))
    indices = wp.array(np.arange(robots) * dofs + column, dtype=wp.uint32, device="cpu")
    actuator = peer.Actuator(indices, drive, delay=delay, clamping=clamping)
    return actuator, [actuator.state(), actuator.state()]


def newton_actuators():
    with quiet_warp(), warnings.catch_warnings():
        # it warns of its end at import
        warnings.simplefilter("ignore", DeprecationWarning)
        return pytest.importorskip("newton_actuators", reason="newton-actuators is not installed")
