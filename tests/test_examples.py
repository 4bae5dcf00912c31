"""The standalone examples run as users run them, end well, and stay short."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from places import REPOSITORY
from processes import ran
from refusals import cases
from warm_python import warm_python

FOLDER = REPOSITORY / "standalone_examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
# those that run in Isaac Sim too, on the engine of one's choice
SCRIPTS = [script for script in EXAMPLES if "from world import" in script.read_text()]
# examples that need an extra, and the library it brings
NEEDS = {
    "two_engines": "ovphysx",
    "learned_actuator": "torch",
    "train_with_gymnasium": "gymnasium",
    "train_with_stable_baselines": "stable_baselines3",
}
# examples that compute for four seconds or more
SLOW = {
    *("data_sheet_to_gains", "diagnose_vibration", "identify_a_servo", "jump_until_hot", "rest_with_friction"),
    *("sweep_with_ray", "train_with_gymnasium", "train_with_stable_baselines"),
    *("tune_gains_by_gradient", "your_own_newton"),
}
# what makes a long one short, or do without a library
QUICK = {
    "learned_actuator": ["--quick"],
    "many_robots": ["--robots", "64"],
    "sweep_with_ray": ["--workers", "0"],
    "train_with_gymnasium": ["--quick"],
    "train_with_stable_baselines": ["--quick"],
}
# an example that gets Ctrl+C in its fifth step
INTERRUPTED = """
import runpy, signal
from isaacsim.core.experimental.actuators import Simulation
step = Simulation.step

def interrupted(simulation, *arguments):
    step(simulation, *arguments)
    if simulation.step_count == 5:
        signal.raise_signal(signal.SIGINT)

Simulation.step = interrupted
runpy.run_path({script!r}, run_name="__main__")
"""


def run(script: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return warm_python().run([script, *arguments], timeout=120, env=env)


def with_path(folder: Path) -> dict[str, str]:
    """Variables with which modules of a folder are found first, and Ray reports to nobody."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0"}


@cases(
    "script",
    *[pytest.param(script, marks=[pytest.mark.slow] * (script.stem in SLOW), id=script.stem) for script in EXAMPLES],
)
def test_example_ends_with_its_check(script, tmp_path) -> None:
    """Exit code 0, an `ok` line, and a picture that is one."""
    if (library := NEEDS.get(script.stem)) and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = run(script, *QUICK.get(script.stem, []), "--plot", "picture.png")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok:" in done.stdout and (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@cases("script", *SCRIPTS, ids=lambda script: script.stem)
def test_script_runs_on_physx(script, tmp_path) -> None:
    if find_spec("ovphysx") is None:
        pytest.skip("ovphysx is not installed")
    done = run(script, "--engine", "physx", "--plot", "picture.png")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok:" in done.stdout and (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_three_scripts_choose_their_engine() -> None:
    assert [script.stem for script in SCRIPTS] == ["drive_from_omnigraph", "drive_from_python", "drive_from_usd"]
    done = run(SCRIPTS[1], "--engine", "newton")
    assert done.returncode == 1 and "engine = 'newton': must be 'mujoco', 'mujoco_warp' or 'physx'" in done.stderr


@cases("script", *sorted(FOLDER.rglob("*.py")), ids=lambda script: script.stem)
def test_example_is_short(script) -> None:
    uncounted = re.compile("# docs: |interrupts |^ *without_traceback")
    assert len([line for line in script.read_text().splitlines() if not uncounted.search(line)]) < 80


@pytest.mark.slow
@cases("example, said", ("many_robots", "panda_joint7"), ("drive_from_python", ""))
def test_an_interrupted_example_has_no_traceback(example, said) -> None:
    script = FOLDER / f"{example}.py"
    command = [sys.executable, "-c", INTERRUPTED.format(script=str(script)), *QUICK.get(example, [])]
    done = ran(command, env=with_path(FOLDER))
    assert done.returncode != 0
    assert said in done.stdout and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.splitlines()[-1].startswith("Interrupted"), done.stderr


