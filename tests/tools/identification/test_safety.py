import numpy as np
import pytest
from hidden_motors import known_motor
from isaacsim.core.experimental.actuators import DCMotorClampingConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.tools.identification import safety
from isaacsim.core.experimental.actuators.tools.identification.commanded import CommandedRobot
from places import ROBOTS
from refusals import cases

ARM, FRANKA = str(ROBOTS / "arm_2dof.usda"), str(ROBOTS / "franka_panda.usda")
JOINTS = ["shoulder", "extension"]
WHOLE = slice(0, 4)
# two links that meet when the hinges turn towards each other
FINGERS = """<mujoco><option gravity="0 0 0"/><default><geom type="capsule" size=".02"/></default><worldbody>
<body name="base"><geom type="box" size=".1 .02 .02" contype="0" conaffinity="0"/>
<body name="left" pos="-.1 0 0"><joint name="left" axis="0 1 0" limited="true" range="-90 90"/>
<geom fromto="0 0 0 0 0 .3"/></body>
<body name="right" pos=".1 0 0"><joint name="right" axis="0 1 0" limited="true" range="-90 90"/>
<geom fromto="0 0 0 0 0 .3"/></body></body></worldbody></mujoco>"""


def limits(**others: object) -> safety.Limits:
    given = {"lower": [-1.0, -np.inf], "upper": [1.0, np.inf], "speed": [2.0, 2.0], "effort": [10.0, np.inf]}
    arrays = {name: np.array(one, float) for name, one in {"start": [0.0, 0.0], **given, **others}.items()}
    return safety.Limits(("hip", "knee"), **arrays, turns=np.ones(2, bool))


def motion(**others: object) -> safety.Motion:
    zeros = {name: np.zeros((4, 2)) for name in ("positions", "velocities", "efforts")}
    given = {name: np.array(one, float) for name, one in others.items() if name in zeros}
    rest = {name: one for name, one in others.items() if name not in zeros}
    return safety.Motion(**{**zeros, "limited": np.zeros((4, 2), bool), "touching": {}, **given, **rest})  # type: ignore[arg-type]


def words(found: safety.Motion, of: safety.Limits | None = None, rows: slice = WHOLE) -> list[str]:
    return [one.words for one in safety.broken(found, of or limits(), rows, np.zeros(2), 0.025)]


def column(values: list[float], joint: int = 0) -> np.ndarray:
    found = np.zeros((4, 2))
    found[:, joint] = values
    return found


def test_a_motion_within_all_limits_breaks_none() -> None:
    assert words(motion(positions=column([0.0, 0.9, -0.9, 0.0]), velocities=column([0, 1.7, 0, 0]))) == []
    # no limit is no limit
    assert words(motion(positions=column([0, 90, 0, 0], 1), efforts=column([0, 9e9, 0, 0], 1))) == []


@cases(
    "name, values, limit, said",
    ("positions", [0, 0.99, 0, 0], "position", "hip comes to 0.99 rad, and its position limit with the margin"),
    ("positions", [0, -0.99, 0, 0], "position", "hip comes to -0.99"),
    ("velocities", [0, -1.9, 0, 0], "speed", "hip has 1.9 rad/s, and 90% of its speed limit are 1.8"),
    ("efforts", [0, 0, 9.5, 0], "effort", "hip needs 9.5 N·m, and 90% of its effort limit are 9"),
)
def test_what_breaks_a_limit_is_said(name, values, limit, said) -> None:
    found = motion(**{name: column(values)})
    (one,) = safety.broken(found, limits(), WHOLE, np.zeros(2), 0.025)
    assert (one.joint, one.limit) == (0, limit) and one.over > 1.0 and one.words.startswith(said)
    assert words(found, rows=slice(3, 4)) == [], "other parts have nothing to do with it"


def test_a_robot_that_begins_beyond_its_margin_may_be_there() -> None:
    assert words(motion(positions=column([0.999, 0.9, 0.0, 0.0])), limits(start=[0.999, 0.0])) == []
    low, high = limits(start=[0.999, 0.0]).within(0.05)
    assert (low[0], high[0]) == pytest.approx((-0.9, 0.999))


