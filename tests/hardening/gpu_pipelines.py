"""Pipelines for `gpu.py`: each law of the catalogue in at least one, with numbers with which it acts."""

from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
from isaacsim.core.experimental.actuators.files.networks import safetensors
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.networks.network import (
    GRUCell,
    Linear,
    LSTMCell,
    Network,
    Operation,
    Unary,
)

Motors = dict[str, list[Any]]
"""Stages by pattern of joint names."""

JOINTS = [f"{joint}_{leg}" for leg in range(2) for joint in ("haa", "hfe", "kfe")]
EACH = ".*"
INERTIA = 0.05
PD, PID = aa.PDControlConfig(60.0, 2.0), aa.PIDControlConfig(60.0, 20.0, 2.0, 0.3)
MOTOR = [aa.DCMotorClampingConfig(40.0, 6.0, 30.0), aa.MaxEffortClampingConfig(20.0)]
# of a motor behind a gear
SMALL = [aa.PDControlConfig(1.0, 0.02), aa.MaxEffortClampingConfig(0.6)]
COIL = {"torque_constant": 0.4, "resistance": 0.5}
WINDING = aa.ElectricalConfig(**COIL, voltage=24.0, max_current=40.0)
DRIVEN = aa.ElectricalConfig(**COIL, command="voltage")
SERVO = {"kp": 32.0, "error_gain": 0.15, "voltage": 12.0}
FRICTION = {"coulomb": 0.5, "viscous": 0.05, "static": 0.8, "assumed_inertia": INERTIA}
LOADS = {
    **{"motor_load": 0.2, "external_load": 0.03, "stribeck_motor_load": 0.15, "stribeck_external_load": 0.08},
    **{"quadratic_motor_load": 0.01, "quadratic_external_load": 0.005, "stribeck_exponent": 1.7},
}
BRISTLES = {"bristle_stiffness": 500.0, "bristle_damping": 7.0, "coulomb": 0.5, "static": 0.8}
SPRING = {"rotor_inertia": 3e-5, "stiffness": 80.0, "damping": 0.2, "assumed_inertia": INERTIA}
HEAT = {"winding_capacity": 3.0, "winding_resistance": 2.0, "derating_start": 26.0}
ANKLE = {"crank": 0.05, "rod": 0.3, "anchor": (-0.05, 0.04, -0.02), "motor": (0.0, 0.04, 0.28)}
WIDE = {"lower": (-0.6, -0.4), "upper": (0.6, 0.4)}
HIDDEN, LAYERS = 8, 2


def linked(pair: tuple[aa.LinkageConfig, aa.LinkageConfig], *stages) -> Motors:
    """Two joints of one leg moved together; the third has a motor of its own."""
    return {"haa_0": [*stages, pair[0]], "hfe_0": [*stages, pair[1]], "kfe_0": [PD, *MOTOR]}


