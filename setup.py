"""Build the native core: C++17, one object per instruction set.

An editable installation is for this machine: it has the instruction sets of its processor. A wheel has all of them.

Without a compiler there is none, Warp serves, and the wheel's name says so: py3-none-any. A compiler that is there and
fails is an error. ACTUATORS_CORE=required takes nothing less than the core, ACTUATORS_CORE=off leaves it out.

A core is kept in build/cores under the hash of all that it is made of, and taken from there where nothing of it has
changed: another extra compiles nothing. `--force` compiles in any case.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable
from multiprocessing.pool import ThreadPool
from pathlib import Path
from tempfile import TemporaryDirectory

import pybind11
from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, LinkError, PlatformError

NATIVE = Path("native")
KEPT = Path("build/cores")
# the robot of the environments, of which a clone has one copy, and the folder that has it in a wheel
ROBOT, ENVIRONMENTS = Path("data/robots/anymal_c.usda"), "isaacsim/core/experimental/actuators/tools/environments"
# ends with 0 where the processor has the instruction set that this is compiled for
PROBE = '#include "processor.h"\nint main() { return has_instruction_set() ? 0 : 1; }\n'


def flags_of(system: str) -> list[str]:
    """What every source is compiled with on a platform, named as `sys.platform` does."""
    if system == "win32":
        return ["/O2", "/std:c++17", "/permissive-", "/EHsc", "/bigobj", "/fp:precise"]
    # contraction would round differently from one instruction set to the next
    flags = ["-O3", "-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
    # aligned memory is there since macOS 10.13, and Pythons are built for older ones
    return [*flags, "-faligned-allocation"] if system == "darwin" else flags


def variants_of(system: str, machine: str) -> dict[str, list[str]]:
    """The instruction sets of a platform, the best last, and what each takes besides.

    `machine` is as `platform.machine` names it.
    """
    if system == "win32" or machine.lower() not in ("x86_64", "amd64"):
        return {"baseline": []}
    return {
        "baseline": [],
        "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"],
    }


def presence_of(variants: Iterable[str]) -> list[tuple[str, None]]:
    """Macros of every source: the instruction sets that the core has."""
    return [(f"ACTUATORS_HAS_{variant.upper()}", None) for variant in variants]


def macros_of(variant: str) -> list[tuple[str, str]]:
    """What a source is told of the instruction set that it is compiled for."""
    symbol = f"k{variant.capitalize()}"
    return [("ACTUATORS_VARIANT", variant), ("ACTUATORS_SYMBOL", symbol), ("ACTUATORS_NAME", f'"{variant}"')]


def sources(native: Path = NATIVE) -> tuple[list[Path], list[Path]]:
    """Those compiled once per instruction set, which say so, and those compiled once; the largest first.

    Begun last, the one that takes longest would leave all other cores idle.
    """
    found = sorted(native.glob("*.cpp"), key=lambda path: (-path.stat().st_size, path.name))
    each = [path for path in found if "namespace ACTUATORS_VARIANT" in path.read_text("utf-8")]
    return each, [path for path in found if path not in each]


FLAGS = flags_of(sys.platform)
LINK_FLAGS: list[str] = []
WISH = os.environ.get("ACTUATORS_VARIANTS", "")
if WISH not in ("", "all", "baseline"):
    sys.exit(f"ACTUATORS_VARIANTS = {WISH!r}: must be 'all', 'baseline' or nothing. Correct it.")
IS_QUICK = WISH == "baseline"
if sanitizers := os.environ.get("ACTUATORS_SANITIZE"):
    # see tools/sanitize.sh; compiling takes longer than the quick tests
    FLAGS += ["-O0" if IS_QUICK else "-O1", "-g1", "-fno-omit-frame-pointer"]
    FLAGS += [f"-fsanitize={sanitizers}", "-fno-sanitize-recover=undefined"]
    LINK_FLAGS += [f"-fsanitize={sanitizers}"]
VARIANTS = variants_of(sys.platform, platform.machine())
if IS_QUICK:
    # a core for tests, made in a third of the time
    VARIANTS = {"baseline": []}


def missing() -> str | None:
    """Why nothing can be compiled here: no compiler, or no headers of Python. None where something can."""
    # setuptools' own, on every Python
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler

    compiler = new_compiler()
    customize_compiler(compiler)
    with TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text("#include <Python.h>\n")
        headers = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
        try:
            compiler.compile([str(source)], output_dir=folder, include_dirs=headers)
        except (CompileError, PlatformError) as error:
            return f"no C++ compiler, or no headers of Python ({error})"
    return None


def is_core_built() -> bool:
    """Whether this build compiles the core; a line says what is lost if not."""
    wish = os.environ.get("ACTUATORS_CORE", "")
    if wish not in ("", "required", "off"):
        sys.exit(f"ACTUATORS_CORE = {wish!r}: must be 'required', 'off' or nothing. Correct it.")
    reason = "ACTUATORS_CORE=off" if wish == "off" else missing()
    if reason and wish == "required":
        sys.exit(f"ACTUATORS_CORE=required: {reason}. Install g++ or clang++, and python3-dev on Debian and Ubuntu.")
    if reason:
        print(f"without the native core, Warp computes on the CPU, slower: {reason}.", file=sys.stderr)
    return reason is None


class BuildModules(build_py):
    """Copies the modules, and the robot of the environments beside them."""

    def run(self) -> None:
        """Build; an editable installation finds the robot in the clone."""
        super().run()
        if not self.editable_mode:
            place = Path(self.build_lib) / ENVIRONMENTS / ROBOT
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROBOT, place)


class BuildVariants(build_ext):
    """Compiles the core once per instruction set and links the objects into the module."""

    def run(self) -> None:
        """Build; setuptools forgets meanwhile that this is in place."""
        self.is_for_here = bool(self.inplace or self.editable_mode)
        super().run()

    def build_extension(self, ext: Pybind11Extension) -> None:
        """Compile and link."""
        try:
            self.build_variants(ext)
        except (CompileError, LinkError) as error:
            # the compiler has said why
            raise CompileError(
                f"{error}: the native core does not compile. ACTUATORS_CORE=off leaves it out."
            ) from None

    def is_built(self, flags: list[str]) -> bool:
        """Return True if the core may use an instruction set: any in a wheel, those of this machine in other builds."""
        if not flags or not self.is_for_here:
            return True
        with TemporaryDirectory() as folder:
            source = Path(folder) / "probe.cpp"
            source.write_text(PROBE)
            objects = self.compiler.compile(
                [str(source)], output_dir=folder, include_dirs=[str(NATIVE)], extra_postargs=[*FLAGS, *flags]
            )
            self.compiler.link_executable(objects, "probe", output_dir=folder, target_lang="c++")
            return subprocess.run([Path(folder) / "probe"], check=False).returncode == 0

    def build_variants(self, ext: Pybind11Extension) -> None:
        """Compile an object per source and instruction set, all of them on all cores, and link them.

        An editable installation has the best instruction set of this machine alone, for a new clone is to run soon.
        """
        each, once = sources()
        # the best first
        built = (variant for variant in reversed(VARIANTS.items()) if self.is_built(variant[1]))
        variants = dict([next(built)] if self.is_for_here and WISH != "all" else built)
        made = Path(self.get_ext_fullpath(ext.name))
        kept = KEPT / self.hash_of(ext, variants) / made.name
        if kept.is_file() and not self.force:
            print(f"the native core has not changed: taken from {kept}", file=sys.stderr)
            made.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(kept, made)
            return
        jobs = [(path, "", [], []) for path in once]
        jobs += [(path, name, macros_of(name), flags) for path in each for name, flags in variants.items()]
        macros = [*ext.define_macros, *presence_of(variants)]

        def compiled(job: tuple[Path, str, list[tuple[str, str]], list[str]]) -> list[str]:
            path, name, own, flags = job
            return self.compiler.compile(
                [str(path)],
                output_dir=str(Path(self.build_temp) / name),
                macros=[*own, *macros],
                extra_postargs=[*ext.extra_compile_args, *flags],
                depends=ext.depends,
                include_dirs=ext.include_dirs,
            )

        told = f"{len(jobs)} files for {', '.join(variants)}, on {os.cpu_count()} processors"
        print(f"compiling the native core, {told}: this takes minutes", file=sys.stderr)
        began = time.monotonic()
        for _, name, _, _ in jobs:
            # the compiler makes folders without asking whether another thread has just made them
            (Path(self.build_temp) / name / NATIVE).mkdir(parents=True, exist_ok=True)
        with ThreadPool(os.cpu_count()) as pool:
            for objects in pool.map(compiled, jobs, 1):
                ext.extra_objects += objects
        ext.sources = []
        # linked, however old the sources are
        before, self.force = self.force, True
        super().build_extension(ext)
        self.force = before
        print(f"compiled the native core in {time.monotonic() - began:.0f} s", file=sys.stderr)
        kept.parent.mkdir(parents=True, exist_ok=True)
        # whole at once, for builds may run beside each other
        part = kept.with_suffix(f".{os.getpid()}")
        shutil.copy(made, part)
        part.replace(kept)

    def hash_of(self, ext: Pybind11Extension, variants: Iterable[str]) -> str:
        """Return the hash of all that a core is made of: sources, headers, compiler, options and instruction sets."""
        # Microsoft's compiler has its version in its path
        command = list(getattr(self.compiler, "compiler_so", [])) or [str(getattr(self.compiler, "cc", ""))]
        with contextlib.suppress(OSError):
            said = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=False)
            command.append(said.stdout)
        options = [sys.version, pybind11.__version__, platform.machine(), *command, *variants, *FLAGS, *LINK_FLAGS]
        # pip has headers of pybind11 in a folder that is new each time
        options += [str(getattr(self.compiler, "linker_so", "")), str(ext.define_macros)]
        found = hashlib.sha256("\n".join(options).encode())
        for path in sorted([Path(__file__), *map(Path, ext.depends)]):
            found.update(f"{path.name}\n".encode() + path.read_bytes())
        return found.hexdigest()[:32]


if __name__ == "__main__":
    setup(
        ext_modules=[
            Pybind11Extension(
                "isaacsim.core.experimental.actuators.base.native.core",
                [str(path) for path in sources()[1]],
                depends=sorted(str(path) for path in (*NATIVE.glob("*.h"), *NATIVE.glob("*.cpp"))),
                extra_compile_args=FLAGS,
                extra_link_args=LINK_FLAGS,
            )
        ]
        if is_core_built()
        else [],
        cmdclass={"build_ext": BuildVariants, "build_py": BuildModules},
    )
