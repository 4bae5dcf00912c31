"""The implicit effort mode of `Actuator`: compared with newton 1.8, with float64, and with the explicit mode."""

import importlib
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from chains import mass_matrices, newton_chain, situation
from isaacsim.core.experimental import actuators as ours
from isaacsim.core.experimental.actuators.engine.user_components import entries_from_configs
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from refusals import cases, refused
from warp_arrays import floats, indices

DT = 0.005


def peer():
    found = pytest.importorskip("newton.actuators")
    if not hasattr(found, "JointSpaceResponse"):
        pytest.skip("newton has an implicit effort mode from 1.6 on")
    return found


def gains(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Proportional and derivative gains from slack to very stiff, as float32 has them."""
    rng = np.random.default_rng(seed)
    kp, kd = 10 ** rng.uniform(0, 5, count), 10 ** rng.uniform(-1, 3, count)
    return kp.astype(np.float32).astype(float), kd.astype(np.float32).astype(float)


def made(library, kind: str, count: int, seed: int, **more):
    kp, kd = map(floats, gains(count, seed))
    if kind == "pid":
        drive = library.DrivePID(kp, floats(3 * kp.numpy()), kd, floats(np.full(count, 0.5)))
    else:
        drive = library.DrivePD(kp, kd)
    clamping = []
    if kind == "dc":
        full = [floats(np.full(count, value)) for value in (40.0, 3.0, 30.0)]
        clamping = [library.ClampingDCMotor(*full)]
    return library.Actuator(indices(range(count)), drive, clamping=clamping, **more)


@pytest.mark.parametrize("links", [1, 2, 3])
@pytest.mark.parametrize("kind", ["pd", "pid", "dc"])
@pytest.mark.slow
def test_efforts_are_newtons(backend, kind, links) -> None:
    theirs = peer()
    model = newton_chain(links, robots=2, armature=0.005)
    count = 2 * links
    for seed in range(6):
        found: list[list[np.ndarray]] = []
        for library in (ours, theirs):
            actuator = made(library, kind, count, seed)
            response = library.JointSpaceResponse(model)
            actuator.set_effort_mode_implicit(response)
            states, efforts = [actuator.state(), actuator.state()], []
            for step in range(3):
                state, control = situation(count, 10 * seed + step)
                # newton's mode reads it
                state.body_q = model.state().body_q
                response.refresh(state)
                bias = floats(np.linspace(-4.0, 5.0, count)) if step else None
                actuator.step(state, control, *states, dt=DT, bias_force=bias)
                efforts.append(control.joint_f.numpy().copy())
                states.reverse()
            if kind == "pid":
                efforts.append(states[0].drive_state.integral.numpy())
            found.append(efforts)
        for own, expected in zip(*found, strict=True):
            np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-4 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("stability", [1.0, 30.0, 1000.0])
def test_stiff_efforts_are_newtons(stability) -> None:
    theirs, model = peer(), newton_chain(1)
    response = aa.JointSpaceResponse(model)
    state, _ = situation(1)
    response.refresh(state)
    inertia = 1 / float(response.inverse_blocks.numpy()[0, 0, 0])
    kp, kd = floats([2 * stability * inertia / DT**2]), floats([stability * inertia / DT])
    for seed in range(10):
        found = []
        for library in (ours, theirs):
            state, control = situation(1, seed)
            state.body_q = model.state().body_q
            actuator = library.Actuator(indices([0]), library.DrivePD(kp, kd))
            own = library.JointSpaceResponse(model)
            own.refresh(state)
            actuator.set_effort_mode_implicit(own)
            actuator.step(state, control, dt=DT, bias_force=floats([4.0]))
            found.append(control.joint_f.numpy().copy())
        np.testing.assert_allclose(*found, rtol=1e-4)


def test_newtons_own_response_is_taken() -> None:
    theirs, model, found = peer(), newton_chain(2), []
    for library in (ours, theirs):
        state, control = situation(2)
        response = library.JointSpaceResponse(model)
        response.refresh(state)
        actuator = made(ours, "pd", 2, 1)
        actuator.set_effort_mode_implicit(response)
        actuator.step(state, control, dt=DT)
        found.append(control.joint_f.numpy().copy())
    np.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.slow
def test_rest_under_gravity_is_that_of_the_explicit_law() -> None:
    newton = importlib.import_module("newton") if peer() else None
    kp, weight = 3000.0, 1.0 * 9.81 * 0.25
    rest = {}
    for with_bias in (True, False):
        model = newton_chain(1, gravity=9.81)
        actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([kp]), floats([10.0])))
        response = aa.JointSpaceResponse(model)
        actuator.set_effort_mode_implicit(response)
        states, control = [model.state(), model.state()], model.control()
        solver = newton.solvers.SolverFeatherstone(model)
        gravity = wp.zeros(1, dtype=wp.float32, device="cpu")
        for _ in range(400):
            newton.eval_fk(model, states[0].joint_q, states[0].joint_qd, states[0])
            newton.eval_inverse_dynamics_passive(model, states[0], gravity_force=gravity)
            response.refresh(states[0])
            control.joint_f.zero_()
            actuator.step(states[0], control, dt=0.01, bias_force=gravity if with_bias else None)
            solver.step(*states, control, None, dt=0.01)
            states.reverse()
        rest[with_bias] = -states[0].joint_q.numpy()[0] * kp / weight
    np.testing.assert_allclose(rest[True], 1.0, rtol=1e-4)
    assert rest[False] > 1.5


def law(kind: str, count: int, seed: int, q: np.ndarray, v: np.ndarray, control) -> tuple[np.ndarray, np.ndarray]:
    """Effort and slope by the final velocity of the laws, in float64."""
    kp, kd = gains(count, seed)
    goal, rate, act = (getattr(control, name).numpy().astype(float) for name in TARGETS)
    effort, slope = act + kp * (goal - q) + kd * (rate - v), -(DT * kp + kd)
    if kind == "dc":
        corner = 3.0 * (1 + 30.0 / 40.0)
        speed = np.clip(v, -corner, corner) / 3.0
        upper, lower = np.minimum(40.0 * (1 - speed), 30.0), np.maximum(40.0 * (-1 - speed), -30.0)
        line = np.where(np.abs(v) < corner, -40.0 / 3.0, 0.0)
        slope = np.where(effort > upper, np.where(upper < 30.0, line, 0.0), slope)
        slope = np.where(effort < lower, np.where(lower > -30.0, line, 0.0), slope)
        effort = np.clip(effort, lower, upper)
    return effort, slope


TARGETS = ("joint_target_q", "joint_target_qd", "joint_act")


@pytest.mark.parametrize("kind", ["pd", "dc"])
@pytest.mark.parametrize("joints", [1, 3])
def test_efforts_are_those_of_the_end_of_the_step(backend, kind, joints) -> None:
    """What Newton's method in float64 would still change of them is less than 1e-4 of the largest."""
    count = 2 * joints
    for seed in range(12):
        masses = mass_matrices(2, joints, seed)
        state, control = situation(count, seed)
        actuator = made(ours, kind, count, seed)
        # limits of strongly coupled joints take more iterations than the default
        actuator.set_effort_mode_implicit(
            aa.JointSpaceResponse.from_matrices(masses), ours.Actuator.ImplicitOptions(max_iters=40)
        )
        bias = np.linspace(-2.0, 3.0, count).astype(np.float32)
        actuator.step(state, control, dt=DT, bias_force=bias)
        effort = control.joint_f.numpy().copy().astype(float)
        inverse = np.zeros((count, count))
        for robot, one in enumerate(masses):
            at = slice(robot * joints, (robot + 1) * joints)
            inverse[at, at] = np.linalg.inv(one)
        v = state.joint_qd.numpy() + inverse @ (DT * (effort - bias))
        wanted, slope = law(kind, count, seed, state.joint_q.numpy() + DT * v, v, control)
        left = np.linalg.solve(np.eye(count) - DT * slope[:, None] * inverse, wanted - effort)
        assert np.abs(left).max() < 1e-4 * (1 + np.abs(effort).max()), (seed, left, effort)


@pytest.mark.parametrize("stiffness", [0.3, 10.0, 1000.0])
def test_a_joint_rests_at_any_stability_number(stiffness) -> None:
    """At S = (kp·h² + 2·kd·h)/(4·I) far above 1 it comes to rest at its target, as soon as its gains let it."""
    inertia, h = 0.02, 0.005
    kp = 2 * stiffness * inertia / h**2
    kd = stiffness * inertia / h
    state = SimpleNamespace(joint_q=floats([0.5]), joint_qd=floats([3.0]))
    control = SimpleNamespace(**{name: floats([0.0]) for name in TARGETS}, joint_f=floats([0.0]))
    actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([kp]), floats([kd])))
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[inertia]]]))
    for _ in range(200):
        control.joint_f.zero_()
        actuator.step(state, control, dt=h)
        state.joint_qd.assign(state.joint_qd.numpy() + h * control.joint_f.numpy().copy() / np.float32(inertia))
        state.joint_q.assign(state.joint_q.numpy() + h * state.joint_qd.numpy())
    assert abs(state.joint_q.numpy()[0]) < 1e-5 and abs(state.joint_qd.numpy()[0]) < 1e-4


