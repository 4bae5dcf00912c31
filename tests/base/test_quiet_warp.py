"""Warp starts without a word, unless the program starts it itself."""

import sys

import pytest
from places import REPOSITORY
from processes import ran

OURS = """
import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig
zero = np.zeros((1, 1), np.float32)
print(ActuatedArrays(["hinge"], {"hinge": [PDControlConfig(20.0, 0.5)]}, 1).step(zero, zero, zero + 1.0, 0.01))
"""
SIMULATION = """
from isaacsim.core.experimental.actuators import Simulation
with Simulation("data/robots/pendulum.usda") as sim:
    sim.play()
    sim.step()
    print("stepped")
"""
OWN_MODEL = """
import mujoco
from isaacsim.core.experimental.actuators import ArticulationActuators, MujocoSimulation, motors_of_model
model = mujoco.MjModel.from_xml_path("data/robots/arm_2dof.xml")
with MujocoSimulation(model, mujoco.MjData(model)):
    ArticulationActuators.from_configs("arm", motors_of_model(model)).step_actuators(model.opt.timestep)
    print("stepped")
"""


@pytest.mark.parametrize(
    ("program", "result"),
    [(OURS, "[[20.]]\n"), (SIMULATION, "stepped\n"), (OWN_MODEL, "stepped\n")],
    ids=["loop", "file", "own model"],
)
def test_output_is_the_programs_alone(program, result) -> None:
    done = ran([sys.executable, "-c", program], check=True, cwd=REPOSITORY)
    assert (done.stdout, done.stderr) == (result, "")


def test_other_errors_of_the_start_are_kept() -> None:
    program = """
import os
import warp as wp
from isaacsim.core.experimental.actuators.base import quiet_warp
start = wp.init
wp.init = lambda: (os.write(2, b"something else" + os.linesep.encode()), start())
quiet_warp.start_warp()
quiet_warp.start_warp()
"""
    done = ran([sys.executable, "-c", program], check=True)
    assert (done.stdout, done.stderr) == ("", "something else\n")


def test_a_program_that_starts_warp_sees_its_messages() -> None:
    done = ran([sys.executable, "-c", f"import warp; warp.init(){OURS}"], check=True)
    assert "Warp" in done.stdout and done.stdout.endswith("[[20.]]\n")
