"""The folder of Warp's kernels without a writable home."""

import os
import sys
from pathlib import Path

import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import warp_cache
from places import REPOSITORY
from processes import ran

# each starts Warp in its own way, and compiles a kernel with a law in it where there is time for that
USES = {
    "a user's array": """
from isaacsim.core.experimental.actuators import ControllerPD
import warp as wp
kp = wp.array([1.0], dtype=float, device="cpu")
""",
    "arrays": """
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig
import numpy as np
leg = ActuatedArrays(["knee"], {".*": [PDControlConfig(1.0, 1.0)]})
leg.step(*np.zeros((3, 1), np.float32), 0.01)
""",
    "a simulation": """
from isaacsim.core.experimental.actuators import Simulation
with Simulation("data/robots/pendulum.usda") as simulation:
    simulation.play()
""",
}
KERNEL = """
import warp as wp

@wp.kernel
def double(values: wp.array[float]):
    values[wp.tid()] = 2.0 * values[wp.tid()]

ones = wp.ones(3, dtype=float, device="cpu")
wp.launch(double, 3, inputs=[ones], device="cpu")
assert ones.numpy().tolist() == [2.0, 2.0, 2.0]
"""


@pytest.mark.parametrize("use", USES)
@pytest.mark.slow
def test_home_that_is_a_file_is_one_warning(tmp_path, use) -> None:
    home, temporary, script = tmp_path / "home", tmp_path / "tmp", tmp_path / "script.py"
    home.touch()
    temporary.mkdir()
    # Warp reads the sources of kernels
    script.write_text(USES[use] + (KERNEL if use == "a user's array" else ""))
    environment = {
        name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "WARP_CACHE_PATH")
    }
    done = ran(
        [sys.executable, script], cwd=REPOSITORY, env=environment | {"HOME": str(home), "TMPDIR": str(temporary)}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("UserWarning") == 1 and f"{home}/" in done.stderr
    (folder,) = temporary.glob("warp-cache-*")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_folder_that_can_be_written_is_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path / "a" / "b"))
    warp_cache.prepare_cache()
    assert wp.config.kernel_cache_dir == str(tmp_path / "a" / "b") and not list(tmp_path.iterdir())


def test_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch) -> None:
    file, other = tmp_path / "file", tmp_path / f"warp-cache-{os.getuid()}"
    file.touch()
    other.mkdir()
    other.chmod(0o777)
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(file / "cache"))
    monkeypatch.setattr(warp_cache.tempfile, "tempdir", str(tmp_path))
    with pytest.warns(UserWarning, match="file/cache: Warp would keep") as told:
        warp_cache.prepare_cache()
    assert len(told) == 1
    chosen = Path(wp.config.kernel_cache_dir)
    assert chosen.parent == tmp_path and chosen != other and chosen.stat().st_mode & 0o777 == 0o700
