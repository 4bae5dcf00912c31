"""Encoders: quantization, noise, bias, velocity, latency and the side of a transmission."""

import math

import isaacsim.core.experimental.actuators as aa
import late_reference
import numpy as np
import oracle
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from late_reference import ENGINES, Late, arrays_on, on_both, stepped
from refusals import cases

DT = 0.005
# the efforts are what is measured, with the other sign
OF_POSITION, OF_VELOCITY = aa.PDControlConfig(1.0, 0.0), aa.PDControlConfig(0.0, 1.0)


def seen(encoder, given, controller=OF_POSITION, dt: float = DT, **options) -> np.ndarray:
    """What a controller gets of one joint, by engines with the same bits, `(steps, robots)`."""
    still = [[q, qd, np.zeros_like(q), np.zeros_like(q)] for q, qd, *_ in given]
    return -on_both(["j"], {"j": [controller, encoder]}, still, dt, **options)[:, :, 0].astype(float)


def columns(given, signal: int) -> np.ndarray:
    """A signal of all steps, float64 `(steps, robots)`."""
    return np.array([one[signal][:, 0] for one in given], float)


def expected(
    encoder: aa.EncoderConfig, q: np.ndarray, qd: np.ndarray, place: float = 0.0, dt: float = DT
) -> np.ndarray:
    """Measured position and velocity of a robot over some steps, in float64, `(steps, 2)`."""
    q_before, v_before, count, late = math.nan, math.nan, 0.0, Late()
    found = []
    for position, velocity in zip(q, qd, strict=True):
        taken = [position, velocity, np.float32(dt), place, q_before, v_before, count]
        parameters = [
            *(encoder.resolution, encoder.bias, encoder.noise, encoder.latency, encoder.latency_steps),
            *(
                float(encoder.velocity == "register"),
                encoder.velocity_resolution,
                encoder.velocity_filter,
                encoder.seed,
            ),
        ]
        q_m, v_m, lag, q_before, v_before, count = map(
            float, oracle.encoder_law(*map(np.asarray, [*taken, *parameters]))
        )
        found.append(late(np.array([q_m, v_m]), round(lag, 6)))
    return np.array(found)


@cases(
    "encoder",
    aa.EncoderConfig(),
    aa.EncoderConfig(resolution=0.125),
    aa.EncoderConfig(bias=-0.3),
    aa.EncoderConfig(noise=0.05, seed=7),
    aa.EncoderConfig(velocity_filter=0.02),
    aa.EncoderConfig(velocity="register", velocity_resolution=0.25),
    aa.EncoderConfig(velocity="register", velocity_resolution=0.25, velocity_filter=0.01),
    aa.EncoderConfig(latency_steps=3),
    aa.EncoderConfig(latency=0.0125),
    aa.EncoderConfig(0.125, 0.1, 0.05, 0.0075, 1.25, velocity_filter=0.004, seed=1),
)
def test_sequences_agree_with_the_oracle(encoder, rng) -> None:
    given = late_reference.inputs(rng, 40, 2, 1)
    resets = {21: [1]} if not encoder.noise else None
    for signal, controller in enumerate((OF_POSITION, OF_VELOCITY)):
        found = seen(encoder, given, controller, resets=resets)
        for robot in range(2):
            q, qd = (columns(given, one)[:, robot] for one in (0, 1))
            wanted = expected(encoder, q, qd, float(robot))
            if robot == 1 and resets:
                wanted = np.concatenate([wanted[:21], expected(encoder, q[21:], qd[21:], 1.0)])
            tolerance = 3e-6 * max(1.0, np.abs(wanted[:, signal]).max())
            np.testing.assert_allclose(found[:, robot], wanted[:, signal], atol=tolerance)


def test_quantization_error_is_uniform(rng) -> None:
    """Of mean 0 and a standard deviation of resolution/√12, within half a step; from `from_bits`, too."""
    encoder = aa.EncoderConfig.from_bits(12)
    assert encoder.resolution == 2 * math.pi / 4096
    given = late_reference.inputs(rng, 40, 500, 1)
    error = (seen(encoder, given) - columns(given, 0)) / encoder.resolution
    assert np.abs(error).max() <= 0.5 + 1e-3
    assert error.mean() == pytest.approx(0.0, abs=0.01) and error.std() == pytest.approx(1 / math.sqrt(12), rel=0.01)
    counts, _ = np.histogram(error, 10, (-0.5, 0.5))
    assert counts == pytest.approx(2000, rel=0.15)


