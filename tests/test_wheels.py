"""Which wheels are built: `[tool.cibuildwheel]` on the machines of the workflow."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from places import REPOSITORY
from processes import ran

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
WORKFLOW = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "wheels.yml").read_text("utf-8"))
# cibuildwheel's names of what each machine is, and of the wheels that it makes
MACHINES = {
    "ubuntu-24.04": ("linux", "x86_64", "manylinux_x86_64"),
    "ubuntu-24.04-arm": ("linux", "aarch64", "manylinux_aarch64"),
    "macos-14": ("macos", "arm64", "macosx_arm64"),
    "windows-2022": ("windows", "AMD64", "win_amd64"),
}


def pythons() -> list[str]:
    first, after = map(int, re.findall(r"3\.(\d+)", PROJECT["project"]["requires-python"]))
    return [f"cp3{minor}" for minor in range(first, after)]


def test_wheels_are_built_for_every_python_that_the_package_is_for() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["build"] == [f"{tag}-*" for tag in pythons()] and settings["archs"] == ["native"]
    assert settings["environment"] == {"ACTUATORS_CORE": "required"}
    assert set(WORKFLOW["jobs"]["wheels"]["strategy"]["matrix"]["runner"]) == set(MACHINES)


def test_data_beside_the_code_is_in_the_wheel(tmp_path) -> None:
    for needed in ("setuptools", "pybind11"):
        pytest.importorskip(needed, reason=f"{needed}, which builds the package, is not installed: extra ci")
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(tmp_path)]
    built = tmp_path / "built"
    subprocess.run(
        [*command, "build_py", "--build-lib", str(built)],
        cwd=REPOSITORY,
        env=os.environ | {"ACTUATORS_CORE": "off"},
        capture_output=True,
        timeout=120,
        check=True,
    )
    package = REPOSITORY / "python"
    data = [
        path
        for folder in ("extension/action_graphs/nodes", "files/usd", "tools/export")
        for path in package.glob(f"isaacsim/**/actuators/{folder}/**/*.*")
    ]
    names = {path.relative_to(package) for path in data if path.suffix != ".pyc"}
    assert {path.name for path in names} >= {
        "plugInfo.json",
        "generatedSchema.usda",
        "OgnArticulationActuators.ogn",
    } | {"library.h"}
    assert [str(name) for name in sorted(names) if not (built / name).is_file()] == []
    robot = "data/robots/anymal_c.usda"
    (copy,) = built.glob(f"isaacsim/**/environments/{robot}")
    assert copy.read_bytes() == (REPOSITORY / robot).read_bytes()


@pytest.mark.skipif(importlib.util.find_spec("cibuildwheel") is None, reason="cibuildwheel is not installed")
@pytest.mark.parametrize("machine", MACHINES)
def test_cibuildwheel_lists_these_wheels(machine) -> None:
    system, architecture, wheels = MACHINES[machine]
    command = [sys.executable, "-m", "cibuildwheel", "--platform", system, "--archs", architecture]
    done = ran(
        [*command, "--print-build-identifiers"],
        check=True,
        cwd=REPOSITORY,
        env={name: value for name, value in os.environ.items() if not name.startswith("CIBW_")},
        timeout=60,
    )
    assert done.stdout.split() == [f"{tag}-{wheels}" for tag in pythons()]
