"""What is ours becomes what the installed newton has for it, and gives the same efforts there."""

import sys
import warnings
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as ours
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from neural_twin import random_network, write_network
from refusals import refused

with quiet_warp(), warnings.catch_warnings():
    # older versions of newton use what newer ones of Python and Warp warn of
    warnings.simplefilter("ignore")
    newton = pytest.importorskip("newton.actuators", reason="newton is not installed")
N, DT = 3, 0.01
NAMES = {"control_target_pos_attr": "goal", "control_target_vel_attr": "rate", "control_output_attr": "torque"}


def theirs(name: str):
    return next(one for later, one in vars(newton).items() if later in (name, catalogue.later_name(name)))


def full(value, dtype=wp.float32) -> wp.array:
    return wp.array(np.broadcast_to(value, N), dtype=dtype, device="cpu")


def pid() -> ours.ControllerPID:
    return ours.ControllerPID(full([80.0, 90.0, 70.0]), full(200.0), full(3.0), full(0.02))


def clamps() -> dict:
    return {
        "max": ours.ClampingMaxEffort(full([20.0, 30.0, np.inf])),
        "motor": ours.ClampingDCMotor(full([60.0, 0.0, 90.0]), full([4.0, 4.0, np.inf]), full([20.0, 30.0, 50.0])),
        # an infinite stall effort, which newton has no numbers for
        "no curve": ours.ClampingDCMotor(full(np.inf), full([4.0, np.inf, 2.0]), full([20.0, 30.0, np.inf])),
        "table": ours.ClampingPositionBased(None, [-1.0, 0.0, 0.0, 2.0], [20.0, 5.0, 9.0, 40.0]),
    }


def efforts(actuator, steps: int = 60) -> np.ndarray:
    rng, found = np.random.default_rng(3), []
    now, after = actuator.state(), actuator.state()
    for _ in range(steps):
        q, qd, goal, rate, act = (full(values) for values in rng.normal(size=(5, N)))
        control = SimpleNamespace(goal=goal, rate=rate, joint_act=act, torque=full(0.0))
        actuator.step(SimpleNamespace(joint_q=q, joint_qd=qd), control, now, after, DT)
        now, after = after, now
        found.append(control.torque.numpy())
    return np.array(found)


@pytest.mark.parametrize("clamp", clamps())
@pytest.mark.parametrize("delay", [None, [0, 0, 0], [0, 2, 4]])
def test_whole_actuator_gives_the_same_there(clamp, delay) -> None:
    late = None if delay is None else ours.Delay(full(delay, wp.int32), max(delay))
    order, others = (full(one, wp.uint32) for one in ([2, 0, 1], [0, 2, 1]))
    places = dict.fromkeys(("pos_indices", "target_pos_indices", "effort_indices"), others)
    mine = ours.Actuator(order, pid(), late, [clamps()[clamp]], **places, **NAMES)
    there = ours.to_newton(mine)
    assert type(there) is newton.Actuator and type(there.clamping[0]) is theirs(type(mine.clamping[0]).__name__)
    expected = efforts(mine)
    assert np.ptp(expected) > 10
    np.testing.assert_allclose(efforts(there), expected, rtol=2e-6, atol=2e-5)


def test_values_are_copied() -> None:
    law = ours.ControllerPD(full([1.0, 2.0, 3.0]), full(0.5))
    there = ours.to_newton(law)
    assert type(there) is theirs("ControllerPD")
    there.kp.zero_()
    assert law.kp.numpy().tolist() == [1.0, 2.0, 3.0]
    host = ours.ActuatedArrays(["hip"], [(ours.ActuatorConfig(law), "hip")], N)
    assert ours.to_newton(law).kp.numpy().tolist() == [1.0, 2.0, 3.0]
    host.close()


def test_config_has_as_many_values_as_asked_for() -> None:
    drive = ours.to_newton(ours.PIDControlConfig(1.0, 2.0, 3.0, 4.0, 5.0), num_actuators=2)
    assert {
        name: getattr(drive, name).numpy().tolist() for name in ("kp", "ki", "kd", "integral_max", "const_effort")
    } == {"kp": [1.0, 1.0], "ki": [2.0, 2.0], "kd": [3.0, 3.0], "integral_max": [4.0, 4.0], "const_effort": [5.0, 5.0]}
    assert len(ours.to_newton(ours.MaxEffortClampingConfig(7.0)).max_effort) == 1
    assert ours.to_newton(ours.DelayConfig(0)).buf_depth == 1


class Own(ours.Controller):
    """A law of ours that newton has nothing for."""


def test_what_has_no_counterpart_is_refused() -> None:
    base = catalogue.later_name("Controller") if "DriveBase" in vars(newton) else "Controller"
    words = f"Own: newton.actuators has no class for it. Write one as a subclass of {base}"
    refused(ValueError, lambda: ours.to_newton(Own()), words)
    with pytest.raises(TypeError, match="3: must be a config, a component or an Actuator"):
        ours.to_newton(3)


def test_a_history_that_the_first_step_fills_is_refused(tmp_path) -> None:
    """newton fills with zeros, so that its first efforts would be others."""
    file = write_network(
        tmp_path / "net.safetensors", random_network("mlp", 4), {"input_idx": [0, 2], "history_fill": "first"}
    )
    with pytest.raises(ValueError, match="history_fill = 'first': must be 'zeros', as newton fills it"):
        ours.to_newton(ours.ControllerNeuralMLP(file))


def test_metadata_that_are_not_in_the_file_are_refused(tmp_path) -> None:
    file = write_network(tmp_path / "net.safetensors", random_network("mlp", 2), {})
    with pytest.raises(ValueError, match=r"'effort_scale': 2\.0.*: must be in the file.* by convert_checkpoint"):
        ours.to_newton(ours.ControllerNeuralMLP(file, metadata={"effort_scale": 2.0}))


def test_what_newton_computes_stays_itself() -> None:
    class Halving(theirs("Clamping")):
        def modify_forces(self, *arguments, **_) -> None:
            arguments[1].assign(arguments[0].numpy() / 2)

    half = Halving()
    mine = ours.Actuator(full([0, 1, 2], wp.uint32), pid(), clamping=[half], **NAMES)
    there = ours.to_newton(mine)
    assert there.clamping == [half]
    np.testing.assert_allclose(efforts(there), efforts(mine), rtol=2e-6, atol=2e-5)


def test_newton_has_to_be_there(monkeypatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "newton"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "newton", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_newton needs newton.*pip install .*\[newton\]"):
        ours.to_newton(ours.PDControlConfig(1.0, 1.0))
