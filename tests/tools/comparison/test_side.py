"""Sides of a comparison."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ImplicitConfig, MaxEffortClampingConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison.side import both_driven_alike, opened, side_of
from places import ROBOTS
from pxr import Usd, UsdPhysics
from seeded_faults import ARM, ARM_XML
from small_stages import pendulum

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")


def test_motors_of_a_file_by_joint() -> None:
    side = side_of(ARM)
    assert side.joints == ("shoulder", "extension") and (side.engine, side.dt) == ("mujoco", pytest.approx(1 / 240))
    assert side.motors["shoulder"].controller == PDControlConfig(200.0, 20.0) and dict(side.drives) == {}


def test_numbers_by_pattern_become_those_of_the_joint() -> None:
    motors = {".*": MotorConfig(PDControlConfig({"sh.*": 1.0, "ex.*": 2.0}, 0.5), armature={"sh.*": 0.1, "ex.*": 0.2})}
    side = side_of(ARM, motors, dt=0.001)
    assert [side.motors[name].controller.kp for name in side.joints] == [1.0, 2.0]
    assert [side.motors[name].armature for name in side.joints] == pytest.approx([0.1, 0.2]) and side.dt == 0.001


def test_a_drive_beside_a_motor_becomes_an_implicit_motor() -> None:
    motors, drives = side_of(ARM), side_of(ARM_XML)
    assert not drives.motors
    first, second, changed = both_driven_alike(motors, drives)
    assert first == motors and changed == ["shoulder", "extension"]
    assert second.motors["shoulder"].controller == PDControlConfig(200.0, 20.0)
    assert second.motors["shoulder"].others == [ImplicitConfig()]
    assert both_driven_alike(drives, drives) == (drives, drives, [])


def test_joints_without_a_motor_in_a_configuration_have_the_drive_of_the_file(tmp_path) -> None:
    # a copy, for layers are shared in a process
    stage = Usd.Stage.Open(Usd.Stage.Open(str(ARM)).Flatten())
    motor = {"shoulder": [PDControlConfig(1.0, 0.5), MaxEffortClampingConfig(9.0)]}
    for stiffness in (0.0, 300.0):
        joint = stage.GetPrimAtPath("/World/Arm/joints/extension")
        UsdPhysics.DriveAPI(joint, "linear").GetStiffnessAttr().Set(stiffness)
        stage.Export(str(file := tmp_path / f"arm_{stiffness:g}.usda"))
        side = side_of(file, motor)
        assert list(side.motors) == ["shoulder"]
        drive = MotorConfig(PDControlConfig(stiffness, 0.0), [MaxEffortClampingConfig(100.0)])
        assert dict(side.drives) == {"extension": drive}
        assert [remark.partition(": ")[2] for remark in side.remarks] == ["extension."]
        with opened(side) as (simulation, robot, _):
            simulation.play()
            assert robot.get_dof_gains()[0].numpy()[0].tolist() == [0.0, stiffness]
        _, alike, changed = both_driven_alike(side_of(file), side)
        assert changed == ["extension"] and alike.motors["extension"].controller == PDControlConfig(stiffness, 0.0)
        assert side_of(file).remarks == side_of(file, {".*": motor["shoulder"]}).remarks == ()


def test_side_driven_alike_moves_as_the_file_with_some_motors() -> None:
    side = side_of(ARM, {"shoulder": [PDControlConfig(200.0, 20.0), MaxEffortClampingConfig(60.0)]})
    _, alike, _ = both_driven_alike(side_of(ARM), side)
    moved = []
    for one in (side, alike):
        with opened(one) as (simulation, robot, _):
            simulation.play()
            robot.set_dof_position_targets([[0.3, 0.2]])
            simulation.step(60)
            moved.append(robot.get_dof_positions().numpy()[0])
    np.testing.assert_allclose(moved[0], moved[1], atol=1e-5)


def test_changes_leave_the_side_as_it_is() -> None:
    side = side_of(ARM)
    other = side.with_property("armature", {"shoulder": 0.5}).with_property("armature", {"extension": 0.6})
    assert dict(other.properties) == {"armature": {"shoulder": 0.5, "extension": 0.6}}
    assert dict(side.properties) == {}
    assert side.with_motors({"shoulder": MotorConfig()}).has_motor("shoulder") is False
    assert side.has_motor("shoulder")


def test_a_file_of_several_robots_is_refused(tmp_path) -> None:
    body = '<body name="two" pos="3 0 0"><joint name="j"/><geom size=".1"/></body>'
    text = ARM_XML.read_text().replace("</worldbody>", f"{body}</worldbody>")
    path = tmp_path / "two.xml"
    path.write_text(text)
    with pytest.raises(ValueError, match="must have the same"):
        side_of(path)


def test_opened_is_not_playing() -> None:
    with opened(side_of(ARM)) as (simulation, robot, actuators):
        assert not simulation.playing and robot.dof_names == ["shoulder", "extension"] and actuators is not None


def test_joints_have_the_order_of_newton_and_drives_stay() -> None:
    for library in ("mujoco_warp", "newton"):
        pytest.importorskip(library)
    ours, newtons = (side_of(ROBOTS / "anymal_c.usda", engine=engine) for engine in ("mujoco", "newton"))
    assert sorted(ours.joints) == sorted(newtons.joints) and ours.joints[:2] == ("LF_HAA", "LH_HAA")
    assert newtons.joints[:2] == ("LF_HAA", "LF_HFE")
    drives = [side_of(ARM_XML, engine=engine).drives for engine in ("mujoco", "newton")]
    assert drives[1]["shoulder"].controller == drives[0]["shoulder"].controller == PDControlConfig(200.0, 20.0)


def test_a_drive_of_usd_without_a_motor_has_the_gains_that_newton_reads(tmp_path) -> None:
    for library in ("mujoco_warp", "newton"):
        pytest.importorskip(library)
    made = pendulum()
    made.drive("/World/Robot/hinge", stiffness=1.0, damping=0.1, targetPosition=20.0)
    path = tmp_path / "driven.usda"
    made.stage.Export(str(path))
    ours, newtons = (side_of(path, engine=engine) for engine in ("mujoco", "newton"))
    assert not newtons.motors
    law, expected = (side.drives["hinge"].controller for side in (newtons, ours))
    assert (law.kp, law.kd) == pytest.approx((expected.kp, expected.kd), rel=1e-5)


def test_an_unknown_simulator_is_told() -> None:
    with pytest.raises(ValueError, match="engine = 'bullet': must be one of mujoco, physx, mujoco_warp, newton"):
        side_of(ARM, engine="bullet")
