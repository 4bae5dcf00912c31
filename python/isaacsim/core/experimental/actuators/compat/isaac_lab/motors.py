"""Cfgs in our laws: an actuator for each joint of a group.

IdealPDActuator                 PD, largest effort
DCMotor                         PD, DC motor
DelayedPDActuator               delay, PD, largest effort
RemotizedPDActuator             delay, PD, limit by position
ActuatorNetMLP, ActuatorNetLSTM network, DC motor
ActuatorNetGRU                  network, largest effort
ImplicitActuator                PD, largest effort of the joint: a model of the solver's drive
BamActuator                     delay, firmware of a servo, winding, largest effort, friction
BamBacklashActuator             as above, with backlash before the joint
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp

from ...base.errors import NetworkError
from ...engine.entry import ActuatorConfig
from ...files.networks.load import load_checkpoint, load_metadata
from ...laws.controller_neural_gru import ControllerNeuralGRU
from ...laws.controller_neural_lstm import ControllerNeuralLSTM
from ...laws.controller_neural_mlp import ControllerNeuralMLP
from ...laws.delay import Delay
from ...specs import configs
from ...specs.motors import MotorConfig
from .kinds import DC_MOTORS, DELAYED, IMPLICIT, NETWORKS, SERVOS, Cfg
from .resolve import Resolved
from .servos import servo_of

_CONTROLLERS = {
    "ActuatorNetMLP": ControllerNeuralMLP,
    "ActuatorNetLSTM": ControllerNeuralLSTM,
    "ActuatorNetGRU": ControllerNeuralGRU,
}
# inputs of a GRU, by the field with mean and deviation
_COLUMNS = {"pos_error_normalization": "position_error", "vel_normalization": "velocity"}
# value of Isaac Lab
_SMALLEST_STD = 1e-8


def delay_range(cfg: Cfg, resolved: Resolved) -> tuple[int, int]:
    """Return smallest and largest delay of a group [physics steps]; zeros for models without."""
    if resolved.model not in DELAYED:
        return 0, 0
    low, high = cfg.min_delay, cfg.max_delay
    whole = all(isinstance(one, int | np.integer) and not isinstance(one, bool) for one in (low, high))
    if not whole or not 0 <= low <= high:
        raise ValueError(
            f"{type(cfg).__name__}: min_delay = {low!r}, max_delay = {high!r}: must be integers with 0 <= min_delay <= "
            "max_delay. Correct them."
        )
    return int(low), int(high)


def actuators_of(
    cfg: Cfg, resolved: Resolved, num_robots: int, device: wp.DeviceLike
) -> list[tuple[ActuatorConfig, str]]:
    """Return an actuator for each joint, with its name; delays are 0 until they are drawn."""
    longest = delay_range(cfg, resolved)[1]
    checkpoint = None
    if resolved.model in NETWORKS:
        # metadata of the cfg only, as in Isaac Lab
        metadata = metadata_of(cfg, resolved.model)
        checkpoint = dataclasses.replace(load_checkpoint(cfg.network_file, metadata), metadata=metadata)
    network: Any = _CONTROLLERS.get(resolved.model)
    found: list[tuple[ActuatorConfig, str]] = []
    for at, name in enumerate(resolved.names):
        columns = {field: of_all[:, at] for field, of_all in resolved.values.items()}
        # one number if all robots have the same
        values = {field: one[0].item() if (one == one[0]).all() else one for field, one in columns.items()}
        controller, limits, others = configs_of(cfg, resolved.model, values)
        delay = Delay(wp.zeros(num_robots, dtype=wp.int32, device=device), longest) if longest else None
        law = controller if checkpoint is None else network(checkpoint)
        found.append((ActuatorConfig(law, limits, delay, others), name))
    return found


def configs_of(
    cfg: Cfg, model: str, values: Mapping[str, Any]
) -> tuple[configs.ControlConfig, list[configs.ClampingConfig], list[configs.Config]]:
    """Return control law, limits and other stages of a model, from values by field as `resolve` returns them."""
    if model in SERVOS:
        motor = servo_of(cfg, values["armature"], values.get("backlash"))
        assert motor.controller is not None
        return motor.controller, [configs.MaxEffortClampingConfig(values["effort_limit"])], motor.others
    constant = values.get("const_effort", 0.0)
    controller: configs.ControlConfig = configs.PDControlConfig(values["stiffness"], values["damping"], constant)
    if model in NETWORKS:
        controller = configs.NeuralControlConfig(cfg.network_file)
    largest: Any = values["effort_limit_sim" if model == IMPLICIT else "effort_limit"]
    if model == "RemotizedPDActuator":
        numbers = list(largest.values()) if hasattr(largest, "values") else largest
        of_solver = [configs.MaxEffortClampingConfig(largest)] if np.isfinite(numbers).any() else []
        return controller, [configs.PositionBasedClampingConfig(*_table(cfg)), *of_solver], []
    if model in DC_MOTORS:
        curve = configs.DCMotorClampingConfig(values["saturation_effort"], values["velocity_limit"], largest)
        return controller, [curve], []
    return controller, [configs.MaxEffortClampingConfig(largest)], []


def motor_of_group(cfg: object, resolved: Resolved) -> MotorConfig:
    """Return an explicit group as a motor, with the largest delay; values that differ between joints are dictionaries.

    Its efforts are no larger than the solver's limit.
    """
    of_joints = {
        field: values[0, 0].item()
        if (values == values[0, 0]).all()
        else dict(zip(map(re.escape, resolved.names), values[0].tolist(), strict=True))
        for field, values in resolved.cut.values.items()
    }
    controller, limits, others = configs_of(cfg, resolved.model, of_joints)
    longest = delay_range(cfg, resolved)[1]
    return MotorConfig(controller, limits, configs.DelayConfig(longest) if longest else None, others=others)


def metadata_of(cfg: Cfg, model: str) -> dict[str, object]:
    """Return the metadata of a network in a cfg, in the format of files; ValueError if a normalization is none."""
    if model == "ActuatorNetGRU":
        inputs = _normalization(cfg, _COLUMNS)
        targets = _normalization(cfg, {"output_normalization": "torque"})
        return {"input_columns": [*_COLUMNS.values()], "normalization": {"inputs": inputs, "targets": targets}}
    if model != "ActuatorNetMLP":
        return {}
    metadata = {name: getattr(cfg, name) for name in ("pos_scale", "vel_scale", "input_order")}
    # cfgs of Isaac Lab have no such field, and its models fill with zeros
    metadata["history_fill"] = getattr(cfg, "history_fill", "zeros")
    return metadata | {"effort_scale": cfg.torque_scale, "input_idx": [int(steps) for steps in cfg.input_idx]}


def not_in_network(cfg: Cfg, model: str) -> list[str]:
    """Return the names of the metadata of a network that the cfg has, and its file has not or otherwise."""
    wanted = metadata_of(cfg, model)
    try:
        has = load_metadata(cfg.network_file)
    except NetworkError:
        # a file without metadata may not fit their defaults
        load_checkpoint(cfg.network_file, wanted)
        return list(wanted)
    # no field, no normalization
    defaults = metadata_of(object(), "ActuatorNetGRU")
    has = {"effort_scale": has.get("torque_scale"), "history_fill": "zeros"} | defaults | has
    return [name for name, value in wanted.items() if has.get(name) != value]


def _normalization(cfg: object, fields: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return means and deviations of fields of a cfg, by their names in the metadata of a network."""
    found: dict[str, dict[str, float]] = {"mean": {}, "std": {}}
    for field, name in fields.items():
        given = (0.0, 1.0) if getattr(cfg, field, None) is None else getattr(cfg, field)
        numbers = np.ravel(np.asarray(given, float))
        if numbers.shape != (2,) or not np.isfinite(numbers).all():
            raise ValueError(
                f"{type(cfg).__name__}: {field} = {given!r}: must be mean and standard deviation, or None. Correct it."
            )
        found["mean"][name], found["std"][name] = numbers[0].item(), max(numbers[1].item(), _SMALLEST_STD)
    return found


def _table(cfg: Cfg) -> tuple[list[float], list[float]]:
    given = cfg.joint_parameter_lookup
    rows = np.asarray(given.tolist() if hasattr(given, "tolist") else given, float)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(
            f"{type(cfg).__name__}: joint_parameter_lookup has shape {rows.shape}: must be (points, 3), rows of "
            "position, transmission ratio and largest effort. Correct the table."
        )
    return rows[:, 0].tolist(), rows[:, 2].tolist()
