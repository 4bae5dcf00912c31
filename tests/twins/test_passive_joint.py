"""A passive joint, which has no control law: from configs, USD and files of motors, and what the tools say of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from isaacsim.core.experimental.actuators.tools.trials.step_response import step_response
from isaacsim.core.experimental.actuators.tools.trials.targets import hold
from isaacsim.core.experimental.actuators.tools.trials.trial import follow, room_of
from isaacsim.core.experimental.actuators.tools.viewing.live import Live
from made_up_kinds import add_to_table, made_up_law
from places import ROBOTS
from pxr import Usd
from robot_files import ARM, OF_SHOULDER, edited

DT, STEPS, RESISTANCE = 0.005, 60, 3.0
Motors = dict[str, Any]


@pytest.fixture
def motors(monkeypatch: pytest.MonkeyPatch) -> Iterator[Motors]:
    """Of an arm whose shoulder hangs; the core that was built does not know its law."""
    law = made_up_law(KINDS["passive"])
    add_to_table(monkeypatch, KINDS["passive"], law)
    monkeypatch.setattr(native, "core", None)
    yield {
        "shoulder": [law.config(RESISTANCE)],
        "extension": [aa.PDControlConfig(2000.0, 100.0), aa.MaxEffortClampingConfig(90.0)],
    }


@pytest.fixture
def file(motors: Motors, tmp_path: Path) -> Path:
    return edited(tmp_path, lambda stage: aa.add_motors(ARM, motors, stage=stage, overwrite_existing=True))


def swing(file: Path, open_actuators: Callable[[], aa.ArticulationActuators]):
    with aa.Simulation(file, DT) as sim, open_actuators() as actuators:
        sim.play()
        with actuators.record() as log:
            sim.step(STEPS)
        return log


def test_its_effort_is_that_of_its_law(motors) -> None:
    """Nothing is commanded, and what the joint adds is felt by physics: against the recurrence in float64."""
    log = swing(ROBOTS / "arm_2dof.usda", lambda: aa.ArticulationActuators.from_configs(ARM, motors))
    felt, expected = 0.0, []
    for velocity in log.velocities[:, 0, 0].astype(float):
        felt = 0.5 * felt + 0.5 * velocity
        expected.append(-RESISTANCE * felt)
    np.testing.assert_allclose(log.applied_efforts[:, 0, 0], expected, rtol=1e-4, atol=1e-5)
    assert not log.computed_efforts[:, 0, 0].any() and np.abs(expected).max() > 1.0


def test_tools_that_need_a_control_law_say_so(file) -> None:
    with aa.Simulation(file, DT) as sim, aa.ArticulationActuators(ARM) as actuators:
        sim.play()
        table = actuators.stability()
        assert (actuators.actuated_dof_indices, actuators.commanded_dof_indices) == ([0, 1], [1])
        actuators.randomize({"strength": {"extension": aa.Uniform(0.5, 0.6)}}, seed=0)
        assert actuators.actuators[0].stages[0].read("resistance").tolist() == [RESISTANCE]
    assert [joint.joint for joint in table.joints] == ["extension"]
    assert table.unknown == ("shoulder",) and table.left_out[0].startswith("resistance_passive of shoulder: ")
    with pytest.raises(ValueError, match="'shoulder' is passive: must have a control law"):
        step_response(lambda: aa.Simulation(file, DT), ARM, "shoulder", amplitude=0.1, seconds=0.1)
    stage = Usd.Stage.Open(str(file))
    with pytest.raises(ActuatorParseError, match="shoulder> has no control law"):
        aa.parse_actuator_prim(stage.GetPrimAtPath(OF_SHOULDER))


def test_it_swings_and_does_not_buzz(motors) -> None:
    """A trial looks for tones at joints that follow commands; a view shows no target of the others."""
    motors["shoulder"][0].resistance = 0.0
    with aa.Simulation(ROBOTS / "arm_2dof.usda", DT) as sim:
        with aa.ArticulationActuators.from_configs(ARM, motors) as actuators:
            sim.play()
            robots = actuators.articulation
            trial = follow(sim, robots, actuators, hold(room_of(robots)), range(800))
            assert trial.buzzing == {} and np.ptp(trial.recording.positions[:, 0, 0]) > 1.0
            live = Live(sim, sim._host)
            ghost, moved = live.target_poses(), live.poses()
            np.testing.assert_allclose(ghost[2], moved[2], atol=1e-6)
            live.close()


def test_strength_leaves_what_is_of_the_joint(motors) -> None:
    passive, (law, limit) = motors["shoulder"], motors["extension"]
    with aa.Simulation(ROBOTS / "arm_2dof.usda", DT) as sim:
        with aa.ArticulationActuators.from_configs(ARM, {".*": [law, limit, *passive]}) as actuators:
            sim.play()
            actuators.randomize({"strength": aa.Uniform(0.5, 0.6)}, seed=0)
            kp, _, resistance = (stage.PARAMETERS[0] for stage in actuators.actuators[0].stages)
            controller, _, rubbing = actuators.actuators[0].stages
            assert (controller.read(kp) < 1500).all() and (rubbing.read(resistance) == RESISTANCE).all()
