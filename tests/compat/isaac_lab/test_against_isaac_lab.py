"""Our models beside Isaac Lab's own, from its wheel: the same efforts at every step of random motion."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import isaac_lab_wheel
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ArticulationActuators, use_host
from isaacsim.core.experimental.actuators.compat import isaac_lab as ours
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from places import REPOSITORY

ENVS, JOINTS, STEPS = 5, ["hip", "knee", "ankle"], 120
COMMON = {"joint_names_expr": [".*"], "stiffness": {"hip": 90.0, "knee|ankle": 60.0}, "damping": 2.5}
MOTOR = {
    "saturation_effort": 60.0,
    "velocity_limit": 4.0,
    "effort_limit": {"hip|knee": 25.0, "ankle": 40.0},
}
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
    """A network with random numbers as Isaac Lab reads it."""
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("variant", ["our cfg", "its cfg", "subclass"])
@pytest.mark.parametrize("case", CFGS)
def test_efforts_are_those_of_isaac_lab(case, variant, tmp_path) -> None:
    """Random commands and motion, resets, parameters written between; with either's cfg, with limits of a subclass."""
    lab = isaac_lab_wheel.load()
    torch = pytest.importorskip("torch")
    name, fields = CFGS[case]
    if "Net" in name:
        fields = fields | {"network_file": network_file(torch, "mlp" if "MLP" in name else "lstm", tmp_path)}
    usd = {
        "stiffness": torch.full((ENVS, 3), 40.0),
        "damping": torch.rand(ENVS, 3),
        "effort_limit": torch.full((ENVS, 3), 20.0),
        "velocity_limit": torch.full((ENVS, 3), 9.0),
        "friction": torch.full((ENVS, 3), 0.1),
    }
    given = JOINTS, torch.arange(3), ENVS, "cpu"
    kinds = [getattr(one, name.removesuffix("Cfg")) for one in (lab, ours)]
    if variant == "subclass":
        kinds = [_with_own_limits(torch, one) for one in kinds]
    reference = kinds[0](getattr(lab, name)(**fields), *given, **usd)
    cfg = getattr(lab if variant == "its cfg" else ours, name)(**fields)
    model = kinds[1](cfg, *given, **usd, rules="code")
    properties = ("stiffness", "damping", "armature", "friction", "dynamic_friction", "viscous_friction")
    for one in (*properties, "effort_limit", "velocity_limit", "effort_limit_sim", "velocity_limit_sim"):
        torch.testing.assert_close(getattr(model, one), getattr(reference, one), msg=one)
    rounded = {
        key: np.array([row[2:] for row in rows]) for key, rows in reference.joint_property_resolution_table.items()
    }
    found = {key: np.array([row[2:] for row in rows]) for key, rows in model.joint_property_resolution_table.items()}
    assert rounded.keys() == found.keys()
    assert all((found[key] == rounded[key]).all() for key in found)
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
        if case == "lstm":
            # 2.3 forgets the speed there, which later versions do not
            reference._joint_vel[:] = 3.0 * qd
        expected = reference.compute(actions[0], q.clone(), 3.0 * qd)
        made = model.compute(actions[1], q.clone(), 3.0 * qd)
        torch.testing.assert_close(made.joint_efforts, expected.joint_efforts, rtol=2e-5, atol=2e-5)
        torch.testing.assert_close(model.computed_effort, reference.computed_effort, rtol=2e-5, atol=2e-5)
        torch.testing.assert_close(model.applied_effort, reference.applied_effort, rtol=2e-5, atol=2e-5)
        clipped += int((model.applied_effort != model.computed_effort).sum())
    assert clipped > 50


def _with_own_limits(torch, kind):
    """A model that has less effort backwards, and less at speed."""

    class Own(kind):
        def _clip_effort(self, effort):
            # Isaac Lab's own limits change it
            speed = self._joint_vel.abs() if hasattr(self, "_saturation_effort") else 0.0
            limited = torch.clip(super()._clip_effort(effort), min=-0.7 * self.effort_limit.clip(max=30.0))
            return limited / (1.0 + speed)

    return Own


def test_groups_of_its_own_cfgs() -> None:
    """Objects of Isaac Lab's classes are groups as ours are."""
    lab = isaac_lab_wheel.load()
    found = []
    host = ArraysHost(JOINTS, 2)
    with use_host(host):
        host.play()
        host.arrays().position_targets[:] = 1.0
        for kind in (lab, ours):
            leg = kind.DCMotorCfg(**COMMON | {"joint_names_expr": ["hip", "knee"]}, **MOTOR | {"effort_limit": 25.0})
            leg.stiffness = {"hip": 90.0, "knee": 60.0}
            foot = kind.DelayedPDActuatorCfg(**COMMON | {"joint_names_expr": ["ankle"], "stiffness": 9.0}, max_delay=3)
            made = ArticulationActuators.from_groups("/Robot_.*", {"leg": leg, "foot": foot}, seed=4)
            host.step(0.01)
            found.append((made.resolution_table().text, host.arrays().efforts.copy()))
            made.close()
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert np.abs(found[0][1]).min() > 0


def _reset_both(torch, reference, model, ids) -> None:
    """Reset, with the delays that ours draws."""
    model.reset(ids)
    reference.reset(slice(None) if ids is None else ids)
    for name in ("positions", "velocities", "efforts"):
        if hasattr(reference, f"{name}_delay_buffer"):
            getattr(reference, f"{name}_delay_buffer").set_time_lag(torch.tensor(model.time_lags))


def test_the_unit_tests_of_isaac_lab_pass_on_our_models() -> None:
    """Those of implicit, ideal and DC motor models, with our classes in place of its own."""
    isaac_lab_wheel.load()
    folder = Path(str(isaac_lab_wheel.folder())) / "test" / "actuators"
    files = [str(folder / f"test_{name}.py") for name in ("implicit_actuator", "ideal_pd_actuator", "dc_motor")]
    options = ["-q", "-p", "isaac_lab_suite", "-p", "no:cacheprovider", "--rootdir", str(folder), "-k", "not cuda"]
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
    assert "212 passed" in ran.stdout
