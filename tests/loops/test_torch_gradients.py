"""Gradients of actuators on tensors: those of Torch's own float64, through integrals, delays and limits."""

import errno
import sys
from pathlib import Path
from typing import Any, ClassVar

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.laws.networks.network import GRUCell, Linear, LSTMCell, Network, Unary
from neural_twin import write_network
from refusals import refused

pytestmark = pytest.mark.skipif(native.core is None, reason="the native core was not built")
NAMES, ROBOTS, DT, STEPS = ["hip", "free", "knee", "ankle"], 3, 0.02, 6
MOTORS = {
    "hip|ankle": [
        aa.PIDControlConfig(kp=20.0, ki=30.0, kd=1.0, integral_max=0.04),
        aa.MaxEffortClampingConfig(18.0),
        aa.DelayConfig(delay_steps=2),
    ],
    "knee": [aa.PDControlConfig(kp=10.0, kd=1.0), aa.DCMotorClampingConfig(9.0, 5.0, 9.0)],
}


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def leg(**more) -> aa.ActuatedArrays:
    return aa.ActuatedArrays(NAMES, MOTORS, ROBOTS, requires_grad=True, **more)


def restated(torch, signals: list[list], gains: dict) -> list:
    """The same motors in Torch, float64."""

    def within(value, lower, upper):
        return torch.minimum(torch.maximum(value, lower), upper)

    found, integral = [], torch.zeros(ROBOTS, len(NAMES), dtype=torch.float64)
    pid = torch.tensor([True, False, False, True])
    for k, (q, qd, _, _, _) in enumerate(signals):
        commands = [signals[k][2:], signals[max(k - 2, 0)][2:]]
        target, velocity, feedforward = (torch.where(pid, late, now) for now, late in zip(*commands, strict=True))
        integral = within(integral + (target - q) * DT, *(torch.full_like(q, sign * 0.04) for sign in (-1, 1)))
        effort = feedforward + gains["kp"] * (target - q) + gains["kd"] * (velocity - qd)
        effort = torch.where(pid, effort + gains["ki"] * integral, effort)
        limited = within(effort, -gains["max_effort"], gains["max_effort"])
        nine = torch.full_like(q, 9.0)
        motor = within(effort, torch.maximum(9 * (-1 - qd / 5), -nine), torch.minimum(9 * (1 - qd / 5), nine))
        driven = torch.tensor([True, False, True, True])
        found.append(torch.where(driven, torch.where(pid, limited, motor), torch.zeros_like(q)))
    return found


