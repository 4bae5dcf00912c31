"""First-order lag of commands and of efforts: against the closed form, MuJoCo's filter, and what acts behind it."""

import isaacsim.core.experimental.actuators as aa
import late_reference
import numpy as np
import pytest
from late_reference import ENGINES, arrays_on, on_both, stepped

PD = aa.PDControlConfig(20.0, 1.0)
STEPS = 200


def held_commands(rng, steps: int = STEPS) -> np.ndarray:
    return np.repeat(rng.normal(size=steps // 10), 10).astype(np.float32)


def closed_form(commands: np.ndarray, start: float, dt: float, time_constant: float) -> np.ndarray:
    """Solution of T·dy/dt = u − y at the ends of the steps, in float64, by convolution with the decay."""
    times = dt * np.arange(1, len(commands) + 1)
    jumps = np.diff(commands.astype(float), prepend=start)
    since = times[:, None] - times[None, :] + dt
    return start + np.where(since > 0, 1 - np.exp(-np.maximum(since, 0) / time_constant), 0) @ jumps


@pytest.mark.parametrize("time_constant", [0.0005, 0.004, 0.03, 20.0])
def test_commands_follow_the_closed_form(time_constant, rng) -> None:
    dt, targets, efforts = 0.002, held_commands(rng), held_commands(rng)
    q = np.float32(0.3)
    given = [np.array([[q], [0.0], [u], [ff]], np.float32)[..., None] for u, ff in zip(targets, efforts, strict=True)]
    lag = aa.CommandLagConfig(time_constant)
    only_target = [[*one[:3], 0 * one[3]] for one in given]
    found = on_both(["j"], {"j": [aa.PDControlConfig(1.0, 0.0), lag]}, only_target, dt)[:, 0, 0]
    np.testing.assert_allclose(found, closed_form(targets, q, dt, time_constant) - q, rtol=0, atol=1e-5)
    found = on_both(["j"], {"j": [aa.PDControlConfig(0.0, 0.0), lag]}, given, dt)[:, 0, 0]
    np.testing.assert_allclose(found, closed_form(efforts, 0.0, dt, time_constant), rtol=0, atol=1e-5)


@pytest.mark.parametrize("time_constant", [0.0005, 0.03, 20.0])
def test_efforts_follow_the_closed_form(time_constant, rng) -> None:
    dt, efforts = 0.005, held_commands(rng)
    given = [np.array([[0.0], [0.0], [0.0], [ff]], np.float32)[..., None] for ff in efforts]
    expected = closed_form(efforts, 0.0, dt, time_constant)
    stages = [aa.PDControlConfig(0.0, 0.0), aa.EffortLagConfig(time_constant)]
    np.testing.assert_allclose(on_both(["j"], {"j": stages}, given, dt)[:, 0, 0], expected, rtol=0, atol=1e-5)
    limited = on_both(["j"], {"j": [*stages, aa.MaxEffortClampingConfig(0.4)]}, given, dt)[:, 0, 0]
    np.testing.assert_allclose(limited, np.clip(expected, -0.4, 0.4), rtol=0, atol=1e-5)
    geared = on_both(["j"], {"j": [*stages, aa.TransmissionConfig(3.0)]}, given, dt)[:, 0, 0]
    np.testing.assert_allclose(geared, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("lag", [aa.CommandLagConfig(0.0), aa.EffortLagConfig(0.0)])
def test_without_a_time_constant_no_bit_changes(lag, rng) -> None:
    given = late_reference.inputs(rng, 20, 2, 2)
    plain = on_both(["a", "b"], {".*": [PD]}, given, 0.005)
    found = on_both(["a", "b"], {"a": [PD, lag], "b": [PD, type(lag)(0.02)]}, given, 0.005)
    np.testing.assert_array_equal(found[:, :, 0], plain[:, :, 0])
    assert (found[:, :, 1] != plain[:, :, 1]).mean() > 0.9


def test_lag_is_of_delayed_commands_at_the_rate_of_the_controller(rng) -> None:
    given = late_reference.inputs(rng, 40, 2, 1)
    slow = [aa.RateConfig(4), aa.CommandLagConfig(0.03)]
    found = on_both(["j"], {"j": [aa.PDControlConfig(1.0, 0.0), aa.TimedDelayConfig(steps=1), *slow]}, given, 0.005)
    for robot in range(2):
        q, target = (np.array([float(one[at][robot, 0]) for one in given[::4]]) for at in (0, 2))
        y, due = q[0], []
        for at in range(len(q)):
            y += (1 - np.exp(-0.02 / 0.03)) * (target[max(0, at - 1)] - y)
            feedforward = float(given[4 * max(0, at - 1)][3][robot, 0])
            due.append((y - q[at], feedforward))
        lagged, force = [], 0.0
        for error, feedforward in due:
            force += (1 - np.exp(-0.02 / 0.03)) * (feedforward - force)
            lagged.append(error + force)
        np.testing.assert_allclose(found[::4, robot, 0], lagged, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_fault_and_reset(engine, rng) -> None:
    given = late_reference.inputs(rng, 12, 2, 1)
    motors = {"j": [PD, aa.CommandLagConfig(0.05), aa.EffortLagConfig(0.02)]}
    clean = stepped(arrays_on(engine, ["j"], motors, 2), given[:3] + given[4:], 0.005)
    broken = [list(one) for one in given]
    broken[3][2] = np.full((2, 1), np.nan, np.float32)
    found = stepped(arrays_on(engine, ["j"], motors, 2), broken, 0.005)
    assert (found[3] == 0.0).all()
    np.testing.assert_array_equal(np.delete(found, 3, axis=0), clean)
    arrays = arrays_on(engine, ["j"], motors, 2)
    stepped(arrays, given[:5], 0.005)
    arrays.reset(indices=[1])
    anew = stepped(arrays, given[5:], 0.005)
    np.testing.assert_array_equal(anew[:, 1], stepped(arrays_on(engine, ["j"], motors, 2), given[5:], 0.005)[:, 1])


def test_saved_states_go_on(rng) -> None:
    given = late_reference.inputs(rng, 12, 2, 1)
    motors = {"j": [PD, aa.WrapConfig(), aa.CommandLagConfig(0.05), aa.EffortLagConfig(0.02)]}
    arrays = arrays_on("native", ["j"], motors, 2)
    stepped(arrays, given[:6], 0.005)
    saved = arrays.save_state()
    assert {name.rpartition(".")[0] for name in saved if "lag" in name or "command" in name}
    other = arrays_on("warp", ["j"], motors, 2)
    other.restore_state(saved)
    np.testing.assert_array_equal(stepped(other, given[6:], 0.005), stepped(arrays, given[6:], 0.005))


MODEL = """
<mujoco><option timestep="0.002" gravity="0 0 0"/>
<worldbody><body><joint name="a" axis="0 0 1" damping="0.1"/><geom size="0.1" mass="2"/></body></worldbody>
<actuator>{}</actuator></mujoco>
"""
ACTUATORS = {
    "position": '<position name="x" joint="a" kp="3" kv="0.2" timeconst="0.05"/>',
    "velocity": '<general name="x" joint="a" dyntype="filterexact" dynprm="0.05" biastype="affine"'
    ' gainprm="2" biasprm="0 0 -2"/>',
    "motor": '<general name="x" joint="a" dyntype="filterexact" dynprm="0.02" gainprm="1.5"/>',
}


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("kind", ACTUATORS)
def test_models_with_filters_are_read_and_move_alike(kind, early, rng) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MODEL.format(ACTUATORS[kind]))
    model.actuator_actearly[:] = early
    motor = aa.motors_of_model(model)["a"]
    assert any(isinstance(one, aa.CommandLagConfig) for one in motor.stages)
    data, arrays = mujoco.MjData(model), aa.ActuatedArrays(["a"], {"a": motor})
    gain = 1.5 if kind == "motor" else 1.0
    differences = []
    for step in range(250):
        # at first nothing, so that both pasts are empty
        control = 0.0 if step < 3 else float(np.sin(0.05 * step))
        data.ctrl[0] = control
        q, qd = (np.array([[one[0]]], np.float32) for one in (data.qpos, data.qvel))
        at, zero = np.full((1, 1), control, np.float32), np.zeros((1, 1), np.float32)
        said = {"feedforward": gain * at} if kind == "motor" else {"qd_target": at} if kind == "velocity" else {}
        effort = arrays.step(q, qd, at if kind == "position" else zero, 0.002, **said)
        mujoco.mj_step(model, data)
        differences.append(float(effort[0, 0]) - data.actuator_force[0])
    assert np.abs(differences).max() < 1e-5 * max(1.0, np.abs(data.actuator_force).max())


def test_other_dynamics_stay_with_their_reason() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = MODEL.format('<general name="x" joint="a" dyntype="integrator" gainprm="2"/>')
    with pytest.warns(UserWarning, match="'x' .activation dynamics of kind integrator"):
        assert aa.motors_of_model(mujoco.MjModel.from_xml_string(text)) == {}
    text = MODEL.format('<general name="x" joint="a" dyntype="filter" dynprm="0.1" ctrlrange="-1 1" gainprm="2"/>')
    with pytest.warns(UserWarning, match="'x' .ctrlrange before its filter"):
        assert aa.motors_of_model(mujoco.MjModel.from_xml_string(text))["a"].others == [aa.CommandLagConfig(0.1)]
