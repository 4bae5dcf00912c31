"""Laws that remember: rings, interpolation, heat, rotors, resets, faults, saved states and how much is kept."""

import isaacsim.core.experimental.actuators as aa
import late_reference
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.contract.late import kept_steps
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from late_reference import ENGINES, Late, arrays_on, on_both, stepped
from refusals import cases

DT = 0.005
PD, PID = aa.PDControlConfig(20.0, 1.0), aa.PIDControlConfig(20.0, 1.0, 3.0)
MOTORS = {
    "a": [PD, aa.EncoderConfig(0.01, 0.02, latency_steps=2.5, velocity_filter=0.002), aa.MaxEffortClampingConfig(5.0)],
    "b": [PD, aa.TimedDelayConfig(0.0075, random_steps=3, redraw_steps=2), aa.EffortDelayConfig(steps=1.25)],
    "c": [
        *(PID, aa.EncoderConfig(noise=0.01, velocity="register", velocity_resolution=0.1, seed=3)),
        *(aa.EffortDelayConfig(seconds=0.002), aa.TransmissionConfig(5.0)),
    ],
    "d": [PID, aa.EncoderConfig(0.01, latency=0.02, side="motor"), aa.RateConfig(4), aa.TransmissionConfig(-3.0)],
    "e": [
        PID,
        aa.RateConfig(frequency=70.0, phase=0.3),
        aa.DCMotorClampingConfig(9.0, 3.0, 7.0),
        aa.TimedDelayConfig(steps=2),
    ],
    "f": [PD],
    "g": [
        *(PD, aa.ElectricalConfig(0.5, 0.4, inductance=0.002, voltage=24.0), aa.SupplyConfig(24.0, 0.2, 0.05)),
        aa.ThermalConfig(
            0.2, 1.0, housing_capacity=1.5, housing_resistance=4.0, derating_start=30.0, max_temperature=90.0
        ),
    ],
    "h": [
        *(aa.PDControlConfig(0.05, 0.004, 0.01), aa.MaxEffortClampingConfig(0.3)),
        aa.ElasticTransmissionConfig(-30.0, rotor_inertia=3e-5, stiffness=80.0, backlash=0.02, assumed_inertia=0.02),
        aa.FrictionConfig(0.2, 0.05, assumed_inertia=0.02),
    ],
    "i": [
        aa.ServoControlConfig.of("XL330", min_duty=0.1, max_duty_rate=30.0, profile_velocity=2.0),
        aa.ElectricalConfig(0.4, 4.0, command="voltage"),
    ],
    "j": [aa.SlewedPIDControlConfig(5.0, 2.0, 0.3, max_rate=3.0)],
}
JOINTS = list(MOTORS)


def bits(state) -> dict[str, bytes]:
    return {name: np.asarray(values).tobytes() for name, values in state.items()}


