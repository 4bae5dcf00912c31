"""The same USD file gives the same efforts whether newton's parser and actuators read it or ours, for every component.

What differs on purpose is the table *The same file in newton* of `docs/Differences.md`; its tests are below.
"""

import json
import shutil
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import newton_drives
import numpy as np
import pytest
from checkpoint_files import network
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.files.networks import onnx
from isaacsim.core.experimental.actuators.specs.transmission import at_joint
from newton_drives import DT, motion
from pxr import Usd
from refusals import refused
from small_networks import numbers
from small_stages import wrist

with quiet_warp(), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    newton = pytest.importorskip("newton", reason="newton is not installed")
if tuple(map(int, version("newton").split(".")[:2])) < (1, 8):
    pytest.skip("the same file is compared with newton 1.8", allow_module_level=True)
STEPS, TOLERANCE = 500, 1e-5
ROOT, NAMES = "/World/Arm", ["shoulder", "extension"]
PATHS = [f"{ROOT}/joints/{name}" for name in NAMES]
PD, PID = aa.PDControlConfig(60.0, 4.0), aa.PIDControlConfig(60.0, 90.0, 4.0, 0.05, 1.5)
TABLE = aa.PositionBasedClampingConfig([-1.0, 0.0, 0.0, 2.0], [20.0, 5.0, 9.0, 40.0])
MOTORS: dict[str, tuple] = {
    "pd": (aa.PDControlConfig(60.0, 4.0, 1.5), [], None),
    "pid": (PID, [], None),
    "max effort": (PD, [aa.MaxEffortClampingConfig(30.0)], None),
    "dc motor": (PD, [aa.DCMotorClampingConfig(60.0, 2.0, 40.0)], None),
    "position based": (PD, [TABLE], None),
    "delay": (PD, [], aa.DelayConfig(3)),
    # as newton runs them in authored order
    "all": (
        PID,
        [aa.DCMotorClampingConfig(60.0, 2.0, 40.0), TABLE, aa.MaxEffortClampingConfig(15.0)],
        aa.DelayConfig(2),
    ),
}
NETWORKS: dict[str, Mapping] = {
    "mlp": {"model_type": "mlp", "input_order": "vel_pos", "pos_scale": 0.5, "effort_scale": 20.0},
    "lstm": {
        "model_type": "lstm",
        "vel_scale": 0.1,
        "effort_scale": 15.0,
        "num_layers": 1,
        "hidden_size": 4,
        "input_name": "x",
        "hidden_in_name": "h",
        "cell_in_name": "c",
        "output_name": "effort",
        "hidden_out_name": "h_out",
        "cell_out_name": "c_out",
    },
    "gru": {
        "model_type": "gru",
        "input_columns": ["position_error", "velocity"],
        "normalization": {
            "inputs": {
                "mean": {"position_error": 0.1, "velocity": 0.0},
                "std": {"position_error": 0.5, "velocity": 2.0},
            },
            "targets": {"mean": {"torque": 1.0}, "std": {"torque": 9.0}},
        },
        "sample_dt_s": DT,
    },
}


def file_with(folder: Path, robots: Path, motor: tuple, edit: Callable = bool) -> Path:
    # a copy: USD shares an open file among all who have it
    shutil.copy(robots / "arm_2dof.usda", folder / "arm.usda")
    stage = Usd.Stage.Open(str(folder / "arm.usda"))
    stage.RemovePrim(f"{ROOT}/Actuators")
    controller, clamping, delay = motor
    prims = [
        aa.add_actuator(ROOT, name, name, controller, clamping=list(clamping), delay=delay, stage=stage)
        for name in NAMES
    ]
    edit(prims[0])
    stage.Save()
    return folder / "arm.usda"


