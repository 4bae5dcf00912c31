"""Contacts that a file filters are filtered on its stage."""

from pathlib import Path

import pytest
from converted import saved
from isaacsim.core.experimental.actuators import Simulation

# a chain that overlaps itself: all shapes that may touch do
CHAIN = """
<mujoco model="chain">
  <option gravity="0 0 0"/>
  <worldbody>
    <geom name="floor" type="box" size="1 1 1" pos="0 0 -0.95" {floor}/>
    <body name="a"><joint name="ja" axis="1 0 0"/><geom name="ga" size="0.1" {a}/>
      <body name="b"><joint name="jb"/><geom name="gb" size="0.1" {b}/>
        <body name="c"><joint name="jc" axis="0 1 0"/><geom name="gc" size="0.1"/><geom name="gd" size="0.1" {d}/>
          <body name="e"><geom name="ge" size="0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  {contact}
</mujoco>
"""
CASES = {
    "all": {},
    "excluded": {"contact": '<contact><exclude body1="a" body2="c"/></contact>'},
    "not the floor": {"floor": 'contype="2" conaffinity="2"'},
    "one shape of two": {"d": 'contype="2" conaffinity="2"'},
    "nothing of the robot": dict.fromkeys("abd", 'contype="2" conaffinity="1"'),
    "off": {"contact": ""},
}


def touching(file: Path) -> set[frozenset[str]]:
    """Names of shapes that touch when play begins."""
    with Simulation(file) as simulation:
        simulation.play()
        model, contacts = simulation.model, simulation.data().contact
    names = [[model.geom(geom).name.rsplit("/", 1)[-1].partition("#")[0] for geom in pair] for pair in contacts.geom]
    return {frozenset(pair) for pair in names}


@pytest.mark.parametrize("case", CASES)
def test_the_same_shapes_touch(tmp_path, case) -> None:
    """The contacts are those of the file in MuJoCo, without those of parents and children."""
    text = CHAIN.format_map(dict.fromkeys(["floor", "a", "b", "d", "contact"], "") | CASES[case])
    if case == "off":
        text = text.replace('gravity="0 0 0"/>', 'gravity="0 0 0"><flag contact="disable"/></option>')
    saved(text, tmp_path)
    before = touching(tmp_path / "robot.xml")
    assert bool(before) == (case != "off")
    assert touching(tmp_path / "robot.usda") == before


def test_a_robot_that_never_touches_itself_says_so(tmp_path) -> None:
    """By one attribute, not by pairs."""
    pairs = "".join(f'<exclude body1="{one[0]}" body2="{one[1]}"/>' for one in ("ac", "ae", "be"))
    text = CHAIN.format_map(dict.fromkeys(["floor", "a", "b", "d"], "") | {"contact": f"<contact>{pairs}</contact>"})
    stage = saved(text, tmp_path)
    assert stage.GetPrimAtPath("/World/chain").GetAttribute("newton:selfCollisionEnabled").Get() is False
    assert "filteredPairs" not in (tmp_path / "robot.usda").read_text()
