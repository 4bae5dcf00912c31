"""URDF files as they are: links keep names and masses, and what MuJoCo would drop or refuse is said or set right."""

import struct
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.urdf import UrdfTransmission, stages_of, transmissions_of
from played import played, played_robot
from refusals import cases

BODY = '<inertial><mass value="1"/><inertia ixx="{ixx}" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = [
    *((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)),
    *((2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)),
]


def link(name: str, inside: str = "", ixx: float = 0.01, box: bool = True) -> str:
    shape = '<geometry><box size="0.1 0.1 0.1"/></geometry>' if box else ""
    both = f"<visual>{shape}</visual><collision>{shape}</collision>" if box else ""
    return f'<link name="{name}">{BODY.format(ixx=ixx)}{both}{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 0.09"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 1 0"/>{inside}</joint>'


LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'
ARM = (
    link("base")
    + link("upper")
    + link("lower")
    + link("tool")
    + joint("shoulder", "revolute", "base", "upper", LIMIT + '<dynamics damping="0.3" friction="0.2"/>')
    + joint("elbow", "continuous", "upper", "lower")
    + joint("mount", "fixed", "lower", "tool")
)


def urdf(folder: Path, text: str = ARM, name: str = "arm.urdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<?xml version="1.0"?><robot name="arm">{text}</robot>')
    return path


def stl(path: Path, size: float | np.ndarray = 0.1, *, ascii_form: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    faces = [[np.array(CUBE[at]) * size for at in face] for face in FACES]
    if ascii_form:
        corners = [["vertex " + " ".join(map(str, corner)) for corner in face] for face in faces]
        text = "\n".join(f"facet normal 0 0 0 outer loop {' '.join(face)} endloop endfacet" for face in corners)
        path.write_text(f"solid cube\n{text}\nendsolid")
    else:
        packed = b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(face), 0) for face in faces)
        path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + packed)
    return path


def seen(uri: str, kind: str = "visual") -> str:
    return f'<{kind}><geometry><mesh filename="{uri}"/></geometry></{kind}>'


def test_an_arm_as_it_is(tmp_path) -> None:
    with played_robot("base", urdf(tmp_path)) as (sim, robot):
        assert robot.link_names == ["base", "upper", "lower", "tool"] and robot.dof_names == ["shoulder", "elbow"]
        assert sim.dt == 1 / 240
        np.testing.assert_allclose(robot.get_link_masses().numpy().ravel(), 1)
        np.testing.assert_allclose(robot.get_dof_max_efforts().numpy(), [[5, np.inf]])
        np.testing.assert_allclose(robot.get_dof_max_velocities().numpy(), [[2, np.inf]])
        expected = [[-1, -np.inf], [1, np.inf]]
        np.testing.assert_allclose([limits.numpy()[0] for limits in robot.get_dof_limits()], expected)
        static, _, viscous = (values.numpy()[0] for values in robot.get_dof_friction_properties())
        np.testing.assert_allclose([static, viscous], [[0.2, 0], [0.3, 0]], rtol=1e-6)
        assert not np.any([gains.numpy() for gains in robot.get_dof_gains()])
        robot.set_dof_gains(20.0, 2.0)
        robot.set_dof_position_targets([0.4, -0.4])
        sim.step(1000)
        # boxes that overlap at a joint do not keep it from moving
        np.testing.assert_allclose(robot.get_dof_positions().numpy(), [[0.4, -0.4]], atol=0.06)


def test_motors_pass_efforts_up_to_the_limit(tmp_path) -> None:
    with aa.Simulation(urdf(tmp_path)) as sim:
        motors = aa.motors_of(sim)
        assert motors["shoulder"].controller == aa.PDControlConfig(0.0, 0.0)
        assert motors["shoulder"].clamping == [aa.MaxEffortClampingConfig(5.0)] and motors["shoulder"].friction == 0.2
        assert motors["elbow"].clamping == []
        actuators = aa.ArticulationActuators.from_configs("base", motors)
        sim.play()
        assert actuators.actuated_dof_indices == [0, 1]


