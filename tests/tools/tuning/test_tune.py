"""Gains of robots: what was asked for, margins, bounds and their reasons."""

import dataclasses
import math
import re

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.tuning.tune import GAIN_MARGIN, PHASE_MARGIN
from physics_engines import ENGINES, installed
from places import ROBOTS
from refusals import cases, refused

LIMIT = aa.MaxEffortClampingConfig(60.0)
FREE = aa.MaxEffortClampingConfig(1e6)


def arm(**asked) -> aa.Tuned:
    return aa.tune(ROBOTS / "arm_2dof.usda", **{"poses": 5, "verify": False, **asked})


@pytest.mark.parametrize("asked", [{"bandwidth": 2.5}, {"settle": 0.4}, {"bandwidth": 1.0, "damping_ratio": 1.5}])
def test_shows_what_was_asked_for(asked) -> None:
    found = arm(verify=True, **asked)
    assert not found.is_wrong and all(row.verdict == "as asked" for row in found.joints)
    for row in found.joints:
        assert row.damping_ratio[0] >= 0.99 * asked.get("damping_ratio", 1.0)
        assert row.gain_margin >= GAIN_MARGIN and row.phase_margin >= PHASE_MARGIN
        assert row.bandwidth >= 0.98 * asked.get("bandwidth", 0.0)
        assert row.measured["overshoot"] <= 0.05 and row.measured["chatter"] == 0.0
        assert row.measured["settling"] <= 1.1 * row.settling + 2 * found.dt
        assert row.measured["settling"] <= 1.3 * asked.get("settle", math.inf)


@cases(
    "stages, asked, bound",
    ([LIMIT], {}, "torque"),
    ([FREE], {}, "physics step"),
    ([FREE, aa.EncoderConfig(latency=0.02)], {}, "delay"),
    ([FREE, aa.EffortDelayConfig(seconds=0.02)], {}, "delay"),
    ([LIMIT, aa.EncoderConfig(resolution=0.01)], {"step": 0.001}, "encoder"),
    ([FREE, aa.ElasticTransmissionConfig(1.0, rotor_inertia=0.1, stiffness=200.0)], {"step": 0.001}, "elasticity"),
)
def test_says_what_bounds_a_joint(stages, asked, bound) -> None:
    motors = {"shoulder": [aa.PDControlConfig(10.0, 1.0), *stages], "extension": [aa.PDControlConfig(100.0, 10.0)]}
    found = arm(motors={name: aa.MotorConfig(**parts) for name, parts in by_kind(motors).items()}, **asked)
    (row,) = [row for row in found.joints if row.joint == "shoulder"]
    assert row.bound == bound and row.more > 1.02 and row.remedy


def by_kind(motors) -> dict:
    from isaacsim.core.experimental.actuators.specs.stages import parts_of

    return {name: parts_of(configs) for name, configs in motors.items()}


def test_what_cannot_be_had_is_said_with_the_best_there_is() -> None:
    found = arm(bandwidth=40.0)
    assert found.is_wrong and {row.verdict for row in found.joints} == {"missed"}
    assert re.match(r"Cannot be had, with the best there is: shoulder \d.* Hz", found.missed[0])


@cases(
    "friction, asked, said",
    (1.0, {"settle": 0.4}, ""),
    (10.0, {"settle": 0.4}, "missed"),
    (4.0, {"bandwidth": 2.0}, "warnings"),
    (10.0, {"settle": 0.4, "integral": True}, ""),
)
def test_gains_are_so_stiff_that_friction_lets_joints_settle_or_say_so(friction, asked, said) -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(10.0, 1.0), clamping=[LIMIT])
    motors = {"shoulder": dataclasses.replace(motor, friction=friction), "extension": motor}
    found = arm(motors=motors, poses=2, **asked)
    words = [sentence for name in ("missed", "warnings") for sentence in getattr(found, name) if "Friction" in sentence]
    assert bool(words) == bool(said)
    assert not said or re.match(r"Friction stops steps short.*: shoulder by \d+%", getattr(found, said)[0])
    row = found.joints[0]
    assert row.stuck == pytest.approx(0.0 if "integral" in asked else friction / row.kp)
    assert (row.stuck > 0.05 * 0.051) == bool(said)
    if said == "missed":
        assert (row.bound, row.verdict) == ("friction", "missed") and found.is_wrong


@pytest.mark.parametrize("rule", ["inertia", "armature"])
def test_rules_are_equations(rule) -> None:
    """kp = I·ω² and kd = 2·ζ·I·ω, of the nominal inertia or of the armature."""
    for row in aa.tune(ROBOTS / "unitree_go1.usda", rule=rule, frequency=8.0, poses=3, verify=False).joints:
        inertia = row.armature if rule == "armature" else row.inertia[1]
        ratio = 2.0 if rule == "armature" else 1.0
        omega = 2.0 * math.pi * 8.0
        np.testing.assert_allclose([row.kp, row.kd], [inertia * omega**2, 2 * ratio * inertia * omega], rtol=5e-3)
        assert row.action_scale == pytest.approx(0.25 * row.effort_limit / row.kp) or rule == "inertia"


