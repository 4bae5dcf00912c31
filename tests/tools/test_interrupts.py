"""Ctrl+C in loops and in programs."""

import signal
import subprocess
import sys

import pytest
from isaacsim.core.experimental.actuators.tools.interrupts import until_interrupted
from refusals import cases


@pytest.fixture(autouse=True)
def _as_in_a_terminal():
    """Where a shell starts the tests in the background, it has programs ignore Ctrl+C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_loop_ends_with_its_results(capsys) -> None:
    """After the item in which Ctrl+C came, the first one too; the handler is that of before."""
    handler = signal.getsignal(signal.SIGINT)
    for last in (0, 3):
        seen = []
        for item in until_interrupted(range(9)):
            if item == last:
                signal.raise_signal(signal.SIGINT)
            seen.append(item)
        assert seen == [*range(last + 1)]
        assert capsys.readouterr().err.startswith("Interrupted: the results are those up to here.")
    assert signal.getsignal(signal.SIGINT) is handler
    assert [*until_interrupted("ab")] == ["a", "b"] and not capsys.readouterr().err


def test_a_second_interrupt_is_one() -> None:
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        for _ in until_interrupted(range(9)):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is handler


@cases("error, said", ("KeyboardInterrupt", "Interrupted.\n"), ("ValueError('odd')", "Traceback"))
def test_a_program_ends_without_a_traceback(error, said) -> None:
    code = "from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback\nwithout_traceback()\n"
    done = subprocess.run([sys.executable, "-c", f"{code}raise {error}"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and done.stderr.startswith(said)