def test_joints_of_all_kinds(tmp_path) -> None:
    kinds = {"prismatic": LIMIT, "planar": "", "continuous": ""}
    text = link("base") + "".join(
        link(kind, box=False) + joint(f"j_{kind}", kind, "base", kind, inside) for kind, inside in kinds.items()
    )
    with aa.Simulation(urdf(tmp_path, text)) as sim:
        names = ["j_continuous", "j_planar_TX", "j_planar_TY", "j_planar_RZ", "j_prismatic"]
        assert sim.articulation("base").dof_names == names


def test_a_floating_base(tmp_path) -> None:
    text = link("ground", box=False) + joint("free", "floating", "ground", "base") + ARM
    with played_robot("base", urdf(tmp_path, text)) as (sim, robot):
        assert robot.link_names[0] == "base"
        sim.step(240)
        assert robot.get_world_poses()[0].numpy()[0, 2] < -3
    text = ARM + link("bird") + joint("flight", "floating", "tool", "bird")
    with pytest.raises(ValueError, match=r"free joint can only be used on top level, Element name 'bird'"):
        aa.Simulation(urdf(tmp_path, text))


def test_mimics_follow(tmp_path) -> None:
    follow = '<mimic joint="shoulder" multiplier="-2" offset="0.1"/>'
    text = ARM.replace("</joint>", follow + "</joint>").replace(follow, "", 1)
    with played_robot("base", urdf(tmp_path, text)) as (sim, robot):
        assert list(aa.motors_of(sim)) == ["shoulder"]
        robot.set_dof_gains([50.0, 0.0], [5.0, 0.0])
        robot.set_dof_position_targets(0.3)
        sim.step(1000)
        shoulder, elbow = robot.get_dof_positions().numpy()[0]
        assert elbow == pytest.approx(0.1 - 2 * shoulder, abs=0.02) and abs(shoulder) > 0.1
    with pytest.warns(UserWarning, match=r"joint 'elbow' mimics 'wrist', which is no joint of the file that moves"):
        sim = aa.Simulation(urdf(tmp_path, text.replace('joint="shoulder"', 'joint="wrist"')))
    sim.close()


def test_meshes_of_packages(tmp_path) -> None:
    root = tmp_path / "share" / "arm_description"
    stl(root / "meshes/visual/part.stl", 0.1)
    stl(root / "meshes/collision/part.stl", 0.2, ascii_form=True)
    stl(root / "urdf/near.STL", 0.3)
    inside = seen("package://arm_description/meshes/visual/part.stl") + seen(
        "package://arm_description/meshes/collision/part.stl", "collision"
    )
    text = link("base", inside + seen("near.STL").replace("/></geo", ' scale="2 2 2"/></geo'), box=False)
    text += link("upper", seen("near.STL"), box=False) + joint("shoulder", "revolute", "base", "upper", LIMIT)
    with played(urdf(root / "urdf", text)) as sim:
        model = sim.model
        sizes = [2 * model.geom_aabb[geom, 3:].max() for geom in range(model.ngeom)]
        np.testing.assert_allclose(sizes, [0.1, 0.2, 0.6, 0.3], rtol=1e-4)
        # what collides is hidden behind what is made to be seen
        assert list(zip(model.geom_contype, model.geom_group, strict=True)) == [(0, 1), (1, 3), (0, 1), (0, 1)]
        np.testing.assert_allclose(model.body_mass, [0, 1, 1])


def test_meshes_that_are_missing(tmp_path) -> None:
    gone = {kind: seen("package://gone/a.stl", kind) + seen("b.obj", kind) for kind in ("visual", "collision")}
    for kind, what in (("visual", "are not drawn"), ("collision", "do not collide")):
        said = rf"{what}: base \(package://gone/a\.stl: is missing\), base \(b\.obj: is missing\)\. .* in those above"
        with pytest.warns(UserWarning, match=said) as warned:
            sim = aa.Simulation(urdf(tmp_path, ARM.replace("</link>", gone[kind] + "</link>", 1)))
        with sim:
            sim.play()
            assert len(warned) == 1 and sim.model.ngeom == 8


