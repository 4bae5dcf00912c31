"""Groups from files of Python: robots as Isaac Lab defines them."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import isaac_lab_wheel
import pytest
from isaacsim.core.experimental.actuators.compat import isaac_lab
from refusals import cases, refused

# in the manner of isaaclab_assets
ROBOTS = '''
"""Configuration of a robot."""

import isaaclab.sim as sim_utils
from isaaclab.actuators import DCMotorCfg, DelayedPDActuatorCfg, ImplicitActuatorCfg as Implicit
from isaaclab.actuators import RemotizedPDActuatorCfg
from isaaclab.assets.articulation import ArticulationCfg
from isaaclab.utils.assets import ISAACLAB_NUCLEUS_DIR

ARMATURE = 0.003609725
NATURAL_FREQ = 10 * 2.0 * 3.1415926535
LOOKUP = [[-1.0, 1.0, 10.0], [1.0, 1.5, 20.0]]

HIP = DelayedPDActuatorCfg(
    joint_names_expr=[".*_h[xy]"], effort_limit=45.0, stiffness=60.0, damping=1.5, min_delay=0, max_delay=4
)
ROBOT_CFG = ArticulationCfg(
    spawn=sim_utils.UsdFileCfg(usd_path=f"{ISAACLAB_NUCLEUS_DIR}/robot.usd", activate_contact_sensors=True),
    init_state=ArticulationCfg.InitialStateCfg(pos=(0.0, 0.0, 0.5), joint_pos={".*": 0.0}),
    actuators={
        "hip": HIP,
        "knee": RemotizedPDActuatorCfg(
            joint_names_expr=[".*_kn"],
            joint_parameter_lookup=LOOKUP,
            effort_limit=None,
            stiffness=60.0,
            damping=1.5,
            min_delay=0,
            max_delay=4,
        ),
        "arm": Implicit(
            joint_names_expr=["arm_.*"], stiffness={"arm_.*": ARMATURE * NATURAL_FREQ**2}, damping=None,
            armature=ARMATURE,
        ),
    },
)
STIFF_CFG = ROBOT_CFG.copy()
STIFF_CFG.spawn.rigid_props.disable_gravity = True
STIFF_CFG.actuators["hip"].stiffness = 400.0
'''


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.py"
    file.write_text(ROBOTS, "utf-8")
    return file


def test_a_robot_by_its_name(robots) -> None:
    found = isaac_lab.load_groups(robots, "ROBOT_CFG")
    hip = isaac_lab.DelayedPDActuatorCfg(
        joint_names_expr=[".*_h[xy]"], actuator_effort_limit=45.0, stiffness=60.0, damping=1.5, min_delay=0, max_delay=4
    )
    knee = isaac_lab.RemotizedPDActuatorCfg(
        joint_names_expr=[".*_kn"],
        joint_parameter_lookup=[[-1.0, 1.0, 10.0], [1.0, 1.5, 20.0]],
        stiffness=60.0,
        damping=1.5,
        max_delay=4,
    )
    arm = isaac_lab.ImplicitActuatorCfg(
        joint_names_expr=["arm_.*"],
        stiffness={"arm_.*": 0.003609725 * (10 * 2.0 * 3.1415926535) ** 2},
        damping=None,
        armature=0.003609725,
    )
    assert found == {"hip": hip, "knee": knee, "arm": arm}
    assert isaac_lab.load_groups(robots, "STIFF_CFG") == {**found, "hip": hip.replace(stiffness=400.0)}
    assert isaac_lab.load_groups(robots, "HIP") == {"HIP": hip}


def test_limits_have_their_names_of_3_0(tmp_path) -> None:
    """Those of 2.3 are written so; a file with names of 3.0 has its rules."""
    file = tmp_path / "robot.py"
    cfg = "{}Cfg(joint_names_expr=['.*'], stiffness=1, damping=2, {})"
    for kind, said, expected in (
        (
            "ImplicitActuator",
            "effort_limit=3, velocity_limit_sim=4",
            {"joint_effort_limit": 3, "joint_velocity_limit": 4},
        ),
        (
            "IdealPDActuator",
            "effort_limit=3, velocity_limit=4",
            {"actuator_effort_limit": 3, "actuator_velocity_limit": 4},
        ),
        ("ImplicitActuator", "actuator_effort_limit=3", {"actuator_effort_limit": 3, "rules": "3.0"}),
        (
            "IdealPDActuator",
            "actuator_effort_limit=3, effort_limit=3",
            {"actuator_effort_limit": 3, "effort_limit": 3, "rules": "3.0"},
        ),
    ):
        file.write_text(f"ALL = {{'all': {cfg.format(kind, said)}}}")
        given = {"joint_names_expr": [".*"], "stiffness": 1, "damping": 2}
        assert isaac_lab.load_groups(file)["all"] == getattr(isaac_lab, f"{kind}Cfg")(**given, **expected)


def test_the_only_robot_needs_no_name(tmp_path) -> None:
    file = tmp_path / "robot.py"
    cfg = "ImplicitActuatorCfg(joint_names_expr=['.*'], stiffness=1, damping=2)"
    file.write_text(f"A = {{'all': {cfg}}}\nB = A\nSIZES = {{'x': 1}}\n")
    expected = {"all": isaac_lab.ImplicitActuatorCfg(joint_names_expr=[".*"], stiffness=1, damping=2)}
    assert isaac_lab.load_groups(file) == expected
    file.write_text(f"GROUPS = {{'all': {cfg}}}\nROBOT = lab.ArticulationCfg(actuators=GROUPS)\n")
    assert isaac_lab.load_groups(file) == expected


def test_networks_are_found_from_the_folder_of_the_file(tmp_path) -> None:
    file = tmp_path / "robot.py"
    file.write_text(
        "ACTUATORS = {'all': ActuatorNetMLPCfg(joint_names_expr=['.*'], network_file='nets/leg.pt', pos_scale=-1.0,"
        " vel_scale=1, torque_scale=1, input_order='pos_vel', input_idx=range(3), saturation_effort=2,"
        " velocity_limit=3, class_type=isaaclab.actuators.ActuatorNetMLP)}"
    )
    (found,) = isaac_lab.load_groups(file).values()
    assert isinstance(found, isaac_lab.ActuatorNetMLPCfg)
    assert found.network_file == str(tmp_path / "nets" / "leg.pt") and found.input_idx == [0, 1, 2]
    assert found.class_type == "isaaclab.actuators:ActuatorNetMLP"


def test_cfgs_within_cfgs(tmp_path) -> None:
    file = tmp_path / "robot.py"
    motor = "BamMotorCfg(model='m1', kt=1, resistance=2, error_gain=3, friction_base=4, friction_viscous=5)"
    file.write_text(f"A = {{'a': BamActuatorCfg(joint_names_expr=['.*'], motor={motor}, kp_fw=32, vin=15)}}")
    (found,) = isaac_lab.load_groups(file).values()
    assert isinstance(found, isaac_lab.BamActuatorCfg) and found.motor.resistance == 2


@cases(
    "text, why",
    ("X = 1", "has no robot: must have one ArticulationCfg, or one dictionary of actuator cfgs. Give the file"),
    ("A = {'a': {C}}\nB = {'a': {C}}", "has 2 robots, A, B: must have one .* Give the name of one: FILE.py:NAME."),
    ("R = ArticulationCfg(actuators=3)", "R.actuators = int: must be a dictionary of actuator cfgs"),
    ("R = ArticulationCfg(actuators={3: {C}})", "group 3: must have a text as its name"),
    ("R = ArticulationCfg(actuators={'a': 1})", r"R.actuators\['a'\] = int: must be one of ImplicitActuatorCfg, "),
    ("R = ArticulationCfg(actuators={'a': MyCfg(b=1)})", r"R.actuators\['a'\] = MyCfg\(…\): must be one of "),
    ("R = ArticulationCfg(actuators={'a': make(3)})", r"robot.py:1: `make\(3\)` is a call of make, which is not"),
    ("A = {'a': DCMotorCfg(joint_names_expr=[], stiffness=f(1))}", r"robot.py:1: `f\(1\)` is a call of f"),
    (
        "from b import KP\nA = {'a': DCMotorCfg(joint_names_expr=[], stiffness={'.*': KP})}",
        "line 2: DCMotorCfg: stiffness = b.KP: must not be of another file. Write the value",
    ),
    ("A = {'a': DCMotorCfg(joint_names_expr=[], kp=1)}", "line 1: DCMotorCfg has kp: must have fields of class_ty"),
    ("A = {'a': DCMotorCfg(joint_names_expr=[])}", "DCMotorCfg lacks stiffness, damping, saturation_effort: must"),
    ("A = {'a': DCMotorCfg(joint_names_expr=Other(b=1))}", "line 1: Other: must be one of "),
)
def test_what_is_no_robot(tmp_path, text, why) -> None:
    file = tmp_path / "robot.py"
    file.write_text(text.replace("{C}", "ImplicitActuatorCfg(joint_names_expr=['.*'], stiffness=1, damping=2)"))
    refused(ValueError, lambda: isaac_lab.load_groups(file), why)


def test_a_name_that_is_not_there(robots) -> None:
    with pytest.raises(ValueError, match=r"must be a name in the file\. Robots there are ROBOT_CFG, STIFF_CFG"):
        isaac_lab.load_groups(robots, "X")
    refused(ValueError, lambda: isaac_lab.load_groups(robots, "ARMATURE"), "ARMATURE = float: must be a dictionary")


def test_a_file_that_is_not_there(tmp_path) -> None:
    refused(FileNotFoundError, lambda: isaac_lab.load_groups(tmp_path / "none.py"))


def test_few_lines_cannot_fill_the_memory(tmp_path) -> None:
    file = tmp_path / "robot.py"
    lines = "".join(f"A{at + 1} = [A{at}, A{at}]\n" for at in range(60))
    file.write_text(f"A0 = [1]\n{lines}X = {{'a': DCMotorCfg(joint_names_expr=A60)}}")
    refused(ValueError, lambda: isaac_lab.load_groups(file), "must have 1000000 values at most")


def test_a_cfg_of_a_class_that_extends_is_refused(tmp_path) -> None:
    """Its code would have to run."""
    file = tmp_path / "robot.py"
    cfg = "DCMotorCfg(joint_names_expr=['.*'], stiffness=1, damping=2, saturation_effort=1)"
    file.write_text(f"class DCMotorCfg(Base):\n    pass\nROBOT = ArticulationCfg(actuators={{'a': {cfg}}})")
    refused(ValueError, lambda: isaac_lab.load_groups(file), r"robot.py:3: `DCMotorCfg\(.* is a call, which is not run")


class _Made(SimpleNamespace):
    def __init__(self, **fields) -> None:
        super().__init__(**copy.deepcopy(fields))

    def replace(self, **changes) -> _Made:
        return _Made(**{**vars(self), **changes})

    def copy(self) -> _Made:
        return copy.deepcopy(self)


class _Classes(type):
    def __getattr__(cls, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Class


class _Class(_Made, metaclass=_Classes):
    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        made = vars(self)[name] = _Class()
        return made


class _Anything(ModuleType):
    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if hasattr(isaac_lab, name):
            return getattr(isaac_lab, name)
        if name.endswith("_DIR"):
            return f"<{name}>"
        return _Class() if name.isupper() else _Class


def test_robots_of_isaac_lab_are_those_that_run(monkeypatch) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed, which a robot of Isaac Lab imports")
    version, source = isaac_lab_wheel.source() or ("", Path())
    if not version:
        pytest.skip("the wheel isaaclab is neither installed nor named by ISAACLAB_WHEEL: no robots to read")
    modules = "isaaclab isaaclab.sim isaaclab.actuators isaaclab.assets isaaclab.assets.articulation isaaclab.utils "
    modules += (
        "isaaclab.utils.assets isaaclab.sensors isaaclab_contrib isaaclab_contrib.actuators isaaclab_contrib.assets "
    )
    modules += "isaaclab_assets isaaclab_assets.sensors isaaclab_assets.sensors.velodyne isaaclab.sim.schemas "
    modules += "isaaclab.utils.module isaaclab_newton isaaclab_newton.sim isaaclab_newton.sim.schemas "
    modules += "isaaclab_physx isaaclab_physx.sim isaaclab_physx.sim.schemas"
    for name in modules.split():
        made = _Anything(name)
        monkeypatch.setitem(sys.modules, name, made)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, made)
    # functions of 3.0
    sys.modules["isaaclab.utils"].clone = copy.deepcopy
    sys.modules["isaaclab.utils"].replace = lambda cfg, **changes: cfg.replace(**changes)
    read, later, refused = 0, 0, list[str]()
    assets = source / ".." / "isaaclab_assets" if version == "2.3" else source
    for file in sorted((assets / "isaaclab_assets" / "robots").glob("*.py")):
        scope = {"__file__": str(file), "__name__": "robots"}
        if file.name == "__init__.py":
            continue
        exec(compile(file.read_text("utf-8"), str(file), "exec"), scope)
        for name, robot in scope.items():
            if isinstance(robot, _Made) and isinstance(vars(robot).get("actuators"), dict):
                try:
                    found = isaac_lab.load_groups(file, name)
                    rules = next(iter(found.values())).rules
                    assert found == {
                        group: isaac_lab.cfgs.of_fields(type(cfg).__name__, vars(cfg) | {"rules": rules})
                        for group, cfg in robot.actuators.items()
                    }
                    later += rules == "3.0"
                    read += 1
                except ValueError as error:
                    refused.append(f"{name}: {error}")
    assert read >= 40 and (later > 20) is (version == "3.0")
    wrong = [one for one in refused if "/ActuatorNets/" not in one and "ThrusterCfg" not in one]
    wrong = [one for one in wrong if not one.startswith("DR_LEGS_IMPLICIT_PD_CFG")]
    assert wrong == []
