"""Conversion of configs, components and actuators to newton.actuators, of the installed version.

    ours                       newton's
    component                  the class of that law, by its name in that version
    config                     the same, with a number of values
    `Actuator`                 `Actuator` with the same indices and names of arrays
    a component of newton's    itself

Values are copied. Only this module imports newton, and only on a call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..base.extras import needs
from ..base.quiet_warp import device_of, quiet_warp
from ..laws.clamping_position_based import ClampingPositionBased
from ..laws.contract import catalogue
from ..laws.contract.base import Component
from ..laws.contract.newton_classes import own_computation, peer_of
from ..laws.delay import Delay
from ..laws.networks.neural import ControllerNeural
from ..specs.configs import Config

if TYPE_CHECKING:
    from ..engine.actuator import Actuator

_INDICES = ("indices", "pos_indices", "target_pos_indices", "effort_indices")
_ATTRIBUTES = (
    *("state_pos_attr", "state_vel_attr", "control_target_pos_attr", "control_target_vel_attr"),
    *("control_feedforward_attr", "control_output_attr", "control_computed_output_attr"),
)


def to_newton(ours: Config | Component | Actuator, *, num_actuators: int = 1, device: wp.DeviceLike = "cpu") -> Any:
    """Return newton.actuators' counterpart of a config, a component or a whole `Actuator`.

    Efforts are the same, except for the list in `docs/Differences.md`.

    Args:
        ours: A config, a component or an `Actuator`.
        num_actuators: Number of values of a config's counterpart.
        device: Device of these values, as Warp names it.

    Raises:
        ValueError: The installed newton has no counterpart, or the actuator is in the implicit effort mode.
        ModuleNotFoundError: newton is not installed.
        TypeError: It is none of these.

    Example:
        >>> from isaacsim.core.experimental.actuators import PDControlConfig, to_newton
        >>> drive = to_newton(PDControlConfig(80.0, 2.0), num_actuators=4)
        >>> drive.kp.numpy().tolist()
        [80.0, 80.0, 80.0, 80.0]
    """
    with needs("to_newton", "newton"), quiet_warp():
        import newton.actuators as peer

        # the first array starts Warp, which prints a banner
        wp.init()

    if isinstance(ours, Config):
        return _component(catalogue.build(ours, num_actuators, device_of(device)), peer)
    if isinstance(ours, Component):
        return _component(ours, peer)
    if all(hasattr(ours, name) for name in ("controller", "clamping", "delay", "indices")):
        if unknown := list(getattr(ours, "others", ())):
            raise ValueError(
                f"{type(unknown[0]).__name__}: newton.actuators has no such stage. Convert an actuator without it."
            )
        if getattr(ours, "effort_mode", "explicit") != "explicit":
            raise ValueError(
                f"actuator {ours.label!r}: its effort mode is implicit: must be explicit, as newton has a response of "
                "its own. Call set_effort_mode_explicit(), and set_effort_mode_implicit() on newton's."
            )
        law, *clamps = (_component(part, peer) for part in (ours.controller, *ours.clamping))
        delay = None if ours.delay is None else _component(ours.delay, peer)
        names = {name: getattr(ours, name) for name in (*_INDICES[1:], *_ATTRIBUTES)}
        # by position, for the law has two names
        return peer.Actuator(ours.indices, law, delay, clamps, **names)
    raise TypeError(f"{ours!r}: must be a config, a component or an Actuator. Give one of them.")


def _component(component: Component, peer: ModuleType) -> Any:
    if own_computation(component):
        return component
    name = type(component).__name__
    law = catalogue.law_of(type(component))
    networks = {network for known in catalogue.LAWS for network in known.by_network.values()}
    made = (
        law.name
        if law
        else next((base.__name__ for base in type(component).__mro__ if base.__name__ in networks), name)
    )
    theirs = peer_of(made or "", peer)
    if theirs is None:
        raise ValueError(
            f"{name}: newton.actuators has no class for it. Write one as a subclass of {_base_of(component, peer)}."
        )
    return theirs(**_ARGUMENTS.get(made, _arrays)(component))


def _base_of(component: Component, peer: ModuleType) -> str:
    families = (base.__name__ for base in type(component).__mro__ if peer_of(base.__name__, peer))
    return next((peer_of(name, peer).__name__ for name in families), "one of its families")


def _arrays(component: Component) -> dict[str, wp.array]:
    from_source = component.parameter_source is not None
    given = [name for name in component.PARAMETERS if from_source or vars(component).get(name) is not None]
    return {name: _array(component, name) for name in given}


def _array(component: Component, name: str, values: np.ndarray | None = None, dtype: object = wp.float32) -> wp.array:
    device = getattr(vars(component).get(name), "device", None) or getattr(component.parameter_source, "device", "cpu")
    return wp.array(component.read(name) if values is None else values, dtype=dtype, device=device)


def _dc_motor(component: Component) -> dict[str, wp.array]:
    """Return copies of the parameters; an infinite stall effort, no speed curve here, makes the limit infinite too."""
    found = {name: component.read(name) for name in component.PARAMETERS}
    found["velocity_limit"][np.isinf(found["saturation_effort"])] = np.inf
    return {name: _array(component, name, values) for name, values in found.items()}


def _table(component: ClampingPositionBased) -> dict[str, tuple[float, ...]]:
    return {name: tuple(getattr(component, name)) for name in ("lookup_positions", "lookup_efforts")}


def _delay(component: Delay) -> dict[str, object]:
    return {
        "delay_steps": _array(component, "delay_steps", component.read("delay_steps"), wp.int32),
        "max_delay": component.buf_depth,
    }


def _network(component: ControllerNeural) -> dict[str, str]:
    path, law = component.model_path, component.law
    if law.first_fills and law.steps > 1:
        raise ValueError(
            f"{type(component).__name__}({path!r}): history_fill = 'first': must be 'zeros', as newton fills it. "
            "Say so in the metadata of the file, if the network may begin so."
        )
    if component.given_metadata:
        raise ValueError(
            f"{type(component).__name__}({path!r}): metadata = {component.given_metadata!r:.100}: must be in the file, "
            "which is all that newton reads. Write them there by convert_checkpoint."
        )
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"{type(component).__name__}: model_path = {path!r}: must be the path of a file that newton can read. Make"
            " the controller from its path."
        )
    return {"model_path": os.fspath(path)}


_ARGUMENTS: dict[str | None, Callable[[Any], Mapping[str, object]]] = {
    "ClampingDCMotor": _dc_motor,
    "ClampingPositionBased": _table,
    "Delay": _delay,
    "ControllerNeuralMLP": _network,
    "ControllerNeuralLSTM": _network,
    "ControllerNeuralGRU": _network,
}
