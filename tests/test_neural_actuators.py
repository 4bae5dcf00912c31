"""Networks as control laws, from USD to the efforts: delay and clamps around them, faults, resets, saved states."""

import copy
from collections.abc import Sequence
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import CheckpointPath
from isaacsim.core.experimental.actuators.laws.networks.network import Linear, Network
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from neural_twin import Twin, random_motion, random_network, write_network
from pxr import Usd, UsdPhysics
from stages import stage_of
from torch_stand_in import run_by_torch, unknown_file

__all__ = ["run_by_torch"]
ROOT, DT, ROBOTS = "/Robot", 0.005, 3
NORMALIZATION = {
    "inputs": {"mean": {"velocity": 0.1, "position_error": -0.2}, "std": {"velocity": 2.0, "position_error": 0.5}},
    "targets": {"mean": {"torque": 0.5}, "std": {"torque": 6.0}},
}
NETWORKS: dict[str, tuple[Network, dict]] = {
    "mlp": (
        random_network("mlp", 6, layers=2),
        {"model_type": "mlp", "input_idx": [0, 1, 3], "pos_scale": 2.0, "vel_scale": 0.3, "effort_scale": 20.0},
    ),
    "lstm": (random_network("lstm", 2, layers=2), {"model_type": "lstm", "torque_scale": 30.0}),
    "gru": (
        random_network("gru", 2),
        {
            "model_type": "gru",
            "input_columns": ["velocity", "position_error"],
            "normalization": NORMALIZATION,
            "sample_dt_s": DT,
        },
    ),
}
LIMIT, DELAY = 4.0, 2


def stage_with(folder: Path, joints: dict[str, tuple[str, int | None, float | None]]) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(ROOT, "Xform"))
    for name, (kind, delay, limit) in joints.items():
        UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/{name}")
        path = write_network(folder / f"{kind}.safetensors", *NETWORKS[kind])
        aa.add_actuator(
            ROOT,
            name,
            name,
            aa.NeuralControlConfig(path),
            clamping=[] if limit is None else [aa.MaxEffortClampingConfig(limit)],
            delay=None if delay is None else aa.DelayConfig(delay),
            stage=stage,
        )
    return stage


class Bench:
    """Three robots with a joint for each kind of network; those of `delays` and `limits` have them."""

    def __init__(
        self, folder: Path, kinds: Sequence[str] = tuple(NETWORKS), delay: int | None = None, limit: float | None = None
    ) -> None:
        self.kinds = list(kinds)
        joints = {f"{kind}_{number}": (kind, delay, limit) for number, kind in enumerate(kinds)}
        self.stage = stage_with(folder, joints)
        self.host = ArraysHost(list(joints), ROBOTS, path=ROOT, stage=self.stage)
        with aa.use_host(self.host):
            self.wrapper = aa.ArticulationActuators(f"{ROOT}_.*")
            self.host.play()
        self.delay, self.limit = delay, limit

    def twins(self) -> list[Twin]:
        return [Twin(*NETWORKS[kind], ROBOTS) for kind in self.kinds]

    def step(self, signals: np.ndarray) -> np.ndarray:
        """Efforts `(robots, joints)` for signals `(5, robots · joints)`."""
        arrays = self.host.arrays()
        assert arrays is not None
        names = ("positions", "velocities", "position_targets", "velocity_targets")
        for name, values in zip(names, signals, strict=False):
            getattr(arrays, name)[:] = values
        self.wrapper.set_dof_feedforward_effort_targets(signals[4].reshape(ROBOTS, -1))
        self.host.step(DT)
        return arrays.efforts.reshape(ROBOTS, -1).copy()


def motion(rng: np.random.Generator, steps: int, joints: int) -> np.ndarray:
    return random_motion(rng, ROBOTS * joints, steps)


def of_joint(signals: np.ndarray, joint: int) -> np.ndarray:
    return signals[:4].reshape(4, ROBOTS, -1)[:, :, joint]


@pytest.mark.parametrize(("delay", "limit"), [(None, None), (DELAY, LIMIT), (0, LIMIT), (3, None)])
def test_efforts_agree_with_the_oracle(delay, limit, engine_kind, tmp_path, rng) -> None:
    bench = Bench(tmp_path, delay=delay, limit=limit)
    twins = bench.twins()
    # commands since the last reset, of each robot
    commands: list[list[np.ndarray]] = [[] for _ in range(ROBOTS)]
    limited = 0
    for step, signals in enumerate(motion(rng, 200, len(twins))):
        if step in (60, 61, 130):
            robot = step % ROBOTS
            bench.wrapper.reset(indices=[robot])
            commands[robot] = []
            for twin in twins:
                twin.reset(np.arange(ROBOTS) == robot)
        acting = signals.reshape(5, ROBOTS, -1).copy()
        for robot in range(ROBOTS):
            commands[robot].append(acting[2:4, robot].copy())
            acting[2:4, robot] = commands[robot][max(len(commands[robot]) - 1 - (delay or 0), 0)]
        found = bench.step(signals)
        expected = np.stack([twin.step(*acting[:4, :, joint]) for joint, twin in enumerate(twins)], axis=1)
        if limit is not None:
            limited += int((np.abs(expected) > limit).sum())
            expected = np.clip(expected, -limit, limit)
        np.testing.assert_allclose(found, expected, atol=3e-5 * 20.0, rtol=0)
    assert (limited > 100) is (limit is not None) and not bench.wrapper.faults