def test_joints_that_belong_to_nobody_move_freely() -> None:
    """The response of a driven joint is a row of the whole inverse, also behind a free base without velocities."""
    masses = mass_matrices(2, 3)
    state, control = situation(4)
    actuator = aa.Actuator(indices([1, 3]), aa.ControllerPD(floats([500.0, 700.0]), floats([5.0, 6.0])))
    response = aa.JointSpaceResponse.from_matrices(masses, dofs=[[-1, 0, 1], [-1, 2, 3]])
    actuator.set_effort_mode_implicit(response)
    actuator.step(state, control, dt=DT)
    own = np.array([np.linalg.inv(one)[2, 2] for one in masses])
    kp, kd = np.array([500.0, 700.0]), np.array([5.0, 6.0])
    q, v, goal, rate, act = (
        getattr(source, name).numpy()[[1, 3]].astype(float)
        for source, name in ((state, "joint_q"), (state, "joint_qd"), *((control, name) for name in TARGETS))
    )
    slack = act + kp * (goal - q - DT * v) + kd * (rate - v)
    expected = slack / (1 + DT * own * (DT * kp + kd))
    np.testing.assert_allclose(control.joint_f.numpy().copy(), [0.0, expected[0], 0.0, expected[1]], rtol=1e-5)


@pytest.mark.parametrize("integral", [False, True])
def test_geared_controllers_are_those_of_the_motor(integral) -> None:
    """With gear G they are the law of G²-fold gains at the joint; the integral is that of the start of the step."""
    state, control = situation(1)
    gear, kp, ki, kd, inverse = 9.0, 40.0, 200.0, 0.5, 4.0
    kept = {"ki": floats([ki]), "integral_max": floats([1.0])} if integral else {}
    kind = aa.ControllerGearedPID if integral else aa.ControllerGearedPD
    actuator = aa.Actuator(indices([0]), kind(kp=floats([kp]), kd=floats([kd]), gear=floats([gear]), **kept))
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[1 / inverse]]]))
    states = actuator.state(), actuator.state()
    actuator.step(state, control, *states, dt=DT)
    q, v = (float(one.numpy()[0]) for one in (state.joint_q, state.joint_qd))
    goal, rate, act = (float(getattr(control, name).numpy()[0]) for name in TARGETS)
    held = ki * np.clip(DT * (goal - gear * q), -1.0, 1.0) if integral else 0.0
    slack = gear * (act + held + kp * (goal - gear * (q + DT * v)) + kd * (rate - gear * v))
    expected = slack / (1 + DT * inverse * gear**2 * (DT * kp + kd))
    np.testing.assert_allclose(control.joint_f.numpy().copy(), expected, rtol=2e-5)


