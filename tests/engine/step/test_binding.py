"""Validation of columns and indices: arrays that do not fit are refused by name before a step."""

from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.step import binding
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from refusals import cases, refused

ROBOTS, SLOTS = 3, 2


def table(dtype=np.float32) -> np.ndarray:
    return np.zeros((ROBOTS, 4), dtype)


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def misaligned(*shape: int) -> np.ndarray:
    return np.frombuffer(bytearray((int(np.prod(shape)) * 4) + 1), np.uint8)[1:].view(np.float32).reshape(shape)


def columns(**changed) -> None:
    inputs = [table() for _ in range(5)]
    if "velocities" in changed:
        inputs[1] = changed.pop("velocities")
    Columns(**{"columns": [3, 1], "inputs": inputs, "efforts": table()} | changed).check(ROBOTS, SLOTS, "cpu")


@cases(
    "changed, words",
    ({"velocities": table(np.float64)}, "velocities has dtype float64: must be float32"),
    ({"velocities": table(np.int32)}, "velocities has dtype int32: must be float32"),
    ({"velocities": table().astype(">f4")}, "velocities has dtype >f4: must be float32"),
    ({"velocities": table().tolist()}, "velocities is a list: must be a NumPy or Warp array of float32"),
    ({"velocities": None}, "velocities is a NoneType"),
    ({"velocities": misaligned(ROBOTS, 4)}, "velocities: must be aligned in memory"),
    ({"velocities": wp.zeros((ROBOTS, 4), dtype=wp.int32, device="cpu")}, "velocities has dtype int32"),
    ({"velocities": table()[0]}, r"velocities has shape \(4,\): must be \(robots, DOFs\) with 3 robots"),
    ({"velocities": table()[:2]}, r"velocities has shape \(2, 4\)"),
    ({"velocities": table()[:, :2]}, "column = 3: must be one of the 2 columns of velocities"),
    ({"velocities": np.zeros((4, ROBOTS), np.float32).T}, "velocities: must be contiguous within a row"),
    ({"velocities": np.zeros((ROBOTS, 8), np.float32)[:, ::2]}, "velocities: must be contiguous within a row"),
    ({"velocities": table()[::-1]}, "velocities: must be made of rows"),
    ({"efforts": read_only(table())}, "efforts: must be writeable"),
    ({"efforts": table(np.float64)}, "efforts has dtype float64"),
    (
        {"efforts": np.lib.stride_tricks.as_strided(np.zeros(12, np.float32), (ROBOTS, 4), (12, 4))},
        "efforts: must be made of rows that do not overlap",
    ),
    ({"columns": [1]}, "1 columns: must be 2, one per slot"),
    ({"columns": [1, 1]}, r"columns = \[1, 1\]: must be all different"),
    ({"columns": [1, -1]}, "column = -1"),
    ({"inputs": [table()] * 4}, "inputs: must be five arrays"),
)
def test_columns_refuse_by_name(changed: Any, words: str) -> None:
    refused(ValueError, lambda: columns(**changed), words)


def test_columns_take_views_and_constants() -> None:
    wide = np.zeros((ROBOTS, 9), np.float32)
    columns(velocities=wide[:, 2:6], efforts=wide[:, 3:7])
    columns(velocities=np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (ROBOTS, 4), (0, 4)))
    columns(velocities=read_only(table()), efforts=wp.zeros((ROBOTS, 4), dtype=wp.float32, device="cpu"))


def numbers(*values: int, dtype=np.uint32) -> np.ndarray:
    return np.array(values, dtype)


def indices(**changed) -> Indices:
    at = numbers(0, 1, 2, 3, 4, 5)
    inputs, places = [np.zeros(6, np.float32) for _ in range(5)], [at] * 5
    for name, where, which in (("velocities", inputs, 1), ("feedforward", inputs, 4), ("position_at", places, 0)):
        if name in changed:
            where[which] = changed.pop(name)
    given = {"inputs": inputs, "indices": places, "efforts": np.zeros(6, np.float32), "effort_indices": at} | changed
    bound = Indices(**given, label="knee")
    bound.check(ROBOTS, SLOTS, "cpu")
    return bound


