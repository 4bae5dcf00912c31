"""Drives taken over and given back, through every order of play, stop, close and overlap."""

import itertools

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from leg import NAMES
from places import ROBOTS

DT = 0.01


@pytest.mark.parametrize("early", [True, False])
def test_drives_are_off_while_attached(leg, early) -> None:
    wrapper = leg.wrap("knee") if early else None
    leg.host.play()
    wrapper = wrapper or leg.wrap("knee")
    assert leg.gains() == [1.1, 0.0, 3.3]
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


@pytest.mark.parametrize("host", ["arrays", "mujoco"])
def test_close_changes_no_error_state_of_numpy(host, monkeypatch) -> None:
    """The collector may call it while another error state is being entered, and a second one there crashes CPython."""
    robot = aa.Simulation(ROBOTS / "pendulum.usda") if host == "mujoco" else aa.use_host(ArraysHost(NAMES))
    with robot as opened:
        one = wp.ones(1, dtype=wp.float32, device="cpu")
        opened.play()
        path, joint = ("/World/Pendulum", "hinge") if host == "mujoco" else ("/Robot", "hip")
        aa.Articulation(path).set_dof_gains(3.0)
        wrapper = aa.ArticulationActuators.from_actuators(path, [(aa.ActuatorConfig(aa.ControllerPD(one, one)), joint)])
        with monkeypatch.context() as patch:
            patch.setattr(np, "errstate", None)
            wrapper.close()
        assert (aa.Articulation(path).get_dof_gains()[0].numpy() == 3.0).all()


def test_close_is_idempotent(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    wrapper.close()
    leg.host.arrays().stiffnesses[1] = 9.0
    wrapper.close()
    assert leg.gains() == [1.1, 9.0, 3.3]


def test_close_clears_owned_efforts_only(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.arrays().efforts[:] = 5.0
    wrapper.close()
    assert leg.host.arrays().efforts.tolist() == [5, 0, 5]


def test_close_restores_only_gains_that_are_still_zero(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("hip", "knee")
    leg.host.arrays().stiffnesses[1] = 7.0
    wrapper.close()
    assert leg.gains() == [1.1, 7.0, 3.3]


def test_replay_takes_and_restores_again(leg) -> None:
    wrapper = leg.wrap("ankle")
    for _ in range(3):
        leg.host.play()
        assert leg.gains() == [1.1, 2.2, 0.0]
        leg.host.step(DT)
        leg.host.stop()
    leg.host.play()
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


def test_a_second_ready_keeps_the_saved_gains(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    wrapper._attachment._on_ready()
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_last_owner_restores(leg, order) -> None:
    leg.host.play()
    sets = [("hip", "knee"), ("knee",), ("knee", "ankle")]
    wrappers = [leg.wrap(*sets[0])]
    for joints in sets[1:]:
        with pytest.warns(UserWarning, match="the one that steps last wins"):
            wrappers.append(leg.wrap(*joints))
    for position, closing in enumerate(order):
        wrappers[closing].close()
        left = {joint for i in order[position + 1 :] for joint in sets[i]}
        expected = [0.0 if joint in left else gain for joint, gain in zip(NAMES, [1.1, 2.2, 3.3], strict=True)]
        assert leg.gains() == expected


def test_overlap_warning_names_both(leg) -> None:
    leg.host.play()
    first = leg.wrap("knee")
    with pytest.warns(UserWarning, match=r"/Robot/joints/knee.*ArticulationActuators.*ArticulationActuators") as told:
        second = aa.ArticulationActuators.from_actuators("/Robot", leg.pairs("knee"))
    assert told[0].filename == __file__
    second.close()
    first.close()


def test_disjoint_wrappers_coexist(leg) -> None:
    leg.host.play()
    first, second = leg.wrap("hip"), leg.wrap("ankle")
    leg.host.arrays().position_targets[:] = 1.0
    leg.host.step(DT)
    assert leg.host.arrays().efforts.tolist() == [1, 0, 1]
    first.close()
    assert leg.gains() == [1.1, 2.2, 0.0]
    second.close()


def test_closing_while_stopped_writes_nothing(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.stop()
    wrapper.close()
    leg.host.play()
    assert leg.gains() == [1.1, 2.2, 3.3]


def test_closing_while_physics_stops_writes_nothing(leg) -> None:
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.bus.on_stop(wrapper.close, order=-1)
    leg.host.stop()
    leg.host.play()
    leg.host.arrays().stiffnesses[:] = leg.host.arrays().dampings[:] = 0.0
    leg.wrap("knee").close()
    assert leg.gains() == [0.0, 0.0, 0.0]


def test_usd_is_never_written(robots) -> None:
    with aa.Simulation(robots / "franka_panda.usda") as sim:
        before = sim.stage.ExportToString()
        sim.play()
        wrapper = aa.ArticulationActuators("/World/Panda")
        sim.step(5)
        wrapper.close()
        sim.stop()
        assert sim.stage.ExportToString() == before
