"""Components of newton.actuators drive robots of this package, with any installed version of newton.

`./python.sh tests/installs/newton_versions.py` runs these tests on others.
"""

import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as ours
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.engine.implicit import trial_laws
from isaacsim.core.experimental.actuators.laws.contract import newton_classes
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from neural_twin import random_network, write_network
from played import played_arrays
from pxr import Usd, UsdPhysics
from refusals import cases, refused

with quiet_warp(), warnings.catch_warnings():
    # older versions of newton use what newer ones of Python and Warp warn of
    warnings.simplefilter("ignore")
    newton = pytest.importorskip("newton.actuators", reason="newton is not installed")
NAMES, ROBOTS, DT = ["hip", "knee"], 3, 0.01


def theirs(name: str):
    later = {"Controller": "DriveBase", "Clamping": "ClampingBase"}.get(name, name.replace("Controller", "Drive"))
    return vars(newton).get(later) or vars(newton)[name]


def full(value, dtype=wp.float32) -> wp.array:
    return wp.array(np.broadcast_to(value, ROBOTS), dtype=dtype, device="cpu")


@pytest.fixture
def host() -> Iterator[ArraysHost]:
    """Three robots at rest whose targets are 1 everywhere, physics running."""
    with played_arrays(NAMES, ROBOTS) as made:
        made.arrays().position_targets[:] = 1.0
        yield made


def wrapped(*pairs: tuple[Any, str]) -> ours.ArticulationActuators:
    return ours.ArticulationActuators.from_actuators("/Robot_.*", pairs)


def efforts(host: ArraysHost) -> list[float]:
    host.step(DT)
    return host.arrays().efforts.reshape(ROBOTS, -1)[:, 0].tolist()


def test_builders_take_newtons_classes(host) -> None:
    from isaacsim.core.experimental.actuators.compat.impl import build_clamping, build_controller

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        law = build_controller(theirs("ControllerPD"), {"kp": 4.0, "kd": 0.0}, ROBOTS, "cpu")
        limit = build_clamping(theirs("ClampingMaxEffort"), {"max_effort": 3.0}, ROBOTS, "cpu")
    assert isinstance(law, theirs("ControllerPD")) and isinstance(limit, theirs("ClampingMaxEffort"))
    with wrapped((ours.ActuatorConfig(law, [limit]), "hip")):
        assert efforts(host) == [3.0] * ROBOTS


TABLE = {"lookup_positions": (-1.0, 0.0, 0.0, 2.0), "lookup_efforts": (20.0, 5.0, 9.0, 40.0)}
LAWS: dict[str, Callable[[Any], list]] = {
    "pd": lambda get: [get("ControllerPD")(full([80.0, 90.0, 70.0]), full(3.0)), [], None],
    "bias": lambda get: [get("ControllerPD")(full(80.0), full(3.0), full([0.5, -1.0, 2.0])), [], None],
    "pid": lambda get: [get("ControllerPID")(full(80.0), full(200.0), full(3.0), full(0.02)), [], None],
    "max": lambda get: [get("ControllerPD")(full(80.0), full(3.0)), [get("ClampingMaxEffort")(full(30.0))], None],
    "motor": lambda get: [
        get("ControllerPD")(full(80.0), full(3.0)),
        [get("ClampingDCMotor")(full(60.0), full(4.0), full([20.0, 30.0, 80.0]))],
        None,
    ],
    "table": lambda get: [get("ControllerPD")(full(80.0), full(3.0)), [get("ClampingPositionBased")(**TABLE)], None],
    "delay": lambda get: [
        get("ControllerPID")(full(80.0), full(200.0), full(3.0), full(0.02)),
        [get("ClampingMaxEffort")(full(90.0)), get("ClampingPositionBased")(**TABLE)],
        get("Delay")(full([0, 2, 4], wp.int32), 4),
    ],
}


def run(config, steps: int = 100) -> tuple[list[list[float]], str]:
    """Efforts under random signals, the same in every run, with a reset of one robot, and what computed them."""
    made, rng = ArraysHost(NAMES, ROBOTS), np.random.default_rng(12)
    found = []
    with ours.use_host(made):
        made.play()
        with wrapped((config, "hip")) as wrapper:
            for step in range(steps):
                for name in ("positions", "velocities", "position_targets", "velocity_targets"):
                    getattr(made.arrays(), name)[:] = rng.normal(size=2 * ROBOTS)
                wrapper.set_dof_feedforward_effort_targets(rng.normal(size=(ROBOTS, 2)))
                if step == steps // 2:
                    wrapper.reset(indices=[1])
                found.append(efforts(made))
            return found, wrapper.engine


