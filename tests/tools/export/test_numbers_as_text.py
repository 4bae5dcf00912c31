"""Numbers as text that reads back the same."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.export.numbers_as_text import text_of


@pytest.mark.parametrize("value", [0.1, -80.0, 2.1, 1e-7, 3.4e38, 1 / 3, 123456789.0])
def test_the_same_float_comes_back(value) -> None:
    """And short numbers stay short."""
    assert np.float32(text_of(value)) == np.float32(value)
    assert text_of(0.1) == "0.1"
    assert text_of(-80.0) == "-80"
