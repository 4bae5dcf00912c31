"""Groups of joints as Isaac Lab has them: what drives each joint, what the solver gets, and the table of both."""

import itertools
import json
import logging

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat import isaac_lab
from places import ROBOTS
from played import played, played_arrays, played_robot
from pxr import Usd
from refusals import cases, refused
from small_stages import SmallStage

PANDA = "/World/Panda"
IMPLICIT = isaac_lab.ImplicitActuatorCfg(
    joint_names_expr=["panda_joint[1-4]"], stiffness=300.0, damping=20.0, joint_effort_limit=50.0, armature=0.2
)
EXPLICIT = isaac_lab.IdealPDActuatorCfg(
    joint_names_expr=["panda_joint[5-7]"], stiffness=40.0, damping=4.0, actuator_effort_limit=12.0, viscous_friction=0.3
)
GROUPS = {"shoulder": IMPLICIT, "forearm": EXPLICIT}


def solver(robot) -> dict[str, np.ndarray]:
    stiffness, damping = robot.get_dof_gains()
    static, dynamic, viscous = robot.get_dof_friction_properties()
    found = {
        **{"stiffness": stiffness, "damping": damping, "armature": robot.get_dof_armatures()},
        **{"static": static, "dynamic": dynamic, "viscous": viscous, "efforts": robot.get_dof_max_efforts()},
    }
    return {name: array.numpy()[0].copy() for name, array in found.items()}


SPRING = {"joint_names_expr": ["panda_joint1"], "stiffness": 1e4, "damping": 0.0}
CUT = {
    "the robot's, by 3.0": ({"actuator_effort_limit": 600.0}, "3.0", 87.0),
    "the robot's, by 2.3": ({"actuator_effort_limit": 600.0}, "code", 600.0),
    "the cfg's, by 3.0": ({"actuator_effort_limit": 600.0, "joint_effort_limit": 20.0}, "3.0", 20.0),
    "the cfg's, by 2.3": ({"actuator_effort_limit": 600.0, "joint_effort_limit": 20.0}, "code", 20.0),
    "the motor's": ({"actuator_effort_limit": 30.0}, "3.0", 30.0),
}
KINDS = {
    isaac_lab.IdealPDActuatorCfg: {},
    isaac_lab.DCMotorCfg: {"saturation_effort": 600.0, "actuator_velocity_limit": 10.0},
    isaac_lab.RemotizedPDActuatorCfg: {"joint_parameter_lookup": [[-9.0, 1.0, 600.0], [9.0, 1.0, 600.0]]},
}


@pytest.mark.filterwarnings("ignore:.*are in no group")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CUT)
def test_the_solver_cuts_the_efforts_of_a_motor_again(kind, case, tmp_path) -> None:
    limits, rules, expected = CUT[case]
    if kind is isaac_lab.RemotizedPDActuatorCfg and case == "the motor's":
        expected = 87.0
    groups = {"one": kind(**SPRING, **KINDS[kind], **limits)}
    stage, file = Usd.Stage.Open(str(ROBOTS / "franka_panda.usda")), tmp_path / "panda.usda"
    isaac_lab.to_usd(groups, stage, PANDA, rules=rules, overwrite_existing=True)
    stage.Export(str(file))
    kept = isaac_lab.groups_of(stage, PANDA)
    stage.Reload()
    assert kept["one"].rules == rules
    for where, made in (
        (ROBOTS / "franka_panda.usda", lambda: aa.ArticulationActuators.from_groups(PANDA, groups, rules=rules)),
        (file, lambda: aa.ArticulationActuators.from_groups(PANDA, kept)),
        (file, lambda: aa.ArticulationActuators(PANDA)),
    ):
        with played(where, 1e-3) as sim:
            actuators = made()
            aa.Articulation(PANDA).set_dof_position_targets([[2.0]], dof_indices=[0])
            sim.step()
            assert actuators.applied_efforts[0, 0] == pytest.approx(expected)
            actuators.close()


