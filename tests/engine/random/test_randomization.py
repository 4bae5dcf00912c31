"""Randomized parameters: drawn values act and follow the requested distribution; other parameters do not change."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.parameters import Parameters
from isaacsim.core.experimental.actuators.engine.random import random_numbers
from isaacsim.core.experimental.actuators.engine.random.random_numbers import Draw, Draws, key_of
from isaacsim.core.experimental.actuators.engine.random.randomization import Randomization
from own_components import OwnController
from places import ROBOTS
from played import played_arrays, played_robot
from refusals import cases, refused

NAMES = ["hip", "knee", "ankle"]
N = 4000
PANDA = "/World/Panda"
PD, LIMIT = aa.PDControlConfig(100.0, 10.0), aa.MaxEffortClampingConfig("joint")


def motors() -> dict:
    return {
        "hip": [aa.PDControlConfig(80.0, 2.0, 1.0), aa.DCMotorClampingConfig(120.0, 20.0, 80.0), aa.DelayConfig(3)],
        "knee": [aa.PIDControlConfig(60.0, 5.0, 1.0), aa.MaxEffortClampingConfig(40.0)],
        "ankle": [aa.PDControlConfig(10.0, 0.1), aa.MaxEffortClampingConfig(math.inf), aa.DelayConfig(1)],
    }


def made(num_robots: int = N, given=None) -> aa.ActuatedArrays:
    return aa.ActuatedArrays(NAMES, motors() if given is None else given, num_robots)


def kp(actuated, joint: int) -> np.ndarray:
    return actuated.actuators[joint].controller.read("kp").copy()


def standing(numbers: np.ndarray, cdf) -> float:
    """Kolmogorov and Smirnov's statistic, times the root of the count: above 1.95 in one of 1000 cases."""
    ordered = np.sort(numbers.astype(float))
    expected, ranks = cdf(ordered), np.arange(len(ordered) + 1) / len(ordered)
    return math.sqrt(len(ordered)) * float(max((ranks[1:] - expected).max(), (expected - ranks[:-1]).max()))


def normal_cdf(mean: float, std: float):
    phi = np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))
    low, high = phi(-3.0), phi(3.0)
    return lambda x: (phi((x - mean) / std) - low) / (high - low)


@cases(
    "given, cdf",
    (aa.Uniform(60.0, 90.0), lambda x: (x - 60) / 30),
    (aa.Uniform(0.5, 2.0, operation="scale"), lambda x: (x / 80 - 0.5) / 1.5),
    (aa.Uniform(-10.0, 5.0, operation="add"), lambda x: (x - 80 + 10) / 15),
    (aa.LogUniform(0.1, 10.0), lambda x: np.log(x / 0.1) / math.log(100)),
    (aa.LogUniform(0.5, 2.0, operation="scale"), lambda x: np.log(x / 80 / 0.5) / math.log(4)),
    (aa.Normal(80.0, 10.0), normal_cdf(80.0, 10.0)),
    (aa.Normal(1.0, 0.1, operation="scale"), normal_cdf(80.0, 8.0)),
    ids=lambda value: repr(value) if isinstance(value, aa.Distribution) else "",
)
@pytest.mark.usefixtures("engine_kind")
def test_values_come_from_their_distribution(given, cdf) -> None:
    actuated = made()
    actuated.randomize({"kp": {"hip": given}}, seed=3)
    assert standing(kp(actuated, 0), cdf) < 1.95 and (kp(actuated, 1) == 60.0).all()
    assert (actuated.actuators[0].controller.read("kd") == 2.0).all()


def test_whole_numbers_are_as_likely_as_each_other() -> None:
    actuated = made()
    actuated.randomize({"delay_steps": {"hip": aa.Uniform(0, 3)}}, seed=0)
    counts = np.bincount(actuated.actuators[0].delay.read("delay_steps"), minlength=4)
    assert len(counts) == 4 and (np.abs(counts - N / 4) < 5 * math.sqrt(N * 3 / 16)).all()


def test_joints_robots_parameters_and_seeds_are_independent() -> None:
    actuated, other = made(), made()
    actuated.randomize({"kp": aa.Uniform(1.0, 2.0), "kd": aa.Uniform(1.0, 2.0)}, seed=0)
    other.randomize({"kp": aa.Uniform(1.0, 2.0)}, seed=1)
    drawn = [kp(actuated, 0), kp(actuated, 1), actuated.actuators[0].controller.read("kd").copy(), kp(other, 0)]
    drawn += [np.roll(drawn[0], 1)]
    actuated.reset()
    drawn += [kp(actuated, 0)]
    assert np.abs(np.corrcoef(drawn) - np.eye(len(drawn))).max() < 5 / math.sqrt(N)