@pytest.mark.parametrize("law", LAWS)
def test_built_in_laws_run_as_ours(law) -> None:
    expected = run(ActuatorConfig(*LAWS[law](lambda name: getattr(ours, name))))
    assert np.ptp(expected[0]) > 10 and run(ActuatorConfig(*LAWS[law](theirs))) == expected


def test_lookup_table_of_a_file_is_read(tmp_path) -> None:
    expected = run(ActuatorConfig(*LAWS["table"](theirs)))
    rows = zip(*TABLE.values(), strict=True)
    (tmp_path / "table.txt").write_text("# q, effort\n" + "".join(f"{q}, {e}\n" for q, e in rows))
    controller, (used,), _ = LAWS["table"](theirs)
    assert run(ActuatorConfig(controller, [theirs("ClampingPositionBased")(str(tmp_path / "table.txt"))])) == expected
    used.finalize(wp.get_device("cpu"), ROBOTS)
    assert run(ActuatorConfig(controller, [used])) == expected


def test_objects_stay_those_given(host) -> None:
    """Instances of newton's classes and of ours, live while a wrapper drives them, and readable afterwards."""
    controller, clamps, delay = LAWS["delay"](theirs)
    kinds = [type(one) for one in (controller, *clamps, delay)]
    config = ActuatorConfig(controller, clamps, delay)
    assert [type(one) for one in (controller, *clamps, delay)] == kinds, "the config changes nothing"
    with wrapped((config, "hip"), (config, "knee")) as wrapper:
        first, second = wrapper.actuators
        held = [first.controller, *first.clamping, first.delay]
        for one, given, kind in zip(held, (controller, *clamps, delay), kinds, strict=True):
            assert one is given and isinstance(one, kind)
            assert isinstance(one, ours.Controller | ours.Clamping | ours.Delay)
        assert second.controller is not controller and isinstance(second.controller, kinds[0])
        controller.ki.zero_()
        controller.kp.assign([1.0, 2.0, 3.0])
        assert efforts(host) == [1.0, 2.0, 3.0]
        clamps[0].max_effort = full(0.5)
        assert efforts(host) == [0.5] * 3
    assert controller.kp.numpy().tolist() == [1.0, 2.0, 3.0] and clamps[0].read("max_effort").tolist() == [0.5] * 3
    with wrapped((config, "hip")) as wrapper:
        assert wrapper.actuators[0].controller is controller and efforts(host) == [0.5] * 3


class Leaky(theirs("Controller")):
    """Half of the previous effort plus the error: a stateful law without the optional members of newton."""

    @dataclass
    class State(theirs("Controller").State):
        """The previous effort, `(N,)`, the only array of the state."""

        before: wp.array | None = None
        note: str = "kept"

        def reset(self, mask: wp.array | None = None) -> None:
            self.before.assign(np.where(True if mask is None else mask.numpy(), 0, self.before.numpy()))

    def __init__(self, gain: wp.array) -> None:
        self.gain = gain
        self.calls: list[dict] = []

    def finalize(self, device, num_actuators: int) -> None:
        self.new = wp.zeros(num_actuators, dtype=wp.float32, device=device)

    def is_stateful(self) -> bool:
        return True

    def is_graphable(self) -> bool:
        return False

    def state(self, num_actuators: int, device) -> State:
        return self.State(wp.zeros(num_actuators, dtype=wp.float32, device=device))

    def compute(self, *arguments, **named) -> None:
        call = inspect.signature(theirs("Controller").compute).bind(self, *arguments, **named).arguments
        self.calls.append(call)
        assert isinstance(call["state"], self.State)
        error = call["target_pos"].numpy()[call["target_pos_indices"].numpy()]
        error = error - call["positions"].numpy()[call["pos_indices"].numpy()]
        self.new.assign(call["state"].before.numpy() / 2 + self.gain.numpy() * error)
        call["forces"].assign(self.new)

    def update_state(self, current_state, next_state) -> None:
        wp.copy(next_state.before, self.new)


