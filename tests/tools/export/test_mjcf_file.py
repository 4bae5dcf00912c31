"""MJCF files that get actuators: names and order, and all that refers to them."""

import dataclasses
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.tools.export import export, read_robot
from refusals import cases

mujoco = pytest.importorskip("mujoco")
MOTOR = MotorConfig(PDControlConfig(80.0, 2.0), [MaxEffortClampingConfig(17.0)])
CUBE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"
BODIES = """<worldbody><body><joint name="a"/><geom size="0.1"/><frame><body><joint name="b" actuatorfrcrange="-1 1"/>
<geom size="0.1"/><body><joint name="c"/><geom size="0.1"/></body></body></frame></body></worldbody>
<tendon><fixed name="t"><joint joint="c" coef="1"/></fixed></tendon>"""
ACTUATORS = """<actuator><motor name="first" joint="b"/><position tendon="t"/><position name="last" joint="a"/>
</actuator>"""
# robots are read with actuators that are no drive of a joint
pytestmark = pytest.mark.filterwarnings("ignore:.*no joint drive stands for")


def whole(folder: Path, inside: str, motors=None, out: str = "out.xml") -> tuple:
    (file := folder / "robot.xml").write_text(f"<mujoco>{inside}</mujoco>")
    (folder / out).parent.mkdir(exist_ok=True)
    said = export(read_robot(file, motors or {"a|b": MOTOR}), "mjcf", folder / out)
    return mujoco.MjModel.from_xml_path(str(folder / out)), said


def names(model) -> list[str]:
    return [model.actuator(at).name for at in range(model.nu)]


def test_names_order_sensors_and_keyframes_stay(tmp_path) -> None:
    more = '<sensor><actuatorfrc name="s" actuator="last"/></sensor><keyframe><key ctrl="1 2 3"/></keyframe>'
    model, said = whole(tmp_path, BODIES + ACTUATORS + more)
    assert names(model) == ["first", "", "last"] and model.nsensor == 1
    assert model.actuator_gainprm[:, 0].tolist() == [80.0, 1.0, 80.0]
    assert model.key_ctrl.tolist() == [[1.0, 2.0, 3.0]] and "Actuators of the model that stay: position t." in said
    assert "Controls of keyframes stay: those of motors are position targets." in said
    text = (tmp_path / "out.xml").read_text()
    assert all(f"<!-- {sentence} -->" in text for sentence in said)


def test_actuators_that_stay_lose_nothing(tmp_path) -> None:
    tendon = '<actuator><position name="m" tendon="t" kp="9" kv="1" forcerange="-1 1"/></actuator>'
    text = BODIES.replace('<joint joint="c"', '<joint joint="a" coef="0.8"/><joint joint="c"') + tendon
    (file := tmp_path / "robot.xml").write_text(f"<mujoco>{text}</mujoco>")
    said = export(robot := read_robot(file), "mjcf", tmp_path / "out.xml")
    assert said[-1] == "Actuators of the model that stay: m." and not any("Lost" in one for one in said)
    given = dataclasses.replace(robot, is_given=True)
    assert "Lost: law linkage" in "".join(export(given, "mjcf", tmp_path / "out.xml", lossy=True))


def test_a_joint_has_one_actuator(tmp_path) -> None:
    actuators = ACTUATORS.replace("</actuator>", '<damper name="more" joint="a" kv="1" ctrlrange="0 1"/></actuator>')
    sensors = '<sensor><actuatorfrc name="s" actuator="more"/><jointpos name="q" joint="a"/></sensor>'
    keys = '<keyframe><key qpos="1 2 3" ctrl="1 2 3 0"/></keyframe>'
    model, said = whole(tmp_path, BODIES + actuators + sensors + keys)
    assert names(model) == ["first", "", "last"] and model.nsensor == 1
    assert model.key_qpos.tolist() == [[1.0, 2.0, 3.0]] and not model.key_ctrl.any()
    assert [one for one in said if "left out" in one] == [
        "Actuators of the model that are left out, for their joint has another: more.",
        "Sensors of the model that are left out with them: s.",
        "Controls of keyframes are left out, for the actuators are others: they are 0.",
    ]


def test_activations_of_keyframes_are_left_out(tmp_path) -> None:
    actuators = '<actuator><general name="first" joint="a" dyntype="integrator"/></actuator>'
    model, said = whole(tmp_path, BODIES + actuators + '<keyframe><key act="1" ctrl="2"/></keyframe>')
    assert model.na == 0 and model.nkey == 1 and "Activations of keyframes are left out: they are 0." in said