@pytest.mark.parametrize("early", [True, False])
def test_the_solver_gets_what_the_cfgs_say_until_close(early) -> None:
    with aa.Simulation(ROBOTS / "franka_panda.usda") as sim:
        made = aa.ArticulationActuators.from_groups(PANDA, GROUPS) if early else None
        sim.play()
        robot = aa.Articulation(PANDA)
        if made is None:
            before = solver(robot)
            made = aa.ArticulationActuators.from_groups(PANDA, GROUPS)
        else:
            before = None
        for _ in range(2):
            now = solver(robot)
            np.testing.assert_allclose(now["stiffness"], [300.0] * 4 + [0.0] * 3)
            np.testing.assert_allclose(now["damping"], [20.0] * 4 + [0.0] * 3)
            np.testing.assert_allclose(now["armature"], [0.2] * 4 + [0.1] * 3, rtol=1e-6)
            np.testing.assert_allclose(now["viscous"], [0.0] * 4 + [0.3] * 3, rtol=1e-6)
            np.testing.assert_allclose(now["efforts"], [50.0] * 4 + [1e9] * 3)
            sim.stop()
            sim.play()
        assert made.actuated_dof_indices == [4, 5, 6]
        made.close()
        after = solver(robot)
    np.testing.assert_allclose(after["stiffness"], [80.0] * 4 + [20.0] * 3)
    np.testing.assert_allclose(after["efforts"], [87.0] * 4 + [12.0] * 3)
    if before is not None:
        for name, values in before.items():
            np.testing.assert_allclose(after[name], values, rtol=1e-6, err_msg=name)


def test_implicit_groups_never_act_twice() -> None:
    paths: list[np.ndarray] = []
    target = np.array([0.3, -0.2, 0.1, -1.8, 0.2, 1.6, 0.5], np.float32)
    groups = {"all": isaac_lab.ImplicitActuatorCfg(joint_names_expr=[".*"], stiffness=200.0, damping=30.0)}
    for by_hand in (True, False):
        with played_robot(PANDA, ROBOTS / "franka_panda.usda") as (sim, robot):
            robot.set_dof_position_targets(target)
            if by_hand:
                robot.set_dof_gains(200.0, 30.0)
            else:
                made = aa.ArticulationActuators.from_groups(PANDA, groups)
                assert made.actuators == []
            sim.step(200)
            paths.append(robot.get_dof_positions().numpy()[0].copy())
    np.testing.assert_array_equal(paths[0], paths[1])
    assert np.abs(paths[0] - target).max() < 0.3


def test_explicit_groups_are_what_their_configs_are() -> None:
    cfg = isaac_lab.DCMotorCfg(
        joint_names_expr=["panda_joint[1-4]", "panda_joint[5-7]"],
        stiffness={"panda_joint[1-4]": 80.0, "panda_joint[5-7]": 30.0},
        damping=6.0,
        saturation_effort=120.0,
        actuator_effort_limit={"panda_joint[1-4]": 87.0, "panda_joint[5-7]": 12.0},
        actuator_velocity_limit=2.5,
    )
    efforts = {"panda_joint[1-4]": 87.0, "panda_joint[5-7]": 12.0}
    gains = {"panda_joint[1-4]": 80.0, "panda_joint[5-7]": 30.0}
    motors = {".*": [aa.PDControlConfig(gains, 6.0), aa.DCMotorClampingConfig(120.0, 2.5, efforts)]}
    found: list[np.ndarray] = []
    for make in (
        lambda: aa.ArticulationActuators.from_groups(PANDA, {"arm": cfg}),
        lambda: aa.ArticulationActuators.from_configs(PANDA, motors),
    ):
        with played_robot(PANDA, ROBOTS / "franka_panda.usda") as (sim, robot):
            made = make()
            robot.set_dof_position_targets(np.linspace(-0.8, 0.8, 7, dtype=np.float32))
            sim.step(150)
            found.append(robot.get_dof_positions().numpy()[0].copy())
            made.close()
    np.testing.assert_array_equal(found[0], found[1])


@pytest.fixture
def host():
    with played_arrays(["hip", "knee", "ankle"], 4) as made:
        yield made


