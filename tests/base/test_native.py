"""A core that was not built is no fault; one that is there and cannot be loaded is told, with what to do about it."""

import os
import shutil
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.base import native
from processes import ran
from refusals import cases

# the package's file in a place of its own, beside cores of all kinds
PAGE = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import native
print(native.core is not None)
for one in caught:
    print(one.category.__name__, one.message)
"""
MODULE = """
#include <Python.h>
static struct PyModuleDef core = {{PyModuleDef_HEAD_INIT, "core"}};
{before}
PyMODINIT_FUNC PyInit_core(void) {{ {body} return PyModule_Create(&core); }}
"""
SUFFIX = EXTENSION_SUFFIXES[0]


def seen(folder: Path, **environment: str) -> list[str]:
    variables = {name: value for name, value in os.environ.items() if name != "ACTUATORS_CORE"} | environment
    return ran([sys.executable, "-c", PAGE, str(folder)], check=True, env=variables, timeout=60).stdout.splitlines()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "native").mkdir()
    shutil.copy(native.__file__, tmp_path / "native" / "__init__.py")
    return tmp_path / "native"


def compiled(place: Path, before: str = "", body: str = "") -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None or sys.platform == "win32":
        pytest.skip("no C++ compiler")
    source = place.parent / "core.cpp"
    source.write_text(MODULE.format(before=before, body=body))
    done = ran(
        [compiler, "-shared", "-fPIC", "-I", sysconfig.get_path("include"), str(source), "-o", str(place)], timeout=120
    )
    if "Python.h" in done.stderr:
        pytest.skip("no headers of Python")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("other", [[], ["core.cpython-305-x86_64-linux-gnu.so"]], ids=["none", "for another Python"])
def test_a_core_that_was_not_built_is_no_fault(package, other) -> None:
    """Nothing is said when the package is imported; a step that would have used it says it once."""
    for name in other:
        (package / name).write_bytes(b"not for this Python")
    assert seen(package.parent) == ["False"]


@pytest.mark.parametrize("content", [b"", b"not a library", b"\x7fELF\x02\x01\x01" + bytes(57)])
def test_a_broken_core_is_told(package, content) -> None:
    place = package / f"core{SUFFIX}"
    place.write_bytes(content)
    found, line = seen(package.parent)
    assert found == "False" and line.startswith(f"RuntimeWarning native core = {place}: cannot be loaded (")
    assert "Warp runs on the CPU instead" in line and "build_ext --inplace --force" in line
    assert "ACTUATORS_CORE=off does without it." in line


@pytest.mark.skipif(sys.platform != "linux", reason="looked for in libraries of Linux")
@pytest.mark.parametrize("size", [64, 4096, 100_000, -1])
def test_a_core_cut_short_is_told(package, size) -> None:
    """What a full disk leaves of the real one: loading it would end the process."""
    if native.core is None:
        pytest.skip("the native core was not built")
    (package / f"core{SUFFIX}").write_bytes(Path(native.core.__file__).read_bytes()[:size])
    found, line = seen(package.parent)
    assert found == "False" and "cannot be loaded (the file is cut short)" in line


@cases(
    "before, body, reason",
    ('extern "C" void gone(); extern "C" void (*const used)() = gone;', "", "gone"),
    ("", 'PyErr_SetString(PyExc_ImportError, "made for Python 3.5"); return NULL;', "made for Python 3.5"),
    ("", 'PyErr_SetString(PyExc_SystemError, "no such ABI"); return NULL;', "no such ABI"),
    ids=["missing symbol", "wrong ABI", "another error"],
)
def test_a_core_that_fails_while_loading_is_told(package, before, body, reason) -> None:
    compiled(package / f"core{SUFFIX}", before, body)
    found, line = seen(package.parent)
    assert found == "False" and line.startswith("RuntimeWarning") and reason in line


def test_a_core_that_loads_is_taken_without_a_word(package) -> None:
    compiled(package / f"core{SUFFIX}")
    assert seen(package.parent) == ["True"] and seen(package.parent, ACTUATORS_CORE="off") == ["False"]
    (package / f"core{SUFFIX}").write_bytes(b"")
    assert seen(package.parent, ACTUATORS_CORE="off") == ["False"]
