"""Random numbers of laws in NumPy: those of the functions of Warp."""

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.engine.random.law_numbers import gaussian, uniform
from isaacsim.core.experimental.actuators.laws.contract import functions


@wp.kernel
def draw(
    seed: wp.array[float],
    place: wp.array[float],
    count: wp.array[float],
    uniforms: wp.array[float],
    gaussians: wp.array[float],
):
    n = wp.tid()
    uniforms[n] = functions.uniform(seed[n], place[n], count[n])
    gaussians[n] = functions.gaussian(seed[n], place[n], count[n])


def test_numbers_are_those_of_the_laws(rng) -> None:
    given = [rng.integers(0, most, 5000).astype(np.float32) for most in (2**20, 4096, 2**22)]
    given[2] *= 2
    arrays = [wp.array(one, dtype=wp.float32, device="cpu") for one in given]
    found = [wp.zeros(5000, dtype=wp.float32, device="cpu") for _ in range(2)]
    wp.launch(draw, 5000, arrays, found, device="cpu")
    np.testing.assert_array_equal(uniform(*given), found[0].numpy())
    np.testing.assert_allclose(gaussian(*given), found[1].numpy(), atol=2e-6)