# by the config of a law and the name of the case: stages of all joints, or stages by pattern
CASES: dict[type, dict] = {
    aa.PDControlConfig: {"alone": [PD], "motor": [PD, *MOTOR]},
    aa.PIDControlConfig: {"motor": [PID, *MOTOR]},
    aa.GearedPDControlConfig: {"motor": [aa.GearedPDControlConfig(0.6, 0.02, 10.0), *MOTOR]},
    aa.GearedPIDControlConfig: {"motor": [aa.GearedPIDControlConfig(0.6, 0.2, 0.02, 0.3, 10.0), *MOTOR]},
    aa.SlewedPIDControlConfig: {"motor": [aa.SlewedPIDControlConfig(6.0, 2.0, 0.2, 1.5, 0.3), *MOTOR]},
    aa.StartupPDControlConfig: {"motor": [aa.StartupPDControlConfig(6.0, 0.2, 0.5), *MOTOR]},
    aa.ServoControlConfig: {
        "plain": [aa.ServoControlConfig(**SERVO), DRIVEN],
        "profile": [
            aa.ServoControlConfig(
                **SERVO,
                **{"kd": 0.01, "min_duty": 0.02, "deadband": 0.01, "max_duty": 0.9, "max_duty_rate": 50.0},
                **{"profile_velocity": 6.0, "profile_acceleration": 80.0},
            ),
            DRIVEN,
        ],
    },
    aa.ElectricalConfig: {
        "effort": [PD, WINDING],
        "inductance": [PD, aa.ElectricalConfig(**COIL, inductance=2e-3, voltage=24.0, max_current_rate=4000.0)],
        "shorted": [PD, aa.ElectricalConfig(**COIL, driver="shorted")],
        "mujoco": [PD, aa.ElectricalConfig(**COIL, inductance=2e-3, voltage=24.0, discretization="mujoco")],
    },
    aa.DCMotorClampingConfig: {"alone": [PD, MOTOR[0]]},
    aa.DCMotorCutoffClampingConfig: {"alone": [PD, aa.DCMotorCutoffClampingConfig(40.0, 6.0, 30.0)]},
    aa.PositionBasedClampingConfig: {"alone": [PD, aa.PositionBasedClampingConfig([-1.0, 0.0, 1.0], [9.0, 25.0, 5.0])]},
    aa.EnvelopeClampingConfig: {
        "table": [PD, aa.EnvelopeClampingConfig([-2.0, 0.0, 0.0, 3.0], [9.0, 9.0, 5.0, 2.0], max_power=6.0)],
        "voltage": [
            PD,
            aa.EnvelopeClampingConfig(stall_effort=30.0, no_load_velocity=4.0, nominal_voltage=24.0, max_power=40.0),
            WINDING,
            aa.SupplyConfig(24.0, resistance=0.2, min_voltage=6.0),
        ],
    },
    aa.MaxEffortClampingConfig: {"alone": [PID, MOTOR[1]]},
    aa.ThermalConfig: {
        "winding": [
            PD,
            aa.ElectricalConfig(**COIL, voltage=24.0, temperature_coefficient=0.00393, magnet_coefficient=0.001),
            MOTOR[1],
            aa.ThermalConfig(**HEAT, housing_capacity=20.0, housing_resistance=3.0, max_temperature=40.0),
        ],
        "winding in the cold": [
            PD,
            aa.ElectricalConfig(**COIL, voltage=24.0, temperature_coefficient=0.00393, magnet_coefficient=0.001),
            aa.ThermalConfig(**HEAT, ambient=-10.0, max_temperature=40.0),
        ],
        "constant": [PD, MOTOR[1], aa.ThermalConfig(**HEAT, motor_constant=0.5, max_temperature=60.0, reset="kept")],
    },
    aa.SupplyConfig: {
        "power": [PD, WINDING, aa.SupplyConfig(24.0, resistance=0.02, min_voltage=6.0, regeneration=True)],
        "sag": [PD, WINDING, aa.SupplyConfig(24.0, sag=0.05, min_voltage=6.0)],
    },
    aa.TransmissionConfig: {
        "joint targets": [*SMALL, aa.TransmissionConfig(-30.0, 0.4)],
        "motor targets": [*SMALL, aa.TransmissionConfig(30.0, 0.4, "motor")],
        "losses": [*SMALL, aa.TransmissionConfig(30.0, efficiency=0.8, backdriving_efficiency=0.75)],
    },
    aa.ElasticTransmissionConfig: {
        "spring": [*SMALL, aa.ElasticTransmissionConfig(-30.0, offset=0.4, **SPRING)],
        "backlash": [*SMALL, aa.ElasticTransmissionConfig(30.0, **SPRING, backlash=0.02, rotor_damping=1e-5)],
    },
    aa.LinkageConfig: {
        "differential": linked(aa.LinkageConfig.differential("haa_0", "hfe_0"), PD, MOTOR[1]),
        "parallel ankle": linked(aa.LinkageConfig.parallel_ankle("haa_0", "hfe_0", **ANKLE, **WIDE), PD, MOTOR[1]),
        "four bar": {"kfe_0": [PD, MOTOR[1], aa.LinkageConfig.four_bar("kfe_0", 0.05, 0.2, 0.06, 0.2, 0.7, 2.5)]},
        "with gears and friction": linked(
            aa.LinkageConfig.parallel_ankle("haa_0", "hfe_0", **ANKLE, **WIDE),
            *(aa.PIDControlConfig(1.0, 0.3, 0.02, 0.3), aa.DelayConfig(2), aa.MaxEffortClampingConfig(0.6)),
            *(aa.ThermalConfig(**HEAT, motor_constant=0.5), aa.TransmissionConfig(20.0)),
            aa.FrictionConfig(**FRICTION),
        ),
    },
    aa.CoggingConfig: {"alone": [PD, aa.CoggingConfig(0.3, 6.0, 0.4)]},
    aa.FrictionConfig: {
        "levels": [PD, aa.FrictionConfig(**FRICTION)],
        "loads": [PD, aa.FrictionConfig(**FRICTION, **LOADS)],
        "passive joint": [aa.FrictionConfig(**FRICTION)],
    },
    aa.FrictionCurveConfig: {"alone": [PD, aa.FrictionCurveConfig([0.0, 0.5, 2.0], [0.8, 0.5, 0.9], INERTIA)]},
    aa.LuGreFrictionConfig: {
        "own": [PD, aa.LuGreFrictionConfig(**BRISTLES, viscous=0.05, assumed_inertia=INERTIA)],
        "mujoco": [PD, aa.LuGreFrictionConfig(**BRISTLES, assumed_inertia=INERTIA, mujoco_discretization=True)],
    },
    aa.EncoderConfig: {
        "late and coarse": [PD, aa.EncoderConfig(resolution=0.001, latency=0.008, velocity_filter=0.01)]
    },
    aa.TimedDelayConfig: {"random": [PD, aa.TimedDelayConfig(seconds=0.007, random_steps=2), *MOTOR]},
    aa.RateConfig: {"some steps": [PID, aa.RateConfig(decimation=3), *MOTOR]},
    aa.EffortDelayConfig: {"fraction": [PD, aa.EffortDelayConfig(seconds=0.008), *MOTOR]},
    aa.ImplicitConfig: {
        "limits": [PID, *MOTOR, aa.ImplicitConfig(INERTIA)],
        "friction": [PD, *MOTOR, aa.FrictionConfig(**FRICTION), aa.ImplicitConfig(INERTIA)],
        "slewed": [aa.SlewedPIDControlConfig(600.0, 20.0, 20.0, 1.5, 0.3), MOTOR[1], aa.ImplicitConfig(INERTIA)],
    },
    aa.DelayConfig: {
        "some": {"haa_.*": [PD, aa.DelayConfig(3)], "hfe_.*": [PID, aa.DelayConfig(1), *MOTOR], "kfe_.*": [PD, *MOTOR]}
    },
}
MIXED: dict[str, Motors] = {
    "some joints": {"kfe_.*": [PID, *MOTOR, aa.DelayConfig(2)]},
    "all kinds": {
        "haa_0": [PD, WINDING, MOTOR[1], aa.ThermalConfig(**HEAT), aa.SupplyConfig(24.0, resistance=0.02)],
        "hfe_0": [*SMALL, aa.ElasticTransmissionConfig(30.0, **SPRING), aa.FrictionConfig(**FRICTION, **LOADS)],
        "kfe_0": [aa.ServoControlConfig(**SERVO), DRIVEN, aa.CoggingConfig(0.3, 6.0), aa.DelayConfig(2)],
        "haa_1": [PID, *MOTOR, aa.LuGreFrictionConfig(**BRISTLES, assumed_inertia=INERTIA)],
        "hfe_1": [*SMALL, aa.TransmissionConfig(-30.0), aa.FrictionCurveConfig([0.0, 1.0], [0.8, 0.5], INERTIA)],
    },
}


