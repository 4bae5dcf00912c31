"""Parameters of running actuators: reading them leaves them shared, touching them gives each robot its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import (
    ArticulationActuators,
    MaxEffortClampingConfig,
    PDControlConfig,
    add_actuator,
    use_host,
)
from isaacsim.core.experimental.actuators.hosts.arrays import ArraysHost as MemoryHost
from pxr import Usd, UsdPhysics

pytestmark = pytest.mark.usefixtures("engine_kind")

ROOT, NAMES, ROBOTS = "/Robot", ["hip", "knee", "ankle"], 2


@pytest.fixture
def wrapper() -> Iterator[ArticulationActuators]:
    """Two robots, one prim for hip and ankle and one for the knee."""
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(ROOT, "Xform"))
    for name in NAMES:
        UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/{name}")
    limit = MaxEffortClampingConfig(50.0)
    add_actuator(ROOT, ["hip", "ankle"], "outer", PDControlConfig(10.0, 0.0), clamping=[limit], stage=stage)
    add_actuator(ROOT, "knee", "inner", PDControlConfig(20.0, 0.0), clamping=[limit], stage=stage)
    host = MemoryHost(NAMES, ROBOTS, path=ROOT, stage=stage)
    with use_host(host), ArticulationActuators(f"{ROOT}_.*") as made:
        host.play()
        host.arrays().position_targets[:] = 1.0
        yield made


def efforts(wrapper: ArticulationActuators) -> list[list[float]]:
    wrapper.step_actuators(0.01)
    return wrapper.articulation.get_dof_efforts().numpy().tolist()


def test_read_parameter_stays_shared(wrapper: ArticulationActuators) -> None:
    """One value per robot and joint, robot after robot, in a copy that acts on nothing."""
    outer, inner = wrapper.actuators
    for actuator, expected in ((outer, [10.0] * 4), (inner, [20.0] * 2)):
        values = actuator.controller.read("kp")
        assert values.tolist() == expected
        values[:] = 7.0
        assert "kp" not in vars(actuator.controller)
    assert efforts(wrapper) == [[10, 20, 10]] * ROBOTS


def test_written_parameter_is_read_back(wrapper: ArticulationActuators) -> None:
    """Through the attribute; what was not written keeps its value, and so do other actuators."""
    outer, inner = wrapper.actuators
    # hip and ankle of the first robot, then of the second
    outer.controller.kp.assign(np.array([1, 2, 3, 4], np.float32))
    outer.clamping[0].max_effort.numpy()[3] = 0.5
    assert outer.controller.read("kp").tolist() == [1, 2, 3, 4]
    assert outer.clamping[0].read("max_effort").tolist() == [50, 50, 50, 0.5]
    assert inner.controller.read("kp").tolist() == [20, 20]
    assert efforts(wrapper) == [[1, 20, 2], [3, 20, 0.5]]


def test_other_names_are_no_parameters(wrapper: ArticulationActuators) -> None:
    """An attribute that is not there is missed as usual."""
    controller = wrapper.actuators[0].controller
    with pytest.raises(AttributeError, match="ControllerPD has no attribute 'stiffness'"):
        _ = controller.stiffness
