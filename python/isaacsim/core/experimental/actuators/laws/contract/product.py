"""A product with a possibly infinite factor, for laws with gradients.

If the gradient by the product is zero, for instance that of an inactive bound, both gradients are zero; Warp's own
adjoint gives 0 · ∞ = NaN. Laws without such a factor multiply directly.
"""

from __future__ import annotations

import warp as wp


@wp.func
def product(first: float, second: float) -> float:
    """Return the product."""
    return first * second


@wp.func_grad(product)
def _product_back(first: float, second: float, by: float):
    if by != 0.0:
        wp.adjoint[first] += by * second  # pyright: ignore
        wp.adjoint[second] += by * first  # pyright: ignore