def recurrent(kind: str, metadata: Mapping, size: int = 4) -> bytes:
    """An ONNX file of one recurrent operator and a linear head, the only form that newton reads."""
    library = pytest.importorskip("onnx")
    helper, of_numbers = library.helper, library.numpy_helper.from_array
    gates, states = {"lstm": (4, ["h", "c"]), "gru": (3, ["h"])}[kind]
    shapes = {
        "W": (1, gates * size, 2),
        "R": (1, gates * size, size),
        "B": (1, 2 * gates * size),
        "w": (1, size),
        "b": (1,),
    }
    held = [of_numbers(numbers(*shape, seed=seed), name) for seed, (name, shape) in enumerate(shapes.items())]
    held.append(of_numbers(np.array([0, 1]), "axes"))
    outputs = [f"{name}_out" for name in states]
    more = {"linear_before_reset": 1} if kind == "gru" else {}
    nodes = [
        helper.make_node(kind.upper(), ["x", "W", "R", "B", "", *states], ["y", *outputs], hidden_size=size, **more),
        helper.make_node("Squeeze", ["y", "axes"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w", "b"], ["effort"], transB=1),
    ]

    def value(name: str, *shape):
        return helper.make_tensor_value_info(name, library.TensorProto.FLOAT, shape)

    inputs = [value("x", 1, "N", 2), *(value(name, 1, "N", size) for name in states)]
    results = [value("effort", "N", 1), *(value(name, 1, "N", size) for name in outputs)]
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(helper.make_graph(nodes, "net", inputs, results, held), opset_imports=opset, ir_version=8)
    helper.set_model_props(model, {"metadata": json.dumps(metadata)})
    return model.SerializeToString()


class Theirs(newton_drives.Theirs):
    """newton's builder, parser and actuators on the robot of the file."""

    def __init__(self, file: Path, through_ours: bool = False) -> None:
        super().__init__(file, PATHS, through_ours)


class Ours(newton_drives.Ours):
    """Our parser and actuators on the robot of the file; `faults` and warnings are those of a wrapper."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, ROOT, PATHS)


def compare(file: Path, through_ours: bool = False) -> None:
    theirs, ours = Theirs(file, through_ours), Ours(file)
    found = np.array([(theirs.efforts(*signals), ours.efforts(*signals)) for signals in motion(len(NAMES), STEPS)])
    ours.wrapper.close()
    assert np.ptp(found[:, 0], axis=0).min() > 1.0, "they do something"
    scale = np.abs(found[:, 0]).max()
    assert np.abs(found[:, 0] - found[:, 1]).max() <= TOLERANCE * max(1.0, scale)


@pytest.mark.parametrize("through_ours", [False, True])
@pytest.mark.parametrize("motor", MOTORS)
def test_same_file_gives_the_same_efforts(motor, through_ours, robots, tmp_path) -> None:
    compare(file_with(tmp_path, robots, MOTORS[motor]), through_ours)


@pytest.mark.filterwarnings("ignore:.*armature of joints shoulder, extension has no effect:UserWarning")
@pytest.mark.parametrize("ratio", [10.0, -10.0])
@pytest.mark.parametrize("motor", [name for name in MOTORS if name != "position based"])
@pytest.mark.slow
def test_geared_motor_gives_the_same_efforts(motor, ratio, robots, tmp_path) -> None:
    controller, clamping, delay = MOTORS[motor]
    of_motor = [at_joint(one, 1.0 / ratio) for one in (controller, *clamping, *([delay] if delay else []))]
    gear = aa.TransmissionConfig(ratio, 0.3, rotor_inertia=2e-4)
    shutil.copy(robots / "arm_2dof.usda", tmp_path / "arm.usda")
    stage = Usd.Stage.Open(str(tmp_path / "arm.usda"))
    aa.add_motors(ROOT, {".*": [*of_motor, gear]}, stage=stage, overwrite_existing=True)
    stage.Save()
    prim = stage.GetPrimAtPath(f"{ROOT}/Actuators/shoulder")
    assert prim.GetAttribute("newton:kp").Get() == pytest.approx(controller.kp, rel=1e-6)
    theirs = Theirs(tmp_path / "arm.usda")
    np.testing.assert_allclose(theirs.model.joint_armature.numpy()[-len(NAMES) :], 0.02, rtol=1e-6)
    compare(tmp_path / "arm.usda")
    compare(tmp_path / "arm.usda", through_ours=True)


@pytest.mark.filterwarnings("ignore:.*armature of joints shoulder, extension has no effect:UserWarning")
def test_motors_of_a_linkage_drive_their_joints_alone(robots, tmp_path) -> None:
    shutil.copy(robots / "arm_2dof.usda", tmp_path / "arm.usda")
    stage = Usd.Stage.Open(str(tmp_path / "arm.usda"))
    shafts = aa.LinkageConfig.differential(*NAMES)
    motors = {name: [PD, aa.TransmissionConfig(2.0), shaft] for name, shaft in zip(NAMES, shafts, strict=True)}
    aa.add_motors(ROOT, motors, stage=stage, overwrite_existing=True)
    stage.Save()
    theirs, ours = Theirs(tmp_path / "arm.usda"), Ours(tmp_path / "arm.usda")
    for q, qd, q_target, qd_target, feedforward in motion(len(NAMES), 20):
        alone = feedforward + 4 * PD.kp * (q_target - q) + 4 * PD.kd * (qd_target - qd)
        found = theirs.efforts(q, qd, q_target, qd_target, feedforward)
        np.testing.assert_allclose(found, alone, rtol=1e-4, atol=1e-3)
        # two shafts, each with the sum or the difference
        both = feedforward + 2 * (alone - feedforward)
        found = ours.efforts(q, qd, q_target, qd_target, feedforward)
        np.testing.assert_allclose(found, both, rtol=1e-4, atol=1e-3)
    ours.wrapper.close()


def test_geared_motors_come_back_from_files(robots, tmp_path) -> None:
    shutil.copy(robots / "arm_2dof.usda", tmp_path / "arm.usda")
    stage = Usd.Stage.Open(str(tmp_path / "arm.usda"))
    limits = [aa.DCMotorClampingConfig(6.0, 20.0, 4.0), TABLE, aa.MaxEffortClampingConfig(3.0)]
    gear = aa.TransmissionConfig(-12.0, 0.3, "motor", 3e-5, 0.8, 0.75)
    given = aa.MotorConfig(aa.PDControlConfig(0.4, 0.03, -0.2), limits, aa.DelayConfig(2), others=[gear])
    aa.add_motors(ROOT, {".*": given}, stage=stage, overwrite_existing=True)
    stage.Save()
    for motor in aa.motors_of(str(tmp_path / "arm.usda")).values():
        assert motor.armature == pytest.approx(144 * 3e-5, rel=1e-6)
        for stage_given, found in zip(given.stages, motor.stages, strict=True):
            assert type(found) is type(stage_given)
            for name, value in vars(stage_given).items():
                assert getattr(found, name) == (value if isinstance(value, str) else pytest.approx(value, rel=1e-6)), (
                    name
                )
        aa.add_motors(ROOT, {".*": motor}, stage=stage, overwrite_existing=True)
    first = stage.GetPrimAtPath(f"{ROOT}/Actuators/shoulder")
    assert first.GetAttribute("newton:constEffort").Get() == pytest.approx(0.2 * 12.0, rel=1e-6)
    assert first.GetAttribute("newton:maxEffort").Get() == pytest.approx(36.0, rel=1e-6)
    assert first.GetAttribute("newton:velocityLimit").Get() == pytest.approx(20.0 / 12.0, rel=1e-6)
    assert first.GetAttribute("newton:lookupEfforts").Get() == pytest.approx(TABLE.lookup_efforts)


@pytest.mark.parametrize("kind", NETWORKS)
def test_same_network_gives_the_same_efforts(kind, robots, tmp_path) -> None:
    pytest.importorskip("warp_nn", reason="newton runs networks by warp-nn, which is not installed")
    content = onnx.write(network(kind), NETWORKS[kind]) if kind == "mlp" else recurrent(kind, NETWORKS[kind])
    (tmp_path / "net.onnx").write_bytes(content)
    compare(
        file_with(tmp_path, robots, (aa.NeuralControlConfig("./net.onnx"), [aa.MaxEffortClampingConfig(25.0)], None))
    )


def signals(*, q: float = 0.0, qd: float = 0.0, target: float = 1.0) -> np.ndarray:
    return np.array([[value] * len(NAMES) for value in (q, qd, target, 0.0, 0.0)], np.float32)


def ramp(side) -> list[list[float]]:
    """Efforts while the targets are 1, 2, 3."""
    return [side.efforts(*signals(target=target)).tolist() for target in (1.0, 2.0, 3.0)]


def test_delay_that_is_not_authored_is_one_step(robots, tmp_path) -> None:
    motor = aa.PDControlConfig(10.0, 0.0), [], aa.DelayConfig(3)
    file = file_with(tmp_path, robots, motor, lambda prim: prim.RemoveProperty("newton:delaySteps"))
    assert ramp(Theirs(file)) == [[10.0, 10.0], [20.0, 10.0], [30.0, 10.0]]
    assert ramp(Ours(file)) == [[10.0, 10.0], [10.0, 10.0], [20.0, 10.0]]


def test_delay_of_none_is_refused(robots, tmp_path) -> None:
    file = file_with(tmp_path, robots, (aa.PDControlConfig(10.0, 0.0), [], aa.DelayConfig(0)))
    refused(ValueError, lambda: Theirs(file), "max_delay must be >= 1")
    assert ramp(Ours(file)) == [[10.0, 10.0], [20.0, 20.0], [30.0, 30.0]]


def test_axis_of_a_generic_joint_is_refused(robots, tmp_path) -> None:
    stage = wrist().stage
    (first, second) = aa.add_motors("/World/Arm", {"wrist:.*": [aa.PDControlConfig(10.0, 0.0)]}, stage=stage)
    stage.GetRootLayer().Export(str(tmp_path / "wrist.usda"))
    assert [prim.GetName() for prim in (first, second)] == ["wrist_rotY", "wrist_rotZ"]
    refused(ValueError, lambda: Theirs(tmp_path / "wrist.usda"), r"wrist\.rotY' which does not exist")


def test_every_target_is_driven(robots, tmp_path) -> None:
    def edit(prim) -> None:
        stage, other = prim.GetStage(), prim.GetPath().GetParentPath().AppendChild(NAMES[1])
        (joint,) = stage.GetPrimAtPath(other).GetRelationship("newton:targets").GetTargets()
        prim.GetRelationship("newton:targets").AddTarget(joint)
        stage.RemovePrim(other)

    file = file_with(tmp_path, robots, (aa.PDControlConfig(10.0, 0.0), [], None), edit)
    assert ramp(Theirs(file)) == [[10.0, 0.0], [20.0, 0.0], [30.0, 0.0]]
    assert ramp(Ours(file)) == [[10.0, 10.0], [20.0, 20.0], [30.0, 30.0]]


def test_input_that_is_no_number_gives_no_effort(robots, tmp_path) -> None:
    file = file_with(tmp_path, robots, (aa.PDControlConfig(10.0, 0.0), [aa.MaxEffortClampingConfig(5.0)], None))
    theirs, ours = Theirs(file), Ours(file)
    assert np.abs(theirs.efforts(*signals(target=np.nan))).tolist() == [5.0, 5.0]
    assert ours.efforts(*signals(target=np.nan)).tolist() == [0.0, 0.0]
    assert [fault.dof_name for fault in ours.wrapper.faults] == NAMES


def test_limit_that_is_no_number_is_refused(robots, tmp_path) -> None:
    motor = aa.PDControlConfig(10.0, 0.0), [aa.MaxEffortClampingConfig(5.0)], None
    file = file_with(tmp_path, robots, motor, lambda prim: prim.GetAttribute("newton:maxEffort").Set(float("nan")))
    assert Theirs(file).efforts(*signals()).tolist() == [10.0, 5.0]
    refused(ActuatorParseError, lambda: Ours(file), r"shoulder>\.newton:maxEffort = nan")


def test_plain_limit_is_the_last(robots, tmp_path) -> None:
    limits = [aa.MaxEffortClampingConfig(20.0), aa.DCMotorClampingConfig(100.0, 10.0, 50.0)]
    for clamping, expected in ((limits, -50.0), (limits[::-1], -20.0)):
        folder = tmp_path / str(expected)
        folder.mkdir()
        file = file_with(folder, robots, (aa.PDControlConfig(1000.0, 0.0), clamping, None))
        assert Theirs(file).efforts(*signals(qd=15.0)).tolist() == [expected] * 2
        assert Ours(file).efforts(*signals(qd=15.0)).tolist() == [-20.0] * 2


def test_infinite_saturation_effort_is_no_speed_curve(robots, tmp_path) -> None:
    motor = aa.PDControlConfig(1000.0, 0.0), [aa.DCMotorClampingConfig(100.0, 10.0, 50.0)], None
    file = file_with(tmp_path, robots, motor, lambda prim: prim.RemoveProperty("newton:saturationEffort"))
    refused(ValueError, lambda: Theirs(file), "saturation_effort must be finite")
    with pytest.warns(UserWarning, match="newton:velocityLimit = 10 has no effect"):
        ours = Ours(file)
    assert ours.efforts(*signals(qd=15.0)).tolist() == [50.0, -50.0]


def test_columns_of_the_callers_own_give_the_same_efforts(robots, tmp_path) -> None:
    pytest.importorskip("warp_nn", reason="newton runs networks by warp-nn, which is not installed")
    normal = {"inputs": {"mean": {"position_error": 0.1, "wind": -2.0}, "std": {"position_error": 0.7, "wind": 3.0}}}
    metadata = dict(NETWORKS["gru"]) | {"input_columns": ["position_error", "wind"], "custom_inputs": ["wind"]}
    metadata["normalization"] = normal | {"targets": {"mean": {"torque": 0.5}, "std": {"torque": 9.0}}}
    (tmp_path / "net.onnx").write_bytes(recurrent("gru", metadata))
    file = file_with(tmp_path, robots, (aa.NeuralControlConfig("./net.onnx"), [], None))
    sides, wind = [Theirs(file), Theirs(file, through_ours=True), Ours(file)], np.zeros((1, len(NAMES)), np.float32)
    sides[2].wrapper.set_custom_input("wind", wind)
    largest = 0.0
    for number, values in enumerate(motion(len(NAMES), 60)):
        wind[:] = 5 * np.sin(0.3 * number + np.arange(len(NAMES)))
        for side in sides[:2]:
            side.control.wind.numpy()[side.columns] = wind[0]
        expected, *found = (side.efforts(*values) for side in sides)
        for one in found:
            np.testing.assert_allclose(one, expected, atol=1e-5 * max(np.abs(expected).max(), 1.0))
        largest = max(largest, np.abs(expected).max())
    assert largest > 0.5
