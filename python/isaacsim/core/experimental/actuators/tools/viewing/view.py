"""`View`: shows a running simulation and carries out the requests of its user."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ...base.errors import Closing, HostError, NotCopied
from ...base.extras import needs
from .live import REQUESTS, Live

if TYPE_CHECKING:
    from ...simulators.mujoco.host import MujocoHost

_log = logging.getLogger(__name__)
# smallest time between two frames [s of wall clock]
_PERIOD = 1 / 30
# largest delay that is caught up [s of wall clock]
_CATCH_UP = 0.1

Ask = Callable[..., None]
"""Makes a request from any thread: `pause`, `step`, `reset` or the name of a method of `Live`, and arguments."""


class Screen(Protocol):
    """A page or window of a view."""

    url: str | None
    """Address of the page; None for a window."""

    @property
    def is_open(self) -> bool:
        """True until it is closed."""
        ...

    @property
    def is_watched(self) -> bool:
        """True while somebody can see it."""
        ...

    def show(self, live: Live, paused: bool) -> None:
        """Show the current state."""

    def tell(self, message: str) -> None:
        """Show why a request failed."""

    def close(self) -> None:
        """Close it."""


class View(Closing, NotCopied):
    """A live view of a simulation; made by `Simulation.view`.

    Requests of the page or window are carried out in `sync`, in the thread of the loop. A failed request is reported
    on the page and raises nothing. Closing a page does not stop the simulation, and ends a pause.

    Args:
        sim: The playing simulation.
        live: Its data and requests.
        open_screen: Opens the page or window, of the data and a function for requests.
    """

    _INSTEAD = "Open another one."

    def __init__(self, sim: Any, live: Live, open_screen: Callable[[Live, Ask], Screen]) -> None:
        self._sim, self._live = sim, live
        self._requests: queue.SimpleQueue[tuple[str, tuple[object, ...]]] = queue.SimpleQueue()
        self.paused = False
        """True while `sync` waits."""
        self._single = False
        self._shown = -float("inf")
        self._screen: Screen | None = open_screen(live, self._ask)

    @property
    def url(self) -> str | None:
        """Address of the web page; None for a window."""
        return None if self._screen is None else self._screen.url

    @property
    def is_running(self) -> bool:
        """True until the view or its window is closed."""
        return self._screen is not None and self._screen.is_open

    def sync(self) -> None:
        """Carry out requests, then show the current state, at most 30 times a second of wall clock.

        Call it after each `Simulation.step` in a loop of one's own. It waits while the view is paused and a page is
        open; the button *step* lets it return once. It does nothing while physics is stopped or the view is closed.
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
            realtime: As fast as the wall clock if True, else as fast as possible.

        Raises:
            HostError: Physics does not run.
            ValueError: `seconds` is negative.
        """
        if seconds is not None and not seconds >= 0:
            raise ValueError(f"seconds = {seconds}: must be a number >= 0, or None for no end.")
        if not self._sim.playing:
            raise HostError("physics is not running: call play() before run().")
        pace = _Pace(self._sim.dt, realtime)
        left = float("inf") if seconds is None else round(seconds / self._sim.dt)
        while left > 0 and self._can_step:
            self.sync()
            due = pace.due()
            steps = 1 if self._single else int(min(left, due))
            if steps and self._can_step:
                self._sim.step(steps)
                left -= steps
                pace.advance(steps)
            else:
                pace.wait()
        self._show()

    def close(self) -> None:
        """Close the view; the simulation continues. Idempotent."""
        screen, self._screen = self._screen, None
        self._live.close()
        if screen is not None:
            screen.close()

    def __repr__(self) -> str:
        where = "closed" if self._screen is None else self.url or "a window"
        return f"<View of {', '.join(self._live.robots)}: {where}>"

    @property
    def _can_step(self) -> bool:
        return self.is_running and self._sim.playing

    def _ask(self, what: str, *arguments: object) -> None:
        """Queue a request, from any thread."""
        self._requests.put((what, arguments))

    def _take_requests(self) -> bool:
        """Carry out requests; return True if there is something to show and somebody to see it."""
        screen = self._screen
        if screen is None or not screen.is_open or not self._sim.playing:
            return False
        if not self._live.is_current:
            self._live.refresh()
        problem = None
        # endless requests must not block the loop
        for _ in range(self._requests.qsize()):
            problem = self._do(*self._requests.get()) or problem
            self._shown = -float("inf")
        if problem:
            screen.tell(problem)
        if self.paused and not screen.is_watched:
            self.paused = False
        return True

    def _do(self, what: str, arguments: tuple[object, ...]) -> str | None:
        """Carry out a request, or return why it failed."""
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
                # the loop of the user continues
                _log.exception("the live view could not do %s%s", what, arguments)
                return f"{what}: {error}"
        else:
            return f"request = {what!r:.100}: must be one of {['pause', 'step', *REQUESTS]}. Ask for one of them."
        return None

    def _show(self) -> None:
        screen, now = self._screen, time.monotonic()
        if screen is not None and screen.is_open and self._sim.playing and now - self._shown >= _PERIOD:
            screen.show(self._live, self.paused)
            # slow drawing leaves time for the loop
            self._shown = time.monotonic()


class _Pace:
    """The number of physics steps to take, as fast as the wall clock or as fast as possible."""

    def __init__(self, dt: float, realtime: bool) -> None:
        self._dt, self._realtime = dt, realtime
        self._last, self._owed = time.perf_counter(), 0.0

    def due(self) -> float:
        """Return the number of steps that are due; a long delay is not caught up."""
        now = time.perf_counter()
        if not self._realtime:
            return max(_PERIOD // self._dt, 1)
        self._owed = min(self._owed + now - self._last, max(_CATCH_UP, self._dt))
        self._last = now
        return self._owed // self._dt

    def advance(self, steps: int) -> None:
        """Count the steps taken."""
        self._owed -= steps * self._dt

    def wait(self) -> None:
        """Wait for the next step."""
        if self._realtime:
            time.sleep(max(0.0, min(self._dt - self._owed, _PERIOD)))


def open_view(
    sim: Any, host: MujocoHost, native: bool | None, address: tuple[str, int, list[str]], open_browser: bool | None
) -> View:
    """Return a view, see `Simulation.view`; the address is that of the page, its port, and further host names."""
    from ...simulators.mujoco.picture import has_display

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
