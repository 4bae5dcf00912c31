"""Arrays are recognized as long as they are the same objects and lie as they lay."""

import gc
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)


def square() -> np.ndarray:
    return np.zeros((4, 4), np.float32)


def set_(name: str, value) -> Callable:
    def change(array) -> None:
        with warnings.catch_warnings():
            # later versions of NumPy say not to
            warnings.simplefilter("ignore", DeprecationWarning)
            setattr(array, name, value)

    return change


NUMPY: dict[str, Callable] = {
    "memory": lambda array: array.resize((400, 4), refcheck=False),
    "shape": set_("shape", (2, 8)),
    "axes": set_("shape", 16),
    "strides": set_("strides", (4, 16)),
    "type": set_("dtype", np.int32),
}
TORCH: dict[str, Callable] = {
    "memory": lambda tensor: tensor.set_(tensor.clone()),
    "data": lambda tensor: setattr(tensor, "data", tensor.clone()),
    "shape": lambda tensor: tensor.resize_(2, 8),
    "transposed": lambda tensor: tensor.t_(),
    "axes": lambda tensor: tensor.unsqueeze_(0),
    "strides": lambda tensor: tensor.as_strided_((4, 4), (0, 1)),
    "type": lambda tensor: setattr(tensor, "data", tensor.view(tensor.int().dtype)),
}


@pytest.mark.parametrize("change", NUMPY.values(), ids=NUMPY)
def test_an_array_that_lies_elsewhere_is_not_recognized(change) -> None:
    """Though it is the same object; and after it was looked at again, it is."""
    first, second = square(), square()
    recognize = core.recognizer((first, None, second))
    assert recognize(first, None, second)
    change(second)
    assert not recognize(first, None, second) and core.recognizer((first, None, second))(first, None, second)


@pytest.mark.parametrize("change", TORCH.values(), ids=TORCH)
def test_a_tensor_that_lies_elsewhere_is_not_recognized(change) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this version of Torch has no table of DLPack")
    tensor = torch.zeros(4, 4)
    recognize = core.recognizer((tensor,))
    assert recognize(tensor)
    change(tensor)
    assert not recognize(tensor)


def test_what_is_written_into_an_array_changes_nothing() -> None:
    array = square()
    recognize = core.recognizer((array,))
    array[:] = 5.0
    assert recognize(array)


@pytest.mark.parametrize("given", [(), (None,), (1, 2), (None, None), (None, 1, 3)])
def test_other_objects_and_other_numbers_of_them_are_not_recognized(given) -> None:
    array = square()
    recognize = core.recognizer((array, None))
    assert not recognize(*given) and not recognize(square(), None)


def test_arrays_live_as_long_as_what_recognizes_them() -> None:
    array = square()
    count = sys.getrefcount(array)
    recognize = core.recognizer((array,))
    assert sys.getrefcount(array) == count + 1
    del recognize
    assert sys.getrefcount(array) == count
    held = [array]
    held.append(core.recognizer((held, array)))
    del held
    gc.collect()
    assert sys.getrefcount(array) == count
