"""Isaac Lab groups in a stage."""

import pytest
from isaacsim.core.experimental.actuators.compat.isaac_lab import DCMotorCfg, ImplicitActuatorCfg, to_usd
from isaacsim.core.experimental.actuators.tools.inspection.groups import resolve_groups
from places import ROBOTS
from robot_files import ARM, edited

pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
GROUPS = {
    "turning": DCMotorCfg(
        joint_names_expr=["shoulder"],
        stiffness=80.0,
        damping=4.0,
        saturation_effort=60.0,
        velocity_limit=10.0,
        effort_limit=40.0,
    ),
    "sliding": ImplicitActuatorCfg(joint_names_expr=["extension"], stiffness=500.0, damping=50.0),
}


def test_each_value_has_its_reason(tmp_path) -> None:
    """Of the cfg, of the robot, and the default limit of explicit models."""
    file = edited(tmp_path, lambda stage: to_usd(GROUPS, stage, ARM, overwrite_existing=True))
    rows = {(row.joint, row.property): row for row in resolve_groups(file)}
    free = rows["shoulder", "effort_limit_sim"]
    assert (free.group, free.applied) == ("turning", 1e9)
    assert free.rule == "explicit: Isaac Lab leaves the limit to the model"
    armature = rows["extension", "armature"]
    assert (armature.group, armature.config, armature.rule) == ("sliding", None, "unspecified: that of the robot")
    assert armature.applied == armature.file
    assert all(row.robot == ARM for row in rows.values())


@pytest.mark.parametrize(("file", "words"), [("arm_2dof.usda", "isaacLab:actuatorGroups"), ("arm_2dof.xml", "not USD")])
def test_files_without_groups_are_refused(file, words) -> None:
    """The error has a remedy."""
    with pytest.raises(ValueError, match=words):
        resolve_groups(ROBOTS / file)
