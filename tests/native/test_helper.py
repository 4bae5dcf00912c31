"""The second thread of the core, alone: every chunk of a job is done once, by whoever says so, and it does help."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import REPOSITORY


@pytest.mark.skipif(sys.platform != "linux", reason="the flags are those of Linux")
@pytest.mark.slow
def test_chunks_are_done_once_and_shared(tmp_path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    source, made = Path(__file__).with_name("helper.cpp"), tmp_path / "helper"
    flags = ["-std=c++17", "-O1", "-pthread", f"-I{REPOSITORY / 'native'}"]
    subprocess.run([compiler, *flags, str(source), "-o", str(made)], check=True)
    done = subprocess.run([str(made)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "0 faults\n"), done.stderr
