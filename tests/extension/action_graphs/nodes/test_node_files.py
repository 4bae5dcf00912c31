"""The node's files: `.ogn` against the schema and the documented ports, code against ports, wheel."""

import ast
import copy
import importlib.util
import json
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import isaacsim.core.experimental.actuators as package
import jsonschema
import pytest
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_file import read_ogn
from places import REPOSITORY
from refusals import cases, refused

NODES = Path(package.__path__[0]) / "extension" / "action_graphs" / "nodes"
FILE = NODES / "OgnArticulationActuators.ogn"
NAME = "isaacsim.core.experimental.actuators.ArticulationActuators"
MODULE = "isaacsim.core.experimental.actuators.extension.action_graphs.nodes.OgnArticulationActuators"
SCHEMA = json.loads((Path(__file__).parent / "ogn.schema.json").read_text("utf-8"))
# what graphs made for the documented extension rely on: type and default
DOCUMENTED = {
    "execIn": ("execution", None),
    "robotPath": ("string", ""),
    "autoStepPrePhysics": ("bool", True),
    "stepDt": ("double", 0.016667),
    "feedforwardCommand": ("float[]", []),
    "indices": ("int[]", []),
    "dofIndices": ("int[]", []),
}


@pytest.fixture
def ogn() -> dict:
    return json.loads(FILE.read_text("utf-8"))


def test_file_follows_the_schema(ogn) -> None:
    jsonschema.validate(ogn, SCHEMA)


@cases(
    "place, value",
    (["inputs", "stepDt", "type"], "real"),
    (["inputs", "stepDt", "unit"], "s"),
    (["inputs", "stepDt", "optional"], "yes"),
    (["inputs", "targetPrim", "metadata"], {"multiple": "1"}),
    (["inputs", "step dt"], {"type": "int", "description": "x"}),
    (["inputs", "x"], {"type": "int"}),
    (["outputs", "x"], {"description": "x"}),
    (["scheduling"], ["usd-sometimes"]),
    (["language"], "Lua"),
    (["memoryType"], "gpu"),
    (["exclude"], ["everything"]),
    (["category"], "newtonActuators"),
    (["version"], 0),
    (["tests"], [{"result": 1}]),
)
def test_schema_refuses(ogn, place, value) -> None:
    *above, last = place
    item = ogn[NAME]
    for key in above:
        item = item[key]
    item[last] = value
    refused(jsonschema.ValidationError, lambda: jsonschema.validate(ogn, SCHEMA))


def test_schema_is_a_schema() -> None:
    """A slip in it would let everything pass."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_comments_are_allowed_everywhere(ogn) -> None:
    commented = copy.deepcopy(ogn)
    commented["$a"] = commented[NAME]["$b"] = commented[NAME]["inputs"]["$c"] = 1
    commented[NAME]["inputs"]["stepDt"]["$d"] = 1
    jsonschema.validate(commented, SCHEMA)


@cases("name, expected", *DOCUMENTED.items())
def test_documented_input_is_as_documented(ogn, name, expected) -> None:
    declared = ogn[NAME]["inputs"][name]
    assert (declared["type"], declared.get("default")) == expected


def test_added_inputs_are_optional(ogn) -> None:
    added = {name: port for name, port in ogn[NAME]["inputs"].items() if name not in DOCUMENTED}
    assert set(added) == {"targetPrim", "dofNames", "resetIn"} and all(port["optional"] for port in added.values())


def test_node_says_what_it_is(ogn) -> None:
    keys = ogn[NAME]
    assert (keys["version"], keys["language"], keys["uiName"]) == (1, "Python", "Articulation Actuators")
    assert keys["scheduling"] == ["usd-read", "global-write"]


def test_category_is_defined(ogn) -> None:
    definitions = json.loads((NODES / ogn[NAME]["categoryDefinitions"]).read_text("utf-8"))["categoryDefinitions"]
    assert definitions == {ogn[NAME]["categories"]: "Newton Actuators"}


def test_icon_is_a_picture(ogn) -> None:
    root = ElementTree.parse(NODES / ogn[NAME]["icon"]).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(root) > 2


def test_code_uses_exactly_the_declared_ports() -> None:
    found = set()
    for item in ast.walk(ast.parse(FILE.with_suffix(".py").read_text("utf-8"))):
        if isinstance(item, ast.Attribute):
            owner = item.value
            group = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", None)
            if group in ("inputs", "outputs"):
                found.add(f"{group}:{item.attr}")
    assert found == set(read_ogn(FILE).ports)


def test_class_is_named_like_the_file() -> None:
    module = importlib.import_module(
        "isaacsim.core.experimental.actuators.extension.action_graphs.nodes.OgnArticulationActuators"
    )
    assert module.OgnArticulationActuators.__name__ == FILE.stem


def test_importing_the_node_loads_nothing_heavy() -> None:
    """Kit imports it at start-up; users of pip have no omni, or another package's, a namespace without a file."""
    code = f"import {MODULE}, sys; print(*(n for n, module in sys.modules.items() if getattr(module, '__file__', '')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded.isdisjoint({"warp", "pxr", "numpy", "mujoco", "newton", "torch", "omni", "carb"})


def test_wheel_has_what_the_node_consists_of() -> None:
    patterns = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    of_nodes = patterns[f"{package.__name__}.extension.action_graphs.nodes"]
    listed = {path for pattern in of_nodes for path in NODES.glob(pattern)}
    there = {path for path in NODES.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert listed == there and len(there) == 3
