"""What is changed between steps acts at the next one; and numbers drawn from a normal distribution, to their tails."""

from statistics import NormalDist

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)

from core_objects import DT, ROBOTS, OneJoint, floats, ints


def test_a_lag_given_between_steps_acts_at_the_next() -> None:
    one = OneJoint()
    one.plan.use(one.state, one.state)
    one.plan.share(5, floats(1, value=1e6))
    for row, value in enumerate([1.0, 0.0, 0.0, 0.0, 0.0]):
        one.plan.share(row, floats(1, value=value))
    for signal in one.arrays[:5]:
        signal[:] = 0
    one.plan.share_lag(ints(1, value=1))
    one.plan.bind_indices(one.names, one.arrays, [one.at] * 7)
    found = []
    for step in range(1, 7):
        one.arrays[2][:], one.arrays[5][:] = step, 0
        if step == 5:
            one.plan.share_lag(ints(1, value=2))
        one.plan.step(DT)
        found.append(float(one.arrays[5][0]))
    assert found[1:] == [1, 2, 3, 3, 4]


def test_other_kinds_of_arrays_between_steps() -> None:
    one = OneJoint()
    one.plan.use(one.state, one.state)
    wide, efforts = [floats(ROBOTS, 1) for _ in range(5)], floats(ROBOTS, 1, value=0)
    one.plan.bind_columns(wide, efforts, [0])
    one.plan.step(DT)
    before, computed = one.arrays[5:]
    before[:], computed[:] = 0, 0
    assert efforts.all()
    one.plan.bind_indices(one.names, [*one.arrays[:6], None], [one.at] * 7)
    one.plan.step(DT)
    assert one.plan.layout == "indexed" and before.all() and not computed.any()
    one.plan.bind_indices(one.names, one.arrays, [one.at] * 7)
    one.plan.step(DT)
    assert computed.all()


def mixed(x: int) -> int:
    """The finaliser of SplitMix64."""
    most = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & most
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & most
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & most
    return x ^ (x >> 31)


def test_normal_numbers_are_those_of_the_distribution() -> None:
    count, key = 4000, 77
    values = floats(count)
    core.Draws([(values, floats(count), 2, 0, 0.0, 1.0, key, False)], count).draw(
        np.arange(count), np.zeros(count, np.int64), 0
    )
    normal = NormalDist()
    first, last = normal.cdf(-3), normal.cdf(3)
    places = [first + (mixed(mixed(mixed(row)) ^ key) >> 11) * 2.0**-53 * (last - first) for row in range(count)]
    wanted = np.array([normal.inv_cdf(place) for place in places])
    np.testing.assert_allclose(values, wanted, atol=1e-6)
    assert wanted.min() < -2.5 and wanted.max() > 2.5
