"""Rates of controllers: what runs when, in which steps, and what is held."""

import isaacsim.core.experimental.actuators as aa
import late_reference
import numpy as np
import oracle
import pytest
from checkpoint_files import checkpoint_file
from late_reference import ENGINES, Inputs, arrays_on, on_both, stepped
from refusals import cases

PID = aa.PIDControlConfig(20.0, 1.0, 3.0, 0.5)
ENCODER = aa.EncoderConfig(0.01, noise=0.02, latency_steps=1.5, velocity_filter=0.01)
# before the controller, and the controller
MOTORS: dict[str, list] = {
    "pd": [aa.PDControlConfig(20.0, 1.0)],
    "pid": [PID],
    "encoder": [PID, ENCODER],
    "delay": [PID, aa.TimedDelayConfig(steps=1.25, random_steps=2, redraw_steps=2)],
    "all": [PID, ENCODER, aa.TimedDelayConfig(0.002)],
}


def dues(steps: int, period: float, phase: float = 0.0) -> list[bool]:
    """Steps in which a controller runs: when the clock, in steps, has passed a period, and in the first one."""
    found, clock = [], phase * period
    for step in range(steps):
        due = step == 0
        if step:
            clock += 1.0
            if due := clock >= period - 1e-3:
                clock -= period
        found.append(due)
    return found


def held(engine: str, motor: list, given: list[Inputs], due: list[bool], dt: float, joint: str = "j") -> np.ndarray:
    """Efforts of a loop around a controller without a rate, which is called when it is due."""
    arrays, effort, found = arrays_on(engine, [joint], {joint: motor}, given[0][0].shape[0]), None, []
    for one, runs in zip(given, due, strict=True):
        if runs:
            (effort,) = stepped(arrays, [one], dt)
        found.append(effort)
    return np.array(found)


@pytest.mark.parametrize("motor", MOTORS)
@cases(
    "rate, dt, period",
    (aa.RateConfig(), 0.001, 1.0),
    (aa.RateConfig(decimation=4), 0.00025, 4.0),
    (aa.RateConfig(frequency=1000.0), 0.00025, 4.0),
    (aa.RateConfig(frequency=250.0), 0.001, 4.0),
    (aa.RateConfig(frequency=300.0), 0.001, 1000.0 / 300.0),
    (aa.RateConfig(frequency=5000.0), 0.001, 1.0),
    (aa.RateConfig(decimation=3, phase=0.5), 0.002, 3.0),
)
@pytest.mark.slow("warp")
def test_controller_is_called_when_it_is_due(motor, rate, dt, period, rng) -> None:
    given = late_reference.inputs(rng, 50, 2, 1)
    found = on_both(["j"], {"j": [*MOTORS[motor], rate]}, given, dt)
    own = float(np.float32(np.float32(period) * np.float32(dt)))
    expected = held("native", MOTORS[motor], given, dues(50, period, rate.phase), own)
    np.testing.assert_array_equal(found, expected)
    assert (np.diff(found[:, 0, 0]) != 0).sum() == sum(dues(50, period, rate.phase)) - 1


def test_rate_is_kept_on_average() -> None:
    """300 Hz of 1 kHz: periods of 3 and 4 steps, a third of them of 4."""
    due = np.flatnonzero(dues(10000, 1000.0 / 300.0))
    assert len(due) == 3000 and set(np.diff(due)) == {3, 4}
    given = late_reference.inputs(np.random.default_rng(0), 400, 1, 1)
    found = on_both(["j"], {"j": [aa.PDControlConfig(20.0, 1.0), aa.RateConfig(frequency=300.0)]}, given, 0.001)
    runs = np.flatnonzero(np.diff(found[:, 0, 0])) + 1
    assert len(runs) == 119 and set(np.diff(runs)) == {3, 4}


def test_robots_have_their_own_phases(rng) -> None:
    phases, decimations = np.array([[0.0], [0.25], [0.5], [0.75]]), np.array([[4], [4], [8], [2]])
    given = late_reference.inputs(rng, 40, 4, 1)
    rate = aa.RateConfig(decimations, phase=phases)
    found = on_both(["j"], {"j": [PID, ENCODER, rate]}, given, 0.001, {22: [1, 3]})
    for robot in range(4):
        period, phase = float(decimations[robot, 0]), float(phases[robot, 0])
        runs = np.concatenate([[True], np.diff(found[:, robot, 0]) != 0])
        whole = dues(40, period, phase)
        expected = whole if robot in (0, 2) else whole[:22] + dues(18, period, phase)
        np.testing.assert_array_equal(runs, expected, err_msg=str(robot))


