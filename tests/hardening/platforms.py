"""The native core for other platforms and compilers, made on this one.

    ./python.sh tests/hardening/platforms.py                       # all of it: about ten minutes on two cores
    ./python.sh tests/hardening/platforms.py --only aarch64 msvc

*aarch64*: all of the core is cross-compiled and linked, and `self_test.cpp` runs under qemu. *msvc*: the sources are
read without what only GCC and clang have, GNU extensions being errors, as Microsoft's compiler reads them. *macos*,
*windows* and *musl*: every source is compiled by clang with the headers of that system, warnings being errors; Python's
headers are those of this machine with a configuration of that system's sizes. Sources, flags and instruction sets are
those of `setup.py`. The self-test prints sums over the bits of laws, functions and gradients: they are the same there
as here, in each instruction set that this processor has.

On Debian and Ubuntu: apt install g++-aarch64-linux-gnu qemu-user-static; and pip install ziglang, or zig in PATH.
"""

import argparse
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import pybind11
except ModuleNotFoundError:
    sys.exit("platforms.py needs pybind11, which the tests do not bring. Run `./python.sh -m pip install pybind11`.")
ROOT = Path(__file__).resolve().parents[2]
NATIVE, PLACE = ROOT / "native", ROOT / "build" / "platforms"
SELF_TEST = ROOT / "tests" / "hardening" / "self_test.cpp"
# what the self-test needs besides itself
TESTED = ("gradients.cpp", "network_gradients.cpp")
HEADERS = [pybind11.get_include(), sysconfig.get_path("include")]
# clang says so of & between truth values, which is meant, and of loops that it leaves alone
CLANG = ["-Wpedantic", *(f"-Wno-{name}" for name in ("bitwise-instead-of-logical", "bitwise-conditional-parentheses"))]
CLANG += ["-Wno-pass-failed"]
# names that compilers define which have GNU extensions, and instruction sets that Microsoft's has no names for
GNU_ONLY = ["__GNUC__", "__clang__", "__linux__", "__SSE__", "__AVX2__", "__AVX512F__", "__FMA__", "__aarch64__"]
GUARDED = {"immintrin.h", "xmmintrin.h", "arm_neon.h", "sys/mman.h"}
WINDOWS_SIZES = """
#define MS_WINDOWS
#define MS_WIN64
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_SHORT 2
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define SIZEOF_HKEY 8
#define ALIGNOF_MAX_ALIGN_T 8
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define NT_THREADS 1
#define PY_SSIZE_T_CLEAN
typedef __int64 Py_ssize_t;
#define PY_SSIZE_T_MAX LLONG_MAX
#define Py_DEPRECATED(version)
"""
spec = importlib.util.spec_from_file_location("setup", ROOT / "setup.py")
assert spec is not None and spec.loader is not None
setup = importlib.util.module_from_spec(spec)
spec.loader.exec_module(setup)


def run(command: list[str]) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-6000:]}\nexit code {done.returncode}")
    return done.stdout


def tool(*names: str, remedy: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    return found or sys.exit(f"{' or '.join(names)}: not found. {remedy}")


def zig() -> list[str]:
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "c++"]
    return [tool("zig", remedy="pip install ziglang."), "c++"]


def compiled(
    name: str,
    compiler: list[str],
    system: str,
    machine: str,
    warnings: Sequence[str] = (),
    headers: Sequence[str] = HEADERS,
) -> list[str]:
    wanted = setup.variants_of(system, machine)
    each, once = setup.sources(NATIVE)
    present = [f"-D{key}" for key, _ in setup.presence_of(wanted)]
    jobs = [(path, name, [*flags, *present, *macros(name)]) for name, flags in wanted.items() for path in each]
    jobs += [(path, "", [*present, *(f"-isystem{folder}" for folder in headers)]) for path in once]

    def make(job: tuple[Path, str, list[str]]) -> str:
        path, variant, flags = job
        made = PLACE / f"{name}-{variant}-{path.stem}.o"
        # Microsoft's flags are for its own compiler
        common = setup.flags_of("linux" if system == "win32" else system)
        shared = [] if system == "win32" else ["-fPIC"]
        strict = ["-Wall", "-Werror", *warnings]
        said = run([*compiler, *common, *shared, *strict, *flags, "-c", str(path), "-o", str(made)])
        return str(made) if not said else sys.exit(said)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(make, jobs))
    print(f"{name}: {len(made)} objects of {len(each) + len(once)} sources, {', '.join(wanted)}", flush=True)
    return made


def macros(variant: str) -> list[str]:
    return [f"-D{key}={value}" for key, value in setup.macros_of(variant)]