def test_delays_are_drawn_anew_at_each_reset(host) -> None:
    cfg = isaac_lab.DelayedPDActuatorCfg(
        joint_names_expr=[".*"], stiffness=1.0, damping=0.0, min_delay=2, max_delay=5, actuator_effort_limit=9.0
    )

    def lags(seed: int) -> np.ndarray:
        made = aa.ArticulationActuators.from_groups("/Robot_.*", {"leg": cfg}, seed=seed)
        drawn: list[np.ndarray] = []
        for _ in range(6):
            made.reset()
            per_joint = np.array([one.delay.delay_steps.numpy() for one in made.actuators if one.delay])
            assert per_joint.shape == (3, 4) and (per_joint == per_joint[0]).all()
            drawn.append(per_joint[0].copy())
        made.close()
        return np.array(drawn)

    first = lags(3)
    assert set(first.ravel().tolist()) == {2, 3, 4, 5}
    np.testing.assert_array_equal(first, lags(3))
    assert (first != lags(4)).any() and host.arrays() is not None


def test_every_problem_of_groups_is_told_at_once(host) -> None:
    pd = {"stiffness": 1.0, "damping": 0.1}

    class Own:
        """A model of the user's own."""

    groups = {
        "one": isaac_lab.IdealPDActuatorCfg(joint_names_expr=["hip", "kn.*"], **pd),
        "two": isaac_lab.IdealPDActuatorCfg(joint_names_expr=["knee"], **pd),
        "three": isaac_lab.IdealPDActuatorCfg(joint_names_expr=["wrist"], **pd),
        "four": isaac_lab.IdealPDActuatorCfg(joint_names_expr=["ankle"], stiffness="soft", damping=0.1),  # type: ignore
        "five": isaac_lab.IdealPDActuatorCfg(class_type=Own, joint_names_expr=["ankle"], **pd),
    }
    with pytest.raises(ValueError, match="joint knee is in groups 'one' and 'two'") as told:
        aa.ArticulationActuators.from_groups("/Robot_.*", groups)
    for part in ("'wrist' matches no joint", "groups['four']", "stiffness = 'soft'", "class_type = Own"):
        assert part in str(told.value)
    assert host.arrays() is not None
    with pytest.raises(ValueError, match=r"must be one of 'documentation', 'code', '3\.0'"):
        aa.ArticulationActuators.from_groups("/Robot_.*", {"one": groups["two"]}, rules="other")  # type: ignore
    with pytest.warns(UserWarning, match="joints hip, ankle are in no group"):
        aa.ArticulationActuators.from_groups("/Robot_.*", {"two": groups["two"]}).close()


def test_a_subclass_of_the_same_name_is_refused(host) -> None:
    """Its code would not be run."""
    own = type("IdealPDActuator", (isaac_lab.IdealPDActuator,), {"__module__": "robot.motors"})
    cfg = isaac_lab.IdealPDActuatorCfg(class_type=own, joint_names_expr=[".*"], stiffness=1.0, damping=0.1)
    assert host.arrays() is not None
    with pytest.raises(ValueError, match=r"class_type = robot.motors.IdealPDActuator: must be IdealPDActuator, for"):
        aa.ArticulationActuators.from_groups("/Robot_.*", {"all": cfg})


def test_what_the_simulator_has_not_is_told(host) -> None:
    assert host.arrays() is not None
    cfg = isaac_lab.IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=1.0, damping=0.1, armature=0.1)
    with pytest.warns(UserWarning, match="armature of joints hip, knee, ankle has no effect"):
        aa.ArticulationActuators.from_groups("/Robot_.*", {"leg": cfg}).close()
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(ROBOTS / "arm_2dof.xml"))
    with aa.MujocoSimulation(model, mujoco.MjData(model)):
        cfg = isaac_lab.IdealPDActuatorCfg(
            joint_names_expr=[".*"], stiffness=1.0, damping=0.1, joint_velocity_limit=1.0
        )
        with pytest.warns(UserWarning, match="velocity_limit_sim of joints .* has no effect: max velocities: MuJoCo"):
            aa.ArticulationActuators.from_groups("arm", {"arm": cfg})
        cfg = isaac_lab.IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=1.0, damping=0.1)
        aa.ArticulationActuators.from_groups("arm", {"arm": cfg})


