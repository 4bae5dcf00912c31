"""Actuators on fixed tendons as motors of linkages."""

import warnings

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, LinkageConfig, MotorConfig

mujoco = pytest.importorskip("mujoco")

from isaacsim.core.experimental.actuators import motors_of_model  # noqa: E402
from isaacsim.core.experimental.actuators.simulators.mujoco.model_actuators import own_actuators  # noqa: E402

WRIST = """
<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="pitch" axis="0 1 0"/><geom size=".05"/>
<body pos=".1 0 0"><joint name="roll" axis="1 0 0"/><geom size=".04"/>
<body pos=".1 0 0"><joint name="finger" axis="0 0 1"/><geom size=".03"/></body></body></body></worldbody>
<tendon>{tendons}</tendon><actuator>{actuators}</actuator></mujoco>
"""
LEFT = '<fixed name="left"><joint joint="pitch" coef="1"/><joint joint="roll" coef="0.5"/></fixed>'
RIGHT = '<fixed name="right"><joint joint="pitch" coef="1"/><joint joint="roll" coef="-0.5"/></fixed>'
BOTH = (
    '<position name="a" tendon="left" kp="4" kv="0.2" gear="3" forcerange="-6 6"/>'
    '<position name="b" tendon="right" kp="4" kv="0.2" gear="3" forcerange="-6 6"/>'
)


def model_of(tendons: str, actuators: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(WRIST.format(tendons=tendons, actuators=actuators))


def test_efforts_are_those_of_the_tendons(rng) -> None:
    """Stiffness, damping, gear and limit of both, at random states and targets of the joints."""
    model = model_of(LEFT + RIGHT, BOTH)
    motors = motors_of_model(model)
    assert set(motors) == {"pitch", "roll"}
    arrays, data = ActuatedArrays(["pitch", "roll"], motors), mujoco.MjData(model)
    slopes = np.array([[1, 0.5], [1, -0.5]])
    limited = 0
    for _ in range(200):
        q, qd, target = rng.normal(size=(3, 2)).astype(np.float32) * [[0.6], [0.6], [0.6]]
        data.qpos[:2], data.qvel[:2], data.ctrl[:] = q, qd, 3 * slopes @ target
        mujoco.mj_forward(model, data)
        found = arrays.step(*(one[None].astype(np.float32) for one in (q, qd, target)), 0.002)
        np.testing.assert_allclose(np.asarray(found)[0], data.qfrc_actuator[:2], rtol=1e-5, atol=1e-4)
        limited += np.abs(data.actuator_force).max() >= 6
    assert 20 < limited < 180


def test_motors_switch_off_what_they_replace() -> None:
    model = model_of(LEFT + RIGHT, BOTH)
    pitch, roll = (model.joint(name).id for name in ("pitch", "roll"))
    assert sorted(own_actuators(model)[pitch] + own_actuators(model)[roll]) == [0, 1]
    shafts: list[LinkageConfig] = [
        stage for motor in motors_of_model(model).values() for stage in motor.others if isinstance(stage, LinkageConfig)
    ]
    assert [one.joints for one in shafts] == [["pitch", "roll"]] * 2


def test_motor_is_at_a_joint_that_its_tendon_moves() -> None:
    """Also where the order of the tendons is another one."""
    tendons = (
        '<fixed name="one"><joint joint="roll" coef="2"/></fixed>'
        '<fixed name="two"><joint joint="pitch" coef="1"/><joint joint="roll" coef="1"/></fixed>'
    )
    model = model_of(tendons, '<motor name="a" tendon="one"/><motor name="b" tendon="two"/>')
    motors = motors_of_model(model)
    found = {name: next(s for s in motor.others if isinstance(s, LinkageConfig)) for name, motor in motors.items()}
    assert found["roll"].coefficients == [0, 2] and found["pitch"].coefficients == [1, 1]


@pytest.mark.parametrize(
    ("tendons", "actuators", "why"),
    [
        (LEFT, '<position name="a" tendon="left" kp="4"/>', "a tendon of 2 joints with 1 such actuators"),
        (LEFT + LEFT.replace("left", "same"), BOTH.replace("right", "same"), "tendons that depend on each other"),
        (
            LEFT + RIGHT,
            BOTH + '<position name="c" joint="roll" kp="1"/>',
            "acts on a tendon of joints that have actuators of their own",
        ),
        (LEFT + RIGHT, BOTH.replace("-6 6", "-6 5"), "symmetric"),
    ],
)
def test_what_is_no_linkage_is_named(tendons, actuators, why) -> None:
    model = model_of(tendons, actuators)
    with pytest.warns(UserWarning, match="actuators of the model that no motor stands for") as told:
        motors: dict[str, MotorConfig] = motors_of_model(model)
    assert why in "".join(str(one.message) for one in told)
    assert not any(isinstance(stage, LinkageConfig) for motor in motors.values() for stage in motor.others)


def test_model_without_tendons_tells_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(motors_of_model(model_of("", '<motor name="a" joint="roll"/>'))) == {"roll"}
