"""Torque-speed envelopes as data: the published models behind the constructors, what is refused, and files."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from refusals import cases, refused

EXAMPLES = {
    "dc": aa.EnvelopeClampingConfig.from_dc_motor(60.0, 9.0, 40.0, nominal_voltage=24.0),
    "unitree": aa.EnvelopeClampingConfig.from_unitree(13.5, 30.0, 20.25, 23.5),
    "physx": aa.EnvelopeClampingConfig.from_physx(40.0, 1.0, 20.0, 0.25),
    "power": aa.EnvelopeClampingConfig(max_power=500.0),
    "jump": aa.EnvelopeClampingConfig([-1.0, 0.0, 0.0, 4.0], [8.0, 8.0, 6.0, -2.0]),
}


def in_table(config: aa.EnvelopeClampingConfig, velocities: np.ndarray) -> np.ndarray:
    return np.interp(velocities, config.lookup_velocities, config.lookup_efforts)


@pytest.mark.parametrize("inductance", [0.0, 1e-4, 2e-3])
def test_pmsm_is_on_its_voltage_circle(inductance) -> None:
    flux, poles, resistance, voltage, gear = 0.005, 14, 0.1, 24.0, 6.0
    config = aa.EnvelopeClampingConfig.from_pmsm(flux, poles, resistance, inductance, voltage, 60.0, gear_ratio=gear)
    velocities, efforts = np.array(config.lookup_velocities), np.array(config.lookup_efforts)
    current, speed = efforts / (1.5 * poles * flux * gear), velocities * gear * poles
    square = (resistance * current + speed * flux) ** 2 + (speed * inductance * current) ** 2
    free = (current < 60.0 * (1 - 1e-9)) & (velocities > 0)
    assert 10 < free.sum() < len(free)
    np.testing.assert_allclose(square[free], voltage**2 / 3, rtol=1e-9)
    assert (square[~free & (velocities >= 0)] <= voltage**2 / 3 * (1 + 1e-9)).all()
    assert config.no_load_velocity == pytest.approx(voltage / math.sqrt(3) / (flux * poles * gear))
    line = config.stall_effort * (1 - velocities / config.no_load_velocity)
    assert (efforts <= line + 1e-9).all()
    if inductance == 0.0:
        np.testing.assert_allclose(efforts[free], line[free], atol=1e-9)


@cases(
    "limits",
    (20.0, 0.5, 30.0, 2.0),
    (20.0, 2.0, 100.0, 0.0),
    (20.0, 0.0, 3.0, 0.0),
    (20.0, 0.0, math.inf, 0.0),
    (20.0, 1.0, math.inf, 0.0),
    (20.0, 1.0, math.inf, 3.0),
    (20.0, 3.0, 4.0, 0.0),
    (20.0, 0.1, 16.0, 0.5),
    (50.0, 3.0, 20.0, 0.5),
    (math.inf, 0.0, 20.0, 0.5),
    (20.0, 1.0, 20.0, 1.0),
)
def test_physx_is_the_lower_of_two_lines(limits) -> None:
    most, resistance, fastest, gradient = limits
    config = aa.EnvelopeClampingConfig.from_physx(*limits)
    speeds = np.concatenate([np.linspace(0.0, 25.0, 501) + 1e-4, -np.linspace(0.0, 25.0, 501) - 1e-4])
    with np.errstate(divide="ignore", invalid="ignore"):
        left = fastest - np.abs(speeds)
        by_speed = np.where(gradient > 0, left / gradient, np.where(left > 0, np.inf, 0.0))
    expected = np.maximum(0.0, np.minimum(most - resistance * np.abs(speeds), by_speed))
    np.testing.assert_allclose(in_table(config, speeds), expected, atol=1e-9)
    again = aa.EnvelopeClampingConfig.from_physx(*config.to_physx())
    np.testing.assert_allclose(in_table(again, speeds), expected, atol=1e-4)


@pytest.mark.parametrize("name", ["dc", "unitree", "power", "jump"])
def test_other_envelopes_are_none_of_physx(name) -> None:
    refused(ValueError, EXAMPLES[name].to_physx, r"must be a table of PhysX's form.*Run it as an actuator")


def test_envelope_without_limits_has_no_table() -> None:
    assert aa.EnvelopeClampingConfig.from_physx() == aa.EnvelopeClampingConfig()
    assert aa.EnvelopeClampingConfig().to_physx() == (math.inf, 0.0, math.inf, 0.0)


@cases(
    "make, message",
    (lambda: aa.EnvelopeClampingConfig([0.0], []), "lookup_velocities has 1 values, lookup_efforts 0"),
    (lambda: aa.EnvelopeClampingConfig([1.0, 0.0], [1.0, 1.0]), r"lookup_velocities\[1\] = 0.0 comes after 1.0"),
    (lambda: aa.EnvelopeClampingConfig([0.0], [math.nan]), "lookup_efforts = "),
    (lambda: aa.EnvelopeClampingConfig([-1.0, 1.0], [-1.0, 1.0]), r"lookup_efforts\[0\] = -1.0 at velocity -1.0"),
    (lambda: aa.EnvelopeClampingConfig([-9.0, -1.0, 9.0], [1.0, 4.0, -2.0]), r"lookup_efforts\[2\] = -2.0 .* least -1"),
    (lambda: aa.EnvelopeClampingConfig.from_unitree(30.0, 30.0, 20.0), "full_effort_velocity = 30.0: must be below"),
    (lambda: aa.EnvelopeClampingConfig.from_unitree(-1.0, 30.0, 20.0), "full_effort_velocity = -1.0: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_unitree(1.0, 30.0, 20.0, math.nan), "braking_effort = nan: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_dc_motor(0.0, 9.0), "stall = 0.0: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_dc_motor(9.0, math.inf), "no_load_velocity = inf: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_pmsm(0.0, 14, 0.1, 0.0, 24.0, 9.0), "flux_linkage = 0.0: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_pmsm(0.1, 14, 0.1, -1.0, 24.0, 9.0), "inductance = -1.0: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_physx(-1.0), "max_force = -1.0: must be"),
    (lambda: aa.EnvelopeClampingConfig.from_physx(math.inf, 0.0, 9.0), "max_force = inf: must be finite where only"),
)
def test_what_is_refused(make, message) -> None:
    refused(ValueError, make, f"^EnvelopeClampingConfig.*{message}")


def test_bounds_are_those_where_it_drives() -> None:
    assert EXAMPLES["unitree"].bounds("speed") == {"no_load_velocity": 30.0}
    bounds = EXAMPLES["unitree"].bounds("effort")
    assert (bounds["lookup_efforts"], bounds["max_driving_effort"]) == (23.5, 20.25)
    assert "lookup_efforts" not in EXAMPLES["power"].bounds("effort")


def test_line_without_stall_effort_is_idle() -> None:
    idle = aa.EnvelopeClampingConfig(no_load_velocity=9.0, nominal_voltage=24.0).idle()
    assert sorted(idle) == ["no_load_velocity", "nominal_voltage"] and EXAMPLES["dc"].idle() == {}
