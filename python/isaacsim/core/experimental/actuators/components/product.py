"""A product of which a factor may be infinite, in laws that have gradients.

Where the product does not count, as a bound beyond another one, no gradient goes back through it; by Warp's own adjoint
that would be 0 · ∞ = NaN. Laws without such a factor multiply.
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
