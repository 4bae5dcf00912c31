"""The kernel of a plan as CUDA code, compiled without a GPU: it compiles, fits into registers and spills nothing."""

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import heated
import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine import totals
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import Plan, compile_plan
from isaacsim.core.experimental.actuators.engine.step import warp_functions
from isaacsim.core.experimental.actuators.engine.step.warp_kernel import step_kernel
from isaacsim.core.experimental.actuators.laws.networks import network_run, warp_evaluator
from step_bench import ROBOTS, ClampingSlew, asking_entries, joint_entries, sensing_entries

pytestmark = [pytest.mark.usefixtures("optimized_kernels"), pytest.mark.slow]
# a law that keeps its state until the limits are done costs a few; 896 threads of a multiprocessor still run at once
MOST_REGISTERS = 72


def ones() -> wp.array:
    return wp.ones(1, dtype=wp.float32, device="cpu")


def mixed_plan() -> Plan:
    pd, pid = aa.ControllerPD(ones(), ones()), aa.ControllerPID(ones(), ones(), ones(), ones())
    motor, table = aa.ClampingDCMotor(ones(), ones(), ones()), aa.ClampingPositionBased(None, [0.0, 1.0], [1.0, 2.0])
    delay = aa.Delay(wp.array(np.array([2]), dtype=wp.int32, device="cpu"), 2)
    slew = ClampingSlew(ones(), ones())
    return compile_plan(
        [
            ActuatorEntry("a", ("a",), pd, [motor, slew, aa.ClampingMaxEffort(ones())], None),
            ActuatorEntry("b", ("b",), pid, [table, aa.ClampingMaxEffort(ones())], delay),
        ],
        1,
    )


def ptxas() -> str | None:
    if found := shutil.which("ptxas"):
        return found
    try:
        files = metadata.files("nvidia-cuda-nvcc") or []
    except metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name == "ptxas"), None)


def test_what_stands_between_the_phases_compiles_for_cuda(tmp_path) -> None:
    for module in (network_run, warp_evaluator, warp_functions, totals):
        folder = tmp_path / module.__name__
        (file, *_) = wp.compile_aot_module(wp.get_module(module.__name__), arch=90, module_dir=folder, use_ptx=True)
        assert ".visible .entry" in Path(file).read_text().replace("\0", "")


@pytest.mark.parametrize("phase", ["step", "command", "limit"])
def test_stages_of_all_kinds_compile_for_cuda(phase, tmp_path) -> None:
    heating = [heated.entry(name) for name in heated.NAMES]
    plan = compile_plan([*joint_entries(), *asking_entries(), *sensing_entries(), *heating], ROBOTS)
    stages, feedback = (tuple(stage.law for stage in some) for some in (plan.stages, plan.feedback))
    assert plan.asked and plan.published and feedback
    module = step_kernel(plan.controllers, stages, feedback, (False,) * len(feedback), "columns", phase, True).module
    (file, *_) = wp.compile_aot_module(module, arch=90, module_dir=tmp_path, use_ptx=True)
    assert ".visible .entry" in Path(file).read_text().replace("\0", "")


@pytest.mark.parametrize(("binding", "phase"), [("columns", "step"), ("columns", "limit"), ("indices", "step")])
@pytest.mark.parametrize("arch", [80, 90])
def test_mixed_plan_compiles_for_cuda(arch, binding, phase, tmp_path) -> None:
    """For the processors of the A100 and of the H100 and H200, in one go and in two phases, with both bindings."""
    plan = mixed_plan()
    stages = tuple(stage.law for stage in plan.stages)
    module = step_kernel(plan.controllers, stages, (), (), binding, phase, False).module
    (file, *_) = wp.compile_aot_module(module, arch=arch, module_dir=tmp_path, use_ptx=True)
    text = Path(file).read_text().replace("\0", "")
    assert "step_kernel" in text
    tool = ptxas()
    if tool is None:
        pytest.skip("ptxas is not there: registers and spills are not counted")
    # the assembler may be older than the compiler in Warp
    source = tmp_path / "step.ptx"
    source.write_text(re.sub(r"^\.version .*", ".version 8.5", text, flags=re.MULTILINE))
    command = [tool, "-v", f"-arch=sm_{arch}", str(source), "-o", str(tmp_path / "step.cubin")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    registers = [int(number) for number in re.findall(r"Used (\d+) registers", said)]
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill", said)]
    assert registers and max(registers) <= MOST_REGISTERS, said
    assert not any(spills), said