def network(kind: str) -> Network:
    """A network with random weights of the size that actuators have."""
    numbers = np.random.default_rng([3, *kind.encode()])

    def drawn(*shape: int) -> np.ndarray:
        return numbers.normal(scale=0.4, size=shape).astype(np.float32)

    if kind == "mlp":
        first, second = Linear(0, drawn(32, 6), drawn(32)), Linear(2, drawn(32, 32), drawn(32))
        return Network(
            6, (first, Unary("softsign", 1), second, Unary("softsign", 3), Linear(4, drawn(1, 32), drawn(1)))
        )
    operations: list[Operation] = []
    for layer in range(LAYERS):
        rows = HIDDEN * (4 if kind == "lstm" else 3)
        weights = drawn(rows, HIDDEN if layer else 2), drawn(rows, HIDDEN)
        biases = (drawn(rows),) if kind == "lstm" else (drawn(rows), drawn(rows))
        cell = LSTMCell if kind == "lstm" else GRUCell
        operations.append(cell(layer, layer, *weights, *biases))
    return Network(2, (*operations, Linear(LAYERS, drawn(1, HIDDEN), drawn(1))))


def networks(folder: Path) -> dict[str, list]:
    """Stages with a network of each kind, whose files are written into a folder."""
    found = {}
    for law in catalogue.LAWS:
        for kind in law.by_network:
            about = {"model_type": kind, "effort_scale": 20.0} | ({"input_idx": [0, 1, 2]} if kind == "mlp" else {})
            file = folder / f"{kind}.safetensors"
            file.write_bytes(safetensors.write(network(kind), about))
            found[kind] = [aa.NeuralControlConfig(str(file)), *MOTOR]
    return found


def pipelines(folder: Path) -> dict[str, Motors]:
    """Motors by the name of the pipeline, those of each law in the order of the catalogue.

    Raises:
        LookupError: A law of the catalogue is in none.
    """
    cases = CASES | {aa.NeuralControlConfig: networks(folder)}
    found: dict[str, Motors] = {}
    for law in catalogue.LAWS:
        if not (law.name or law.by_network):
            continue
        if law.config not in cases:
            raise LookupError(f"{law.config.__name__} is in no pipeline. Add a line to CASES.")
        for name, stages in cases[law.config].items():
            found[f"{law.config.__name__.removesuffix('Config')}, {name}"] = (
                stages if isinstance(stages, dict) else {EACH: stages}
            )
    return found | MIXED
