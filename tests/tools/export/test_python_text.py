"""Text of cfgs: names and losses of strangers are no code."""

import ast

from isaacsim.core.experimental.actuators.tools.export.lab import lab_text
from isaacsim.core.experimental.actuators.tools.export.robot import ExportedJoint, ExportedRobot


def test_names_are_literals() -> None:
    joint = ExportedJoint('a"]\nimport os\n.*', False, None, {"kp": 1.0, "kd": 0.5}, ())
    text = lab_text(ExportedRobot("r\nimport os", "/r", (joint,)), ["loss\nimport os"])
    assert [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Import)] == [] and r"\\.\\*" in text
