"""Bridges to neighbours run where the neighbour is installed, each in a program of its own."""

import os
import sys
from importlib.util import find_spec

import pytest
from places import REPOSITORY
from processes import ran

FOLDER = REPOSITORY / "standalone_examples" / "bridges"
NEIGHBOURS = {
    "in_mjlab": ("mjlab",),
    "in_isaac_lab": ("isaaclab", "lazy_loader", "torch", "newton"),
    "from_lerobot": ("lerobot", "scipy"),
    "beside_playground": ("mujoco_playground",),
}


def test_each_bridge_has_a_neighbour() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(NEIGHBOURS)


@pytest.mark.slow
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_bridge_ends_with_its_check(name, tmp_path) -> None:
    if missing := [library for library in NEIGHBOURS[name] if find_spec(library) is None]:
        pytest.skip(f"{missing[0]} is not installed: the neighbour is tried by tests/installs/resolve.py")
    path = os.pathsep.join(filter(None, [str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")]))
    done = ran([sys.executable, str(FOLDER / f"{name}.py")], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("ok:")
