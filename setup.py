"""Build the native core: C++17, one object per instruction set.

Without a compiler there is none, Warp serves, and the wheel's name says so: py3-none-any. A compiler that is there and
fails is an error. ACTUATORS_CORE=required takes nothing less than the core, ACTUATORS_CORE=off leaves it out.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension
from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError

NATIVE = Path("native")
# contraction would round differently from one instruction set to the next
FLAGS = ["-O3", "-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
LINK_FLAGS: list[str] = []
WINDOWS = sys.platform == "win32"
if WINDOWS:
    FLAGS = ["/O2", "/fp:precise"]
if sanitizers := os.environ.get("ACTUATORS_SANITIZE"):
    # see tools/sanitize.sh
    FLAGS += ["-O1", "-g1", "-fno-omit-frame-pointer", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=undefined"]
    LINK_FLAGS += [f"-fsanitize={sanitizers}"]
VARIANTS = {"baseline": []}
X86 = platform.machine().lower() in ("x86_64", "amd64") and not WINDOWS
if os.environ.get("ACTUATORS_VARIANTS") == "baseline":
    # a core for tests, made in a third of the time
    X86 = False
if X86:
    VARIANTS |= {
        "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"],
    }


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


class BuildVariants(build_ext):
    """Compiles the core once per instruction set and links the objects into the module."""

    def build_extension(self, ext: Pybind11Extension) -> None:
        """Compile and link."""
        try:
            self.build_variants(ext)
        except (CompileError, LinkError) as error:
            # the compiler has said why
            raise CompileError(
                f"{error}: the native core does not compile. ACTUATORS_CORE=off leaves it out."
            ) from None

    def build_variants(self, ext: Pybind11Extension) -> None:
        """Compile one object per instruction set, and link them."""
        for name, flags in VARIANTS.items():
            symbol = f"k{name.capitalize()}"
            macros = [("ACTUATORS_VARIANT", name), ("ACTUATORS_SYMBOL", symbol), ("ACTUATORS_NAME", f'"{name}"')]
            objects = self.compiler.compile(
                [str(NATIVE / name) for name in ("step.cpp", "network.cpp", "gradients.cpp", "network_gradients.cpp")],
                output_dir=str(Path(self.build_temp) / name),
                macros=[*macros, *ext.define_macros],
                extra_postargs=[*FLAGS, *flags],
                depends=ext.depends,
            )
            ext.extra_objects += objects
        super().build_extension(ext)


# one compiler per core
ParallelCompile().install()
setup(
    ext_modules=[
        Pybind11Extension(
            "isaacsim.core.experimental.actuators.native.core",
            [str(NATIVE / "module.cpp"), str(NATIVE / "plan.cpp")],
            depends=sorted(str(path) for path in (*NATIVE.glob("*.h"), *NATIVE.glob("*.cpp"))),
            define_macros=[("ACTUATORS_X86", None)] if X86 else [],
            extra_compile_args=FLAGS,
            extra_link_args=LINK_FLAGS,
        )
    ]
    if is_core_built()
    else [],
    cmdclass={"build_ext": BuildVariants},
)
