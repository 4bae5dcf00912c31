"""Drives taken over and given back, through every order of play, stop, close and overlap."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatorConfig,
    Articulation,
    ArticulationActuators,
    ControllerPD,
    Simulation,
    use_host,
)
from isaacsim.core.experimental.actuators.errors import HostError
from isaacsim.core.experimental.actuators.hosts.memory import MemoryHost
from stages import stage_of

NAMES = ["hip", "knee", "ankle"]
DT = 0.01


class Leg:
    """One robot on the memory host whose drives have gains."""

    def __init__(self) -> None:
        self.host = MemoryHost(NAMES)
        self.host.bus.on_ready(self.give_gains, order=-1)

    def give_gains(self) -> None:
        """What the stage authors, at every play."""
        self.host.arrays().stiffnesses[:] = [1.1, 2.2, 3.3]
        self.host.arrays().dampings[:] = [0.1, 0.2, 0.3]

    def gains(self) -> list[float]:
        return [round(float(gain), 3) for gain in self.host.arrays().stiffnesses]

    def wrap(self, *joints: str) -> ArticulationActuators:
        one = wp.ones(1, dtype=wp.float32, device="cpu")
        pairs = [(ActuatorConfig(ControllerPD(one, one)), joint) for joint in joints]
        return ArticulationActuators.from_actuators("/Robot", pairs)


@pytest.fixture
def leg():
    made = Leg()
    with use_host(made.host):
        yield made


@pytest.mark.parametrize("early", [True, False])
def test_drives_are_off_while_attached(leg: Leg, early: bool) -> None:
    """Whether the wrapper is made before or after play."""
    wrapper = leg.wrap("knee") if early else None
    leg.host.play()
    wrapper = wrapper or leg.wrap("knee")
    assert leg.gains() == [1.1, 0.0, 3.3]
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


def test_close_is_idempotent(leg: Leg) -> None:
    """A second close does not restore gains that somebody set meanwhile."""
    leg.host.play()
    wrapper = leg.wrap("knee")
    wrapper.close()
    leg.host.arrays().stiffnesses[1] = 9.0
    wrapper.close()
    assert leg.gains() == [1.1, 9.0, 3.3]


def test_close_clears_owned_efforts_only(leg: Leg) -> None:
    """Efforts that others set stay."""
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.arrays().efforts[:] = 5.0
    wrapper.close()
    assert leg.host.arrays().efforts.tolist() == [5, 0, 5]


def test_close_restores_only_gains_that_are_still_zero(leg: Leg) -> None:
    """Gains set by a user while attached are the user's."""
    leg.host.play()
    wrapper = leg.wrap("hip", "knee")
    leg.host.arrays().stiffnesses[1] = 7.0
    wrapper.close()
    assert leg.gains() == [1.1, 7.0, 3.3]


def test_replay_takes_and_restores_again(leg: Leg) -> None:
    """Gains come from the stage at each play; the wrapper stays attached through stops."""
    wrapper = leg.wrap("ankle")
    for _ in range(3):
        leg.host.play()
        assert leg.gains() == [1.1, 2.2, 0.0]
        leg.host.step(DT)
        leg.host.stop()
    leg.host.play()
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


def test_a_second_ready_keeps_the_saved_gains(leg: Leg) -> None:
    """Physics may be initialised again in mid-session; gains that are zero by then are not taken for the original."""
    leg.host.play()
    wrapper = leg.wrap("knee")
    wrapper._on_ready()
    wrapper.close()
    assert leg.gains() == [1.1, 2.2, 3.3]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_last_owner_restores(leg: Leg, order: tuple[int, ...]) -> None:
    """Of three overlapping wrappers, closed in any order, the last to leave a joint gives it back."""
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


def test_overlap_warning_names_both(leg: Leg) -> None:
    """The warning shows the joint and both wrappers."""
    leg.host.play()
    first = leg.wrap("knee")
    with pytest.warns(UserWarning, match=r"/Robot/joints/knee.*ArticulationActuators.*ArticulationActuators"):
        second = leg.wrap("knee")
    second.close()
    first.close()


def test_disjoint_wrappers_coexist(leg: Leg) -> None:
    """No warning, and each closes on its own."""
    leg.host.play()
    first, second = leg.wrap("hip"), leg.wrap("ankle")
    leg.host.arrays().position_targets[:] = 1.0
    leg.host.step(DT)
    assert leg.host.arrays().efforts.tolist() == [1, 0, 1]
    first.close()
    assert leg.gains() == [1.1, 2.2, 0.0]
    second.close()


def test_closing_while_stopped_writes_nothing(leg: Leg) -> None:
    """There is no physics to write to; the next play reads the stage."""
    leg.host.play()
    wrapper = leg.wrap("knee")
    leg.host.stop()
    wrapper.close()
    leg.host.play()
    assert leg.gains() == [1.1, 2.2, 3.3]


def test_callbacks_return_to_where_they_were(leg: Leg) -> None:
    """Any order of life events leaves no callback behind."""
    before = leg.host.bus.num_callbacks
    for early, stop_first in itertools.product([True, False], repeat=2):
        if not early:
            leg.host.play()
        wrapper = leg.wrap("knee")
        if early:
            leg.host.play()
        leg.host.step(DT)
        if stop_first:
            leg.host.stop()
        wrapper.close()
        if not stop_first:
            leg.host.stop()
    assert leg.host.bus.num_callbacks == before


def test_usd_is_never_written(robots: Path) -> None:
    """Neither taking drives nor giving them back edits the stage."""
    with Simulation(robots / "franka_panda.usda") as sim:
        before = sim.stage.ExportToString()
        sim.play()
        wrapper = ArticulationActuators("/World/Panda")
        sim.step(5)
        wrapper.close()
        sim.stop()
        assert sim.stage.ExportToString() == before


def test_robot_that_vanished_is_named_at_play(robots: Path) -> None:
    """A stage edited so that the wrapper no longer fits is an error at play, not a wrong column."""
    with Simulation(stage_of(robots / "franka_panda.usda")) as sim:
        sim.play()
        wrapper = ArticulationActuators("/World/Panda")
        sim.stop()
        sim.stage.GetPrimAtPath("/World/Panda/joints/panda_joint7").SetActive(False)
        sim.stage.GetPrimAtPath("/World/Panda/panda_link7").SetActive(False)
        with pytest.raises(HostError, match="panda_joint7"):
            sim.play()
        wrapper.close()


def test_columns_follow_the_joints_through_an_edit(robots: Path) -> None:
    """A joint removed while stopped shifts the columns; the actuators stay with their joints."""
    with Simulation(stage_of(robots / "franka_panda.usda")) as sim:
        stage = sim.stage
        for number in (1, 2, 3, 4, 5, 6):
            stage.GetPrimAtPath(f"/World/Panda/Actuators/panda_joint{number}").SetActive(False)
        arm, wrapper = Articulation("/World/Panda"), ArticulationActuators("/World/Panda")
        sim.play()
        assert wrapper.actuated_dof_indices == [6]
        sim.stop()
        # the first joint becomes fixed
        stage.GetPrimAtPath("/World/Panda/joints/panda_joint1").SetTypeName("PhysicsFixedJoint")
        sim.play()
        assert wrapper.actuated_dof_indices == [5]
        arm.set_dof_position_targets(0.01, dof_indices=5)
        gains = arm.get_dof_gains()[0].numpy()[0]
        assert np.flatnonzero(gains == 0).tolist() == [5]
        wrapper.close()
