"""A stage in C: its numbers, its place, and the lines of its kind."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
from isaacsim.core.experimental.actuators.tools.export.c_stage import Placed, stage_of


def test_numbers_have_names_and_units() -> None:
    stage, numbers = stage_of(aa.TransmissionConfig(9.0, offset=0.25, targets="motor"))
    assert stage.name == "transmission_gear" and stage.starts == [] and not numbers.tables
    assert numbers.parameters == {"ratio": (9.0, ""), "offset": (0.25, "rad or m"), "targets": (1.0, "")}


def test_tables_are_rows() -> None:
    _, numbers = stage_of(aa.EnvelopeClampingConfig([0.0, 2.0], [5.0, 1.0]))
    assert [*numbers.tables] == ["forward", "backward"]
    assert numbers.tables["forward"].tolist() == [[0.0, 5.0, -2.0], [2.0, 1.0, 0.0]]


def test_the_past_of_what_acts_late() -> None:
    late, _ = stage_of(aa.EncoderConfig(latency_steps=3.5, side="motor"))
    assert late.at_motor and late.depth == 4 + 2 and late.past == 2 * 6
    assert np.isnan(late.starts).tolist() == [True, True, False, True]
    now, _ = stage_of(aa.EncoderConfig(noise=0.1))
    assert not now.at_motor and now.past == now.depth == 0 and len(now.starts) == 3


def test_lines_of_a_stage() -> None:
    stage, _ = stage_of(aa.MaxEffortClampingConfig(3.0))
    placed = Placed(stage, 4, (7, 1, 2, 3), "motor")
    assert placed.end == (8, 1, 2, 3) and placed.ready_lines() == []
    assert placed.lines() == [
        "    { /* clamping_max_effort */",
        "        effort = @max_effort_clamp(effort, motor.position, motor.velocity, p[7]);",
        "        if (!@finite(effort)) return 0.0f;",
        "    }",
    ]