def noises(
    encoders: list[aa.EncoderConfig], robots: int = 300, steps: int = 60, engine: str = "native", modes: str = ""
) -> np.ndarray:
    """Measured positions of joints at rest at 0, `(steps, robots, joints)`; those in `modes` have an effort mode."""
    names = [f"j{number}" for number in range(len(encoders))]
    mode = {name: [aa.ImplicitConfig(assumed_inertia=1.0)] if name in modes else [] for name in names}
    motors = {name: [OF_POSITION, encoder, *mode[name]] for name, encoder in zip(names, encoders, strict=True)}
    zeros = [np.zeros((robots, len(names)), np.float32)] * 4
    return -stepped(arrays_on(engine, names, motors, robots), [zeros] * steps, DT).astype(float)


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def test_noise_is_normal_and_independent() -> None:
    found = noises([aa.EncoderConfig(noise=0.1, seed=seed) for seed in (0, 0, 1)]) / 0.1
    count = found.size
    assert found.mean() == pytest.approx(0.0, abs=4 / math.sqrt(count))
    assert found.std() == pytest.approx(1.0, abs=4 / math.sqrt(2 * count))
    assert (found**3).mean() == pytest.approx(0.0, abs=0.06) and (found**4).mean() == pytest.approx(3.0, abs=0.15)
    assert (np.abs(found) > 1.959964).mean() == pytest.approx(0.05, abs=0.005)
    bound = 5 / math.sqrt(count / 3)
    assert abs(correlation(found[..., 0], found[..., 1])) < bound, "joints with one seed"
    assert abs(correlation(found[..., 0], found[..., 2])) < bound, "joints with two seeds"
    assert abs(correlation(found[:, :-1], found[:, 1:])) < bound, "robots"
    for lag in (1, 2, 3, 8):
        assert abs(correlation(found[:-lag], found[lag:])) < bound, "steps"


def test_equal_seeds_draw_equal_numbers() -> None:
    encoders = [aa.EncoderConfig(noise=0.1, seed=3), aa.EncoderConfig(noise=0.1, seed=4)]
    first = noises(encoders, 5, 20)
    np.testing.assert_array_equal(noises(encoders, 5, 20), first)
    np.testing.assert_array_equal(noises(encoders, 5, 20, "warp"), first)
    # joints are counted over all plans
    np.testing.assert_array_equal(noises(encoders, 5, 20, modes="j0"), first)
    np.testing.assert_array_equal(noises(encoders, 5, 20, modes="j1"), first)
    other = noises([aa.EncoderConfig(noise=0.1, seed=5), encoders[1]], 5, 20)
    assert (other[..., 0] != first[..., 0]).all()
    np.testing.assert_array_equal(other[..., 1], first[..., 1])


@pytest.mark.parametrize("engine", ENGINES)
def test_noise_goes_on_over_a_reset(engine) -> None:
    arrays = arrays_on(engine, ["j"], {"j": [OF_POSITION, aa.EncoderConfig(noise=0.1)]}, 2)
    zeros = [np.zeros((2, 1), np.float32)] * 4
    first = stepped(arrays, [zeros] * 10, DT)
    arrays.reset()
    assert (first != stepped(arrays, [zeros] * 10, DT)).all()


def test_without_latency_and_noise_nothing_is_measured_otherwise(rng) -> None:
    given = late_reference.inputs(rng, 10, 3, 1)
    np.testing.assert_array_equal(seen(aa.EncoderConfig(), given), columns(given, 0))
    found = seen(aa.EncoderConfig(velocity="register"), given, OF_VELOCITY)
    np.testing.assert_allclose(found, columns(given, 1), atol=5e-7)


@pytest.mark.parametrize("ratio", [5.0, -3.0])
def test_encoder_at_the_motor_measures_the_motor(ratio, rng) -> None:
    """Before a rigid gear, in its coordinates: its steps are finer at the joint by the ratio."""
    gear, given = aa.TransmissionConfig(ratio), late_reference.inputs(rng, 20, 2, 1)
    still = [[q, qd, np.zeros_like(q), np.zeros_like(q)] for q, qd, *_ in given]
    for side in ("joint", "motor"):
        encoder = aa.EncoderConfig(0.125, 0.3, latency_steps=1, side=side)
        found = on_both(["j"], {"j": [OF_POSITION, encoder, gear]}, still, DT)[:, :, 0]
        q = np.concatenate([columns(given, 0)[:1], columns(given, 0)[:-1]])
        at_motor = oracle.quantized(ratio * q + 0.3, 0.125)
        at_joint = ratio * oracle.quantized(q + 0.3, 0.125)
        np.testing.assert_allclose(-found / ratio, at_motor if side == "motor" else at_joint, atol=1e-4)


def test_side_matters_only_with_a_transmission(rng) -> None:
    given = late_reference.inputs(rng, 20, 2, 3)
    motors = {
        "a": [OF_POSITION, aa.EncoderConfig(0.125, side="motor")],
        "b": [OF_POSITION, aa.EncoderConfig(0.125, side="joint")],
        "c": [OF_POSITION, aa.EncoderConfig(0.125, side="motor"), aa.TransmissionConfig(2.0)],
    }
    same = [[np.repeat(one[:, :1], 3, axis=1) for one in step] for step in given]
    found = on_both(["a", "b", "c"], motors, same, DT)
    np.testing.assert_array_equal(found[..., 0], found[..., 1])
    assert (found[..., 2] != found[..., 0]).any()