def test_per_robot_is_one_number_for_all_joints() -> None:
    actuated = made(50)
    actuated.randomize({"kp": aa.Uniform(0.5, 1.5, operation="scale", per_robot=True)}, seed=0)
    factors = [kp(actuated, joint) / nominal for joint, nominal in enumerate((80.0, 60.0, 10.0))]
    np.testing.assert_allclose(factors[1:], [factors[0]] * 2, rtol=1e-6)
    assert np.ptp(factors[0]) > 0.5


@pytest.mark.usefixtures("engine_kind")
def test_what_was_drawn_is_told() -> None:
    leg = aa.ActuatedArrays(["hip", "knee"], {".*": [aa.PDControlConfig(80.0, 2.0)]}, num_robots=7)
    assert leg.drawn_values() == {}
    given = {"kp": {"knee": aa.Uniform(50.0, 60.0)}, "strength": aa.Uniform(0.5, 0.8, per_robot=True)}
    leg.randomize(given, seed=3)
    for _ in range(2):
        drawn = leg.drawn_values()
        assert {name: [*joints] for name, joints in drawn.items()} == {"kp": ["knee"], "strength": ["hip", "knee"]}
        strength = drawn["strength"]["hip"]
        assert ((strength > 0.5) & (strength < 0.8)).all() and len(set(strength)) == 7
        np.testing.assert_allclose(drawn["strength"]["knee"], strength, rtol=1e-6)
        kp = leg.actuators[0].controller.kp.numpy().reshape(7, 2)
        np.testing.assert_allclose(kp, np.stack([80.0 * strength, drawn["kp"]["knee"] * strength], 1), rtol=1e-6)
        assert ((drawn["kp"]["knee"] > 50.0) & (drawn["kp"]["knee"] < 60.0)).all()
        leg.reset(indices=[2, 5])
    drawn["kp"]["knee"][:] = 0.0
    assert leg.drawn_values()["kp"]["knee"].min() > 50.0


def test_a_reset_draws_for_its_robots_only() -> None:
    actuated, twin = made(20), made(20)
    for one in (actuated, twin):
        one.randomize({"kp": aa.Uniform(1.0, 2.0)}, seed=0)
    before = kp(actuated, 0)
    np.testing.assert_array_equal(before, kp(twin, 0))
    actuated.reset(indices=[3, 7])
    after = kp(actuated, 0)
    assert np.flatnonzero(before != after).tolist() == [3, 7]
    twin.reset(indices=[7])
    twin.reset(indices=[3, 0])
    np.testing.assert_array_equal(kp(twin, 0)[[3, 7]], after[[3, 7]])


def test_once_is_once() -> None:
    actuated = made(20)
    actuated.randomize({"kp": aa.Uniform(1.0, 2.0)}, seed=0, each_reset=False)
    actuated.randomize({"kd": aa.Uniform(1.0, 2.0)}, seed=0)
    first, kd = kp(actuated, 0), actuated.actuators[0].controller.read("kd").copy()
    actuated.reset()
    np.testing.assert_array_equal(kp(actuated, 0), first)
    assert (actuated.actuators[0].controller.read("kd") != kd).all()


def test_robots_spread_over_processes_get_what_they_get_in_one() -> None:
    whole, half = made(8), made(4)
    whole.randomize({"kp": aa.Uniform(1.0, 2.0), "strength": aa.Uniform(0.5, 1.0)}, seed=5)
    half.randomize({"kp": aa.Uniform(1.0, 2.0), "strength": aa.Uniform(0.5, 1.0)}, seed=5, first_robot=4)
    np.testing.assert_array_equal(kp(half, 1), kp(whole, 1)[4:])


