import numpy as np
import pytest
from hidden_motors import PENDULUM, QUADRUPED, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, MotorConfig, PDControlConfig, Simulation
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.checks import check_log
from isaacsim.core.experimental.actuators.tools.identification.excitation import Excitation, excitation
from isaacsim.core.experimental.actuators.tools.identification.excitation_plan import ExcitationPlan
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of
from isaacsim.core.experimental.actuators.tools.identification.waves import WAVES
from places import ROBOTS
from refusals import cases, refused

ARM = str(ROBOTS / "arm_2dof.usda")
FIXED = ["pendulum.usda", "arm_2dof.usda", "arm_2dof.xml", "franka_panda.usda", "so101.usda"]
SHORT = ExcitationPlan(seconds=8.0, rate=100.0, kinds=["steps"])
# a pole that two actuators turn against each other's fingers
FINGERS = """<mujoco><option gravity="0 0 0"/><default><geom type="capsule" size=".02"/></default><worldbody>
<body name="base"><geom type="box" size=".1 .02 .02" contype="0" conaffinity="0"/>
<body name="left" pos="-.04 0 0"><joint name="left" axis="0 1 0" limited="true" range="-90 90"/>
<geom fromto="0 0 0 0 0 .3"/></body>
<body name="right" pos=".04 0 0"><joint name="right" axis="0 1 0" limited="true" range="-90 90"/>
<geom fromto="0 0 0 0 0 .3"/></body></body></worldbody></mujoco>"""


def assert_safe(found: Excitation) -> None:
    """Commands keep 5 % of the range from position limits, positions 2.5 %; speeds and efforts 10 % of theirs."""
    limits = found.limits
    for values, margin in ((found.command, 0.05), (found.positions, 0.0225)):
        low = np.minimum(limits.lower + margin * limits.span, limits.start - 0.0025 * limits.span)
        high = np.maximum(limits.upper - margin * limits.span, limits.start + 0.0025 * limits.span)
        assert (values >= low - 1e-6).all() and (values <= high + 1e-6).all()
    assert (np.abs(found.velocities) <= 0.9 * limits.speed).all()
    assert (np.abs(found.efforts) <= 0.9 * limits.effort).all()
    np.testing.assert_allclose(found.command[[0, -1]], np.tile(limits.start, (2, 1)), atol=1e-6)


@cases("kind", *list(WAVES))
@cases("robot", *FIXED)
@pytest.mark.slow
def test_motions_stay_within_limits(robot, kind) -> None:
    found = excitation(ROBOTS / robot, plan=ExcitationPlan(seconds=10.0, rate=100.0, kinds=[kind]))
    assert_safe(found)
    assert found.command.shape == found.positions.shape == (1000, len(found.joints))
    # all of them move, and by more than noise
    assert (np.ptp(found.positions, axis=0) > 0.01).all()


def test_the_prediction_is_what_a_simulation_does() -> None:
    found = excitation(PENDULUM, {"hinge": known_motor()}, SHORT)
    with Simulation(PENDULUM) as simulation:
        assert list(simulation.articulation("/").dof_names) == list(found.joints)
    log = hidden_log(PENDULUM, {"hinge": hidden_motor(0, 0, 0, 0, 0)}, ["hinge"], command=found.command, dt=0.01)
    assert np.abs(log.position - found.positions).max() < 2e-3


@pytest.mark.slow
def test_a_hidden_motor_is_found_from_its_log() -> None:
    if core is None:
        pytest.skip("the native core is not built")
    pytest.importorskip("scipy")
    known, true = {"hinge": known_motor()}, hidden_motor()
    sent = excitation(PENDULUM, known, ExcitationPlan(seconds=20.0, rate=100.0))
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"], command=sent.command, dt=0.01)
    assert check_log(log) == []
    found = identify(PENDULUM, [log], known, FitOptions(models=["Coulomb friction"]))
    tolerances = {"coulomb": 0.02, "viscous": 0.05, "armature": 0.05, "encoder_bias": 0.1, "delay": 0.15}
    for name, tolerance in tolerances.items():
        assert value_of(found.motors["hinge"], name) == pytest.approx(value_of(true, name), rel=tolerance), name
    assert found.error < 3e-4 and found.error < 0.05 * found.shipped


