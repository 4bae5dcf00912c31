"""Effort envelopes: the bounds of each clamp and of all, from the plan itself, and their plots."""

import dataclasses

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.tools.plots.envelope import draw_envelope
from isaacsim.core.experimental.actuators.tools.trials.envelope import envelope
from places import ROBOTS

STALL, FREE, PEAK, LIMIT = 120.0, 9.0, 100.0, 80.0


def leg(*clamps, robots: int = 1) -> aa.ActuatedArrays:
    return aa.ActuatedArrays(["hip", "knee"], {".*": [aa.PDControlConfig(80.0, 2.0), *clamps]}, num_robots=robots)


def test_motor_with_a_limit() -> None:
    found = envelope(leg(aa.DCMotorClampingConfig(STALL, FREE, PEAK), aa.MaxEffortClampingConfig(LIMIT)), "knee")
    v = found.velocities
    motor = np.clip([STALL * (-1 - v / FREE), STALL * (1 - v / FREE)], -PEAK, PEAK)
    np.testing.assert_allclose(found.clamps["ClampingDCMotor"], motor, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(found.clamps["ClampingMaxEffort"], [[-LIMIT] * len(v), [LIMIT] * len(v)])
    np.testing.assert_allclose(found.whole, np.clip(motor, -LIMIT, LIMIT), rtol=1e-5, atol=1e-4)
    assert found.stall_effort == LIMIT and found.corner_speed == pytest.approx(FREE * (1 - LIMIT / STALL), abs=1e-3)
    assert found.no_load_speed == pytest.approx(FREE, abs=1e-3)
    # up to the last change: full effort against the motion
    assert v[-1] == pytest.approx(1.15 * FREE * (1 + LIMIT / STALL), rel=0.02)


@pytest.mark.parametrize("targets", ["joint", "motor"])
def test_geared_motor_is_seen_from_the_joint(targets) -> None:
    ratio, table = -20.0, aa.PositionBasedClampingConfig([-1.0, 1.0], [LIMIT, 2 * LIMIT])
    motor = [aa.DCMotorClampingConfig(STALL / 20, FREE * 20, PEAK / 20), aa.MaxEffortClampingConfig(LIMIT / 20)]
    found = envelope(leg(*motor, table, aa.TransmissionConfig(ratio, 0.4, targets)), "knee")
    plain = envelope(leg(aa.DCMotorClampingConfig(STALL, FREE, PEAK), aa.MaxEffortClampingConfig(LIMIT), table), "knee")
    np.testing.assert_allclose(found.velocities, plain.velocities, rtol=1e-6)
    np.testing.assert_allclose(found.whole, plain.whole, rtol=1e-5, atol=1e-4)
    assert found.clamps.keys() == plain.clamps.keys()
    for name, bounds in plain.clamps.items():
        np.testing.assert_allclose(found.clamps[name], bounds, rtol=1e-5, atol=1e-4, err_msg=name)
    np.testing.assert_allclose(found.over_position, plain.over_position, rtol=1e-5)
    panel = draw_envelope(found).axes[0]
    assert "at the joint, behind a gear of ratio -20" in panel.get_title("left") and found.ratio == ratio


def test_motor_that_is_cut_off() -> None:
    found = envelope(leg(aa.DCMotorCutoffClampingConfig(LIMIT, FREE, LIMIT)), "hip")
    assert (found.stall_effort, found.corner_speed) == (LIMIT, 0.0)
    assert found.no_load_speed == pytest.approx(FREE, abs=1e-3)
    assert (found.whole[1][found.velocities > FREE] == 0).all()


def test_envelope_of_both_sides() -> None:
    found = envelope(leg(aa.EnvelopeClampingConfig.from_unitree(13.5, 30.0, 20.25, 23.5)), "knee")
    v = found.velocities
    expected = np.interp(v, [-30.0, -13.5, -1e-9, 0.0, 13.5, 30.0], [0.0, 23.5, 23.5, 20.25, 20.25, 0.0])
    moving = np.abs(v) > 1e-6
    np.testing.assert_allclose(found.whole[1][moving], expected[moving], atol=1e-4)
    np.testing.assert_allclose(found.whole[0][moving], -expected[::-1][moving], atol=1e-4)
    assert found.no_load_speed == pytest.approx(30.0, abs=1e-2) and draw_envelope(found).axes


def test_table_of_positions_is_drawn_over_them() -> None:
    table = aa.PositionBasedClampingConfig([-2.0, 0.0, 2.0], [10.0, 30.0, 10.0])
    found = envelope(leg(table), "knee", limits=(-1.0, 3.0))
    assert found.position == 1.0 and (found.whole[1] == 20.0).all()
    np.testing.assert_allclose(found.over_position[1], np.interp(found.positions, [-2, 0, 2], [10, 30, 10]), rtol=1e-5)
    assert (found.positions[0], found.positions[-1]) == (-1.0, 3.0)
    drawn = draw_envelope(found)
    assert [panel.get_xlabel() for panel in drawn.axes] == ["velocity [rad/s or m/s]", "position [rad or m]"]
    slides = draw_envelope(dataclasses.replace(found, turns=False))
    assert [panel.get_xlabel() for panel in slides.axes] == ["velocity [m/s]", "position [m]"]
    assert [panel.get_ylabel() for panel in slides.axes] == ["effort [N]", "effort [N]"]


def test_parameters_are_those_of_the_robot_now() -> None:
    legs = leg(aa.MaxEffortClampingConfig(LIMIT), aa.DelayConfig(2), robots=3)
    clamp = legs.actuators[0].clamping[0]
    limits = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    clamp.max_effort.assign(limits.ravel())
    for robot, values in enumerate(limits):
        for joint, limit in zip(["hip", "knee"], values, strict=True):
            assert envelope(legs, joint, robot=robot).stall_effort == limit
    np.testing.assert_array_equal(clamp.max_effort.numpy(), limits.ravel())
    assert envelope(legs, "hip", dt=0.01).delay == pytest.approx(0.02)
    with pytest.raises(ValueError, match="robot = 3: must be below 3"):
        envelope(legs, "hip", robot=3)


@pytest.mark.parametrize("in_engine", [False, True])
def test_effort_mode_does_not_change_the_envelope(in_engine: bool) -> None:
    """Not even of an inertia that nobody tells."""
    limit = aa.DCMotorClampingConfig(STALL, FREE, PEAK)
    with aa.Simulation(ROBOTS / "arm_2dof.usda") as sim:
        sim.play()
        found = []
        for mode in ([], [aa.ImplicitConfig(in_engine=in_engine)]):
            motors = {"shoulder": [aa.PDControlConfig(80.0, 2.0), limit, *mode]}
            with driven("/World/Arm", motors) as actuators:
                found.append(envelope(actuators, "shoulder"))
    assert found[1].stall_effort == found[0].stall_effort == PEAK
    np.testing.assert_array_equal(found[1].whole, found[0].whole)
    assert found[1].clamps.keys() == {"ClampingDCMotor"}


def test_motor_of_a_linkage_has_none_at_a_joint() -> None:
    tendon = [aa.PDControlConfig(2.0, 0.1), aa.LinkageConfig.tendon({"hip": 1.0, "knee": 0.5})]
    legs = aa.ActuatedArrays(["hip", "knee"], {"hip": tendon})
    for joint in ("hip", "knee"):
        with pytest.raises(ValueError, match=f"joint = '{joint}': must have a motor of its own, and a linkage moves"):
            envelope(legs, joint)


def test_motor_without_clamps_has_no_bounds() -> None:
    found = envelope(leg(), "knee")
    assert np.isnan(found.whole).all()
    assert (found.stall_effort, found.corner_speed, found.no_load_speed) == (None, None, None)
    assert draw_envelope(found).axes[0].get_title("left") == "Nothing limits its effort; commands act at once"


def test_picture_names_clamps_and_figures() -> None:
    legs = leg(aa.DCMotorClampingConfig(STALL, FREE, PEAK), aa.DelayConfig(3), aa.MaxEffortClampingConfig(LIMIT))
    (panel,) = draw_envelope(envelope(legs, "knee", dt=0.005, drive_limit=90.0)).axes
    said = {text.get_text() for text in panel.texts}
    assert {"envelope", "ClampingDCMotor", "ClampingMaxEffort", "stall effort 80", "corner speed 3"} <= said
    assert "no-load speed 9" in said
    late = "Commands act 3 steps late = 15 ms, 0.13 rad or m at no-load speed"
    assert panel.get_title("left") == f"{late}; limit of the drive it replaces: 90"


@pytest.mark.parametrize("others", [[], [aa.MaxEffortClampingConfig(2 * PEAK)]])
def test_clamp_that_is_all_there_is_gives_its_name_to_the_line(others) -> None:
    """It would cover the whole; a clamp that never limits has a line of its own."""
    found = envelope(leg(aa.DCMotorClampingConfig(STALL, FREE, PEAK), *others), "hip")
    (panel,) = draw_envelope(found).axes
    said = {text.get_text() for text in panel.texts}
    assert "envelope\n= ClampingDCMotor" in said and "ClampingDCMotor" not in said
    assert ("ClampingMaxEffort" in said) == bool(others)
    drawn_lines = [line for line in panel.lines if len(line.get_xdata()) == len(found.velocities)]
    assert len(drawn_lines) == 2 + 2 * len(others)


def test_joint_without_an_actuator_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"joint = 'foot': must be driven by an actuator, one of \['hip', 'knee'\]"):
        aa.plot_envelope(leg(), "foot")
