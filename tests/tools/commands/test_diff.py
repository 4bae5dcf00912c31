"""`actuators diff`: exit code 1 for differences, as `diff`."""

import json

from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from pxr import Usd
from robot_files import ARM, OF_SHOULDER, edited, number

FILE = str(ROBOTS / "arm_2dof.usda")


def test_the_same_twice(capsys) -> None:
    assert main(["diff", FILE, FILE]) == 0 and capsys.readouterr().out == "Their joints and motors are the same.\n"


def test_a_difference_is_a_row(tmp_path, capsys) -> None:
    other = edited(tmp_path, number(OF_SHOULDER, "newton:kp", 210.0))
    assert main(["diff", FILE, str(other)]) == 1
    text = capsys.readouterr().out
    for words in ("arm_2dof.usda", "robot.usda", "shoulder", "PD.kp", "200", "210", "N·m/rad"):
        assert words in text
    assert main(["diff", FILE, str(other), "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["differences"]
    assert (row["robot"], row["joint"], row["first"], row["second"]) == (ARM, "shoulder", 200.0, 210.0)


def test_variants_of_one_robot(tmp_path, capsys) -> None:
    def author(stage: Usd.Stage) -> None:
        found = stage.GetPrimAtPath(ARM).GetVariantSets().AddVariantSet("motor")
        for name in ("weak", "strong"):
            found.AddVariant(name)
        found.SetVariantSelection("strong")
        with found.GetVariantEditContext():
            number(OF_SHOULDER, "newton:constEffort", 3.0)(stage)
        stage.GetPrimAtPath(OF_SHOULDER).RemoveProperty("newton:constEffort")

    file = str(edited(tmp_path, author))
    assert main(["diff", file, file]) == 0
    assert main(["diff", file, file, "--second-variant", "motor=weak", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out.partition("\n")[2])["differences"]
    assert (row["property"], row["first"], row["second"]) == ("PD.const_effort", 3.0, 0.0)


def test_a_broken_file_is_wrong_and_compared(tmp_path, capsys) -> None:
    broken = str(edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0)))
    assert main(["diff", broken, broken, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["differences"] == [] and "newton:kp = -1.0" in said["notes"][0]
