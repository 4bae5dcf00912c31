"""Kernels of gradients as CUDA code, compiled without a GPU, and each of them made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
    ControllerPD,
    ControllerPID,
)
from isaacsim.core.experimental.actuators.pipeline.step.gradient_kernels import gradient_kernels
from step_bench import ClampingSlew, ControllerLeaky

LIMITS = (ClampingSlew, ClampingDCMotor, ClampingPositionBased, ClampingMaxEffort)


@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("controller", [ControllerPID, ControllerLeaky])
def test_pipeline_compiles_for_cuda(controller: Any, arch: int, tmp_path: Path) -> None:
    """Laws of this package and of one's own, forward and back, for the A100 and for the H100 and H200."""
    kernels = gradient_kernels(controller, LIMITS, True)
    (file, *_) = wp.compile_aot_module(kernels.efforts.module, arch=arch, module_dir=tmp_path, use_ptx=True)
    text = Path(file).read_text().replace("\0", "")
    entries = {line.split()[2].partition("(")[0] for line in text.splitlines() if line.startswith(".visible .entry")}
    # only the way from what was noted to efforts has an adjoint
    assert sorted(name.rsplit("_", 1)[-1] for name in entries if "efforts" in name) == ["backward", "forward"]
    assert not [name for name in entries if name.endswith("backward") and "efforts" not in name]
    assert all(any(name.startswith(kernel) for name in entries) for kernel in ("note", "take", "leave"))


def test_kernels_are_made_once_for_a_pipeline() -> None:
    """Whoever asks; with a delay they are others."""
    with_limits = gradient_kernels(ControllerPD, (ClampingMaxEffort,), False)
    assert gradient_kernels(ControllerPD, (ClampingMaxEffort,), False) is with_limits
    assert gradient_kernels(ControllerPD, (ClampingMaxEffort,), True).note is not with_limits.note
