"""Unit tests with their arrays on a GPU: `./python.sh tests/hardening/gpu_tests.py` on a machine that has one.

The tests are copied, `"cpu"` in the chosen files becomes the GPU, and pytest runs them. Results of CUDA are then
compared with what these tests compare with: float64 oracles, finite differences, the generated C++ and newton. Tests of
the CPU alone are left out by `CPU_ONLY`.

    ./python.sh tests/hardening/gpu_tests.py -n 8 -q         # options of pytest follow
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import warp as wp

REPOSITORY = Path(__file__).parents[2]
GPU = "cuda:0"
FILES = (
    *("laws/test_conformance_of_laws.py", "laws/contract/test_functions.py"),
    *("engine/gradients/test_network_gradients.py", "laws/contract/test_product.py"),
    *("laws/networks/test_warp_gradients.py", "engine/gradients/test_actuator_gradients.py"),
    *("engine/test_gradients_of_networks.py", "engine/step/test_graph.py", "engine/gradients/test_warp_gradients.py"),
)
# files that are right as they are: they choose the GPU themselves
AS_THEY_ARE = (
    *("loops/test_mujoco_warp.py", "engine/test_user_components.py"),
    *("engine/step/test_cuda_code.py", "engine/gradients/test_gradient_kernels.py"),
)
SUPPORT = ("support/step_bench.py", "support/heated.py", "support/neural_bench.py")
CPU_ONLY = (
    # they write into memory of NumPy
    *("test_ring_that_is_not_full", "test_launches_stay_off_the_tape"),
    # gradients by weights are those of Torch, on the CPU
    "test_gradients_by_weights",
    # gradients are added up by atomic operations of the GPU, which have no denormal numbers
    *("test_twin_has_the_bits_of_warp", "test_twin_does_not_look_at_its_lane"),
    # arrays of JAX are on the GPU where there is one
    "jax",
)
"""Names of tests of the CPU alone, or parts of them."""


def main(options: list[str]) -> int:
    if not wp.is_cuda_available():
        print("no GPU here: nothing was tried.")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in REPOSITORY.iterdir():
            if path.name not in ("tests", ".git"):
                (root / path.name).symlink_to(path)
        command = ["git", "ls-files", "tests"] if (REPOSITORY / ".git").exists() else ["find", "tests", "-type", "f"]
        for name in subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((REPOSITORY / name).read_bytes())
        for name in (*FILES, *SUPPORT):
            path = root / "tests" / name
            path.write_text(re.sub(r'"cpu"', f'"{GPU}"', path.read_text("utf-8")), "utf-8")
        left_out = " and ".join(f"not {name}" for name in CPU_ONLY)
        chosen = [f"tests/{name}" for name in (*FILES, *AS_THEY_ARE)]
        command = [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:benchmark", "-k", left_out),
            *options,
            *chosen,
        ]
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(["python", os.environ.get("PYTHONPATH", "")])}
        return subprocess.run(command, cwd=root, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
