"""Features without a place in USD are named."""

import pytest
from isaacsim.core.experimental.actuators import Simulation

FILE = """
<mujoco>
  <option timestep="{dt}" integrator="{integrator}"/>
  <worldbody>
    <body name="leg"><joint name="hip" {hip}/><geom name="ball" size="0.1" {geom}/></body>
    <body name="box" pos="1 0 0"><joint name="loose" type="free" {loose}/><geom size="0.1"/></body>
  </worldbody>
  {more}
</mujoco>
"""
PLAIN = {"dt": repr(1 / 240), "integrator": "implicitfast", "hip": "", "geom": "", "loose": "", "more": ""}
LOST = {
    "timestep 0.002 s": {"dt": "0.002"},
    "integrator euler": {"integrator": "Euler"},
    "how hard limits of joints are: hip": {"hip": 'range="-1 1" solreflimit="0.1 1"'},
    "lower effort limits that are not the upper ones: hip": {"hip": 'actuatorfrcrange="-1 2"'},
    r"\(all but sliding friction\): ball": {"geom": 'condim="6"'},
    "springs of ball and free joints: loose": {"loose": 'damping="1"'},
    "tendons: cord": {"more": '<tendon><fixed name="cord"><joint joint="hip" coef="1"/></fixed></tendon>'},
    "keyframes: home": {"more": '<keyframe><key name="home"/></keyframe>'},
    "sensors: angle": {"more": '<sensor><jointpos name="angle" joint="hip"/></sensor>'},
    "constraints: still": {"more": '<equality><joint name="still" joint1="hip"/></equality>'},
    "ranges of the targets of drives: hip": {
        "more": '<actuator><position joint="hip" kp="5" ctrlrange="-1 1"/></actuator>'
    },
}


@pytest.mark.parametrize("what", LOST)
def test_what_is_lost_is_named(tmp_path, what) -> None:
    file = tmp_path / "leg.xml"
    file.write_text(FILE.format_map(PLAIN | LOST[what]))
    with Simulation(file) as simulation, pytest.warns(UserWarning, match=what) as said:
        simulation.save_usd(tmp_path / "leg.usda")
    assert len(said) == 1


def test_nothing_is_said_of_what_has_its_place(tmp_path) -> None:
    """A warning would fail here."""
    file = tmp_path / "leg.xml"
    file.write_text(FILE.format_map(PLAIN))
    with Simulation(file) as simulation:
        simulation.save_usd(tmp_path / "leg.usda")
