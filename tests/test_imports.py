"""What importing costs and shows."""

import subprocess
import sys

import isaacsim.core.experimental.actuators as package
import pytest
from refusals import cases

HEAVY = ["warp", "newton", "mujoco", "pxr", "numpy", "torch"]


def modules_after(code: str) -> set[str]:
    """Top-level modules loaded by a fresh interpreter that runs `code`."""
    script = f"{code}\nimport sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@cases(
    "code, absent",
    ("import isaacsim.core.experimental.actuators", HEAVY),
    ("from isaacsim.core.experimental.actuators import PDControlConfig, DelayConfig", HEAVY),
    ("from isaacsim.core.experimental.actuators import add_actuator", ["newton", "mujoco"]),
    ("from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation", ["newton", "mujoco"]),
    ("import isaacsim.core.experimental.actuators.extension.entry", HEAVY),
    ("import isaacsim.core.experimental.actuators.simulators", HEAVY),
    ("import isaacsim.core.experimental.actuators.simulators.port", HEAVY),
    ("import isaacsim.core.experimental.actuators.simulators.current", HEAVY),
    ("import isaacsim.core.experimental.actuators.simulators.binding", ["pxr", "newton", "mujoco", "torch"]),
    ("import isaacsim.core.experimental.actuators.simulators.arrays", ["newton", "mujoco", "torch"]),
)
@pytest.mark.slow
def test_import_loads_nothing_heavy(code, absent) -> None:
    assert not modules_after(code) & set(absent)


@cases("arguments", ["--help"], ["run", "--help"], ["run", "--sped", "2"])
def test_help_of_the_command_loads_nothing_heavy(arguments) -> None:
    code = f"""
from isaacsim.core.experimental.actuators.tools.commands.main import main
try:
    main({arguments})
except SystemExit:
    pass
else:
    raise AssertionError("it ran")"""
    loaded = modules_after(code)
    assert "tyro" in loaded and not loaded & {*HEAVY, "matplotlib", "rich"}


@cases("name", *package.__all__)
def test_public_name_loads_and_is_documented(name) -> None:
    assert getattr(package, name).__doc__ and name in dir(package)


def test_dir_shows_public_names_only() -> None:
    assert sorted(dir(package)) == sorted([*package.__all__, "__version__"])


def test_what_dir_gives_in_kit_is_loaded_already() -> None:
    """Kit's loader takes every name of it: none of them imports anything, and the entry point is among them."""
    code = """
import sys
sys.modules["carb"] = None
import isaacsim.core.experimental.actuators as package
def look():
    before, names = set(sys.modules), dir(package)
    taken = [getattr(package, name) for name in names]
    assert "__all__" not in names and package.Extension in taken and set(sys.modules) == before, names
look()
package.__all__
look()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        package.Nonsense  # noqa: B018


def test_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from isaacsim.core.experimental.actuators import *", names)
    assert set(package.__all__) <= set(names) and names["Extension"] is package.Extension
