"""Whether core and simulation install and run beside other libraries: `./python.sh tests/installs/resolve.py`.

For each library, pip resolves it together with the extra `mujoco`, without installing anything, and the core and a
simulation run in an environment with the NumPy, Warp and MuJoCo that pip chose; with all of it where that is small. A
line per library, as a Markdown table. Downloads what pip needs to resolve: a gigabyte for those that bring Torch. One
for another Python is tried with `python3.12` or `python3.11`, if that is there.

`--whole` installs all of it, gigabytes with Torch, and runs besides: `pip check`, the first example of the README where
there is USD, an import of the library, and the bridge to it in `standalone_examples/bridges`. `--torch` names a release
of Torch to take in place of that which the library pins; `pip check` may then complain about Torch.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PEERS = (
    *("mjlab==1.6.0", "newton==1.6.1", "newton==1.8.0", "mujoco==3.11"),
    *("isaaclab==2.3.2.post1", "isaaclab==3.0.0", "lerobot==0.6.1", "playground==0.2.0"),
)
# by the beginning of a library's name, for those that take only one
PYTHONS = {"isaaclab==2": "python3.11", "isaaclab==3": "python3.12", "lerobot": "python3.12"}
# with `--whole`: what is imported, the bridge, and what that needs of ours
WHOLE = {
    "mjlab": ("mjlab.actuator", "in_mjlab", "mujoco"),
    "isaaclab": ("isaaclab.actuators", "in_isaac_lab", "mujoco"),
    "lerobot": ("lerobot.datasets.lerobot_dataset", "from_lerobot", "identify,parquet"),
    "playground": ("mujoco_playground", "beside_playground", "mujoco"),
    "newton": ("newton", "", "mujoco"),
    "mujoco": ("mujoco", "", "mujoco"),
}
README = r"""
import re, sys
code = re.findall(r"^```python\n(.*?)^```", open("README.md", encoding="utf-8").read(), re.DOTALL | re.MULTILINE)
exec(code[0])
"""
# an arm that a motor moves to its target
SIMULATION = """
import isaacsim.core.experimental.actuators as aa
with aa.Simulation("arm.xml") as sim:
    with aa.ArticulationActuators.from_configs("/", {".*": [aa.PDControlConfig(20.0, 2.0)]}):
        sim.play()
        robot = sim.articulation("/")
        robot.set_dof_position_targets([[0.3]])
        sim.step(2000)
        assert abs(float(robot.get_dof_positions().numpy()[0, 0]) - 0.3) < 1e-3
