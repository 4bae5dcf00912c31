"""Arrays that lie as those that are bound are bound in their place; all others are left to Python."""

import gc
import sys
import weakref
from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.native import core
from refusals import refused

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
ROBOTS, DOFS, DT = 3, 2, 0.005


def numbers(value: float = 0.0) -> np.ndarray:
    return np.full((ROBOTS, DOFS), value, np.float32)


class Bound:
    def __init__(self, make: Callable = np.array) -> None:
        self.plan = core.Plan(
            "leg", ROBOTS, DOFS, [1.0, 0.0, 0.0], [("ControllerPD", [0, 1, 2], [0, 1])], [], [], 1, []
        )
        self.plan.use(*[core.State([], None, None, [])] * 2)
        self.given = [*(make(numbers()) for _ in range(5)), numbers()]
        self.rows = [np.asarray(one) for one in self.given]
        self.bind()

    def bind(self) -> None:
        self.plan.bind_columns(self.rows[:5], self.rows[5], [0, 1])
        self.follow = self.plan.follower(tuple(self.given))

    def step(self) -> np.ndarray:
        self.plan.step(DT)
        return self.rows[5]


@pytest.mark.parametrize("number", range(5))
def test_another_array_is_read_in_its_place(number) -> None:
    bound = Bound()
    given = [*bound.given]
    given[number] = numbers(2.0)
    assert bound.follow(*given) and bound.step().tolist() == numbers([-2.0, 0.0, 2.0, 0.0, 2.0][number]).tolist()
    assert all(found is one for found, one in zip(bound.plan.arrays, given, strict=True))


def test_other_efforts_are_written() -> None:
    bound = Bound()
    q, *others, efforts = bound.given
    assert bound.follow(numbers(1.0), *others, new := numbers())
    bound.step()
    assert not efforts.any() and (new == -1.0).all() and bound.follow(q := numbers(3.0), *others, q)
    bound.step()
    assert (q == -3.0).all()


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


ODD: dict[str, tuple[int, Callable]] = {
    "a list": (0, list),
    "none": (0, lambda: None),
    "of a class of its own": (1, lambda: numbers().view(type("Own", (np.ndarray,), {}))),
    "of another type": (2, lambda: numbers().view(np.int32)),
    "of another byte order": (2, lambda: numbers().astype(">f4")),
    "of more rows": (3, lambda: np.zeros((ROBOTS + 1, DOFS), np.float32)),
    "of one axis": (3, lambda: numbers().ravel()),
    "transposed": (4, lambda: np.zeros((DOFS, ROBOTS), np.float32).T),
    "with rows that lie apart": (4, lambda: np.zeros((2 * ROBOTS, DOFS), np.float32)[::2]),
    "not aligned": (0, lambda: np.zeros(ROBOTS * DOFS * 4 + 1, np.uint8)[1:].view(np.float32).reshape(ROBOTS, DOFS)),
    "read-only": (5, lambda: read_only(numbers())),
}


@pytest.mark.parametrize(("number", "make"), ODD.values(), ids=ODD)
def test_an_array_that_lies_otherwise_is_not_taken(number, make) -> None:
    bound = Bound()
    given = [*bound.given]
    given[number] = make()
    before = bound.plan.arrays
    assert not bound.follow(*given)
    assert all(found is one for found, one in zip(bound.plan.arrays, before, strict=True))
    assert bound.follow(*bound.given)


def test_efforts_overlap_no_signal_in_part() -> None:
    """Where what is written would be read again."""
    bound = Bound()
    memory = np.zeros((2 * ROBOTS, DOFS), np.float32)
    q, *others, _ = bound.given
    assert not bound.follow(memory[:ROBOTS], *others, memory[1 : ROBOTS + 1])
    assert not bound.follow(memory[1 : ROBOTS + 1], *others, memory[:ROBOTS])
    assert bound.follow(memory[:ROBOTS], *others, memory[ROBOTS:]) and bound.follow(q, *others, memory[:ROBOTS])


