"""Names of newton.actuators from 1.6 on, besides those of 1.2."""

from types import SimpleNamespace

import isaacsim.core.experimental.actuators as package
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.files.usd import discover
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from refusals import refused

INDICES = wp.array([0, 1], dtype=wp.uint32, device="cpu")


def full(value: float) -> wp.array:
    return wp.full(2, value, dtype=wp.float32, device="cpu")


def test_later_names_are_ours() -> None:
    renamed = {
        "ClampingBase": "Clamping",
        "DriveBase": "Controller",
        "DriveNeuralGRU": "ControllerNeuralGRU",
        "DriveNeuralLSTM": "ControllerNeuralLSTM",
        "DriveNeuralMLP": "ControllerNeuralMLP",
        "DrivePD": "ControllerPD",
        "DrivePID": "ControllerPID",
    }
    for later, name in renamed.items():
        assert getattr(package, later) is getattr(package, name)
        assert (catalogue.name_here(later), catalogue.later_name(name)) == (name, later)
    for kept in ("ClampingPositionBased", "Delay", "Actuator", "ComponentKind"):
        assert catalogue.name_here(kept) == catalogue.later_name(kept) == kept
    for none in ("Drive", "DriveRail", "DelayBase"):
        with pytest.raises(AttributeError, match=none):
            getattr(package, none)
    assert not set(renamed) & set(package.__all__)
    assert package.ComponentKind["DRIVE"] is package.ComponentKind.CONTROLLER
    parsed = package.ActuatorParsed(package.ControllerPD, {"kp": 1.0})
    assert (parsed.drive_class, parsed.drive_kwargs) == (package.ControllerPD, {"kp": 1.0})


def test_drive_is_the_controller() -> None:
    first, second = package.ControllerPD(full(1.0), full(0.0)), package.ControllerPD(full(3.0), full(0.0))
    actuator = package.Actuator(INDICES, drive=first)
    assert actuator.drive is actuator.controller is first
    state = SimpleNamespace(joint_q=full(0.0), joint_qd=full(0.0))
    control = SimpleNamespace(joint_target_q=full(1.0), joint_target_qd=full(0.0), joint_f=full(0.0))
    actuator.step(state, control)
    actuator.drive = second
    # an explicit effort mode does not read it
    actuator.step(state, control, bias_force=full(100.0))
    assert control.joint_f.numpy().tolist() == [4.0, 4.0] and actuator.controller is second
    pid = package.Actuator(INDICES, drive=package.ControllerPID(full(1), full(1), full(1), full(1)))
    now = pid.state()
    assert now.drive_state is now.controller_state
    made = package.Actuator.State(drive_state=now.drive_state)
    assert made.controller_state is now.controller_state
    made.drive_state = None
    assert made.controller_state is None


@pytest.mark.parametrize("given", [{}, {"controller": 1, "drive": 1}])
def test_one_control_law_is_given(given) -> None:
    laws = {name: package.ControllerPD(full(1.0), full(0.0)) for name in given}
    refused(TypeError, lambda: package.Actuator(INDICES, **laws), "must be one control law")


@pytest.mark.parametrize("given", [{}, {"control_target_pos_attr": None, "control_target_vel_attr": None}])
def test_targets_have_the_later_names_by_default(given) -> None:
    actuator = package.Actuator(INDICES, package.ControllerPD(full(1.0), full(1.0)), **given)
    assert (actuator.control_target_pos_attr, actuator.control_target_vel_attr) == ("joint_target_q", "joint_target_qd")
    state = SimpleNamespace(joint_q=full(0.0), joint_qd=full(0.0))
    later = {"joint_target_q": full(1.0), "joint_target_qd": full(2.0)}
    before = {"joint_target_pos": full(30.0), "joint_target_vel": full(40.0)}
    for arrays, expected in ((later, 3.0), (before, 70.0), (before | later, 3.0)):
        control = SimpleNamespace(joint_f=full(0.0), **arrays)
        actuator.step(state, control)
        assert control.joint_f.numpy().tolist() == [expected] * 2


def test_later_names_are_keywords_too() -> None:
    parsed = package.ActuatorParsed(drive_class=package.ControllerPD, drive_kwargs={"kp": 1.0})
    assert (parsed.controller_class, parsed.controller_kwargs) == (package.ControllerPD, {"kp": 1.0})
    law = package.ControllerPD(full(1.0), full(0.0))
    assert package.ActuatorConfig(drive=law).controller is law is package.ActuatorConfig(law).drive
    refused(TypeError, lambda: package.ActuatorConfig(law, drive=law), "must be given under one of the names")


def test_explicit_effort_mode_is_the_one_there_is() -> None:
    actuator = package.Actuator(INDICES, package.ControllerPD(full(1.0), full(0.0)))
    actuator.set_effort_mode_explicit()
    assert actuator.drive is actuator.controller


def test_unsafe_checkpoints_are_trusted_ones(monkeypatch) -> None:
    said: list[bool] = []
    monkeypatch.setattr(discover, "parse_prim", lambda prim, *, files, trusted: said.append(trusted))
    package.parse_actuator_prim(None, allow_unsafe_torch_checkpoints=True)
    package.parse_actuator_prim(None)
    assert said == [True, False]
