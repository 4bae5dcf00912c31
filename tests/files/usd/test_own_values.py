"""Values that a robot has for itself: copies on the stage, references, instances, and environments with an `over`."""

from collections.abc import Callable, Sequence
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import PDControlConfig, add_actuator
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import discover
from isaacsim.core.experimental.actuators.files.usd.own_values import (
    Original,
    Twins,
    own_values,
    robots_like,
    with_own_values,
)
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import REPOSITORY
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused

ENVS, JOINTS = "/World/envs", ("hip", "knee")
STAGES = [aa.PDControlConfig(10.0, 0.0), aa.MaxEffortClampingConfig(100.0), aa.DelayConfig(0)]


def robot(stage: Usd.Stage, path: str) -> None:
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(path, "Xform"))
    for name in JOINTS:
        UsdPhysics.RevoluteJoint.Define(stage, f"{path}/joints/{name}")
    for name in JOINTS:
        aa.add_actuator(path, name, name, STAGES[0], clamping=STAGES[1:2], stage=stage)


def copies(count: int = 3) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    robot(stage, f"{ENVS}/env_0/Robot")
    for number in range(1, count):
        Sdf.CopySpec(stage.GetRootLayer(), f"{ENVS}/env_0", stage.GetRootLayer(), f"{ENVS}/env_{number}")
    return stage


def references(files: Sequence[Usd.Stage], instanceable: bool, of_first: bool = False) -> Usd.Stage:
    """A robot for each file, `of_first` with the first one referenced instead; the stages must live on."""
    stage = Usd.Stage.CreateInMemory()
    for number, file in enumerate(files):
        prim = stage.DefinePrim(f"{ENVS}/env_{number}/Robot")
        if of_first and number:
            prim.GetReferences().AddInternalReference(f"{ENVS}/env_0/Robot")
        else:
            prim.GetReferences().AddReference(file.GetRootLayer().identifier, "/Robot")
        prim.SetInstanceable(instanceable)
    return stage


def file_with(kp: float) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    robot(stage, "/Robot")
    stage.GetPrimAtPath("/Robot/Actuators/knee").GetAttribute("newton:kp").Set(kp)
    return stage


def knee(stage: Usd.Stage, env: int) -> Usd.Prim:
    return stage.GetPrimAtPath(f"{ENVS}/env_{env}/Robot/Actuators/knee")


def found_on(stage: Usd.Stage, count: int = 3) -> list[tuple[int, str, float]]:
    roots = [f"{ENVS}/env_{number}/Robot" for number in range(count)]
    specs = discover(stage, roots[0], [f"{roots[0]}/joints/{name}" for name in JOINTS])
    return [(one.robot, one.parameter, one.value) for one in own_values(stage, specs, roots[0], roots)]


def test_copies_without_own_values_are_like_the_first() -> None:
    stage = copies()
    assert found_on(stage) == []
    specs = discover(stage, f"{ENVS}/env_0/Robot", [f"{ENVS}/env_0/Robot/joints/{name}" for name in JOINTS])
    assert [one is other for one, other in zip(with_own_values(specs, [], 3), specs, strict=True)] == [True, True]


def test_copies_keep_what_they_say() -> None:
    stage = copies()
    knee(stage, 2).GetAttribute("newton:kp").Set(4.0)
    knee(stage, 1).GetAttribute("newton:maxEffort").Set(7.0)
    assert found_on(stage) == [(1, "max_effort", 7.0), (2, "kp", 4.0)]
    roots = [f"{ENVS}/env_{number}/Robot" for number in range(3)]
    specs = discover(stage, roots[0], [f"{roots[0]}/joints/{name}" for name in JOINTS])
    hip, changed = with_own_values(specs, own_values(stage, specs, roots[0], roots), 3)
    assert hip is specs[0]
    np.testing.assert_array_equal(changed.controller.kp, [[10.0], [10.0], [4.0]])
    np.testing.assert_array_equal(changed.clamping[0].max_effort, [[100.0], [7.0], [100.0]])
    assert changed.controller.kd == 0.0