@pytest.mark.usefixtures("engine_kind")
def test_strength_is_a_factor_of_the_effort() -> None:
    rng = np.random.default_rng(0)
    q, qd, target = (rng.normal(scale=scale, size=(200, 3)).astype(np.float32) for scale in (1.0, 5.0, 2.0))
    nominal, weak = made(200), made(200)
    weak.randomize({"strength": aa.Uniform(0.25, 0.75)}, seed=0)
    factors = kp(weak, 0) / 80.0
    for _ in range(8):
        strong, found = nominal.step(q, qd, target, 0.01).copy(), weak.step(q, qd, target, 0.01)
        np.testing.assert_allclose(found[:, 0], strong[:, 0] * factors, rtol=1e-5, atol=1e-5)
    assert 0.25 < factors.min() < 0.3 and 0.7 < factors.max() < 0.75
    weak.randomize({"kp": aa.Uniform(10.0, 20.0)}, seed=1)
    for resets in (1, 2, 3):
        weak.reset()
        drawn = made(200)
        drawn.randomize({"kp": aa.Uniform(10.0, 20.0)}, seed=1)
        for _ in range(resets):
            drawn.reset()
        factors = weak.actuators[0].controller.read("kd") / 2.0
        np.testing.assert_allclose(kp(weak, 0), kp(drawn, 0) * factors, rtol=1e-6)


@pytest.mark.usefixtures("engine_kind")
def test_none_ends_it_with_the_nominal_value() -> None:
    actuated = made(20)
    nominal = {name: kp(actuated, joint) for joint, name in enumerate(NAMES)}
    actuated.randomize(
        {"kp": aa.Uniform(1.0, 2.0), "strength": aa.Uniform(0.5, 0.6), "kd": aa.Uniform(3.0, 4.0)}, seed=0
    )
    actuated.randomize({"kp": None, "strength": None}, seed=0)
    for joint, name in enumerate(NAMES):
        np.testing.assert_array_equal(kp(actuated, joint), nominal[name])
    assert (actuated.actuators[0].controller.read("kd") >= 3.0).all()
    actuated.reset()
    np.testing.assert_array_equal(kp(actuated, 0), nominal["hip"])


def test_operations_refer_to_the_nominal_value_however_often() -> None:
    actuated = made(100)
    for _ in range(5):
        actuated.randomize({"kp": aa.Uniform(0.9, 1.1, operation="scale")}, seed=0)
        actuated.reset()
    assert (np.abs(kp(actuated, 0) / 80.0 - 1) < 0.1001).all()


@pytest.mark.usefixtures("engine_kind")
def test_values_read_through_an_attribute_are_those_drawn() -> None:
    leg = {".*": [aa.PDControlConfig(80.0, 2.0), aa.MaxEffortClampingConfig(1e6)]}
    early, late = made(5, leg), made(5, leg)
    live = early.actuators[0].controller.kp
    zeros, ones = np.zeros((5, 3), np.float32), np.ones((5, 3), np.float32)
    for one in (early, late):
        one.randomize({"kp": aa.Uniform(1.0, 9.0)}, seed=2)
    # with velocities at rest the effort is the stiffness
    efforts = [one.step(zeros, zeros, ones, 0.01).copy() for one in (early, late)]
    np.testing.assert_array_equal(efforts[0], efforts[1])
    np.testing.assert_array_equal(live.numpy().reshape(5, 3), efforts[0])
    np.testing.assert_array_equal(late.actuators[0].controller.kp.numpy().reshape(5, 3), efforts[1])
    for one in (early, late):
        one.reset()
    again = [one.step(zeros, zeros, ones, 0.01).copy() for one in (early, late)]
    np.testing.assert_array_equal(again[0], again[1])
    assert (again[0] != efforts[0]).all()


