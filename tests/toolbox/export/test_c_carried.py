"""Which stages a header in C has: kind by kind, law by law, and by the page on export."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import (
    ElasticTransmissionConfig,
    ElectricalConfig,
    FrictionConfig,
    FrictionCurveConfig,
    ImplicitConfig,
    LinkageConfig,
    LuGreFrictionConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    SupplyConfig,
    TransmissionConfig,
)
from isaacsim.core.experimental.actuators.components import catalogue
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from isaacsim.core.experimental.actuators.toolbox.export.c_carried import losses, reason, refused, stages_of
from isaacsim.core.experimental.actuators.toolbox.export.c_laws import FUNCTIONS
from isaacsim.core.experimental.actuators.toolbox.export.c_stage import LINES
from isaacsim.core.experimental.actuators.toolbox.export.losses import Loss
from isaacsim.core.experimental.actuators.toolbox.export.robot import ExportedJoint, read_robot
from isaacsim.core.experimental.actuators.toolbox.export.targets import export
from places import REPOSITORY, ROBOTS

PD = PDControlConfig(80.0, 2.0)
REFUSED = {
    "supply": SupplyConfig(24.0),
    "effort_mode": ImplicitConfig(),
}


def joint_of(*stages: Config) -> ExportedJoint:
    """A joint with a motor."""
    return ExportedJoint("elbow", False, motor_of(list(stages)), {}, ())


def test_kinds_are_carried_or_refused() -> None:
    """Each of the table of kinds."""
    assert set(REFUSED) == set(KINDS) - set(LINES)
    for kind, config in REFUSED.items():
        assert config.KIND == kind
        assert reason(config).startswith("is of a kind that a C header cannot have")


def test_laws_of_carried_kinds_have_twins() -> None:
    """All functions of each law, but of networks and of the delay in steps, which is no law."""
    for law in catalogue.laws():
        if law.kind in LINES and law.component.LAW is not None:
            one = law.component
            called = (one.LAW, one.PREPARE, one.MOTOR, one.FELT, one.TICK)
            assert {one.func.__name__ for one in called if one is not None} <= set(FUNCTIONS), law.name


@pytest.mark.parametrize("config", REFUSED.values(), ids=REFUSED)
def test_kinds_are_refused_by_name(config: Config) -> None:
    """With the joint, the law and what can be done."""
    (line,) = [one for one in refused(joint_of(PD, config)) if config.KIND in one]
    assert line.startswith(f"elbow: {config.KIND} ")
    assert line.endswith(f"must be one of {', '.join(LINES)}. Change the motor by --config, or choose another target.")


@pytest.mark.parametrize(
    "config",
    [
        FrictionConfig(1.0),
        FrictionCurveConfig([0.0, 1.0], [1.0, 2.0]),
        LuGreFrictionConfig(900.0),
        ElasticTransmissionConfig(9.0, rotor_inertia=1e-4, stiffness=30.0),
        TransmissionConfig(9.0, efficiency=0.8),
    ],
    ids=lambda config: type(config).__name__,
)
def test_inertia_has_to_be_known(config: Config) -> None:
    """Of what gives no effort without it; what a gear loses is friction."""
    (line,) = refused(joint_of(PD, config))
    assert "has no assumed_inertia" in line


def test_a_winding_before_a_linkage_is_refused() -> None:
    """As by the package: nobody knows the inertia that it feels."""
    winding, shaft = ElectricalConfig(0.06, 0.9), LinkageConfig.differential("elbow", "wrist")[0]
    (line,) = refused(joint_of(PD, winding, shaft))
    assert line.startswith("elbow: electrical electrical needs the inertia that its motor feels")
    assert not [*refused(joint_of(PD, winding))] and not [*refused(joint_of(PD, shaft))]


def test_networks_are_refused() -> None:
    """By joint and law."""
    (line,) = refused(joint_of(NeuralControlConfig("net.pt")))
    assert line.startswith("elbow: controller neural has no twin in C: must be a law without a network.")


def test_stages_as_they_act() -> None:
    """In the order of the table, with what a gear loses, and without what a simulator computes."""
    gear = TransmissionConfig(9.0, efficiency=0.8)
    found = stages_of(joint_of(gear, MaxEffortClampingConfig(3.0), PD))
    assert [type(one) for one in found] == [
        PDControlConfig,
        MaxEffortClampingConfig,
        TransmissionConfig,
        FrictionConfig,
    ]
    assert found[-1].motor_load > 0.0
    assert stages_of(joint_of(PD, FrictionConfig(1.0, in_engine=True))) == [PD]
    assert stages_of(replace(joint_of(PD), motor=None)) == []


def test_friction_of_the_simulator_is_named(tmp_path: Path) -> None:
    """A line of what the header does not say, and an error where it has to say all."""
    robot = read_robot(ROBOTS / "pendulum.usda", {".*": [PD, FrictionConfig(1.0, in_engine=True)]})
    assert losses(robot) == [
        Loss(one.name, "friction with in_engine = True, which the real joint has") for one in robot.joints
    ]
    (told,) = export(robot, "c", tmp_path / "motors.h")
    assert told.startswith("Not said: friction with in_engine = True")
    with pytest.raises(ValueError, match="must say all"):
        export(robot, "c", tmp_path / "motors.h", strict=True)


def test_the_page_lists_every_law() -> None:
    """As carried or not, kind by kind."""
    page = (REPOSITORY / "docs/tutorials/out_to_the_robot.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| ((?:`\w+Config`(?:, )?)*|-) \|.*\|$", page, re.MULTILINE))
    for kind in KINDS:
        carried = {law.config.__name__ for law in catalogue.laws(kind)} if kind in LINES else set()
        assert set(re.findall(r"`(\w+)`", rows[kind])) == carried, kind