@cases("instanceable", True, False)
def test_references_to_another_file_have_its_values(instanceable: bool) -> None:
    usual, weak = file_with(10.0), file_with(3.0)
    assert found_on(references([usual, usual, weak], instanceable)) == [(2, "kp", 3.0)]
    assert found_on(references([usual, usual, usual], instanceable)) == []


def test_references_may_say_more() -> None:
    usual = file_with(10.0)
    for of_first in (False, True):
        stage = references([usual] * 3, False, of_first)
        knee(stage, 1).GetAttribute("newton:kp").Set(5.0)
        assert found_on(stage) == [(1, "kp", 5.0)]
    stage = references([usual] * 3, False)
    knee(stage, 0).GetAttribute("newton:kp").Set(5.0)
    assert found_on(stage) == [(1, "kp", 10.0), (2, "kp", 10.0)]
    stage = references([usual] * 3, False, of_first=True)
    knee(stage, 0).GetAttribute("newton:kp").Set(5.0)
    assert found_on(stage) == []


def test_variants_may_differ() -> None:
    file = file_with(10.0)
    chosen = file.GetPrimAtPath("/Robot").GetVariantSets().AddVariantSet("motor")
    file.GetPrimAtPath("/Robot/Actuators/knee").RemoveProperty("newton:kp")
    for name, kp in (("usual", 10.0), ("weak", 2.0)):
        chosen.AddVariant(name)
        chosen.SetVariantSelection(name)
        with chosen.GetVariantEditContext():
            file.GetPrimAtPath("/Robot/Actuators/knee").CreateAttribute("newton:kp", Sdf.ValueTypeNames.Float).Set(kp)
    chosen.SetVariantSelection("usual")
    stage = references([file] * 3, True)
    assert found_on(stage) == []
    stage.GetPrimAtPath(f"{ENVS}/env_1/Robot").GetVariantSets().SetSelection("motor", "weak")
    assert found_on(stage) == [(1, "kp", 2.0)]


def test_robots_of_the_same_specs_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a copy was read")

    usual = file_with(10.0)
    monkeypatch.setattr(Original, "said", refuse)
    for instanceable, of_first in ((True, False), (False, False), (False, True)):
        assert found_on(references([usual] * 3, instanceable, of_first)) == []
    stage = copies()
    assert found_on(stage) == []
    knee(stage, 1).GetAttribute("newton:kp").Set(5.0)
    refused(AssertionError, lambda: found_on(stage), "a copy was read")


def test_units_of_the_stage() -> None:
    stage = copies()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    knee(stage, 1).GetAttribute("newton:kp").Set(20.0)
    roots = [f"{ENVS}/env_{number}/Robot" for number in range(2)]
    specs = discover(stage, roots[0], [f"{roots[0]}/joints/{name}" for name in JOINTS], si=True)
    (one,) = own_values(stage, specs, roots[0], roots, si=True)
    assert specs[1].controller is not None
    assert one.value == pytest.approx(20e-4) and one.value == pytest.approx(2 * specs[1].controller.kp)


@pytest.mark.filterwarnings("ignore:.*no schema applied here has it")
def test_other_laws_are_refused() -> None:
    """Another law, other joints, an inactive motor, and values that cannot be used: each with its prim."""
    stage = copies(5)
    knee(stage, 1).RemoveAppliedSchema("NewtonMaxEffortClampingAPI")
    knee(stage, 2).GetRelationship("newton:targets").SetTargets([f"{ENVS}/env_2/Robot/joints/hip"])
    knee(stage, 3).SetActive(False)
    knee(stage, 4).GetAttribute("newton:kp").Set(-1.0)
    text = refused(ActuatorParseError, lambda: found_on(stage, 5))
    lines = text.splitlines()
    for number, words in ((1, "has Newton"), (2, "has another newton:targets"), (3, "is inactive"), (4, r"kp = -1")):
        (line,) = [line for line in lines if f"<{ENVS}/env_{number}/Robot/Actuators/knee>" in line]
        assert words in line
    assert "Remove the difference" in text


