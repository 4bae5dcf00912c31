"""The view: requests in `sync`, closing, and the loop."""

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.tools.viewing.live import Live
from isaacsim.core.experimental.actuators.tools.viewing.view import View
from places import ROBOTS
from refusals import cases, refused

ARM = ROBOTS / "arm_2dof.usda"


class Nobody:
    url: str | None = None

    def __init__(self, live: Live, ask: Callable[..., None]) -> None:
        self.ask, self.is_open, self.is_watched = ask, True, True
        self.shown: list[bool] = []
        self.told: list[str] = []

    def show(self, live: Live, paused: bool) -> None:
        self.shown.append(paused)

    def tell(self, message: str) -> None:
        self.told.append(message)

    def close(self) -> None:
        self.is_open = False


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation(ARM) as made:
        made.play()
        yield made


@pytest.fixture
def view(sim: Simulation) -> Iterator[View]:
    actuators = ArticulationActuators("/World/Arm")
    with View(sim, Live(sim, sim._host), Nobody) as made:
        yield made
    actuators.close()


def screen_of(view: View) -> Nobody:
    assert isinstance(view._screen, Nobody)
    return view._screen


def target() -> float:
    return float(Articulation("/World/Arm").get_dof_position_targets().numpy()[0, 0])


def test_requests_wait_for_sync(sim, view) -> None:
    ask = threading.Thread(target=screen_of(view).ask, args=("set_target", 0, 0.5))
    ask.start()
    ask.join()
    sim.step()
    assert target() == 0.0
    view.sync()
    assert target() == 0.5


@cases(
    "request_, told",
    (("set_target", 0, float("nan")), "target of shoulder = nan: must be finite in single precision"),
    (("set_target", 0, 1e39), "target of shoulder = 1e+39: must be finite in single precision"),
    (("set_target", 7, 0.0), "joint = 7: must be below 2"),
    (("set_gain", 0, "kp", -1e30), "kp of shoulder = -1e+30: must be finite and >= 0"),
    (("set_gain", 0, "kpp", 1.0), "kpp of shoulder: must be a gain of its actuator"),
    (("select", 1, 0), "environment = 1: must be below 1"),
    (("select", 0, 4), "robot = 4: must be below 1"),
    (("select", 0, -1), "robot = -1: must be an integer >= 0"),
    (("refresh",), "request = 'refresh': must be one of"),
    (("__init__", None, None), "request = '__init__': must be one of"),
)
def test_request_that_cannot_be_done_is_told(view, request_, told) -> None:
    screen = screen_of(view)
    screen.ask(*request_)
    screen.ask("set_target", 0, 0.25)
    view.sync()
    (message,) = screen.told
    assert message.startswith(told) and target() == 0.25 and view.is_running


def test_error_of_the_simulation_is_told_and_logged(sim, view, monkeypatch, caplog) -> None:
    monkeypatch.setattr(sim, "reset", lambda envs: 1 / 0)
    screen_of(view).ask("reset")
    view.sync()
    assert screen_of(view).told == ["reset: division by zero"]
    assert "the live view could not do reset" in caplog.text and "ZeroDivisionError" in caplog.text


def test_requests_without_end_do_not_hold_the_loop(view, monkeypatch) -> None:
    ask, done = screen_of(view).ask, []

    def reset() -> None:
        done.append(True)
        ask("reset")

    monkeypatch.setattr(view._live, "reset", reset)
    ask("reset")
    view.sync()
    view.sync()
    assert len(done) == 2


def test_it_shows_thirty_times_a_second_at_most(sim, view) -> None:
    begin = time.monotonic()
    while time.monotonic() - begin < 0.5:
        view.sync()
    assert 8 <= len(screen_of(view).shown) <= 17


def test_pause_holds_sync_until_a_step_is_asked_for(sim, view) -> None:
    ask = screen_of(view).ask
    ask("pause")
    threading.Timer(0.3, lambda: (ask("set_target", 0, 0.2), ask("step"))).start()
    begin = time.monotonic()
    view.sync()
    assert time.monotonic() - begin >= 0.25
    assert view.paused and target() == np.float32(0.2) and True in screen_of(view).shown
    ask("pause")
    view.sync()
    assert not view.paused


def test_pause_ends_when_nobody_looks_any_more(sim, view) -> None:
    screen = screen_of(view)
    screen.ask("pause")
    threading.Timer(0.2, lambda: setattr(screen, "is_watched", False)).start()
    view.sync()
    assert not view.paused


def test_step_button_steps_once(sim, view) -> None:
    screen_of(view).ask("step")
    threading.Timer(0.3, view.close).start()
    view.run()
    assert sim.step_count == 1


def test_run_keeps_to_the_clock(sim, view) -> None:
    begin = time.monotonic()
    view.run(0.5)
    assert sim.time == pytest.approx(0.5) and 0.45 <= (time.monotonic() - begin) < 1.5
    begin = time.monotonic()
    view.run(2.0, realtime=False)
    assert sim.time == pytest.approx(2.5) and time.monotonic() - begin < 1.5


def test_closed_view_does_nothing_and_the_simulation_goes_on(sim, view) -> None:
    view.close()
    view.close()
    view.sync()
    view.run(0.1)
    assert not view.is_running and view.url is None
    sim.step()
    assert sim.step_count == 1


def test_closed_window_ends_the_loop(sim, view) -> None:
    screen_of(view).is_open = False
    view.run()
    assert sim.playing and not view.is_running


def test_stopped_physics_is_not_shown_and_played_again_is(sim, view) -> None:
    sim.stop()
    shown = len(screen_of(view).shown)
    view.sync()
    assert len(screen_of(view).shown) == shown
    refused(HostError, lambda: view.run(0.1), r"physics is not running: call play\(\) before run")
    sim.play()
    screen_of(view).ask("set_target", 0, 0.5)
    view.sync()
    assert target() == 0.5 and len(screen_of(view).shown) == shown + 1


def test_negative_time_is_refused(view) -> None:
    refused(ValueError, lambda: view.run(-1), r"seconds = -1: must be a number >= 0")


def test_view_before_play_is_refused() -> None:
    with Simulation(ARM) as sim, pytest.raises(HostError, match=r"call play\(\) before view\(\)"):
        sim.view()


def test_window_without_a_display_is_refused(sim, monkeypatch) -> None:
    """GLFW would end the process."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    refused(HostError, lambda: sim.view(native=True), "native = True: must have a display")
