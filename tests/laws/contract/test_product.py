"""A product without influence on the result has no gradient, for any factors."""

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.laws.contract.law import within
from isaacsim.core.experimental.actuators.laws.contract.product import product
from refusals import cases


@wp.kernel
def bound_kernel(numbers: wp.array[float], bound: wp.array[float]):
    bound[0] = within(product(numbers[0], numbers[1]), -numbers[2], numbers[2])


@cases(
    "numbers, bound, gradients",
    ([2.0, 3.0, 10.0], 6.0, [3.0, 2.0, 0.0]),
    ([2.0, 6.0, 10.0], 10.0, [0.0, 0.0, 1.0]),
    ([np.inf, 3.0, 10.0], 10.0, [0.0, 0.0, 1.0]),
    ([np.inf, -3.0, 10.0], -10.0, [0.0, 0.0, -1.0]),
    ([2.0, np.inf, 10.0], 10.0, [0.0, 0.0, 1.0]),
)
def test_bound_has_the_gradient_of_what_it_is(numbers, bound, gradients) -> None:
    given = wp.array(numbers, dtype=wp.float32, device="cpu", requires_grad=True)
    found = wp.zeros(1, dtype=wp.float32, device="cpu", requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(bound_kernel, 1, [given], [found], device="cpu")
    found.grad.fill_(1.0)
    tape.backward()
    assert found.numpy()[0] == bound and given.grad.numpy().tolist() == gradients