def self_test(name: str, compiler: list[str], before: list[str], flags: list[str]) -> str:
    program = PLACE / f"self_test-{name}"
    common = [*setup.flags_of("linux"), "-DACTUATORS_HAS_BASELINE", *macros("baseline"), f"-I{NATIVE}", *flags]
    run([*compiler, *common, str(SELF_TEST), *(str(NATIVE / unit) for unit in TESTED), "-o", str(program)])
    return run([*before, str(program)])


def here() -> dict[str, str]:
    from isaacsim.core.experimental.actuators.base.native import core

    known = setup.variants_of("linux", platform.machine())
    return {name: self_test(f"here-{name}", ["g++"], [], known[name]) for name in core.variants()}


def same_bits(name: str, said: str) -> None:
    for variant, ours in here().items():
        if said != ours:
            pairs = zip(said.splitlines(), ours.splitlines(), strict=True)
            sys.exit("\n".join(f"{name}: {one}\nhere, {variant}: {two}" for one, two in pairs if one != two))
        print(f"{name}: the same bits as here, {variant}", flush=True)


def aarch64() -> None:
    remedy = "apt install g++-aarch64-linux-gnu qemu-user-static."
    compiler = [tool("aarch64-linux-gnu-g++", remedy=remedy)]
    qemu = tool("qemu-aarch64-static", "qemu-aarch64", remedy=remedy)
    objects = compiled("aarch64", compiler, "linux", "aarch64")
    core = PLACE / "core.so"
    run([*compiler, "-shared", *objects, "-o", str(core)])
    # little-endian, 64 bits, and the number that stands for this machine
    header = core.read_bytes()[:20]
    assert header[4:6] == b"\x02\x01" and header[18:20] == (183).to_bytes(2, "little"), "no library for aarch64"
    print(f"aarch64: linked, {core.stat().st_size} bytes")
    said = self_test("aarch64", compiler, [qemu], ["-static"])
    print(said, end="")
    same_bits("aarch64", said)


def msvc() -> None:
    """Whatever a header of the system needs is taken before names are taken away."""
    text = "".join(path.read_text("utf-8") for path in sorted((*NATIVE.glob("*.h"), *NATIVE.glob("*.cpp"))))
    included = sorted(set(re.findall(r"#include <(.+)>", text)) - GUARDED)
    plain, bound = PLACE / "msvc.h", PLACE / "msvc_python.h"
    ends = "".join(f"#undef {name}\n" for name in GNU_ONLY)
    ends += "#define _MSC_VER 1940\n#define __declspec(x)\n#define __attribute__(x) static_assert(false, #x);\n"
    first = "".join(f"#include <{header}>\n" for header in [*included, "random"] if "pybind11" not in header)
    plain.write_text(f"{first}{ends}")
    # pybind11 has its own names for attributes
    ends += "".join(
        f"#undef {name}\n#define {name}\n" for name in ("PYBIND11_EXPORT", "PYBIND11_NOINLINE", "Py_EXPORTED_SYMBOL")
    )
    bound.write_text("".join(f"#include <{header}>\n" for header in included if "pybind11" in header) + first + ends)
    strict = ["-pedantic-errors", "-Wno-unknown-pragmas"]
    each, once = setup.sources(NATIVE)
    python = [f"-isystem{folder}" for folder in HEADERS]

    def read(path: Path) -> None:
        own = ["-include", str(plain), *macros("baseline")] if path in each else [*python, "-include", str(bound)]
        run(["g++", *setup.flags_of("linux"), *strict, *own, "-Werror", "-fsyntax-only", str(path)])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(read, [*each, *once]))
    print(f"msvc: {len(each) + len(once)} sources have nothing that only GCC or clang knows", flush=True)
    same_bits("msvc, by numbers instead of vectors", self_test("msvc", ["g++"], [], [*strict, "-include", str(plain)]))


def by_zig(name: str, target: str, system: str, machine: str, sizes: str = "") -> Callable[[], None]:
    """Compile for a system whose Python is not here: its configuration stands before the headers of ours."""

    def make() -> None:
        python = Path(sysconfig.get_path("include"))
        if sizes:
            # Python.h takes the configuration beside it
            folder = PLACE / name
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(python, folder, ignore=shutil.ignore_patterns("pyconfig.h"))
            (folder / "pyconfig.h").write_text(sizes)
            python = folder
        compiled(name, [*zig(), "-target", target], system, machine, CLANG, [pybind11.get_include(), str(python)])

    return make


PARTS: dict[str, Callable[[], None]] = {
    "aarch64": aarch64,
    "msvc": msvc,
    "macos": by_zig("macos", "aarch64-macos", "darwin", "arm64"),
    "windows": by_zig("windows", "x86_64-windows-gnu", "win32", "AMD64", WINDOWS_SIZES),
    "musl": by_zig("musl", "aarch64-linux-musl", "linux", "aarch64"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    PLACE.mkdir(parents=True, exist_ok=True)
    for name in parser.parse_args().only:
        PARTS[name]()


if __name__ == "__main__":
    main()
