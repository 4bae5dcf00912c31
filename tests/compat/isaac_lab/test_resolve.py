"""Which value each joint gets, by the documentation's rules and by the code's."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat.isaac_lab import (
    DCMotorCfg,
    IdealPDActuatorCfg,
    ImplicitActuatorCfg,
    Row,
)
from isaacsim.core.experimental.actuators.compat.isaac_lab.resolve import Resolved, Rules, resolve

NAMES = ["hip", "knee", "ankle"]
ROBOT = {"stiffness": 40.0, "damping": 4.0, "effort_limit_sim": 5000.0, "velocity_limit_sim": 9.0, "armature": 0.1}
PD = {"joint_names_expr": [".*"], "stiffness": 200.0, "damping": 10.0}
RULES: list[Rules] = ["documentation", "code"]


def resolved(cfg, rules: Rules = "documentation") -> Resolved:
    return resolve(cfg, NAMES, [2, 0, 1], ROBOT, 2, rules=rules, group="leg")


def values(cfg, name: str, rules: Rules = "documentation") -> list[float]:
    found = resolved(cfg, rules).values[name]
    assert found.shape == (2, 3)
    assert (found[0] == found[1]).all()
    return found[0].tolist()


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("sim", [None, 400.0])
@pytest.mark.parametrize("limit", [None, 300.0])
def test_limits_of_explicit_models(limit, sim, rules) -> None:
    """The model's effort limit falls back to the robot's, the solver's to 1e9; that of speed first to the solver's."""
    cfg = IdealPDActuatorCfg(**PD, effort_limit=limit, effort_limit_sim=sim)
    assert values(cfg, "effort_limit", rules) == [limit or 5000.0] * 3
    assert values(cfg, "effort_limit_sim", rules) == [sim or 1e9] * 3
    cfg = IdealPDActuatorCfg(**PD, velocity_limit=limit, velocity_limit_sim=sim)
    assert values(cfg, "velocity_limit", rules) == [limit or sim or 9.0] * 3
    assert values(cfg, "velocity_limit_sim", rules) == [sim or 9.0] * 3


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("sim", [None, 400.0, 200.0])
@pytest.mark.parametrize("limit", [None, 300.0, 200.0])
@pytest.mark.parametrize("which", ["effort_limit", "velocity_limit"])
def test_limits_of_implicit_models(which, limit, sim, rules) -> None:
    """Both names are one limit and must agree; the code does not look at `velocity_limit` alone."""
    cfg = ImplicitActuatorCfg(**PD, **{which: limit, f"{which}_sim": sim})
    if limit and sim and limit != sim:
        with pytest.raises(ValueError, match=f"{which} = {limit} and {which}_sim = {sim}: must be equal"):
            resolved(cfg, rules)
        return
    of_robot = ROBOT[f"{which}_sim"]
    ignored = rules == "code" and which == "velocity_limit" and sim is None
    expected = of_robot if ignored else limit or sim or of_robot
    for name in (which, f"{which}_sim"):
        assert values(cfg, name, rules) == [expected] * 3
        assert resolved(cfg, rules).limits[name] == (None if ignored else limit or sim)


def test_a_joint_that_a_dictionary_leaves_out() -> None:
    """It keeps the robot's value by the documentation, and gets 0 by the code."""
    cfg = IdealPDActuatorCfg(**PD | {"stiffness": {"hip|knee": 7.0}}, effort_limit={"hip": 3.0}, armature={"knee": 0.5})
    assert values(cfg, "stiffness") == [7.0, 7.0, 40.0]
    assert values(cfg, "stiffness", "code") == [7.0, 7.0, 0.0]
    assert values(cfg, "effort_limit") == [3.0, 5000.0, 5000.0]
    assert values(cfg, "armature") == pytest.approx([0.1, 0.5, 0.1])
    with pytest.raises(ValueError, match=r"knee is matched by 'k\.\*' and '\.\*ee': must be matched once"):
        resolved(IdealPDActuatorCfg(**PD | {"stiffness": {"k.*": 1.0, ".*ee": 2.0}}))


def test_names_of_version_three() -> None:
    """They say the same, must agree with the names of before, and an implicit model has no limit of its own."""
    cfg = DCMotorCfg(
        **PD, saturation_effort=9.0, actuator_effort_limit=5.0, actuator_velocity_limit=6.0, joint_effort_limit=7.0
    )
    found = resolved(cfg).values
    assert [found[name][0, 0] for name in ("effort_limit", "velocity_limit", "effort_limit_sim")] == [5.0, 6.0, 7.0]
    assert values(ImplicitActuatorCfg(**PD, joint_velocity_limit=2.0), "velocity_limit_sim") == [2.0] * 3
    with pytest.raises(ValueError, match=r"actuator_effort_limit = 5\.0 and effort_limit = 6\.0: must be equal"):
        resolved(cfg.replace(effort_limit=6.0))
    with pytest.raises(ValueError, match=r"the solver clips\. Give joint_effort_limit"):
        resolved(ImplicitActuatorCfg(**PD, actuator_effort_limit=5.0))


def test_rows_of_the_table() -> None:
    """What is not said or differs: joint by joint in the documentation, all joints of the property in the code."""
    cfg = ImplicitActuatorCfg(
        **PD | {"stiffness": {"hip": 40.0, "knee|ankle": 5.0}, "damping": 4.0},
        effort_limit_sim=5000.0,
        armature=0.1,
        friction=0.0,
    )
    found = resolved(cfg)
    assert [row for row in found.rows if row.property != "velocity_limit_sim"] == [
        Row("leg", "stiffness", "knee", 0, 40.0, 5.0, 5.0),
        Row("leg", "stiffness", "ankle", 1, 40.0, 5.0, 5.0),
    ]
    assert found.rows[0] == Row("leg", "velocity_limit_sim", "hip", 2, 9.0, None, 9.0)
    by_code = [(row.property, row.name) for row in resolved(cfg, "code").rows]
    properties = ("velocity_limit_sim", "stiffness", "dynamic_friction", "viscous_friction")
    assert by_code == [(name, joint) for name in properties for joint in NAMES]


def test_cfgs_of_orbit_and_cfgs_that_lack_fields() -> None:
    """A class of that name with the fields of 2023 is enough; it is not changed."""

    class DCMotorCfg:
        """As Orbit had it."""

        joint_names_expr = (".*",)
        stiffness, damping = 200.0, None
        effort_limit, velocity_limit, saturation_effort = 60.0, 50.0, 100.0

    before = dict(vars(DCMotorCfg))
    found = resolved(DCMotorCfg())
    assert found.model == "DCMotor"
    assert found.values["damping"].tolist() == np.full((2, 3), 4.0).tolist()
    assert found.values["effort_limit"].tolist() == np.full((2, 3), 60.0).tolist()
    assert dict(vars(DCMotorCfg)) == before
    ours = IdealPDActuatorCfg(**PD)
    fields = dict(vars(ours))
    resolved(ours)
    assert vars(ours) == fields
