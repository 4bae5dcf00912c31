"""One tolerance for every comparison of a float32 law with the float64 oracle."""

import numpy as np

# six float32 roundings of the largest term
RELATIVE = 6 * 2.0**-24


def assert_close(actual, expected, *terms) -> None:
    """Require `actual` to equal `expected` within rounding of the largest of `terms`, or of `expected` itself."""
    scale = np.maximum.reduce([np.abs(np.asarray(term, np.float64)) for term in (expected, *terms)])
    # an infinite limit is no scale
    scale = np.where(np.isfinite(scale), scale, np.abs(expected))
    wrong = np.abs(np.asarray(actual, np.float64) - expected) > RELATIVE * scale + 1e-30
    assert not wrong.any(), f"{np.asarray(actual)[wrong][:5]} != {np.asarray(expected)[wrong][:5]}"