@cases(
    "given, words",
    ({"kq": aa.Uniform(0, 1)}, r"randomize: kq: no joint has it. The parameters are kp, "),
    ({"kp": {"toe": aa.Uniform(0, 1)}}, "randomize: kp: 'toe' matches no joint"),
    ({"kp": {"hip": aa.Uniform(0, 1), "h.*": aa.Uniform(0, 1)}}, "hip is matched by 'hip' and 'h.*'"),
    ({"ki": {"hip": aa.Uniform(0, 1)}}, "randomize: ki: 'hip' matches no joint: .* knee"),
    ({"kp": 3.0}, r"randomize: kp = 3.0: must be a distribution"),
    ({"kp": aa.Uniform(2, 1)}, "randomize: kp: Uniform.*must be low <= high"),
    ({"kp": aa.Uniform(0, math.nan)}, "its numbers must be finite"),
    ({"kp": aa.LogUniform(0, 1)}, "must be 0 < low <= high"),
    ({"kp": aa.Normal(1, -1)}, "must be std >= 0"),
    ({"kp": aa.Uniform(0, 1, operation="times")}, "operation must be 'set', 'scale' or 'add'"),  # type: ignore[arg-type]
    ({"kp": aa.Uniform(-1, 1)}, r"randomize: kp of hip, knee, .*Uniform.* = -1: must be finite and >= 0"),
    ({"kp": aa.Uniform(-61, 0, operation="add")}, r"kp of knee, .* = -1.0: must be finite and >= 0"),
    ({"kp": aa.Normal(1.0, 0.4, operation="scale")}, r"kp of hip, .*must be finite and >= 0"),
    ({"velocity_limit": aa.Uniform(0, 1)}, r"velocity_limit of hip, .* = 0: must be a number and > 0"),
    ({"delay_steps": aa.Uniform(0, 2)}, r"delay_steps of ankle, .* = 2: must be <= its largest delay, 1"),
    ({"delay_steps": aa.Uniform(0, 0.5)}, "must be whole numbers"),
    ({"delay_steps": aa.LogUniform(1, 2)}, "must be whole numbers"),
    ({"strength": aa.Uniform(-0.1, 1)}, r"strength of hip, .*must be factors >= 0"),
    ({"friction": aa.Uniform(0, 1)}, "friction: it belongs into the simulator"),
    ([("kp", aa.Uniform(0, 1))], "must be a dictionary"),
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(given, words) -> None:
    actuated = made(5)
    actuated.randomize({"kp": aa.Uniform(1.0, 2.0)}, seed=0)
    before = kp(actuated, 0)
    refused(ValueError, lambda: actuated.randomize(given, seed=1), words)
    np.testing.assert_array_equal(kp(actuated, 0), before)
    actuated.reset()
    assert (kp(actuated, 0) < 2.0).all()


def test_a_refused_request_keeps_no_nominal_value() -> None:
    actuated = made(5)
    with pytest.raises(ValueError, match="must be finite and >= 0"):
        actuated.randomize({"kp": aa.Uniform(-1.0, 1.0, operation="scale")}, seed=0)
    actuated.actuators[0].controller.kp.fill_(8.0)
    actuated.randomize({"kp": {"hip": aa.Uniform(1.0, 2.0, operation="scale")}}, seed=0)
    assert (kp(actuated, 0) <= 16.0).all()


@pytest.mark.parametrize("name", ["seed", "first_robot"])
@pytest.mark.parametrize("value", [-1, 0.5, "1", True, None])
def test_seeds_are_whole_numbers(name, value) -> None:
    given = {"seed": 0, "first_robot": 0} | {name: value}
    refused(ValueError, lambda: made(2).randomize({}, **given), rf"{name} = {value!r}: must be an integer >= 0")


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ValueError) as refused:
        made(2).randomize({"kq": aa.Uniform(0, 1), "kd": aa.Uniform(-1, 1), "ki": {"toe": aa.Uniform(0, 1)}}, seed=0)
    told = str(refused.value)
    assert all(words in told for words in ("kq", "kd of hip, knee", "'toe'"))


def test_strength_needs_efforts_that_have_a_factor() -> None:
    table = aa.PositionBasedClampingConfig([0.0, 1.0], [10.0, 20.0])
    actuated = made(5, {"hip": [aa.PDControlConfig(1.0, 0.0), table], "knee": [aa.PDControlConfig(1.0, 0.0)]})
    with pytest.raises(ValueError, match=r"strength of hip, .*its limit is a table, one for all robots. Leave"):
        actuated.randomize({"strength": aa.Uniform(0.5, 1.0)}, seed=0)
    actuated.randomize({"strength": {"knee": aa.Uniform(0.5, 1.0)}}, seed=0)
    assert (kp(actuated, 1) < 1.0).all()


def test_strength_needs_a_law_that_is_known() -> None:
    gains = [wp.ones(3, dtype=wp.float32, device="cpu") for _ in range(4)]
    with played_arrays(NAMES, 3):
        own = aa.ActuatorConfig(OwnController(*gains)), "hip"
        with aa.ArticulationActuators.from_actuators("/Robot_.*", [own]) as actuators:
            with pytest.raises(ValueError, match=r"strength of hip, .*its control law is no sum of gains times errors"):
                actuators.randomize({"strength": aa.Uniform(0.5, 1.0)}, seed=0)


