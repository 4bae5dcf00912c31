"""Which stages a header in C has: kind by kind, law by law, and by the page on export."""

import re
from dataclasses import replace

import isaacsim.core.experimental.actuators as aa
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from isaacsim.core.experimental.actuators.tools.export.c_carried import left, reason, refused, stages_of
from isaacsim.core.experimental.actuators.tools.export.c_stage import LINES
from isaacsim.core.experimental.actuators.tools.export.robot import ExportedJoint, read_robot
from isaacsim.core.experimental.actuators.tools.export.targets import export
from places import REPOSITORY, ROBOTS
from refusals import cases

PD = aa.PDControlConfig(80.0, 2.0)
REFUSED = {"supply": aa.SupplyConfig(24.0), "effort_mode": aa.ImplicitConfig()}


def joint_of(*stages: Config) -> ExportedJoint:
    return ExportedJoint("elbow", False, motor_of(list(stages)), {}, ())


def test_kinds_are_carried_or_refused() -> None:
    assert set(REFUSED) == set(KINDS) - set(LINES)
    for kind, config in REFUSED.items():
        assert config.KIND == kind and reason(config).startswith("is of a kind that a C header cannot have")


@cases("config", *REFUSED.values(), ids=REFUSED)
def test_kinds_are_refused_by_name(config) -> None:
    (line,) = [one for one in refused(joint_of(PD, config)) if config.KIND in one]
    assert line.startswith(f"elbow: {config.KIND} ")
    assert line.endswith(f"must be one of {', '.join(LINES)}. Change the motor by --config, or choose another target.")


@cases(
    "config",
    aa.FrictionConfig(1.0),
    aa.FrictionCurveConfig([0.0, 1.0], [1.0, 2.0]),
    aa.LuGreFrictionConfig(900.0),
    aa.ElasticTransmissionConfig(9.0, rotor_inertia=1e-4, stiffness=30.0),
    aa.TransmissionConfig(9.0, efficiency=0.8),
    ids=lambda config: type(config).__name__,
)
def test_inertia_has_to_be_known(config) -> None:
    (line,) = refused(joint_of(PD, config))
    assert "has no assumed_inertia" in line


def test_a_winding_before_a_linkage_is_refused() -> None:
    winding, shaft = aa.ElectricalConfig(0.06, 0.9), aa.LinkageConfig.differential("elbow", "wrist")[0]
    (line,) = refused(joint_of(PD, winding, shaft))
    assert line.startswith("elbow: electrical needs the inertia that its motor feels")
    assert not [*refused(joint_of(PD, winding))] and not [*refused(joint_of(PD, shaft))]


def test_networks_are_refused() -> None:
    (line,) = refused(joint_of(aa.NeuralControlConfig("net.pt")))
    assert line.startswith("elbow: controller neural has no twin in C: must be a law without a network.")


def test_stages_as_they_act() -> None:
    found = stages_of(joint_of(aa.TransmissionConfig(9.0, efficiency=0.8), aa.MaxEffortClampingConfig(3.0), PD))
    kinds = [aa.PDControlConfig, aa.MaxEffortClampingConfig, aa.TransmissionConfig, aa.FrictionConfig]
    assert [type(one) for one in found] == kinds
    assert found[-1].motor_load > 0.0 and stages_of(joint_of(PD, aa.FrictionConfig(1.0, in_engine=True))) == [PD]
    assert stages_of(replace(joint_of(PD), motor=None)) == []


def test_friction_of_the_simulator_is_named(tmp_path) -> None:
    robot = read_robot(ROBOTS / "pendulum.usda", {".*": [PD, aa.FrictionConfig(1.0, in_engine=True)]})
    assert [one.joint for one in left(robot)] == list(robot.joints)
    (told,) = export(robot, "c", tmp_path / "motors.h", strict=True)
    assert told.startswith("Left to the robot: law passive friction with in_engine = True of 1 joint: ")


def test_armature_and_friction_without_a_stage_are_named(tmp_path) -> None:
    own = replace(motor_of([PD]), armature=0.02, friction=0.3)
    assert export(read_robot(ROBOTS / "pendulum.usda", {".*": own}), "c", tmp_path / "motors.h", strict=True) == [
        "Left to the robot: armature of 1 joint (0.02 kg·m²): hinge.",
        "Left to the robot: dry friction of 1 joint (0.3 N·m): hinge.",
    ]
    staged = read_robot(ROBOTS / "pendulum.usda", {".*": [PD, aa.FrictionConfig(0.3, assumed_inertia=0.1)]})
    assert export(staged, "c", tmp_path / "motors.h", strict=True) == []


def test_the_page_lists_every_law() -> None:
    page = (REPOSITORY / "docs/tutorials/out_to_the_robot.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| ((?:`\w+Config`(?:, )?)*|-) \|.*\|$", page, re.MULTILINE))
    for kind in KINDS:
        carried = {law.config.__name__ for law in catalogue.laws(kind)} if kind in LINES else set()
        assert set(re.findall(r"`(\w+)`", rows[kind])) == carried, kind
