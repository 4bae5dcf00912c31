"""`actuators new`: a motor file that is read back, with comments that say where each number comes from."""

import re

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from refusals import cases

ARM = str(ROBOTS / "arm_2dof.usda")
URDF = """<robot name="arm"><link name="base"><inertial><mass value="1"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-2"
  ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="rod"><inertial><origin xyz="0 0 -0.2"/><mass value="1"/><inertia ixx="1e-2" iyy="1e-2" izz="1e-3" ixy="0"
  ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
  <limit lower="-2" upper="2" effort="{effort}" velocity="30.1"/></joint></robot>"""

GRIPPER = """<mujoco><worldbody><body name="palm"><geom size="0.05"/>
<body><joint name="left" type="slide" axis="1 0 0" range="0 0.03"/><geom size="0.01" pos="-0.1 0 0"/></body>
<body><joint name="right" type="slide" axis="-1 0 0" range="0 0.03"/><geom size="0.01" pos="0.1 0 0"/></body>
</body></worldbody>
<tendon><fixed name="split"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed></tendon>
<actuator><position tendon="split" kp="500" dampratio="1"/></actuator></mujoco>"""


def new(robot: str, out, *options: str) -> tuple[dict[str, aa.MotorConfig], str]:
    assert main(["new", robot, "-o", str(out), *options]) == 0
    return aa.load_motors(out), out.read_text()


@cases("name", "arm_2dof.usda", "unitree_go1.usda", "so101.usda", "i2rt_yam.usda")
def test_motors_are_those_of_the_file(name, tmp_path) -> None:
    motors, text = new(str(ROBOTS / name), tmp_path / "motors.yaml")
    own_motors = aa.motors_of(ROBOTS / name)
    for joint, own in ((joint, own) for joints, own in own_motors.items() for joint in joints.split("|")):
        (motor,) = [motor for pattern, motor in motors.items() if re.fullmatch(pattern, joint)]
        for config, there in zip(motor.stages, own.stages, strict=True):
            assert vars(config) == pytest.approx(vars(there), rel=1e-6)
        assert motor.armature == (pytest.approx(own.armature, rel=1e-6) if own.armature else None)
    assert f"# Gains of {name}:" in text
    comments = [line for line in text.splitlines() if line.startswith("#") and "actuators run" not in line]
    assert max(map(len, comments)) <= 100


def test_gains_that_are_missing_have_margins(tmp_path, capsys) -> None:
    """A URDF file has none: those of `tune` take their place, and the motor that fits its limits is named."""
    robot = tmp_path / "arm.urdf"
    robot.write_text(URDF.format(effort=23.7))
    motors, text = new(str(robot), tmp_path / "motors.yaml")
    (law,) = [motor.controller for motor in motors.values()]
    (tuned,) = aa.tune(robot, verify=False).joints
    assert (law.kp, law.kd) == (tuned.kp, tuned.kd) and law.kp > 1.0
    assert "Gains by `actuators tune`: gain margin" in text and "unitree_go1_hip: hips" in text
    assert motors["turn"].clamping == [aa.MaxEffortClampingConfig(23.7)] and "tuned" in capsys.readouterr().out


def test_a_motor_of_the_catalogue_has_its_limit_and_the_gains_of_the_file(tmp_path, capsys) -> None:
    motors, text = new(ARM, tmp_path / "motors.yaml", "--motor", "shoulder/unitree_go1_hip")
    figures = aa.motor_figures("unitree_go1_hip")
    shoulder, extension = motors["shoulder"], motors["extension"]
    assert shoulder.controller == aa.PDControlConfig(200.0, 20.0)
    assert (shoulder.clamping[0].max_effort, shoulder.armature) == pytest.approx((figures.max_torque, figures.armature))
    assert extension.clamping == [aa.MaxEffortClampingConfig(100.0)]
    assert "Limit and armature of unitree_go1_hip" in text


def test_what_is_in_comments_is_a_motor_without_them(tmp_path, capsys) -> None:
    out = tmp_path / "motors.yaml"
    _, text = new(ARM, out)
    motors, _, besides = text.partition("# What a motor may have besides")
    lines = [line.removeprefix("# ") for line in besides.splitlines() if line.startswith("#   ") and ": " in line]
    keys = [line for line in lines if re.match(r"  (armature|delay|passive|feedback):", line)]
    assert len(keys) == 4
    out.write_text("\n".join([motors.rstrip(), *keys, ""]))
    last = aa.load_motors(out)["extension"]
    assert [type(stage).__name__ for stage in last.others] == ["EncoderConfig", "FrictionConfig"]
    assert last.armature == 0.01 and last.delay == aa.DelayConfig(2)


@cases(
    "options, says",
    (["-o", "motors.toml"], "must end in .yaml or .yml"),
    (["--motor", "elbow/unitree_go1_hip"], "'elbow' matches no joint"),
    (["--motor", "shoulder/unitree_go1_hop"], "Did you mean unitree_go1_hip"),
)
def test_what_cannot_be_is_refused(options, says, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", ARM, *options]) == 1 and says in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_kept(tmp_path, capsys) -> None:
    out = tmp_path / "motors.yaml"
    out.write_text("mine: 1\n")
    assert main(["new", ARM, "-o", str(out)]) == 1
    assert "is there already" in capsys.readouterr().err and out.read_text() == "mine: 1\n"


@pytest.mark.filterwarnings("ignore:.*no joint drive stands for", "ignore:Joints move")
def test_joints_of_a_tendon_have_the_motors_of_the_file(tmp_path, capsys, monkeypatch) -> None:
    """There is none to draft: `new` says so and writes nothing, `inspect` shows the linkage with its lists."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gripper.xml").write_text(GRIPPER)
    assert main(["new", "gripper.xml"]) == 1
    assert "actuators export gripper.xml --to yaml -o motors.yaml" in capsys.readouterr().err
    assert not (tmp_path / "motors.yaml").exists() and main(["inspect", "gripper.xml"]) == 0
    assert "0.5, 0.5" in capsys.readouterr().out
    assert main(["export", "gripper.xml", "--to", "yaml", "-o", "motors.yaml"]) == 0
    assert main(["run", "gripper.xml", "--config", "motors.yaml", "--seconds", "0.1"]) == 0
    capsys.readouterr()
    assert main(["convert", "gripper.xml", "-o", "gripper.usda", "--config", "motors.yaml", "--lossy"]) == 0
    assert "no joint drive stands for" not in capsys.readouterr().err
