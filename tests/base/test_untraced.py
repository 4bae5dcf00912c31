"""Functions that compilers trace may hold calls of actuators: `torch.compile` goes around them, JAX says why not."""

import subprocess
import sys

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig
from isaacsim.core.experimental.actuators.base.untraced import untraced
from isaacsim.core.experimental.actuators.compat import isaac_lab
from refusals import cases, refused

DT, SHAPE = 0.005, (4, 2)


def legs() -> ActuatedArrays:
    """Four robots, whose efforts are 80 times the error of the position."""
    return ActuatedArrays(["hip", "knee"], {".*": [PDControlConfig(80.0, 2.0)]}, num_robots=SHAPE[0])


# Torch, in a process of its own: what it has compiled or loaded before must not matter

SCRIPT = """
import sys, warnings
warnings.simplefilter("error", UserWarning)
{before}
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig
legs = ActuatedArrays(["hip", "knee"], {{".*": [PDControlConfig(80.0, 2.0)]}}, num_robots=4)
assert "torch._dynamo" not in sys.modules
import torch
q, target = torch.zeros(4, 2), torch.ones(4, 2)
{between}

@torch.compile(backend="eager")
def control(q, qd, target):
    return 2.0 * legs.step(q * 1.0, qd, target, 0.005)

for step in range(20):
    q = torch.full((4, 2), 0.01 * step)
    torch.testing.assert_close(control(q, 0.0 * q, target), 160.0 * (target - q))
from torch._dynamo.utils import counters
print(*sorted(counters["frames"].values()), sum(counters["graph_break"].values()))
"""


@cases(
    "before, between, compiled",
    ("import torch", "", "2 2 1"),
    ("import torch", "legs.step(q, q, target, 0.005)", "2 2 1"),
    ("", "legs.step(q, q, target, 0.005)", "2 2 1"),
    # what finds out that Torch is there is compiled once
    ("", "", None),
)
def test_a_compiled_function_steps_actuators(before, between, compiled) -> None:
    pytest.importorskip("torch")
    script = SCRIPT.format(before=before, between=between)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert compiled is None or done.stdout.splitlines()[-1] == compiled


def test_the_call_stands_between_graphs_and_says_so() -> None:
    torch = pytest.importorskip("torch")
    leg, q = legs(), torch.zeros(SHAPE)
    whole = torch.compile(lambda q: leg.step(q, q, q, DT), backend="eager", fullgraph=True)
    refused(Exception, lambda: whole(q), "Actuators are native code that reads arrays where they lie")


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # Torch's own, of its compiler
def test_gradients_go_through_a_compiled_function() -> None:
    torch = pytest.importorskip("torch")
    leg = ActuatedArrays(["knee"], {"knee": [PDControlConfig(80.0, 2.0)]}, requires_grad=True)
    q = torch.zeros(1, requires_grad=True)
    nothing = torch.zeros(1)
    torch.compile(lambda q: (3.0 * leg.step(2.0 * q, nothing, nothing, DT)).sum(), backend="eager")(q).backward()
    assert q.grad.tolist() == [-480.0]


def test_a_model_of_isaac_lab_within_a_compiled_function() -> None:
    torch = pytest.importorskip("torch")
    cfg = isaac_lab.IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=80.0, damping=2.0, actuator_effort_limit=50.0)
    model = cfg.class_type(cfg, ["hip", "knee"], slice(None), SHAPE[0], "cpu")

    @torch.compile(backend="eager")
    def control(target, q, qd):
        action = isaac_lab.ArticulationActions(target * 1.0, qd, torch.zeros_like(q))
        return 2.0 * model.compute(action, q, qd).joint_efforts

    model.reset()
    q = torch.zeros(SHAPE)
    for step in range(3):
        target = torch.full(SHAPE, 0.5 * step)
        assert control(target, q, q).tolist() == [[min(160.0 * 0.5 * step, 100.0)] * 2] * SHAPE[0]


def test_a_mark_is_no_call_more() -> None:
    def function() -> int:
        return 1

    assert untraced(function) is function


def test_values_that_jax_traces_are_refused() -> None:
    jax = pytest.importorskip("jax")
    from jax.experimental import io_callback

    leg, q, target = legs(), jax.numpy.zeros(SHAPE), jax.numpy.ones(SHAPE)
    with pytest.raises(ValueError, match=r"q is traced by JAX: must be an array, .* not run within jax\.jit, .*io_"):
        jax.jit(lambda q: leg.step(q, q, target, DT))(q)
    with pytest.raises(ValueError, match="q_target is traced by JAX"):
        jax.grad(lambda target: leg.step(q, q, target, DT).sum())(target)
    refused(ValueError, lambda: jax.jit(lambda rows: leg.reset(indices=rows))(jax.numpy.array([1])), "is traced by JAX")

    @jax.jit
    def control(q, target):
        like = jax.ShapeDtypeStruct(q.shape, q.dtype)
        return 2.0 * io_callback(lambda *given: leg.step(*given, DT), like, q, q, target, ordered=True)

    np.testing.assert_array_equal(control(q, target), np.full(SHAPE, 160.0))
