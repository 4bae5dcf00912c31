"""Runs of a side."""

import dataclasses

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison.plan import Plan, plan_of
from isaacsim.core.experimental.actuators.tools.comparison.run import PROPERTIES, Link, run
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, side_of
from physics_engines import ENGINES, installed
from seeded_faults import ARM, ARM_XML

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
# what a joint of a motor has whatever is set: the drive is off
OF_DRIVES = ("stiffness", "damping")


def short(side: Side) -> Plan:
    return plan_of(side, side, seconds=0.1)


def test_a_motion_begins_where_the_plan_does_and_follows_it() -> None:
    side = side_of(ARM)
    plan = plan_of(side, side, seconds=2.0)
    moved = run(side, plan).motion
    assert moved.joints == ("shoulder", "extension") and len(moved.time) == 481
    assert moved.positions[0] == pytest.approx(plan.start, abs=1e-6) and not moved.velocities[0].any()
    assert np.isnan(moved.efforts[0]).all()
    assert np.abs(moved.efforts[1:]).max(axis=0) == pytest.approx([60.0, 100.0], rel=0.5)
    assert np.array_equal(moved.targets, plan.targets(moved.time).astype(moved.targets.dtype))
    assert moved.diverged is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", [name for name in PROPERTIES if name not in OF_DRIVES])
def test_properties_are_set_and_read(engine, name) -> None:
    side = side_of(ARM, engine=installed(engine))
    before = run(side, short(side)).values.properties
    # the one dry friction of MuJoCo is told by the dynamic one
    told = "dynamic friction" if (engine, name) == ("mujoco", "static friction") else name
    value = -0.5 if name == "lower limit" else 0.25
    frictions = {"dynamic friction": ["static friction"]}.get(name, []) if engine == "physx" else []
    changed = side
    for one in (*frictions, told):
        changed = changed.with_property(one, {"shoulder": value})
    after = run(changed, short(side)).values.properties
    assert after[name]["shoulder"] == pytest.approx(value, rel=1e-5)
    assert after[name]["extension"] == before[name]["extension"]


def test_gains_of_drives_are_set() -> None:
    side = side_of(ARM_XML)
    found = run(side.with_property("stiffness", {"shoulder": 50.0}), short(side)).values.properties
    assert found["stiffness"] == {"shoulder": 50.0, "extension": 2000.0}
    assert found["damping"] == {"shoulder": 20.0, "extension": 100.0}


def test_inertias_are_set_and_read() -> None:
    side = side_of(ARM)
    before = run(side, short(side)).values
    link = Link(2.0, np.array([-0.2, 0.0, 0.0]), np.diag([0.002, 0.03, 0.03]).ravel())
    after = run(dataclasses.replace(side, links={"carriage": link}), short(side)).values
    assert after.links["carriage"].mass == pytest.approx(2.0)
    assert after.links["carriage"].com == pytest.approx(link.com, abs=1e-6)
    assert after.links["carriage"].inertia == pytest.approx(link.inertia, abs=1e-6)
    assert after.links["boom"].mass == before.links["boom"].mass
    assert after.inertias["extension"] == pytest.approx(before.inertias["extension"] + 1.0, rel=1e-5)


def test_another_order_moves_the_other_joint() -> None:
    side = side_of(ARM)
    other = dataclasses.replace(side, order={"shoulder": "extension", "extension": "shoulder"})
    found = run(other, short(side)).values
    assert found.motors["shoulder"].controller == PDControlConfig(2000.0, 100.0)
    assert found.order == ("shoulder", "extension")


def test_what_diverges_is_not_known_from_there_on() -> None:
    side = side_of(ARM, {".*": MotorConfig(PDControlConfig(1e9, 0.0))})
    moved = run(side, plan_of(side, side, seconds=0.5)).motion
    assert moved.diverged is not None and 0 < moved.diverged < 0.5 and np.isnan(moved.positions[-1]).all()
