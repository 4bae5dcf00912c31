"""Kernels of Warp that compile in half the time."""

import contextlib
import os
import shutil

# "optimized" takes kernels as users have them: tests/installs/pythons.py
CHOICE = "ACTUATORS_TEST_KERNELS"


def compile_quickly() -> None:
    """Let Warp compile without optimizing, which changes no bit, unless there is a GPU: its compiler errs then."""
    # scripts that ask for the name of the choice do without it
    import warp as wp

    is_asked_for = os.environ.get(CHOICE) != "optimized" and not shutil.which("nvidia-smi")
    if is_asked_for and hasattr(wp.config, "optimization_level"):
        wp.config.optimization_level = 0


@contextlib.contextmanager
def optimized():
    """Let Warp optimize kernels that compute for longer than they compile."""
    import warp as wp

    before = getattr(wp.config, "optimization_level", None)
    wp.config.optimization_level = None
    yield
    wp.config.optimization_level = before
