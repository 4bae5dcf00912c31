"""A sample of the broken ONNX files of `tests/hardening/files.py`: each is evaluated or gives one error."""

import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="onnx is not installed: nothing reads its files")
pytest.importorskip("resource", reason="what bounds the script is of POSIX")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hardening"))
import files


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return files.networks(tmp_path_factory.mktemp("networks") / "whole")


def end_of(file: Path) -> str:
    """Return the result of evaluating a file: "fine", "refused" or an error of another kind."""
    ((_, task),) = files.tasks(file, "onnx")
    try:
        task()
    except Exception as error:
        return "refused" if files.is_ours(error, file) else f"{file.name}: {error!r}"
    return "fine"


def test_networks_are_evaluated_while_they_are_whole(networks) -> None:
    assert {end_of(file) for file in networks} == {"fine"}


@pytest.mark.slow
def test_some_broken_networks(networks) -> None:
    ends = set()
    for number in range(400):
        rng = np.random.default_rng([29, zlib.crc32(b"onnx"), number])
        original = networks[int(rng.integers(len(networks)))]
        file = original.with_name(f"broken_{number}.onnx")
        file.write_bytes(files.broken(rng, original.read_bytes(), "onnx"))
        ends.add(end_of(file))
        file.unlink()
    assert ends == {"fine", "refused"}
