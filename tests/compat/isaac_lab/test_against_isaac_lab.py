"""Our models beside Isaac Lab's own, from its wheel of 2.3 or 3.0: the same values, and efforts at every step."""

import dataclasses
import itertools
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import isaac_lab_wheel
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ArticulationActuators
from isaacsim.core.experimental.actuators.compat import isaac_lab as ours
from isaacsim.core.experimental.actuators.compat.isaac_lab.groups import resolve_groups
from isaacsim.core.experimental.actuators.compat.isaac_lab.resolve import EARLIER, LATER, resolve
from places import REPOSITORY
from played import played_arrays

ENVS, JOINTS, STEPS = 5, ["hip", "knee", "ankle"], 120
COMMON = {"joint_names_expr": [".*"], "stiffness": {"hip": 90.0, "knee|ankle": 60.0}, "damping": 2.5}
MOTOR = {"saturation_effort": 60.0, "velocity_limit": 4.0, "effort_limit": {"hip|knee": 25.0, "ankle": 40.0}}
TABLE = [[-1.0, 1.0, 60.0], [-0.2, 1.0, 10.0], [0.4, 1.1, 5.0], [0.4, 1.0, 30.0], [1.5, 1.0, 80.0]]
NET = {"joint_names_expr": [".*"], **MOTOR}
MLP = {"pos_scale": 0.8, "vel_scale": 0.4, "torque_scale": 30.0, "input_idx": [0, 2, 5]}
CFGS: dict[str, tuple[str, dict]] = {
    "implicit": ("ImplicitActuatorCfg", {**COMMON, "effort_limit_sim": 30.0}),
    "ideal": ("IdealPDActuatorCfg", {**COMMON, "effort_limit": {".*": 30.0}}),
    "of the robot": ("IdealPDActuatorCfg", {**COMMON, "stiffness": None, "damping": None}),
    "motor": ("DCMotorCfg", {**COMMON, **MOTOR}),
    "delayed": ("DelayedPDActuatorCfg", {**COMMON, "effort_limit": 30.0, "min_delay": 1, "max_delay": 6}),
    "remotized": ("RemotizedPDActuatorCfg", {**COMMON, "max_delay": 2, "joint_parameter_lookup": TABLE}),
    "mlp": ("ActuatorNetMLPCfg", {**NET, **MLP, "input_order": "pos_vel"}),
    "mlp, velocity first": ("ActuatorNetMLPCfg", {**NET, **MLP, "input_order": "vel_pos"}),
    "lstm": ("ActuatorNetLSTMCfg", NET),
}


