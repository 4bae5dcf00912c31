"""Envelope: the published laws of Unitree, of a DC motor and of PhysX, and what the supply and heat change."""

import math
from importlib.util import find_spec

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.laws.clamping_envelope import envelope_clamp, envelope_prepare
from isaacsim.core.experimental.actuators.laws.contract.law import generated_kernel
from pxr import UsdPhysics
from small_stages import pendulum

# X1, X2, Y1, Y2 of unitree_rl_lab
UNITREE = {
    "Go2HV": (13.5, 30.0, 20.2, 23.4),
    "N5010-16": (27.0, 41.5, 9.5, 17.0),
    "N5020-16": (30.86, 40.13, 24.8, 31.9),
    "W4010-25": (15.3, 24.76, 4.8, 8.6),
    "N7520-14.3": (22.63, 35.52, 71.0, 83.3),
    "N7520-22.5": (14.5, 22.7, 111.0, 131.0),
    "M107-15": (14.0, 25.6, 150.0, 182.8),
    "M107-24": (8.8, 16.0, 240.0, 292.5),
    "braking below driving": (9.0, 20.0, 30.0, 12.0),
    "from rest on": (0.0, 20.0, 30.0, 30.0),
}


def limited(config: aa.EnvelopeClampingConfig, efforts, velocities) -> np.ndarray:
    efforts, velocities = (np.asarray(values, np.float32) for values in np.broadcast_arrays(efforts, velocities))
    count = len(efforts)
    component = aa.ClampingEnvelope.from_config(config, count, "cpu")
    component.finalize("cpu", count)
    arrays = [wp.array(values, dtype=wp.float32, device="cpu") for values in (efforts, velocities)]
    every = wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
    out = wp.zeros(count, dtype=wp.float32, device="cpu")
    component.modify_forces(arrays[0], out, arrays[1], arrays[1], every, every)
    return out.numpy()


def unitree(effort: np.ndarray, velocity: np.ndarray, limits: tuple[float, float, float, float]) -> np.ndarray:
    """`UnitreeActuator._clip_effort` in float64."""
    x1, x2, y1, y2 = limits
    most = np.where(effort * velocity > 0, y1, y2)
    speed = np.abs(velocity)
    most = np.where(speed < x1, most, np.maximum(0.0, most - most * (speed - x1) / (x2 - x1)))
    return np.clip(effort, -most, most)


@pytest.mark.parametrize("name", UNITREE)
def test_is_that_of_unitree(name, rng) -> None:
    x1, x2, y1, y2 = limits = UNITREE[name]
    corners = np.array([0.0, -0.0, 1e-30, -1e-30, x1, -x1, x2, -x2, 2 * x2, -2 * x2], np.float32)
    velocities = np.concatenate([corners, corners, rng.uniform(-1.2 * x2, 1.2 * x2, 4000).astype(np.float32)])
    efforts = rng.uniform(-2 * max(y1, y2), 2 * max(y1, y2), len(velocities)).astype(np.float32)
    efforts[: len(corners)], efforts[len(corners) : 2 * len(corners)] = 1e4, -1e4
    found = limited(aa.EnvelopeClampingConfig.from_unitree(*limits), efforts, velocities)
    expected = unitree(efforts.astype(np.float64), velocities.astype(np.float64), limits)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(y1, y2), rtol=0)
    assert (found != efforts).any() and (found == efforts).any()


def test_is_that_of_a_dc_motor(rng) -> None:
    stall, no_load, peak = 60.0, 9.0, 40.0
    velocities, efforts = rng.uniform(-30, 30, 4000), rng.uniform(-90, 90, 4000)
    found = limited(aa.EnvelopeClampingConfig.from_dc_motor(stall, no_load, peak), efforts, velocities)
    arrays = [wp.full(4000, value, dtype=wp.float32, device="cpu") for value in (stall, no_load, peak)]
    motor = aa.ClampingDCMotor(*arrays)
    motor.finalize("cpu", 4000)
    given = [wp.array(values, dtype=wp.float32, device="cpu") for values in (efforts, velocities)]
    every = wp.array(np.arange(4000), dtype=wp.uint32, device="cpu")
    out = wp.zeros(4000, dtype=wp.float32, device="cpu")
    motor.modify_forces(given[0], out, given[1], given[1], every, every)
    np.testing.assert_allclose(found, out.numpy(), atol=1e-5)
    assert (np.sign(found) * np.sign(velocities) < 0)[np.abs(velocities) > 9.1].all()


def test_step_of_a_table_is_mirrored_to_the_bit() -> None:
    config = aa.EnvelopeClampingConfig([-2.0, -2.0, 0.0, 0.0, 3.0, 3.0], [1.0, 9.0, 9.0, 5.0, 5.0, 2.0])
    near = [np.nextafter(np.float32(at), np.float32(way)) for at in (-2.0, 3.0) for way in (-9.0, 9.0)]
    velocities = np.array([-9.0, -2.0, -1.0, -1e-30, 0.0, 1e-30, 1.0, 3.0, 9.0, *near], np.float32)
    upper = limited(config, 1e4, velocities)
    np.testing.assert_array_equal(upper[:9], [1, 1, 9, 9, 9, 5, 5, 5, 2])
    np.testing.assert_array_equal(upper[9:], [1, 9, 5, 2])
    np.testing.assert_array_equal(limited(config, -1e4, -velocities), -upper)


