"""Motors that move several joints together, on both engines, against the formulas in float64."""

import re
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine.gradients.actuator_gradients import require_gradients
from numpy.typing import NDArray
from refusals import cases, refused
from scipy.integrate import solve_ivp

NAMES = ["pitch", "knee", "roll"]
DT = 1e-3
ANKLE: dict[str, Any] = {"crank": 0.05, "rod": 0.3, "anchor": (-0.05, 0.04, -0.02), "motor": (0.0, 0.04, 0.28)}
WIDE: dict[str, Any] = {"lower": (-0.6, -0.4), "upper": (0.6, 0.4)}
DIFFERENTIAL = aa.LinkageConfig.differential("pitch", "roll")
PARALLEL = aa.LinkageConfig.parallel_ankle("pitch", "roll", **ANKLE, **WIDE)
KNEE = aa.LinkageConfig.four_bar("knee", 0.05, 0.2, 0.06, 0.2, 0.7, 2.5)


def drawn(rng: np.random.Generator, robots: int = 4, spread: float = 0.3) -> list[NDArray[np.float32]]:
    found = [spread * rng.normal(size=(robots, 3)).astype(np.float32) for _ in range(5)]
    found[0][:, 1] += 1.5
    return found


def step(arrays: aa.ActuatedArrays, signals: list[NDArray[np.float32]], dt: float = DT) -> NDArray[np.float64]:
    q, qd, q_target, qd_target, feedforward = signals
    return np.asarray(arrays.step(q, qd, q_target, dt, qd_target=qd_target, feedforward=feedforward), np.float64).copy()


