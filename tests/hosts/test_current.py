"""Which host is the current one."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import pytest
from isaacsim.core.experimental.actuators import use_host, use_stage
from isaacsim.core.experimental.actuators.errors import HostError
from isaacsim.core.experimental.actuators.hosts.bus import EventBus
from isaacsim.core.experimental.actuators.hosts.current import (
    Articulation,
    current_host,
    current_stage,
    enter,
    leave,
)
from isaacsim.core.experimental.actuators.hosts.memory import MemoryHost


def host(path: str = "/Robot", **arguments: object) -> MemoryHost:
    """A host with one robot of one joint."""
    return MemoryHost(["hinge"], path=path, **arguments)


def test_no_host_says_how_to_open_one() -> None:
    """The message is a recipe."""
    with pytest.raises(HostError, match=r"no simulation is open\. Open one first: `sim = Simulation"):
        current_host()


def test_entered_host_is_current() -> None:
    """Until it leaves."""
    mine = host()
    enter(mine)
    assert current_host() is mine


def test_last_entered_host_is_current() -> None:
    """The innermost wins."""
    first, last = host(), host()
    enter(first)
    enter(last)
    assert current_host() is last


def test_leaving_gives_back_the_one_before() -> None:
    """As blocks nest."""
    first, last = host(), host()
    enter(first)
    enter(last)
    leave(last)
    assert current_host() is first


def test_outer_host_may_leave_first() -> None:
    """In any order."""
    first, last = host(), host()
    enter(first)
    enter(last)
    leave(first)
    assert current_host() is last


def test_leaving_twice_changes_nothing() -> None:
    """And does not take another one out."""
    first, last = host(), host()
    enter(first)
    enter(last)
    leave(last)
    leave(last)
    assert current_host() is first


def test_entering_again_moves_to_the_inside() -> None:
    """One place per host."""
    first, last = host(), host()
    enter(first)
    enter(last)
    enter(first)
    leave(first)
    assert current_host() is last


def test_forgotten_host_drops_out() -> None:
    """Being current keeps nobody alive."""
    outer, inner = host(), host()
    enter(outer)
    enter(inner)
    del inner
    gc.collect()
    assert current_host() is outer


def test_use_host_is_current_inside_only() -> None:
    """And the outer one afterwards."""
    outer, inner = host(), host()
    enter(outer)
    with use_host(inner):
        inside = current_host()
    assert (inside, current_host()) == (inner, outer)


def test_use_host_holds_its_host() -> None:
    """Nobody else needs to."""
    with use_host(host("/Held")):
        gc.collect()
        assert current_host().articulation("/Held").paths == ["/Held"]


def test_use_host_ends_with_an_error_too() -> None:
    """The block's error passes, the host does not stay."""
    with pytest.raises(ArithmeticError), use_host(host()):
        raise ArithmeticError
    with pytest.raises(HostError):
        current_host()


class Partial:
    """A simulator with the given members only."""

    def __init__(self, **members: object) -> None:
        vars(self).update(members)


def whole_bus() -> dict[str, object]:
    """All members of a bus."""
    return {"ready": False, "on_ready": None, "on_pre_step": None, "on_stop": None}


@pytest.mark.parametrize("missing", ["stage", "bus", "articulation"])
def test_host_without_a_member_is_refused(missing: str) -> None:
    """The message names its class, the member and the remedy."""
    members = {"stage": None, "bus": EventBus(), "articulation": None}
    del members[missing]
    with pytest.raises(HostError, match=rf"^Partial has no {missing}: .*use_host.*Add what is missing"):
        use_host(Partial(**members)).__enter__()


@pytest.mark.parametrize("missing", ["ready", "on_ready", "on_pre_step", "on_stop"])
def test_bus_without_a_member_is_refused(missing: str) -> None:
    """As the host is."""
    members = whole_bus()
    del members[missing]
    with pytest.raises(HostError, match=rf"^Partial has no {missing}: .*use_host.*PhysicsBus"):
        use_host(Partial(stage=None, bus=Partial(**members), articulation=None)).__enter__()


def test_all_that_is_missing_is_named_at_once() -> None:
    """One message."""
    with pytest.raises(HostError, match=r"^Partial has no ready, on_stop: "):
        use_host(Partial(stage=None, bus=Partial(on_ready=None, on_pre_step=None), articulation=None)).__enter__()


