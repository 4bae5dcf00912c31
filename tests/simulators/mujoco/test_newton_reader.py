"""Robots as newton reads them: names, order and start of joints, what its file lacks, and errors by name."""

import shutil
import sys
from pathlib import Path
from types import ModuleType

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.mujoco.newton_reader import read_by_newton
from places import ROBOTS
from refusals import refused


@pytest.fixture
def newton():
    pytest.importorskip("mujoco_warp")
    return pytest.importorskip("newton")


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    return Path(shutil.copy(ROBOTS / "arm_2dof.usda", tmp_path))


@pytest.mark.usefixtures("newton")
def test_names_are_those_of_the_package_and_stops_those_of_the_solver(arm) -> None:
    found = read_by_newton(arm)
    model = mujoco.MjModel.from_xml_string(found.mjcf)
    assert dict(found.positions) == {"shoulder": 0.0, "extension": 0.0} and found.dt == pytest.approx(1 / 240)
    assert [model.body(number).name for number in range(1, model.nbody)] == ["base", "boom", "carriage"]
    np.testing.assert_allclose(model.body_mass[1:], [5, 2, 1])
    np.testing.assert_allclose(model.jnt_range, [[-2.5, 2.5], [0, 0.4]], atol=1e-6)
    # newton's stops are springs of 1e4 N·m/rad, whatever MuJoCo's default of 0.02 s is
    assert (model.jnt_solref[:, 0] > 1).all()


@pytest.mark.usefixtures("newton")
def test_joints_have_the_order_of_newton_and_begin_within_limits() -> None:
    assert list(read_by_newton(ROBOTS / "anymal_c.usda").positions)[:3] == ["LF_HAA", "LF_HFE", "LF_KFE"]
    franka = read_by_newton(ROBOTS / "franka_panda.usda").positions
    assert franka["panda_joint4"] == pytest.approx(-0.0698, abs=1e-4)


@pytest.mark.usefixtures("newton")
def test_an_unlimited_joint_stays_without_limits() -> None:
    """newton has 1e10 and infinity for them, which MuJoCo cannot read from a file."""
    model = mujoco.MjModel.from_xml_string(read_by_newton(ROBOTS / "pendulum.usda").mjcf)
    assert not model.jnt_limited.any() and not model.jnt_actfrclimited.any()


@pytest.mark.usefixtures("newton")
def test_the_step_and_the_actuators_of_mjcf_stay(tmp_path) -> None:
    path = tmp_path / "arm.xml"
    text = (ROBOTS / "arm_2dof.xml").read_text("utf-8")
    for step in ("0.002", "0.0005"):
        path.write_text(text.replace('timestep="0.002"', f'timestep="{step}"'), "utf-8")
        assert read_by_newton(path).dt == float(step)
    assert mujoco.MjModel.from_xml_string(read_by_newton(path).mjcf).nu == 2


@pytest.mark.usefixtures("newton")
def test_urdf_is_read(tmp_path) -> None:
    path = tmp_path / "arm.urdf"
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    path.write_text(
        f'<robot name="r"><link name="base">{link}<link name="tip">{link}<joint name="knee" type="revolute">'
        '<parent link="base"/><child link="tip"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="5" velocity="9"/></joint></robot>',
        "utf-8",
    )
    assert list(read_by_newton(path).positions) == ["knee"]


def test_a_version_that_does_not_fit_is_told(newton, arm, monkeypatch) -> None:
    def fail(_: object) -> None:
        raise AttributeError("mjtWrong is gone")

    monkeypatch.setattr(newton.solvers.SolverMuJoCo, "register_custom_attributes", fail)
    with pytest.raises(HostError, match=rf"newton [\d.]+ .* MuJoCo {mujoco.__version__} .*mjtWrong is gone Use engine"):
        read_by_newton(arm)


def test_missing_libraries_are_told_with_the_command(arm, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with pytest.raises(HostError, match=r"engine = 'newton' needs mujoco_warp, .* `pip install 'mujoco-warp~="):
        read_by_newton(arm)
    monkeypatch.setitem(sys.modules, "mujoco_warp", ModuleType("mujoco_warp"))
    monkeypatch.setitem(sys.modules, "newton", None)
    refused(HostError, lambda: read_by_newton(arm), r"engine = 'newton' needs newton, .*pip install")


def test_a_missing_file_is_told() -> None:
    refused(FileNotFoundError, lambda: read_by_newton("missing.usda"), "no such file")