@cases(
    "changed, words",
    ({"velocities": np.zeros(5, np.float32)}, "knee: index 5 into velocities: must be below 5, its length"),
    ({"efforts": np.zeros(4, np.float32)}, "knee: index 5 into efforts: must be below 4, its length"),
    ({"computed": np.zeros(3, np.float32)}, "knee: index 5 into computed_efforts: must be below 3"),
    ({"effort_indices": numbers(9, 0, 0, 0, 0, 0)}, "knee: index 9 into efforts: must be below 6"),
    ({"position_at": numbers(2**32 - 1, 0, 0, 0, 0, 0)}, "index 4294967295 into positions"),
    ({"feedforward": np.zeros(2, np.float32)}, "index 5 into feedforward"),
    ({"velocities": np.zeros(6)}, "knee: velocities has dtype float64: must be float32"),
    ({"velocities": [0.0] * 6}, "knee: velocities is a list"),
    ({"velocities": np.zeros((6, 1), np.float32)}, "velocities has shape .*: must be one-dimensional"),
    ({"velocities": misaligned(6)}, "aligned"),
    ({"velocities": np.zeros(6, np.float32)[::-1]}, "of whole numbers in a row"),
    ({"efforts": read_only(np.zeros(6, np.float32))}, "knee: efforts: must be writeable"),
    ({"efforts": np.broadcast_to(np.float32(0), 6)}, "efforts: must be"),
    ({"computed": read_only(np.zeros(6, np.float32))}, "computed_efforts: must be writeable"),
    ({"position_at": numbers(*range(6), dtype=np.int32)}, "indices of positions has dtype int32: must be uint32"),
    ({"position_at": numbers(0, 1)}, r"indices of positions has shape \(2,\): must be \(6,\)"),
    ({"position_at": None}, "indices of positions is a NoneType"),
    ({"effort_indices": wp.zeros(6, dtype=wp.float32, device="cpu")}, "effort_indices has dtype float32"),
    ({"inputs": [np.zeros(6, np.float32)] * 6}, "five arrays each"),
)
def test_indices_refuse_by_name(changed: Any, words: str) -> None:
    refused(ValueError, lambda: indices(**changed), words)


def test_indices_take_gaps_and_do_without_feedforward() -> None:
    indices(velocities=np.zeros(12, np.float32)[::2], efforts=np.zeros(18, np.float32)[::3], feedforward=None)


def test_indices_are_looked_through_again() -> None:
    bound = indices()
    bound.effort_indices[2] = 6
    refused(ValueError, bound.check_indices, "index 6 into")


def test_errors_use_the_names_of_whoever_binds() -> None:
    names = ("joint_q", "joint_qd", "joint_target_pos", "joint_target_vel", "joint_act", "joint_f", "joint_computed")
    at = ("pos_indices", "indices", "target_pos_indices", "indices", "indices", "effort_indices")
    for changed, words in (
        ({"efforts": np.zeros(4, np.float32)}, "index 5 into joint_f: must be below 4"),
        ({"position_at": numbers(1)}, "knee: pos_indices has shape"),
    ):
        with pytest.raises(ValueError, match=words):
            indices(names=names, index_names=at, **changed)


def test_an_array_on_cuda_is_looked_through_once() -> None:
    """Stood in for by one that counts how often it is read; another array of the same identity is not taken for it."""

    class Index:
        def __init__(self, largest: int) -> None:
            self.largest, self.reads = largest, 0

        def numpy(self) -> np.ndarray:
            self.reads += 1
            return numbers(0, self.largest)

    array = Index(5)
    assert [binding._largest(array) for _ in range(3)] == [5, 5, 5] and array.reads == 1
    known = len(binding._largest_known)
    del array
    assert len(binding._largest_known) == known - 1