def network_file(torch, kind: str, folder: Path) -> str:
    torch.manual_seed(3)
    if kind == "mlp":
        layers = [torch.nn.Linear(6, 16), torch.nn.Softsign(), torch.nn.Linear(16, 1)]
        module = torch.nn.Sequential(*layers)
    else:

        class Net(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.lstm = torch.nn.LSTM(2, 8, 2, batch_first=True)
                self.out = torch.nn.Linear(8, 1)

            def forward(self, x, state):
                y, state = self.lstm(x, state)
                return 40.0 * self.out(y[:, -1]), state

        module = Net()
    path = str(folder / f"{kind}.pt")
    if kind == "mlp":
        torch.jit.script(module).save(path)
    else:
        x, state = torch.zeros(4, 1, 2), (torch.zeros(2, 4, 8), torch.zeros(2, 4, 8))
        with warnings.catch_warnings():
            # the tracer's, of shapes
            warnings.simplefilter("ignore")
            torch.jit.trace(module, (x, state)).save(path)
    return path


def of_version(lab, fields: dict) -> dict:
    return fields if lab.version == "2.3" else {EARLIER.get(name, name): value for name, value in fields.items()}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("variant", ["our cfg", "its cfg", "subclass"])
@pytest.mark.parametrize("case", CFGS)
def test_efforts_are_those_of_isaac_lab(case, variant, tmp_path) -> None:
    lab = isaac_lab_wheel.load()
    torch = pytest.importorskip("torch")
    name, fields = CFGS[case]
    if "Net" in name:
        fields = fields | {"network_file": network_file(torch, "mlp" if "MLP" in name else "lstm", tmp_path)}
    fields = of_version(lab, fields)
    usd = {"stiffness": torch.full((ENVS, 3), 40.0), "damping": torch.rand(ENVS, 3)}
    effort, speed = torch.full((ENVS, 3), 20.0), torch.full((ENVS, 3), 9.0)
    if lab.version == "2.3":
        usd |= {"effort_limit": effort, "velocity_limit": speed, "friction": torch.full((ENVS, 3), 0.1)}
        properties = "armature friction dynamic_friction viscous_friction effort_limit velocity_limit effort_limit_sim"
    else:
        of_effort = "joint_effort_limit" if "Implicit" in name else "actuator_effort_limit"
        usd |= {of_effort: effort, "actuator_velocity_limit": speed}
        properties = f"actuator_effort_limit actuator_velocity_limit {of_effort}"
    given = JOINTS, torch.arange(3), ENVS, "cpu"
    kinds = [getattr(one, name.removesuffix("Cfg")) for one in (lab, ours)]
    if variant == "subclass":
        kinds = [_with_own_limits(torch, one, lab.version) for one in kinds]
    reference = kinds[0](getattr(lab, name)(**fields), *given, **usd)
    cfg = getattr(lab if variant == "its cfg" else ours, name)(**fields)
    model = kinds[1](cfg, *given, **usd, rules="code" if lab.version == "2.3" else "3.0")
    for one in ("stiffness", "damping", *properties.split()):
        torch.testing.assert_close(getattr(model, one), getattr(reference, one), msg=one)
    # 3.0 has it by group, see below
    rows_of = getattr(reference, "joint_property_resolution_table", {})
    rounded = {key: np.array([row[2:] for row in rows]) for key, rows in rows_of.items()}
    found = {key: np.array([row[2:] for row in rows]) for key, rows in model.joint_property_resolution_table.items()}
    assert rounded.keys() == (found.keys() if lab.version == "2.3" else set())
    assert all((found[key] == rounded[key]).all() for key in rounded)
    generator = torch.Generator().manual_seed(11)
    clipped = 0
    for step in range(STEPS):
        target, speed_target, feedforward, q, qd = torch.randn(5, ENVS, 3, generator=generator).unbind()
        if step in (0, 40, 41, 90):
            ids = [torch.tensor([1, 4]), None, torch.tensor([0]), slice(None)][(0, 40, 41, 90).index(step)]
            if step > 0 or "Delayed" in name:
                _reset_both(torch, reference, model, ids)
        if step == 60 and "Net" not in name and "implicit" not in case:
            for one in (reference, model):
                one.stiffness[2] = 33.0
        actions = [
            one.ArticulationActions(target.clone(), speed_target.clone(), feedforward.clone()) for one in (lab, ours)
        ]
        if case == "lstm" and lab.version == "2.3":
            # 2.3 forgets the speed there, which later versions do not
            reference._joint_vel[:] = 3.0 * qd
        expected = reference.compute(actions[0], q.clone(), 3.0 * qd)
        made = model.compute(actions[1], q.clone(), 3.0 * qd)
        torch.testing.assert_close(made.joint_efforts, expected.joint_efforts, rtol=2e-5, atol=2e-5)
        torch.testing.assert_close(model.computed_effort, reference.computed_effort, rtol=2e-5, atol=2e-5)
        torch.testing.assert_close(model.applied_effort, reference.applied_effort, rtol=2e-5, atol=2e-5)
        clipped += int((model.applied_effort != model.computed_effort).sum())
    assert clipped > 50


def _with_own_limits(torch, kind, version: str):
    def limited(model, effort, *joint_vel):
        most = model.effort_limit if version == "2.3" else model.actuator_effort_limit
        # 2.3's own limits change the speed
        speed = (joint_vel or [model._joint_vel])[0].abs() if hasattr(model, "_saturation_effort") else 0.0
        return torch.clip(kind._clip_effort(model, effort, *joint_vel), min=-0.7 * most.clip(max=30.0)) / (1.0 + speed)

    class Before(kind):
        def _clip_effort(self, effort):
            return limited(self, effort)

    class Since(kind):
        def _clip_effort(self, effort, joint_vel):
            return limited(self, effort, joint_vel)

    # since 3.0 the speed is an argument where there is a motor
    return Before if version == "2.3" or kind.is_implicit_model else Since


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_groups_of_its_own_cfgs() -> None:
    lab = isaac_lab_wheel.load()
    found = []
    rules = None if lab.version == "2.3" else "3.0"
    motor = of_version(lab, MOTOR | {"effort_limit": 25.0})
    with played_arrays(JOINTS, 2) as host:
        host.arrays().position_targets[:] = 1.0
        for kind in (lab, ours):
            leg = kind.DCMotorCfg(**COMMON | {"joint_names_expr": ["hip", "knee"]}, **motor)
            leg.stiffness = {"hip": 90.0, "knee": 60.0}
            foot = kind.DelayedPDActuatorCfg(**COMMON | {"joint_names_expr": ["ankle"], "stiffness": 9.0}, max_delay=3)
            chosen = rules if kind is ours else None
            made = ArticulationActuators.from_groups("/Robot_.*", {"leg": leg, "foot": foot}, seed=4, rules=chosen)
            host.step(0.01)
            found.append((made.resolution_table().text, host.arrays().efforts.copy()))
            made.close()
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert np.abs(found[0][1]).min() > 0


ROBOT = {
    **{"stiffness": 40.0, "damping": 4.0, "armature": 0.1, "friction": 0.2, "dynamic_friction": 0.1},
    **{"viscous_friction": 0.05, "joint_effort_limit": 20.0, "joint_velocity_limit": 9.0},
}
GIVEN = (None, 20.0, 12.0, {"hip": 12.0}, {"hip|knee": 12.0, "ankle": 20.0})


def _control(lab, torch):
    from isaaclab.utils.warp import ProxyArray

    shape, written = (ENVS, len(JOINTS)), {}

    class Control(lab.ActuatorControl):
        num_instances, num_joints, num_fixed_tendons, device = *shape, 0, "cpu"

        def find_joints(self, expressions):
            found = [at for at, name in enumerate(JOINTS) if any(re.fullmatch(one, name) for one in expressions)]
            return ProxyArray(wp.array(found, dtype=wp.int32)), [JOINTS[at] for at in found]

        def get_default_joint_properties(self, joint_ids):
            return {name: torch.full(shape, value)[:, joint_ids] for name, value in ROBOT.items()}

        def write_resolved_joint_properties(self, properties, joint_ids, *, implicit, native_managed):
            for name, values in properties.items():
                written.setdefault(name, torch.zeros(shape))[:, joint_ids] = values

        def resolve_env_ids(self, ids):
            return wp.array(range(ENVS) if ids is None else ids, dtype=wp.int32)

        def resolve_joint_ids(self, ids):
            return wp.array(range(len(JOINTS)) if ids is None else ids, dtype=wp.int32)

        def assert_shape_and_dtype(self, *given):
            pass

    def of_solver(name):
        return property(lambda self: ProxyArray(wp.from_torch(written[name].clone())))

    Control.joint_pos = Control.joint_vel = property(lambda self: ProxyArray(wp.zeros(shape)))
    Control.joint_stiffness, Control.joint_damping = of_solver("stiffness"), of_solver("damping")
    Control.joint_effort_limits = of_solver("joint_effort_limit")
    Control.__abstractmethods__ = frozenset()
    return Control, written


def _collection(lab, torch, cfg):
    kind, written = _control(lab, torch)
    collection = lab.ActuatorCollection({"all": cfg}, kind(), debug_value_resolution=True)
    return collection["all"], written, collection._joint_property_resolution_rows["all"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_collections_are_those_of_3_0(tmp_path) -> None:
    lab = isaac_lab_wheel.load("3.0")
    torch = pytest.importorskip("torch")
    from isaaclab.utils.warp import ProxyArray

    later = {"actuator_effort_limit": 25.0, "actuator_velocity_limit": 4.0, "saturation_effort": 60.0}
    network = network_file(torch, "lstm", tmp_path)
    made = []
    for one in (lab, ours):
        cfgs = {
            "foot": one.ImplicitActuatorCfg(joint_names_expr=["ankle"], stiffness=30.0, damping=1.0),
            "leg": one.DCMotorCfg(joint_names_expr=["hip"], stiffness=90.0, damping=2.5, **later),
            "net": one.ActuatorNetLSTMCfg(joint_names_expr=["knee"], network_file=network, **later),
        }
        kind, written = _control(lab, torch)
        kind.joint_pos, kind.joint_vel = (ProxyArray(wp.zeros((ENVS, len(JOINTS)))) for _ in range(2))
        collection = one.ActuatorCollection(cfgs, kind())
        made.append((collection, kind, written))
    for name, values in made[0][2].items():
        torch.testing.assert_close(made[1][2][name], values, msg=name)
    generator = torch.Generator().manual_seed(3)
    for step in range(40):
        given = torch.randn(5, ENVS, 3, generator=generator)
        for collection, kind, _ in made:
            target = collection.target_command
            target.set_position_index(value=given[0])
            target.set_velocity_index(value=given[1][1:3, :2].contiguous(), env_ids=[1, 2], joint_ids=[0, 1])
            target.effort.torch[:] = given[2]
            kind.joint_pos.torch[:], kind.joint_vel.torch[:] = given[3], 3.0 * given[4]
            if step == 20:
                collection.reset(torch.tensor([0, 3]))
            if step == 30:
                collection["net"].sea_cell_state_per_env[:, 1] = 0.5
            collection.compute(0.01)
        for name in ("position", "velocity", "effort"):
            found, expected = (getattr(one.output_command, name).torch for one, *_ in made[::-1])
            torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5, msg=f"{name} {step}")
        for name in ("computed_effort", "applied_effort"):
            found, expected = (getattr(one, name).torch for one, *_ in made[::-1])
            torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5, msg=f"{name} {step}")
        for name in ("sea_input", "sea_hidden_state", "sea_cell_state", "sea_hidden_state_per_env"):
            found, expected = (getattr(one["net"], name) for one, *_ in made[::-1])
            torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5, msg=f"{name} {step}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["Implicit", "IdealPD"])