def test_arrays_live_as_long_as_they_are_bound() -> None:
    bound = Bound()
    for _ in range(2):
        given = [numbers() for _ in range(6)]
        assert bound.follow(*given)
        gone = [weakref.ref(one) for one in given]
        del given
        gc.collect()
        assert all(one() is not None for one in gone) and bound.follow(*bound.given)
        gc.collect()
        assert not any(one() is not None for one in gone)


def test_what_is_let_go_may_bind_others() -> None:
    class Own(np.ndarray):
        def __del__(self) -> None:
            bound.plan.bind_columns(bound.rows[:5], bound.rows[5], [0, 1])

    bound = Bound()
    bound.given[0] = bound.rows[0] = numbers().view(Own)
    bound.bind()
    assert bound.follow(numbers(1.0).view(Own), *bound.given[1:]) and bound.follow(*bound.given)
    gc.collect()
    assert not bound.follow(*bound.given) and not bound.step().any()


def test_it_ends_when_the_plan_is_bound_to_others() -> None:
    bound = Bound()
    first = bound.follow
    bound.bind()
    assert not first(*bound.given) and bound.follow(*bound.given)


def test_it_is_called_with_six_arrays() -> None:
    bound = Bound()
    assert not bound.follow() and not bound.follow(*bound.given, None)


def test_arrays_of_warp_cannot_be_told_apart() -> None:
    bound = Bound()
    assert bound.plan.follower((wp.zeros((ROBOTS, DOFS), dtype=float, device="cpu"), *bound.given[1:])) is None


@pytest.mark.parametrize(
    ("number", "array"),
    [(0, numbers()), (1, np.zeros((ROBOTS, DOFS), np.float64)), (2, b"123456"), (5, np.zeros(1, np.float32))],
    ids=["another array", "of another type", "bytes", "too small"],
)
def test_what_is_not_bound_is_not_followed(number, array) -> None:
    """Its like would be read as if it were."""
    bound = Bound()
    given = [*bound.given]
    given[number] = array
    with pytest.raises(ValueError, match=rf"given\[{number}\]: must be the array that is bound"):
        bound.plan.follower(tuple(given))


def test_efforts_in_bytes_cannot_be_told_apart() -> None:
    bound = Bound()
    assert bound.plan.follower((*bound.given[:5], bytes(24))) is None


def test_a_plan_that_follows_or_was_never_bound_is_refused() -> None:
    refused(ValueError, lambda: Bound().plan.follower((None,)), "given: must be five signals and the efforts")
    plan = core.Plan("leg", ROBOTS, DOFS, [1.0, 0.0, 0.0], [("ControllerPD", [0, 1, 2], [0, 1])], [], [], 1, [])
    refused(ValueError, lambda: plan.follower((None,) * 6), "plan: must be one that was just bound to columns")


def test_a_call_takes_no_memory() -> None:
    bound, other = Bound(), [numbers() for _ in range(6)]
    for _ in range(10):
        bound.follow(*other), bound.follow(*bound.given)
    before = sys.getallocatedblocks()
    for _ in range(1000):
        bound.follow(*other), bound.follow(*bound.given)
    assert sys.getallocatedblocks() - before < 20


@pytest.mark.parametrize("name", ["torch", "jax.numpy"])
def test_arrays_of_other_libraries_are_followed(name) -> None:
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    if name == "torch" and not hasattr(library.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this version of Torch has no table of DLPack")
    bound = Bound(library.asarray if name == "jax.numpy" else library.tensor)
    for value in (1.0, 2.0, 3.0):
        q = bound.given[0] + value
        assert bound.follow(q, *bound.given[1:])
        del q
        gc.collect()
        assert (bound.step() == -value).all()
    assert not bound.follow(numbers(), *bound.given[1:]) and not bound.follow(bound.given[0][:2], *bound.given[1:])


def test_a_tensor_whose_sign_waits_is_not_followed() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this version of Torch has no table of DLPack")
    bound = Bound(torch.tensor)
    assert not bound.follow(torch._neg_view(torch.ones(ROBOTS, DOFS)), *bound.given[1:])
    assert bound.follow(torch.ones(ROBOTS, DOFS), *bound.given[1:])
