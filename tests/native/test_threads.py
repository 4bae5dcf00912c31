"""Several Python threads with the core; `tests/hardening/threads.py` does so for long, under a sanitizer too."""

import sys
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.base.native import core

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hardening"))
import threads


@pytest.mark.parametrize("size", threads.SIZES)
@pytest.mark.parametrize("case", threads.CASES)
def test_threads_change_nothing_of_each_other(case, size) -> None:
    works = case(threads.SIZES[size])

    def work(thread: int) -> None:
        for _ in range(5):
            works(thread)

    rounds, errors = threads.run(case.__name__, work, 0)
    assert errors == [] and rounds == threads.THREADS