def test_meshes_that_mujoco_cannot_read(tmp_path) -> None:
    for name in ("a.dae", "b.dae"):
        (tmp_path / name).touch()
    (tmp_path / "large.stl").write_bytes(bytes(84 + 50 * 200001))
    inside = seen("a.dae") + seen("b.dae", "collision") + seen("large.stl")
    with pytest.warns(UserWarning) as warned:
        sim = aa.Simulation(urdf(tmp_path, ARM.replace("</link>", inside + "</link>", 1)))
    sim.close()
    drawn, collide = [str(warning.message) for warning in warned]
    assert {warning.filename for warning in warned} == {__file__}
    assert "are not drawn: base (a.dae: MuJoCo cannot read it), base (large.stl: MuJoCo cannot read it)" in drawn
    assert "do not collide: base (b.dae: MuJoCo cannot read it)" in collide


def test_meshes_that_are_flat(tmp_path) -> None:
    stl(tmp_path / "plate.stl", np.array([0.1, 0.1, 0.0]))
    with pytest.warns(UserWarning, match=r"meshes that are flat do not collide: plate\. Use a thin box"):
        sim = aa.Simulation(urdf(tmp_path, ARM.replace("</link>", seen("plate.stl", "collision") + "</link>", 1)))
    with sim:
        sim.play()
        assert sim.model.body("base").mass == 1


def test_inertias_that_no_body_has(tmp_path) -> None:
    text = ARM.replace('ixx="0.01"', 'ixx="0.05"', 1)
    with pytest.warns(UserWarning, match=r"arm\.urdf: inertias that no body can have .* base \(0\.2\)") as warned:
        sim = aa.Simulation(urdf(tmp_path, text))
    assert [warning.filename for warning in warned] == [__file__]
    with sim:
        robot = sim.articulation("base")
        sim.play()
        moments = np.sort(np.linalg.eigvalsh(robot.get_link_inertias().numpy()[0, 0].reshape(3, 3)))
        np.testing.assert_allclose(moments, [0.02, 0.02, 0.04], rtol=1e-5)


def test_links_that_have_no_mass(tmp_path) -> None:
    text = ARM + '<link name="dummy"/>' + joint("twist", "continuous", "tool", "dummy")
    zero = BODY.replace('value="1"', 'value="0"').format(ixx=0).replace("0.01", "0")
    text += link("frame").replace(BODY.format(ixx=0.01), zero) + joint("glue", "fixed", "tool", "frame")
    text += link("plug").replace(BODY.format(ixx=0.01), "<inertial/>") + joint("plugged", "fixed", "tool", "plug")
    with pytest.warns(UserWarning, match=r"links that move and have no mass get 0\.001 kg: dummy\.") as warned:
        sim = aa.Simulation(urdf(tmp_path, text))
    assert warned[0].filename == __file__
    with sim:
        sim.play()
        robot = aa.Articulation("base")
        assert robot.link_names == ["base", "upper", "lower", "tool", "frame", "plug", "dummy"]
        np.testing.assert_array_equal(robot.get_link_inertias().numpy()[0, 4:6], 0)
        assert robot.get_link_masses().numpy().ravel().tolist() == pytest.approx([1, 1, 1, 1, 0, 0, 0.001])