# of the documentation's table: pattern, joints, limit of effort, stiffness and damping of the cfg; limit of speed,
# stiffness and damping of the drives [per rad]
ARM, HAND = [f"panda_joint{n}" for n in range(1, 8)], [f"panda_finger_joint{n}" for n in (1, 2)]
NINE = {
    "panda_shoulder": ("panda_joint[1-4]", ARM[:4], (87.0, 80.0, 4.0), (2.175, 22918.3, 4583.66)),
    "panda_forearm": ("panda_joint[5-7]", ARM[4:], (12.0, 80.0, 4.0), (2.61, 22918.3, 4583.66)),
    "panda_hand": ("panda_finger_joint.*", HAND, (200.0, 2e3, 1e2), (0.2, 1e6, 100.0)),
}
DOCUMENTED = {
    group: isaac_lab.ImplicitActuatorCfg(joint_names_expr=[names], joint_effort_limit=most, stiffness=kp, damping=kd)
    for group, (names, _, (most, kp, kd), _) in NINE.items()
}
CELLS = {
    "panda_shoulder": {
        "velocity_limit_sim": "2.17e+00|Not Specified|2.17e+00",
        "stiffness": "2.29e+04|8.00e+01|8.00e+01",
        "damping": "4.58e+03|4.00e+00|4.00e+00",
    },
    "panda_hand": {
        "velocity_limit_sim": "2.00e-01|Not Specified|2.00e-01",
        # its damping is the robot's, and left out
        "stiffness": "1.00e+06|2.00e+03|2.00e+03",
    },
}
UNSPECIFIED = dict.fromkeys(("armature", "friction"), "0.00e+00|Not Specified|0.00e+00")
CELLS["panda_forearm"] = CELLS["panda_shoulder"] | {"velocity_limit_sim": "2.61e+00|Not Specified|2.61e+00"}


def panda_of_nine() -> Usd.Stage:
    """A stage with an arm and fingers that says what the documentation's robot says."""
    made, before, bodies = SmallStage(), "/Panda/base", itertools.count()
    made.root("/Panda")
    made.body(before)
    made.joint("/Panda/fixed", "Fixed", None, before)
    for group, (_, joints, (most, *_), (speed, stiffness, damping)) in NINE.items():
        finger = group == "panda_hand"
        kind, axis, degrees = ("Prismatic", "linear", 1.0) if finger else ("Revolute", "angular", np.degrees(1.0))
        for path in (f"/Panda/{joint}" for joint in joints):
            after = f"/Panda/link{(at := next(bodies))}"
            made.body(after, inertia=(0.1, 0.1, 0.1))
            made.joint(path, kind, before, after, axis="XYZ"[at % 3]).AddAppliedSchema(f"PhysxJointAxisAPI:{axis}")
            made.drive(path, axis, stiffness=stiffness / degrees, damping=damping / degrees, maxForce=most)
            made.attribute(path, f"physxJointAxis:{axis}:maxJointVelocity", speed * degrees)
            before = before if finger else after
    return made.stage


def documented_lines() -> list[str]:
    lines: list[str] = []
    for group, (_, joints, *_) in NINE.items():
        first = group
        for name, cells in (CELLS[group] | UNSPECIFIED).items():
            named = name
            for joint in joints:
                lines.append(f"{first}|{named}|{joint}|{[*ARM, *HAND].index(joint)}|{cells}")
                first = named = ""
    return lines


def test_the_table_of_the_documentation(caplog) -> None:
    with played(panda_of_nine()):
        with caplog.at_level(logging.WARNING):
            quiet = aa.ArticulationActuators.from_groups("/Panda", DOCUMENTED)
            assert caplog.records == []
            quiet.close()
            made = aa.ArticulationActuators.from_groups(
                "/Panda", DOCUMENTED, actuator_value_resolution_debug_print=True
            )
        table = made.resolution_table()
        made.close()
    record = next(iter(caplog.records))
    assert len(caplog.records) == 1 and record.levelno == logging.WARNING
    assert record.getMessage().startswith("ActuatorCfg-USD Value Discrepancy Resolution")
    assert record.getMessage().endswith(table.text)
    cells = ["|".join(cell.strip() for cell in line.split("|")[1:-1]) for line in table.text.splitlines()]
    written = [line for line in cells if line]
    assert written[0] == "Group|Property|Name|ID|USD Value|ActuatorCfg Value|Applied"
    assert written[1:] == documented_lines()
    parsed = json.loads(table.json)
    assert [row["name"] for row in parsed] == [row.name for row in table.rows]
    assert parsed[0]["cfg_value"] is None and len(parsed) == len(written) - 1


