"""`View`: shows a simulation while it runs, and does to it what is asked for there."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable
from typing import Any, Protocol, Self

from ..errors import HostError, NotCopied
from ..extras import needs
from .live import REQUESTS, Live

_log = logging.getLogger(__name__)
# how often something new is shown [s of wall clock]
_PERIOD = 1 / 30
# what of a delay is made up for [s of wall clock]
_CATCH_UP = 0.1

Ask = Callable[..., None]
"""Asks for something, from any thread: `pause`, `step`, `reset`, or what `Live` does by that name, and arguments."""


class Screen(Protocol):
    """Where it is shown."""

    url: str | None
    """Address of the page; None of a window."""

    @property
    def is_open(self) -> bool:
        """Whether it can be shown still."""
        ...

    @property
    def is_watched(self) -> bool:
        """Whether anybody sees it."""
        ...

    def show(self, live: Live, paused: bool) -> None:
        """Show what is now."""
        ...

    def tell(self, message: str) -> None:
        """Say that something asked for was not done."""
        ...

    def close(self) -> None:
        """Show no more."""
        ...


class View(NotCopied):
    """A live view of a simulation; `Simulation.view` makes one.

    What is asked for on the page or in the window happens in `sync`, in the thread of the loop, and nowhere else. A
    request that cannot be done is told on the page and raises nothing. A page that is closed stops nothing, and a pause
    ends with it.

    Args:
        sim: The simulation, which plays.
        live: What is shown.
        open_screen: Opens where it is shown; gets what is shown, and what takes requests.
    """

    _INSTEAD = "Open another one."

    def __init__(self, sim: Any, live: Live, open_screen: Callable[[Live, Ask], Screen]) -> None:
        self._sim, self._live = sim, live
        self._requests: queue.SimpleQueue[tuple[str, tuple[Any, ...]]] = queue.SimpleQueue()
        self.paused = False
        """Whether `sync` waits, until somebody goes on."""
        self._single = False
        self._shown = -float("inf")
        self._screen: Screen | None = open_screen(live, self._ask)

    @property
    def url(self) -> str | None:
        """Address of the web page; None of a window."""
        return None if self._screen is None else self._screen.url

    @property
    def is_running(self) -> bool:
        """Whether something is shown: neither the view nor its window was closed."""
        return self._screen is not None and self._screen.is_open

    def sync(self) -> None:
        """Do what was asked for, then show the present state, at most 30 times a second of wall clock.

        Call it after each `Simulation.step` in a loop of one's own. It waits while the view is paused and somebody sees
        it; the button *step* lets it return once. It does nothing while physics is stopped, or once the view is closed.
        """
        self._single = False
        while self._take_requests() and self.paused and not self._single:
            self._show()
            time.sleep(_PERIOD)
        self._show()

    def run(self, seconds: float | None = None, *, realtime: bool = True) -> None:
        """Step the simulation and show it until the view is closed, physics stops, or time is up.

        Args:
            seconds: Simulated time [s]; None means no end.
            realtime: As fast as the wall clock, or as fast as it goes.

        Raises:
            HostError: Physics does not run.
            ValueError: `seconds` is negative.
        """
        if seconds is not None and not seconds >= 0:
            raise ValueError(f"seconds = {seconds}: must be a number >= 0, or None for no end.")
        if not self._sim.playing:
            raise HostError("physics is not running: call play() before run().")
        dt = self._sim.dt
        left = float("inf") if seconds is None else round(seconds / dt)
        last, owed = time.perf_counter(), 0.0
        while left > 0 and self.is_running and self._sim.playing:
            self.sync()
            now = time.perf_counter()
            owed = min(owed + now - last, max(_CATCH_UP, dt)) if realtime else _PERIOD
            last = now
            steps = 1 if self._single else int(min(left, max(owed // dt, 0 if realtime else 1)))
            if self.is_running and self._sim.playing and steps:
                self._sim.step(steps)
                left -= steps
                owed -= steps * dt
            elif realtime:
                time.sleep(max(0.0, min(dt - owed, _PERIOD)))
        self._show()

    def close(self) -> None:
        """End the view; the simulation goes on. Calling it again does nothing."""
        screen, self._screen = self._screen, None
        self._live.close()
        if screen is not None:
            screen.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "closed" if self._screen is None else self.url or "a window"
        return f"<View of {', '.join(self._live.robots)}: {where}>"

    # inside

    def _ask(self, what: str, *arguments: Any) -> None:
        """Take a request, from any thread."""
        self._requests.put((what, arguments))

    def _take_requests(self) -> bool:
        """Do what was asked for; returns whether there is anything to look at, and somebody who does."""
        screen = self._screen
        if screen is None or not screen.is_open or not self._sim.playing:
            return False
        if not self._live.is_current:
            self._live.refresh()
        problem = None
        # whoever asks without end must not hold the loop
        for _ in range(self._requests.qsize()):
            problem = self._do(*self._requests.get()) or problem
            self._shown = -float("inf")
        if problem:
            screen.tell(problem)
        if self.paused and not screen.is_watched:
            self.paused = False
        return True

    def _do(self, what: str, arguments: tuple[Any, ...]) -> str | None:
        """Do what was asked for, or return why it cannot be done."""
        if what == "pause":
            self.paused = not self.paused
        elif what == "step":
            self.paused = self._single = True
        elif what in REQUESTS:
            try:
                getattr(self._live, what)(*arguments)
            except ValueError as error:
                return str(error)
            except Exception as error:
                # the loop is somebody else's and goes on
                _log.exception("the live view could not do %s%s", what, arguments)
                return f"{what}: {error}"
        else:
            return f"request = {what!r:.100}: must be one of {['pause', 'step', *REQUESTS]}. Ask for one of them."
        return None

    def _show(self) -> None:
        screen, now = self._screen, time.monotonic()
        if screen is not None and screen.is_open and self._sim.playing and now - self._shown >= _PERIOD:
            screen.show(self._live, self.paused)
            # what is slow to draw leaves time to the loop
            self._shown = time.monotonic()


def open_view(
    sim: Any, host: Any, native: bool | None, address: tuple[str, int, list[str]], open_browser: bool | None
) -> View:
    """See `Simulation.view`; the address is that of the page, its port, and names of hosts that it may have besides."""
    from ..hosts.mujoco.picture import has_display

    if not sim.playing:
        raise HostError("physics is not running: call play() before view().")
    if native if native is not None else has_display():
        if not has_display():
            raise HostError("native = True: must have a display, and there is none. Leave native out for a web page.")
        from .native import Window

        return View(sim, Live(sim, host), Window)
    with needs("The page of view()", "view"):
        from .web import Page

    view = View(sim, Live(sim, host), lambda live, ask: Page(live, ask, *address))
    if open_browser if open_browser is not None else has_display():
        import webbrowser

        webbrowser.open(view.url or "")
    else:
        print(f"live view: {view.url}", flush=True)
    return view
