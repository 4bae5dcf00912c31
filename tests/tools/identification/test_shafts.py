"""Motors of several joints: found at their shafts, as hidden ones that made a log."""

import dataclasses

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.commanded import CommandedRobot
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Links
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.shafts import Shafts
from refusals import cases

# hangs, so that what the tendon does not see of its motion stays small
FINGER = """
<mujoco><worldbody><body name="finger">
<joint name="near" axis="0 1 0"/><inertial pos="0 0 -0.2" mass="0.8" diaginertia="0.01 0.01 0.01"/>
<body pos="0 0 -0.4"><joint name="far" axis="0 1 0" armature="0.004"/>
<inertial pos="0 0 -0.15" mass="0.5" diaginertia="0.006 0.006 0.006"/>
<body pos="0 0 -0.3"><joint name="tip" axis="0 1 0"/>
<inertial pos="0 0 -0.1" mass="0.2" diaginertia="0.002 0.002 0.002"/></body></body></body></worldbody></mujoco>
"""
JOINTS, DT = ["near", "far", "tip"], 0.004
TENDON = aa.LinkageConfig.tendon({"near": 1.0, "far": 0.6}, offset=0.1)
PD = aa.PDControlConfig(20.0, 0.6)
KNOWN = {"near": aa.MotorConfig(PD, [aa.MaxEffortClampingConfig(50.0)], others=[TENDON]), "tip": aa.MotorConfig(PD)}


@pytest.fixture
def robot(tmp_path) -> str:
    path = tmp_path / "finger.xml"
    path.write_text(FINGER)
    return str(path)


def log_of(robot: str, motors: dict[str, aa.MotorConfig], seconds: float = 6.0) -> MotorLog:
    time = np.arange(round(seconds / DT)) * DT
    phase = 2 * np.pi * (0.2 * time + 0.5 * 2.0 / seconds * time**2)
    command = np.stack([0.25 * np.sin(phase), 0.2 * np.sin(1.3 * phase), 0.3 * np.sin(0.8 * phase)], 1)
    with CommandedRobot(robot, motors, JOINTS, DT) as commanded:
        position = commanded.run(command)
    return MotorLog(time, JOINTS, {"command": command, "position": position})


def test_a_shaft_has_the_motion_of_its_joints(robot) -> None:
    log = log_of(robot, KNOWN)
    shafts = Shafts(KNOWN, JOINTS)
    assert shafts.names == ("near", "tip")
    seen = shafts.of_log(log)
    np.testing.assert_allclose(seen.position[:, 0], log.position @ [1.0, 0.6, 0.0] + 0.1, rtol=1e-12)
    case = Links(robot, JOINTS, shafts).decouple(seen, np.zeros(2))
    acceleration = np.gradient(case.velocity[:, 0], DT)
    wanted = 20.0 * (seen.command[:, 0] - seen.position[:, 0]) - 0.6 * case.velocity[:, 0]
    found = case.inertia[:, 0] * acceleration + case.load[:, 0]
    middle = slice(100, -100)
    assert np.std((found - wanted)[middle]) < 0.02 * np.std(wanted[middle])


def test_the_motor_of_a_shaft_is_found(robot) -> None:
    others = [aa.ShaftFrictionConfig(0.15, 0.1), aa.ShaftInertiaConfig(0.02), TENDON]
    hidden = dataclasses.replace(KNOWN["near"], delay=aa.TimedDelayConfig(seconds=0.008), others=others)
    found = identify(robot, [log_of(robot, {"near": hidden, "tip": KNOWN["tip"]})], KNOWN, FitOptions(gains=False))
    motor = found.motors["near"]
    friction, rotor, tendon = (
        next(one for one in motor.others if isinstance(one, kind))
        for kind in (aa.ShaftFrictionConfig, aa.ShaftInertiaConfig, aa.LinkageConfig)
    )
    values = friction.coulomb, friction.viscous, rotor.inertia, motor.delay.seconds
    np.testing.assert_allclose(values, [0.15, 0.1, 0.02, 0.008], rtol=0.1)
    assert tendon == TENDON and found.error < 0.01


@cases("tendon, joints", (TENDON, ["near", "tip"]), (dataclasses.replace(TENDON, unilateral=True), JOINTS))
def test_linkages_that_logs_do_not_tell_are_refused(tendon, joints) -> None:
    with pytest.raises(ValueError, match="near: the linkage of its motor, of joints near, far: must have constant"):
        Shafts({"near": aa.MotorConfig(PD, others=[tendon])}, joints)
