"""An ankle with two motors in the shank moves as the closed chain of cranks, rods and foot does in MuJoCo."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, LinkageConfig, PDControlConfig, TransmissionConfig

mujoco = pytest.importorskip("mujoco")
CRANK, ROD, ANCHOR, AXIS = 0.05, 0.3, (-0.05, 0.04, -0.02), (0.0, 0.04, 0.28)
DT, STIFFNESS, DAMPING = 2e-4, 60.0, 1.5
FOOT = """
<body name="cross"><joint name="pitch" axis="0 1 0"/><geom type="sphere" size=".01" mass=".05"/>
  <body name="foot"><joint name="roll" axis="1 0 0"/>
    <geom type="box" size=".1 .04 .01" pos=".03 0 -.05" mass="1"/></body></body>
"""
SIDE = """
<body pos="{0} {1} {2}"><joint name="crank_{3}" axis="0 1 0"/>
  <geom type="sphere" size=".005" mass="1e-4" pos="-.025 0 0"/>
  <body name="rod_{3}" pos="-{4} 0 0"><joint type="ball"/>
    <geom type="capsule" fromto="0 0 0 0 0 -{5}" size=".002" mass="1e-4"/></body></body>
"""
HELD = '<connect body1="rod_{0}" body2="foot" anchor="0 0 -{1}" solref="{2} 1" solimp=".9999 .9999 .001"/>'
SIDES = {"left": 1, "right": -1}


def model(*, closed: bool) -> mujoco.MjModel:
    """The foot alone, or with cranks and rods that are almost without mass."""
    links = "".join(SIDE.format(AXIS[0], sign * AXIS[1], AXIS[2], name, CRANK, ROD) for name, sign in SIDES.items())
    held = "".join(HELD.format(name, ROD, 2.5 * DT) for name in SIDES)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{DT}" iterations="200" tolerance="1e-14"/>'
        '<default><geom contype="0" conaffinity="0"/></default>'
        f"<worldbody>{FOOT}{links if closed else ''}</worldbody><equality>{held if closed else ''}</equality></mujoco>"
    )


def test_two_seconds_of_motion() -> None:
    shafts = LinkageConfig.parallel_ankle(
        "pitch", "roll", crank=CRANK, rod=ROD, anchor=ANCHOR, motor=AXIS, lower=(-0.5, -0.4), upper=(0.5, 0.4)
    )
    law = [PDControlConfig(STIFFNESS, DAMPING), TransmissionConfig(ratio=1.0, targets="motor")]
    arrays = ActuatedArrays(["pitch", "roll"], {"pitch": [*law, shafts[0]], "roll": [*law, shafts[1]]})
    chain, alone = model(closed=True), model(closed=False)
    data, free = mujoco.MjData(chain), mujoco.MjData(alone)
    cranks = [chain.joint(f"crank_{name}") for name in SIDES]
    places, speeds = [one.qposadr[0] for one in cranks], [one.dofadr[0] for one in cranks]
    joints = [chain.joint(name).qposadr[0] for name in ("pitch", "roll")]
    worst, reached = 0.0, np.zeros(2)
    for step in range(round(2 / DT)):
        t = step * DT
        wanted = np.array([0.25 * np.sin(8.2 * t) + 0.1 * np.sin(18.8 * t), 0.25 * np.sin(13.2 * t)])
        data.qfrc_applied[speeds] = STIFFNESS * (wanted - data.qpos[places]) - DAMPING * data.qvel[speeds]
        q, qd, target = (one[None].astype(np.float32) for one in (free.qpos, free.qvel, wanted))
        free.qfrc_applied[:] = np.asarray(arrays.step(q, qd, target, DT))[0]
        mujoco.mj_step(chain, data)
        mujoco.mj_step(alone, free)
        worst = max(worst, np.abs(data.qpos[joints] - free.qpos).max())
        reached = np.maximum(reached, np.abs(free.qpos))
    # measured: 3.7e-5
    assert worst < 1e-3 and (reached > 0.25).all() and arrays.faults == []
