"""Exports of every law, read back by the reader of each format, and by how much the efforts differ."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from cfg_text import cfgs_of
from checkpoint_files import checkpoint_file
from isaacsim.core.experimental.actuators.compat import isaac_lab
from isaacsim.core.experimental.actuators.laws.contract.catalogue import LAWS
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.motors import with_friction_stage
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from isaacsim.core.experimental.actuators.tools.export.robot import OF_JOINT, ExportedRobot, joint_of, read_robot
from isaacsim.core.experimental.actuators.tools.export.ros2 import read_ros2
from isaacsim.core.experimental.actuators.tools.export.targets import TARGETS, written
from valid_configs import numbered

DT = 0.004
PD = aa.PDControlConfig(1.0, 0.05)
JOINTS = ("hinge", "twist")
MJCF = """<mujoco><worldbody><body><joint name="hinge"/><geom size="0.1"/>
<body><joint name="twist" axis="1 0 0"/><geom size="0.1"/></body></body></worldbody></mujoco>"""
LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/></joint>'
URDF = f"""<robot name="arm">{"".join(map(LINK.format, "abc"))}{JOINT.format("hinge", "a", "b")}
{JOINT.format("twist", "b", "c")}</robot>"""


@dataclass(frozen=True)
class Row:
    """A law in motors: its kind and name, and the stages of each joint, beside a PD law where none is a control law."""

    kind: str
    law: str
    stages: Sequence[Sequence[Config]]

    @property
    def robot(self) -> ExportedRobot:
        return robot_of(*self.stages)


def robot_of(*motors: Sequence[Config]) -> ExportedRobot:
    made = {
        name: aa.MotorConfig(**parts_of([*([] if any(one.KIND == "controller" for one in stages) else [PD]), *stages]))
        for name, stages in zip(JOINTS, motors, strict=False)
    }
    joints = tuple(joint_of(name, False, motor, {}, DT, is_given=True) for name, motor in made.items())
    return ExportedRobot("arm", "/", joints, dt=DT)


def rows(folder: Path) -> Iterator[Row]:
    """Each law with one set of numbers, each kind of network in a file of the folder, and a linkage of two joints."""
    configs = {law: _in_motor(numbered(law.config, 0.1)) for law in LAWS if law.name}
    needy = [one for one in configs.values() if not _is_whole(one)]
    for law in LAWS:
        name = law.config.__name__
        if law.name:
            yield Row(law.kind, name, [needy if configs[law] in needy else [configs[law]]])
        for kind in law.by_network:
            (file := folder / f"{kind}.onnx").write_bytes(checkpoint_file("onnx", kind, {"input_idx": [0]}))
            yield Row(law.kind, f"{name}, {kind.upper()}", [[aa.NeuralControlConfig(str(file))]])
        if law.config is aa.LinkageConfig:
            yield Row(law.kind, f"{name}.differential", [[one] for one in aa.LinkageConfig.differential(*JOINTS, 1.7)])


def _in_motor(stage, inertia: float = 0.05):
    changed = {"assumed_inertia": getattr(stage, "assumed_inertia", 0.0) or inertia, "in_engine": False}
    return dataclasses.replace(stage, **{name: one for name, one in changed.items() if name in parameters_of(stage)})


def _is_whole(stage: Config) -> bool:
    """Whether a motor may have it without the others of the table: voltages need a winding, and it needs voltages."""
    try:
        aa.ActuatedArrays(JOINTS[:1], robot_of([stage]).motors)
    except ValueError:
        return False
    return True


def of_cfg(cfg) -> aa.MotorConfig:
    # names that only Isaac Lab has are those of mjlab otherwise
    said = {name.removeprefix("actuator_"): value for name, value in vars(cfg).items() if value is not None}
    limit = aa.MaxEffortClampingConfig(said["effort_limit"])
    if "saturation_effort" in said:
        limit = aa.DCMotorClampingConfig(said["saturation_effort"], said["velocity_limit"], said["effort_limit"])
    delay = said.get("max_delay", said.get("delay_max_lag", 0))
    dry, viscous = said.get("dynamic_friction", said.get("frictionloss")), said.get("viscous_friction")
    static = said.get("friction", dry)
    return aa.MotorConfig(
        aa.PDControlConfig(said["stiffness"], said["damping"]),
        [] if limit == aa.MaxEffortClampingConfig(math.inf) else [limit],
        aa.DelayConfig(delay) if delay else None,
        friction=dry if static == dry else None,
        viscous_friction=said.get("viscous_damping", viscous) if static == dry else None,
        armature=said.get("armature"),
        others=[] if static == dry else [aa.FrictionConfig(dry, viscous or 0.0, static)],
    )


def of_mjcf(out: Path) -> dict[str, aa.MotorConfig]:
    names = OF_JOINT - {"static_friction"}
    joints = read_robot(out).joints
    return {one.name: one.motor or aa.MotorConfig(**{name: one.value(name) for name in names}) for one in joints}


def of_lab(out: Path) -> dict[str, aa.MotorConfig]:
    cfgs = isaac_lab.load_groups(out).values() if "Cfg(" in out.read_text() else ()
    return {name: of_cfg(cfg) for cfg in cfgs for name in cfg.joint_names_expr}


def of_mjlab(out: Path) -> dict[str, aa.MotorConfig]:
    classes = dict.fromkeys(("IdealPdActuatorCfg", "DcMotorActuatorCfg"), SimpleNamespace)
    with pytest.MonkeyPatch.context() as patch:
        cfgs = cfgs_of(out.read_text(), "mjlab.actuator", classes, patch).values()
    return {name: of_cfg(cfg) for cfg in cfgs for name in cfg.target_names_expr}


def of_urdf(out: Path) -> dict[str, aa.MotorConfig]:
    joints, limit = ElementTree.parse(out).getroot().findall("joint"), [aa.MaxEffortClampingConfig("joint")]
    motors = {
        one.attrib["name"]: aa.MotorConfig(PD, limit if one.find("limit[@effort]") is not None else [])
        for one in joints
    }
    return read_robot(out, motors).motors


READERS: dict[str, Callable[[Path], dict[str, aa.MotorConfig]]] = {
    "yaml": aa.load_motors,
    "mjcf": of_mjcf,
    "ros2": read_ros2,
    "lab": of_lab,
    "urdf": of_urdf,
    "mjlab": of_mjlab,
}


def read_back(robot: ExportedRobot, target: str, folder: Path) -> dict[str, aa.MotorConfig]:
    into = None
    if TARGETS[target].root:
        (into := folder / f"into.{target}").write_text({"mjcf": MJCF, "urdf": URDF}[target])
    out = folder / f"out.{ {'mjcf': 'xml'}.get(target, target) }"
    written(robot, target, out, False, into)
    back, names = READERS[target](out), [joint.name for joint in robot.joints]
    return {name: motor for name, motor in back.items() if name in names}


def efforts(names: Sequence[str], motors: dict[str, aa.MotorConfig], inertia: float) -> np.ndarray:
    made = {name: with_friction_stage(motor).stages for name, motor in motors.items()}
    stages = {name: [_in_motor(one, inertia) for one in motor] for name, motor in made.items()}
    random = np.random.default_rng(4)
    scale = np.array([[0.3], [2.0], [0.3]], np.float32)
    inputs = random.normal(size=(100, 3, len(names))).astype(np.float32) * scale
    if not any(stages.values()):
        return np.zeros((len(inputs), len(names)))
    arrays = aa.ActuatedArrays(names, stages)
    return np.array([np.array(arrays.step(q, v, t, DT)) for q, v, t in inputs])


def difference(robot: ExportedRobot, back: dict[str, aa.MotorConfig]) -> float:
    stages = [stage for motor in robot.motors.values() for stage in motor.stages]
    inertia = max(getattr(stage, "assumed_inertia", 0.0) for stage in stages)
    names = [joint.name for joint in robot.joints]
    wanted, found = (efforts(names, motors, inertia) for motors in (robot.motors, back))
    assert wanted.any(), "the inputs move nothing"
    return float(np.abs(found - wanted).max() / np.abs([wanted, found]).max())
