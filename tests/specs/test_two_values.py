"""Values that must agree, and the message where they do not."""

import math

import pytest
from isaacsim.core.experimental.actuators.specs.two_values import are_same, contradiction


def test_single_precision_is_the_same() -> None:
    assert are_same(0.1, 0.1 + 1e-7) and are_same(0.0, 0.0) and are_same(math.inf, math.inf)
    assert not are_same(0.1, 0.101) and not are_same(0.0, 1e-9) and not are_same(1.0, math.inf)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [(180.0, math.pi, True), (math.pi, -180.0, True), (1.0, 2.0, False), (0.0, 1.0, False), (math.inf, 1.0, False)],
)
def test_degrees_are_told(first, second, told) -> None:
    line = contradiction("/Arm/hinge", ".a = 1", "b = 2", first, second)
    assert line.startswith("</Arm/hinge>.a = 1 and b = 2 (SI) mean the same and differ")
    assert ("57.3" in line) is told and line.endswith("The former is read: correct one of them.")
