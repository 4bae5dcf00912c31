"""The table of robots: one that is as its original behaves, and what is not is found, hangs included.

What was lost on the way to USD is told from what we read wrongly.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Scene
from places import REPOSITORY, ROBOTS

WHERE = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
# two boxes of 8 kg, as the density of water has it, and one that weighs nothing in MJCF
BOXES_XML = """
<mujoco>
  <compiler{compiler}/>
  <worldbody>
    <body name="base">
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="link" pos="0 0 0.5">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="box" size="0.1 0.1 0.1" pos="0.3 0 0"/>
        <geom type="box" size="0.1 0.1 0.1" pos="-0.3 0 0"{third}/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
BOXES_USD = """#usda 1.0
(
    defaultPrim = "boxes"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "boxes" {
    def Xform "base" (apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"]) {
        def Cube "box" (apiSchemas = ["PhysicsCollisionAPI"]) {
            double size = 0.2
        }
        def Xform "link" (apiSchemas = ["PhysicsRigidBodyAPI"]) {
            double3 xformOp:translate = (0, 0, 0.5)
            uniform token[] xformOpOrder = ["xformOp:translate"]
            def Cube "box" (apiSchemas = ["PhysicsCollisionAPI"]) {
                double size = 0.2
                double3 xformOp:translate = (0.3, 0, 0)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
            def Cube "third" (apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"]) {
                float physics:mass = 0
                double size = 0.2
                double3 xformOp:translate = (-0.3, 0, 0)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
            def PhysicsRevoluteJoint "hinge" {
                uniform token physics:axis = "Y"
                rel physics:body0 = </boxes/base>
                rel physics:body1 = </boxes/base/link>
                point3f physics:localPos0 = (0, 0, 0.5)
            }
        }
    }
    def PhysicsFixedJoint "foot" {
        rel physics:body1 = </boxes/base>
    }
}
"""


def table(place: Path, *options: str) -> tuple[dict[str, dict], str]:
    result = place / "result.json"
    command = [sys.executable, "-m", "tests.robots", place, "--only", ".usda", "--json", result, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=WHERE, check=True)
    return {row["name"]: row for row in json.loads(result.read_text())}, done.stdout


@pytest.mark.slow
def test_a_robot_behaves_as_its_original_and_another_does_not(tmp_path) -> None:
    usd, xml = ((ROBOTS / f"arm_2dof.{end}").read_text() for end in ("usda", "xml"))
    other = xml.replace('mass="2"', 'mass="3"').replace('range="0 0.4"', 'range="0 0.5" damping="1"')
    coupled = '<equality><joint joint1="extension" joint2="shoulder" polycoef="0.2 0 0 0 0"/></equality>'
    for name, original in (("same", xml), ("other", other.replace("</mujoco>", f"{coupled}</mujoco>"))):
        (tmp_path / f"{name}.usda").write_text(usd)
        (tmp_path / f"{name}.xml").write_text(original)
    rows, printed = table(tmp_path)
    assert rows["same.usda"]["wrong"] == [] and rows["same.usda"]["found"]["driven"] == 2
    found = [reason.split()[0] for reason in rows["other.usda"]["wrong"]]
    assert found == ["mass", "bias", "range", "friction", "coupling"]
    assert "opens 2 of 2 that MuJoCo opens, behaves 1 of 2" in printed
    # nothing on the way to USD loses a coupling
    assert rows["other.usda"]["lost"] == [] and "as the original 1, as the file says 0, to mend 1" in printed


@pytest.mark.slow
def test_what_usd_cannot_say_is_told_by_what_it_takes_from_the_original(tmp_path) -> None:
    pytest.importorskip("newton", reason="newton is the other reader")
    for name, compiler, third in (
        ("scaled", ' settotalmass="10"', ""),
        ("weightless", "", ' mass="0"'),
        ("plain", "", ""),
    ):
        (tmp_path / f"{name}.usda").write_text(BOXES_USD)
        (tmp_path / f"{name}.xml").write_text(BOXES_XML.format(compiler=compiler, third=third))
    rows, printed = table(tmp_path)
    lost = {name: row["lost"] for name, row in rows.items()}
    assert lost == {"scaled.usda": ["settotalmass"], "weightless.usda": ["colliders of mass 0"], "plain.usda": []}
    assert [name for name, row in rows.items() if row["behaves"]] == ["plain.usda"]
    assert "of 3: opens 3, as the original 1, as the file says 2, to mend 0: 100.0% behave" in printed


@pytest.mark.slow
def test_couplings_without_a_schema_are_told(tmp_path) -> None:
    pytest.importorskip("newton", reason="newton is the other reader")
    tendon = '<fixed name="sum"><joint joint="shoulder" coef="1"/><joint joint="extension" coef="-5"/></fixed>'
    kept = f'<tendon>{tendon}</tendon><equality><tendon tendon1="sum"/></equality></mujoco>'
    (tmp_path / "kept.usda").write_text((ROBOTS / "arm_2dof.usda").read_text())
    (tmp_path / "kept.xml").write_text((ROBOTS / "arm_2dof.xml").read_text().replace("</mujoco>", kept))
    rows, _ = table(tmp_path)
    assert [reason.split()[0] for reason in rows["kept.usda"]["wrong"]] == ["tendon"]
    assert rows["kept.usda"]["lost"] == ["tendon equalities"]


def _heavier(scene: Scene) -> None:
    scene.bodies[1].mass *= 1.01


def _wider(scene: Scene) -> None:
    scene.bodies[1].axes[0].upper = 1.0


def _slower(scene: Scene) -> None:
    scene.bodies[1].axes[0].damping += 0.1


@pytest.mark.parametrize(("change", "apart"), [(_heavier, "mass"), (_wider, "range"), (_slower, "friction")])
def test_what_is_read_wrongly_is_no_loss(tmp_path, monkeypatch, change, apart) -> None:
    """Newton reads the file as it is, so that what we read otherwise is seen."""
    pytest.importorskip("newton", reason="newton is the other reader")
    monkeypatch.syspath_prepend(REPOSITORY)
    from tests.robots.second import Second

    file = tmp_path / "boxes.usda"
    file.write_text(BOXES_USD)
    second, scene = Second(file), read_scene(open_stage(file))

    def found() -> dict[str, list[str]]:
        joints = {name: second.joints_apart(scene, [name]) for name in ("range", "friction")}
        return {name: paths for name, paths in (joints | {"mass": second.masses_apart(scene)}).items() if paths}

    assert found() == {}
    change(scene)
    assert found() == {apart: ["/boxes/base/link"]}


def test_a_process_that_does_not_end_is_a_line_of_the_table(tmp_path) -> None:
    (tmp_path / "arm.usda").write_text((ROBOTS / "pendulum.usda").read_text())
    rows, printed = table(tmp_path, "--seconds", "0.01")
    assert rows["arm.usda"]["wrong"] == ["start: no end after 0.01 s: "] and "opens 0 of 1" in printed