class Halving(theirs("Clamping")):
    @classmethod
    def resolve_arguments(cls, args: dict) -> dict:
        return {}

    def modify_forces(self, *arguments, **named) -> None:
        call = inspect.signature(theirs("Clamping").modify_forces).bind(self, *arguments, **named).arguments
        call["dst_forces"].assign(call["src_forces"].numpy() / 2)


class Late(theirs("Delay")):
    def get_delayed_targets(self, *arguments):
        return super().get_delayed_targets(*arguments)


class LatePID(theirs("ControllerPID")):
    def compute(self, *arguments, **named) -> None:
        super().compute(*arguments, **named)


class LateTable(theirs("ClampingPositionBased")):
    def modify_forces(self, *arguments, **named) -> None:
        super().modify_forces(*arguments, **named)


def test_own_computation_runs_as_newton_runs_it(host) -> None:
    law, half = Leaky(full([1.0, 2.0, 4.0])), Halving()
    with wrapped((ActuatorConfig(law, [half]), "hip")) as wrapper:
        assert wrapper.actuators[0].controller is law and wrapper.actuators[0].clamping == [half]
        assert isinstance(law, Leaky) and "custom" in wrapper.engine
        assert efforts(host) == [0.5, 1.0, 2.0] and efforts(host) == [0.75, 1.5, 3.0]
        wrapper.reset(indices=[1])
        assert efforts(host) == [0.875, 1.0, 3.5]
        law.gain.fill_(0.0)
        assert efforts(host) == [0.4375, 0.5, 1.75]
    call = law.calls[0]
    assert call["dt"] == pytest.approx(DT)
    assert len(call["forces"]) == len(call["pos_indices"]) == len(call["target_vel_indices"]) == ROBOTS


def test_built_in_limit_before_one_of_the_users_own(host) -> None:
    limit = theirs("ClampingMaxEffort")(full([2.0, 4.0, 9.0]))
    with wrapped((ActuatorConfig(theirs("ControllerPD")(full(5.0), full(0.0)), [limit, Halving()]), "hip")):
        assert efforts(host) == [1.0, 2.0, 2.5] and type(limit).kernel() is ours.ClampingMaxEffort.kernel()


@pytest.mark.parametrize("steps", [[0, 0, 0], [1, 2, 4], [4, 4, 4]])
def test_newtons_own_methods_give_the_same(steps) -> None:
    gains = [full(value) for value in (80.0, 200.0, 3.0, 0.02)]

    def delay(kind):
        return kind(full(steps, wp.int32), 4)

    pid, table = LatePID(*gains), LateTable(**TABLE)
    config = ActuatorConfig(pid, [table], delay(Late))
    expected, _ = run(
        ActuatorConfig(ours.ControllerPID(*gains), [ours.ClampingPositionBased(**TABLE)], delay(ours.Delay))
    )
    for _ in range(2):
        found, engine = run(config)
        assert "custom" in engine
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-5)


def test_saved_state_of_newtons_delay_goes_on(host) -> None:
    config = ActuatorConfig(theirs("ControllerPD")(full(1.0), full(0.0)), [], Late(full(4, wp.int32), 4))
    with wrapped((config, "hip")) as wrapper:

        def go(first: int, last: int) -> list[float]:
            found = []
            for step in range(first, last):
                host.arrays().position_targets[:] = float(step)
                found.append(efforts(host)[0])
            return found

        go(1, 8)
        saved = wrapper.save_state()
        expected = go(8, 14)
        assert expected == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
        go(50, 53)
        wrapper.restore_state(saved)
        assert go(8, 14) == expected


class Named(theirs("ControllerPD")):
    def __init__(self, stiffness: float) -> None:
        super().__init__(full(stiffness), full(0.0))
        self.name = "soft"

    @classmethod
    def resolve_arguments(cls, args: dict) -> dict:
        return {"stiffness": args.get("stiffness", 5.0)}


def test_subclass_with_newtons_computation_runs_on_the_engine(host) -> None:
    law = Named(5.0)
    with wrapped((ActuatorConfig(law), "hip")) as wrapper:
        assert wrapper.engine == run(ActuatorConfig(*LAWS["pd"](lambda name: getattr(ours, name))), 2)[1]
        assert wrapper.actuators[0].controller is law and isinstance(law, Named) and efforts(host) == [5.0] * 3
        law.kp.fill_(1.0)
        assert efforts(host) == [1.0] * 3
        assert (law.name, type(law).resolve_arguments({})) == ("soft", {"stiffness": 5.0})


