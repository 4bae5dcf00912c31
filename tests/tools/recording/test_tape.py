"""Memory with a row per step: all of them, in chunks, or the last ones."""

import tracemalloc

import numpy as np
from isaacsim.core.experimental.actuators.tools.recording.tape import Tape
from refusals import cases

ROWS = {"wide": ((50_000,), np.dtype(np.float32)), "number": ((), np.dtype(np.float64))}


def written(count: int, capacity: int | None = None) -> Tape:
    tape = Tape(ROWS, capacity)
    for number in range(count):
        for array in tape.next_row().values():
            array[...] = number
        tape.advance()
    return tape


@cases("count", 0, 1, 4, 5, 6, 13)
@cases("capacity", None, 1, 5)
def test_rows_are_read_in_their_order(count, capacity) -> None:
    tape = written(count, capacity)
    expected = np.arange(count)[-(capacity or count) :] if count else np.arange(0)
    assert (len(tape), tape.count) == (len(expected), count) and tape.read("number").tolist() == expected.tolist()
    wide = tape.read("wide")
    assert wide.shape == (len(expected), 50_000) and (wide.T == expected).all()


def test_what_was_read_is_a_copy() -> None:
    tape = written(3)
    tape.read("number")[:] = 7
    assert tape.read("number").tolist() == [0, 1, 2]


def test_memory_grows_in_pieces() -> None:
    tape = written(40)
    tracemalloc.start()
    try:
        for _ in range(40):
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            tape.next_row()
            tape.advance()
            assert tracemalloc.get_traced_memory()[1] - before < 1 << 21
    finally:
        tracemalloc.stop()


def test_a_row_that_does_not_count_is_written_again() -> None:
    tape = written(2)
    tape.next_row()["number"][...] = 9
    tape.next_row()["number"][...] = 2
    tape.advance()
    assert tape.read("number").tolist() == [0, 1, 2]
