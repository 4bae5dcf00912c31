"""Laws whose results are parameters, in the recorders of the core and of Warp."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerPD
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine.gradients import gradient_recorder
from isaacsim.core.experimental.actuators.engine.gradients.given_laws import GivenEffort, GivenMeasurement
from isaacsim.core.experimental.actuators.engine.gradients.gradient_kernels import PipelineLaws
from isaacsim.core.experimental.actuators.engine.gradients.warp_gradients import WarpGradients

# more than a block of the core
N = 700


def recorder(engine: str, controller, sensor):
    curves = [[], []] + ([[]] if sensor else [])
    if engine == "Warp":
        return WarpGradients(N, PipelineLaws(controller, (ClampingMaxEffort,), sensor), curves, 0, "cpu")
    if native.core is None:
        pytest.skip("the native core was not built")
    return gradient_recorder.CoreGradients(
        N, controller.__name__, [], ["ClampingMaxEffort"], curves, 0, sensor.__name__ if sensor else ""
    )


@pytest.mark.parametrize("engine", ["core", "Warp"])
@pytest.mark.parametrize("controller", [GivenEffort, ControllerPD])
def test_given_numbers_act_in_the_place_of_a_law(engine, controller, rng) -> None:
    is_effort = controller is GivenEffort
    signals = [rng.normal(size=N).astype(np.float32) for _ in range(5)]
    seen, limit = rng.normal(size=(2, N)).astype(np.float32), np.full(N, 3.0, np.float32)
    signals[0][7] = np.nan if is_effort else signals[0][7]
    seen[0, 7] = np.nan
    gains = [np.full(N, value, np.float32) for value in (5.0, 1.0, 0.0)]
    parameters = [seen[0], limit] if is_effort else [*gains, limit, *seen]
    made, places = recorder(engine, controller, None if is_effort else GivenMeasurement), np.arange(N, dtype=np.uint32)
    noted = made.note(gradient_recorder.StepInputs(signals, [places] * 5, parameters, None, None, 0.01))
    efforts, computed = made.efforts(noted)
    expected = seen[0] if is_effort else 5.0 * (signals[2] - seen[0]) + (signals[3] - seen[1]) + signals[4]
    np.testing.assert_allclose(computed, expected, atol=1e-5)
    np.testing.assert_allclose(efforts, np.clip(expected, -3.0, 3.0), atol=1e-5)
    ones, by_signals = np.ones(N, np.float32), [np.zeros(N, np.float32) for _ in range(5)]
    by_parameters = [np.zeros(N, np.float32) for _ in parameters]
    made.back(
        noted, gradient_recorder.StepGradients([ones, None], places, by_signals, [places] * 5, by_parameters, [], [])
    )
    inside = np.abs(expected) < 3.0
    assert 0 < inside.sum() < N - 1
    if is_effort:
        np.testing.assert_array_equal(by_parameters[0], inside)
    else:
        np.testing.assert_array_equal(by_parameters[-2:], [-5.0 * inside, -1.0 * inside])
    assert not by_signals[0].any() and not by_signals[1].any()