def test_a_wrapper_without_groups_has_no_table(host) -> None:
    assert host.arrays() is not None
    with pytest.warns(UserWarning, match="no actuator found"):
        made = aa.ArticulationActuators("/Robot_.*")
    refused(RuntimeError, made.resolution_table, "Make it by from_groups")
    made.close()


@cases(
    "name, fields, message",
    ("DCMotorCfg", {"motor_torque_limit": 10.0}, "joint_names_expr is missing: must name the joints. .* early Orbit"),
    ("ActuatorGroupCfg", {"dof_names": [".*"]}, "joint_names_expr=dof_names"),
    ("VariableGearRatioDCMotorCfg", {}, "gear ratio depends on position"),
    ("ActuatorNetGRUResidualCfg", {"joint_names_expr": [".*"]}, "adds to the joint's own drive"),
)
def test_cfgs_that_are_not_run_are_told_apart(name, fields, message, host) -> None:
    """Of early Orbit and of Isaac Lab 3, with what stands for them; a network is never dropped."""
    bases = {"ActuatorNetGRUResidualCfg": (isaac_lab.ImplicitActuatorCfg,)}
    cfg = type(name, (object,), fields)() if name not in bases else None
    if cfg is None:
        cfg = type(name, bases[name], {})(joint_names_expr=[".*"], stiffness=1.0, damping=0.1)
    refused(ValueError, lambda: aa.ArticulationActuators.from_groups("/Robot", {"all": cfg}), message)


PUSHED = """<mujoco><option gravity="0 0 0" timestep="0.002"/><worldbody>
<body name="leg"><joint name="shin" damping="0.5"/><geom size="0.1" pos="0.1 0 0"/>
<body name="foot" pos="0.2 0 0"><joint name="toe" damping="0.5"/>
<geom size="0.1" pos="0.1 0 0"/></body></body></worldbody><actuator>
<general joint="shin" biastype="affine" gainprm="90" biasprm="7 -90 -9"/>
<general joint="toe" biastype="affine" gainprm="60" biasprm="-3 -60 -6"/></actuator></mujoco>"""


@pytest.mark.parametrize("own", [False, True], ids=["file", "own model"])
@pytest.mark.parametrize("early", [True, False])
def test_constant_effort_of_a_drive_goes_with_its_gains(own, early, tmp_path) -> None:
    import mujoco

    file = tmp_path / "leg.xml"
    file.write_text(PUSHED)
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    held = np.array([0.3 + 7 / 90, 0.2 - 3 / 60])
    with aa.MujocoSimulation(model, data) if own else aa.Simulation(file, 0.002) as sim:

        def settled() -> np.ndarray:
            robot = sim.articulation("leg")
            robot.set_dof_position_targets([[0.3, 0.2]])
            sim.step(2500)
            return robot.get_dof_positions().numpy()[0]

        def made(names: str, stiffness, damping) -> aa.ArticulationActuators:
            cfg = isaac_lab.IdealPDActuatorCfg(
                joint_names_expr=[names], stiffness=stiffness, damping=damping, actuator_effort_limit=100.0
            )
            return aa.ArticulationActuators.from_groups("leg", {"all": cfg}, rules="documentation")

        if not own and not early:
            sim.play()
        actuators = made(".*", None, None)
        if not own and early:
            sim.play()
        np.testing.assert_allclose(settled(), held, atol=1e-4)
        rows = [row for row in actuators.resolution_table().rows if row.property == "const_effort"]
        assert [(row.name, row.usd_value, row.cfg_value, row.applied) for row in rows] == [
            ("shin", 7.0, None, 7.0),
            ("toe", -3.0, None, -3.0),
        ]
        actuators.close()
        if not own:
            np.testing.assert_allclose(settled(), held, atol=1e-4)
        # one joint takes its damping, the other nothing
        actuators = made(".*", {"shin": 90.0, "toe": 60.0}, {"toe": 6.0})
        np.testing.assert_allclose(settled(), [held[0], 0.2], atol=1e-4)
        rows = [row for row in actuators.resolution_table().rows if row.property == "const_effort"]
        assert [row.applied for row in rows] == [7.0, 0.0]