@pytest.mark.parametrize("out_type", [np.float32, np.int32])
@pytest.mark.parametrize("operation", ["set", "scale", "add"])
@pytest.mark.parametrize("given", [aa.Uniform(1, 9), aa.LogUniform(0.01, 100.0), aa.Normal(3.0, 2.0)], ids=str)
def test_natively_and_in_numpy_the_same(given, operation, out_type, monkeypatch) -> None:
    if random_numbers.core is None:
        pytest.skip("the native core was not built")
    if out_type is np.int32 and not isinstance(given, aa.Uniform):
        pytest.skip("whole numbers are uniform")
    rows, counts = np.array([0, 3, 4, 998]), np.arange(999)
    nominal = np.linspace(1, 50, 999, dtype=np.float32)
    found = []
    for native in (True, False):
        if not native:
            monkeypatch.setattr(random_numbers, "core", None)
        out = np.full((999, 3), 7, out_type)
        draw = Draw(out[:, 1], nominal, operation, given, key_of(4, "kp"), True)
        Draws([draw, Draw(out[:, 2], nominal, operation, given, key_of(4, "kp"), False)], 999).draw(rows, counts, 10)
        found.append(out)
    np.testing.assert_allclose(found[0], found[1], rtol=2e-7)
    assert (np.delete(found[0], rows, axis=0) == 7).all() and (found[0][:, 0] == 7).all()
    # robots that were not drawn for before have the same number either way
    assert found[0][0, 1] == found[0][0, 2]


def test_numpy_draws_where_the_core_is_missing(monkeypatch) -> None:
    monkeypatch.setattr(random_numbers, "core", None)
    actuated = made()
    actuated.randomize({"kp": aa.Normal(80.0, 10.0), "kd": aa.LogUniform(0.1, 10.0)}, seed=3)
    assert standing(kp(actuated, 0), normal_cdf(80.0, 10.0)) < 1.95
    kd = actuated.actuators[0].controller.read("kd")
    assert standing(kd, lambda x: np.log(x / 0.1) / math.log(100)) < 1.95


@pytest.mark.parametrize("early", [True, False])
def test_armature_and_friction_are_drawn_in_the_simulator_and_given_back(early) -> None:
    with aa.Simulation(ROBOTS / "franka_panda.usda", num_envs=6) as sim:
        given = {
            "armature": {"panda_joint[1-3]": aa.Uniform(2.0, 3.0, operation="scale")},
            "friction": aa.Uniform(0.1, 0.2),
        }
        given["viscous_friction"] = aa.Uniform(0.3, 0.4)
        if not early:
            sim.play()
        robot = aa.Articulation(PANDA)
        actuators = aa.ArticulationActuators.from_configs(
            PANDA, {"panda_joint.*": aa.MotorConfig(PD, [LIMIT], armature=0.2)}
        )
        actuators.randomize(given, seed=0)
        sim.play()
        for _ in range(2):
            armatures, frictions = robot.get_dof_armatures().numpy(), robot.get_dof_friction_properties()[0].numpy()
            assert (armatures[:, :3] >= 0.4).all() and (armatures[:, :3] <= 0.6).all()
            np.testing.assert_allclose(armatures[:, 3:], 0.2, rtol=1e-6)
            assert (frictions >= 0.1).all() and (frictions <= 0.2).all()
            viscous = robot.get_dof_friction_properties()[2].numpy()
            assert ((viscous >= 0.3) & (viscous <= 0.4)).all() and len(np.unique(viscous)) == viscous.size
            assert len(np.unique(armatures[:, :3])) == 18
            sim.reset([1])
            again = robot.get_dof_armatures().numpy()
            np.testing.assert_array_equal(np.delete(again, 1, axis=0), np.delete(armatures, 1, axis=0))
            assert (again[1, :3] != armatures[1, :3]).all()
            # what is drawn is what physics has
            inertia = np.diagonal(robot.get_mass_matrices().numpy(), axis1=1, axis2=2)
            np.testing.assert_allclose(np.ptp(inertia[:, 0] - again[:, 0]), 0.0, atol=1e-5)
            sim.stop()
            sim.play()
        actuators.close()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.1, rtol=1e-6)
        for part in robot.get_dof_friction_properties():
            np.testing.assert_allclose(part.numpy(), 0.0)


