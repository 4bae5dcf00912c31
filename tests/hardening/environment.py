"""Surroundings that are not as they should be: each is made for real, and what happens is shown.

    ./python.sh tests/hardening/environment.py              # seconds each, with what is installed
    ./python.sh tests/hardening/environment.py --installs   # and first runs of python.sh in a clone: minutes, network

Read-only folders are mounts in a namespace of their own, and so is a machine without network: that takes Linux and
root, and is left out elsewhere. The table of what happens is in `docs/Troubleshooting.md`. Exits with 1 when one of
them ends otherwise than it should.
"""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "isaacsim.core.experimental.actuators"]
PENDULUM = str(ROOT / "data" / "robots" / "pendulum.usda")
GRAPH = str(ROOT / "data" / "graphs" / "feedforward.usda")
# blanks, umlauts, and what a shell would take for itself
ODD = "Größe b $HOME (1)"
LIMIT = 900.0
# of what is said, shown
SHOWN = 150
COMPILERS = ("cc", "gcc", "c++", "g++", "clang", "clang++")


@dataclass
class Done:
    """How a program ended, and the lines it wrote to stderr, without what Warp says of a missing GPU."""

    code: int
    out: str
    err: list[str]


def run(arguments: list[str], **environment: str) -> Done:
    variables = {name: value for name, value in (os.environ | environment).items() if value}
    done = subprocess.run(arguments, capture_output=True, text=True, env=variables, timeout=LIMIT, check=False)
    return Done(done.returncode, done.stdout, [line for line in done.stderr.splitlines() if "CUDA" not in line])


def with_mounts(mounts: list[str], arguments: list[str]) -> list[str]:
    return ["unshare", "-m", "sh", "-c", " && ".join([*mounts, shlex.join(["exec", *arguments])])]


def read_only(folder: Path) -> list[str]:
    place = shlex.quote(str(folder))
    return [f"mount --bind {place} {place}", f"mount -o remount,ro,bind {place}"]


class Situations:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def home_is_a_file(self) -> str:
        (home := self.folder / "home").touch()
        return self._falls_back(run([*COMMAND, "run", GRAPH, "--steps", "5"], HOME=str(home), XDG_CACHE_HOME=""))

    def home_is_read_only(self) -> str:
        (home := self.folder / "read only").mkdir()
        command = with_mounts(read_only(home), [*COMMAND, "run", GRAPH, "--steps", "5"])
        return self._falls_back(run(command, HOME=str(home), XDG_CACHE_HOME=""))

    def language_is_c(self) -> str:
        """LANG=C, and a file with blanks and umlauts."""
        file, picture = self._odd("Pendel ä.usda"), self.folder / ODD / "Bild ü.png"
        shutil.copy(PENDULUM, file)
        done = run([*COMMAND, "run", str(file), "--steps", "5", "--plot", str(picture)], LANG="C", LC_ALL="C")
        assert (done.code, done.err) == (0, []) and picture.exists(), done
        return done.out.splitlines()[-1]

    def output_is_ascii(self) -> str:
        done = run([*COMMAND, "inspect", PENDULUM], PYTHONIOENCODING="ascii")
        assert (done.code, done.err) == (0, []) and done.out.isascii(), done
        return "signs it lacks are shown as ?"

    def disk_is_full(self) -> str:
        (small := self.folder / "small").mkdir()
        mount = f"mount -t tmpfs -o size=4k tmpfs {shlex.quote(str(small))}"
        for option, name in (("--record", "a.npz"), ("--record", "a.csv"), ("--plot", "a.png"), ("--plot", "a.pdf")):
            command = shlex.join([*COMMAND, "run", PENDULUM, "--seconds", "1", option, str(small / name)])
            done = run(with_mounts([mount], ["sh", "-c", f"{command}; code=$?; ls -A {small}; exit $code"]))
            assert done.code == 1 and len(done.err) == 1 and done.out == "", done
        return done.err[0]

    def plot_is_a_folder(self) -> str:
        return self._one_line(run([*COMMAND, "run", PENDULUM, "--plot", str(self.folder)]))

    def reference_is_missing(self) -> str:
        file = self.folder / "scene.usda"
        file.write_text('#usda 1.0\ndef "World" (references = @./robot.usda@) {}\n')
        return self._one_line(run([*COMMAND, "run", str(file)]))

    def _odd(self, name: str) -> Path:
        (self.folder / ODD).mkdir(exist_ok=True)
        return self.folder / ODD / name

    @staticmethod
    def _falls_back(done: Done) -> str:
        assert done.code == 0 and len(done.err) == 1 and done.err[0].startswith("warning: "), done
        return done.err[0]

    @staticmethod
    def _one_line(done: Done) -> str:
        assert done.code == 1 and len(done.err) == 1 and done.out == "", done
        return done.err[0]


