"""Gradients of efforts at the end of the step, compared with central differences of a float64 solution."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp

N, DT, STEPS = 60, np.float32(0.005), 3
STALL, FASTEST, MOST = 30.0, 10.0, 20.0
# inertias of the joints, and what acts on them but is not told
INERTIA = np.linspace(0.01, 0.5, N)


def given(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random signals and gains, far enough from rest that limits act on some joints."""
    ranges = {"q": 0.2, "qd": 3.0, "q_target": 0.5, "qd_target": 1.0, "feedforward": 2.0}
    values = {name: rng.uniform(-most, most, (STEPS, N)) for name, most in ranges.items()}
    values |= {"kp": rng.uniform(20, 2000, N), "kd": rng.uniform(0.5, 20, N)}
    values |= {"assumed_inertia": INERTIA.copy(), "load_share": rng.uniform(0.1, 0.5, N)}
    return {name: one.astype(np.float32).astype(np.float64) for name, one in values.items()}


def solved(values: dict[str, np.ndarray]) -> np.ndarray:
    """Efforts of a few steps, `(STEPS, N)`: the fixed point, found by bisection."""
    h, inertia = float(DT), values["assumed_inertia"]
    gain = h / inertia
    rest, before, effort = np.zeros(N), None, np.zeros(N)
    efforts = []
    for q, qd, q_target, qd_target, feedforward in zip(
        *(values[name] for name in ("q", "qd", "q_target", "qd_target", "feedforward")), strict=True
    ):
        if before is not None:
            seen = inertia * (qd - before) / h - effort
            rest = rest + values["load_share"] * (seen - rest)
        free = qd + gain * rest

        def law(tau: np.ndarray, now=(q, free, q_target, qd_target, feedforward)) -> np.ndarray:
            start, left, target, speed, fed = now
            v = left + gain * tau
            demand = oracle.pd_effort(start + h * v, v, target, speed, fed, values["kp"], values["kd"], 0.0)
            return np.array([oracle.dc_motor_clamp(*one, STALL, FASTEST, MOST) for one in zip(demand, v, strict=True)])

        low, high = np.full(N, -1e3), np.full(N, 1e3)
        for _ in range(80):
            middle = (low + high) / 2
            above = law(middle) > middle
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        effort, before = (low + high) / 2, qd
        efforts.append(effort)
    return np.array(efforts)


def differences(values: dict[str, np.ndarray], name: str, weights: np.ndarray) -> np.ndarray:
    """Central differences of the weighted efforts by a number of each joint, in every step."""
    one = values[name]
    found = np.zeros_like(one)
    for step in range(len(one)) if one.ndim == 2 else [...]:
        sums = []
        for sign in (1, -1):
            shifted = one.copy()
            shifted[step] += sign * 1e-6 * (1 + np.abs(one[step]))
            sums.append((weights * solved(values | {name: shifted})).sum(axis=0))
        found[step] = (sums[0] - sums[1]) / (2e-6 * (1 + np.abs(one[step])))
    return found


def by_tape(values: dict[str, np.ndarray], weights: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    def array(numbers: np.ndarray) -> wp.array:
        return wp.array(numbers.astype(np.float32), dtype=wp.float32, device="cpu", requires_grad=True)

    every = wp.array(np.arange(N), dtype=wp.uint32, device="cpu")
    names = {"q": "joint_q", "qd": "joint_qd", "q_target": "joint_target_q", "qd_target": "joint_target_qd"}
    names["feedforward"] = "joint_act"
    signals = [{name: array(values[name][step]) for name in names} for step in range(STEPS)]
    parts = {name: array(values[name]) for name in ("kp", "kd", "assumed_inertia", "load_share")}
    limits = (STALL, FASTEST, MOST)
    clamp = aa.ClampingDCMotor(*(array(np.full(N, one)) for one in limits))
    actuator = aa.Actuator(
        every,
        aa.ControllerPD(parts["kp"], parts["kd"]),
        clamping=[clamp],
        others=[aa.ImplicitEffort(parts["assumed_inertia"], parts["load_share"])],
        control_feedforward_attr="joint_act",
        requires_grad=True,
    )
    states = [actuator.state() for _ in range(STEPS + 1)]
    outputs = [array(np.zeros(N)) for _ in range(STEPS)]
    with wp.Tape() as tape:
        for step, held in enumerate(signals):
            state = type("State", (), {names[name]: one for name, one in held.items()})()
            state.joint_f = outputs[step]
            actuator.step(state, state, states[step], states[step + 1], float(DT))
    tape.backward(grads={out: array(weight) for out, weight in zip(outputs, weights, strict=True)})
    found = {name: np.array([held[name].grad.numpy() for held in signals]) for name in names}
    components = {"kp": actuator.controller, "kd": actuator.controller}
    found |= {name: getattr(components.get(name, actuator.others[0]), name).grad.numpy() for name in parts}
    return np.array([out.numpy() for out in outputs]), found


@pytest.mark.usefixtures("backend")
@pytest.mark.slow
def test_gradients_equal_central_differences(rng) -> None:
    values = given(rng)
    weights = rng.normal(size=(STEPS, N))
    efforts, found = by_tape(values, weights)
    expected = solved(values)
    np.testing.assert_allclose(efforts, expected, rtol=1e-4, atol=1e-4)
    line = np.abs(expected) >= MOST * (1 - 1e-6)
    assert line.any() and not line.all()
    for name, gradient in found.items():
        wanted = differences(values, name, weights)
        scale = np.abs(wanted).max()
        # away from kinks, next to which a difference is one of two lines
        near = np.abs(gradient - wanted) > 1e-4 * scale + 1e-4 * np.abs(wanted)
        assert near.mean() < 0.02, (name, gradient[near][:5], wanted[near][:5])


def test_friction_behind_is_refused_by_name() -> None:
    pytest.importorskip("torch")
    motor = [aa.PDControlConfig(20.0, 2.0), aa.FrictionConfig(coulomb=1.0), aa.ImplicitConfig(assumed_inertia=0.1)]
    with pytest.raises(NotImplementedError, match=r"friction \(PassiveFriction\) of a motor whose effort"):
        aa.ActuatedArrays(["j"], {"j": motor}, requires_grad=True)


def test_torch_has_the_same_gradients(rng) -> None:
    torch = pytest.importorskip("torch")
    motor = [
        aa.PIDControlConfig(200.0, 50.0, 5.0),
        aa.MaxEffortClampingConfig(30.0),
        aa.ImplicitConfig(assumed_inertia=0.05),
    ]
    q, qd, target = (torch.tensor(rng.uniform(-0.3, 0.3, (40, 1)), dtype=torch.float32) for _ in range(3))

    def loss(shift: float, *, grad: bool):
        made = aa.ActuatedArrays(["j"], {"j": motor}, 40, requires_grad=grad)
        x = (q + shift).requires_grad_(grad)
        efforts = [made.step(x, qd, target, 0.005), made.step(x, qd, target, 0.005)]
        return x, (efforts[0] + 2 * efforts[1]).sum(dim=1)

    x, value = loss(0.0, grad=True)
    value.sum().backward()
    step = 1e-3
    around = [loss(sign * step, grad=False)[1] for sign in (1, -1)]
    wanted = (around[0] - around[1]) / (2 * step)
    assert ((x.grad[:, 0] - wanted).abs() > 1e-2 * wanted.abs().max()).float().mean() < 0.1