@pytest.mark.parametrize("signal", range(4), ids=["position", "velocity", "position target", "velocity target"])
def test_fault_leaves_what_is_remembered_alone(signal, engine_kind, tmp_path, rng) -> None:
    bench, ill = Bench(tmp_path), 1
    twins = bench.twins()
    for step, signals in enumerate(motion(rng, 40, len(twins))):
        bad = step in (10, 11, 25)
        clean = signals.copy()
        if bad:
            signals.reshape(5, ROBOTS, -1)[signal, ill] = np.nan if step == 10 else np.inf
        found = bench.step(signals)
        hold = (ill,) if bad else ()
        expected = np.stack([twin.step(*of_joint(clean, joint), hold) for joint, twin in enumerate(twins)], axis=1)
        if bad:
            expected[ill] = 0.0
        np.testing.assert_allclose(found, expected, atol=1e-3, rtol=0)
    assert {(fault.robot, fault.step) for fault in bench.wrapper.faults} == {(ill, 10)}


def test_saved_state_goes_on_bit_for_bit(engine_kind, tmp_path, rng) -> None:
    bench = Bench(tmp_path, delay=DELAY)
    signals = motion(rng, 40, 3)
    for one in signals[:20]:
        bench.step(one)
    saved = bench.wrapper.save_state()
    assert {name.rsplit("/", 1)[1] for name in saved if ".controller." in name} == {
        *("mlp_0.controller.pos_error_history", "mlp_0.controller.vel_history", "lstm_1.controller.hidden"),
        *("lstm_1.controller.cell", "gru_2.controller.hidden"),
    }
    first = [bench.step(one) for one in signals[20:]]
    other = Bench(tmp_path, delay=DELAY)
    for one in signals[::3]:
        other.step(one)
    other.wrapper.restore_state(saved)
    np.testing.assert_array_equal(first, [other.step(one) for one in signals[20:]])


def test_drawn_delays_act_before_the_network(tmp_path, rng) -> None:
    bench = Bench(tmp_path, ["mlp"], delay=6)
    bench.wrapper.draw_delays(0, 6, seed=4)
    delay = bench.wrapper.actuators[0].delay
    assert delay is not None
    lags = delay.delay_steps.numpy()
    assert len(set(lags)) > 1
    (twin,) = bench.twins()
    signals = motion(rng, 60, 1)
    for step, one in enumerate(signals):
        acting = one[:4].copy()
        for robot in range(ROBOTS):
            acting[2:, robot] = signals[max(step - lags[robot], 0)][2:4, robot]
        np.testing.assert_allclose(bench.step(one)[:, 0], twin.step(*acting), atol=6e-4, rtol=0)


def test_prims_with_one_network_share_it_and_keep_their_own_state(tmp_path, rng) -> None:
    bench = Bench(tmp_path, ["lstm"] * 4)
    assert len({id(actuator.controller.network) for actuator in bench.wrapper.actuators}) == 1
    twins = bench.twins()
    for signals in motion(rng, 50, 4):
        found = bench.step(signals)
        expected = np.stack([twin.step(*of_joint(signals, joint)) for joint, twin in enumerate(twins)], axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-3, rtol=0)


def test_one_prim_with_several_joints_has_one_component(tmp_path, rng) -> None:
    stage, names = Usd.Stage.CreateInMemory(), ["hip", "knee"]
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(ROOT, "Xform"))
    for name in names:
        UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/{name}")
    path = write_network(tmp_path / "leg.safetensors", *NETWORKS["mlp"])
    aa.add_actuator(ROOT, names, "leg", aa.NeuralControlConfig(path), stage=stage)
    host = ArraysHost(names, ROBOTS, path=ROOT, stage=stage)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators(f"{ROOT}_.*")
        host.play()
    (actuator,) = wrapper.actuators
    assert isinstance(actuator.controller, aa.ControllerNeuralMLP) and actuator.num_actuators == ROBOTS * 2
    twin, arrays = Twin(*NETWORKS["mlp"], ROBOTS * 2), host.arrays()
    assert arrays is not None
    for signals in motion(rng, 30, 2):
        arrays.positions[:], arrays.velocities[:], arrays.position_targets[:] = signals[:3]
        host.step(DT)
        np.testing.assert_allclose(arrays.efforts, twin.step(*signals[:4]), atol=6e-4, rtol=0)


