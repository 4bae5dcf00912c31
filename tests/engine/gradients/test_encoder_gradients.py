"""Gradients through encoders, compared with central differences in float64."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.gradients.encoder_gradients import Measured
from isaacsim.core.experimental.actuators.engine.gradients.gradient_recorder import States, StepInputs
from late_rollout import LateRollout, array, assert_same, in_place, one_each, swapped
from step_bench import TransmissionSoft

GAINS = {"kp": (5.0, 20.0), "ki": (5.0, 20.0), "kd": (0.5, 2.0), "integral_max": (0.02, 2.0), "max_effort": (2.0, 15.0)}
# of whichever the effort is: difference or register; half of the joints have noise
ENCODER = {"bias": (-0.3, 0.3), "velocity": (0.0, 1.0), "velocity_filter": (0.01, 0.05), "noise": (0.06, 0.1)}
LATE = {"latency": (0.001, 0.03), "latency_steps": (0.1, 1.4)}
WHOLE = "velocity", "seed"
# the choice of the velocity has none, nor has a seed; that of a resolution is zero by definition
WITHOUT = "velocity", "seed", "resolution", "velocity_resolution", "targets"


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("states", [swapped, in_place, one_each])
def test_every_gradient_is_that_of_central_differences(states) -> None:
    laws = ["FeedbackEncoder", "ControllerPID", "ClampingMaxEffort"]
    rollout = LateRollout(laws, GAINS | ENCODER | LATE | {"seed": (0, 99)}, seed=3, whole=WHOLE)
    expected = rollout.differences()
    for name in ("bias", "noise", "latency", "latency_steps", "velocity_filter"):
        assert (np.abs(expected[f"FeedbackEncoder {name}"]) > 1e-3).mean() > 0.8, name
    efforts, found = rollout.on_tape(states)
    assert 0 < (np.abs(efforts) == rollout.values["ClampingMaxEffort max_effort"]).sum() < efforts.size
    np.testing.assert_allclose(efforts, rollout.acting, atol=1e-4)
    assert_same(found, expected, WITHOUT)


@pytest.mark.usefixtures("backend")
@pytest.mark.slow
@pytest.mark.parametrize("at_motor", [False, True])
def test_before_a_delay_and_a_gear(at_motor) -> None:
    laws = ["FeedbackEncoder", "DelayTimed", "ControllerPD", "ClampingMaxEffort", "TransmissionGear"]
    ranges = GAINS | ENCODER | LATE | {"seconds": (0.001, 0.03), "ratio": (0.5, 3.0), "offset": (-0.5, 0.5)}
    rollout = LateRollout(laws, ranges, seed=4, whole=WHOLE, at_motor=at_motor)
    expected = rollout.differences()
    assert np.abs(expected["TransmissionGear ratio"]).min() > 0.1
    drawing = "random_steps", "redraw_steps", "hold_probability"
    efforts, found = rollout.on_tape()
    np.testing.assert_allclose(efforts, rollout.acting, atol=1e-4)
    assert_same(found, expected, [*WITHOUT, *drawing])


def test_gradient_of_a_quantized_number_is_that_of_the_number() -> None:
    """Of position and register, to the bit: a PD controller is linear, so where it stands does not matter."""
    found = []
    for resolution in (0.0, 0.25):
        ranges = {"kp": (5.0, 20.0), "kd": (0.5, 2.0), **ENCODER, **LATE, "velocity_filter": (0.0, 0.0)}
        rollout = LateRollout(["FeedbackEncoder", "ControllerPD"], ranges, seed=5, whole=WHOLE)
        for name in ("resolution", "velocity_resolution"):
            rollout.values[f"FeedbackEncoder {name}"][:] = resolution
        found.append(rollout.on_tape())
    assert np.abs(found[0][0] - found[1][0]).min() > 1e-6
    for name in (*(f"joint_q {k}" for k in range(8)), *(f"joint_qd {k}" for k in range(8)), "FeedbackEncoder bias"):
        np.testing.assert_array_equal(found[0][1][name], found[1][1][name], err_msg=name)
    assert found[0][1]["FeedbackEncoder bias"].all() and found[0][1]["joint_qd 3"].any()
    assert not found[1][1]["FeedbackEncoder resolution"].any()


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", ["joint_q", "joint_qd", "joint_target_q"])
def test_fault_has_no_gradient(name) -> None:
    found = []
    for bad in (False, True):
        rollout = LateRollout(["FeedbackEncoder", "ControllerPID"], GAINS | ENCODER | LATE, seed=6, whole=WHOLE)
        rollout.values["FeedbackEncoder velocity"][5] = 0.0
        if bad:
            rollout.values[f"{name} 3"][5] = np.nan
        found.append(rollout.on_tape())
    good = np.arange(24) != 5
    for key, values in found[1][1].items():
        assert np.isfinite(values).all(), key
        np.testing.assert_array_equal(values[good], found[0][1][key][good], err_msg=key)
    assert found[1][0][3, 5] == 0
    assert not any(found[1][1][f"{one} 3"][5] for one in ("joint_q", "joint_qd", "joint_target_q"))
    assert found[1][1]["joint_q 2"][5] and found[1][1]["joint_q 4"][5]


@pytest.mark.usefixtures("backend")
def test_huge_position_has_no_gradient_and_the_encoder_goes_on() -> None:
    torch = pytest.importorskip("torch")
    late, kp, kd, dt = 2, 20.0, 1.0, 0.0078125
    motor = {".*": [aa.PDControlConfig(kp, kd), aa.EncoderConfig(latency_steps=late)]}
    arrays = aa.ActuatedArrays(["a", "b"], motor, requires_grad=True)
    q = [torch.full((2,), 0.125 * step, requires_grad=True) for step in range(10)]
    far = torch.tensor([3e38, 0.0])
    efforts = [
        arrays.step(one + far if step == 4 else one, torch.ones(2), torch.ones(2), dt) for step, one in enumerate(q)
    ]
    sum(one.sum() for one in efforts).backward()
    assert [step for step, one in enumerate(efforts) if one[0] == 0] == [4 + late]
    # the first position acts in three steps, and that is all of the past
    moved, slope = -kp, kd / dt
    of_good = [3 * moved + slope, *[moved] * 6, moved - slope, 0.0, 0.0]
    of_bad = [*of_good[:3], moved - slope, 0.0, moved + slope, *of_good[6:]]
    found = np.array([one.grad.numpy() for one in q])
    np.testing.assert_allclose(found, np.transpose([of_bad, of_good]), rtol=1e-6)


def test_encoder_at_the_motor_before_a_transmission_of_ones_own_is_refused() -> None:
    ones, indices = array(np.ones(3)), array(np.arange(3), False, wp.uint32)
    encoder = aa.FeedbackEncoder(*[array(np.zeros(3))] * len(aa.FeedbackEncoder.PARAMETERS))
    encoder.side = "motor"
    law = aa.ControllerPD(ones, ones, ones)
    aa.Actuator(indices, law, others=[encoder], requires_grad=True)
    soft = TransmissionSoft(*[ones] * len(TransmissionSoft.PARAMETERS))
    with pytest.raises(NotImplementedError, match="FeedbackEncoder at the motor, before TransmissionSoft, has none"):
        aa.Actuator(indices, law, others=[encoder, soft], requires_grad=True)


def test_torch_has_the_gradients_of_differences_also_with_an_effort_of_the_end_of_the_step() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(7)
    encoder = aa.EncoderConfig(bias=0.1, latency=0.0075, velocity_filter=0.01)
    stages = [aa.PIDControlConfig(20.0, 5.0, 0.5), aa.MaxEffortClampingConfig(30.0)]
    given = torch.tensor(rng.uniform(-0.3, 0.3, (6, 3, 20, 1)).astype(np.float32))
    for mode in ([], [aa.ImplicitConfig(assumed_inertia=0.05)]):
        motor = {"j": [*stages, encoder, *mode]}

        def loss(shift, step: int, motor=motor, grad: bool = True):
            made = aa.ActuatedArrays(["j"], motor, 20, requires_grad=grad)
            total = torch.zeros(20, 1, dtype=torch.float64)
            for k, (q, qd, target) in enumerate(given):
                total = total + (k + 1) * made.step(q + shift if k == step else q, qd, target, 0.005).double()
            return total

        for step in (0, 2):
            shift = torch.zeros(20, 1, requires_grad=True)
            loss(shift, step).sum().backward()
            with torch.no_grad():
                ends = [loss(torch.full((20, 1), sign * 1e-2), step) for sign in (1.0, -1.0)]
            wanted = (ends[0] - ends[1]) / 2e-2
            assert wanted.abs().max() > 1.0
            np.testing.assert_allclose(shift.grad.numpy(), wanted.numpy(), atol=1e-4 * float(wanted.abs().max()))


class Recorded:
    def note(self, inputs):
        return inputs.parameters


def test_positions_are_rounded_as_in_the_step() -> None:
    """Also half-way between two steps of the encoder, where an inverse rounds otherwise than a quotient."""
    count, resolution = 4000, np.float32(2 * np.pi / 4096)
    positions = ((np.arange(count) - 2000.5) * resolution).astype(np.float32)
    arrays = aa.ActuatedArrays(
        ["knee"], {"knee": [aa.PIDControlConfig(1.0, 0.0, 0.0), aa.EncoderConfig(resolution)]}, count
    )
    zero = np.zeros((count, 1), np.float32)
    arrays.step(positions[:, None], zero, zero, 0.002)
    given = {name: np.zeros(count, np.float32) for name in (*aa.FeedbackEncoder.ASKS, *aa.FeedbackEncoder.PARAMETERS)}
    given["resolution"][:] = resolution
    state = [*np.full((2, count), np.nan, np.float32), *np.zeros((2, count), np.float32)]
    rings = list(np.zeros((2, 4, count), np.float32))
    signals, indices = [positions, zero[:, 0], None, None, None], [np.arange(count, dtype=np.uint32)] * 5
    states = States([], None, None, [*state, *rings])
    noted = Measured(Recorded(), count, 0).note(StepInputs(signals, indices, list(given.values()), states, None, 0.002))
    np.testing.assert_array_equal(noted.seen[0], arrays.measured_positions[:, 0])
