"""Build the native core: C++17, one object per instruction set, optional (without a compiler Warp serves)."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup
from setuptools.command.build_ext import build_ext

NATIVE = Path("native")
# contraction would round differently from one instruction set to the next
FLAGS = ["-O3", "-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
LINK_FLAGS: list[str] = []
if os.environ.get("ACTUATORS_SANITIZE"):
    # see tools/sanitize.sh
    FLAGS += ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    LINK_FLAGS += ["-fsanitize=address,undefined"]
VARIANTS = {"baseline": []}
X86 = platform.machine().lower() in ("x86_64", "amd64")
if X86:
    VARIANTS |= {
        "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"],
    }


class BuildVariants(build_ext):
    """Compiles the core once per instruction set and links the objects into the module."""

    def build_extension(self, ext: Pybind11Extension) -> None:
        """Compile and link."""
        for name, flags in VARIANTS.items():
            symbol = f"k{name.capitalize()}"
            macros = [("ACTUATORS_VARIANT", name), ("ACTUATORS_SYMBOL", symbol), ("ACTUATORS_NAME", f'"{name}"')]
            objects = self.compiler.compile(
                [str(NATIVE / name) for name in ("step.cpp", "network.cpp", "gradients.cpp")],
                output_dir=str(Path(self.build_temp) / name),
                macros=[*macros, *ext.define_macros],
                extra_postargs=[*FLAGS, *flags],
                depends=ext.depends,
            )
            ext.extra_objects += objects
        super().build_extension(ext)


setup(
    ext_modules=[
        Pybind11Extension(
            "isaacsim.core.experimental.actuators.native.core",
            [str(NATIVE / "module.cpp"), str(NATIVE / "plan.cpp")],
            depends=sorted(str(path) for path in (*NATIVE.glob("*.h"), *NATIVE.glob("*.cpp"))),
            define_macros=[("ACTUATORS_X86", None)] if X86 else [],
            extra_compile_args=FLAGS,
            extra_link_args=LINK_FLAGS,
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildVariants},
)
