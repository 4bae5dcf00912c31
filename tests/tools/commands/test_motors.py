"""`actuators motors`: the whole catalogue, and single motors with their sources."""

import json

from isaacsim.core.experimental.actuators.specs.motor_catalogue import MOTORS
from isaacsim.core.experimental.actuators.tools.commands import main, motors
from isaacsim.core.experimental.actuators.tools.commands.arguments import Motors


def test_all_motors_are_listed() -> None:
    answer = motors.answer(Motors())
    (table,) = answer.tables
    assert [row["motor"] for row in table.rows] == list(MOTORS) and not answer.is_wrong
    row = next(row for row in table.rows if row["motor"] == "unitree_n5020_16")
    assert (row["max_torque"], row["braking_torque"], row["friction"], row["resistance"]) == (24.8, 31.9, 0.6, None)
    assert set(table.columns) <= set(row)


def test_single_motors_have_their_sources(capsys) -> None:
    shown, sources = motors.answer(Motors(names=("mini_cheetah", "feetech_sts3215"))).tables
    assert len(shown.rows) == 2
    assert len(sources.rows) == sum(len(MOTORS[name].sources) for name in ("mini_cheetah", "feetech_sts3215"))
    assert all(row["value"] is not None and row["source"] for row in sources.rows)
    assert {row["figure"] for row in sources.rows if not row["unit"]} == {"gear_ratio"}
    assert main.main(["motors", "mini_cheetah", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["motors"][0]["armature"] == 0.0023 and "ICRA 2019" in said["sources"][0]["source"]


def test_unknown_motor_is_an_error(capsys) -> None:
    assert main.main(["motors", "minicheetah"]) == 1 and "Did you mean mini_cheetah" in capsys.readouterr().err