def test_method_put_on_an_object_is_called(host) -> None:
    law = theirs("ControllerPD")(full(5.0), full(0.0))
    law.compute = lambda *arguments, **named: arguments[9].fill_(42.0)
    with wrapped((ActuatorConfig(law), "hip")):
        assert efforts(host) == [42.0] * 3


class Asking(theirs("Controller")):
    custom_inputs = ("wind",)

    def is_stateful(self) -> bool:
        return False

    def is_graphable(self) -> bool:
        return False

    def compute(self, *arguments, custom_inputs=None, **_) -> None:
        wind = custom_inputs["wind"]
        arguments[9].assign(full(7.0) if wind is None else wind.numpy()[arguments[6].numpy()])


def test_arrays_that_a_component_asks_for_are_those_of_the_control_object(host) -> None:
    order = wp.array([2, 0, 1], dtype=wp.uint32, device="cpu")
    with quiet_warp():
        actuator = ours.Actuator(order, Asking())
    control = actuator.sim_control()
    state = SimpleNamespace(joint_q=full(0.0), joint_qd=full(0.0))
    control.joint_target_q, control.joint_target_qd, control.joint_f = full(0.0), full(0.0), full(0.0)
    actuator.step(state, control)
    assert control.joint_f.numpy().tolist() == [7.0] * 3
    control.wind = full([1.0, 2.0, 3.0])
    actuator.step(state, control)
    assert control.joint_f.numpy().tolist() == [8.0, 9.0, 10.0]
    with wrapped((ActuatorConfig(Asking()), "hip")) as wrapper:
        wrapper.set_custom_input("wind", np.array([[1, 9], [2, 9], [3, 9]], np.float32))
        assert efforts(host) == [1.0, 2.0, 3.0]


def network_files(folder: Path) -> dict[Any, Path]:
    """A file for each class of newton's networks that Torch runs, in the format that its version reads."""
    torch = pytest.importorskip("torch", reason="newton runs these networks by Torch")

    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.out = torch.nn.LSTM(2, 8, 2, batch_first=True), torch.nn.Linear(8, 1)

        def forward(self, x: torch.Tensor, before: tuple[torch.Tensor, torch.Tensor]) -> Any:
            y, after = self.lstm(x, before)
            return self.out(y[:, -1]), after

    torch.manual_seed(0)
    forward = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ELU(), torch.nn.Linear(16, 1))
    metadata = {"metadata.json": json.dumps({"input_idx": [0, 1, 3], "pos_scale": 2.0, "effort_scale": 3.0})}
    mlp = theirs("ControllerNeuralMLP")
    if hasattr(newton, "DriveNeuralMLP"):
        file, any_number = folder / "mlp.pt2", ({0: torch.export.Dim.DYNAMIC},)
        exported = torch.export.export(forward, (torch.zeros(2, 6),), dynamic_shapes=any_number)
        torch.export.save(exported, file, extra_files=metadata)
        return {mlp: file}
    files = {mlp: folder / "mlp.pt", theirs("ControllerNeuralLSTM"): folder / "lstm.pt"}
    for network, file in zip((forward, Recurrent()), files.values(), strict=True):
        torch.jit.save(torch.jit.script(network), file, _extra_files=metadata)
    return files