@pytest.mark.parametrize("in_place", [False, True])
def test_states_advance_once_per_step(backend, in_place) -> None:
    masses, kinds = mass_matrices(1, 2), ("implicit", "explicit")
    actuators, states = {}, {}
    for kind in kinds:
        law = aa.ControllerPID(*(floats([value] * 2) for value in (400.0, 100.0, 8.0, 0.5)))
        delay = aa.Delay(wp.array([1, 2], dtype=wp.int32, device="cpu"), max_delay=2)
        actuators[kind] = aa.Actuator(indices([0, 1]), law, delay)
        states[kind] = [actuators[kind].state() for _ in range(2)]
    actuators["implicit"].set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices(masses))
    inverse = np.linalg.inv(masses[0])
    goals: list[list[np.ndarray]] = []
    for step in range(5):
        state, control = situation(2, step)
        goals.append([getattr(control, name).numpy().astype(float) for name in TARGETS])
        efforts = {}
        for kind in kinds:
            now, after = states[kind][0], states[kind][0 if in_place else 1]
            control.joint_f.zero_()
            actuators[kind].step(state, control, now, after, dt=DT)
            efforts[kind] = control.joint_f.numpy().copy()
            if not in_place:
                states[kind].reverse()
        pairs = zip(*(states[kind][0].delay_state.__dict__.values() for kind in kinds), strict=True)
        for own, expected in (*pairs, [states[kind][0].controller_state.integral for kind in kinds]):
            np.testing.assert_array_equal(own.numpy(), expected.numpy())
        goal, rate, act = np.array([goals[max(step - lag, 0)] for lag in (1, 2)])[[0, 1], :, [0, 1]].T
        held = 100.0 * states["implicit"][0].controller_state.integral.numpy()
        q, v = state.joint_q.numpy().astype(float), state.joint_qd.numpy().astype(float)
        slack = act + held + 400.0 * (goal - q - DT * v) + 8.0 * (rate - v)
        expected = np.linalg.solve(np.eye(2) + DT * (DT * 400.0 + 8.0) * inverse, slack)
        np.testing.assert_allclose(efforts["implicit"], expected, rtol=1e-4, atol=1e-4)


