import numpy as np
import pytest
from hidden_motors import ARM, PENDULUM, QUADRUPED
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from refusals import refused

pytest.importorskip("scipy")
LINK = "<joint name='{}' axis='0 1 0' armature='{{}}'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='1'/>"
TWO_LINKS = f"""<mujoco><worldbody><body>{LINK.format("hip")}
<body pos='.3 0 0'>{LINK.format("knee")}</body></body></worldbody></mujoco>"""


def moving(joints: list[str], seconds: float = 2.0, dt: float = 0.005) -> MotorLog:
    time = np.arange(round(seconds / dt)) * dt
    position = np.stack([0.4 * np.sin(2 * np.pi * (1.0 + 0.3 * j) * time) for j in range(len(joints))], 1)
    return MotorLog(time, joints, {"command": position, "position": position})


def test_pendulum_has_its_closed_form() -> None:
    links = Links(PENDULUM, ["hinge"])
    try:
        found = links.decouple(moving(["hinge"]), np.array([0.1]))
    finally:
        links.close()
    np.testing.assert_allclose(found.place, moving(["hinge"]).position - 0.1)
    np.testing.assert_allclose(found.inertia, 0.26, rtol=1e-5)
    np.testing.assert_allclose(found.least, 0.26, rtol=1e-5)
    np.testing.assert_allclose(np.abs(found.load), 9.81 * 0.5 * np.abs(np.sin(found.place)), atol=1e-4)
    np.testing.assert_allclose(found.slope, 9.81 * 0.5 * np.cos(found.place), atol=1e-5)


def test_an_armature_is_no_part_of_the_links(tmp_path) -> None:
    armatures, found = np.array([0.05, 0.2]), []
    for given in (np.zeros(2), armatures):
        path = tmp_path / "two_links.xml"
        path.write_text(TWO_LINKS.format(*given), "utf-8")
        links = Links(path, ["hip", "knee"])
        try:
            np.testing.assert_allclose(links.armatures, given, rtol=1e-6)
            found.append(links.decouple(moving(["hip", "knee"]), np.zeros(2)))
        finally:
            links.close()
    without, with_it = found
    for name in ("inertia", "load", "slope"):
        np.testing.assert_allclose(getattr(with_it, name), getattr(without, name), rtol=1e-4, atol=1e-4)
    # joints that move freely move less with an armature
    assert (with_it.least > without.least).all() and (with_it.least < with_it.inertia.min(0)).all()


def test_joints_together_need_the_effort_of_the_whole_robot() -> None:
    joints = ["shoulder", "extension"]
    log = moving(joints)
    links = Links(ARM, joints)
    try:
        found = links.decouple(log, np.zeros(2))
        armatures = links.armatures
    finally:
        links.close()
    row = 200
    frequency = 2 * np.pi * np.array([1.0, 1.3])
    acceleration = -(frequency**2) * log.position[row]
    with Simulation(ARM) as simulation:
        robots = simulation.articulation("/")
        simulation.play()
        robots.set_dof_positions(log.position[row])
        robots.set_dof_velocities(0.4 * frequency * np.cos(frequency * log.time[row]))
        whole = robots.get_mass_matrices().numpy()[0]
        matrix = whole - np.diag(armatures)
        alone = 1 / np.diagonal(np.linalg.inv(whole)) - armatures
        wanted = matrix @ acceleration
        wanted += robots.get_dof_gravity_compensation_forces().numpy()[0]
        wanted += robots.get_dof_coriolis_and_centrifugal_compensation_forces().numpy()[0]
    np.testing.assert_allclose(found.inertia[row] * acceleration + found.load[row], wanted, rtol=2e-3, atol=2e-2)
    # the smallest one along the log
    assert (found.least <= alone + 1e-9).all() and (found.least > 0.0).all()


def test_along_has_what_a_rollout_takes() -> None:
    links = Links(ARM, ["extension"])
    try:
        found = links.decouple(moving(["extension"]), np.zeros(1))
    finally:
        links.close()
    along = found.along(0)
    assert along.shape == (6, len(found.log.time))
    np.testing.assert_array_equal(along[1], found.inertia[:, 0])
    # its motor has a supply of its own
    assert np.isinf(along[5]).all()


def test_unknown_joints_and_floating_bases_are_refused() -> None:
    refused(ValueError, lambda: Links(ARM, ["elbow"]), "it lacks elbow")
    refused(ValueError, lambda: Links(QUADRUPED, ["FL_hip_joint"]), "its base floats")


def test_blocks_all_over_a_log_are_held_out() -> None:
    for seconds, block in ((60.0, 5.0), (8.0, 1.0)):
        time = np.arange(0.0, seconds, 0.01)
        still = np.zeros((len(time), 1))
        log = MotorLog(time, ["hinge"], {"command": still, "position": still})
        held_out = Decoupled(log, still, still, still, still, still, np.zeros(1)).held_out
        assert held_out.mean() == pytest.approx(0.25, abs=0.01)
        begins = time[1:][held_out[1:] & ~held_out[:-1]]
        np.testing.assert_allclose(begins, np.arange(3.0, seconds / block, 4.0) * block, atol=0.02)
