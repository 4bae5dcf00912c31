"""`omni.timeline`: play, pause, stop."""

import enum

from fakes.carb import EventDispatcher, EventStream

GLOBAL_EVENT_PLAY = "omni.timeline.play"
GLOBAL_EVENT_PAUSE = "omni.timeline.pause"
GLOBAL_EVENT_STOP = "omni.timeline.stop"


class TimelineEventType(enum.IntEnum):
    PLAY = 0
    PAUSE = 1
    STOP = 2


class Timeline:
    def __init__(self, dispatcher: EventDispatcher) -> None:
        self._dispatcher, self._stream = dispatcher, EventStream()
        self.state = TimelineEventType.STOP

    def get_timeline_event_stream(self) -> EventStream:
        return self._stream

    def is_playing(self) -> bool:
        return self.state == TimelineEventType.PLAY

    def is_stopped(self) -> bool:
        return self.state == TimelineEventType.STOP

    def play(self) -> None:
        self._change(TimelineEventType.PLAY, GLOBAL_EVENT_PLAY)

    def pause(self) -> None:
        if self.is_playing():
            self._change(TimelineEventType.PAUSE, GLOBAL_EVENT_PAUSE)

    def stop(self) -> None:
        self._change(TimelineEventType.STOP, GLOBAL_EVENT_STOP)

    def _change(self, state: TimelineEventType, name: str) -> None:
        if self.state != state:
            self.state = state
            self._stream.push(state)
            self._dispatcher.dispatch_event(name)