@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_inertia_of_a_link_without_mass_is_an_inertia(tmp_path, kind) -> None:
    massless = BODY.replace('value="1"', 'value="0"').format(ixx=0.02)
    text = ARM + link("hand").replace(BODY.format(ixx=0.01), massless) + joint("glue", kind, "tool", "hand")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = aa.Simulation(urdf(tmp_path, text))
    expected = [True] * (kind == "continuous")
    assert ["links that move and have no mass get 0.001 kg: hand." in str(one.message) for one in caught] == expected
    with sim:
        sim.play()
        hand = sim.model.body("hand")
        np.testing.assert_allclose(np.sort(hand.inertia), [0.01, 0.01, 0.02], rtol=1e-9)
        assert hand.mass == (0.0 if kind == "fixed" else 0.001)


def test_what_other_programs_wrote(tmp_path) -> None:
    text = ARM.replace('effort="5"', 'effort="5" drake:acceleration="2"') + "<drake:group><drake:member/></drake:group>"
    with aa.Simulation(urdf(tmp_path, text + "<gazebo><plugin/></gazebo><transmission/>")) as sim:
        assert sim.articulation("base").num_dofs == 2
    with pytest.raises(ValueError, match=r"'\$\{effort\}' is to be expanded by xacro"):
        aa.Simulation(urdf(tmp_path, ARM.replace('effort="5"', 'effort="${effort}"')))


def test_shapes_without_size(tmp_path) -> None:
    empty = '<visual name="a"><geometry><box size="0 0 0"/></geometry></visual>'
    empty += '<collision name="a"><geometry><cylinder radius="0.1" length="0"/></geometry></collision>'
    with played(urdf(tmp_path, ARM.replace("</link>", empty + "</link>", 1))) as sim:
        assert sim.model.ngeom == 8


@pytest.mark.skipif(mujoco.__version__ < "4", reason="MuJoCo does not warn of this before version 4")
def test_warnings_of_mujoco_are_passed_on(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=r"MuJoCo warns: joint 'shoulder' has equal lower and upper limits") as warned:
        sim = aa.Simulation(urdf(tmp_path, ARM.replace('lower="-1" upper="1"', 'lower="1" upper="1"')))
    sim.close()
    assert [warning.filename for warning in warned] == [__file__] and not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_options_of_the_file_for_mujoco(tmp_path) -> None:
    options = '<mujoco><compiler fusestatic="true" meshdir="shapes"/></mujoco>'
    stl(tmp_path / "shapes" / "part.stl")
    text = ARM.replace("</link>", seen("elsewhere/part.stl") + "</link>", 1)
    with aa.Simulation(urdf(tmp_path, options + text)) as sim:
        assert "tool" not in sim.articulation(".*").link_names


SIMPLE = "transmission_interface/SimpleTransmission"


WIDE = '<limit lower="-9" upper="9" effort="5" velocity="2"/>'
GEARED_ARM = "".join(link(name, box=False) for name in ("base", "upper", "lower"))
GEARED_ARM += joint("shoulder", "revolute", "base", "upper", WIDE) + joint("elbow", "revolute", "upper", "lower", WIDE)


def read(text: str) -> list[UrdfTransmission]:
    return transmissions_of(ET.fromstring(f"<robot>{text}</robot>"))


def simple(joint: str = "", actuator: str = "", name: str = "j", kind: str = SIMPLE) -> str:
    return (
        f'<transmission name="t"><type>{kind}</type><joint name="{name}">{joint}</joint>'
        f'<actuator name="m">{actuator}</actuator></transmission>'
    )


def coupled(kind: str, second: float = 2.0) -> str:
    return (
        f"<transmission><plugin>transmission_interface/{kind}</plugin>"
        f"<actuator name='b' role='actuator2'>{reduction(-50)}</actuator>"
        f"<actuator name='a' role='actuator1'>{reduction(40)}</actuator>"
        f"<joint name='k'><role>joint2</role>{reduction(second)}<offset>0.25</offset></joint>"
        f"<joint name='j'><role>joint1</role>{reduction(1.5)}</joint></transmission>"
    )


def reduction(value: object, tag: str = "mechanicalReduction") -> str:
    return f"<{tag}>{value}</{tag}>"