def test_limited_motors_collisions_and_divergence() -> None:
    limited = np.zeros((4, 2), bool)
    limited[2, 1] = True
    assert words(motion(limited=limited)) == ["knee is at the limit of its motor, at 0 N·m"]
    assert words(motion(touching={1: ("left", "right")})) == ["left and right touch"]
    assert words(motion(touching={1: ("left", "right")}), rows=slice(2, 4)) == []
    assert words(motion(diverged=3)) == ["the simulation diverges"]


def test_limits_are_the_smaller_ones_of_file_and_motor() -> None:
    weak = MotorConfig(PDControlConfig(80.0, 2.0), clamping=[DCMotorClampingConfig(30.0, 1.5, 20.0)])
    motors = {f"panda_joint{number}": weak if number == 1 else known_motor() for number in range(1, 8)}
    joints = ["panda_joint4", "panda_joint1"]
    with CommandedRobot(FRANKA, motors, joints, 0.01) as robot:
        found = safety.limits_of(robot, joints)
    assert found.joints == tuple(joints)
    np.testing.assert_allclose(found.start, [-2.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(found.lower, [-3.0718, -2.8973], atol=1e-5)
    np.testing.assert_allclose(found.speed, [2.175, 1.5], atol=1e-6)
    np.testing.assert_allclose(found.effort, [87.0, 20.0], atol=1e-6)
    assert found.turns.all()


def test_a_motion_has_the_peaks_between_commands() -> None:
    """A command of 100 Hz is held for many physics steps, in which a motor reaches its limit."""
    motors = {"shoulder": known_motor(800.0, 1.0), "extension": known_motor(800.0, 20.0)}
    command = np.zeros((60, 2))
    command[5:, 0] = 1.2
    with CommandedRobot(ARM, motors, JOINTS, 0.05) as robot:
        found = safety.moved(robot, command, JOINTS)
    assert found.positions.shape == found.velocities.shape == found.efforts.shape == found.limited.shape == (60, 2)
    assert found.limited[5, 0] and not found.limited[:5].any() and found.efforts[5, 0] == pytest.approx(500.0)
    coarse = np.abs(np.diff(found.positions[:, 0])).max() / 0.05
    assert np.abs(found.velocities[:, 0]).max() > 1.2 * coarse and found.diverged is None


def test_links_that_touch_are_found(tmp_path) -> None:
    file = tmp_path / "fingers.xml"
    file.write_text(FINGERS)
    motors = {name: known_motor(5.0, 0.5) for name in ("left", "right")}
    command = np.linspace(0.0, 1.0, 100)[:, None] * [1.0, -1.0]
    with CommandedRobot(file, motors, ["left", "right"], 0.02) as robot:
        assert safety.Contacts(robot.simulation).there_are
        assert safety.moved(robot, 0.2 * command, ["left", "right"]).touching == {}
        found = safety.moved(robot, command, ["left", "right"])
    assert set(found.touching.values()) == {("left", "right")} and min(found.touching) > 20


def test_a_robot_without_shapes_touches_nothing() -> None:
    with CommandedRobot(ARM, {"shoulder": known_motor(), "extension": known_motor()}, JOINTS, 0.02) as robot:
        contacts = safety.Contacts(robot.simulation)
    assert not contacts.there_are and contacts.found() == []


def test_a_simulation_that_diverges_is_told() -> None:
    wild = MotorConfig(PDControlConfig(1e9, 1e9))
    command = np.zeros((400, 2))
    command[50:] = 0.1
    with CommandedRobot(ARM, dict.fromkeys(JOINTS, wild), JOINTS, 0.01) as robot:
        found = safety.moved(robot, command, JOINTS)
    assert found.diverged is not None and found.velocities.shape == (400, 2)
    assert not found.velocities[found.diverged :].any()
