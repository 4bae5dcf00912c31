"""The event bus: who is called, when, with what, and who is not called any more."""

import contextlib
import gc
import weakref
from collections.abc import Callable

import pytest
from isaacsim.core.experimental.actuators.base.callers import weakly
from isaacsim.core.experimental.actuators.simulators.bus import EventBus

# event: how to subscribe, how to emit, what arrives
EVENTS = {
    "ready": ("on_ready", lambda bus: bus.emit_ready(), ()),
    "pre_step": ("on_pre_step", lambda bus: bus.emit_pre_step(0.01, "context"), (0.01, "context")),
    "reset": ("on_reset", lambda bus: bus.emit_reset([1, 2]), ([1, 2],)),
    "stop": ("on_stop", lambda bus: bus.emit_stop(), ()),
}


class Listener:
    def __init__(self, heard: list[tuple]) -> None:
        self.heard = heard

    def hear(self, *args: object) -> None:
        self.heard.append(args)


@pytest.fixture
def bus() -> EventBus:
    return EventBus()


@pytest.fixture
def heard() -> list:
    return []


@pytest.fixture(params=EVENTS, ids=list(EVENTS))
def event(request: pytest.FixtureRequest) -> tuple[str, Callable[[EventBus], None], tuple]:
    return EVENTS[request.param]


def test_callback_gets_the_arguments_of_its_event(bus, event, heard) -> None:
    subscribe, emit, arguments = event
    getattr(bus, subscribe)(lambda *args: heard.append(args))
    emit(bus)
    assert heard == [arguments]


def test_events_do_not_reach_listeners_of_others(bus, event, heard) -> None:
    subscribe, emit, _ = event
    for other, _, _ in EVENTS.values():
        getattr(bus, other)(lambda *_args, name=other: heard.append(name))
    emit(bus)
    assert heard == [subscribe]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [([0, 0, 0], [0, 1, 2]), ([2, 1, 0], [2, 1, 0]), ([1, 0, 1, 0], [1, 3, 0, 2]), ([0, -1, 5, -1], [1, 3, 0, 2])],
)
def test_callbacks_run_by_order_then_registration(bus, event, orders, expected, heard) -> None:
    subscribe, emit, _ = event
    for number, order in enumerate(orders):
        getattr(bus, subscribe)(lambda *_args, number=number: heard.append(number), order=order)
    emit(bus)
    assert heard == expected


def test_emitting_again_calls_again(bus, event, heard) -> None:
    subscribe, emit, arguments = event
    getattr(bus, subscribe)(lambda *args: heard.append(args))
    emit(bus)
    emit(bus)
    assert heard == [arguments, arguments]


def test_method_does_not_keep_its_object_alive(bus, event, heard) -> None:
    subscribe, emit, _ = event
    listener = Listener(heard)
    getattr(bus, subscribe)(listener.hear)
    del listener
    gc.collect()
    emit(bus)
    assert heard == []


def test_subscription_of_a_dropped_object_disappears(bus) -> None:
    bus.on_stop(Listener([]).hear)
    gc.collect()
    bus.emit_stop()
    assert bus.num_callbacks == 0


def test_method_of_a_living_object_is_called(bus, event) -> None:
    subscribe, emit, arguments = event
    listener = Listener([])
    getattr(bus, subscribe)(listener.hear)
    gc.collect()
    emit(bus)
    assert listener.heard == [arguments]


def test_function_is_held(bus, heard) -> None:
    def register() -> None:
        bus.on_ready(lambda: heard.append(1))

    register()
    gc.collect()
    bus.emit_ready()
    assert heard == [1]


def test_closed_subscription_is_silent(bus, event, heard) -> None:
    subscribe, emit, _ = event
    getattr(bus, subscribe)(lambda *args: heard.append(args)).close()
    emit(bus)
    assert heard == []


def test_close_twice_takes_out_one(bus) -> None:
    def callback() -> None:
        pass

    first = bus.on_ready(callback)
    bus.on_ready(callback)
    first.close()
    first.close()
    assert bus.num_callbacks == 1