def test_properties_that_somebody_set_since_stay_at_close() -> None:
    with played_robot(PANDA, ROBOTS / "franka_panda.usda", num_envs=2) as (_, robot):
        actuators = aa.ArticulationActuators.from_configs(PANDA, {"panda_joint.*": aa.MotorConfig(PD, [LIMIT])})
        actuators.randomize({"armature": aa.Uniform(0.3, 0.5)}, seed=0)
        robot.set_dof_armatures(0.7, indices=[1], dof_indices=[2])
        actuators.close()
        expected = np.full((2, 7), 0.1)
        expected[1, 2] = 0.7
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), expected, rtol=1e-6)


def test_none_ends_armature_too() -> None:
    with played_robot(PANDA, ROBOTS / "franka_panda.usda", num_envs=2) as (sim, robot):
        actuators = aa.ArticulationActuators.from_configs(PANDA, {"panda_joint.*": aa.MotorConfig(PD, [LIMIT])})
        actuators.randomize({"armature": aa.Uniform(0.3, 0.5)}, seed=0)
        actuators.randomize({"armature": None}, seed=0)
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.1, rtol=1e-6)
        sim.reset()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.1, rtol=1e-6)


def test_a_simulator_without_such_setters_says_so() -> None:
    with played_arrays(NAMES, 3):
        actuators = aa.ArticulationActuators.from_configs("/Robot_.*", {".*": [aa.PDControlConfig(1.0, 0.0)]})
        with pytest.raises(ValueError, match=r"armature: .* has no set_dof_armatures. Leave it out"):
            actuators.randomize({"armature": aa.Uniform(0, 1)}, seed=0)


def test_a_mask_on_the_device_draws_too() -> None:
    actuated = made(4)
    actuated.randomize({"kp": aa.Uniform(1.0, 2.0)}, seed=0)
    before = kp(actuated, 0)
    actuated.reset(indices=wp.array([False, True, False, False], dtype=wp.bool, device="cpu"))
    assert np.flatnonzero(before != kp(actuated, 0)).tolist() == [1]


class Simulated:
    def __init__(self, nominal: float) -> None:
        self.armatures = np.full((2, 1), nominal, np.float32)

    def problem(self, name: str) -> None:
        return None

    def read(self, name: str) -> np.ndarray:
        return self.armatures

    def write(self, name: str, rows: np.ndarray, columns: list[int], values: np.ndarray) -> None:
        self.armatures[np.ix_(rows, columns)] = values


def test_joints_made_anew_can_be_too_light_for_what_is_taken_off() -> None:
    simulated = Simulated(0.1)
    randomization = Randomization([], ["hip"], Parameters(2, "cpu"), 2)
    randomization.bind([0], simulated)
    randomization.request({"armature": aa.Uniform(-0.05, -0.04, operation="add")}, 0, True, 0)
    assert (simulated.armatures < 0.1).all()
    simulated.armatures[:] = 0.06
    randomization.reset_properties()
    simulated.armatures[:] = 0.01
    refused(ValueError, randomization.reset_properties, r"armature of hip, .* = -0.04.*: must be finite and >= 0")


def test_ratios_are_drawn_and_inertias_of_rotors_are_armatures() -> None:
    """A ratio is never 0; what no law takes is refused with what has its effect."""
    gear = aa.TransmissionConfig(-10.0, rotor_inertia=1e-4, efficiency=0.9, backdriving_efficiency=0.9)
    joints = aa.ActuatedArrays(["j"], {"j": [aa.PDControlConfig(1.0, 0.0), gear]}, num_robots=64)
    joints.randomize({"ratio": aa.Uniform(0.9, 1.1, operation="scale"), "offset": aa.Uniform(-0.1, 0.1)}, seed=2)
    (stage,) = [one for one in joints.actuators[0].stages if isinstance(one, aa.TransmissionGear)]
    assert -11.0 <= stage.ratio.numpy().min() < -10.5 and -9.5 < stage.ratio.numpy().max() <= -9.0
    assert len(set(stage.offset.numpy().tolist())) > 32
    for drawn in (
        aa.Uniform(-1.0, 1.0),
        aa.Uniform(0.0, 2.0, operation="scale"),
        aa.Uniform(0.0, 10.0, operation="add"),
    ):
        with pytest.raises(ValueError, match=r"ratio of j, .*: must not be 0. Give a range on one side of it."):
            joints.randomize({"ratio": drawn}, seed=2)
    for name, instead in (("rotor_inertia", "armature, which is"), ("efficiency", "motor_load and external_load")):
        with pytest.raises(ValueError, match=f"randomize: {name}: acts by {instead}"):
            joints.randomize({name: aa.Uniform(1e-5, 2e-5)}, seed=2)
