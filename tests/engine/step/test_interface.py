"""The steps of all engines have the interface `Step`."""

import pytest
from isaacsim.core.experimental.actuators.engine.step.array_stages import ArrayStagesStep
from isaacsim.core.experimental.actuators.engine.step.interface import Step
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep

# attributes that a constructor sets
SET = {"plan", "signals", "step"}


@pytest.mark.parametrize("engine", [NativeStep, WarpStep, ArrayStagesStep])
def test_every_engine_has_the_members_of_a_step(engine) -> None:
    members = {name for name in vars(Step) if not name.startswith("_")} - SET
    assert {name for name in members if not hasattr(engine, name)} == set()
    assert [name for name in members - {"name"} if not getattr(engine, name).__doc__] == []