class Installs:
    """What `python.sh` does in a clone of its own, one after the other, in a folder with blanks and umlauts."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / ODD / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(self.clone)], check=True)
        self.script = [str(self.clone / "python.sh")]
        self.engine = "from isaacsim.core.experimental.actuators import native; print(native.core is not None)"
        # everything but compilers, whatever else is beside them
        self.tools = folder / "tools"
        self.tools.mkdir()
        for place in os.environ["PATH"].split(":"):
            for tool in Path(place).glob("*"):
                if not (self.tools / tool.name).exists() and not tool.name.startswith(COMPILERS):
                    (self.tools / tool.name).symlink_to(tool)
        self.without = {"PATH": str(self.tools), "CXX": "", "CC": "", "PYTHONPATH": "", "ACTUATORS_EXTRA": "cli"}
        self.usual = self.without | {"PATH": os.environ["PATH"]}

    def read_only_before(self) -> str:
        done = run(with_mounts(read_only(self.clone), [*self.script, "-c", "0"]), **self.usual)
        assert done.code == 1 and len(done.err) == 2, done
        return " ".join(done.err)

    def interrupted(self) -> str:
        """First run killed, twice: while .venv is made, and while packages are installed."""
        for seconds in (1.5, 15.0):
            process = subprocess.Popen(
                [*self.script, "-c", "0"],
                env={name: value for name, value in (os.environ | self.without).items() if value},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            time.sleep(seconds)
            assert process.poll() is None, "the first run ended before it was killed"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert not (self.clone / ".venv" / "installed").exists()
        return "the next run, below, goes on"

    def two_at_once_without_compiler(self) -> str:
        variables = {name: value for name, value in (os.environ | self.without).items() if value}
        command, pipe = [*self.script, "-c", self.engine], subprocess.PIPE
        both = [subprocess.Popen(command, env=variables, text=True, stdout=pipe, stderr=pipe) for _ in range(2)]
        said = [process.communicate(timeout=LIMIT) for process in both]
        ends = [(process.returncode, out) for process, (out, _) in zip(both, said, strict=True)]
        assert ends == [(0, "False\n")] * 2, said
        (told,) = [line for _, err in said for line in err.splitlines() if "without the native core" in line]
        return told

    def no_network(self) -> str:
        done = run(["unshare", "-n", *self.script, "-c", self.engine], **self.without)
        assert (done.code, done.out, done.err) == (0, "False\n", []), done
        return "starts at once"

    def compiler_arrives(self) -> str:
        done = run([*self.script, "-c", self.engine], **self.usual)
        assert (done.code, done.out) == (0, "True\n"), done
        return "the core is built, once: " + done.err[-1]

    def read_only_after(self) -> str:
        command = [*self.script, "-m", COMMAND[-1], "run", GRAPH, "--steps", "5"]
        done = run(with_mounts(read_only(self.clone), command), **self.usual)
        assert (done.code, done.err) == (0, []), done
        return "as ever"


NEEDS_ROOT = {"home_is_read_only", "disk_is_full", "read_only_before", "no_network", "read_only_after"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--installs", action="store_true", help="first runs of python.sh, too")
    arguments = parser.parse_args()
    may_mount = sys.platform == "linux" and os.geteuid() == 0 and shutil.which("unshare") is not None
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        kinds: list[Callable[[Path], object]] = [Situations, *([Installs] if arguments.installs else [])]
        for kind in kinds:
            made = kind(Path(name))
            for what in [one for one in vars(type(made)) if not one.startswith("_")]:
                title = str(getattr(made, what).__doc__)
                if what in NEEDS_ROOT and not may_mount:
                    print(f"left out  {title} Needs Linux and root.")
                    continue
                began = time.perf_counter()
                try:
                    said, state = getattr(made, what)().replace(name, "…"), "good"
                except (AssertionError, subprocess.TimeoutExpired, ValueError) as error:
                    said, state, bad = str(error), "BAD", bad + 1
                seconds = time.perf_counter() - began
                print(
                    f"{state:4}  {seconds:4.0f} s  {title}\n              {said[: SHOWN if state == 'good' else None]}",
                    flush=True,
                )
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main())
