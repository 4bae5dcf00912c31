"""Native cores told by the names of their files: what is said where none is for this Python."""

import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest
from isaacsim.core.experimental.actuators.base.cores import missing_core

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHERS = ["core.cpython-305-x86_64-linux-gnu.so", "core.cp304-win_amd64.pyd", "core.cpython-305-darwin.so"]


@pytest.mark.parametrize("suffix", EXTENSION_SUFFIXES)
def test_nothing_is_said_where_there_is_one(tmp_path, suffix) -> None:
    (tmp_path / f"core{suffix}").touch()
    assert missing_core(tmp_path) is None


@pytest.mark.parametrize(("names", "there"), [([], ""), (OTHERS, ", though for 3.4, 3.5"), (["core.pyi"], "")])
def test_missing_core_is_named_by_python(tmp_path, names, there, monkeypatch) -> None:
    monkeypatch.delenv("ACTUATORS_CORE", raising=False)
    for name in names:
        (tmp_path / name).touch()
    assert missing_core(tmp_path) == (
        f"No native core for Python {HERE} in this package{there}: Warp steps instead, slower. Build it with a C++17 "
        f"compiler: './repo.sh package --python {HERE}' for Kit, 'pip install' elsewhere."
    )


def test_core_that_was_turned_off_blames_no_compiler(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ACTUATORS_CORE", "off")
    assert str(missing_core(tmp_path)).startswith("ACTUATORS_CORE=off: Warp steps")
