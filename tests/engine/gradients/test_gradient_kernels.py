"""Kernels of gradients as CUDA code, compiled without a GPU, and created once per pipeline."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.gradients.gradient_kernels import PipelineLaws, gradient_kernels
from step_bench import ClampingSlew, ControllerLeaky

LIMITS = (ClampingSlew, aa.ClampingDCMotor, aa.ClampingPositionBased, aa.ClampingMaxEffort)


@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("controller", [aa.ControllerPID, ControllerLeaky])
@pytest.mark.slow
@pytest.mark.usefixtures("optimized_kernels")
def test_pipeline_compiles_for_cuda(controller, arch, tmp_path) -> None:
    """Built-in and custom laws compile with their adjoints for the A100, and for the H100 and H200."""
    kernels = gradient_kernels(PipelineLaws(controller, LIMITS), True)
    (file, *_) = wp.compile_aot_module(kernels.efforts.module, arch=arch, module_dir=tmp_path, use_ptx=True)
    text = Path(file).read_text().replace("\0", "")
    entries = {line.split()[2].partition("(")[0] for line in text.splitlines() if line.startswith(".visible .entry")}
    # only the kernel of the efforts has an adjoint
    assert sorted(name.rsplit("_", 1)[-1] for name in entries if "efforts" in name) == ["backward", "forward"]
    assert not [name for name in entries if name.endswith("backward") and "efforts" not in name]
    assert all(any(name.startswith(kernel) for name in entries) for kernel in ("record", "gather", "scatter"))


def test_kernels_are_created_once_per_pipeline() -> None:
    first, second = (PipelineLaws(aa.ControllerPD, (aa.ClampingMaxEffort,)) for _ in range(2))
    with_limits = gradient_kernels(first, False)
    assert gradient_kernels(second, False) is with_limits
    assert gradient_kernels(first, True).record is not with_limits.record