def test_limits_act_at_every_step(rng) -> None:
    limits = [aa.DCMotorClampingConfig(9.0, 3.0, 7.0), aa.MaxEffortClampingConfig(6.0)]
    given = late_reference.inputs(rng, 40, 3, 1)
    computed = on_both(["j"], {"j": [PID, aa.RateConfig(4)]}, given, 0.001)
    found = on_both(["j"], {"j": [PID, aa.RateConfig(4), *limits]}, given, 0.001)
    for step, robot in np.ndindex(40, 3):
        expected = oracle.dc_motor_clamp(
            float(computed[step, robot, 0]), float(given[step][1][robot, 0]), 9.0, 3.0, 7.0
        )
        assert found[step, robot, 0] == pytest.approx(min(max(expected, -6.0), 6.0), rel=1e-5, abs=1e-5)
    late = on_both(["j"], {"j": [PID, aa.RateConfig(4), aa.EffortDelayConfig(steps=3)]}, given, 0.001)
    np.testing.assert_array_equal(late[3:], computed[:-3])


@pytest.mark.parametrize("engine", ENGINES)
def test_computed_efforts_are_the_held_ones(engine, rng) -> None:
    given = late_reference.inputs(rng, 20, 2, 1)
    arrays = arrays_on(engine, ["j"], {"j": [PID, aa.RateConfig(5), aa.MaxEffortClampingConfig(2.0)]}, 2)
    with arrays.record() as log:
        stepped(arrays, given, 0.001)
    plain = stepped(arrays_on(engine, ["j"], {"j": [PID, aa.RateConfig(5)]}, 2), given, 0.001)
    np.testing.assert_array_equal(log.computed_efforts, plain)
    assert (np.abs(log.applied_efforts) <= 2.0).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("network", ["mlp", "lstm"])
@pytest.mark.slow("warp")
def test_networks_run_when_they_are_due(engine, network, rng, tmp_path) -> None:
    file = tmp_path / "net.safetensors"
    file.write_bytes(checkpoint_file("safetensors", network, {}))
    motor = [aa.NeuralControlConfig(str(file))]
    given = late_reference.inputs(rng, 30, 3, 1)
    found = stepped(arrays_on(engine, ["j"], {"j": [*motor, aa.RateConfig(4)]}, 3), given, 0.001)
    np.testing.assert_array_equal(found, held(engine, motor, given, dues(30, 4.0), float(np.float32(0.004))))


def test_delay_in_steps_counts_those_of_the_controller(rng) -> None:
    arrays = aa.ActuatedArrays(["j"], {"j": [PID, aa.DelayConfig(2), aa.RateConfig(4)]})
    assert isinstance(arrays.actuators[0].delay, aa.DelayTimed)
    given = late_reference.inputs(rng, 40, 2, 1)
    found = on_both(["j"], {"j": [PID, aa.DelayConfig(2), aa.RateConfig(4)]}, given, 0.001)
    expected = held("native", [PID, aa.DelayConfig(2)], given, dues(40, 4.0), float(np.float32(0.004)))
    np.testing.assert_array_equal(found, expected)


def test_signals_are_faults_in_steps_without_the_controller(rng) -> None:
    """The effort of that step is 0; the clock goes on."""
    given = late_reference.inputs(rng, 20, 2, 1)
    clean = on_both(["j"], {"j": [PID, aa.RateConfig(4)]}, given, 0.001)
    given[5][0][1, 0] = np.nan
    found = on_both(["j"], {"j": [PID, aa.RateConfig(4)]}, given, 0.001)
    assert found[5, 1, 0] == 0.0
    np.testing.assert_array_equal(found[:, 0], clean[:, 0])
    np.testing.assert_array_equal(found[6:8, 1], clean[6:8, 1])


class OwnPD(aa.ControllerPD):
    def compute(self, *arguments, **named) -> None:
        super().compute(*arguments, **named)


def test_rate_beside_arrays_is_refused() -> None:
    import warp as wp
    from isaacsim.core.experimental.actuators import Actuator
    from isaacsim.core.experimental.actuators.laws.rate_hold import RateHold

    def one(value: float) -> wp.array:
        return wp.array([value], dtype=wp.float32, device="cpu")

    rate = RateHold(one(4.0), one(0.0), one(0.0))
    actuator = Actuator(wp.zeros(1, dtype=wp.uint32, device="cpu"), OwnPD(one(1.0), one(0.0)), others=[rate])
    bench = type("Bench", (), {f"joint_{name}": one(0.0) for name in ("q", "qd", "target_q", "target_qd", "act", "f")})
    with pytest.raises(TypeError, match=r"RateHold beside a stage that computes arrays: must be left out"):
        actuator.step(bench, bench, actuator.state(), actuator.state(), 0.001)
