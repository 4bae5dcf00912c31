"""No order of events in Kit breaks the life of a wrapper; see fakes/contract.py for what is checked after each."""

import itertools

import isaacsim.core.experimental.actuators as aa
import pytest
from fakes.contract import ROBOTS, Life, actions_of, check_life, stage_with_robots
from fakes.kit_world import ISAAC, KINDS, KitWorld
from hypothesis import given, settings
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.simulators.current import current_host
from pxr import UsdGeom
from refusals import refused

every_kind = pytest.mark.parametrize("kind", KINDS)
# what a script does, and what a user does in between
SCRIPTS = {
    "before play": ["wrap", "play", "frame", "frame", "stop", "play", "frame", "unwrap", "frame"],
    "after play": ["play", "frame", "wrap", "frame", "frame", "unwrap", "frame", "stop"],
    "pause": ["wrap", "play", "frame", "pause", "frame", "play", "frame", "frame"],
    "another stage": ["wrap", "play", "frame", "open", "play", "frame", "frame", "stop", "unwrap"],
    "another stage, anew": ["wrap", "play", "frame", "open", "wrap", "play", "frame", "stop", "unwrap"],
    "another robot meanwhile": ["wrap", "open_empty", "play", "frame", "stop", "open", "play", "frame"],
    "deleted": ["wrap", "play", "frame", "delete", "frame", "frame", "stop", "play", "frame", "unwrap"],
    "closed after deletion": ["wrap", "play", "frame", "delete", "unwrap", "frame"],
    "closed stage": ["wrap", "play", "close", "frame", "unwrap", "open", "play", "frame"],
    "extension reloaded": ["wrap", "play", "frame", "reload", "frame", "wrap", "frame", "frame"],
    "auto step": ["wrap", "play", "disable", "frame", "enable", "frame", "disable", "stop", "play", "frame"],
    "made anew on the next stage": ["wrap", "unwrap", "open", "wrap", "play", "frame", "frame"],
    "closed by who hears of the stop": ["wrap", "play", "frame", "stop_closing", "wrap", "play", "frame"],
}


@every_kind
@pytest.mark.parametrize("script", SCRIPTS)
def test_script(kind, script) -> None:
    check_life(kind, SCRIPTS[script])


@pytest.mark.parametrize("kind", ISAAC)
@pytest.mark.parametrize("deprecated", [False, True])
def test_engine_switch_and_second_initialisation(kind, deprecated) -> None:
    again = ["wrap", "play", "frame", "initialize", "frame", "switch", "frame", "stop", "play", "frame"]
    check_life(kind, again, has_deprecated_view=deprecated)


@pytest.mark.parametrize("kind", ISAAC)
@pytest.mark.parametrize("before", [True, False], ids=["before play", "while physics runs"])
def test_default_callbacks(kind, before) -> None:
    """Keep every promise when Isaac Sim numbers its callbacks from 0 again and an articulation's are overwritten."""
    first = ["wrap", "defaults", "play"] if before else ["wrap", "play", "frame", "defaults"]
    check_life(kind, [*first, "frame", "initialize", "frame", "stop", "play", "frame", "open", "play", "frame"])


@every_kind
@pytest.mark.slow
def test_every_pair_of_events(kind) -> None:
    for pair in itertools.product(actions_of(kind), repeat=2):
        check_life(kind, ["wrap", "play", "frame", *pair, "play", "frame"])


@every_kind
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data(), deprecated=st.booleans())
@pytest.mark.slow
def test_any_sequence_of_events(kind, data, deprecated) -> None:
    actions = data.draw(st.lists(st.sampled_from(actions_of(kind)), min_size=4, max_size=14))
    check_life(kind, actions, has_deprecated_view=deprecated)


@every_kind
@pytest.mark.slow
def test_wrapper_drives_its_robot(kind) -> None:
    with Life(kind) as life:
        life.run(["wrap", "play", *["frame"] * 300])
        physics = life.world.physics
        hip = next(iter(physics.robots.values())).dof_names.index("hip")
        assert abs(physics.arrays["positions"][:, hip] - 1.0).max() < 0.25 and life.foreign.steps == 300


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest):
    with KitWorld(request.param) as made:
        made.open(stage_with_robots())
        yield made


@pytest.mark.parametrize("paths", ["/World/Nobody", ["/World/Robot_0", "/Nowhere"], "/World/Robot_0/base"])
def test_missing_robot_is_named(world, paths) -> None:
    refused(ValueError, lambda: aa.Articulation(paths), r"matches none of the articulations here: \['/World/Robot_0'")


def test_numbers_of_prims_are_taken_as_they_are(world) -> None:
    stage = world.usd_context.get_stage()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    actuators = aa.ArticulationActuators(ROBOTS).actuators
    assert actuators
    for actuator in actuators:
        authored = stage.GetPrimAtPath(actuator.label).GetAttribute("newton:kp").Get()
        assert actuator.controller.kp.numpy().tolist() == [authored] * len(actuator.indices)


def test_step_callback_alone_is_called(world) -> None:
    steps: list[float] = []
    current_host().bus.on_pre_step(lambda dt, _context: steps.append(dt))
    world.play()
    world.update(steps=2)
    assert steps == [0.01, 0.01]