def test_power_limits_where_the_effort_drives() -> None:
    velocities = np.array([-20.0, -1.0, 0.0, 1e-30, 1.0, 4.0, 20.0])
    found = limited(aa.EnvelopeClampingConfig([0.0], [50.0], max_power=100.0), 1e4, velocities)
    np.testing.assert_allclose(found, [50, 50, 50, 50, 50, 25, 5], rtol=1e-6)
    opposite = limited(aa.EnvelopeClampingConfig([0.0], [50.0], max_power=100.0), -1e4, velocities)
    np.testing.assert_allclose(opposite, [-5, -50, -50, -50, -50, -50, -50], rtol=1e-6)


def with_signals(derating: float, voltage: float, velocities: np.ndarray) -> np.ndarray:
    """Largest efforts of a DC motor of 60 N·m, 9 rad/s and 24 V, with a peak of 40 N·m, under signals."""
    text = """
def call(v: wp.array[float], derating: float, voltage: float, out: wp.array[float]):
    i = wp.tid()
    stall, factor, volts, power, driving = prepare(60.0, 9.0, 24.0, wp.inf, wp.inf)
    out[i] = law(1.0e4, 0.0, v[i], derating, voltage, stall, factor, volts, power, driving, 40.0, 40.0)
"""
    kernel = generated_kernel("call", text, {"law": envelope_clamp, "prepare": envelope_prepare})
    out = wp.zeros(len(velocities), dtype=wp.float32, device="cpu")
    given = wp.array(velocities, dtype=wp.float32, device="cpu")
    wp.launch(kernel, len(velocities), [given, derating, voltage], [out], device="cpu")
    return out.numpy()


@pytest.mark.parametrize("voltage", [0.0, 6.0, 12.0, 24.0, 36.0])
def test_voltage_shifts_the_line_and_leaves_the_peak(voltage) -> None:
    """`upper_V(v) = upper(v + (1 − V/V_n)·v0)`, exactly."""
    velocities = np.linspace(-40, 40, 801)
    shifted = velocities + (1 - voltage / 24.0) * 9.0
    expected = np.clip(60.0 * (1 - shifted / 9.0), -40.0, 40.0)
    np.testing.assert_allclose(with_signals(1.0, voltage, velocities), expected, atol=1e-4)


def test_derating_scales_the_table() -> None:
    """The line of the voltage stays: a warm motor loses current, not speed."""
    velocities = np.linspace(-20, 20, 401)
    expected = np.clip(60.0 * (1 - velocities / 9.0), -20.0, 20.0)
    np.testing.assert_allclose(with_signals(0.5, math.inf, velocities), expected, atol=1e-4)
    assert (with_signals(0.0, math.inf, velocities) == 0).all()


DT, INERTIA = 1e-3, 0.01 + 0.5**2
LIMITS = [(16.0, 2.0, 100.0, 0.0), (16.0, 0.5, 10.0, 0.5), (16.0, 0.2, 3.0, 0.0), (16.0, 1.0, 7.0, 0.4)]
SPEEDS = np.array([-3.5, -3.1, -2.5, -2.0, -1.0, -0.3, 0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 2.9, 3.5])


def of_physx(limits: tuple[float, float, float, float], dt: float) -> np.ndarray:
    made = pendulum()
    UsdPhysics.Scene(made.stage.GetPrimAtPath("/World/physicsScene")).CreateGravityMagnitudeAttr(0.0)
    most, resistance, fastest, gradient = limits
    with aa.Simulation(made.stage, dt, engine="physx") as sim:
        sim.play()
        robot = sim.articulation("/World/Robot")
        found = []
        for velocity in SPEEDS:
            changes = []
            # without the drive PhysX damps links, too
            for damping in (0.0, 1e6):
                robot.set_dof_gains(0.0, damping)
                robot.set_dof_max_efforts(most)
                robot.set_dof_drive_model_properties(gradient, fastest, resistance)
                robot.set_dof_positions(0.0)
                robot.set_dof_velocities(float(velocity))
                robot.set_dof_velocity_targets(1000.0)
                before = robot.get_dof_velocities().numpy().item()
                sim.step()
                changes.append(robot.get_dof_velocities().numpy().item() - before)
            found.append((changes[1] - changes[0]) * INERTIA / dt)
    return np.array(found)


@pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
@pytest.mark.parametrize("limits", LIMITS)
def test_is_that_of_physx(limits) -> None:
    """To 1e-4 of the largest effort, extrapolated from two step sizes: PhysX takes a velocity within the step."""
    once, half = of_physx(limits, DT), of_physx(limits, DT / 2)
    expected = limited(aa.EnvelopeClampingConfig.from_physx(*limits), 1e4, SPEEDS)
    np.testing.assert_allclose(2 * half - once, expected, atol=1e-4 * limits[0])