def test_bus_without_a_hash_is_refused() -> None:
    """The message says what takes the hash away."""

    @dataclass
    class ValueBus:
        ready: bool = False
        on_ready = on_pre_step = on_stop = None

    with pytest.raises(HostError, match=r"unhashable type: 'ValueBus'.*use_host.*no __eq__ without __hash__"):
        use_host(Partial(stage=None, bus=ValueBus(), articulation=None)).__enter__()


def test_bus_without_weak_references_is_refused() -> None:
    """The message says what forbids them."""

    class SlimBus:
        __slots__ = ()
        ready = on_ready = on_pre_step = on_stop = None

    with pytest.raises(HostError, match=r"weak reference to 'SlimBus'.*use_host.*no __slots__ without __weakref__"):
        use_host(Partial(stage=None, bus=SlimBus(), articulation=None)).__enter__()


def test_bus_made_anew_each_time_is_refused() -> None:
    """Notes kept by one would not be found by the next."""

    class Fresh:
        stage = articulation = None
        bus = property(lambda self: Partial(**whole_bus()))

    with pytest.raises(HostError, match=r"^Fresh\.bus: must be the same object each time"):
        use_host(Fresh()).__enter__()


def test_refused_host_is_not_current() -> None:
    """Nothing was changed."""
    outer = host()
    with use_host(outer):
        with pytest.raises(HostError, match="has no"):
            use_host(Partial()).__enter__()
        assert current_host() is outer


def test_host_may_leave_inside_its_block() -> None:
    """Closing a simulation inside `use_host` is no error at the end of the block."""
    mine = host()
    with use_host(mine):
        leave(mine)
    with pytest.raises(HostError):
        current_host()


def test_use_host_nests_with_itself() -> None:
    """The inner block's end leaves the outer one's host current."""
    mine = host()
    with use_host(mine):
        with use_host(mine):
            pass
        assert current_host() is mine


def test_current_stage_is_the_hosts() -> None:
    """Whatever it calls a stage."""
    stage = object()
    mine = host(stage=stage)
    enter(mine)
    assert current_stage() is stage


def test_used_stage_is_current_inside_only() -> None:
    """With no simulation anywhere."""
    stage = object()
    with use_stage(stage) as given:
        assert (given, current_stage()) == (stage, stage)
    with pytest.raises(HostError):
        current_stage()


def test_used_stage_ends_with_an_error_too() -> None:
    """The block's error passes, the stage does not stay."""
    with pytest.raises(ArithmeticError), use_stage(object()):
        raise ArithmeticError
    with pytest.raises(HostError):
        current_stage()


def test_innermost_of_host_and_used_stage_has_the_stage() -> None:
    """Either may stand inside the other, and each comes back when the inner one ends."""
    outer, middle, inner = object(), object(), object()
    with use_stage(outer), use_host(host(stage=middle)):
        assert current_stage() is middle
        with use_stage(inner):
            assert current_stage() is inner
        assert current_stage() is middle


def test_used_stage_hides_no_host() -> None:
    """A stage brings no physics: robots are those of the host around it."""
    mine = host()
    with use_host(mine), use_stage(object()):
        assert current_host() is mine
    with use_stage(object()), pytest.raises(HostError, match="no simulation is open"):
        current_host()


@pytest.mark.parametrize("opened", [False, True])
def test_no_stage_names_three_ways_to_one(opened: bool) -> None:
    """The same message without a host and with one that has no stage."""
    mine = host()
    if opened:
        enter(mine)
    with pytest.raises(
        HostError, match=r"^no USD stage is current.*`stage=\.\.\.`.*use_stage\(.*Simulation\(.*use_host\("
    ):
        current_stage()


def test_host_without_stage_hides_the_stage_around_it() -> None:
    """What is authored inside is not put on a stage the host does not simulate."""
    with use_stage(object()), use_host(host()), pytest.raises(HostError, match="no USD stage is current"):
        current_stage()


def test_articulation_comes_from_the_current_host() -> None:
    """The innermost has its own robots."""
    outer, inner = host("/Outer"), host("/Inner")
    enter(outer)
    with use_host(inner):
        assert Articulation("/.*").paths == ["/Inner"]


def test_articulation_needs_a_host() -> None:
    """The message is that of `current_host`."""
    with pytest.raises(HostError, match="no simulation is open"):
        Articulation("/Robot")