def test_model_type_chooses_the_class(tmp_path) -> None:
    bench = Bench(tmp_path)
    classes = [aa.ControllerNeuralMLP, aa.ControllerNeuralLSTM, aa.ControllerNeuralGRU]
    for actuator, expected in zip(bench.wrapper.actuators, classes, strict=True):
        assert isinstance(actuator.controller, expected)
    for name, expected in zip(("mlp_0", "lstm_1", "gru_2"), classes, strict=True):
        parsed = aa.parse_actuator_prim(bench.stage.GetPrimAtPath(f"{ROOT}/Actuators/{name}"))
        assert parsed is not None and parsed.controller_class is expected
        path = parsed.controller_kwargs["model_path"]
        assert isinstance(path, CheckpointPath) and Path(path).is_file() and copy.deepcopy(path) == path
        # what was read stays what was checked
        Path(path).unlink()
        arguments = parsed.controller_class.resolve_arguments(parsed.controller_kwargs)
        assert isinstance(parsed.controller_class(**arguments), expected)


def test_what_is_wrong_with_files_is_told_at_once(tmp_path) -> None:
    stage = stage_with(tmp_path, {"hip": ("mlp", None, None), "knee": ("lstm", None, None), "toe": ("gru", None, None)})
    (tmp_path / "mlp.safetensors").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    (tmp_path / "lstm.safetensors").unlink()
    write_network(tmp_path / "gru.safetensors", NETWORKS["gru"][0], {"model_type": "mlp"})
    with aa.use_host(ArraysHost(["hip", "knee", "toe"], path=ROOT, stage=stage)):
        with pytest.raises(ActuatorParseError) as caught:
            aa.ArticulationActuators(ROOT)
    assert [told.partition(" = ")[0] for told in caught.value.issues] == [
        f"<{ROOT}/Actuators/{name}>.newton:modelPath" for name in ("hip", "knee", "toe")
    ]
    for told, problem in zip(caught.value.issues, ("mlp.safetensors", "no such file", "model_type"), strict=True):
        assert problem in told


def test_step_that_the_network_was_not_trained_for_leaves_no_effort(tmp_path, rng) -> None:
    bench = Bench(tmp_path, ["gru"])
    assert bench.step(motion(rng, 2, 1)[0]).any()
    saved = bench.wrapper.save_state()
    with pytest.raises(ValueError, match=r"dt = 0.01 s: must be the step .* 0.005 s"):
        bench.wrapper.step_actuators(0.01)
    arrays = bench.host.arrays()
    assert arrays is not None and not arrays.efforts.any()
    after = bench.wrapper.save_state()
    for name in (name for name in saved if ".controller." in name):
        np.testing.assert_array_equal(saved[name], after[name])


def test_built_in_python(tmp_path, rng) -> None:
    path = write_network(tmp_path / "lstm.safetensors", *NETWORKS["lstm"])
    limit = aa.ClampingMaxEffort(wp.full(ROBOTS, LIMIT, dtype=wp.float32, device="cpu"))
    config = aa.ActuatorConfig(aa.ControllerNeuralLSTM(path), [limit])
    host = ArraysHost(["hip", "knee"], ROBOTS, path=ROOT)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators.from_actuators(f"{ROOT}_.*", [(config, "hip"), (config, "knee")])
        host.play()
    twins, arrays = [Twin(*NETWORKS["lstm"], ROBOTS) for _ in range(2)], host.arrays()
    assert arrays is not None
    for signals in motion(rng, 40, 2):
        arrays.positions[:], arrays.velocities[:], arrays.position_targets[:] = signals[:3]
        host.step(DT)
        expected = np.stack([twin.step(*of_joint(signals, joint)) for joint, twin in enumerate(twins)], axis=1)
        found = arrays.efforts.reshape(ROBOTS, -1)
        np.testing.assert_allclose(found, np.clip(expected, -LIMIT, LIMIT), atol=1e-3, rtol=0)
    wrapper.close()


def test_metadata_of_a_file(tmp_path) -> None:
    path = write_network(tmp_path / "mlp.safetensors", *NETWORKS["mlp"])
    assert aa.load_metadata(path) == NETWORKS["mlp"][1]
    path.with_suffix(".json").write_text('{"pos_scale": 7.0, "author": "bench 4"}')
    assert aa.load_metadata(str(path)) == NETWORKS["mlp"][1] | {"pos_scale": 7.0, "author": "bench 4"}


