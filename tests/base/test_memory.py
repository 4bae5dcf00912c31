"""The memory of an array, as NumPy's and as Warp's."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.memory import apart, lie_of, numpy_view, overlap, warp_view


def test_arrays_change_their_kind_in_place() -> None:
    for array in (np.zeros((3, 5), np.float32)[:, 1:4], np.zeros(6, np.uint32)[::2]):
        seen = warp_view(array)
        seen.fill_(3)
        assert (array == 3).all() and numpy_view(seen).ctypes.data == array.ctypes.data
        assert warp_view(seen) is seen and numpy_view(array) is array


def test_how_an_array_lies_changes_with_it() -> None:
    array = np.zeros((4, 4), np.float32)
    before = lie_of(array)
    array[:] = 1.0
    assert lie_of(array) == before and lie_of(array.T) != before
    assert lie_of(array[:2]) != before and lie_of(array[1:]) != lie_of(array[:3])
    assert lie_of(warp_view(array)) is None


@pytest.mark.parametrize("as_warp", [False, True], ids=["numpy", "warp"])
def test_arrays_overlap_in_part(as_warp) -> None:
    memory = np.zeros((6, 8), np.float32)
    first = memory[:4, :4]
    for other, expected in [
        (memory[:4, :4], False),
        (memory[:4, 4:], False),
        (memory[4:, :4], False),
        (memory[:0], False),
        (memory[:4, 3:7], True),
        (memory[1:5, :4], True),
        (memory[:4], True),
        (memory.reshape(12, 4)[:4], True),
    ]:
        assert overlap(*[warp_view(one) if as_warp else one for one in (first, other)]) is expected


def test_arrays_start_at_different_places_in_a_page() -> None:
    made = [apart((3, 2000), 1.5), apart(5, dtype=np.int32), apart((0, 4)), apart(7, np.nan)]
    places = [one.ctypes.data % 4096 for one in made if one.size]
    assert len(set(places)) == len(places) and not any(place % 64 for place in places)
    assert [(one.shape, one.dtype) for one in made] == [
        ((3, 2000), np.float32),
        ((5,), np.int32),
        ((0, 4), np.float32),
        ((7,), np.float32),
    ]
    assert (made[0] == 1.5).all() and not made[1].any() and np.isnan(made[3]).all()