def test_num_callbacks_counts_every_kind(bus) -> None:
    for subscribe, _, _ in EVENTS.values():
        getattr(bus, subscribe)(lambda *_: None)
    assert bus.num_callbacks == len(EVENTS)


def test_callback_may_close_itself(bus, heard) -> None:
    def once() -> None:
        heard.append("once")
        subscription.close()

    subscription = bus.on_ready(once)
    bus.on_ready(lambda: heard.append("next"))
    bus.emit_ready()
    bus.emit_ready()
    assert heard == ["once", "next", "next"]


def test_callback_closed_by_an_earlier_one_is_not_called(bus, heard) -> None:
    bus.on_pre_step(lambda *_: later.close())
    later = bus.on_pre_step(lambda *_: heard.append("later"))
    bus.emit_pre_step(0.01)
    assert heard == []


def test_callback_registered_during_an_event_waits_for_the_next(bus, heard) -> None:
    bus.on_ready(lambda: bus.on_ready(lambda: heard.append("new")) and None)
    bus.emit_ready()
    assert heard == []


def test_error_in_a_callback_reaches_the_caller(bus, event) -> None:
    subscribe, emit, _ = event

    def fail(*_: object) -> None:
        raise ArithmeticError("broken")

    getattr(bus, subscribe)(fail)
    with pytest.raises(ArithmeticError, match="broken"):
        emit(bus)


def test_error_in_a_callback_does_not_keep_it_from_others(bus, event, heard) -> None:
    subscribe, emit, arguments = event

    def fail(*_: object) -> None:
        raise ArithmeticError(f"broken {len(heard)}")

    for callback in (fail, lambda *args: heard.append(args), fail):
        getattr(bus, subscribe)(callback)
    with pytest.raises(ArithmeticError, match="broken 0") as caught:
        emit(bus)
    assert heard == [arguments]
    assert caught.value.__notes__ == ["Another callback of this event failed: ArithmeticError('broken 1')"]


def test_error_in_a_callback_keeps_nothing_alive(bus) -> None:
    class Failing:
        def fail(self) -> None:
            raise ArithmeticError

    listener = Failing()
    bus.on_ready(listener.fail)
    gc.disable()
    try:
        with contextlib.suppress(ArithmeticError):
            bus.emit_ready()
        ghost = weakref.ref(listener)
        del listener
        assert ghost() is None
    finally:
        gc.enable()


def test_new_bus_is_not_ready(bus) -> None:
    assert not bus.ready


def test_bus_is_ready_inside_ready_callbacks(bus) -> None:
    seen: list[bool] = []
    bus.on_ready(lambda: seen.append(bus.ready))
    bus.emit_ready()
    assert seen == [True]


def test_bus_is_not_ready_inside_stop_callbacks(bus) -> None:
    seen: list[bool] = []
    bus.emit_ready()
    bus.on_stop(lambda: seen.append(bus.ready))
    bus.emit_stop()
    assert seen == [False]


def test_reset_of_everything_tells_none(bus, heard) -> None:
    bus.on_reset(heard.append)
    bus.emit_reset(None)
    assert heard == [None]


def test_cleared_bus_calls_nobody(bus, heard) -> None:
    subscriptions = []
    for name, (subscribe, _emit, _args) in EVENTS.items():
        subscriptions.append(getattr(bus, subscribe)(lambda *_: bus.clear(), order=-1))
        subscriptions.append(getattr(bus, subscribe)(lambda *_, name=name: heard.append(name)))
    bus.emit_stop()
    assert (bus.num_callbacks, heard) == (0, [])
    bus.on_stop(lambda: heard.append("later"))
    for subscription in subscriptions:
        subscription.close()
    for _subscribe, emit, _args in EVENTS.values():
        emit(bus)
    assert heard == ["later"]


def test_weak_function_ends_with_its_object() -> None:
    heard: list[int] = []

    class Listener:
        def hear(self, value: int) -> None:
            heard.append(value)

    listener = Listener()
    call = weakly(listener.hear)
    call(1)
    del listener
    gc.collect()
    call(2)
    assert heard == [1]