@pytest.mark.slow
def test_backlash_shows_at_the_joint_only() -> None:
    gear = aa.ElasticTransmissionConfig(
        4.0, rotor_inertia=1.0, stiffness=1e3, damping=1.0, backlash=0.2, assumed_inertia=0.1
    )
    weak = aa.PDControlConfig(1e-6, 0.0)
    q = (0.08 * np.sin(np.arange(40) * 0.3)).astype(np.float32)
    zero = np.zeros((1, 1), np.float32)
    for side, expected in (("joint", 4.0 * q), ("motor", np.zeros(40))):
        found = []
        for engine in ENGINES:
            arrays = arrays_on(engine, ["j"], {"j": [weak, aa.EncoderConfig(side=side), gear]})
            with arrays.record() as log:
                stepped(arrays, [[one.reshape(1, 1), zero, zero, zero] for one in q], DT)
            found.append(log.computed_efforts[:, 0, 0])
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_allclose(-found[0] / 1e-6, expected, atol=1e-3)


def test_encoder_counts_steps_of_a_rate(rng) -> None:
    given = late_reference.inputs(rng, 21, 1, 1)
    still = [[q, qd, np.zeros_like(q), np.zeros_like(q)] for q, qd, *_ in given]
    found = on_both(["j"], {"j": [OF_VELOCITY, aa.EncoderConfig(), aa.RateConfig(5)]}, still, DT)[:, 0, 0]
    q = columns(given, 0)[::5, 0]
    np.testing.assert_allclose(-found[5::5], np.diff(q) / (5 * DT), rtol=1e-5)
    assert (found[:5] == found[0]).all()


def test_joints_of_an_actuator_have_encoders_on_one_side() -> None:
    motor = [OF_POSITION, aa.EncoderConfig(side={"a": "motor", "b": "joint"}), aa.TransmissionConfig(2.0)]  # pyright: ignore
    with pytest.raises(ActuatorParseError, match=r"side = \['joint', 'motor'\]: must be one for all joints"):
        aa.ActuatedArrays(["a", "b"], {".*": motor})


@pytest.mark.skipif(native.core is None, reason="the native core was not built")
def test_signals_that_are_not_finite_leave_the_encoder_as_it_is(rng) -> None:
    """The effort is 0; the next difference is over the last good position."""
    given = late_reference.inputs(rng, 6, 2, 1)
    given[3][0][1, 0] = np.inf
    found = seen(aa.EncoderConfig(), given, OF_VELOCITY)
    assert found[3, 1] == 0.0
    q = columns(given, 0)
    assert found[4, 1] == pytest.approx((q[4, 1] - q[2, 1]) / DT, rel=1e-5)
    assert found[4, 0] == pytest.approx((q[4, 0] - q[3, 0]) / DT, rel=1e-5)


@pytest.mark.parametrize("name", ["noise", "velocity", "velocity_filter"])
def test_value_that_joints_get_between_steps_acts_from_then_on(name, rng) -> None:
    given, found = late_reference.inputs(rng, 8, 40, 1), []
    for engine in ENGINES:
        arrays = arrays_on(engine, ["j"], {"j": [OF_VELOCITY, aa.EncoderConfig(0.125, max_steps=0)]}, 40)
        (encoder,) = [one for one in arrays.actuators[0].stages if isinstance(one, aa.FeedbackEncoder)]
        values, usual = getattr(encoder, name), stepped(arrays, given[:4], DT)
        values.fill_(1.0)
        found.append(np.concatenate([usual, stepped(arrays, given[4:], DT)]))
        values.fill_(0.0)
        found[-1] = np.concatenate([found[-1], stepped(arrays, given, DT)])
    np.testing.assert_array_equal(found[0].view(np.uint32), found[1].view(np.uint32))
    arrays = arrays_on(ENGINES[0], ["j"], {"j": [OF_VELOCITY, aa.EncoderConfig(0.125)]}, 40)
    assert not np.array_equal(found[0][4:8], stepped(arrays, given, DT)[4:])


def test_limit_behind_an_encoder_gives_what_it_gives_alone(rng) -> None:
    given = late_reference.inputs(rng, 12, 33, 2)
    motor = [aa.PDControlConfig(5.0, 0.5), aa.EncoderConfig(0.125), aa.MaxEffortClampingConfig(2.0)]
    unlimited = stepped(arrays_on(ENGINES[0], ["a", "b"], {".*": motor[:2]}, 33), given, DT)
    np.testing.assert_array_equal(on_both(["a", "b"], {".*": motor}, given, DT), np.clip(unlimited, -2.0, 2.0))
    given[5][2][7, 1] = np.nan
    faulty = on_both(["a", "b"], {".*": motor}, given, DT)
    assert faulty[5, 7, 1] == 0.0
    np.testing.assert_array_equal(np.delete(faulty, 7, 1), np.delete(np.clip(unlimited, -2.0, 2.0), 7, 1))
