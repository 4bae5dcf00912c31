"""Which host is the current one."""

import enum
import gc
import sys
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from fakes.contract import our_callbacks, stage_with_robots
from fakes.kit_world import ISAAC, KINDS, KitWorld
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators import current
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.bus import EventBus
from isaacsim.core.experimental.actuators.simulators.dof_properties import DofType
from isaacsim.core.experimental.actuators.simulators.opened import enter, leave
from isaacsim.core.experimental.actuators.simulators.port import turning
from pxr import Usd
from refusals import cases, refused
from stages import stage_of


def host(path: str = "/Robot", **arguments: object) -> ArraysHost:
    return ArraysHost(["hinge"], path=path, **arguments)


def test_no_host_says_how_to_open_one() -> None:
    refused(HostError, current.current_host, r"no simulation is open\. Open one first: `sim = Simulation")


@cases(
    "moves, expected",
    ("+a", "a"),
    ("+a +b", "b"),
    ("+a +b -b", "a"),
    ("+a +b -a", "b"),
    ("+a +b -b -b", "a"),
    ("+a +b +a -a", "b"),
    ids=["entered", "last entered", "one before", "outer leaves first", "left twice", "entered again"],
)
def test_innermost_of_the_entered_hosts_is_current(moves: str, expected: str) -> None:
    hosts = {name: host() for name in "ab"}
    for sign, name in moves.split():
        (enter if sign == "+" else leave)(hosts[name])
    assert current.current_host() is hosts[expected]


def test_forgotten_host_drops_out() -> None:
    outer, inner = host(), host()
    enter(outer)
    enter(inner)
    del inner
    gc.collect()
    assert current.current_host() is outer


def test_use_host_is_current_inside_only() -> None:
    outer, inner = host(), host()
    enter(outer)
    with aa.use_host(inner):
        inside = current.current_host()
    assert (inside, current.current_host()) == (inner, outer)


def test_use_host_holds_its_host() -> None:
    with aa.use_host(host("/Held")):
        gc.collect()
        assert current.current_host().articulation("/Held").paths == ["/Held"]


def test_use_host_ends_with_an_error_too() -> None:
    with pytest.raises(ArithmeticError), aa.use_host(host()):
        raise ArithmeticError
    refused(HostError, current.current_host)


class Partial:
    def __init__(self, **members: object) -> None:
        vars(self).update(members)


def whole_bus() -> dict[str, object]:
    return {"ready": False, "on_ready": None, "on_pre_step": None, "on_stop": None}


def without(members: dict[str, object], missing: str) -> Partial:
    return Partial(**{name: value for name, value in members.items() if name != missing})


def refuses(made: object, words: str) -> None:
    refused(HostError, lambda: aa.use_host(made).__enter__(), words)


def refuses_bus(bus: object, words: str) -> None:
    refuses(Partial(stage=None, bus=bus, articulation=None), words)


@pytest.mark.parametrize("missing", ["stage", "bus", "articulation"])
def test_host_without_a_member_is_refused(missing: str) -> None:
    made = without({"stage": None, "bus": EventBus(), "articulation": None}, missing)
    refuses(made, rf"^Partial has no {missing}: .*use_host.*Add what is missing")


@pytest.mark.parametrize("missing", ["ready", "on_ready", "on_pre_step", "on_stop"])
def test_bus_without_a_member_is_refused(missing: str) -> None:
    refuses_bus(without(whole_bus(), missing), rf"^Partial has no {missing}: .*use_host.*PhysicsBus")


def test_all_that_is_missing_is_named_at_once() -> None:
    refuses_bus(Partial(on_ready=None, on_pre_step=None), r"^Partial has no ready, on_stop: ")


def test_bus_without_a_hash_is_refused() -> None:
    @dataclass
    class ValueBus:
        ready: bool = False
        on_ready = on_pre_step = on_stop = None

    refuses_bus(ValueBus(), r"unhashable type: 'ValueBus'.*use_host.*no __eq__ without __hash__")


def test_bus_without_weak_references_is_refused() -> None:
    class SlimBus:
        __slots__ = ()
        ready = on_ready = on_pre_step = on_stop = None

    refuses_bus(SlimBus(), r"weak reference to 'SlimBus'.*use_host.*no __slots__ without __weakref__")


def test_bus_made_anew_each_time_is_refused() -> None:
    """Notes kept by one would not be found by the next."""

    class Fresh:
        stage = articulation = None
        bus = property(lambda self: Partial(**whole_bus()))

    refuses(Fresh(), r"^Fresh\.bus: must be the same object each time")


def test_refused_host_is_not_current() -> None:
    outer = host()
    with aa.use_host(outer):
        refuses(Partial(), "has no")
        assert current.current_host() is outer


def test_host_may_leave_inside_its_block() -> None:
    mine = host()
    with aa.use_host(mine):
        leave(mine)
    refused(HostError, current.current_host)


