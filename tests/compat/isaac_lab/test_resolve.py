"""Which value each joint gets, by the documentation's rules and by the code's."""

import warnings

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat.isaac_lab import (
    DCMotorCfg,
    IdealPDActuatorCfg,
    ImplicitActuatorCfg,
    ResolutionTable,
    Row,
)
from isaacsim.core.experimental.actuators.compat.isaac_lab.resolve import Resolved, Rules, resolve

NAMES = ["hip", "knee", "ankle"]
ROBOT = {"stiffness": 40.0, "damping": 4.0, "effort_limit_sim": 5000.0, "velocity_limit_sim": 9.0, "armature": 0.1}
PD = {"joint_names_expr": [".*"], "stiffness": 200.0, "damping": 10.0}
RULES: list[Rules] = ["documentation", "code", "3.0"]


def resolved(cfg, rules: Rules = "documentation") -> Resolved:
    return resolve(cfg, NAMES, [2, 0, 1], ROBOT, 2, rules=rules, group="leg")


def values(cfg, name: str, rules: Rules = "documentation") -> list[float]:
    found = resolved(cfg, rules).values[name]
    assert found.shape == (2, 3) and (found[0] == found[1]).all()
    return found[0].tolist()


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("joint", [None, 400.0])
@pytest.mark.parametrize("motor", [None, 300.0])
def test_limits_of_explicit_models(motor, joint, rules) -> None:
    """The model's effort limit falls back to the robot's, the solver's to 1e9, by 3.0 to the robot's; speed's to it."""
    cfg = IdealPDActuatorCfg(**PD, actuator_effort_limit=motor, joint_effort_limit=joint)
    of_solver = joint or (5000.0 if rules == "3.0" else 1e9)
    assert values(cfg, "effort_limit", rules) == [motor or 5000.0] * 3
    assert values(cfg, "effort_limit_sim", rules) == [of_solver] * 3
    # the solver cuts what the motor gives
    assert resolved(cfg, rules).cut.values["effort_limit"].tolist() == [[min(motor or 5000.0, of_solver)] * 3] * 2
    cfg = IdealPDActuatorCfg(**PD, actuator_velocity_limit=motor, joint_velocity_limit=joint)
    assert values(cfg, "velocity_limit", rules) == [motor or joint or 9.0] * 3
    assert values(cfg, "velocity_limit_sim", rules) == [joint or 9.0] * 3


@pytest.mark.filterwarnings("ignore:.*Isaac Lab 3.0 deprecates:DeprecationWarning")
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("sim", [None, 400.0, 200.0])
@pytest.mark.parametrize("limit", [None, 300.0, 200.0])
@pytest.mark.parametrize("which", ["effort_limit", "velocity_limit"])
def test_limits_of_implicit_models(which, limit, sim, rules) -> None:
    """By 3.0 two limits, before only one; `velocity_limit` alone is the solver's by the documentation only."""
    cfg = ImplicitActuatorCfg(**PD, **{which: limit, f"{which}_sim": sim})
    of_robot = ROBOT[f"{which}_sim"]
    reaches = which == "effort_limit" or rules == "documentation"
    of_solver = sim or (limit if reaches else None) or of_robot
    if rules == "3.0":
        assert values(cfg, which, rules) == [limit or of_solver] * 3
        assert values(cfg, f"{which}_sim", rules) == [of_solver] * 3
        return
    if limit and sim and limit != sim:
        with pytest.raises(ValueError, match=f"{which} = {limit} and {which}_sim = {sim}: must be equal"):
            resolved(cfg, rules)
        return
    for name in (which, f"{which}_sim"):
        assert values(cfg, name, rules) == [of_solver] * 3
        assert resolved(cfg, rules).limits[name] == (None if of_solver == of_robot else of_solver)


def test_a_motor_of_a_drive_has_a_limit_of_its_own_by_3_0_alone() -> None:
    cfg = ImplicitActuatorCfg(
        **PD, actuator_effort_limit=10.0, joint_effort_limit=20.0, actuator_velocity_limit=2.5, joint_velocity_limit=8.0
    )
    names = ("effort_limit", "effort_limit_sim", "velocity_limit", "velocity_limit_sim")
    assert [values(cfg, name, "3.0")[0] for name in names] == [10.0, 20.0, 2.5, 8.0]
    assert resolved(cfg, "3.0").cut.values["effort_limit"][0, 0] == 10.0
    with pytest.raises(ValueError) as error:
        resolved(cfg, "documentation")
    assert [line.split(":")[1].strip() for line in str(error.value).splitlines()] == [
        "actuator_effort_limit = 10.0",
        "actuator_effort_limit = 10.0 and joint_effort_limit = 20.0",
        "actuator_velocity_limit = 2.5 and joint_velocity_limit = 8.0",
    ]


def test_a_joint_that_a_dictionary_leaves_out() -> None:
    """It keeps the robot's value by the documentation, and gets 0 by the code of either version."""
    cfg = IdealPDActuatorCfg(
        **PD | {"stiffness": {"hip|knee": 7.0}}, actuator_effort_limit={"hip": 3.0}, armature={"knee": 0.5}
    )
    assert values(cfg, "stiffness") == [7.0, 7.0, 40.0]
    for rules in ("code", "3.0"):
        assert values(cfg, "stiffness", rules) == [7.0, 7.0, 0.0]
    assert values(cfg, "effort_limit") == [3.0, 5000.0, 5000.0]
    assert values(cfg, "armature") == pytest.approx([0.1, 0.5, 0.1])
    with pytest.raises(ValueError, match=r"knee is matched by 'k\.\*' and '\.\*ee': must be matched once"):
        resolved(IdealPDActuatorCfg(**PD | {"stiffness": {"k.*": 1.0, ".*ee": 2.0}}))