def test_signals_reach_limits_at_tried_states() -> None:
    config = ours.EnvelopeClampingConfig(lookup_velocities=[0.0, 100.0], lookup_efforts=[8.0, 8.0])
    limit = aa.ClampingEnvelope.from_config(config, 1, "cpu")
    state, control = situation(1)
    control.joint_target_q.fill_(50.0)
    actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([500.0]), floats([0.0])), clamping=[limit])
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[1.0]]]))
    for derating in (1.0, 0.25):
        actuator.signals["derating"].fill_(derating)
        control.joint_f.zero_()
        actuator.step(state, control, dt=DT)
        assert control.joint_f.numpy().copy().tolist() == [8.0 * derating]


def test_explicit_efforts_are_as_before_after_the_implicit_mode(backend) -> None:
    state, control = situation(3)
    actuator, other = (made(ours, "pid", 3, 2) for _ in range(2))
    assert actuator.effort_mode == "explicit"
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices(mass_matrices(1, 3)))
    assert actuator.effort_mode == "implicit"
    actuator.step(state, control, *(actuator.state() for _ in range(2)), dt=DT)
    actuator.set_effort_mode_explicit()
    assert actuator.effort_mode == "explicit"
    efforts = []
    for one in (actuator, other):
        control.joint_f.zero_()
        one.step(state, control, *(one.state() for _ in range(2)), dt=DT)
        efforts.extend((control.joint_f.numpy().copy(), one.computed_efforts.numpy().copy()))
    np.testing.assert_array_equal(efforts[0], efforts[2])
    np.testing.assert_array_equal(efforts[1], efforts[3])


def test_parameters_act_at_the_next_step() -> None:
    state, control = situation(1)
    actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([0.0]), floats([0.0])))
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[0.5]]]))
    act, q, v = (float(one.numpy()[0]) for one in (control.joint_act, state.joint_q, state.joint_qd))
    goal = float(control.joint_target_q.numpy()[0])
    for kp in (0.0, 70.0, 30.0):
        if kp == 30.0:
            actuator.drive.kp = floats([kp])
        actuator.drive.kp.fill_(kp)
        control.joint_f.zero_()
        actuator.step(state, control, dt=DT)
        expected = (act + kp * (goal - q - DT * v)) / (1 + DT * DT * kp * 2.0)
        np.testing.assert_allclose(control.joint_f.numpy().copy(), expected, rtol=1e-5)


def test_computed_efforts_are_those_before_the_limits(backend) -> None:
    state, control = situation(1)
    control.joint_target_q.fill_(50.0)
    limit = aa.ClampingMaxEffort(floats([3.0]))
    actuator = aa.Actuator(
        indices([0]),
        aa.ControllerPD(floats([20.0]), floats([0.0])),
        clamping=[limit],
        control_computed_output_attr="computed",
    )
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[0.5]]]))
    actuator.step(state, control, dt=DT)
    q, v = (float(one.numpy()[0]) for one in (state.joint_q, state.joint_qd))
    expected = control.joint_act.numpy()[0] + 20.0 * (50.0 - q - DT * (v + DT * 2.0 * 3.0))
    assert control.joint_f.numpy().copy().tolist() == [3.0]
    for found in (control.computed, actuator.computed_efforts):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_a_group_steps_an_actuator_of_each_mode() -> None:
    masses, efforts = mass_matrices(1, 2), {}
    for grouped in (True, False):
        state, control = situation(2)
        both = [aa.Actuator(indices([n]), aa.ControllerPD(floats([500.0]), floats([5.0]))) for n in range(2)]
        group = aa.ActuatorGroup(both)
        for implicit in (False, True):
            if implicit:
                both[1].set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices(masses))
            control.joint_f.zero_()
            bias = floats([1.0, 2.0])
            if grouped:
                group.step(state, control, dt=DT, bias_force=bias)
            else:
                for one in both:
                    one.step(state, control, dt=DT, bias_force=bias)
            efforts[grouped, implicit] = control.joint_f.numpy().copy()
    for implicit in (False, True):
        np.testing.assert_array_equal(efforts[True, implicit], efforts[False, implicit])
    assert efforts[True, True][0] == efforts[True, False][0]
    assert abs(efforts[True, True][1]) < 0.9 * abs(efforts[True, False][1])


