"""`omni.usd`: the context with its stage and the events of the stage."""

import enum
from typing import Any

from fakes.carb import EventDispatcher, EventStream


class StageEventType(enum.IntEnum):
    OPENED = 2
    CLOSING = 4
    CLOSED = 5
    ASSETS_LOADED = 7


class UsdContext:
    def __init__(self, dispatcher: EventDispatcher) -> None:
        self._dispatcher, self._stream = dispatcher, EventStream()
        self._stage: Any = None

    def get_stage(self):
        return self._stage

    def get_stage_event_stream(self) -> EventStream:
        return self._stream

    def stage_event_name(self, event_type: StageEventType) -> str:
        return f"omni.usd.{event_type.name.lower()}"

    def open(self, stage) -> None:
        self.close()
        self._stage = stage
        self._tell(StageEventType.OPENED)
        self._tell(StageEventType.ASSETS_LOADED)

    def close(self) -> None:
        if self._stage is not None:
            self._tell(StageEventType.CLOSING)
            self._stage = None
            self._tell(StageEventType.CLOSED)

    def _tell(self, event_type: StageEventType) -> None:
        self._stream.push(event_type)
        self._dispatcher.dispatch_event(self.stage_event_name(event_type))
