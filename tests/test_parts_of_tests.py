"""Parts of the tests: each file is in one, and what is asked for runs."""

import argparse
import re

import pytest
from parts_of_tests import is_in_part, part_of
from places import TESTS

FILES = [path for path in sorted(TESTS.rglob("test_*.py")) if "pytest.mark.slow" in path.read_text("utf-8")]


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_each_file_is_in_one_part(parts) -> None:
    assert len(FILES) > 50
    for file in FILES:
        assert sum(is_in_part(file, *part_of(f"{part}/{parts}")) for part in range(parts)) == 1


def test_all_and_none() -> None:
    assert all(is_in_part(file, *part_of("all")) for file in FILES)
    assert not any(is_in_part(file, *part_of("none")) for file in FILES)


@pytest.mark.parametrize("which", ["3/3", "-1/3", "1/0", "some", "1/2/3"])
def test_other_parts_are_refused(which) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f"'{which}': must be 'all', 'none' or a part")):
        part_of(which)


def test_ci_runs_every_part() -> None:
    (parts,) = re.findall(r"--slow .*turn % (\d+)\)\)/(\d+)", (TESTS.parent / ".ci/run").read_text("utf-8"))
    assert parts[0] == parts[1]