@pytest.mark.parametrize("what", ["effort", "velocity"])
def test_values_of_groups_are_those_of_3_0(what, kind) -> None:
    lab = isaac_lab_wheel.load("3.0")
    torch = pytest.importorskip("torch")
    names = [f"actuator_{what}_limit", f"joint_{what}_limit", f"{what}_limit", f"{what}_limit_sim"]
    gains = {"joint_names_expr": [".*"], "stiffness": {"hip|knee": 90.0}, "damping": None, "armature": 0.3}
    robot = {LATER.get(name, name): np.full((ENVS, 3), value, np.float32) for name, value in ROBOT.items()}
    counts = {True: 0, False: 0}
    # both names of one limit, or one name of each
    for at in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        for values in itertools.product(GIVEN, GIVEN):
            fields = gains | {names[one]: value for one, value in zip(at, values, strict=True)}
            cfg, own = (getattr(one, f"{kind}ActuatorCfg")(**fields) for one in (lab, ours))
            try:
                model, written, rows = _collection(lab, torch, cfg.copy())
            except ValueError:
                counts[False] += 1
                for one in (cfg, own):
                    with pytest.raises(ValueError, match="must be equal"):
                        resolve_groups({"all": one}, JOINTS, robot, "cpu", "3.0")
                continue
            counts[True] += 1
            for one, rules in ((cfg, None), (own, "3.0")):
                made = resolve(one, JOINTS, range(3), robot, ENVS, rules=rules)
                for name, value in written.items():
                    # drives of explicit groups are off
                    np.testing.assert_array_equal(made.values[LATER.get(name, name)], value, err_msg=f"{name} {fields}")
                for name in ("actuator_effort_limit", "actuator_velocity_limit"):
                    np.testing.assert_array_equal(made.values[LATER[name]], getattr(model, name), err_msg=f"{fields}")
                assert [dataclasses.astuple(row)[1:-1] for row in made.rows] == [
                    (name, *row[:3], None if row[3] == "Not Specified" else row[3], row[4])
                    for name, of_property in rows.items()
                    for row in of_property
                ]
    assert counts[True] > 80 and counts[False] > 10


def _reset_both(torch, reference, model, ids) -> None:
    model.reset(ids)
    reference.reset(slice(None) if ids is None else ids)
    for name in ("positions", "velocities", "efforts"):
        if hasattr(reference, f"{name}_delay_buffer"):
            getattr(reference, f"{name}_delay_buffer").set_time_lag(torch.tensor(model.time_lags))


def test_the_unit_tests_of_isaac_lab_pass_on_our_models() -> None:
    version, folder = isaac_lab_wheel.load().version, Path(str(isaac_lab_wheel.source()[1]))
    folder /= Path("" if version == "2.3" else "isaaclab/source/isaaclab", "test", "actuators")
    files = [str(folder / f"test_{name}.py") for name in ("implicit_actuator", "ideal_pd_actuator", "dc_motor")]
    options = ["-q", "-p", "isaac_lab_suite", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    # the network of the latter returns a number whatever its input, and is refused by name
    options += ["-k", "not cuda and not lstm_actuator_clips"]
    places = [str(REPOSITORY / "tests" / "support"), str(REPOSITORY / "python"), os.environ.get("PYTHONPATH", "")]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert {"2.3": "212 passed", "3.0": "36 passed"}[version] in ran.stdout
