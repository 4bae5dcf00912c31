"""Choice of the engine of a plan, and of array stages."""

import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.plan import array_stages, compile_plan
from isaacsim.core.experimental.actuators.engine.step.array_stages import ArrayStagesStep
from isaacsim.core.experimental.actuators.engine.step.engine import make_step, with_array_stages
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep, has_native_core
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from own_components import OwnLimit
from step_bench import ROBOTS, built_in_plan, entries


@pytest.mark.parametrize(("on_core", "engine"), [(True, NativeStep), (False, WarpStep)])
def test_either_engine_runs_a_plan_of_built_in_laws(on_core, engine) -> None:
    if on_core and not has_native_core():
        pytest.skip("the native core was not built")
    plan = built_in_plan()
    step = make_step(plan, "cpu", on_core=on_core, label="leg")
    assert type(step) is engine and step.plan is plan


def test_components_stand_between_the_phases_of_an_engine() -> None:
    entry = entries()[0]
    entry.clamping.append(OwnLimit(wp.full(ROBOTS, 5.0, dtype=wp.float32, device="cpu")))
    plan = compile_plan([entry], ROBOTS)
    apart = array_stages(entry)
    assert apart is not None
    step = with_array_stages(make_step(plan, "cpu", on_core=False), [(entry.label, apart, [0])], "cpu")
    assert type(step) is ArrayStagesStep and [(one.label, one.slots) for one in step.inserts] == [(entry.label, [0])]
