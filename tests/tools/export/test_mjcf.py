"""Actuators for MuJoCo: what it computes of them is what the motors compute."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.export import export
from isaacsim.core.experimental.actuators.tools.export.mjcf import mjcf_text
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from places import ROBOTS

mujoco = pytest.importorskip("mujoco")
MOTORS = {
    "shoulder": aa.MotorConfig(aa.PDControlConfig(80.0, 2.1, 0.3), [aa.MaxEffortClampingConfig(17.0)], armature=0.01),
    "extension": aa.MotorConfig(aa.PDControlConfig(900.3, 20.0), friction=0.2),
}
MODEL = """<mujoco><option gravity="0 0 0"/><include file="motors.xml"/><worldbody><body>
<joint name="shoulder"/><geom size="0.1"/><body><joint name="extension" type="slide"/><geom size="0.1"/></body></body>
</worldbody></mujoco>"""


def model(folder: Path):
    (folder / "motors.xml").write_text(mjcf_text(read_robot(ROBOTS / "arm_2dof.usda", MOTORS), ["a -- loss"]))
    (folder / "model.xml").write_text(MODEL)
    return mujoco.MjModel.from_xml_path(str(folder / "model.xml"))


def test_a_file_puts_it_beside_a_robot(tmp_path) -> None:
    (tmp_path / "motors.xml").write_text(mjcf_text(read_robot(ROBOTS / "arm_2dof.xml", MOTORS), []))
    included = f'<include file="{ROBOTS / "arm_2dof.xml"}"/><include file="motors.xml"/>'
    (tmp_path / "both.xml").write_text(f"<mujoco>{included}</mujoco>")
    loaded = mujoco.MjModel.from_xml_path(str(tmp_path / "both.xml"))
    assert [loaded.actuator(at).name for at in range(loaded.nu)][-2:] == ["shoulder", "extension"]


def test_mujoco_computes_the_same_efforts(tmp_path) -> None:
    loaded = model(tmp_path)
    data, random = mujoco.MjData(loaded), np.random.default_rng(3)
    ours = aa.ActuatedArrays(["shoulder", "extension"], MOTORS)
    limited = 0
    for _ in range(200):
        q, v, t = random.normal(size=(3, 2)).astype(np.float32) * np.float32(0.3)
        data.qpos, data.qvel, data.ctrl = q, v, t
        mujoco.mj_forward(loaded, data)
        expected = np.asarray(ours.step(q, v, t, 0.002))
        assert data.qfrc_actuator == pytest.approx(expected, rel=1e-6, abs=1e-4)
        limited += abs(expected[0]) == 17.0
    assert 20 < limited < 180


def test_our_own_reader_finds_the_same_motors(tmp_path) -> None:
    found = aa.motors_of_model(model(tmp_path))
    assert found["shoulder"].controller == aa.PDControlConfig(80.0, pytest.approx(2.1), pytest.approx(0.3))
    assert found["shoulder"].clamping == MOTORS["shoulder"].clamping
    assert found["extension"].controller == aa.PDControlConfig(pytest.approx(900.3), 20.0)


def test_attributes_of_joints_are_comments(tmp_path) -> None:
    text = mjcf_text(read_robot(ROBOTS / "arm_2dof.usda", MOTORS), [])
    assert 'joint shoulder: armature="0.01"' in text and 'joint extension: frictionloss="0.2"' in text
    # a smaller limit of the joint would cut the motor's
    assert text.count('actuatorfrclimited="false"') == 2


@pytest.mark.parametrize("robot", ["arm_2dof.xml", "arm_2dof.usda"])
def test_a_whole_model_has_the_motors(robot, tmp_path) -> None:
    into = None if robot.endswith(".xml") else ROBOTS / "arm_2dof.xml"
    exported, out = read_robot(ROBOTS / robot, MOTORS), tmp_path / "arm.xml"
    export(exported, "mjcf", out, into=into)
    back = read_robot(out)
    names = ["shoulder", "extension"]
    ours, theirs = aa.ActuatedArrays(names, MOTORS), aa.ActuatedArrays(names, back.motors)
    random = np.random.default_rng(5)
    for _ in range(200):
        inputs = random.normal(size=(3, 2)).astype(np.float32)
        expected = np.array(ours.step(*inputs, 0.002))
        assert np.array(theirs.step(*inputs, 0.002)) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    for joint, other in zip(exported.joints, back.joints, strict=True):
        for name in ("armature", "friction", "max_effort", "kp", "kd"):
            assert other.value(name) == pytest.approx(joint.value(name), rel=1e-6), name


def test_mujoco_steps_a_whole_model_with_the_efforts_of_the_motors(tmp_path) -> None:
    export(read_robot(ROBOTS / "arm_2dof.xml", MOTORS), "mjcf", tmp_path / "arm.xml")
    loaded = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    source = mujoco.MjModel.from_xml_path(str(ROBOTS / "arm_2dof.xml"))
    assert np.array_equal(loaded.body_inertia, source.body_inertia) and loaded.nu == source.nu
    assert loaded.dof_armature.tolist() == [0.01, 0.0] and loaded.dof_frictionloss.tolist() == [0.0, 0.2]
    data, random = mujoco.MjData(loaded), np.random.default_rng(4)
    ours = aa.ActuatedArrays(["shoulder", "extension"], MOTORS)
    limited = 0
    for step in range(500):
        if step % 25 == 0:
            data.ctrl = (random.normal(size=2) * 0.4).astype(np.float32)
        q, v = (one.astype(np.float32) for one in (data.qpos, data.qvel))
        mujoco.mj_step(loaded, data)
        expected = np.asarray(ours.step(q, v, data.ctrl.astype(np.float32), 0.002))
        assert data.qfrc_actuator == pytest.approx(expected, rel=1e-5, abs=1e-3)
        limited += abs(expected[0]) == 17.0
    assert 20 < limited < 480


def test_zeros_of_given_motors_are_written(tmp_path) -> None:
    (file := tmp_path / "arm.xml").write_text(
        (ROBOTS / "arm_2dof.xml").read_text().replace('name="shoulder" ', 'name="shoulder" frictionloss="0.3" ')
    )
    for friction, written in ((0.0, 0.0), (None, 0.3)):
        motor = aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), friction=friction)
        export(read_robot(file, {".*": motor}), "mjcf", tmp_path / "out.xml")
        loaded = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))
        assert loaded.joint("shoulder").frictionloss == pytest.approx(written)