@pytest.mark.parametrize(
    ("kp", "kd", "verdict"),
    [(933.0, 31.0, "good"), (20.0, 6.0, "soft"), (1500.0, 45.0, "stiff"), (900.0, 4.0, "underdamped")]
    + [(900.0, 100.0, "beyond the margin"), (900.0, 400.0, "vibrates")],
)
def test_judges_gains_that_are_there(kp, kd, verdict) -> None:
    motors = {"shoulder": aa.MotorConfig(aa.PDControlConfig(kp, kd), [LIMIT])}
    motors["extension"] = aa.MotorConfig(aa.PDControlConfig(100.0, 10.0), [LIMIT])
    found = arm(motors=motors, explain=True)
    assert found.joints[0].verdict == verdict
    assert found.motors["shoulder"].controller == motors["shoulder"].controller


def test_an_integral_holds_gravity_within_its_bound() -> None:
    row = arm(integral=True, verify=True).joints[0]
    assert row.ki > 0 and row.gravity < row.ki * row.integral_max <= row.effort_limit
    assert row.phase_margin >= PHASE_MARGIN and row.measured["sag"] < 0.2 * arm().joints[0].sag


def test_gains_are_in_the_units_of_the_motor(tmp_path) -> None:
    gear = aa.TransmissionConfig(10.0)
    law, limit = aa.PDControlConfig(1.0, 0.1), aa.MaxEffortClampingConfig(6.0)
    motors = {"shoulder": aa.MotorConfig(law, [limit], others=[gear])}
    motors["extension"] = aa.MotorConfig(aa.PDControlConfig(100.0, 10.0), [LIMIT])
    found = arm(motors=motors)
    aa.save_motors(tmp_path / "motors.yaml", found.motors)
    law = aa.load_motors(tmp_path / "motors.yaml")["shoulder"].controller
    np.testing.assert_allclose([100 * law.kp, 100 * law.kd], [found.joints[0].kp, found.joints[0].kd], rtol=5e-3)


def test_intervals_count_with_their_worst() -> None:
    known = aa.motors_of(ROBOTS / "pendulum.usda")["hinge"]
    kd = []
    for low in (0.2, 0.02):
        known.clamping, known.armature, known.intervals = [FREE], 0.2, {"armature": (low, 0.2)}
        kd.append(aa.tune(ROBOTS / "pendulum.usda", {"hinge": known}, poses=2, verify=False).joints[0].kd)
    assert kd[1] < 0.9 * kd[0]


@pytest.mark.parametrize("change", [{"heavier": 1.2}, {"heavier": 0.8, "late": 1}])
def test_plants_that_were_not_seen_stay_stable(change) -> None:
    found = aa.tune(ROBOTS / "unitree_go1.usda", poses=5, verify=False)
    late = [aa.EffortDelayConfig(steps=change["late"])] if "late" in change else []
    motors = dict(found.motors)
    for motor in motors.values():
        motor.others = [*motor.others, *late]
    with aa.Simulation(ROBOTS / "unitree_go1.usda", fixed_base=True, num_envs=5) as sim:
        actuators = aa.ArticulationActuators.from_configs("/", motors)
        sim.play()
        robots = sim.articulation("/")
        lower, upper = (one.numpy() for one in robots.get_dof_limits())
        robots.set_dof_positions(np.random.default_rng(9).uniform(lower, upper).astype(np.float32))
        for loop in actuators._loops().loops(np.arange(5)):
            scaled = type(loop)(loop.inverse / change.get("heavier", 1.0), loop.gains, loop.weight, loop.timing)
            assert scaled.is_stable(sim.dt)


@cases(
    "asked, says",
    ({"bandwidth": 1.0, "settle": 1.0}, "bandwidth, settle: must not be given together"),
    ({"explain": True, "rule": "inertia"}, "rule, explain: must not be given together"),
    ({"bandwidth": -1.0}, "bandwidth = -1.0: must be a finite number > 0"),
    ({"frequency": 5.0}, "frequency = 5.0: must be given with a rule"),
    ({"rule": "magic"}, "rule = 'magic': must be one of inertia, armature"),
    ({"saturation": -1.0}, "saturation = -1.0: must be a time >= 0"),
    ({"poses": 0}, "poses = 0: must be >= 1"),
)
def test_refuses(asked, says) -> None:
    refused(ValueError, lambda: arm(**asked), re.escape(says))


def test_a_joint_that_a_shaft_moves_has_no_gains_of_its_own() -> None:
    shaft = aa.LinkageConfig(["shoulder", "extension"], [1.0, 0.8])
    with pytest.raises(ValueError, match="no joint alone has a law with gains: must have one"):
        arm(motors={"shoulder": aa.MotorConfig(aa.PDControlConfig(1.0, 0.01), others=[shaft])})


@pytest.mark.parametrize("engine", ENGINES)
def test_steps_are_those_of_the_simulator(engine) -> None:
    tuned = aa.tune(ROBOTS / "unitree_go1.usda", settle=0.6, poses=2, engine=installed(engine))
    assert tuned.missed == () and len(tuned.joints) == 12
    assert {row.measured["poses"] for row in tuned.joints} == {2.0}
    assert max(row.measured["settling"] for row in tuned.joints) == pytest.approx(0.6, rel=0.3)


def test_simulator_reads_the_file() -> None:
    with pytest.raises(ValueError, match=r"arm_2dof.xml: engine = 'physx' reads USD only"):
        aa.tune(ROBOTS / "arm_2dof.xml", engine="physx")