class TestEnvironments:
    """Copies of `Simulation(num_envs=…)`, which are not on the stage."""

    @pytest.fixture
    def stage(self) -> Usd.Stage:
        made = Usd.Stage.CreateInMemory()
        made.GetRootLayer().subLayerPaths.append(str(REPOSITORY / "data" / "robots" / "arm_2dof.usda"))
        return made

    @pytest.fixture
    def file(self, stage: Usd.Stage, tmp_path: Path) -> Path:
        over(stage, f"{ENVS}/env_3/Arm/Actuators/shoulder", kp=120.0, maxEffort=40.0)
        stage.GetRootLayer().Export(str(tmp_path / "arms.usda"))
        return tmp_path / "arms.usda"

    def test_simulation_drives_them_so(self, file: Path) -> None:
        with aa.Simulation(file, num_envs=5) as sim:
            motors = aa.ArticulationActuators("/World/Arm")
            sim.play()
            np.testing.assert_array_equal(motors.actuators[0].controller.kp.numpy(), [200, 200, 200, 120, 200])
            arms = sim.articulation("/World/Arm")
            motors.observe_efforts()
            arms.set_dof_position_targets(arms.get_dof_positions().numpy() + [[0.1, 0.0]])
            sim.step()
            np.testing.assert_allclose(motors.computed_efforts[:, 0], [20, 20, 20, 12, 20], atol=0.5)
            motors.close()
            alone = aa.ArticulationActuators(f"{ENVS}/env_3/Arm")
            assert alone.actuators[0].controller.kp.numpy().tolist() == [120.0]
            alone.close()

    def test_inspect_shows_them(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (arm,) = aa.inspect_robots(file)
        assert [(one.robot, one.law, one.parameter, one.value.value, one.others) for one in arm.own_values] == [
            (f"{ENVS}/env_3/Arm", "PD", "kp", 120.0, 200.0),
            (f"{ENVS}/env_3/Arm", "max effort", "max_effort", 40.0, 60.0),
        ]
        assert [one.value.unit for one in arm.own_values] == ["N·m/rad", "N·m"]
        assert [one.value.source for one in arm.own_values] == ["arms.usda"] * 2
        assert main(["inspect", str(file)]) == 0 and "robots with values of their own" in capsys.readouterr().out

    def test_a_wrong_path_is_a_problem(self, stage: Usd.Stage, tmp_path: Path) -> None:
        prim = over(stage, f"{ENVS}/env_1/Arm/Actuators/shouldr", kp=1.0)
        prim.CreateRelationship("newton:targets").SetTargets(["/World/Arm/joints/shoulder"])
        stage.GetRootLayer().Export(str(tmp_path / "arms.usda"))
        with aa.Simulation(tmp_path / "arms.usda", num_envs=2):
            with pytest.raises(
                ActuatorParseError, match="shouldr> has values of an actuator, and the prototype has no"
            ):
                aa.ArticulationActuators("/World/Arm")
        (arm,) = aa.inspect_robots(tmp_path / "arms.usda")
        assert len(arm.problems) == 1 and "shouldr" in arm.problems[0]

    def test_values_that_cannot_be_used(self, stage: Usd.Stage, tmp_path: Path) -> None:
        over(stage, f"{ENVS}/env_1/Arm/Actuators/shoulder", kp=-1.0)
        stage.GetRootLayer().Export(str(tmp_path / "arms.usda"))
        with aa.Simulation(tmp_path / "arms.usda", num_envs=2):
            with pytest.raises(ActuatorParseError, match=f"<{ENVS}/env_1/Arm/Actuators/shoulder>.newton:kp = -1"):
                aa.ArticulationActuators("/World/Arm")


def over(stage: Usd.Stage, path: str, **values: float) -> Usd.Prim:
    prim = stage.OverridePrim(path)
    for name, value in values.items():
        prim.CreateAttribute(f"newton:{name}", Sdf.ValueTypeNames.Float).Set(value)
    return prim


def test_copies_are_told_by_numbers_in_their_paths() -> None:
    roots = ["/A/env_0/Left", "/A/env_0/Right", "/A/env_1/Left", "/A/env_1/Right"]
    stage = Usd.Stage.CreateInMemory()
    assert [robots_like(stage, one, roots) for one in roots] == [["/A/env_1/Left"], ["/A/env_1/Right"], [], []]


ROBOT, TWIN_JOINTS = "/World/env_{}/Robot", ("hip", "knee", "wrist")
HIP, KNEE, WRIST = (f"/World/env_0/Robot/Actuators/{name}" for name in TWIN_JOINTS)


@pytest.fixture
def stage() -> Usd.Stage:
    made, path = Usd.Stage.CreateInMemory(), ROBOT.format(0)
    UsdPhysics.ArticulationRootAPI.Apply(made.DefinePrim(path, "Xform"))
    made.DefinePrim(f"{path}/defaults").CreateAttribute("newton:kp", Sdf.ValueTypeNames.Float).Set(10.0)
    for name in TWIN_JOINTS:
        UsdPhysics.RevoluteJoint.Define(made, f"{path}/joints/{name}")
    for name in TWIN_JOINTS:
        add_actuator(path, name, name, PDControlConfig(10.0, 0.0), stage=made)
    return made


def copied(stage: Usd.Stage, change: Callable[[str], object] = lambda _: None) -> list[str]:
    """Copy the robot, change the copy at its path, and return the names of the motors that are unlike."""
    layer = stage.GetRootLayer()
    Sdf.CopySpec(layer, "/World/env_0", layer, "/World/env_1")
    change(ROBOT.format(1))
    twins = Twins(Original(stage, ROBOT.format(0)), ROBOT.format(1))
    return [path.rpartition("/")[2] for path in (HIP, KNEE, WRIST) if twins.differ(path)]


def test_copies_are_alike(stage: Usd.Stage) -> None:
    assert copied(stage) == []


@cases("name", *TWIN_JOINTS)
def test_only_the_actuator_that_differs_is_unlike(stage: Usd.Stage, name: str) -> None:
    assert copied(stage, lambda robot: set_kp(stage, f"{robot}/Actuators/{name}", 5.0)) == [name]


def test_opinions_of_another_layer(stage: Usd.Stage) -> None:
    def change(robot: str) -> None:
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            set_kp(stage, f"{robot}/Actuators/hip", 5.0)

    assert copied(stage, change) == ["hip"]


def test_joints_of_another_robot(stage: Usd.Stage) -> None:
    def change(robot: str) -> None:
        motor = stage.GetPrimAtPath(f"{robot}/Actuators/knee")
        motor.GetRelationship("newton:targets").SetTargets([f"{ROBOT.format(0)}/joints/knee"])

    assert copied(stage, change) == ["knee"]


def test_the_same_text_may_refer_to_other_values(stage: Usd.Stage) -> None:
    motor = stage.GetPrimAtPath(KNEE)
    motor.RemoveProperty("newton:kp")
    motor.GetReferences().AddInternalReference(f"{ROBOT.format(0)}/defaults")
    assert copied(stage) == []

    def change(robot: str) -> None:
        references = stage.GetPrimAtPath(f"{robot}/Actuators/knee").GetReferences()
        references.SetReferences([Sdf.Reference(primPath=f"{robot}/defaults")])
        set_kp(stage, f"{robot}/defaults", 5.0)

    assert copied(stage, change) == ["knee"]


def test_the_same_text_may_forward_to_other_joints(stage: Usd.Stage) -> None:
    stage.GetPrimAtPath(ROBOT.format(0)).CreateRelationship("driven").SetTargets([f"{ROBOT.format(0)}/joints/knee"])
    stage.GetPrimAtPath(KNEE).GetRelationship("newton:targets").SetTargets([f"{ROBOT.format(0)}.driven"])

    def change(robot: str) -> None:
        stage.GetPrimAtPath(robot).GetRelationship("driven").SetTargets([f"{robot}/joints/hip"])

    assert copied(stage) == [] and copied(stage, change) == ["knee"]


def test_text_of_several_lines_may_look_like_a_prim(stage: Usd.Stage) -> None:
    stage.GetPrimAtPath(KNEE).SetMetadata("documentation", 'first\n    def NewtonActuator "knee" (\n    )\n')
    assert copied(stage, lambda robot: set_kp(stage, f"{robot}/Actuators/knee", 5.0)) == ["knee"]


def set_kp(stage: Usd.Stage, path: str, kp: float) -> None:
    stage.OverridePrim(path).CreateAttribute("newton:kp", Sdf.ValueTypeNames.Float).Set(kp)