def test_names_of_2_3_say_the_same_and_are_deprecated() -> None:
    """One warning names them and those of 3.0; both given must be equal for each joint, in any form."""
    cfg = DCMotorCfg(**PD, saturation_effort=9.0, effort_limit=5.0, velocity_limit=6.0, effort_limit_sim=7.0)
    expected = (
        "effort_limit, velocity_limit, effort_limit_sim: .* Give actuator_effort_limit, actuator_velocity_limit, "
    )
    with pytest.warns(DeprecationWarning, match=expected + "joint_effort_limit"):
        found = resolved(cfg)
    shown = {"actuator_effort_limit": 5.0, "actuator_velocity_limit": 6.0, "joint_effort_limit": 7.0}
    assert {name: found.limits[name] for name in shown} == shown
    assert [found.values[name][0, 0] for name in ("effort_limit", "velocity_limit", "effort_limit_sim")] == [5, 6, 7]
    with pytest.warns(DeprecationWarning, match="effort_limit: .* Give joint_effort_limit"):
        assert values(ImplicitActuatorCfg(**PD, effort_limit=2.0), "effort_limit_sim") == [2.0] * 3
    both = IdealPDActuatorCfg(**PD, effort_limit={"hip|knee": 12, "ankle": 12.0}, actuator_effort_limit=12.0)
    with pytest.warns(DeprecationWarning, match="effort_limit"):
        assert values(both, "effort_limit") == [12.0] * 3
    with pytest.raises(ValueError, match=r"actuator_effort_limit = 12\.0 and effort_limit = 6\.0: must be equal"):
        resolved(both.replace(effort_limit=6.0))


OTHERWISE_BY_3_0 = {
    "actuator_effort_limit of hip, knee, ankle is 6000, and 5000": IdealPDActuatorCfg(**PD, actuator_effort_limit=6e3),
    "stiffness of ankle is 40, and 0": IdealPDActuatorCfg(**PD | {"stiffness": {"hip|knee": 1.0}}),
    "joint_velocity_limit of hip, knee, ankle is 3, and 9": ImplicitActuatorCfg(**PD, actuator_velocity_limit=3.0),
    "": IdealPDActuatorCfg(**PD, actuator_effort_limit=10.0, joint_effort_limit=20.0),
}


@pytest.mark.parametrize("text", OTHERWISE_BY_3_0)
def test_one_warning_where_3_0_differs(text) -> None:
    cfg, there = OTHERWISE_BY_3_0[text], (NAMES, [2, 0, 1], ROBOT, 2)
    with warnings.catch_warnings(record=True) as emitted:
        warnings.simplefilter("always")
        assert resolve(cfg, *there).rules == "documentation"
        resolve(cfg, *there, rules="documentation")
        assert resolve(cfg.replace(rules="3.0"), *there).rules == "3.0"
    assert [f"{text} by Isaac Lab 3.0" in str(one.message) for one in emitted] == [True] * bool(text)


def test_rules_are_those_of_the_version_of_a_cfg() -> None:
    """Isaac Lab's own cfgs of 3.0 have the names of 3.0; those of 2.3 have not."""

    class IdealPDActuatorCfg:
        """As Isaac Lab 2.3 has it."""

        joint_names_expr, stiffness, damping = (".*",), 1.0, 0.0
        effort_limit = effort_limit_sim = velocity_limit = velocity_limit_sim = None

    class Later(IdealPDActuatorCfg):
        """As 3.0 has it."""

        actuator_effort_limit = joint_effort_limit = actuator_velocity_limit = joint_velocity_limit = None

    assert [resolve(one(), NAMES, [0, 1, 2], ROBOT, 1).rules for one in (IdealPDActuatorCfg, Later)] == [
        "documentation",
        "3.0",
    ]
    with pytest.raises(ValueError, match=r"rules = '2\.3': must be one of 'documentation', 'code', '3\.0'"):
        resolve(Later(), NAMES, [0, 1, 2], ROBOT, 1, rules="2.3")  # type: ignore[arg-type]


def test_rows_of_the_table() -> None:
    cfg = ImplicitActuatorCfg(
        **PD | {"stiffness": {"hip": 40.0, "knee|ankle": 5.0}, "damping": 4.0},
        joint_effort_limit=5000.0,
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
    later = resolved(cfg, "3.0").rows
    order = (*properties[1:], "joint_velocity_limit")
    assert [(row.property, row.name) for row in later] == [(name, joint) for name in order for joint in NAMES]
    later += resolve(cfg, NAMES, [2, 0, 1], ROBOT, 2, rules="code", group="arm").rows
    assert ResolutionTable(later).text.splitlines()[-2:] == ["rules 3.0: leg", "rules code: arm"]


def test_cfgs_of_orbit_and_cfgs_that_lack_fields() -> None:
    """A class of that name with the fields of 2023 is enough; it is not changed."""

    class DCMotorCfg:
        joint_names_expr = (".*",)
        stiffness, damping = 200.0, None
        effort_limit, velocity_limit, saturation_effort = 60.0, 50.0, 100.0

    before = dict(vars(DCMotorCfg))
    found = resolved(DCMotorCfg())
    assert found.model == "DCMotor" and found.values["damping"].tolist() == np.full((2, 3), 4.0).tolist()
    assert found.values["effort_limit"].tolist() == np.full((2, 3), 60.0).tolist()
    assert dict(vars(DCMotorCfg)) == before
    ours = IdealPDActuatorCfg(**PD)
    fields = dict(vars(ours))
    resolved(ours)
    assert vars(ours) == fields