def numbers() -> tuple[list[list[np.ndarray]], dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(5)

    def draw() -> np.ndarray:
        return rng.normal(size=(ROBOTS, len(NAMES))).astype(np.float32)

    signals = [[draw() for _ in range(5)] for _ in range(STEPS)]
    gains = {"kp": 15 + draw(), "kd": 1 + 0.1 * draw(), "ki": 20 + draw(), "max_effort": 18 + draw()}
    return signals, gains, rng.normal(size=(STEPS, ROBOTS, len(NAMES))).astype(np.float32)


def leaves(torch, dtype) -> tuple[list[list], dict, Any]:
    signals, gains, weights = numbers()

    def leaf(values: np.ndarray):
        return torch.tensor(values, dtype=dtype, requires_grad=True)

    named = {name: leaf(values) for name, values in gains.items()}
    return [[leaf(one) for one in step] for step in signals], named, torch.tensor(weights, dtype=dtype)


def rolled_out(actuated: aa.ActuatedArrays, signals: list[list], gains: dict) -> list:
    return [
        actuated.step(q, qd, target, DT, qd_target=velocity, feedforward=forward, parameters=gains)
        for q, qd, target, velocity, forward in signals
    ]


def test_gradients_are_those_of_torch(backend, torch) -> None:
    exact, exact_gains, weights = leaves(torch, torch.float64)
    expected = restated(torch, exact, exact_gains)
    torch.stack(expected).mul(weights).sum().backward()
    actuated = leg()
    for _ in range(2):
        signals, gains, weights = leaves(torch, torch.float32)
        efforts = rolled_out(actuated, signals, gains)
        torch.stack(efforts).mul(weights).sum().backward()
        for one, right in zip(efforts, expected, strict=True):
            torch.testing.assert_close(one.double(), right, atol=1e-4, rtol=1e-5)
        pairs = [(a, b) for mine, his in zip(signals, exact, strict=True) for a, b in zip(mine, his, strict=True)]
        pairs += [(gains[name], exact_gains[name]) for name in gains]
        for mine, right in pairs:
            torch.testing.assert_close(mine.grad.double(), right.grad, atol=1e-3, rtol=1e-4)
        assert all(one.grad.any() for one in gains.values())
        actuated.reset()


def test_efforts_are_those_of_plain_arrays(torch) -> None:
    signals, _, _ = numbers()
    plain, differentiable = aa.ActuatedArrays(NAMES, MOTORS, ROBOTS), leg()
    for q, qd, target, velocity, forward in signals:
        expected = plain.step(q, qd, target, DT, qd_target=velocity, feedforward=forward)
        given = [torch.from_numpy(one) for one in (q, qd, target)]
        more = {"qd_target": torch.from_numpy(velocity), "feedforward": torch.from_numpy(forward)}
        given[2].requires_grad_()
        efforts = differentiable.step(*given, DT, **more)
        np.testing.assert_array_equal(efforts.detach().numpy(), expected)
        assert efforts.requires_grad
    differentiable.detach()
    assert not differentiable.step(given[0], given[1], given[2].detach(), DT).requires_grad
    with torch.no_grad():
        assert not differentiable.step(*given, DT).requires_grad


def geared_steps(torch, first, given: dict, step):
    """The mean square of the last angles of pendulums, `step` gives the efforts; 150 steps."""
    q, qd = first
    for _ in range(150):
        qd = qd + DT * (step(q, qd, given["target"]) - 2.0 * torch.sin(q))
        q = q + DT * qd
    return q.square().sum()


def test_swing_of_geared_joints(backend, torch) -> None:
    common = [aa.PIDControlConfig(0.4, 0.3, 0.05, integral_max=0.5), aa.DCMotorClampingConfig(1.0, 20.0, 0.7)]
    motors = {
        "hip": [*common, aa.TransmissionConfig(6.0, 0.3)],
        "knee": [*common, aa.TransmissionConfig(-5.0, -0.2, targets="motor")],
    }
    actuated = aa.ActuatedArrays(["hip", "knee"], motors, ROBOTS, requires_grad=True)
    rng = np.random.default_rng(7)
    values = {name: rng.normal(size=(ROBOTS, 2)) for name in ("q", "qd", "target")}
    values |= {"kp": 0.4 + 0.02 * rng.normal(size=(ROBOTS, 2)), "max_motor_effort": 0.7 + 0.1 * rng.random((ROBOTS, 2))}
    values |= {"ratio": np.tile([6.0, -5.0], (ROBOTS, 1)), "offset": np.tile([0.3, -0.2], (ROBOTS, 1))}

    def leaves_of(dtype) -> dict:
        return {
            name: torch.tensor(one.astype(np.float32), dtype=dtype).requires_grad_() for name, one in values.items()
        }

    exact = leaves_of(torch.float64)
    integral = torch.zeros(ROBOTS, 2, dtype=torch.float64)
    own = torch.tensor([False, True])
    limited = 0

    def restated_step(q, qd, target):
        nonlocal integral, limited
        ratio, offset, most = exact["ratio"], exact["offset"], exact["max_motor_effort"]
        error = torch.where(own, target, ratio * target + offset) - (ratio * q + offset)
        integral = torch.clamp(integral + error * DT, -0.5, 0.5)
        effort = exact["kp"] * error + 0.3 * integral - 0.05 * ratio * qd
        upper, lower = 1 - ratio * qd / 20, -1 - ratio * qd / 20
        kept = torch.minimum(torch.maximum(effort, torch.maximum(lower, -most)), torch.minimum(upper, most))
        limited += int((kept != effort).sum())
        return ratio * kept

    geared_steps(torch, (exact["q"], exact["qd"]), exact, restated_step).backward()
    assert 0 < limited < 150 * ROBOTS * 2
    given = leaves_of(torch.float32)
    named = {name: given[name] for name in ("kp", "max_motor_effort", "ratio", "offset")}
    first = given["q"], given["qd"]
    geared_steps(torch, first, given, lambda *signals: actuated.step(*signals, DT, parameters=named)).backward()
    for name, right in exact.items():
        scale = float(right.grad.abs().max())
        assert scale > 0
        torch.testing.assert_close(given[name].grad.double(), right.grad, atol=1e-3 * scale, rtol=0)


def test_optimiser_finds_a_gain(torch) -> None:
    actuated = aa.ActuatedArrays(["hip"], {"hip": [aa.PDControlConfig(1.0, 0.0)]}, 2, requires_grad=True)
    kp = torch.tensor(1.0, requires_grad=True)
    optimiser = torch.optim.Adam([kp], lr=0.5)
    zero, target = torch.zeros(2, 1), torch.ones(2, 1)
    for _ in range(200):
        optimiser.zero_grad()
        (actuated.step(zero, zero, target, DT, parameters={"kp": kp}) - 7).square().sum().backward()
        optimiser.step()
    assert abs(kp.item() - 7) < 0.05


def test_reset_of_some_robots_ends_theirs(torch) -> None:
    for ended in (None, [1], "all", "restored"):
        actuated = leg()
        q = torch.full((ROBOTS, len(NAMES)), 0.01, requires_grad=True)
        zero = torch.zeros(ROBOTS, len(NAMES))
        actuated.step(q, zero, zero, DT)
        if ended == [1]:
            actuated.reset(indices=[1])
        elif ended == "all":
            actuated.detach()
        elif ended == "restored":
            actuated.restore_state(actuated.save_state())
        actuated.step(q.detach().clone().requires_grad_(), zero, zero, DT)[:, 0].sum().backward()
        if ended in ("all", "restored"):
            assert q.grad is None
        else:
            assert (q.grad[:, 0] != 0).tolist() == [True, ended is None, True]


def test_what_does_not_fit_is_refused(torch) -> None:
    actuated, zero = leg(), torch.zeros(ROBOTS, len(NAMES))
    some = zero.clone().requires_grad_()
    with pytest.raises(ValueError, match=r"parameter 'kq': must be one of \['kp'"):
        actuated.step(zero, zero, some, DT, parameters={"kq": zero})
    with pytest.raises(ValueError, match=r"parameter 'kp' has shape \(5,\): must be one that \(3, 4\)"):
        actuated.step(zero, zero, some, DT, parameters={"kp": torch.ones(5)})
    with pytest.raises(ValueError, match=r"parameter 'kp' = .*: must be a tensor of float32"):
        actuated.step(zero, zero, some, DT, parameters={"kp": np.ones(4)})
    with pytest.raises(ValueError, match="out: must not be given"):
        actuated.step(zero, zero, some, DT, out=torch.zeros(ROBOTS, len(NAMES)))
    refused(ValueError, lambda: actuated.step(zero, zero.numpy(), some, DT), "qd: must be a tensor of Torch")
    with pytest.raises(ValueError, match="parameters: must be given to actuators made with requires_grad"):
        aa.ActuatedArrays(NAMES, MOTORS, ROBOTS).step(zero, zero, zero, DT, parameters={"kp": some})


@wp.func
def soft_effort(
    q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, level: float, gain: float
):
    now = 0.7 * level + (q_target - q)
    return gain * now * now * now + ff, now


class Soft(aa.Controller):
    PARAMETERS: ClassVar = ("gain",)
    STATE: ClassVar = ("level",)
    LAW = soft_effort


def test_laws_of_ones_own_have_gradients(torch) -> None:
    gain = wp.array(np.linspace(1, 2, ROBOTS), dtype=wp.float32, device="cpu")
    lag = wp.array(np.array([1, 0, 2]), dtype=wp.int32, device="cpu")
    kp, kd = (wp.full(ROBOTS, value, dtype=wp.float32, device="cpu") for value in (10.0, 1.0))
    motors = [
        (aa.ActuatorConfig(aa.ControllerPD(kp, kd)), "knee"),
        (aa.ActuatorConfig(Soft(gain), [], aa.Delay(lag, 2)), "hip"),
        (aa.ActuatorConfig(Soft(kd)), "ankle"),
    ]
    actuated = aa.ActuatedArrays(NAMES, motors, ROBOTS, requires_grad=True)
    exact, _, weights = leaves(torch, torch.float64)
    gains = torch.tensor(np.stack([gain.numpy()] * len(NAMES), axis=1), dtype=torch.float64, requires_grad=True)
    level, expected = torch.zeros(ROBOTS, len(NAMES), dtype=torch.float64), []
    late = torch.tensor([[1, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0]])
    for k, (q, qd, target, velocity, forward) in enumerate(exact):
        sources = (k - late).clamp(0)
        acting, ahead = (torch.stack([one[s] for one in exact[: k + 1]]) for s in (2, 4))
        acting, ahead = (torch.gather(one, 0, sources[None])[0] for one in (acting, ahead))
        level = 0.7 * level + acting - q
        pd = 10 * (target - q) + velocity - qd + forward
        knee, driven = (torch.tensor(one) for one in ([False, False, True, False], [True, False, True, True]))
        effort = torch.where(knee, pd, gains * level**3 + ahead)
        expected.append(torch.where(driven, effort, torch.zeros_like(q)))
    torch.stack(expected).mul(weights).sum().backward()
    signals, _, weights = leaves(torch, torch.float32)
    given = gains.detach().float().requires_grad_()
    efforts = rolled_out(actuated, signals, {"gain": given})
    torch.stack(efforts).mul(weights).sum().backward()
    for one, right in zip(efforts, expected, strict=True):
        torch.testing.assert_close(one.double(), right, atol=1e-4, rtol=1e-5)
    for mine, his in zip(signals, exact, strict=True):
        for a, b in zip(mine, his, strict=True):
            torch.testing.assert_close(a.grad.double(), b.grad, atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(given.grad.double(), gains.grad, atol=1e-3, rtol=1e-4)
    assert (given.grad[:, [0, 3]] != 0).all()


def test_without_torch_it_says_so(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    aa.ActuatedArrays(NAMES, MOTORS, ROBOTS)
    refused(ModuleNotFoundError, leg, "torch")


def modules(torch) -> dict:
    """Networks of Torch in float64, seeded: layers with a history, and recurrent ones."""
    torch.manual_seed(6)

    class Recurrent(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, kind) -> None:
            super().__init__()
            self.cells, self.head = kind(2, 8, 2, dtype=torch.float64), torch.nn.Linear(8, 1, dtype=torch.float64)

        def forward(self, x, state):
            y, state = self.cells(x[None], state)
            return self.head(y[0]), state

    layers = [torch.nn.Linear(4, 16, dtype=torch.float64), torch.nn.ELU(), torch.nn.Linear(16, 1, dtype=torch.float64)]
    made = {"mlp": torch.nn.Sequential(*layers), "lstm": Recurrent(torch.nn.LSTM), "gru": Recurrent(torch.nn.GRU)}
    for module in made.values():
        # numbers that float32 has
        for one in module.parameters():
            one.data = one.data.float().double()
    return made


def as_network(kind: str, module) -> Network:
    numbers = {name: one.detach().numpy().astype(np.float32) for name, one in module.named_parameters()}
    if kind == "mlp":
        first, last = ((numbers[f"{k}.weight"], numbers[f"{k}.bias"]) for k in (0, 2))
        return Network(4, (Linear(0, *first), Unary("elu", 1, (1.0,)), Linear(2, *last)))
    operations = []
    for layer in range(2):
        names = [f"cells.{name}_l{layer}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        w_ih, w_hh, b_ih, b_hh = (numbers[name] for name in names)
        cell = LSTMCell(layer, layer, w_ih, w_hh, b_ih + b_hh) if kind == "lstm" else None
        operations.append(cell or GRUCell(layer, layer, w_ih, w_hh, b_ih, b_hh))
    return Network(2, (*operations, Linear(2, numbers["head.weight"], numbers["head.bias"])))


SAID: dict[str, dict] = {
    "mlp": {"input_idx": [0, 2], "effort_scale": 20.0},
    "lstm": {"pos_scale": 2.0, "effort_scale": 40.0},
    "gru": {"model_type": "gru"},
}


def with_networks(torch, folder: Path) -> aa.ActuatedArrays:
    """A network for each joint; hip and ankle are two actuators with one file, and ankle is late."""
    files = {}
    for kind, module in modules(torch).items():
        path = write_network(folder / f"{kind}.safetensors", as_network(kind, module), SAID[kind])
        files[kind] = aa.NeuralControlConfig(str(path))
    motors = {
        "hip": [files["mlp"], aa.MaxEffortClampingConfig(4.0)],
        "free": [files["gru"]],
        "knee": [files["lstm"], aa.MaxEffortClampingConfig(14.25)],
        "ankle": [files["mlp"], aa.DelayConfig(delay_steps=1)],
    }
    return aa.ActuatedArrays(NAMES, motors, ROBOTS, requires_grad=True)


def by_modules(torch, made: dict, signals: list[list]) -> list:
    """The same by modules of Torch, float64."""
    found = []
    states = {"lstm": None, "gru": None}
    past = []
    for k, (q, qd, target, _, _) in enumerate(signals):
        late = signals[max(k - 1, 0)][2]
        error = torch.stack([target[:, 0], target[:, 1], target[:, 2], late[:, 3]], dim=1) - q
        past.insert(0, (error, qd))
        old = past[2] if len(past) > 2 else (torch.zeros_like(q), torch.zeros_like(q))
        columns = []
        for n in (0, 3):
            x = torch.stack([error[:, n], old[0][:, n], qd[:, n], old[1][:, n]], dim=1)
            columns.append(20 * made["mlp"](x)[:, 0])
        hip, ankle = columns
        free, states["gru"] = made["gru"](torch.stack([error[:, 1], qd[:, 1]], dim=1), states["gru"])
        knee, states["lstm"] = made["lstm"](torch.stack([2 * error[:, 2], qd[:, 2]], dim=1), states["lstm"])
        columns = [hip.clamp(-4, 4), free[:, 0], (40 * knee[:, 0]).clamp(-14.25, 14.25), ankle]
        found.append(torch.stack(columns, dim=1))
    return found


def by_weights(made: dict) -> dict:
    found = {}
    for joint, kind in (("hip", "mlp"), ("free", "gru"), ("knee", "lstm")):
        by = {name: one.grad for name, one in made[kind].named_parameters()}
        if kind == "mlp":
            names = {"0.weight": "1.weight", "0.bias": "1.bias", "2.weight": "3.weight", "2.bias": "3.bias"}
        else:
            names = {"head.weight": "3.weight", "head.bias": "3.bias"}
            for layer in range(2):
                # of an LSTM both biases are one
                biases = {"bias_ih": "bias"} if kind == "lstm" else {"bias_ih": "bias_ih", "bias_hh": "bias_hh"}
                for theirs, ours in {"weight_ih": "weight_ih", "weight_hh": "weight_hh", **biases}.items():
                    names[f"cells.{theirs}_l{layer}"] = f"{layer + 1}.{ours}"
        found |= {f"{joint}.{ours}": by[theirs] for theirs, ours in names.items()}
    return found


def test_gradients_of_networks_are_those_of_torch(torch, tmp_path) -> None:
    exact, _, weights = leaves(torch, torch.float64)
    made = modules(torch)
    expected = by_modules(torch, made, exact)
    torch.stack(expected).mul(weights).sum().backward()
    limited = torch.stack(expected)[:, :, [0, 2]].abs() == torch.tensor([4.0, 14.25], dtype=torch.float64)
    assert all(0 < one.sum() < one.numel() for one in limited.unbind(dim=2))
    actuated = with_networks(torch, tmp_path)
    for _ in range(2):
        signals, _, weights = leaves(torch, torch.float32)
        trained = actuated.weights("hip") | actuated.weights("free") | actuated.weights("knee")
        efforts = rolled_out(actuated, signals, trained)
        torch.stack(efforts).mul(weights).sum().backward()
        for one, right in zip(efforts, expected, strict=True):
            torch.testing.assert_close(one.double(), right, atol=1e-4, rtol=1e-5)
        for mine, right in zip(signals, exact, strict=True):
            for a, b in zip(mine[:3], right[:3], strict=True):
                torch.testing.assert_close(a.grad.double(), b.grad, atol=1e-3, rtol=1e-4)
        assert signals[0][2].grad.all(dim=0).any() and signals[0][0].grad[:, 3].any()
        for name, gradient in by_weights(made).items():
            assert gradient.any(), name
            torch.testing.assert_close(trained[name].grad.double(), gradient, atol=2e-3, rtol=1e-4)
        actuated.reset()


def test_reset_of_some_robots_ends_those_of_networks(torch, tmp_path) -> None:
    zero = torch.zeros(ROBOTS, len(NAMES))
    for ended in (None, [1]):
        actuated = with_networks(torch, tmp_path)
        q = torch.full((ROBOTS, len(NAMES)), 0.01, requires_grad=True)
        for _ in range(2):
            actuated.step(q, zero, zero, DT)
        if ended:
            actuated.reset(indices=ended)
        actuated.step(q.detach().clone().requires_grad_(), zero, zero, DT).sum().backward()
        # those of free and ankle, whose efforts no limit cuts off
        assert (q.grad[:, [1, 3]] != 0).all(dim=1).tolist() == [True, ended is None, True]
        assert bool(q.grad[1].any()) == (ended is None)


def test_network_is_trained_and_saved(torch, tmp_path) -> None:
    file = write_network(tmp_path / "knee.safetensors", as_network("mlp", modules(torch)["mlp"]), SAID["mlp"])
    motors = {"hip|knee": [aa.NeuralControlConfig(str(file))]}
    actuated = aa.ActuatedArrays(["hip", "knee"], motors, 16, requires_grad=True)
    weights = actuated.weights("knee")
    assert (
        set(weights) == set(actuated.weights("hip")) == {f"hip.{k}.{one}" for k in (1, 3) for one in ("weight", "bias")}
    )
    optimiser = torch.optim.Adam(weights.values(), lr=0.02)
    torch.manual_seed(0)
    q, qd, target = torch.randn(3, 16, 2)
    losses = []
    for _ in range(150):
        actuated.reset()
        efforts = [actuated.step(q, qd, target, DT, parameters=weights) for _ in range(2)]
        loss = sum((one - 8 * torch.tanh(target - q)).square().mean() for one in efforts)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.02 * losses[0]
    # the last change has not acted yet
    actuated.reset()
    with torch.no_grad():
        expected = actuated.step(q, qd, target, DT, parameters=weights).clone()
    for name, one in actuated.weights("hip").items():
        assert torch.equal(one, weights[name])
    actuated.save_network("knee", tmp_path / "trained.safetensors")
    for path, same in ((tmp_path / "trained.safetensors", True), (file, False)):
        again = aa.ActuatedArrays(["hip", "knee"], {"hip|knee": [aa.NeuralControlConfig(str(path))]}, 16)
        assert torch.equal(again.step(q, qd, target, DT), expected) == same


def test_a_network_is_saved_whole_or_not_at_all(torch, tmp_path, monkeypatch) -> None:
    actuated = with_networks(torch, tmp_path)
    wanted = tmp_path / "saved.safetensors"
    actuated.save_network("knee", wanted)
    before = wanted.read_bytes()
    write_bytes = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        write_bytes(path, data[:300])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    refused(OSError, lambda: actuated.save_network("knee", wanted), r"saved\.safetensors: cannot be written: No space")
    assert wanted.read_bytes() == before


def test_networks_without_the_core_are_refused(torch, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(native, "core", None)
    with pytest.raises(NotImplementedError, match=r"hip.*: requires_grad = True: in Torch a network .* wp.Tape"):
        with_networks(torch, tmp_path)


def test_gradients_by_weights_are_those_of_the_step(torch, tmp_path) -> None:
    found = []
    for other, bad in ((False, False), (True, False), (False, True)):
        actuated = with_networks(torch, tmp_path)
        weights = actuated.weights("free")
        zero, q = torch.zeros(ROBOTS, len(NAMES)), torch.full((ROBOTS, len(NAMES)), 0.01)
        if bad:
            q[1] = torch.nan
        chosen = actuated.step(q, zero, zero, DT, parameters=weights)[[0, 2]].sum()
        if other:
            doubled = {name: 2 * one.detach() for name, one in weights.items()}
            actuated.step(q, zero, zero, DT, parameters=doubled)
        chosen.backward()
        found.append({name: one.grad for name, one in weights.items()})
    assert found[0]["free.1.weight_ih"].any()
    for one in found[1:]:
        for name, gradient in found[0].items():
            torch.testing.assert_close(one[name], gradient, atol=0, rtol=1e-6)


def test_weights_that_do_not_fit_are_refused(torch, tmp_path) -> None:
    actuated, zero = with_networks(torch, tmp_path), torch.zeros(ROBOTS, len(NAMES))
    before = actuated.weights("knee")
    good = 2 * before["knee.1.bias"].detach()
    for wrong, why in ((torch.ones(3), r"has shape \(3,\): must be \(32,\)"), (good * torch.nan, "must be finite")):
        with pytest.raises(ValueError, match=f"parameter 'knee.2.bias'.*{why}"):
            actuated.step(zero, zero, zero, DT, parameters={"knee.1.bias": good, "knee.2.bias": wrong})
    assert torch.equal(actuated.weights("knee")["knee.1.bias"], before["knee.1.bias"])
    refused(ValueError, lambda: actuated.weights("toe"), r"dof_name = 'toe': must be one of \['hip'")
    refused(ValueError, lambda: leg().weights("hip"), "dof_name = 'hip': must be a joint that a network drives")
    with pytest.raises(ValueError, match="weights: must be asked of actuators made with requires_grad"):
        aa.ActuatedArrays(NAMES, MOTORS, ROBOTS).weights("hip")
    with pytest.raises(ValueError, match=r"net.pt: must end with .onnx or .safetensors"):
        actuated.save_network("knee", tmp_path / "net.pt")
