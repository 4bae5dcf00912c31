"""`carb` as far as it is documented: logging, settings and the event dispatcher of Kit 107."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from fakes.callbacks import CallbackList, Subscription


@dataclass(frozen=True)
class IEvent:
    type: int = 0
    event_name: str = ""
    payload: dict = field(default_factory=dict)


class Log:
    def __init__(self) -> None:
        self.info: list[str] = []
        self.warn: list[str] = []
        self.error: list[str] = []

    def log_info(self, msg: str) -> None:
        self.info.append(msg)

    def log_warn(self, msg: str) -> None:
        self.warn.append(msg)

    def log_error(self, msg: str) -> None:
        self.error.append(msg)


class Settings:
    def __init__(self) -> None:
        self.values: dict = {}

    def get(self, path: str):
        return self.values.get(path)


class EventDispatcher:
    def __init__(self) -> None:
        self.observers: defaultdict[str, CallbackList] = defaultdict(CallbackList)

    def observe_event(
        self, *, observer_name: str = "", order: int = 0, event_name: str, on_event: Callable[[IEvent], None]
    ) -> Subscription:
        return self.observers[event_name].add(on_event, order)

    def dispatch_event(self, event_name: str, payload: dict | None = None) -> None:
        self.observers[event_name].call(IEvent(event_name=event_name, payload=payload or {}))


class EventStream:
    def __init__(self) -> None:
        self.subscriptions = CallbackList()

    def create_subscription_to_pop(self, fn: Callable[[IEvent], None], order: int = 0, name: str = "") -> Subscription:
        return self.subscriptions.add(fn, order)

    def create_subscription_to_pop_by_type(
        self, event_type: int, fn: Callable[[IEvent], None], order: int = 0, name: str = ""
    ) -> Subscription:
        def only_of_type(event: IEvent) -> None:
            if event.type == event_type:
                fn(event)

        return self.subscriptions.add(only_of_type, order, fn)

    def push(self, event_type: int) -> None:
        self.subscriptions.call(IEvent(type=int(event_type)))
