"""Gradients through linkages of coefficients: those of the formula, and of differences."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest

torch = pytest.importorskip("torch")
NAMES, G = ["a", "b", "c"], np.array([1.0, 0.6])
KP, KD, MOST, RATIO = 30.0, 0.8, 12.0, 1.5


def arrays(unilateral: bool, own: bool) -> aa.ActuatedArrays:
    tendon = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6}, 0.1, unilateral)
    motor = [aa.PDControlConfig(KP, KD), aa.MaxEffortClampingConfig(MOST)]
    gear = [aa.TransmissionConfig(RATIO, targets="motor")] if own else []
    return aa.ActuatedArrays(NAMES, {"a": [*motor, *gear, tendon], "c": motor}, 64, requires_grad=True)


@pytest.mark.parametrize(("unilateral", "own"), [(False, False), (True, False), (False, True)])
def test_gradients_are_those_of_the_formula(unilateral, own) -> None:
    made, rng = arrays(unilateral, own), np.random.default_rng(3)
    kp = torch.full((1, 1), KP, requires_grad=True)
    signals = [torch.tensor(0.5 * rng.standard_normal((64, 3)), dtype=torch.float32) for _ in range(5)]
    weight = torch.tensor(rng.standard_normal((64, 3)))
    for one in signals:
        one.requires_grad = True
    q, v, q_t, v_t, ff = signals
    efforts = made.step(q, v, q_t, 0.005, qd_target=v_t, feedforward=ff, parameters={"kp": kp})
    (efforts * weight).sum().backward()
    ours = [one.grad.clone() for one in (*signals, kp)]
    # the same in float64
    twins = [one.detach().double().requires_grad_() for one in (*signals, kp)]
    q, v, q_t, v_t, ff, gain = twins
    g = torch.tensor(G)
    if own:
        angle, speed, forward = q_t[:, 0] - RATIO * (q[:, :2] @ g + 0.1), v_t[:, 0] - RATIO * v[:, :2] @ g, ff[:, 0]
    else:
        angle, speed, forward = (q_t - q)[:, :2] @ g, (v_t - v)[:, :2] @ g, ff[:, :2] @ (g / (g @ g))
    shaft = gain[0, 0] * angle + KD * speed + forward
    alone = gain[0, 0] * (q_t - q)[:, 2] + KD * (v_t - v)[:, 2] + ff[:, 2]
    shaft = torch.clamp(shaft, -MOST, MOST) * (RATIO if own else 1.0)
    shaft = torch.clamp(shaft, min=0.0) if unilateral else shaft
    wanted = torch.cat([shaft[:, None] * g, torch.clamp(alone, -MOST, MOST)[:, None]], 1)
    np.testing.assert_allclose(efforts.detach(), wanted.detach(), rtol=1e-4, atol=1e-4)
    (wanted * weight).sum().backward()
    for mine, other in zip(ours, twins, strict=True):
        np.testing.assert_allclose(mine, other.grad, rtol=1e-3, atol=1e-3)


def test_a_linkage_with_a_table_or_an_effort_mode_has_none() -> None:
    bar = aa.LinkageConfig.four_bar("a", 0.05, 0.2, 0.06, 0.2, 0.7, 2.5)
    with pytest.raises(NotImplementedError, match="a linkage with a table has none"):
        aa.ActuatedArrays(NAMES, {"a": [aa.PDControlConfig(KP, KD), bar]}, requires_grad=True)
    at_end = [aa.PDControlConfig(KP, KD), aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6}), aa.ImplicitConfig()]
    with pytest.raises(NotImplementedError, match="an effort at the end of the step of a linkage has none"):
        aa.ActuatedArrays(NAMES, {"a": at_end}, requires_grad=True)