"""
ARM = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="hinge" axis="0 1 0" armature="0.1"/>
<geom size="0.1"/></body></worldbody></mujoco>"""
# what decides whether the core runs
SHOWN = ("numpy", "warp-lang", "mujoco", "newton")
# brings gigabytes that the core does not meet
LARGE = "torch"


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a command away from the clone, so that what is imported is what was installed."""
    done = [str(part) for part in command]
    return subprocess.run(done, capture_output=True, text=True, cwd=tempfile.gettempdir(), check=False)


def environment(home: Path, peer: str = "") -> Path:
    named = next((python for start, python in PYTHONS.items() if peer.startswith(start)), "")
    subprocess.run([shutil.which(named) or sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    return home / "bin" / "python"


def resolve(pip: Sequence[object], wheel: Path, peer: str) -> dict[str, str] | str:
    """Return the versions that pip chooses for the core and a library, by name, or why it finds none."""
    ours = f"{wheel}[mujoco]"
    done = run(*pip, "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-", ours, peer)
    if done.returncode:
        return ([line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"])[-1]
    chosen = (each["metadata"] for each in json.loads(done.stdout)["install"])
    return {each["name"].lower(): each["version"] for each in chosen}


def try_it(home: Path, wheel: Path, peer: str, versions: dict[str, str]) -> tuple[str, str]:
    python = environment(home, peer)
    whole = LARGE not in versions
    asked = [peer] if whole else [f"{name}=={versions[name]}" for name in SHOWN if name in versions]
    installed = run(python, "-m", "pip", "install", "--quiet", f"{wheel}[mujoco]", *asked)
    if installed.returncode:
        return "", f"not installed: {installed.stderr.strip().splitlines()[-1]}"
    ran = run(python, REPOSITORY / "tests" / "installs" / "core_alone.py")
    said = (ran.stdout if ran.returncode == 0 else ran.stderr).strip().splitlines()[-1]
    home.joinpath("arm.xml").write_text(ARM)
    command = [python, "-W", "ignore", "-c", SIMULATION]
    simulated = subprocess.run(command, capture_output=True, text=True, cwd=home, check=False)
    said += "" if simulated.returncode == 0 else f"; simulation: {simulated.stderr.strip().splitlines()[-1]}"
    return ("all of it" if whole else "its " + ", ".join(name for name in SHOWN if name in versions)), said


def whole(home: Path, wheel: Path, peer: str, torch: str) -> list[str]:
    """Install all of a library beside ours, and return what does not work, a word or sentence each."""
    name = peer.partition("==")[0]
    imported, bridge, extra = WHOLE[name]
    python = environment(home, peer)
    pip: list[object] = [python, "-m", "pip"]
    asked = [peer]
    if torch:
        done = run(*pip, "install", "--quiet", "--no-deps", peer)
        code = f"import importlib.metadata as m; print(*(m.requires({name!r}) or ()), sep=chr(10))"
        needed = [one for one in run(python, "-c", code).stdout.splitlines() if "extra ==" not in one]
        asked = [one for one in needed if not one.startswith("torch")] + [f"torch=={torch}"] * (len(needed) > 0)
    done = run(*pip, "install", "--quiet", f"{wheel}[{extra}]", *asked)
    if done.returncode:
        return [f"not installed: {done.stderr.strip().splitlines()[-1]}"]
    complaints = [line for line in run(*pip, "check").stdout.splitlines() if "requires" in line or "which is" in line]
    wrong = [line for line in complaints if not (torch and "torch" in line)]
    steps = {"core": ["tests/installs/core_alone.py"], f"import {imported}": ["-c", f"import {imported}"]}
    if run(python, "-c", "import pxr, newton_usd_schemas").returncode == 0:
        steps["README"] = ["-c", README]
    if bridge:
        steps[bridge] = [f"standalone_examples/bridges/{bridge}.py"]
    for what, command in steps.items():
        done = subprocess.run([python, *command], capture_output=True, text=True, cwd=REPOSITORY, check=False)
        if done.returncode:
            wrong.append(f"{what}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return wrong


def main() -> int:
    """Print the table; 1 when a library does not go with the core."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="*", default=PEERS, metavar="LIBRARY==VERSION")
    parser.add_argument("--wheel", type=Path, help="the core, built already")
    parser.add_argument("--whole", action="store_true", help="install all of it, and run more")
    parser.add_argument("--torch", default="", help="release of Torch, in place of that which libraries pin")
    given = parser.parse_args()
    code = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        pip: list[object] = [environment(home / "pip"), "-m", "pip"]
        wheel = given.wheel
        if wheel is None:
            # a build in the clone would leave its files there
            clone = shutil.copytree(REPOSITORY, home / "clone", ignore=shutil.ignore_patterns(".*", "_build", "build"))
            built = run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", home, clone)
            if built.returncode:
                print(built.stderr, file=sys.stderr)
                return 1
            (wheel,) = home.glob("*.whl")
        for peer in given.peers if given.whole else ():
            wrong = whole(home / "tried", wheel.resolve(), peer, given.torch)
            print(f"{peer}: {'; '.join(wrong) or 'ok'}", flush=True)
            code |= bool(wrong)
        if given.whole:
            return code
        print("| library | pip chooses | tried with | the core there |\n|---|---|---|---|")
        for peer in given.peers:
            own = [environment(home / "pip", peer), "-m", "pip"]
            # one that resolves by metadata alone where the index has them
            run(*own, "install", "--quiet", "--upgrade", "pip")
            versions = resolve(own, wheel.resolve(), peer)
            if isinstance(versions, str):
                row, code = (peer, versions, "", ""), 1
            else:
                chosen = ", ".join(f"{name} {versions[name]}" for name in SHOWN if name in versions)
                tried = try_it(home / "tried", wheel.resolve(), peer, versions)
                row = peer, f"{chosen}, {len(versions)} in all", *tried
                code |= not row[-1].startswith("core ok") or "simulation" in row[-1]
            print(f"| {' | '.join(row)} |", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