@pytest.mark.filterwarnings("ignore")
def test_networks_of_torch_run_as_newton_runs_them(tmp_path) -> None:
    rng = np.random.default_rng(3)
    for kind, path in network_files(tmp_path).items():
        order, mask = full(range(ROBOTS), wp.uint32), full([False, True, False], wp.bool)
        alone = newton.Actuator(order, kind(str(path)))
        states = [alone.state(), alone.state()]
        with ours.ActuatedArrays(["hip"], [(ActuatorConfig(kind(str(path))), "hip")], ROBOTS) as leg:
            mine = ours.Actuator(order, controller=kind(str(path)))
            kept = [mine.state(), mine.state()]
            for at, (q, qd, goal, rate) in enumerate(rng.normal(size=(8, 4, ROBOTS)).astype(np.float32)):
                if at == 5:
                    # newton 1.2 cannot reset a part of what its recurrent networks return
                    for one in filter(None, vars(states[0]).values()):
                        vars(one).update({name: tensor.clone() for name, tensor in vars(one).items()})
                    for one in (states[0], kept[0]):
                        one.reset(mask)
                    leg.reset(indices=[1])
                found = [leg.step(q[:, None], qd[:, None], goal[:, None], DT, qd_target=rate[:, None])[:, 0]]
                for one, (now, after) in ((mine, kept), (alone, states)):
                    goals = {"joint_target_pos": full(goal), "joint_target_vel": full(rate)}
                    later = {"joint_target_q": full(goal), "joint_target_qd": full(rate)}
                    control = SimpleNamespace(**goals, **later, joint_act=None, joint_f=full(0.0))
                    one.step(SimpleNamespace(joint_q=full(q), joint_qd=full(qd)), control, now, after, dt=DT)
                    found.append(control.joint_f.numpy())
                for both in (states, kept):
                    both.reverse()
                np.testing.assert_array_equal(found[:2], [found[2]] * 2)
            saved = leg.save_state()
            again = leg.step(*np.ones((3, ROBOTS, 1), np.float32), DT).copy()
            leg.restore_state(saved)
            np.testing.assert_array_equal(leg.step(*np.ones((3, ROBOTS, 1), np.float32), DT), again)


class OwnNetwork(theirs("ControllerNeuralMLP")):
    def __init__(self) -> None: ...

    def finalize(self, device, num_actuators: int) -> None: ...

    def compute(self, *arguments, **more) -> None: ...

    def is_stateful(self) -> bool:
        return False

    def is_graphable(self) -> bool:
        return False


def test_networks_of_newton_are_not_of_the_end_of_the_step() -> None:
    actuator = ours.Actuator(full(range(ROBOTS), wp.uint32), controller=OwnNetwork())
    with pytest.raises(NotImplementedError, match=r"is a network that Torch or newton computes: must be .* a network "):
        trial_laws.require_solvable(actuator)
    with pytest.raises(ValueError, match="OwnNetwork: must be left out, as a network has no effort at the end"):
        ours.ActuatedArrays(["hip"], [(ActuatorConfig(OwnNetwork()), "hip")], ROBOTS, effort_mode="implicit")


class Empty(theirs("Controller")):
    """A law without anything."""


def table_with(**changed):
    clamp = theirs("ClampingPositionBased")(**TABLE)
    vars(clamp).update(changed)
    return clamp


PD = lambda **named: theirs("ControllerPD")(**({"kp": full(1.0), "kd": full(1.0)} | named))  # noqa: E731


@cases(
    "make, said",
    (lambda: ActuatorConfig(theirs("ClampingMaxEffort")(full(1.0))), "controller = .*must be a Controller"),
    (lambda: ActuatorConfig(PD(), [PD()]), r"clamping\[0\] = .*must be a Clamping"),
    (lambda: ActuatorConfig(PD(), [], PD()), "delay = .*must be a Delay"),
    (lambda: ActuatorConfig(object()), "controller = .*must be a Controller"),
    (lambda: ActuatorConfig(PD(), [theirs("ClampingMaxEffort")(5.0)]), "max_effort = 5.0: must be an array"),
    (lambda: ActuatorConfig(PD(), [theirs("ClampingMaxEffort")(None)]), "max_effort = None: must be an array"),
    (
        lambda: ActuatorConfig(PD(**{name: full(1.0, wp.float64) for name in ("kp", "kd")})),
        "kp has dtype float64: must be float32",
    ),
    (lambda: ActuatorConfig(PD(), [], theirs("Delay")(full(5, wp.int32), 4)), "delay_steps = 5: must be .*<= max"),
    (lambda: ActuatorConfig(PD(), [], theirs("Delay")(full(1.0), 4)), "delay_steps has dtype float32: must be int"),
    (lambda: ActuatorConfig(PD(), [table_with(_positions_tuple=(3.0, 2.0, 1.0, 0.0))]), "must not decrease"),
    (lambda: ActuatorConfig(PD(), [theirs("ClampingPositionBased")("nowhere.txt")]), "nowhere.txt"),
)
def test_unusable_components_are_refused_when_constructed(make: Callable[[], Any], said: str) -> None:
    refused(ValueError, make, said)


def test_abstract_methods_that_are_missing_are_named() -> None:
    said = r"Empty does not override \['compute', 'is_stateful'\]: must do so"
    refused(NotImplementedError, lambda: ActuatorConfig(Empty()), f"controller = .*{said}")
    refused(NotImplementedError, lambda: ours.Actuator(full(range(ROBOTS), wp.uint32), controller=Empty()), said)


