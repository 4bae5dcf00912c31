"""Kinds of broken files that `tests/hardening/files.py` found: each is one error that names the file or the prim."""

import os

import pytest
from isaacsim.core.experimental.actuators import Simulation, inspect_robots, lint
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphError, GraphRunner
from places import ROBOTS
from refusals import cases, refused

HINGE, BOB = "/World/Pendulum/joints/hinge", "/World/Pendulum/bob"


def broken(tmp_path, path, line):
    names = path.strip("/").split("/")
    collides = '(prepend apiSchemas = ["PhysicsCollisionAPI"])' if names[-1].startswith("shape") else ""
    above = "".join(f'over "{name}"\n{{\n' for name in names[:-1])
    text = above + f'over "{names[-1]}" {collides}\n{{\n{line}\n' + "}\n" * len(names)
    file = tmp_path / "broken.usda"
    file.write_text(f"#usda 1.0\n(\n subLayers = [@{(ROBOTS / 'pendulum.usda').as_posix()}@]\n)\n{text}")
    return file


@cases("text", b'def "A\xff" {}', b'def "A" { float x = \xfe }')
def test_file_that_is_not_utf_8_is_named(tmp_path, text):
    file = tmp_path / "broken.usda"
    file.write_bytes(b"#usda 1.0\n" + text)
    with pytest.raises(ValueError, match=r"broken\.usda: USD cannot read this file") as caught:
        inspect_robots(file)
    assert type(caught.value) is ValueError and [finding.rule for finding in lint(file)] == ["unreadable-file"]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device")
def test_device_is_no_file():
    refused(ValueError, lambda: Simulation("/dev/zero"), "/dev/zero: must be a file")


@cases(
    "path, line, named",
    (BOB, 'string physics:mass = "abc"', "physics:mass = abc"),
    (BOB, "float[] physics:density = [1, 2]", "physics:density = "),
    (BOB, "unknown physics:mass = 3", "physics:mass = "),
    (BOB, "matrix4d physics:diagonalInertia = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))", "physics:diagonalInertia"),
    (BOB, "float physics:centerOfMass = 1", "physics:centerOfMass = 1"),
    (BOB, 'string physics:principalAxes = "x"', "physics:principalAxes = x"),
    (BOB, 'string mjc:body:gravcomp = "x"', "mjc:body:gravcomp = x"),
    (f"{BOB}/shape_0", 'string radius = "x"', "radius = x"),
    (f"{BOB}/shape_0", 'token axis = "W"', "axis = W"),
    (HINGE, 'string drive:angular:physics:stiffness = "x"', "stiffness = x"),
    (HINGE, "unknown state:angular:physics:position = 3", "state:angular:physics:position = .*3"),
    (HINGE, "double[] mjc:springdamper = [1, 2, 3]", "mjc:springdamper = "),
    (HINGE, "float state:angular:physics:position = inf", "state:angular:physics:position = inf"),
    (HINGE, "float state:angular:physics:velocity = nan", "state:angular:physics:velocity = nan"),
    (HINGE, 'string mjc:armature = "x"', "mjc:armature = x"),
)
def test_value_of_another_type_names_its_prim(tmp_path, path, line, named):
    with pytest.raises(ValueError, match=f"<{path}>.*{named.replace('[', '.')}.*must be") as caught:
        Simulation(broken(tmp_path, path, line))
    assert "Correct it" in str(caught.value)


def test_attribute_in_place_of_a_relationship_leads_nowhere(tmp_path):
    file = broken(tmp_path, HINGE, 'custom string physics:body1 = "x"')
    inspect_robots(file)
    refused(ValueError, lambda: Simulation(file), r"/World/Pendulum|broken\.usda")


def test_graph_value_of_an_unknown_type_names_its_port(tmp_path):
    text = (
        (ROBOTS.parent / "graphs/pd_from_usd.usda").read_text("utf-8").replace("@../", f"@{ROBOTS.parent.as_posix()}/")
    )
    assert "string inputs:value = " in text
    file = tmp_path / "broken.usda"
    file.write_text(text.replace("string inputs:value = ", "strign inputs:value = "), "utf-8")
    with Simulation(file) as sim, pytest.raises(GraphError, match=r"inputs:value.*must be"):
        GraphRunner(sim)


def test_graph_that_is_missing_names_the_file():
    with Simulation(ROBOTS / "pendulum.usda") as sim, pytest.raises(GraphError, match=r"pendulum\.usda"):
        GraphRunner(sim)