def test_use_host_nests_with_itself() -> None:
    mine = host()
    with aa.use_host(mine):
        with aa.use_host(mine):
            pass
        assert current.current_host() is mine


def test_current_stage_is_the_hosts() -> None:
    stage = object()
    mine = host(stage=stage)
    enter(mine)
    assert current.current_stage() is stage


def test_used_stage_is_current_inside_only() -> None:
    stage = object()
    with aa.use_stage(stage) as given:
        assert (given, current.current_stage()) == (stage, stage)
    refused(HostError, current.current_stage)


def test_used_stage_ends_with_an_error_too() -> None:
    with pytest.raises(ArithmeticError), aa.use_stage(object()):
        raise ArithmeticError
    refused(HostError, current.current_stage)


def test_innermost_of_host_and_used_stage_has_the_stage() -> None:
    outer, middle, inner = object(), object(), object()
    with aa.use_stage(outer), aa.use_host(host(stage=middle)):
        assert current.current_stage() is middle
        with aa.use_stage(inner):
            assert current.current_stage() is inner
        assert current.current_stage() is middle


def test_used_stage_hides_no_host() -> None:
    mine = host()
    with aa.use_host(mine), aa.use_stage(object()):
        assert current.current_host() is mine
    with aa.use_stage(object()), pytest.raises(HostError, match="no simulation is open"):
        current.current_host()


@pytest.mark.parametrize("opened", [False, True])
def test_no_stage_names_three_ways_to_one(opened: bool) -> None:
    mine = host()
    if opened:
        enter(mine)
    words = r"^no USD stage is current.*`stage=\.\.\.`.*use_stage\(.*Simulation\(.*use_host\("
    refused(HostError, current.current_stage, words)


def test_host_without_stage_hides_the_stage_around_it() -> None:
    with aa.use_stage(object()), aa.use_host(host()), pytest.raises(HostError, match="no USD stage is current"):
        current.current_stage()


def test_articulation_comes_from_the_current_host() -> None:
    outer, inner = host("/Outer"), host("/Inner")
    enter(outer)
    with aa.use_host(inner):
        assert current.Articulation("/.*").paths == ["/Inner"]


def test_articulation_needs_a_host() -> None:
    refused(HostError, lambda: current.Articulation("/Robot"), "no simulation is open")


@pytest.mark.parametrize("kind", KINDS)
def test_kits_host_is_current_where_none_is_open(kind: str) -> None:
    with KitWorld(kind):
        assert type(current.current_host()).__name__ == ("IsaacSimHost" if kind in ISAAC else "KitHost")


@pytest.mark.parametrize("kind", KINDS)
def test_kits_host_is_made_once(kind: str) -> None:
    with KitWorld(kind):
        first = current.current_host()
        gc.collect()
        assert current.current_host() is first
        current.close_kit_host()
        assert current.current_host() is not first


@pytest.mark.parametrize("kind", KINDS)
def test_kits_host_is_whole(kind: str) -> None:
    with KitWorld(kind), aa.use_host(current.current_host()) as given:
        assert current.current_host() is given


@pytest.mark.parametrize("kind", KINDS)
def test_explicit_host_wins_over_kit(kind: str) -> None:
    with KitWorld(kind):
        with aa.use_host(host()) as mine:
            assert current.current_host() is mine
        assert current.current_host() is not mine


@pytest.mark.parametrize("kind", KINDS)
def test_kits_stage_is_current(kind: str) -> None:
    first, second, mine = (Usd.Stage.CreateInMemory() for _ in range(3))
    with KitWorld(kind) as world:
        world.open(first)
        assert current.current_stage() is first
        world.open(second)
        assert current.current_stage() is second
        with aa.use_stage(mine):
            assert current.current_stage() is mine


def test_used_stage_leaves_kits_host_current() -> None:
    with KitWorld("kit-core"):
        with aa.use_stage(object()):
            inside = current.current_host()
        assert inside is current.current_host()


def test_host_without_stage_hides_kits_stage() -> None:
    with KitWorld("kit-core") as world:
        world.open(Usd.Stage.CreateInMemory())
        with aa.use_host(host()), pytest.raises(HostError, match="no USD stage is current"):
            current.current_stage()


@pytest.mark.parametrize("kind", KINDS)
def test_no_stage_in_kit_is_said(kind: str) -> None:
    with KitWorld(kind), pytest.raises(HostError, match="no USD stage is current"):
        current.current_stage()


def test_actuators_are_added_to_kits_stage(robots) -> None:
    with KitWorld("isaac-physx") as world:
        world.open(stage_of(robots / "pendulum.usda"))
        prim = aa.add_actuator("/World/Pendulum", "hinge", "second", aa.PDControlConfig(1.0, 0.1))
        assert prim.GetStage() is world.usd_context.get_stage()