@cases(
    "law, said",
    (lambda: PD(kp=wp.ones(2, dtype=wp.float32), kd=wp.ones(2, dtype=wp.float32)), "kp has 2 elements: must be 3"),
    (lambda: LatePID(*[wp.ones(2, dtype=wp.float32)] * 4), "kp has 2 elements: must be 3"),
    (lambda: PD(kp=full(-1.0)), r"'knee': kp = -1\.0: must be"),
    (lambda: PD(kp=full(np.nan)), "kp = nan: must be"),
)
def test_arrays_that_do_not_fit_are_refused_before_anything_changes(host, law, said) -> None:
    good, bad = PD(), law()
    kinds = type(good), type(bad)
    host.arrays().stiffnesses[:] = 7.0
    refused(ValueError, lambda: wrapped((ActuatorConfig(good), "hip"), (ActuatorConfig(bad), "knee")), said)
    assert (type(good), type(bad)) == kinds and set(host.arrays().stiffnesses) == {7.0}


def whole(law: str, count: int = ROBOTS, peer=None):
    """An actuator of newton's, or of ours, with these components, whose own indices are not ours."""
    controller, clamps, delay = LAWS[law](theirs if peer is None else lambda name: getattr(peer, name))
    indices = wp.array(np.arange(count) + 7, dtype=wp.uint32, device="cpu")
    names = {"control_target_pos_attr": "joint_target_q", "control_target_vel_attr": "joint_target_qd"}
    return (peer or newton).Actuator(indices, controller, delay, clamps, **names)


@pytest.mark.parametrize("law", LAWS)
def test_whole_actuators_stand_for_their_components(law) -> None:
    expected = run(ActuatorConfig(*LAWS[law](lambda name: getattr(ours, name))))
    for given in (whole(law), whole(law, peer=ours)):
        assert run(given) == expected
        held = vars(given)
        assert isinstance(held["drive" if "drive" in held else "controller"], ours.Controller)


def test_arrays_take_whole_actuators() -> None:
    with ours.ActuatedArrays(NAMES, [(whole("max"), "knee")], ROBOTS) as leg:
        q, qd, goal = np.zeros((3, ROBOTS, 2), np.float32)
        goal[:, 1] = 0.25
        assert leg.step(q, qd, goal, DT).tolist() == [[0.0, 20.0]] * ROBOTS


def test_group_steps_whole_actuators() -> None:
    order, others = (wp.array(one, dtype=wp.uint32, device="cpu") for one in ([2, 0, 1], [0, 2, 1]))
    names = {"control_target_pos_attr": "goal", "control_target_vel_attr": "rate", "control_output_attr": "torque"}
    made = []
    for law in ("pid", "motor", "delay"):
        controller, clamps, delay = LAWS[law](theirs)
        made.append(
            newton.Actuator(order, controller, delay, clamps, pos_indices=others, effort_indices=others, **names)
        )
    group, rng = ours.ActuatorGroup(made), np.random.default_rng(5)
    assert all(isinstance(one, ours.Actuator) for one in group.actuators)
    mine, states = group.state(), [[one.state(), one.state()] for one in made]
    for _ in range(30):
        q, qd, goal, rate = (full(values) for values in rng.normal(size=(4, ROBOTS)))
        state = SimpleNamespace(joint_q=q, joint_qd=qd)
        controls = [SimpleNamespace(goal=goal, rate=rate, joint_act=None, torque=full(0.0)) for _ in range(2)]
        group.step(state, controls[0], mine, mine, DT)
        for one, both in zip(made, states, strict=True):
            one.step(state, controls[1], *both, dt=DT)
            both.reverse()
        found, expected = (control.torque.numpy() for control in controls)
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=5e-5)


def implicit():
    """One that solves for the efforts at the end of the step, as newton can from 1.6 on."""
    actuator = whole("pd")
    actuator._effort_mode = type("_EffortModeImplicit", (), {})()
    return actuator


def with_gradients():
    actuator = whole("pd")
    actuator.requires_grad = True
    return actuator


