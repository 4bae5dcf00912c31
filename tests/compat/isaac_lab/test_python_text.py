"""Python read as data: what it says, what it refuses, and that nothing of it runs."""

import math
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.compat.isaac_lab import python_text
from refusals import cases, refused

HEAD = """
from __future__ import annotations
import math, os, os.path
import numpy as np
from math import pi
from other import Cfg, GIVEN
from typing import TYPE_CHECKING
from isaaclab.utils import clone, replace
"""


def read(tmp_path: Path, text: str) -> dict:
    file = tmp_path / "robot.py"
    file.write_text(HEAD + text, "utf-8")
    return python_text.read_python(file)


@cases(
    "text, value",
    ("-2 ** 2 + 7 // 2 % 2", -(2**2) + 7 // 2 % 2),
    ("0.5e-3 * (1 + 2) / -4", 0.5e-3 * 3 / -4),
    ("10 * 2.0 * pi", 20 * math.pi),
    ("[np.pi, math.inf, float('inf'), None, True]", [math.pi, math.inf, math.inf, None, True]),
    ("math.radians(30) + np.deg2rad(60.0)", math.radians(30) + math.radians(60)),
    ("['a', 'b'] + ['c']", ["a", "b", "c"]),
    ("(1, 2.5)", (1, 2.5)),
    ("{'x': 1, **{'y': 2}}", {"x": 1, "y": 2}),
    ("dict(x=1, y=min(2, 3))", {"x": 1, "y": 2}),
    ("list(range(2, 5))", [2, 3, 4]),
    ("{'a': [1, {'b': 2}]}['a'][1]['b']", 2),
    ("f'leg_{3}' '_hip'", "leg_3_hip"),
    ("os.path.join('a', 'b')", "a/b"),
)
def test_values_are_those_of_python(tmp_path, text, value) -> None:
    assert read(tmp_path, f"X = {text}")["X"] == value


def test_statements_act_in_their_order(tmp_path) -> None:
    found = read(
        tmp_path,
        """
KP = KD = 2
KP *= 10
(LOW, HIGH), UP = (1, 2), 3
NAMES = ["a", "b"]
NAMES[-1] = "c"
LEG = Cfg(kp={"x": KP}, kd=KD, names=NAMES)
NAMES[0] = "z"
OTHER = LEG.copy()
OTHER.kp["x"] += 1
THIRD: Cfg = OTHER.replace(kd=7, new=LEG)
THIRD.new.kd = None
for key, more in (("x", 2), ("y", 3)):
    THIRD.kp[key] = more
    for _ in range(2):
        KD += more
FOURTH = replace(THIRD, kd=8)
FIFTH = clone(FOURTH)
FIFTH.kp["x"] += 1
KP = 5
if TYPE_CHECKING:
    KP = 6
if __name__ == "__main__":
    main(LEG)
else:
    MORE = 1
""",
    )
    leg, other, third = (found[name] for name in ("LEG", "OTHER", "THIRD"))
    assert (leg.name, leg.kind) == ("other.Cfg", "Cfg")
    assert leg.fields == {"kp": {"x": 20}, "kd": 2, "names": ["a", "c"]} and other.fields["kp"] == {"x": 21}
    assert (third.fields["kp"], third.fields["kd"], third.fields["new"].fields["kd"]) == ({"x": 2, "y": 3}, 7, None)
    assert found["KD"] == 12
    assert (found["FOURTH"].fields["kp"], found["FOURTH"].fields["kd"]) == ({"x": 2, "y": 3}, 8)
    assert (found["FIFTH"].fields["kp"], found["FIFTH"].fields["kd"]) == ({"x": 3, "y": 3}, 8)
    assert [found[name] for name in ("KP", "LOW", "HIGH", "UP", "MORE")] == [5, 1, 2, 3, 1]
    assert found["GIVEN"] == python_text.Imported("other.GIVEN")


@cases(
    "text, why",
    ("[x for x in (1, 2)]", "cannot be read"),
    ("1 if KP else 2", "cannot be read"),
    ("2 ** 1000", "has too large an exponent"),
    ("10 ** 99 * 10 ** 99 * 10 ** 99 * 10 ** 99", "is too large"),
    ("range(10 ** 9)", "cannot be computed"),
    ("1 / 0", "cannot be computed"),
    ("(-1) ** 0.5", "is no real number"),
    ("f'{GIVEN}/net.pt'", "has other.GIVEN in it, of another file"),
    ("2 * GIVEN", "has other.GIVEN in it, of another file"),
    ("made(3)", "is a call, which is not run"),
    ("Cfg(3)", "is a call of other.Cfg, which is not run"),
    ("{'a': 1}['b']", "is no entry that can be read"),
    ("open('/etc/passwd').read()", "is a call"),
    ("__import__('os').getcwd()", "is a call"),
)
def test_what_cannot_be_read_matters_where_it_is_used(tmp_path, text, why) -> None:
    found = read(tmp_path, f"def made(x):\n    return x\nX = {text}\nY = 1")
    assert found["Y"] == 1
    unread = found["X"]
    assert isinstance(unread, python_text.Unread) and unread.why.startswith(why)
    assert unread.line == HEAD.count("\n") + 3
    assert f"robot.py:{unread.line}: `" in python_text.problem(tmp_path / "robot.py", unread)


@cases(
    "statement",
    *("for one in LEG.kp:\n    LEG.kp[one] = 3", "LEG.kp.update(x=3)", "LEG.kp |= {'x': 3}", "del LEG.kp['x']"),
    *("change()", "with other(LEG):\n    pass", "LEG.kp[GIVEN] = 3", "LEG.kp[[x for x in 'a'][0]].b = 3"),
    *("get(LEG).kp = 3", "if GIVEN:\n    LEG.kp = 3"),
)
def test_statements_that_may_change_a_cfg_are_refused(tmp_path, statement) -> None:
    with pytest.raises(ValueError, match=r"robot.py:\d+: `.* may change a cfg and cannot be read: must be constants"):
        read(tmp_path, f"def change():\n    pass\nLEG = Cfg(kp={{'x': 1}})\n{statement}\n")


def test_statements_that_change_nothing_are_left_out(tmp_path) -> None:
    found = read(
        tmp_path,
        """
'''text'''
print("hello")
for number in GIVEN:
    KP = number
try:
    import missing as gone
except ImportError:
    pass
GIVEN.a["b"].c = 3
GIVEN.register("x")
LEG = Cfg(spawn=made(1))
LEG.spawn.path = "x"
LEG.missing.path = "x"
""",
    )
    assert isinstance(found["KP"], python_text.Unread) and found["gone"] == python_text.Imported("missing")
    assert isinstance(found["LEG"], python_text.Record)


def test_nothing_runs(tmp_path) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "other.py").write_text(f"open({str(mark)!r}, 'w')")
    text = f"import other\nopen({str(mark)!r}, 'w')\nclass A:\n    open({str(mark)!r}, 'w')\nX = other.f(a=1)\n"
    assert read(tmp_path, text)["X"].name == "other.f" and not mark.exists()


@cases(
    "content, why",
    (b"X = (", "is not Python"),
    (b"X = '\xff'", "is not Python"),
    (b"X = 1\x00", "is not Python"),
    (b"X = " + b"(" * 10_000 + b")" * 10_000, "is n"),
    (b"X = " + b"-" * 5_000 + b"1", "is nested too deeply"),
    (b"#" * 10_000_001, "10000001 bytes"),
)
def test_files_that_are_none(tmp_path, content, why) -> None:
    file = tmp_path / "robot.py"
    file.write_bytes(content)
    refused(ValueError, lambda: python_text.read_python(file), f"robot.py: .*{why}")
