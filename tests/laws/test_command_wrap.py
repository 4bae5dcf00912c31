"""Continuous joints: errors by the shorter way, sides that are kept, encoders that count turns or do not."""

import isaacsim.core.experimental.actuators as aa
import late_reference
import numpy as np
import pytest
from late_reference import on_both
from refusals import cases

P = aa.PDControlConfig(1.0, 0.0)
TURN = 2 * np.pi


def efforts(stages, positions, targets, velocities=0.0) -> np.ndarray:
    columns = np.broadcast_arrays(positions, velocities, targets, 0.0)
    given = [np.array(row, np.float32)[:, None, None] for row in zip(*columns, strict=True)]
    return on_both(["j"], {"j": stages}, given, 0.005)[:, 0, 0]


def test_error_is_the_shorter_way(rng) -> None:
    q, target = rng.uniform(-30, 30, (2, 1, 500, 1)).astype(np.float32)
    given = [[q[0], 0 * q[0], target[0], 0 * q[0]]]
    found = on_both(["j"], {"j": [P, aa.WrapConfig()]}, given, 0.005)[0, :, 0]
    expected = np.remainder(target.astype(float) - q + np.pi, TURN)[0, :, 0] - np.pi
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert np.abs(found).max() <= np.pi + 1e-5 and np.abs(found).max() > 3.1


def test_flag_of_a_controller_is_that_stage(tmp_path) -> None:
    motor = aa.MotorConfig(aa.ServoControlConfig.of("MX"))
    assert motor.others == []
    motor = aa.MotorConfig(aa.PDControlConfig(1.0, 0.0, wrap=True), others=[aa.WrapConfig(period=2.0)])
    assert motor.others == [aa.WrapConfig(period=2.0)] and motor.controller == P
    (tmp_path / "motors.yaml").write_text("j:\n  controller: {law: pd, kp: 1.0, kd: 0.0, wrap: true}\n")
    read = aa.load_motors(tmp_path / "motors.yaml")
    assert read["j"] == aa.MotorConfig(P, others=[aa.WrapConfig()])
    aa.save_motors(tmp_path / "again.yaml", {"j": [aa.PDControlConfig(1.0, 0.0, wrap=True)]})
    assert aa.load_motors(tmp_path / "again.yaml") == read
    q = np.radians(350.0)
    assert efforts([aa.PDControlConfig(1.0, 0.0, wrap=True)], [q], [0.0])[0] == pytest.approx(TURN - q, rel=1e-5)
    with pytest.raises(ValueError, match="wrap = 'yes': must be True or False"):
        aa.MotorConfig(aa.PDControlConfig(1.0, 0.0, wrap="yes"))


def test_without_it_targets_are_literal() -> None:
    """A joint at 350° with a target of 0 turns back."""
    q = np.radians(350.0)
    assert efforts([P], [q], [0.0])[0] == pytest.approx(-q, rel=1e-6)
    assert efforts([P, aa.WrapConfig()], [q], [0.0])[0] == pytest.approx(TURN - q, rel=1e-5)


def test_encoders_need_not_count_turns(rng) -> None:
    path = np.cumsum(rng.normal(scale=0.3, size=300)) + 9.0
    target = path + 0.4 * np.sin(np.arange(300) / 9.0)
    single, folded = (np.remainder(one + np.pi, TURN) - np.pi for one in (path, target))
    wrap = [aa.PDControlConfig(5.0, 0.3), aa.WrapConfig()]
    whole = efforts(wrap, path, target, 0.2)
    for q, goal in ((single, target), (path, folded), (single, folded)):
        np.testing.assert_allclose(efforts(wrap, q, goal, 0.2), whole, rtol=0, atol=1e-4)


def test_side_is_kept_half_a_turn_away() -> None:
    target = np.pi + np.array([-0.004, 0.004, -0.004, 0.009, 0.004, 0.02, 0.004, -0.009, -0.02])
    found = efforts([P, aa.WrapConfig(hysteresis=0.01)], 0.0, target)
    expected = np.where(np.arange(9) < 5, target, target - TURN)
    # it came back over the hysteresis of the other side
    expected[8] = target[8]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    chattering = efforts([P, aa.WrapConfig(hysteresis=0.0)], 0.0, target)
    assert (np.sign(chattering) != np.sign(np.roll(chattering, 1)))[1:].sum() > 3


@cases(
    "stages",
    [aa.PIDControlConfig(5.0, 2.0, 0.3)],
    [aa.GearedPDControlConfig(5.0, 0.3, 1.0)],
    [aa.SlewedPIDControlConfig(5.0, 2.0, 0.3, max_rate=100.0)],
    [aa.StartupPDControlConfig(5.0, 0.3, startup=0.2)],
    [aa.PDControlConfig(5.0, 0.3), aa.TransmissionConfig(7.0, offset=0.4)],
    [aa.PDControlConfig(5.0, 0.3), aa.EncoderConfig(latency_steps=1.5)],
    [
        aa.ServoControlConfig.of("XL330", profile_velocity=3.0),
        aa.ElectricalConfig(torque_constant=0.4, resistance=4.0, command="voltage"),
    ],
    ids=lambda stages: "+".join(type(one).__name__ for one in stages),
)
def test_all_controllers_have_it(stages, rng) -> None:
    steps = np.arange(60)
    q, target = 0.3 * np.sin(steps / 20.0), 0.5 * np.cos(steps / 15.0)
    near = efforts(stages, q, target, 0.1)
    far = efforts([*stages, aa.WrapConfig()], q, target + 2 * TURN, 0.1)
    assert np.abs(near).max() > 0.05
    np.testing.assert_allclose(far, near, rtol=0, atol=2e-4 * max(1.0, np.abs(near).max()))
    assert np.abs(efforts(stages, q, target + 2 * TURN, 0.1) - near).max() > 0.1 * np.abs(near).max()


def test_lag_follows_the_shorter_way() -> None:
    target = np.remainder(3.0 + 0.01 * np.arange(80) + np.pi, TURN) - np.pi
    found = efforts([P, aa.CommandLagConfig(0.02), aa.WrapConfig()], 3.0 + 0.01 * np.arange(80), target)
    assert np.abs(found).max() < 0.06


def test_bad_values_are_refused() -> None:
    with pytest.raises(ValueError, match=r"period = 0.0: must be finite and > 0"):
        aa.ActuatedArrays(["j"], {"j": [P, aa.WrapConfig(period=0.0)]})
    given = late_reference.inputs(np.random.default_rng(0), 1, 1, 1)
    given[0][2][:] = 1e20
    assert on_both(["j"], {"j": [P, aa.WrapConfig()]}, given, 0.005)[0, 0, 0] == 0.0
