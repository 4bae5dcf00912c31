"""The compiler of C++ for tests of generated code."""

import shutil

import pytest
from places import REPOSITORY

FLAGS = ["-std=c++17", "-O3", "-Wall", "-Werror", "-ffp-contract=off", f"-I{REPOSITORY / 'native'}"]


def compiler() -> str:
    """A C++ compiler; without one the test is skipped."""
    path = shutil.which("g++") or shutil.which("clang++")
    if path is None:
        pytest.skip("there is no C++ compiler")
    return path