def test_kit_without_an_application_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with KitWorld("kit-core") as world:

        def no_application() -> object:
            raise RuntimeError("Failed to acquire interface")

        for get_app in (no_application, lambda: None):
            monkeypatch.setattr(sys.modules["omni.kit.app"], "get_app", get_app)
            with pytest.raises(HostError, match="no simulation is open"):
                current.current_host()
        assert world.log.error == []


def test_broken_installation_of_ours_is_no_plain_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    with KitWorld("isaac-physx"):
        monkeypatch.setitem(sys.modules, "isaacsim.core.experimental.actuators.simulators.kit.events", None)
        with pytest.raises(ModuleNotFoundError, match=r"kit\.events") as caught:
            current.current_host()
        # nothing else was tried after it
        assert caught.value.__context__ is None


def test_isaac_sims_host_takes_over_when_it_appears() -> None:
    with KitWorld("kit-core") as world:
        world.open(stage_with_robots())
        plain = current.current_host()
        old = aa.ArticulationActuators("/World/Robot_0")
        world.enable_isaac()
        isaac = current.current_host()
        assert [type(one).__name__ for one in (plain, isaac)] == ["KitHost", "IsaacSimHost"]
        assert current.current_host() is isaac
        aa.add_actuator("/World/Robot_1", "hip", "hip_motor", aa.PDControlConfig(1.0, 0.1))
        new = aa.ArticulationActuators("/World/Robot_1")
        assert isinstance(new.articulation, world.articulation_class)
        world.play()
        for _ in range(2):
            world.physics.arrays["position_targets"][:] = 1.0
            world.update()
        assert (world.physics.arrays["actuation_forces"] != 0).sum(axis=1).tolist() == [2, 1]
        old.close()
        assert not world.physics.arrays["actuation_forces"][0].any()
        new.close()
        assert (world.log.error, world.log.warn) == ([], [])


@pytest.mark.filterwarnings("ignore:.*driven by two actuator wrappers")
@pytest.mark.parametrize("first", [True, False], ids=["plain first", "plain last"])
def test_drives_are_given_back_by_the_last_of_two_hosts(first: bool) -> None:
    with KitWorld("kit-core") as world:
        world.open(stage_with_robots())
        old = aa.ArticulationActuators("/World/Robot_0")
        world.enable_isaac()
        new = aa.ArticulationActuators("/World/Robot_0")
        world.play()
        before = world.physics.arrays["stiffnesses"].copy()
        world.update(steps=2)
        driven = world.physics.arrays["stiffnesses"] == 0
        assert driven.sum() == 2
        (old if first else new).close()
        assert (world.physics.arrays["stiffnesses"] == 0).tolist() == driven.tolist()
        (new if first else old).close()
        after = world.physics.arrays["stiffnesses"]
        assert after.all()
        np.testing.assert_array_equal(after[~driven], before[~driven])


def test_two_wrappers_of_two_hosts_are_warned_of() -> None:
    with KitWorld("kit-core") as world:
        world.open(stage_with_robots())
        old = aa.ArticulationActuators("/World/Robot_0")
        world.play()
        world.update()
        world.stop()
        world.enable_isaac()
        world.play()
        world.update()
        with pytest.warns(UserWarning, match="driven by two actuator wrappers"):
            new = aa.ArticulationActuators("/World/Robot_0")
        new.close()
        old.close()


def test_former_host_is_closed_with_the_other() -> None:
    with KitWorld("kit-core") as world:
        world.open(stage_with_robots())
        held = current.Articulation("/World/Robot_0")
        world.enable_isaac()
        current.current_host()
        current.close_kit_host()
        assert our_callbacks(world) == [] and held.paths == ["/World/Robot_0"]


def test_former_host_ends_when_nobody_needs_it() -> None:
    with KitWorld("kit-core") as world:
        plain = weakref.ref(current.current_host())
        world.enable_isaac()
        current.current_host()
        gc.collect()
        assert plain() is None


def test_half_of_isaac_sim_is_none() -> None:
    with KitWorld("kit-core") as world:
        plain = current.current_host()
        world.enable_isaac()
        prims = sys.modules.pop("isaacsim.core.experimental.prims")
        assert current.current_host() is plain
        sys.modules["isaacsim.core.experimental.prims"] = prims
        assert current.current_host() is not plain


def test_urdf_has_no_stage_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text('<robot name="r"><link name="base"/></robot>')
    with aa.Simulation(tmp_path / "robot.urdf"), pytest.raises(HostError, match="came from URDF or MJCF"):
        current.current_stage()


class Foreign(enum.Enum):
    Rotation = 0
    Translation = 1
    Invalid = 2


def test_kinds_are_those_of_this_and_of_other_enumerations() -> None:
    own = SimpleNamespace(dof_types=[DofType.Rotation, DofType.Translation])
    foreign = SimpleNamespace(dof_types=list(Foreign))
    assert turning(own) == [True, False] and turning(foreign) == [True, False, None]


def test_articulation_without_kinds_has_none() -> None:
    assert turning(None) is None and turning(SimpleNamespace(dof_names=["hip"])) is None