def test_joints_without_an_actuator_get_one(tmp_path) -> None:
    model, _ = whole(tmp_path, BODIES)
    assert names(model) == ["a", "b"]
    model, _ = whole(tmp_path, BODIES + '<actuator><motor name="a" tendon="t"/></actuator>')
    assert names(model) == ["a", "a_motor", "b"]


def test_defaults_of_the_model_do_not_act_on_motors(tmp_path) -> None:
    defaults = """<default><general gear="7" ctrlrange="-1 1" dyntype="integrator" forcerange="-2 2"/>
    <default class="x"><position kp="3" forcerange="-1 1"/></default></default>"""
    placed = ACTUATORS.replace('<position name="last"', '<position class="x" name="last"')
    placed = placed.replace('<position tendon="t"/>', "")
    model, _ = whole(tmp_path, defaults + BODIES + placed)
    assert model.actuator_gear[:, 0].tolist() == [1.0, 1.0] and model.na == 0
    assert not model.actuator_ctrllimited.any() and not model.jnt_actfrclimited.any()
    assert model.actuator_forcerange.tolist() == [[-17.0, 17.0]] * 2


@pytest.mark.skipif(not hasattr(mujoco.MjsActuator, "armature"), reason="a version without armature of actuators")
def test_newer_defaults_do_not_act_either(tmp_path) -> None:
    """Attributes that older versions would refuse are written against such defaults only."""
    defaults = '<default><general armature="3" damping="2" delay="0.1" nsample="60"/></default>'
    model, _ = whole(tmp_path, defaults + BODIES)
    assert not model.actuator_armature.any() and not model.actuator_damping.any() and not model.actuator_delay.any()
    whole(tmp_path, BODIES)
    assert "delay" not in (tmp_path / "out.xml").read_text()


def test_included_files_are_in_it(tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/bodies.xml").write_text('<mujoco><include file="more.xml"/></mujoco>')
    (tmp_path / "sub/more.xml").write_text(f"<mujocoinclude>{BODIES}</mujocoinclude>")
    model, said = whole(tmp_path, f'<include file="sub/bodies.xml"/>{ACTUATORS}')
    assert names(model) == ["first", "", "last"]
    assert "The files that robot.xml includes are in it: sub/bodies.xml, more.xml." in said


@cases("compiler", "", 'meshdir="assets"', 'assetdir="none" meshdir="assets"', 'assetdir="assets" texturedir="none"')
@cases("out", "out.xml", "other/out.xml")
def test_assets_are_found_from_another_folder(compiler, out, tmp_path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / ("assets/m.obj" if compiler else "m.obj")).write_text(CUBE)
    (tmp_path / "part.xml").write_text('<mujoco><worldbody><body name="p"><geom size="1"/></body></worldbody></mujoco>')
    assets = '<asset><mesh name="m" file="m.obj"/><model name="part" file="part.xml"/></asset>'
    used = '<worldbody><geom type="mesh" mesh="m"/><attach model="part" body="p" prefix="p_"/></worldbody>'
    model, _ = whole(tmp_path, (f"<compiler {compiler}/>" if compiler else "") + assets + used + BODIES, out=out)
    assert model.nmesh == 1 and model.body("p_p").id


def test_a_joint_of_another_kind_is_refused(tmp_path) -> None:
    (file := tmp_path / "robot.xml").write_text(f"<mujoco>{BODIES}</mujoco>")
    default = '<default><default class="x"><joint type="slide"/></default></default>'
    bodies = BODIES.replace('name="a"', 'class="x" name="a"', 1)
    (into := tmp_path / "into.xml").write_text(f"<mujoco>{default}{bodies}</mujoco>")
    with pytest.raises(ValueError, match=r"into\.xml: joint 'a' slides: must be one that turns, as that of"):
        export(read_robot(file, {"a": MOTOR}), "mjcf", tmp_path / "out.xml", into=into)
    assert not (tmp_path / "out.xml").exists()


def test_what_mujoco_cannot_open_is_not_written(tmp_path) -> None:
    (into := tmp_path / "into.xml").write_text(
        f'<mujoco><asset><mesh name="m" file="missing.obj"/></asset>{BODIES}<worldbody><geom type="mesh" mesh="m"/>'
        "</worldbody></mujoco>"
    )
    (file := tmp_path / "robot.xml").write_text(f"<mujoco>{BODIES}</mujoco>")
    with pytest.raises(ValueError, match=r"into\.xml: MuJoCo cannot open it: .*missing\.obj"):
        export(read_robot(file, {"a": MOTOR}), "mjcf", tmp_path / "out.xml", into=into)
    assert not (tmp_path / "out.xml").exists()
