"""Copies that hosts hand out."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.simulators.copied import warp_copy


@pytest.mark.parametrize(
    "values",
    [np.arange(6.0).reshape(2, 3), np.arange(6, dtype=np.float32).reshape(3, 2).T, np.arange(12, dtype=np.int64)[::2]],
    ids=["float64", "transposed", "every other"],
)
def test_copy_has_the_values_and_its_own_memory(values) -> None:
    """Float32 on the CPU, and what is written later stays out of it."""
    copied = warp_copy(values)
    assert copied.dtype is wp.float32 and copied.is_contiguous and copied.device.is_cpu
    expected = values.astype(np.float32)
    values += 1
    np.testing.assert_array_equal(copied.numpy(), expected)