def test_a_seed_means_one_excitation() -> None:
    first, again = (excitation(ARM, plan=SHORT) for _ in range(2))
    np.testing.assert_array_equal(first.command, again.command)
    np.testing.assert_array_equal(first.efforts, again.efforts)
    other = excitation(ARM, plan=ExcitationPlan(seconds=8.0, rate=100.0, kinds=["steps"], seed=1))
    assert np.abs(first.command - other.command).max() > 0.01


@pytest.mark.slow
def test_chosen_joints_move_and_others_hold() -> None:
    told: list[float] = []
    plan = ExcitationPlan(joints=["panda_joint[24]"], seconds=20.0, rate=50.0)
    found = excitation(ROBOTS / "franka_panda.usda", plan=plan)
    assert found.joints == ("panda_joint2", "panda_joint4")
    assert [part.kind for part in found.parts] == ["ramp", *WAVES, "ramp"]
    excitation(PENDULUM, plan=SHORT, progress=lambda _, share: told.append(share))
    assert told == sorted(told) and told[-1] == 1.0


def test_the_first_pose_can_be_chosen() -> None:
    begin = {"extension": 0.2}
    found = excitation(ARM, plan=ExcitationPlan(seconds=8.0, rate=100.0, kinds=["holds"], initial_positions=begin))
    np.testing.assert_allclose(found.positions[0], [0.0, 0.2], atol=1e-6)
    assert_safe(found)


@pytest.mark.slow
def test_what_was_reduced_and_what_is_unknown_is_said() -> None:
    weak = MotorConfig(PDControlConfig(200.0, 20.0), clamping=[MaxEffortClampingConfig(14.0)])
    strong = {**dict.fromkeys(["shoulder", "extension"], known_motor(200.0, 20.0))}
    plan = ExcitationPlan(seconds=8.0, rate=100.0, kinds=["holds"])
    limited, free = excitation(ARM, {**strong, "shoulder": weak}, plan), excitation(ARM, strong, plan)
    assert_safe(limited)
    assert np.abs(limited.efforts[:, 0]).max() < 0.9 * 14.0 < np.abs(free.efforts[:, 0]).max()
    assert any("shoulder" in note and "effort" in note and "reduced" in note for note in limited.notes), limited.notes
    assert not any("effort" in note and "reduced" in note for note in free.notes)
    text = " ".join(free.notes)
    assert "No speed limit in file and motors, taken as 3 rad/s or 0.3 m/s: shoulder, extension." in text
    assert "collisions were not looked for" in text and "No effort limit" not in text
    text = " ".join(excitation(PENDULUM, {"hinge": MotorConfig(PDControlConfig(40.0, 1.0))}, SHORT).notes)
    assert "No effort limit in file and motors, none was checked: hinge." in text
    assert "No two position limits, amplitude taken as 0.5 rad or 0.05 m: hinge." in text


@pytest.mark.slow
def test_links_do_not_touch(tmp_path) -> None:
    file = tmp_path / "fingers.xml"
    file.write_text(FINGERS)
    found = excitation(file, {".*": known_motor(5.0, 0.5)}, ExcitationPlan(seconds=8.0, rate=100.0, kinds=["holds"]))
    assert any("collision" in note for note in found.notes), found.notes
    assert not any("not looked for" in note for note in found.notes)
    assert (np.ptp(found.positions, axis=0) > 0.05).all()


def test_what_cannot_be_excited_is_refused() -> None:
    refused(ValueError, lambda: excitation(QUADRUPED), "its base floats: must be fixed, as it is on a stand")
    with pytest.raises(ValueError, match="joints = elbow: must match a joint with a motor"):
        excitation(ARM, plan=ExcitationPlan(joints=["elbow"]))
    refused(ValueError, lambda: excitation(ARM, {".*": MotorConfig()}), "no motor with a control law")
    with pytest.raises(ValueError, match="hinge: moves less than a tenth as far as its commands"):
        excitation(PENDULUM, {"hinge": MotorConfig(PDControlConfig(0.0, 0.0))}, SHORT)
    refused(ValueError, lambda: excitation(ARM, plan=ExcitationPlan(seconds=3.0)), "seconds = 3: must be")


def test_a_motor_that_cannot_hold_the_arm_is_refused() -> None:
    weak = MotorConfig(PDControlConfig(200.0, 20.0), clamping=[MaxEffortClampingConfig(2.0)])
    motors = {"shoulder": weak, "extension": known_motor(200.0, 20.0)}
    with pytest.raises(ValueError, match=r"at rest in the first pose, shoulder needs 2 N·m, .*: must hold\. Begin in"):
        excitation(ARM, motors, SHORT)
