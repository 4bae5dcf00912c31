"""What `setup.py` makes of a compiler that works, fails or is missing; with a stand-in compiler and a small package."""

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from places import REPOSITORY
from processes import ran
from refusals import cases

for needed in ("pybind11", "setuptools"):
    pytest.importorskip(needed, reason=f"{needed}, which builds the core, is not installed: extra ci")
if sys.platform == "win32":
    pytest.skip("a script cannot stand in for Microsoft's compiler", allow_module_level=True)
SOURCES = sorted(path.stem for path in (REPOSITORY / "native").glob("*.cpp"))
# compiles and links by making the file that -o names; a source that holds an error fails; what it makes runs, and ends
# with 1 where it was compiled for AVX-512, which the processor lacks
COMPILER = """#!/bin/sh
code=0
while [ $# -gt 0 ]; do
    case "$1" in
        -o) shift; made=$1 ;;
        -mavx512f) code=1 ;;
        *.cpp) if grep -q broken "$1"; then echo "$1:1:1: error: broken" >&2; exit 1; fi ;;
        *.o) object=$1 ;;
    esac
    shift
done
if [ -n "$object" ]; then cat "$object" >"$made"; else printf '#!/bin/sh\\nexit %d\\n' $code >"$made"; fi
chmod +x "$made"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(REPOSITORY / "setup.py", tmp_path)
    (tmp_path / "small.py").touch()
    # what the environments need
    (tmp_path / "data" / "robots").mkdir(parents=True)
    (tmp_path / "data" / "robots" / "anymal_c.usda").touch()
    settings = '[project]\nname = "small"\nversion = "1"\n[tool.setuptools]\npy-modules = ["small"]\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    shutil.copytree(REPOSITORY / "native", tmp_path / "native", ignore=shutil.ignore_patterns("*.md"))
    compiler = tmp_path / "compiler"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    return tmp_path


def build(
    project: Path, compiler: str = "compiler", core: str = "", command: Sequence[str] = ("bdist_wheel",)
) -> tuple[int, str, list[str]]:
    """Exit code, what was printed, and the tags of the wheels, with a stand-in compiler, or one that is not there."""
    named = str(project / compiler)
    variables = {"CC": named, "CXX": named, "LDSHARED": named, "LDCXXSHARED": named, "ACTUATORS_CORE": core}
    done = ran([sys.executable, "setup.py", "--quiet", *command], cwd=project, env=os.environ | variables, timeout=120)
    wheels = [path.stem.removeprefix("small-1-") for path in project.glob("dist/*.whl")]
    return done.returncode, done.stdout + done.stderr, wheels


@cases("core", "", "required")
@pytest.mark.slow
def test_wheel_with_the_core_is_for_one_platform(project, core) -> None:
    code, said, (tag,) = build(project, core=core)
    assert code == 0 and tag.startswith(f"cp{sys.version_info.major}{sys.version_info.minor}-"), said
    assert "without the native core" not in said


@cases("source", *SOURCES)
@pytest.mark.slow
def test_error_in_a_source_makes_no_wheel(project, source) -> None:
    path = project / "native" / f"{source}.cpp"
    path.write_text(f"broken {path.read_text()}")
    code, said, wheels = build(project)
    assert code != 0 and wheels == [] and f"native/{source}.cpp:1:1: error: broken" in said
    assert "the native core does not compile. ACTUATORS_CORE=off leaves it out." in said


@cases("reason", "no compiler", "off")
@pytest.mark.slow
def test_wheel_without_the_core_says_so_in_its_name(project, reason) -> None:
    code, said, wheels = build(project, "nowhere") if reason == "no compiler" else build(project, core="off")
    assert code == 0 and wheels == ["py3-none-any"], said
    assert "without the native core, Warp computes on the CPU, slower: " in said


@cases("core, rule", ("required", "Install g++"), ("on", "must be 'required', 'off'"))
def test_required_core_is_never_left_out(project, core, rule) -> None:
    code, said, wheels = build(project, "nowhere", core)
    assert code == 1 and wheels == [] and f"ACTUATORS_CORE{' = ' if core == 'on' else '='}" in said and rule in said


def test_unknown_wish_for_instruction_sets_is_refused(project, monkeypatch) -> None:
    monkeypatch.setenv("ACTUATORS_VARIANTS", "avx2")
    code, said, _ = build(project)
    assert code == 1 and "ACTUATORS_VARIANTS = 'avx2': must be 'all', 'baseline' or nothing." in said


@cases(
    "command, wish, expected",
    (("build_ext",), "", {"baseline", "avx2", "avx512"}),
    (("build_ext", "--inplace"), "", {"avx2"}),
    (("build_ext", "--inplace"), "all", {"baseline", "avx2"}),
)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="one instruction set")
@pytest.mark.slow
def test_core_of_a_clone_has_the_best_instructions_of_its_processor(project, monkeypatch, command, wish, expected):
    monkeypatch.setenv("ACTUATORS_VARIANTS", wish)
    (project / "isaacsim/core/experimental/actuators/base/native").mkdir(parents=True)
    code, said, _ = build(project, command=command)
    assert code == 0, said
    assert {path.parents[1].name for path in project.glob("build/temp*/*/native/step.o")} == expected


@pytest.mark.slow
def test_core_is_compiled_again_only_where_something_has_changed(project) -> None:
    def compiles(*command: str) -> bool:
        shutil.rmtree(project / "dist", ignore_errors=True)
        code, said, wheels = build(project, command=command or ("bdist_wheel",))
        assert code == 0 and (command or len(wheels) == 1), said
        assert ("compiling the native core" in said) != ("the native core has not changed: taken from" in said), said
        return "compiling the native core" in said

    assert compiles() and not compiles()
    with next((project / "native").glob("*.h")).open("a") as header:
        header.write("// changed\n")
    assert compiles() and not compiles()
    with (project / "compiler").open("a") as compiler:
        compiler.write('[ -n "$made" ] || echo version 2\n')
    assert compiles() and not compiles() and compiles("build_ext", "--force")