def shaft_of(shafts: tuple[aa.LinkageConfig, ...], q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Angles `(robots, n)` and slopes `(robots, n, n)` by linear interpolation, one robot and shaft at a time."""
    angles, slopes = np.zeros(q.shape), np.zeros((*q.shape, q.shape[1]))
    for robot, at in np.ndindex(q.shape):
        one = shafts[at]
        if not one.is_table:
            angles[robot, at], slopes[robot, at] = q[robot] @ one.coefficients + one.offset, one.coefficients
            continue
        counts = [count for count in one.counts if count > 1]
        nodes = np.array([one.angles, *np.reshape(one.slopes, (q.shape[1], -1))]).reshape(-1, *counts)
        places = (q[robot] - one.lower) / (np.array(one.upper) - one.lower) * (np.array(counts) - 1)
        inside = np.clip(places, 0, np.array(counts) - 1)
        for axis, place in enumerate(inside):
            cell = min(int(place), counts[axis] - 2)
            low, high = np.take(nodes, cell, 1), np.take(nodes, cell + 1, 1)
            nodes = low + (high - low) * (place - cell)
        beyond = (places - inside) * (np.array(one.upper) - one.lower) / (np.array(counts) - 1)
        angles[robot, at], slopes[robot, at] = nodes[0] + nodes[1:] @ beyond, nodes[1:]
    return angles, slopes


def motors(first: aa.LinkageConfig, second: aa.LinkageConfig, *stages: Any) -> dict[str, list[Any]]:
    return {"pitch": [*stages, first], "roll": [*stages, second], "knee": [aa.PDControlConfig(10.0, 1.0)]}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shafts", [DIFFERENTIAL, PARALLEL], ids=["linear", "table"])
@pytest.mark.parametrize("targets", ["joint", "motor"])
@pytest.mark.slow("Warp")
def test_motors_act_through_the_slopes(shafts, targets, rng) -> None:
    ratio, kp, kd, most = -4.0, 3.0, 0.2, 2.5
    gear = aa.TransmissionConfig(ratio=ratio, offset=0.1, targets=targets)
    arrays = aa.ActuatedArrays(
        NAMES, motors(*shafts, aa.PDControlConfig(kp, kd), aa.MaxEffortClampingConfig(most), gear), num_robots=40
    )
    q, qd, q_target, qd_target, feedforward = signals = drawn(rng, 40)
    found, joints = step(arrays, signals), [0, 2]
    angle, slope = shaft_of(shafts, q[:, joints].astype(float))
    wanted, wanted_slope = shaft_of(shafts, q_target[:, joints].astype(float))
    turned = [np.einsum("nij,nj->ni", g, v[:, joints]) for g, v in ((slope, qd), (wanted_slope, qd_target))]
    forward = np.einsum("nji,nj->ni", np.linalg.inv(slope), feedforward[:, joints]) / ratio
    commands = ratio * wanted + 0.1, ratio * turned[1], forward
    if targets == "motor":
        commands = q_target[:, joints], qd_target[:, joints], feedforward[:, joints]
    raw = commands[2] + kp * (commands[0] - ratio * angle - 0.1) + kd * (commands[1] - ratio * turned[0])
    shaft = ratio * np.clip(raw, -most, most)
    assert (np.abs(raw) > most).any() and (np.abs(raw) < most).any()
    np.testing.assert_allclose(found[:, joints], np.einsum("nij,ni->nj", slope, shaft), rtol=2e-5, atol=2e-5)
    # power: of the shafts, and of the joints
    of_joints = (found[:, joints] * qd[:, joints]).sum(1)
    np.testing.assert_allclose((shaft * turned[0]).sum(1), of_joints, rtol=1e-5, atol=2e-5)
    # another joint has its own motor
    expected = feedforward[:, 1] + 10 * (q_target - q)[:, 1] + (qd_target - qd)[:, 1]
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shafts", [DIFFERENTIAL, PARALLEL], ids=["linear", "table"])
@pytest.mark.slow("Warp")
def test_power_of_the_shafts_is_that_of_the_joints(shafts, rng) -> None:
    arrays = aa.ActuatedArrays(NAMES, motors(*shafts, aa.PDControlConfig(3.0, 0.2)), num_robots=200)
    arrays.observe_efforts()
    q, qd, *_ = signals = drawn(rng, 200)
    efforts, joints = step(arrays, signals)[:, [0, 2]], [0, 2]
    shaft = arrays.computed_efforts[:, joints].astype(float)
    turned = np.einsum("nij,nj->ni", shaft_of(shafts, q[:, joints].astype(float))[1], qd[:, joints])
    flows = np.abs(shaft * turned).sum(1) + np.abs(efforts * qd[:, joints]).sum(1)
    assert np.abs((shaft * turned).sum(1) - (efforts * qd[:, joints]).sum(1)).max() > 0
    np.testing.assert_array_less(
        np.abs((shaft * turned).sum(1) - (efforts * qd[:, joints]).sum(1)), 1e-6 * np.maximum(flows, 1e-3)
    )


@pytest.mark.usefixtures("backend")
def test_rotors_turn_on_as_the_slopes_change(rng: np.random.Generator) -> None:
    """Less J·Ġ·q̇, in a table whose rotors do not couple the joints: one of one joint."""
    gear = aa.TransmissionConfig(ratio=5.0, rotor_inertia=2e-3)
    plain = aa.ActuatedArrays(
        ["knee"], {"knee": [aa.PDControlConfig(0.0, 0.0), aa.TransmissionConfig(ratio=5.0), KNEE]}, num_robots=9
    )
    heavy = aa.ActuatedArrays(["knee"], {"knee": [aa.PDControlConfig(0.0, 0.0), gear, KNEE]}, num_robots=9)
    q = np.linspace(0.9, 2.3, 9, dtype=np.float32)[:, None]
    qd = rng.normal(size=(9, 1)).astype(np.float32) * 5
    assert not np.any(plain.step(q, qd, q, DT))
    found = np.asarray(heavy.step(q, qd, q, DT), float)
    now, then = (shaft_of((KNEE,), at.astype(float))[1][:, 0, 0] for at in (q, q + DT * qd))
    expected = -now * 0.05 * (then - now) / DT * qd[:, 0]
    np.testing.assert_allclose(found[:, 0], expected, rtol=2e-2, atol=2e-4)
    middle = shaft_of((KNEE,), np.array([[1.6]]))[1][0, 0, 0]
    assert heavy.joint_properties["armature"][0, 0] == pytest.approx(0.05 * middle**2, rel=1e-3)
    assert plain.joint_properties == {}


@pytest.mark.parametrize("shafts", [DIFFERENTIAL, PARALLEL], ids=["linear", "table"])
@pytest.mark.parametrize("targets", ["joint", "motor"])
@pytest.mark.slow
def test_engines_agree_to_the_last_bit(shafts, targets, monkeypatch) -> None:
    stages = [
        aa.PIDControlConfig(3.0, 1.0, 0.2),
        aa.DCMotorClampingConfig(6.0, 4.0, 5.0),
        aa.TransmissionConfig(ratio=2.0, targets=targets),
        aa.DelayConfig(2),
        aa.PositionBasedClampingConfig([-1, 1], [0.5, 9.0]),
        aa.CoggingConfig(0.3, 4.0),
    ]
    rubbing = aa.FrictionConfig(0.1, 0.05, assumed_inertia=0.05)
    given = motors(*shafts, *stages) | {"knee": [aa.PDControlConfig(10.0, 1.0), KNEE, rubbing]}
    made, core = [], native.core
    for engine in (core, None):
        monkeypatch.setattr(native, "core", engine)
        made.append(aa.ActuatedArrays(NAMES, given, num_robots=4))
    for number in range(30):
        signals = drawn(np.random.default_rng(number))
        if number == 20:
            signals[0][1, 0], signals[2][2, 2] = np.nan, np.inf
        found, other = (step(arrays, signals).astype(np.float32) for arrays in made)
        np.testing.assert_array_equal(found.view(np.int32), other.view(np.int32))
        if number == 20:
            # an effort at either joint is of both motors
            assert not found[1:3, [0, 2]].any() and found[:, 1].all() and found[[0, 3]].all()
        if number == 25:
            for arrays in made:
                arrays.reset(indices=[1])
    assert made[0].faults == made[1].faults != []
    np.testing.assert_equal(*(arrays.save_state() for arrays in made))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shafts", [DIFFERENTIAL, PARALLEL], ids=["linear", "table"])
@pytest.mark.slow("Warp")
def test_fault_of_a_requested_signal_is_one_of_all_joints(shafts, rng) -> None:
    rubbing = aa.FrictionConfig(0.1, 0.05)
    arrays = aa.ActuatedArrays(NAMES, motors(*shafts, aa.PDControlConfig(3.0, 0.2), rubbing), num_robots=4)
    ((joints, array),) = arrays._assembly.signals["inertia"]
    places = [joints.index(arrays._assembly.dof_names.index(name)) for name in ("pitch", "roll")]
    inertia = np.full(array.shape, 0.05, np.float32)
    inertia[[1, 2], places] = np.nan
    array.assign(inertia)
    efforts = step(arrays, drawn(rng))
    assert not efforts[1:3, [0, 2]].any() and efforts[[0, 3]].all() and efforts[:, 1].all()
    assert sorted((one.robot, one.dof_name, one.inputs) for one in arrays.faults) == [
        *((1, "pitch", ("signal",)), (1, "roll", ("effort",))),
        *((2, "pitch", ("effort",)), (2, "roll", ("signal",))),
    ]


@pytest.mark.usefixtures("backend")
def test_three_joints_and_robots_alone(rng: np.random.Generator) -> None:
    rows = [[1.0, 0.5, 0.0], [0.0, 1.0, -0.5], [0.2, 0.0, 1.0]]
    given = {
        name: [aa.PDControlConfig(3.0, 0.1), aa.LinkageConfig(NAMES, row, offset=0.1 * at)]
        for at, (name, row) in enumerate(zip(NAMES, rows, strict=True))
    }
    signals = drawn(rng, 5)
    found = step(aa.ActuatedArrays(NAMES, given, num_robots=5), signals)
    q, qd, q_target, qd_target, feedforward = (one.astype(float) for one in signals)
    matrix = np.array(rows)
    shaft = 3 * (q_target - q) @ matrix.T + 0.1 * (qd_target - qd) @ matrix.T + feedforward @ np.linalg.inv(matrix)
    np.testing.assert_allclose(found, shaft @ matrix, rtol=1e-5, atol=1e-5)
    for robot in range(5):
        alone = step(aa.ActuatedArrays(NAMES, given, num_robots=1), [one[robot : robot + 1].copy() for one in signals])
        np.testing.assert_array_equal(alone[0], found[robot])


def test_motor_efforts_and_limits_are_told() -> None:
    given = motors(*DIFFERENTIAL, aa.PDControlConfig(10.0, 0.0), aa.MaxEffortClampingConfig(2.0))
    arrays = aa.ActuatedArrays(NAMES, given)
    arrays.observe_efforts()
    zero = np.zeros((1, 3), np.float32)
    found = arrays.step(zero, zero, np.array([[0.3, 0.0, 0.0]], np.float32), DT)
    np.testing.assert_allclose(np.asarray(found), [[4.0, 0.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(arrays.computed_efforts, [[3.0, 0.0, 3.0]], rtol=1e-6)
    assert arrays.limited_by.tolist() == [["ClampingMaxEffort", "", "ClampingMaxEffort"]]
    np.testing.assert_allclose(arrays.motor_efforts, [[4.0, 0.0, 0.0]], atol=1e-6)


LAW, WINDING = aa.PDControlConfig(1.0, 0.0), aa.ElectricalConfig(1.0, 1.0)
ROTORS = aa.TransmissionConfig(ratio=2.0, rotor_inertia=1.0), aa.ShaftInertiaConfig(1.0)


@cases(
    "given, words",
    ({"pitch": [LAW, PARALLEL[0]]}, "joint 'roll' must have an actuator with a LinkageConfig, too"),
    ({"knee": [LAW, DIFFERENTIAL[0]], "pitch|roll": [LAW]}, "must have joint 'knee', at which the actuator is"),
    ({"knee": [LAW, DIFFERENTIAL[0]]}, "must have joint 'knee', at which the actuator is"),
    (
        {"pitch": [LAW, DIFFERENTIAL[0]], "roll": [LAW, aa.LinkageConfig(["roll", "pitch"], [1.0, 1.0])]},
        "must be the joints that joint 'roll' has",
    ),
    ({"pitch|roll": [LAW, DIFFERENTIAL[0]]}, "must have shafts that determine the joints"),
    ({"pitch": [LAW, DIFFERENTIAL[0]], "roll": [LAW, PARALLEL[1]]}, "must have the positions of the table of joint"),
    (
        {"pitch": [LAW, *ROTORS, aa.LinkageConfig(["pitch", "roll"], [1, 1])], "roll": [LAW, DIFFERENTIAL[1]]},
        "has rotor_inertia in its transmission and a ShaftInertia",
    ),
    (
        {"pitch": [LAW, WINDING, DIFFERENTIAL[0]], "roll": [LAW, WINDING, DIFFERENTIAL[1]]},
        "ElectricalWinding asks for inertia or load before LinkageShaft",
    ),
)
def test_motors_that_do_not_belong_together_are_refused(given: dict[str, Any], words: str) -> None:
    refused((ValueError, TypeError), lambda: aa.ActuatedArrays(NAMES, given), words)


def test_gradients_are_refused_by_name() -> None:
    arrays = aa.ActuatedArrays(NAMES, motors(*DIFFERENTIAL, aa.PDControlConfig(1.0, 0.0)))
    with pytest.raises(NotImplementedError, match=r"a linkage \(LinkageShaft\), which couples joints, has none"):
        require_gradients("wrist", arrays._assembly.parts[0][1])


@pytest.mark.usefixtures("backend")
def test_motors_of_a_linkage_run_in_one_plan(rng: np.random.Generator) -> None:
    import step_bench
    from isaacsim.core.experimental.actuators import ActuatorConfig, ControllerPD
    from isaacsim.core.experimental.actuators.laws.linkage_shaft import LinkageShaft

    robots = step_bench.ROBOTS
    kp = step_bench.full(4.0)
    shafts = [LinkageShaft(["pitch", "roll"], coefficients=[1.0, sign]) for sign in (1.0, -1.0)]
    given = [
        (ActuatorConfig(step_bench.ControllerLeaky(kp), others=[shafts[0]]), "pitch"),
        (ActuatorConfig(ControllerPD(step_bench.full(3.0), step_bench.full(0.0)), others=[shafts[1]]), "roll"),
        (ActuatorConfig(ControllerPD(step_bench.full(3.0), step_bench.full(0.0))), "knee"),
    ]
    arrays = aa.ActuatedArrays(NAMES, given, num_robots=robots)
    parts = [sorted(arrays._assembly.dof_names[at] for at in joints) for joints, _ in arrays._assembly.parts]
    assert ["pitch", "roll"] in parts or parts == [sorted(NAMES)]
    assert np.isfinite(step(arrays, drawn(rng, robots))).all()


FINGER = ["MCP", "PIP", "DIP", "wrist"]
ROWS = {"PIP": [0.0, 1.0, 0.7], "MCP": [1.0, -0.4, 0.2]}


def tendon_arrays(rows: dict[str, list[float]], *stages: Any, robots: int = 6, **rest: Any) -> aa.ActuatedArrays:
    shafts = {joint: aa.LinkageConfig(FINGER[:3], row, **rest) for joint, row in rows.items()}
    return aa.ActuatedArrays(FINGER, {joint: [*stages, one] for joint, one in shafts.items()}, num_robots=robots)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("rows", [{"PIP": ROWS["PIP"]}, ROWS], ids=["one tendon", "two tendons"])
@pytest.mark.parametrize("unilateral", [False, True])
@pytest.mark.slow("Warp")
def test_tendons_move_more_joints_than_they_are(rows, unilateral, rng) -> None:
    kp, kd, most, robots = 3.0, 0.2, 1.5, 6
    arrays = tendon_arrays(
        rows, aa.PDControlConfig(kp, kd), aa.MaxEffortClampingConfig(most), robots=robots, unilateral=unilateral
    )
    q, qd, q_target, qd_target, feedforward = (rng.normal(size=(robots, 4)).astype(np.float32) for _ in range(5))
    found = step(arrays, [q, qd, q_target, qd_target, feedforward])
    slopes = np.array(list(rows.values()), np.float64)
    joints = [one[:, :3].astype(np.float64) for one in (q_target - q, qd_target - qd, feedforward)]
    position, velocity, own = joints[0] @ slopes.T, joints[1] @ slopes.T, joints[2] @ np.linalg.pinv(slopes)
    efforts = np.clip(kp * position + kd * velocity + own, -most, most)
    if unilateral:
        assert (efforts < 0).any()
        efforts = np.maximum(efforts, 0.0)
    np.testing.assert_allclose(found[:, :3], efforts @ slopes, rtol=1e-5, atol=1e-5)
    assert not found[:, 3].any()


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
def test_eight_joints_of_a_linkage(rng: np.random.Generator) -> None:
    names = [f"joint_{k}" for k in range(8)]
    slopes = rng.normal(size=(5, 8))
    at = [names[k] for k in (6, 0, 3, 1, 7)]
    motors = {
        joint: [aa.PDControlConfig(2.0, 0.0), aa.LinkageConfig(names, row.tolist())]
        for joint, row in zip(at, slopes, strict=True)
    }
    q = rng.normal(size=(3, 8)).astype(np.float32)
    arrays = aa.ActuatedArrays(names, motors, num_robots=3)
    found = arrays.step(q, 0.0 * q, 0.0 * q, DT)
    np.testing.assert_allclose(found, -2.0 * q @ slopes.T @ slopes, rtol=2e-4, atol=2e-4)


def test_power_of_shafts_is_that_of_joints(rng: np.random.Generator) -> None:
    """θ̇ᵀτ = q̇ᵀGᵀτ."""
    arrays = tendon_arrays(ROWS, aa.PDControlConfig(3.0, 0.2))
    q, qd = (rng.normal(size=(6, 4)).astype(np.float32) for _ in range(2))
    efforts = np.asarray(arrays.step(q, qd, 0.0 * q, DT), np.float64)[:, :3]
    slopes = np.array(list(ROWS.values()), np.float64)
    position, velocity = (one[:, :3].astype(np.float64) @ slopes.T for one in (q, qd))
    shafts = -3.0 * position - 0.2 * velocity
    np.testing.assert_allclose((velocity * shafts).sum(axis=1), (qd[:, :3] * efforts).sum(axis=1), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("names", [FINGER[:2], FINGER[:3]], ids=["all joints", "some joints"])
@pytest.mark.slow("Warp")
def test_slack_is_recorded(names: list[str]) -> None:
    cable = aa.LinkageConfig.tendon({"MCP": 1.0, "PIP": 0.5}, unilateral=True)
    motor = [aa.PDControlConfig(2.0, 0.0), aa.MaxEffortClampingConfig(0.5), cable]
    arrays = aa.ActuatedArrays(names, {"MCP": motor})
    q = np.array([[0.3, 0.2, 0.1]], np.float32)[:, : len(names)]
    arrays.observe_efforts()
    with arrays.record(capacity=3) as log:
        for sign in (1.0, -1.0, 0.1):
            arrays.step(np.float32(sign) * q, 0.0 * q, 0.0 * q, DT)
    np.testing.assert_allclose(log.computed_efforts[:, 0, :2], [[-0.8, 0.0], [0.8, 0.0], [-0.08, 0.0]], rtol=1e-6)
    assert log.limited_by[:, 0, :2].tolist() == [["LinkageShaft", ""], ["ClampingMaxEffort", ""], ["LinkageShaft", ""]]
    np.testing.assert_allclose(log.applied_efforts[:, 0, :2], [[0.0, 0.0], [0.5, 0.25], [0.0, 0.0]], rtol=1e-6)


def test_antagonists_move_as_exactly_integrated() -> None:
    inertia, spring, damping, kp, kd, dt = np.array([2e-3, 1e-3]), 0.02, 2e-4, 0.4, 1e-3, 1e-4
    slopes, targets = np.array([[1.0, 0.6], [-1.0, -0.9]]), np.array([0.5, -0.35])
    motor = [aa.PDControlConfig(kp, kd), aa.TransmissionConfig(1.0, targets="motor")]
    motors = {
        name: [*motor, aa.LinkageConfig(["a", "b"], row.tolist(), unilateral=True)]
        for name, row in zip("ab", slopes, strict=True)
    }

    def pull(q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kp * (targets - slopes @ q) - kd * slopes @ v

    def acceleration(q: NDArray[Any], v: NDArray[Any], efforts: NDArray[Any]) -> NDArray[Any]:
        return (efforts - spring * q - damping * v) / inertia

    exact_q, exact_v, time, exact = np.array([0.6, -0.4]), np.zeros(2), 0.0, []
    times = np.arange(1, 21) * 400 * dt
    slack, changes = pull(exact_q, exact_v) < 0.0, 0
    while time < times[-1]:

        def flow(_: float, state: NDArray[Any], is_slack: NDArray[Any] = slack) -> NDArray[Any]:
            q, v = state[:2], state[2:]
            return np.concatenate([v, acceleration(q, v, np.where(is_slack, 0.0, pull(q, v)) @ slopes)])

        events = [lambda _, state, at=at: pull(state[:2], state[2:])[at] for at in range(2)]
        for at, event in enumerate(events):
            # from pulling to slack, or back
            event.terminal, event.direction = True, 1.0 if slack[at] else -1.0
        left = times[times > time]
        found = solve_ivp(
            flow,
            (time, times[-1]),
            np.concatenate([exact_q, exact_v]),
            "DOP853",
            left,
            events=events,
            rtol=1e-11,
            atol=1e-12,
        )
        exact += np.reshape(found.y, (4, -1))[:2].T.tolist()
        if not found.status:
            break
        at = int(np.argmax([len(one) for one in found.t_events]))
        time, state = float(found.t_events[at][0]), found.y_events[at][0]
        exact_q, exact_v, slack = state[:2], state[2:], slack ^ (np.arange(2) == at)
        changes += 1
    arrays, q, v = aa.ActuatedArrays(["a", "b"], motors), np.array([0.6, -0.4]), np.zeros(2)
    wanted, stepped = targets[None].astype(np.float32), []
    for step_number in range(len(times) * 400):
        given = (one[None].astype(np.float32) for one in (q, v))
        efforts = np.asarray(arrays.step(*given, wanted, dt), float)[0]
        # half of the first step: positions are then of second order
        v = v + (0.5 if step_number == 0 else 1.0) * dt * acceleration(q, v, efforts)
        q = q + dt * v
        if (step_number + 1) % 400 == 0:
            stepped.append(q)
    assert changes >= 4
    np.testing.assert_allclose(stepped, exact, atol=1e-4)


def test_friction_of_a_joint_without_motor_stays_at_the_joint() -> None:
    shaft = aa.LinkageConfig.tendon({"FFJ2": 1.0, "FFJ1": 0.5})
    motors = {
        "FFJ2": [aa.PDControlConfig(2.0, 0.0), shaft],
        "FFJ1": [aa.FrictionConfig(viscous=0.3, assumed_inertia=1.0)],
    }
    arrays = aa.ActuatedArrays(["FFJ2", "FFJ1"], motors)
    qd = np.array([[0.0, 0.1]], np.float32)
    found = arrays.step(np.array([[0.2, 0.0]], np.float32), qd, np.zeros((1, 2), np.float32), DT)
    np.testing.assert_allclose(found, [[-0.4, -0.2 - 0.03]], rtol=1e-3)


@cases(
    "motors, words",
    ({"a": [LAW, aa.LinkageConfig.tendon({"a": 1.0, "x": 1.0})]}, "must be a joint of"),
    (
        {"a": [LAW, aa.LinkageConfig.tendon({"a": 1.0, "b": 1.0})], "[bc]": [aa.FrictionConfig(viscous=0.3)]},
        "'b' must have a motor of its own",
    ),
    (
        {"a": [LAW, aa.LinkageConfig.tendon({"a": 1.0, "b": 1.0})], "b": [LAW]},
        "joint 'b' must have an actuator with a LinkageConfig",
    ),
    (
        {
            "a": [LAW, aa.LinkageConfig(["a", "b", "c"], [1.0, 1.0, 0.0])],
            "b": [LAW, aa.LinkageConfig(["a", "b", "c"], [2.0, 2.0, 0.0])],
        },
        "must have shafts that determine the joints",
    ),
)
def test_tendons_that_do_not_fit_are_refused(motors: Any, words: str) -> None:
    refused(ValueError, lambda: aa.ActuatedArrays(["a", "b", "c"], motors), re.escape(words))


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
def test_robots_of_many_blocks_have_what_they_have_alone(rng: np.random.Generator) -> None:
    names, robots = [f"joint_{k}" for k in range(13)], 200
    pd, late = aa.PDControlConfig(3.0, 0.1), aa.DelayConfig(1)
    rows = {"joint_9": [1.0, 0.5, 0.0], "joint_0": [0.0, 1.0, -0.5], "joint_4": [0.2, 0.0, 1.0]}
    motors = {name: [pd, late, aa.LinkageConfig(list(rows), row, offset=0.1)] for name, row in rows.items()}
    motors["joint_3"] = [pd, aa.LinkageConfig.tendon({"joint_3": 1.0, "joint_1": 0.5}, unilateral=True)]
    motors["joint_7"] = [pd, late, aa.LinkageConfig.four_bar("joint_7", 0.05, 0.2, 0.06, 0.2, 0.7, 2.5)]
    motors |= {name: [pd] for name in names if name not in motors and name != "joint_1"}
    signals = [rng.normal(size=(robots, 13)).astype(np.float32) for _ in range(5)]
    signals[0][77, 2], signals[2][77, 9], signals[1][78, 1] = np.inf, np.nan, -np.inf
    arrays = aa.ActuatedArrays(names, motors, num_robots=robots)
    found = [step(arrays, signals), step(arrays, [signals[0], *signals[1:4][::-1], signals[4]])]
    faulty = {(one.robot, one.dof_name) for one in arrays.faults}
    assert faulty == {*((77, f"joint_{k}") for k in (0, 2, 4, 9)), *((78, f"joint_{k}") for k in (1, 3))}
    for robot in (0, 76, 77, 78, 79, robots - 1):
        own = [one[robot : robot + 1].copy() for one in signals]
        alone = aa.ActuatedArrays(names, motors, num_robots=1)
        for efforts, given in zip(found, (own, [own[0], *own[1:4][::-1], own[4]]), strict=True):
            np.testing.assert_array_equal(step(alone, given)[0], efforts[robot])


def test_inertia_of_a_shaft_by_a_table_is_that_by_its_slope() -> None:
    shafts = aa.LinkageConfig(["a"], [1.7], 0.4), aa.LinkageConfig.table(["a"], lambda q: 0.4 + 1.7 * q, [-2.0], [2.0])
    efforts = []
    for shaft in shafts:
        arrays = aa.ActuatedArrays(
            ["a"], {"a": [aa.PDControlConfig(4.0, 0.1), aa.ShaftFrictionConfig(0.2, 0.1), shaft]}
        )
        arrays.set_mass_matrix([[0.02]])
        q, v = np.full((1, 1), 0.3, np.float32), np.full((1, 1), 0.02, np.float32)
        efforts.append([float(arrays.step(q + 1e-3 * k, v * k, 1.1 * q, DT)[0, 0]) for k in range(4)])
    np.testing.assert_allclose(*efforts, rtol=1e-4, atol=1e-5)
