"""Every tool carries a linkage: files, what they say, what runs them."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from places import ROBOTS
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused

NAMES = "panda_joint5", "panda_joint6"
PANDA = "/World/Panda"
SHAFTS = aa.LinkageConfig.differential(*NAMES)
TABLES = tuple(
    aa.LinkageConfig.table(list(NAMES), lambda a, b, s=sign: a + s * b + 0.1 * a * b, [-2.0] * 2, [2.0] * 2, nodes=5)
    for sign in (1.0, -1.0)
)
GEAR = aa.TransmissionConfig(ratio=-10.0, rotor_inertia=1e-4)
LAW = [aa.PDControlConfig(0.5, 0.02), aa.MaxEffortClampingConfig(2.0), GEAR]
each = cases("shafts", SHAFTS, TABLES, ids=["linear", "table"])


def motors(shafts: tuple[aa.LinkageConfig, ...]) -> dict[str, list]:
    return {name: [*LAW, shaft] for name, shaft in zip(NAMES, shafts, strict=True)}


def written(folder: Path, shafts: tuple[aa.LinkageConfig, ...], *, centimetres: bool = False) -> Path:
    stage = Usd.Stage.Open(str(ROBOTS / "franka_panda.usda"))
    if centimetres:
        UsdGeom.SetStageMetersPerUnit(stage, 0.01)
        UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
    aa.add_motors(PANDA, motors(shafts), stage=stage, overwrite_existing=True)
    stage.Export(str(folder / "robot.usda"))
    return folder / "robot.usda"


def shaft_in(motor) -> aa.LinkageConfig:
    return next(stage for stage in motor.stages if isinstance(stage, aa.LinkageConfig))


def require_equal(found: aa.LinkageConfig, expected: aa.LinkageConfig) -> None:
    assert (found.joints, found.rows) == (expected.joints, expected.rows)
    for name in ("coefficients", "offset", "lower", "upper", "angles", "slopes"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-6, atol=1e-9)


def test_tendon_of_fewer_motors_than_joints_is_in_a_file(tmp_path: Path) -> None:
    names = ["panda_joint5", "panda_joint6", "panda_joint7"]
    tendon = aa.LinkageConfig.tendon(dict(zip(names, (1.0, 0.5, -0.3), strict=True)), unilateral=True)
    made = {names[1]: [aa.PDControlConfig(20.0, 0.5), aa.MaxEffortClampingConfig(3.0), tendon]}
    stage = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(str(ROBOTS / "franka_panda.usda")))
    aa.add_motors(PANDA, made, stage=stage, overwrite_existing=True)
    stage.Export(str(tmp_path / "robot.usda"))
    found = aa.motors_of(str(tmp_path / "robot.usda"))
    require_equal(shaft_in(found[names[1]]), tendon)
    assert shaft_in(found[names[1]]).unilateral
    assert [found[name].controller for name in (names[0], names[2])] == [None, None]
    (inspected,) = aa.inspect_robots(tmp_path / "robot.usda")
    words = {actuator.joints[0]: actuator.pipeline for actuator in inspected.actuators}
    assert words[names[0]] == words[names[2]] == "no motor: free where tendons do not hold it"
    assert words[names[1]].endswith("linkage +1·panda_joint5 +0.5·panda_joint6 -0.3·panda_joint7, pulls only")
    positions = []
    for robot, motors in ((tmp_path / "robot.usda", None), (ROBOTS / "franka_panda.usda", made)):
        with aa.Simulation(robot) as simulation:
            simulation.play()
            arm = simulation.articulation(PANDA)
            if motors is None:
                actuators = aa.ArticulationActuators(PANDA)
            else:
                # the other joints as in the file
                rest = {name: motor for name, motor in found.items() if name not in names}
                actuators = aa.ArticulationActuators.from_configs(PANDA, {**rest, **motors})
            arm.set_dof_position_targets(np.full((1, arm.num_dofs), 0.2))
            simulation.step(50)
            assert {*names} <= {arm.dof_names[index] for index in actuators.actuated_dof_indices}
            positions.append(np.asarray(arm.get_dof_positions()).copy())
    np.testing.assert_allclose(*positions, atol=1e-6)


@each
@cases("centimetres", False, True)
def test_stage_gives_back_what_was_written(shafts, centimetres, tmp_path) -> None:
    found = aa.motors_of(str(written(tmp_path, shafts, centimetres=centimetres)))
    for name, shaft in zip(NAMES, shafts, strict=True):
        require_equal(shaft_in(found[name]), shaft)
        controller = found[name].controller
        assert (controller.kp, controller.kd) == pytest.approx((0.5, 0.02), rel=1e-6)


@each
def test_file_of_motors_gives_back_what_was_written(shafts, tmp_path) -> None:
    for ending in ("yaml", "toml", "json"):
        aa.save_motors(tmp_path / f"motors.{ending}", motors(shafts))
        found = aa.load_motors(tmp_path / f"motors.{ending}")
        for name, shaft in zip(NAMES, shafts, strict=True):
            require_equal(shaft_in(found[name]), shaft)


def test_problem_is_told_by_the_attribute(tmp_path) -> None:
    stage = open_stage(str(written(tmp_path, SHAFTS)))
    prim = stage.GetPrimAtPath(f"{PANDA}/Actuators/{NAMES[0]}")
    prim.GetAttribute("actuator:linkage:coefficients").Set([1.0])
    refused(ValueError, lambda: aa.motors_of(stage), r"actuator:linkage:coefficients has 1 values: must be 2")
    prim.GetAttribute("actuator:linkage:joints").Set([])
    refused(ValueError, lambda: aa.motors_of(stage), r"actuator:linkage:joints has none: must be one to 8 names")


def test_simulation_has_the_armature_and_the_motion(tmp_path) -> None:
    file, ends = written(tmp_path, SHAFTS), []
    read = aa.motors_of(str(file))
    for from_file in (True, False):
        with aa.Simulation(file) as sim:
            sim.play()
            ways = (lambda: aa.ArticulationActuators(PANDA), lambda: aa.ArticulationActuators.from_configs(PANDA, read))
            made = ways[not from_file]()
            robot = made.articulation
            columns = [robot.dof_names.index(name) for name in NAMES]
            np.testing.assert_allclose(robot.get_dof_armatures().numpy()[0, columns], 2 * 1e-4 * 100, rtol=1e-6)
            robot.set_dof_position_targets(np.array([[0.3, -0.2]], np.float32), dof_indices=columns)
            sim.step(200)
            ends.append(robot.get_dof_positions().numpy()[0, columns])
            assert made.faults == []
            made.close()
    np.testing.assert_array_equal(*ends)


def test_inspect_names_stage_and_values(tmp_path) -> None:
    (robot,) = aa.inspect_robots(written(tmp_path, SHAFTS))
    (actuator,) = (one for one in robot.actuators if one.joints == (NAMES[1],))
    assert actuator.usable and "linkage" in actuator.pipeline
    assert actuator.values["linkage", "coefficients"].value == [1.0, -1.0]


def test_state_and_recording(tmp_path) -> None:
    arrays = [aa.ActuatedArrays(list(NAMES), motors(SHAFTS)) for _ in range(2)]
    rng = np.random.default_rng(0)
    with arrays[0].record() as log:
        for number in range(6):
            q, qd, target = rng.normal(size=(3, 1, 2)).astype(np.float32)
            found = np.array(arrays[0].step(q, qd, target, 0.001))
            if number == 2:
                arrays[1].restore_state(arrays[0].save_state())
            elif number > 2:
                np.testing.assert_array_equal(np.asarray(arrays[1].step(q, qd, target, 0.001)), found)
    np.testing.assert_array_equal(log.applied_efforts[-1], found)
    assert np.isnan(log.shaft_efforts).all()