def test_a_joint_with_a_bad_input_has_no_effort_and_others_are_solved(backend) -> None:
    state, control = situation(2)
    actuator = made(ours, "pd", 2, 3)
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices(mass_matrices(1, 2)))
    actuator.step(state, control, dt=DT)
    assert actuator.faults == []
    control.joint_target_q.assign([np.nan, control.joint_target_q.numpy().copy()[1]])
    control.joint_f.zero_()
    actuator.step(state, control, dt=DT)
    alone = aa.Actuator(indices([1]), aa.ControllerPD(*(floats(one[1:]) for one in gains(2, 3))))
    alone.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices(mass_matrices(1, 2)))
    found = control.joint_f.numpy().copy()
    control.joint_f.zero_()
    alone.step(state, control, dt=DT)
    np.testing.assert_allclose(found, control.joint_f.numpy().copy(), rtol=1e-6)
    assert found[0] == 0.0
    (fault,) = actuator.faults
    assert (fault.robot, fault.step, fault.inputs) == (0, 1, ("position target",))
    actuator.set_effort_mode_explicit()
    assert actuator.faults == [fault]
    actuator.clear_faults()
    assert actuator.faults == []


@pytest.mark.parametrize("where", ["parameter", "response"])
def test_a_bad_parameter_or_response_is_a_fault(backend, where) -> None:
    state, control = situation(2)
    actuator, masses = made(ours, "pd", 2, 3), mass_matrices(2, 1)
    response = aa.JointSpaceResponse.from_matrices(masses)
    actuator.set_effort_mode_implicit(response)
    actuator.step(state, control, dt=DT)
    if where == "parameter":
        actuator.drive.kp.assign([np.nan, 5.0])
    else:
        masses[0] = np.nan
        response.refresh_from_matrices(masses)
    control.joint_f.zero_()
    actuator.step(state, control, dt=DT)
    assert control.joint_f.numpy().copy()[0] == 0.0 != control.joint_f.numpy().copy()[1]
    (fault,) = actuator.faults
    assert (fault.robot, fault.step, fault.inputs) == (0, 1, ("effort",))
    actuator.clear_faults()
    assert actuator.faults == []


def test_all_causes_of_a_fault_are_named(backend) -> None:
    state, control = situation(2)
    delay = aa.Delay(wp.array([1, 1], dtype=wp.int32, device="cpu"), max_delay=1)
    actuator = made(ours, "pd", 2, 3, delay=delay)
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices(mass_matrices(2, 1)))
    one, other = actuator.state(), actuator.state()
    actuator.step(state, control, one, other, dt=DT)
    state.joint_q.assign([np.nan, 0.0])
    control.joint_target_q.assign([np.nan, 0.0])
    actuator.step(state, control, other, one, dt=DT)
    (fault,) = actuator.faults
    assert (fault.robot, fault.step, fault.inputs) == (0, 1, ("position", "position target"))