@cases(
    "make, said",
    (lambda: whole("pd", 2), "'hip' has 2 joints: must have 3, one per robot"),
    (implicit, r"is implicit: must be explicit. Call set_effort_mode_explicit\(\)"),
    (with_gradients, "'hip' has requires_grad = True: must be stepped by itself"),
)
def test_whole_actuators_that_cannot_be_used_are_refused(host, make, said) -> None:
    refused(ValueError, lambda: wrapped((make(), "hip")), said)


def test_group_refuses_what_is_no_actuator() -> None:
    refused(TypeError, lambda: ours.ActuatorGroup([3]), "actuator = 3: must be an Actuator, ours or newton's")


@pytest.mark.skipif(
    not {"set_effort_mode_implicit", "ImplicitOptions"} <= set(dir(newton.Actuator)),
    reason="newton has an implicit effort mode from 1.6 on",
)
def test_effort_mode_of_newton_is_recognised() -> None:
    module = importlib.import_module(newton.Actuator.__module__)
    assert vars(module)["_EffortModeImplicit"].__name__ == "_EffortModeImplicit"
    assert type(vars(whole("pd"))["_effort_mode"]).__name__ == "_EffortModeExplicit"


@pytest.fixture
def authored() -> Iterator[ArraysHost]:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/Robot", "Xform"))
    paths = [f"/Robot/{name}" for name in NAMES]
    for path in paths:
        UsdPhysics.RevoluteJoint.Define(stage, path)
    limits = [
        ours.DCMotorClampingConfig(9.0, 9.0, 9.0),
        ours.PositionBasedClampingConfig([0.0, 1.0], [8.0, 9.0]),
        ours.MaxEffortClampingConfig(4.0),
    ]
    pid, pd = ours.PIDControlConfig(kp=5.0, ki=0.0, kd=0.0), ours.PDControlConfig(kp=3.0, kd=0.0)
    ours.add_actuator("/Robot", "hip", "first", pid, clamping=limits, delay=ours.DelayConfig(1), stage=stage)
    ours.add_actuator("/Robot", "knee", "second", pd, stage=stage)
    with played_arrays(NAMES, 1, path="/Robot", stage=stage, dof_paths=paths) as host:
        host.arrays().position_targets[:] = 1.0
        yield host


EXPECTED = [
    *("ControllerPID", "ClampingDCMotor", "ClampingPositionBased", "ClampingMaxEffort", "Delay"),
    "ControllerPD",
]


def components(wrapper: ours.ArticulationActuators) -> list:
    parts = [[one.controller, *one.clamping, one.delay] for one in wrapper.actuators]
    return [component for actuator in parts for component in actuator if component is not None]


@pytest.mark.parametrize("there", [True, False])
def test_components_of_prims_are_instances_of_newtons(authored, there, monkeypatch) -> None:
    if not there:
        monkeypatch.delitem(sys.modules, "newton.actuators")
    with ours.ArticulationActuators("/Robot") as wrapper:
        for component, name in zip(components(wrapper), EXPECTED, strict=True):
            assert isinstance(component, getattr(ours, name)) and isinstance(component, theirs(name)) is there
            assert type(component).__name__ == name
        for actuator in wrapper.actuators:
            assert isinstance(actuator, ours.Actuator) and isinstance(actuator, newton.Actuator) is there
            assert type(actuator).__name__ == "Actuator" and actuator.drive is actuator.controller
        authored.step(DT)
        assert authored.arrays().efforts.tolist() == [4.0, 3.0] and "custom" not in wrapper.engine


@pytest.mark.parametrize("kind", ["mlp", "lstm", "gru"])
def test_networks_of_files_are_instances_of_newtons(host, kind, tmp_path) -> None:
    path = write_network(tmp_path / "net.safetensors", random_network(kind, 2), {})
    name = f"ControllerNeural{kind.upper()}"
    there = newton_classes.peer_of(name, newton)
    found = {}
    for given in (ours.NeuralControlConfig(path), getattr(ours, name)(path)):
        with wrapped((ActuatorConfig(given), "hip")) as wrapper:
            law = wrapper.actuators[0].controller
            assert type(law).__name__ == name and isinstance(law, getattr(ours, name))
            assert there is None or isinstance(law, there) is (law is not given)
            found[type(law)] = [efforts(host) for _ in range(3)], wrapper.engine
    assert len(found) == (1 if there is None else 2)
    assert all(one == next(iter(found.values())) for one in found.values())


