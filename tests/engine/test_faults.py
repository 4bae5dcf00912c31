"""Faults are told: by a warning of the first one, by an error where each step would be one, and in their words."""

import dataclasses

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.laws.contract.catalogue import laws
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from one_inertia import signals_of
from refusals import refused

DT = 0.005
PD = aa.PDControlConfig(10.0, 1.0)
NEEDING = {
    "FrictionConfig": aa.FrictionConfig(coulomb=0.2),
    "FrictionCurveConfig": aa.FrictionCurveConfig([0.0, 1.0], [0.2, 0.3]),
    "LuGreFrictionConfig": aa.LuGreFrictionConfig(bristle_stiffness=1e3, coulomb=0.2, static=0.2),
    "ElasticTransmissionConfig": aa.ElasticTransmissionConfig(ratio=2.0, stiffness=100.0, rotor_inertia=1e-3),
    "BrakeConfig": aa.BrakeConfig(torque=0.2, engaged=True),
    "ShaftFrictionConfig": aa.ShaftFrictionConfig(coulomb=0.2),
    "ShaftInertiaConfig": aa.ShaftInertiaConfig(0.1),
    "ImplicitConfig": aa.ImplicitConfig(),
}


def legs(*stages, num_robots: int = 1) -> aa.ActuatedArrays:
    return aa.ActuatedArrays(["hip", "knee"], {"hip": [PD], "knee": [PD, *stages]}, num_robots)


def step(leg: aa.ActuatedArrays, velocity: float = 0.0) -> np.ndarray:
    q, qd, target = np.zeros((3, leg.num_robots, 2), np.float32)
    target[:], qd[:, 1] = 1.0, velocity
    return np.array(leg.step(q, qd, target, DT))


def test_each_law_that_assumes_an_inertia_is_here() -> None:
    assert {law.config.__name__ for law in laws() if "assumed_inertia" in law.parameters} == set(NEEDING)


@pytest.mark.parametrize("config", NEEDING)
def test_arrays_without_an_inertia_refuse_the_first_step(config) -> None:
    """Each step would be a fault; with an inertia, given or assumed, none is."""
    leg = legs(NEEDING[config])
    for _ in range(2):
        refused(ValueError, lambda: step(leg), f"Joints knee: {config} needs .*assumed_inertia=.*set_mass_matrix")
    leg.set_mass_matrix(np.eye(2))
    assert step(leg).all() and not leg.faults
    assumed = legs(dataclasses.replace(NEEDING[config], assumed_inertia=0.1))
    assert step(assumed).all() and not assumed.faults


def test_law_that_takes_no_inertia_needs_none() -> None:
    lu_gre = legs(dataclasses.replace(NEEDING["LuGreFrictionConfig"], mujoco_discretization=True))
    assert step(lu_gre).all() and not lu_gre.faults


def test_first_fault_warns_once(engine_kind) -> None:
    leg = legs(num_robots=3)
    assert engine_kind in leg.engine
    step(leg)
    with pytest.warns(UserWarning, match="robot 0: knee: velocity not finite in step 1: it got no effort then. So did"):
        efforts = step(leg, np.nan)
    np.testing.assert_array_equal(efforts, [[10.0, 0.0]] * 3)
    step(leg, np.nan)
    leg.reset()
    step(leg, np.nan)
    assert len(leg.faults) == 3


def test_fault_names_the_signal_that_is_missing(engine_kind) -> None:
    leg = legs(aa.FrictionConfig(coulomb=0.2))
    leg.set_mass_matrix(np.eye(2))
    step(leg)
    assert not leg.faults
    signals = signals_of(leg)
    for array in (*signals["inertia"], *signals.get("coupled_inertia", [])):
        array[:] = 0
    with pytest.warns(UserWarning, match="knee: effort not finite .* FrictionConfig needs the effective inertia"):
        step(leg)
    (fault,) = leg.faults
    assert "inertia" in fault.signals and "assumed_inertia=" in fault.cause and "in_engine=True" in fault.cause
    leg.reset()
    leg.set_mass_matrix(np.eye(2))
    for array in signals_of(leg)["load"]:
        array[:] = np.nan
    step(leg)
    (fault,) = leg.faults
    assert fault.inputs == ("signal",) and fault.signals == ("load",) and "gravity" in fault.cause


def test_wrapper_whose_host_tells_no_inertia_is_refused() -> None:
    host = ArraysHost(["knee"])
    with aa.use_host(host):
        kept = aa.ArticulationActuators.from_configs("/Robot", {"knee": [PD, aa.FrictionConfig(coulomb=0.2)]})
        refused(HostError, host.play, r"ArrayArticulation tells no inertia of joints. Joints knee: Friction")
        refused(HostError, lambda: kept.step_actuators(DT), "tells no inertia")


def test_tables_of_a_recording_count_faults() -> None:
    leg = legs(aa.FrictionConfig(coulomb=0.2, assumed_inertia=0.1), num_robots=2)
    with leg.record() as log:
        step(leg)
        step(leg, np.nan)
    for table in (log.saturation(), log.friction()):
        assert str(table).endswith("faults: 2 of 4 joints, which got no effort in such steps, first knee of robot 0")
    leg.reset()
    with leg.record() as log:
        step(leg)
    assert not log.saturation().note and str(log.saturation()) == "no effort was limited"