def test_example_check_can_fail(tmp_path) -> None:
    shutil.copytree(FOLDER, tmp_path / FOLDER.name)
    weak = tmp_path / FOLDER.name / "drive_from_usd.py"
    text = weak.read_text()
    assert "max_motor_effort=12.0" in text
    weak.write_text(text.replace("max_motor_effort=12.0", "max_motor_effort=0.01"))
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    done = run(weak)
    assert done.returncode == 1 and "FAILED" in done.stdout


@cases(
    "script, library, extra",
    ("two_engines", "ovphysx", "physx"),
    ("learned_actuator", "torch", "train"),
    ("sweep_with_ray", "ray", "ray"),
    ("train_with_gymnasium", "gymnasium", "gym"),
    ("train_with_stable_baselines", "torch", "baselines"),
    ("your_own_newton", "newton", "newton"),
)
def test_example_tells_at_once_what_to_install(script, library, extra, tmp_path) -> None:
    (tmp_path / f"{library}.py").write_text(f"raise ModuleNotFoundError(name='{library}')")
    done = run(FOLDER / f"{script}.py", env=with_path(tmp_path))
    assert done.returncode == 1
    assert re.fullmatch(rf".* needs {library}, .*pip install -e '.*\[{extra}\]'`\.\n", done.stderr), done.stderr


@cases(
    "script, extra",
    ("two_engines", "physx"),
    ("learned_actuator", "train"),
    ("shard_with_torchrun", "train"),
    ("sweep_with_ray", "ray"),
    ("train_with_stable_baselines", "baselines"),
)
def test_readme_names_extras_that_a_clone_lacks(script, extra) -> None:
    (row,) = [line for line in (FOLDER / "README.md").read_text().splitlines() if f"[{script}.py]" in line]
    assert f"extra `{extra}`" in row


def test_shares_of_torchrun_need_torch(tmp_path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(name='torch')")
    done = run(FOLDER / "shard_with_torchrun.py", env={**with_path(tmp_path), "RANK": "1", "WORLD_SIZE": "2"})
    assert done.returncode == 1
    assert re.search(r"needs torch, .*pip install .*\[train\]'", done.stderr.strip().splitlines()[-1])


def test_shares_of_torchrun_give_the_numbers_of_one_process() -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    script = FOLDER / "shard_with_torchrun.py"
    one = run(script)
    two = run(Path("-m"), "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script))
    assert one.returncode == two.returncode == 0, two.stderr
    assert "│ 1    │ 48 … 95   │" in two.stdout and one.stdout.splitlines()[-2:] == two.stdout.splitlines()[-2:]


def swept(settings: str, workers: int) -> subprocess.CompletedProcess[str]:
    """Sweep over an expression by the example, in three parts; the rows are saved."""
    if workers and find_spec("ray") is None:
        pytest.skip("ray is not installed")
    code = "import numpy as np, sweep_with_ray as example\n"
    code += f"np.save('rows', example.sweep(np.array_split({settings}, 3), {workers}))"
    return warm_python().run(["-c", code], timeout=120, env=with_path(FOLDER))


def test_sweep_on_two_workers_gives_the_rows_of_one_process() -> None:
    rows = []
    for workers in (0, 2):
        done = swept("example.SETTINGS[::48]", workers)
        assert done.returncode == 0, done.stderr
        assert "Sweeping" in done.stdout and "100%" in done.stdout
        rows.append(np.load("rows.npy"))
    assert rows[0].shape == (12, 6)
    np.testing.assert_array_equal(rows[0].view(np.uint64), rows[1].view(np.uint64))


@cases("workers", 0, 2)
def test_error_in_a_sweep_names_the_settings(workers) -> None:
    done = swept("np.array([[4.0, 1.0, 4.0], [8.0, 1.0, 4.0], [-5.0, 1.0, 6.0]])", workers)
    assert done.returncode == 1
    last = done.stderr[done.stderr.rindex("RuntimeError: ") :]
    assert "['stiffness', 'damping', 'strength'] from [-5.  1.  6.] to [-5.  1.  6.]: " in last and "kp" in last
