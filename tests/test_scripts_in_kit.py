"""The three scripts of the documentation, unchanged, as standalone scripts of Isaac Sim: on its stand-ins."""

import os
import shutil
from pathlib import Path

import isaacsim.core.experimental.actuators as package
import numpy as np
import pytest
from fakes.extension_loader import BUNDLED
from fakes.kit_world import PACKAGE as NAME
from places import REPOSITORY
from warm_python import warm_python

# each test starts a Python
pytestmark = pytest.mark.slow
SCRIPTS = REPOSITORY / "standalone_examples"
ISAAC_SIM_PYTHON = REPOSITORY / "tests" / "support" / "isaac_sim_python.py"
EXTENSION_ID = f"{NAME}-{package.__version__}"
WARM_UP = 1 / 60
ARM = [f"panda_joint{number}" for number in range(1, 8)]


class Done:
    """A script that has run in Isaac Sim's Python, in a folder of its own."""

    def __init__(self, folder: Path, script: Path, *arguments: str, kind: str, inside: bool = False) -> None:
        command = [ISAAC_SIM_PYTHON, kind, "recording.npz", *["--exec"] * inside, script, *arguments]
        # Kit does not look into the folder of the script
        env = {**os.environ, "PYTHONPATH": str(script.parent) if inside else ""}
        self.process = warm_python().run(command, cwd=folder, env=env)
        self.folder, self.script = folder, script

    @property
    def output(self) -> str:
        return self.process.stdout + self.process.stderr

    def recording(self) -> dict[str, np.ndarray]:
        with np.load(self.folder / "recording.npz") as file:
            return dict(file)


class Motion:
    """The steps of one play with actuators on, in float64, a column per joint."""

    def __init__(
        self, recording: dict[str, np.ndarray], session: int, dt: float, joints: list[str], skip: int = 0
    ) -> None:
        chosen = recording["sessions"] == np.unique(recording["sessions"])[session]
        dts = recording["dts"][chosen]
        # Isaac Sim steps twice before physics is ready
        assert dts[:2].tolist() == [WARM_UP] * 2 and set(dts[2:]) == {dt}
        order = [recording["dof_names"].tolist().index(name) for name in joints]

        def column(name: str) -> np.ndarray:
            return recording[name][chosen][2 + skip :, order].astype(np.float64)

        self.dt, self.efforts, self.stiffnesses = dt, column("efforts"), column("stiffnesses")
        self.q, self.qd, self.targets = column("positions"), column("velocities"), column("position_targets")
        self.errors = self.targets - self.q

    def require(self, law: np.ndarray, limits: np.ndarray) -> None:
        np.testing.assert_allclose(self.efforts, np.clip(law, -limits, limits), rtol=1e-4, atol=1e-3)
        assert not self.stiffnesses.any()


def copy_to(root: Path) -> Path:
    shutil.copytree(SCRIPTS, root / SCRIPTS.relative_to(REPOSITORY))
    for entry in REPOSITORY.iterdir():
        if not (root / entry.name).exists():
            (root / entry.name).symlink_to(entry)
    return root


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    return copy_to(tmp_path / "exts" / NAME)


def script_in(root: Path, name: str) -> Path:
    return root / SCRIPTS.relative_to(REPOSITORY) / f"{name}.py"