def test_an_actuator_of_a_wrapper_has_no_effort_modes_of_newtons(authored) -> None:
    with ours.ArticulationActuators("/Robot") as wrapper:
        actuator = wrapper.actuators[1]
        actuator.set_effort_mode_explicit()
        refused(NotImplementedError, lambda: actuator.set_effort_mode_implicit(None), "must be explicit here")
        converted = ours.to_newton(actuator)
        assert type(converted) is newton.Actuator
        held = vars(converted)
        assert isinstance(held["drive" if "drive" in held else "controller"], theirs("ControllerPD"))


def test_newtons_names_register_components(host) -> None:
    kind = newton.ComponentKind
    ours.register_actuator_component("TestHalvingAPI", Halving, kind.CLAMPING)
    ours.register_actuator_component("TestNamedAPI", Named, getattr(kind, "DRIVE", None) or kind.CONTROLLER)
    with pytest.raises(ValueError, match="must be a subclass of Clamping"):
        ours.register_actuator_component("TestWrongAPI", Named, kind.CLAMPING)
    stage = Usd.Stage.CreateInMemory()
    prim = stage.DefinePrim("/Motor", "NewtonActuator")
    UsdPhysics.RevoluteJoint.Define(stage, "/Joint")
    prim.CreateRelationship("newton:targets").SetTargets(["/Joint"])
    for schema in ("TestNamedAPI", "TestHalvingAPI"):
        prim.AddAppliedSchema(schema)
    parsed = ours.parse_actuator_prim(prim)
    assert issubclass(parsed.controller_class, Named) and issubclass(parsed.component_specs[0][0], Halving)
    law, half = parsed.controller_class(**parsed.controller_kwargs), parsed.component_specs[0][0]()
    with wrapped((ActuatorConfig(law, [half]), "hip")):
        assert efforts(host) == [2.5] * 3


def test_public_actuator_takes_them() -> None:
    law = theirs("ControllerPD")(full(2.0), full(0.0))
    limit = theirs("ClampingMaxEffort")(full([1.0, 3.0, 5.0]))
    actuator = ours.Actuator(wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu"), law, clamping=[limit])
    assert actuator.controller is law
    state = SimpleNamespace(joint_q=full(0.0), joint_qd=full(0.0))
    control = SimpleNamespace(joint_target_pos=full(2.0), joint_target_vel=full(0.0), joint_act=None, joint_f=full(0.0))
    actuator.step(state, control, dt=DT)
    assert control.joint_f.numpy().tolist() == [1.0, 3.0, 4.0]


def test_newtons_own_actuator_still_takes_them(host) -> None:
    law = theirs("ControllerPID")(full(2.0), full(0.0), full(0.0), full(1.0))
    with wrapped((ActuatorConfig(law), "hip")):
        assert efforts(host) == [2.0] * 3
    indices = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    names = {"control_target_pos_attr": "joint_target_q", "control_target_vel_attr": "joint_target_qd"}
    actuator = newton.Actuator(indices, law, **names)
    state = SimpleNamespace(joint_q=full(0.0), joint_qd=full(0.0))
    control = SimpleNamespace(joint_target_q=full(3.0), joint_target_qd=full(0.0), joint_act=None, joint_f=full(0.0))
    actuator.step(state, control, actuator.state(), actuator.state(), dt=DT)
    assert control.joint_f.numpy().tolist() == [6.0] * 3


@pytest.mark.skipif(
    tuple(map(int, version("newton").split(".")[:2])) < (1, 8), reason="the embedded physics needs newton 1.8"
)
def test_embedded_physics_is_driven(robots) -> None:
    def positions(get: Callable[[str], Any]) -> list[float]:
        one = [wp.full(1, value, dtype=wp.float32, device="cpu") for value in (60.0, 4.0, 30.0)]
        config = ActuatorConfig(get("ControllerPD")(*one[:2]), [get("ClampingMaxEffort")(one[2])])
        with ours.Simulation(robots / "arm_2dof.usda") as simulation:
            simulation.play()
            wrapper = ours.ArticulationActuators.from_actuators("/World/Arm", [(config, "shoulder")])
            wrapper.articulation.set_dof_position_targets(0.5)
            simulation.step(50)
            assert "custom" not in wrapper.engine
            return wrapper.articulation.get_dof_positions().numpy().ravel().tolist()

    expected = positions(lambda name: getattr(ours, name))
    assert abs(expected[0]) > 0.1 and positions(theirs) == expected