@cases(
    "text, expected",
    (simple(actuator=reduction(50)), aa.TransmissionConfig(50.0)),
    (simple(reduction(-50)), aa.TransmissionConfig(-50.0)),
    (simple(reduction(50), reduction(50)), aa.TransmissionConfig(50.0)),
    (simple(reduction(50), reduction(1)), aa.TransmissionConfig(50.0)),
    (simple(reduction(" 4 ") + "<offset>0.5</offset>"), aa.TransmissionConfig(4.0, -2.0)),
    (simple("<offset>-0.5</offset>"), aa.TransmissionConfig(1.0, 0.5)),
    (simple(reduction(1.0) + "<offset>0</offset>"), None),
    (simple(), None),
    # of ros2_control, and of the first ROS
    (
        f"<ros2_control><transmission><plugin>{SIMPLE}</plugin><actuator name='m' role='actuator1'/>"
        f"<joint name='j' role='joint1'>{reduction(30, 'mechanical_reduction')}</joint>"
        "</transmission></ros2_control>",
        aa.TransmissionConfig(30.0),
    ),
    (
        f'<transmission type="pr2_mechanism_model/SimpleTransmission"><actuator name="m"/><joint name="j"/>'
        f"{reduction(20)}</transmission>",
        aa.TransmissionConfig(20.0),
    ),
)
def test_simple_transmission_is_a_gear(text: str, expected: aa.TransmissionConfig | None) -> None:
    gears, problems = stages_of(read(text), ["j"])
    assert gears.get("j", []) == ([] if expected is None else [expected]) and not problems


def test_offset_is_where_the_joint_is_when_its_actuator_is_at_zero() -> None:
    """j = a/n + o, so that the angle of the motor n·j + θ₀ is a."""
    (gear,) = stages_of(read(simple(reduction(-4) + "<offset>0.5</offset>")), ["j"])[0]["j"]
    assert isinstance(gear, aa.TransmissionConfig)
    actuator = np.linspace(-3.0, 3.0, 7)
    np.testing.assert_allclose(gear.ratio * (actuator / -4.0 + 0.5) + gear.offset, actuator, atol=1e-15)


@cases(
    "text, why",
    (simple(reduction(50), reduction(2)), "its reductions 2 and 50, of which one must be a number other than 0"),
    (simple(reduction(0)), "its reductions 1 and 0, of which one"),
    (simple(reduction("50:1")), "its reductions 1 and nan, of which one"),
    (simple("<offset>zero</offset>"), "its offset is no number"),
    (simple(name="other"), "no motor at joint 'other'"),
    (simple(kind=""), "no type"),
    (simple(reduction(50)) + simple(reduction(2)), "2 transmissions"),
    (simple().replace("<actuator", '<joint name="k"/><actuator'), "SimpleTransmission of 2 joints and 1 actuators"),
    (coupled("DifferentialTransmission", 0.0), "its reductions 40 and -50 and 1.5 and 0, of which each must be"),
    (
        coupled("FourBarLinkageTransmission").replace("actuator name='b'", "a").replace("/actuator>", "/a>", 1),
        "of 2 joints and 1 actuators",
    ),
    (coupled("DifferentialTransmission") + simple(name="j"), "2 transmissions"),
    (simple(kind="my_robot/Belt"), "Belt"),
)
def test_other_transmissions_are_named(text: str, why: str) -> None:
    gears, problems = stages_of(read(text), ["j", "k"])
    assert not gears and why in problems[0] and len(problems) == len(set(problems))


def test_order_of_roles() -> None:
    assert read(coupled("Any")) == [UrdfTransmission("Any", ("j", "k"), (40.0, -50.0), (1.5, 2.0), (0.0, 0.25))]


def joints_of(kind: str, a1: Any, a2: Any) -> Any:
    """Positions of the joints of `coupled`, as ros2_control computes them."""
    if kind == "DifferentialTransmission":
        return (a1 / 40.0 + a2 / -50.0) / (2 * 1.5), (a1 / 40.0 - a2 / -50.0) / (2 * 2.0) + 0.25
    return a1 / (40.0 * 1.5), (a2 / -50.0 - a1 / (40.0 * 1.5)) / 2.0 + 0.25