@cases(
    "change, error, said",
    ({"requires_grad": True}, NotImplementedError, "requires_grad = True: must be False in the implicit"),
    ({"others": [ours.RateConfig(2)]}, NotImplementedError, "RateHold is a rate: must be a controller or limit"),
    ({"others": [ours.FrictionConfig(1.0)]}, NotImplementedError, "PassiveFriction is a passive law: must be a"),
    ({"others": [ours.ImplicitConfig(1.0)]}, NotImplementedError, "ImplicitEffort is an effort mode: must be a"),
    ({"response": None}, ValueError, "response = None: must be a JointSpaceResponse"),
    ({"indices": []}, ValueError, "actuator has 0 joints: must have one in the implicit effort mode"),
    ({"indices": [5]}, ValueError, "DOF 5 is not in an articulation of the response"),
    ({"options": {"warm_start": "Zero"}}, ValueError, "warm_start = 'Zero': must be 'explicit' or 'zero'"),
    ({"options": {"fd_epsilon": 0.0}}, ValueError, "fd_epsilon = 0.0: must be finite and > 0"),
    ({"options": {"ls_iterations": -1}}, ValueError, "ls_iterations = -1: must be an integer >= 0"),
    ({"options": {"max_iters": 0}}, ValueError, "max_iters = 0: must be an integer >= 1"),
    ({"options": {"residual_tol": np.nan}}, ValueError, "residual_tol = nan: must be finite and >= 0"),
)
def test_what_cannot_be_solved_is_refused(change, error, said) -> None:
    others = [catalogue.build(one, 1, "cpu") for one in change.get("others", ())]
    gains = floats(np.ones(len(change.get("indices", [0]))))
    law = aa.ControllerPD(gains, gains)
    grad = change.get("requires_grad", False)
    actuator = aa.Actuator(indices(change.get("indices", [0])), law, others=others, requires_grad=grad)
    response = change.get("response", aa.JointSpaceResponse.from_matrices([[[1.0]]]))
    options = ours.Actuator.ImplicitOptions(**change.get("options", {}))
    refused(error, lambda: actuator.set_effort_mode_implicit(response, options), said)
    assert actuator.effort_mode == "explicit"


class Halved(ours.Clamping):
    def modify_forces(self, src_forces, dst_forces, *_, **__) -> None:
        wp.copy(dst_forces, src_forces)


def test_components_that_compute_arrays_are_refused() -> None:
    actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([1.0]), floats([1.0])), clamping=[Halved()])
    with pytest.raises(NotImplementedError, match="Halved computes arrays: must be a controller or limit with a law"):
        actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[1.0]]]))


@cases(
    "given, error, said",
    ({"dt": None}, ValueError, "dt = None: .* requires dt > 0"),
    ({"dt": 0.0}, ValueError, "dt = 0.0: must be the physics step"),
    ({"bias_force": [1.0]}, TypeError, "bias_force is a list: must be a Warp or NumPy array"),
    ({"bias_force": np.zeros(3, np.float32)}, ValueError, r"bias_force is float32 \(3,\): must be float32 \(1,\)"),
    ({"bias_force": np.zeros(1)}, ValueError, r"bias_force is float64 \(1,\): must be float32 \(1,\)"),
)
def test_steps_with_bad_arguments_write_nothing(given, error, said) -> None:
    state, control = situation(1)
    actuator = made(ours, "pid", 1, 1)
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[1.0]]]))
    states = [actuator.state() for _ in range(2)]
    refused(error, lambda: actuator.step(state, control, *states, **{"dt": DT} | given), said)
    assert not control.joint_f.numpy().copy().any() and not states[1].controller_state.integral.numpy().any()
    with pytest.raises(ValueError, match="requires both current_act_state and next_act_state"):
        actuator.step(state, control, dt=DT)


def test_an_implicit_actuator_is_given_to_no_wrapper_and_not_converted() -> None:
    """Its mode would be lost."""
    actuator = made(ours, "pd", 1, 1)
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[1.0]]]))
    with pytest.raises(ValueError, match="'hip': its effort mode is implicit: must be explicit"):
        entries_from_configs([(actuator, "hip")], 1, "cpu")
    peer()
    refused(ValueError, lambda: ours.to_newton(actuator), "its effort mode is implicit: must be explicit")


def test_a_controller_prepares_its_parameters_before_the_step() -> None:
    seen = []

    class Prepared(aa.ControllerPD):
        custom_inputs = ("load",)

        def prepare_implicit(self, *arguments, custom_inputs=None, **named) -> None:
            seen.append((custom_inputs["load"], named["inv_mass"].numpy().tolist(), arguments[9]))

    state, control = situation(1)
    actuator = aa.Actuator(indices([0]), Prepared(floats([1.0]), floats([1.0])))
    actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[0.25]]]))
    control.load = floats([2.0])
    actuator.step(state, control, dt=DT)
    del control.load
    actuator.step(state, control, dt=DT)
    (load, inverse, dt), (missing, _, _) = seen
    assert load.numpy().tolist() == [2.0] and missing is None and inverse == [4.0] and dt == DT

    class Forgets(aa.ControllerPD):
        custom_inputs = ("load",)

    actuator = aa.Actuator(indices([0]), Forgets(floats([1.0]), floats([1.0])))
    with pytest.raises(NotImplementedError, match=r"custom_inputs = .*: must override prepare_implicit"):
        actuator.set_effort_mode_implicit(aa.JointSpaceResponse.from_matrices([[[0.25]]]))
