"""Kernels of Warp that compile in half the time."""

from __future__ import annotations

import os

# "optimized" takes kernels as users have them: tests/installs/pythons.py
CHOICE = "ACTUATORS_TEST_KERNELS"


def compile_quickly() -> None:
    """Let Warp compile without optimizing, which changes no bit: tests have hundreds of kernels, each runs briefly."""
    # scripts that ask for the name of the choice do without it
    import warp as wp

    if os.environ.get(CHOICE) != "optimized" and hasattr(wp.config, "optimization_level"):
        wp.config.optimization_level = 0