def test_linear_network_drives_physics_as_the_pd_law_that_it_is(robots, tmp_path) -> None:
    kp, kd, found = 20.0, 2.0, {}
    network = Network(2, (Linear(0, np.float32([[kp / 2, -kd / 4]]), np.float32([0.0])),))
    metadata = {"model_type": "mlp", "pos_scale": 2.0, "vel_scale": 4.0}
    path = write_network(tmp_path / "pd.safetensors", network, metadata)
    for config in (aa.PDControlConfig(kp, kd), aa.NeuralControlConfig(path)):
        stage = stage_of(robots / "pendulum.usda")
        aa.add_actuator("/World/Pendulum", "hinge", "hinge", config, overwrite_existing=True, stage=stage)
        with aa.Simulation(stage) as sim:
            wrapper = aa.ArticulationActuators("/World/Pendulum")
            sim.play()
            wrapper.articulation.set_dof_position_targets(0.8)
            positions = []
            for _ in range(300):
                sim.step(1)
                positions.append(float(wrapper.articulation.get_dof_positions().numpy()[0, 0]))
            found[type(config)] = np.array(positions)
    assert np.ptp(found[aa.PDControlConfig]) > 0.3
    np.testing.assert_allclose(found[aa.NeuralControlConfig], found[aa.PDControlConfig], atol=1e-4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", NETWORKS)
def test_agrees_with_newtons_own(kind, tmp_path, rng) -> None:
    newton = pytest.importorskip("newton.actuators", reason="newton is not installed")
    pytest.importorskip("warp_nn", reason="newton evaluates networks with Warp-NN, which is not installed")
    pytest.importorskip("onnx", reason="newton reads networks with onnx, which is not installed")
    from isaacsim.core.experimental.actuators.files.networks import onnx

    network, metadata = NETWORKS[kind]
    if kind == "lstm":
        # newton takes one layer
        network = random_network("lstm", 2)
        metadata = metadata | {"num_layers": 1, "hidden_size": network.hidden_size}
    path = tmp_path / f"{kind}.onnx"
    path.write_bytes(onnx.write(network, metadata))
    drive, count = getattr(newton, f"DriveNeural{kind.upper()}")(str(path)), 4
    drive.finalize(wp.get_device("cpu"), count)
    states = [drive.state(count, wp.get_device("cpu")) for _ in range(2)]
    ours = {"mlp": aa.ControllerNeuralMLP, "lstm": aa.ControllerNeuralLSTM, "gru": aa.ControllerNeuralGRU}[kind](path)
    ours.finalize("cpu", count)
    own = [ours.state(count, "cpu") for _ in range(2)]
    at = wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
    for signals in random_motion(rng, count, 200):
        arrays = [wp.array(values, dtype=wp.float32, device="cpu") for values in signals]
        efforts = []
        for controller, pair in ((drive, states), (ours, own)):
            forces = wp.zeros(count, dtype=wp.float32, device="cpu")
            controller.compute(*arrays, at, at, at, at, forces, pair[0], DT)
            controller.update_state(*pair)
            pair.reverse()
            efforts.append(forces.numpy())
        np.testing.assert_allclose(efforts[0], efforts[1], atol=1e-4 * 20.0, rtol=0)


def test_wrapper_runs_what_is_not_recognised_if_trusted(tmp_path, run_by_torch) -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(ROOT, "Xform"))
    UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/knee")
    config = aa.NeuralControlConfig(unknown_file(tmp_path / "knee.pt"))
    aa.add_actuator(ROOT, "knee", "knee", config, clamping=[aa.MaxEffortClampingConfig(0.4)], stage=stage)
    host = ArraysHost(["knee"], ROBOTS, path=ROOT, stage=stage)
    with aa.use_host(host):
        host.play()
        arrays = host.arrays()
        assert arrays is not None
        for trusted in (True, False):
            with aa.trust_checkpoints([] if trusted else [tmp_path]):
                wrapper = aa.ArticulationActuators(f"{ROOT}_.*", trusted=trusted)
            assert wrapper.actuators[0].is_graphable() is False
            arrays.position_targets[:], arrays.velocities[:] = [0.1, 0.2, 0.3], [0.1, 0.1, 0.2]
            host.step(DT)
            # the stand-in adds position error and velocity
            np.testing.assert_allclose(arrays.efforts, np.float32([0.2, 0.3, 0.4]), rtol=1e-6)
            wrapper.close()
            with pytest.raises(ActuatorParseError) as caught:
                aa.ArticulationActuators(f"{ROOT}_.*")
            (told,) = caught.value.issues
            assert told.startswith(f"<{ROOT}/Actuators/knee>.newton:modelPath = ") and "knee.pt: " in told
            assert "operation ldexp" in told and "trusted=True" in told and "networks convert --trusted IN OUT" in told