@pytest.mark.parametrize("robots", [1, 5, 37])
def test_engines_have_the_same_bits_over_resets_and_faults(robots, rng) -> None:
    given = late_reference.inputs(rng, 60, robots, len(JOINTS))
    for step, (signal, joint) in {11: (0, 0), 12: (1, 3), 25: (2, 1), 26: (3, 4), 40: (0, 2)}.items():
        given[step][signal][robots // 2, joint] = np.nan
    efforts = on_both(JOINTS, MOTORS, given, DT, {20: [0], 30: range(robots), 31: [robots - 1]})
    assert np.isfinite(efforts).all() and (efforts != 0).any(axis=0).all()
    for step, joint in ((11, 0), (12, 3), (25, 1), (26, 4), (40, 2)):
        assert efforts[step, robots // 2, joint] == 0.0


HUGE = {
    "encoder": [PD, aa.EncoderConfig()],
    "late": [PD, aa.EncoderConfig(latency_steps=2)],
    "between steps": [PD, aa.EncoderConfig(latency_steps=1.25)],
    "register": [PD, aa.EncoderConfig(latency_steps=2, velocity="register")],
    "at the motor": [PD, aa.EncoderConfig(latency_steps=2, side="motor"), aa.TransmissionConfig(5.0)],
    "limited": [PD, aa.EncoderConfig(0.01, latency_steps=2), aa.MaxEffortClampingConfig(5.0)],
    "target": [PD, aa.TimedDelayConfig(steps=2)],
    "effort": [PD, aa.EffortDelayConfig(steps=2), aa.TransmissionConfig(50.0)],
}


@pytest.mark.parametrize("signal", [0, 2])
@pytest.mark.parametrize("robots", [1, len(HUGE)])
@pytest.mark.parametrize(("step", "values"), [(0, (3e38,)), (7, (3e38,)), (8, (1e36,)), (9, (3e38, -3e38))])
def test_huge_number_acts_once_and_leaves_the_ring(step, values, robots, signal, rng) -> None:
    given = late_reference.inputs(rng, 20, robots, len(HUGE))
    plain = on_both(list(HUGE), HUGE, given, DT)
    who = np.arange(len(HUGE)) % robots, np.arange(len(HUGE))
    for later, value in enumerate(values):
        given[step + later][signal][who] = value
    efforts = on_both(list(HUGE), HUGE, given, DT)
    assert np.isfinite(efforts).all() and (efforts != plain)[:, *who].any()
    # behind the longest delay
    during = np.zeros(efforts.shape, bool)
    during[step : step + len(values) + 5, *who] = True
    np.testing.assert_array_equal(efforts[~during], plain[~during])


def test_robots_are_single_robots_but_for_their_draws(rng) -> None:
    motors = {name: MOTORS[name] for name in JOINTS if name not in "bc"}
    given = late_reference.inputs(rng, 30, 9, len(motors))
    many = on_both(list(motors), motors, given, DT)
    for robot in (0, 4, 8):
        own = [[one[robot : robot + 1].copy() for one in step] for step in given]
        np.testing.assert_array_equal(on_both(list(motors), motors, own, DT)[:, 0], many[:, robot])


def test_columns_with_gaps_have_the_bits_of_those_without(rng) -> None:
    names = [name for joint in JOINTS for name in (joint, f"{joint}_free")]
    given = late_reference.inputs(rng, 25, 4, len(names))
    packed = [[np.ascontiguousarray(one[:, ::2]) for one in step] for step in given]
    wide = on_both(names, MOTORS, given, DT)
    np.testing.assert_array_equal(wide[:, :, ::2], on_both(JOINTS, MOTORS, packed, DT))


@pytest.mark.parametrize("first", ENGINES)
@pytest.mark.parametrize("second", ENGINES)
def test_saved_states_continue_on_either_engine(first, second, rng) -> None:
    given = late_reference.inputs(rng, 40, 3, len(JOINTS))
    one, other = (arrays_on(engine, JOINTS, MOTORS, 3) for engine in (first, second))
    stepped(one, given[:23], DT)
    saved = one.save_state()
    stepped(other, given[5:9], DT)
    other.restore_state(saved)
    assert bits(other.save_state()) == bits(saved)
    np.testing.assert_array_equal(stepped(other, given[23:], DT), stepped(one, given[23:], DT))
    # a row of a ring that no delay reaches may be written in steps in which a controller does not run
    left, right = ({k: v for k, v in bits(each.save_state()).items() if ".earlier" not in k} for each in (other, one))
    assert left == right


@pytest.mark.parametrize("lag", [0.0, 1.0, 3.0, 0.25, 2.5, 7.9])
def test_effort_acts_so_many_steps_late(lag, rng) -> None:
    motor = [PD, aa.EffortDelayConfig(steps=lag)]
    given = late_reference.inputs(rng, 40, 2, 1)
    plain = on_both(["a"], {"a": [PD]}, given, DT)
    late = on_both(["a"], {"a": motor}, given, DT, {17: [1]})
    for robot, first in ((0, 0), (1, 17)):
        shift = Late()
        expected = [shift(one, lag) for one in plain[first:, robot]]
        np.testing.assert_allclose(late[first:, robot], expected, rtol=2e-6, atol=2e-5)
    if lag == int(lag):
        np.testing.assert_array_equal(late[int(lag) :, 0], plain[: len(plain) - int(lag), 0])


def test_seconds_and_steps_add_up(rng) -> None:
    given = late_reference.inputs(rng, 30, 2, 1)
    both = on_both(["a"], {"a": [PD, aa.EffortDelayConfig(0.5 * DT, 2.0)]}, given, DT)
    np.testing.assert_array_equal(both, on_both(["a"], {"a": [PD, aa.EffortDelayConfig(steps=2.5)]}, given, DT))
    for engine in ENGINES:
        arrays = arrays_on(engine, ["a"], {"a": [PD, aa.EffortDelayConfig(seconds=0.01)]}, 2)
        undelayed = stepped(arrays_on(engine, ["a"], {"a": [PD]}, 2), given, DT)
        stepped(arrays, given[:10], 0.005)
        # two steps of 5 ms, one of 10 ms
        np.testing.assert_array_equal(stepped(arrays, given[10:], 0.01), undelayed[9:-1])


@pytest.mark.parametrize("engine", ENGINES)
def test_parameters_per_robot_and_new_ones_act_at_the_next_step(engine, rng) -> None:
    given = late_reference.inputs(rng, 30, 3, 1)
    plain = stepped(arrays_on(engine, ["a"], {"a": [PD]}, 3), given, DT)
    arrays = arrays_on(engine, ["a"], {"a": [PD, aa.EffortDelayConfig(steps=np.array([[0.0], [2.0], [4.0]]))]}, 3)
    late = stepped(arrays, given[:15], DT)
    for robot, lag in enumerate((0, 2, 4)):
        np.testing.assert_array_equal(late[lag:, robot], plain[: 15 - lag, robot])
    (delay,) = [one for one in arrays.actuators[0].stages if isinstance(one, aa.EffortDelayTimed)]
    delay.steps.assign(np.array([3.0, 1.0, 100.0], np.float32))
    late = stepped(arrays, given[15:], DT)
    for robot, lag in enumerate((3, 1, 4)):
        np.testing.assert_array_equal(late[:, robot], plain[15 - lag : 30 - lag, robot])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", "abcde")
@pytest.mark.slow("warp")
def test_actuators_with_two_states_have_the_bits_of_one(engine, name, rng) -> None:
    robots, given = 4, late_reference.inputs(rng, 24, 4, 1)
    expected = stepped(
        arrays := arrays_on(engine, ["j"], {"j": MOTORS[name]}, robots),
        given,
        DT,
        lambda step: arrays.reset(indices=[1, 2]) if step == 13 else None,
    )
    with pytest.MonkeyPatch.context() as patch:
        if engine == "warp":
            patch.setattr(native, "core", None)
        parts = motor_of(MOTORS[name]).each(lambda config: catalogue.build(config, robots, "cpu"))
        at = wp.array(np.arange(robots)[::-1].copy(), dtype=wp.uint32, device="cpu")
        actuator = aa.Actuator(at, **parts)
        now, after = actuator.state(), actuator.state()
        for step, (q, qd, target, feedforward) in enumerate(given):
            order = slice(None, None, -1)
            arrays_of = {
                name: wp.array(values[order, 0].copy(), dtype=wp.float32, device="cpu")
                for name, values in (
                    *(("joint_q", q), ("joint_qd", qd)),
                    *(("joint_target_q", target), ("joint_target_qd", 0 * target), ("joint_act", feedforward)),
                )
            }
            arrays_of["joint_f"] = wp.zeros(robots, dtype=wp.float32, device="cpu")
            if step == 13:
                now.reset(wp.array([False, True, True, False], dtype=wp.bool, device="cpu"))
            bench = type("Bench", (), arrays_of)
            actuator.step(bench, bench, now, after, DT)
            now, after = after, now
            np.testing.assert_array_equal(arrays_of["joint_f"].numpy()[order], expected[step, :, 0], err_msg=str(step))


@cases(
    "config, kept",
    (aa.EffortDelayConfig(), 0),
    (aa.EffortDelayConfig(steps=2.5), 3),
    (aa.EffortDelayConfig(seconds=0.01), 40),
    (aa.EffortDelayConfig(seconds=0.01, max_steps=5), 5),
    (aa.TimedDelayConfig(steps=1, random_steps=4), 5),
    (aa.TimedDelayConfig(seconds=1.0, steps=4000), 4096),
    (aa.EncoderConfig(latency=0.001, latency_steps=1.5), 6),
    (aa.EncoderConfig(latency=np.array([[0.001], [0.002]])), 8),
)
def test_what_is_kept(config, kept) -> None:
    """Enough for the delay at steps of 0.25 ms, unless a config says otherwise."""
    assert kept_steps(config) == kept


@pytest.mark.parametrize("most", [-1, 4097, True])
def test_rows_out_of_range_are_refused(most) -> None:
    values = [wp.zeros(1, dtype=wp.float32, device="cpu")] * 2
    with pytest.raises(ValueError, match=r"max_steps = .*: must be an integer >= 0 and <= 4096"):
        aa.EffortDelayTimed(*values, max_steps=most)