@pytest.mark.parametrize("kind", ["DifferentialTransmission", "FourBarLinkageTransmission"])
def test_transmission_that_couples_joints(kind: str, rng: np.random.Generator) -> None:
    stages, problems = stages_of(read(coupled(kind)), ["j", "k"])
    assert not problems
    actuators = rng.normal(size=2) * 20
    joints = np.array(joints_of(kind, *actuators))
    angles = [gear.ratio * (shaft.coefficients @ joints + shaft.offset) for gear, shaft in map(stages.get, "jk")]
    np.testing.assert_allclose(angles, actuators, rtol=1e-12)
    motors = {name: [aa.PDControlConfig(0.03, 0.0), *stages[name]] for name in "jk"}
    targets = actuators + rng.normal(size=2)
    goal = np.array(joints_of(kind, *targets))
    # slopes of the joints over the actuators
    slopes = np.array([np.subtract(joints_of(kind, *one), joints_of(kind, 0, 0)) for one in np.eye(2)]).T
    expected = np.linalg.solve(slopes.T, 0.03 * (targets - actuators))
    arrays = aa.ActuatedArrays(["j", "k"], motors)
    q, none, target = (np.array([one], np.float32) for one in (joints, [0.0, 0.0], goal))
    np.testing.assert_allclose(arrays.step(q, none, target, 0.01)[0], expected, rtol=1e-3)


def test_limits_behind_a_linkage(tmp_path: Path) -> None:
    linkage = coupled("DifferentialTransmission").replace("'j'", "'shoulder'").replace("'k'", "'elbow'")
    with aa.Simulation(urdf(tmp_path, GEARED_ARM + linkage)) as sim:
        words = "joints 'shoulder', 'elbow' have effort limits, and their motors have none"
        with pytest.warns(UserWarning, match=words):
            motors = aa.motors_of(sim)
        assert [type(one) for one in motors["elbow"].others] == [aa.TransmissionConfig, aa.LinkageConfig]
        assert not motors["elbow"].clamping
        for motor in motors.values():
            motor.clamping = [aa.MaxEffortClampingConfig(0.2)]
        actuators = aa.ArticulationActuators.from_configs("base", motors)
        sim.play()
        sim.step(10)
        assert actuators.actuated_dof_indices == [0, 1]


def test_motors_of_a_file(tmp_path: Path) -> None:
    text = GEARED_ARM + simple(reduction(-20), name="shoulder") + simple(name="elbow", kind="my_robot/Belt")
    with aa.Simulation(urdf(tmp_path, text)) as sim:
        with pytest.warns(UserWarning, match=r"that motors do not have: 'elbow' \(Belt\). The motors of") as caught:
            motors = aa.motors_of(sim)
        assert caught[0].filename == __file__
        shoulder = motors["shoulder"]
        assert shoulder.clamping == [aa.MaxEffortClampingConfig(0.25)]
        assert shoulder.others == [aa.TransmissionConfig(-20.0)]
        assert motors["elbow"].clamping == [aa.MaxEffortClampingConfig(5.0)] and not motors["elbow"].others
    # gains of the motor, and the same at the joint
    shoulder.controller = aa.PDControlConfig(0.05, 0.005)
    arrays = aa.ActuatedArrays(["shoulder"], {"shoulder": shoulder})
    position, velocity, target = (np.full((1, 1), value, np.float32) for value in (0.1, 0.2, 0.3))
    expected = 20.0 * (0.3 - 0.1) - 2.0 * 0.2
    np.testing.assert_allclose(arrays.step(position, velocity, target, 0.01), [[expected]], rtol=1e-5)
    np.testing.assert_allclose(arrays.step(position, velocity, target + 1.0, 0.01), [[5.0]], rtol=1e-6)