@pytest.fixture(params=["isaac-physx", "isaac-newton"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def require_good(done: Done, kind: str) -> dict[str, np.ndarray]:
    """It ended with its check and a picture, on the engine and by the extension it should; nothing was logged."""
    assert done.process.returncode == 0, done.output
    assert "ok:" in done.process.stdout and (done.folder / "picture.png").read_bytes().startswith(b"\x89PNG")
    recording = done.recording()
    assert recording["engine"] == kind.removeprefix("isaac-")
    extension, root = recording["extension"].tolist()
    assert extension == EXTENSION_ID and Path(root).name == NAME and recording["logged"].tolist() == []
    return recording


def test_drive_from_python(kind, tmp_path) -> None:
    script = script_in(REPOSITORY, "drive_from_python")
    recording = require_good(Done(tmp_path, script, "--plot", "picture.png", kind=kind), kind)
    pd, own = (Motion(recording, session, 1 / 500, ["hinge"]) for session in (0, 1))
    assert (pd.targets == np.float32(0.8)).all() and len(pd.q) == len(own.q) == 1000
    pd.require(20.0 * pd.errors - 2.0 * pd.qd, np.array(10.0))
    own.require(10.0 * np.tanh(20.0 * (5.0 * own.errors - own.qd)), np.array(10.0))
    assert abs(own.errors[-1]) < 0.02


def test_drive_from_usd(kind, tmp_path) -> None:
    script = script_in(REPOSITORY, "drive_from_usd")
    recording = require_good(Done(tmp_path, script, "--plot", "picture.png", kind=kind), kind)
    assert recording["dof_names"].tolist() == ARM[::-1]
    motion = Motion(recording, 0, 1 / 240, ARM)
    kp, wait, late = np.array([400.0] * 4 + [120.0] * 3), 24, 6
    np.testing.assert_allclose(motion.targets[wait:], [[0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4]] * 720, rtol=1e-6)
    # the wrist has its targets late, and motors that are weaker the faster they turn
    acting = motion.targets.copy()
    acting[late:, 4:] = motion.targets[:-late, 4:]
    ends = np.array([np.minimum(1.0, 1.0 - sign * motion.qd / 6.0) for sign in (1.0, -1.0)])
    motor = np.concatenate([np.full((2, len(acting), 4), 87.0), 12.0 * ends[:, :, 4:]], axis=2)
    law = np.clip(kp * (acting - motion.q) - kp / 10 * motion.qd, -motor[1], motor[0])
    motion.require(law, np.array([87.0] * 4 + [12.0] * 3))
    assert np.abs(motion.errors[-1]).max() < 0.01


def pid_of_graph(recording: dict[str, np.ndarray]) -> None:
    """The arm is driven by the actuators that the script authored, from the first pulse of the graph."""
    motion = Motion(recording, 0, 1 / 240, ARM, skip=4)
    kp, limits = np.array([400.0] * 4 + [100.0] * 3), np.array([87.0] * 4 + [12.0] * 3)
    bound, integral, law = limits / 9 / kp, np.zeros(7), []
    for error, velocity in zip(motion.errors, motion.qd, strict=True):
        integral = np.clip(integral + error * motion.dt, -bound, bound)
        law.append(kp * error - kp / 10 * velocity + 3 * kp * integral)
    np.testing.assert_allclose(motion.targets, [[0.5, -0.1, -0.5, -1.6, 0.5, 1.9, 1.2]] * len(law), rtol=1e-6)
    motion.require(np.array(law), limits)
    assert np.abs(motion.errors[-1]).max() < 0.01


def test_drive_from_omnigraph(kind, tmp_path) -> None:
    script = script_in(REPOSITORY, "drive_from_omnigraph")
    pid_of_graph(require_good(Done(tmp_path, script, "--plot", "picture.png", kind=kind), kind))


def test_kit_executes_the_graph_and_goes_on(extension, tmp_path) -> None:
    done = Done(tmp_path, script_in(extension, "drive_from_omnigraph"), kind="isaac-physx", inside=True)
    assert done.process.returncode == 0, done.output
    pid_of_graph(done.recording())


def test_kit_executes_a_script_and_goes_on(extension, tmp_path) -> None:
    script = script_in(extension, "drive_from_python")
    require_good(Done(tmp_path, script, "--plot", "picture.png", kind="isaac-newton", inside=True), "isaac-newton")


def test_engine_can_be_chosen(tmp_path) -> None:
    script = script_in(REPOSITORY, "drive_from_python")
    arguments = ("--engine", "newton", "--plot", "picture.png", "--/log/level=warn")
    require_good(Done(tmp_path, script, *arguments, kind="isaac-physx"), "isaac-newton")


def test_engine_of_elsewhere_is_refused(tmp_path) -> None:
    done = Done(tmp_path, script_in(REPOSITORY, "drive_from_python"), "--engine", "mujoco", kind="isaac-physx")
    assert done.process.returncode == 1 and "engine = 'mujoco': must be one of ['physx', 'newton']" in done.output


def test_failure_is_told_by_the_exit_code(extension, tmp_path) -> None:
    weak = script_in(extension, "drive_from_usd")
    text = weak.read_text()
    assert "max_motor_effort=12.0" in text
    weak.write_text(text.replace("max_motor_effort=12.0", "max_motor_effort=0.01"))
    done = Done(tmp_path, weak, kind="isaac-physx")
    assert done.process.returncode == 1, done.output
    assert "FAILED:" in done.process.stdout
    # of its own folder, which has the name of an extension
    assert done.recording()["extension"].tolist() == [EXTENSION_ID, str(extension)]


def test_launch_without_the_version_starts_the_bundled_one(extension, tmp_path) -> None:
    """Isaac Sim's base experience depends on an extension of the same name; what the scripts say replaces it."""
    world = script_in(extension, "world/__init__")
    text = world.read_text()
    assert 'f"{NAME}-{version}"' in text
    world.write_text(text.replace('f"{NAME}-{version}"', "NAME"))
    done = Done(tmp_path, script_in(extension, "drive_from_python"), kind="isaac-physx")
    assert done.process.returncode == 1 and f"{BUNDLED} runs, of which there is no stand-in" in done.output


def test_clone_of_another_name_gets_a_link(tmp_path) -> None:
    script = script_in(copy_to(tmp_path / "clone"), "drive_from_python")
    recording = require_good(Done(tmp_path, script, "--plot", "picture.png", kind="isaac-physx"), "isaac-physx")
    root = Path(recording["extension"][1])
    assert root.name == NAME and root.parent != tmp_path and not root.exists() and not root.parent.exists()
