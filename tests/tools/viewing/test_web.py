"""The web page in a headless browser: actions on it change the simulation and its view."""

from __future__ import annotations

import importlib
import io
import math
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from places import ROBOTS
from refusals import cases, refused
from small_stages import two_robots

pytestmark = pytest.mark.skipif(find_spec("viser") is None, reason="viser is not installed")
CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None, reason="chromium or playwright is not installed"
)
# the robots on the page, left of the panel and below the warning of the browser
SCENE = (320, 160, 940, 800)


@pytest.fixture
def sim():
    with aa.Simulation(ROBOTS / "arm_2dof.usda") as made:
        made.play()
        yield made


def test_page_is_served_until_it_is_closed(sim, capsys) -> None:
    with sim.view(native=False, port=8123, open_browser=False) as view:
        assert capsys.readouterr().out.endswith(f"live view: {view.url}\n")
        assert view.url is not None and view.url in repr(view)
        with urlopen(view.url, timeout=10) as page:
            assert page.status == 200
        view.run(0.2)
        assert view.is_running
    assert not view.is_running
    refused(OSError, lambda: urlopen("http://127.0.0.1:8123", timeout=2))


def test_junk_on_the_port_prints_nothing(sim, capfd) -> None:
    viser = importlib.import_module("viser")
    upgrade = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    upgrade += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
    requests = ["\0junk\r\n\r\n", "", "POST / HTTP/1.1\r\n\r\nx", f"GET /{'a' * 10**5} HTTP/1.1\r\n\r\n"]
    requests += [f"{upgrade}viser-v0.0.1\r\n\r\n", f"{upgrade}viser-v{viser.__version__}\r\n\r\n\x19junk"]
    with sim.view(native=False, open_browser=False) as view:
        capfd.readouterr()
        host, _, port = view.url.removeprefix("http://").rpartition(":")
        for request in requests:
            with socket.create_connection((host, int(port)), timeout=5) as connection:
                connection.sendall(request.encode("latin-1"))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
        view.run(0.1)
    assert "".join(capfd.readouterr()) == ""


def test_page_says_that_the_program_has_ended(sim) -> None:
    with sim.view(native=False, open_browser=False) as view:
        page = shown(view)
        assert "<b>Arm, arm_2dof.usda</b>" in page._status.content
        with Visitor(view):
            view.close()
        assert "the program has ended" in page._status.content


def test_friction_has_a_strip_and_a_curve_of_its_own() -> None:
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0)]
    with aa.Simulation(ROBOTS / "arm_2dof.usda", 0.005) as sim:
        sim.play()
        stages = {"shoulder": [*motor, aa.FrictionConfig(coulomb=8.0)], "extension": motor}
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", stages)
        actuators.articulation.set_dof_position_targets(0.1)
        sim.step(300)
        with sim.view(native=False, open_browser=False) as view:
            # without a visitor nothing is drawn
            view.run(0.1)
            page = view._screen
            page._panel_shown = -math.inf
            page.show(view._live, False)
            shoulder, extension = page._bars.content.split("</div>")[:2]
            assert "sticks" in shoulder and "friction" in shoulder and "height:30%" in shoulder
            assert "sticks" not in extension and "friction" not in extension and "height:30%" not in extension
            assert len(page._chart.data) == len(page._chart.series) == 4 and "friction" in page._key.content
            page._choose(view._live, "extension")
            page._panel_shown = -math.inf
            page.show(view._live, False)
            assert len(page._chart.data) == len(page._chart.series) == 3 and "friction" not in page._key.content


def test_joints_of_both_kinds_have_their_own_units(sim) -> None:
    _actuators = aa.ArticulationActuators("/World/Arm")
    with sim.view(native=False, open_browser=False) as view:
        sim.step()
        page = shown(view)
        shoulder, extension = page._bars.content.split("</div>")[:2]
        assert " N·m</span>" in shoulder and " N</span>" in extension
        assert [slider.label for slider in page._sliders] == ["shoulder [rad]", "extension [m]"]
        assert folders(page) == ["efforts", "position targets", "one motor"]
    with aa.Simulation(ROBOTS / "so101.usda") as other:
        other.play()
        _servos = aa.ArticulationActuators("/World/SO101")
        with other.view(native=False, open_browser=False) as view:
            other.step()
            page = shown(view)
            assert "N·m" not in page._bars.content and page._sliders[0].label == "shoulder_pan"
            assert folders(page) == ["efforts [N·m]", "position targets [rad]", "one motor"]


def test_temperature_is_red_where_it_derates() -> None:
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0)]
    heat = {"winding_resistance": 1.0, "motor_constant": 0.5, "derating_start": 30.0, "max_temperature": 90.0}
    warm = [*motor, aa.ThermalConfig(winding_capacity=1e9, ambient=40.0, **heat)]
    with aa.Simulation(ROBOTS / "arm_2dof.usda", 0.005) as sim:
        sim.play()
        _actuators = aa.ArticulationActuators.from_configs("/World/Arm", {"shoulder": warm, "extension": motor})
        sim.step()
        with sim.view(native=False, open_browser=False) as view:
            sim.step()
            shoulder, extension = shown(view)._bars.content.split("</div>")[:2]
            assert "color:#d63031' title='winding of shoulder; less effort from 30 °C to 90 °C'>40 °C" in shoulder
            assert "°C" not in extension


def test_paused_simulation_is_continued_by_the_button_that_paused_it(sim) -> None:
    with sim.view(native=False, open_browser=False) as view:
        for button, paused in (("pause", False), ("continue", True)):
            # without a page a view does not stay paused
            view.paused = paused
            page = shown(view)
            assert page._buttons.options == (button, "step", "reset")
            (told,) = page._buttons._impl.update_cb
            told(SimpleNamespace(client=object(), target=SimpleNamespace(value=button)))
            assert view._requests.get() == ("pause", ())


def test_camera_sees_all_robots_above_the_panel_of_a_phone() -> None:
    from isaacsim.core.experimental.actuators.tools.viewing.web import _camera

    middle, fov = np.array([0.0, 0.0, 0.5]), 1.2
    wide, at = _camera(middle, 2.0, 1.6, fov)
    assert at.tolist() == middle.tolist() and np.linalg.norm(wide - middle) == pytest.approx(2.3)
    narrow, below = _camera(middle, 2.0, 0.5, fov)
    assert np.linalg.norm(narrow - middle) == pytest.approx(4.6) and below[2] < middle[2]
    up, to_target, to_robot = np.array([0.0, 0.0, 1.0]), below - narrow, middle - narrow
    ahead = to_target / np.linalg.norm(to_target)
    height = up - (up @ ahead) * ahead
    share = to_robot @ height / np.linalg.norm(height) / (to_robot @ ahead) / math.tan(fov / 2)
    assert 0.3 < share < 0.7 and np.isfinite(_camera(middle, 2.0, 0.0, fov)).all()


def shown(view: aa.View):
    page = view._screen
    page._panel_shown = -math.inf
    page.show(view._live, view.paused)
    return page


def folders(page) -> list[str]:
    return [one.label for one in page._panel._children.values()]


def test_two_pages_have_two_ports(sim) -> None:
    with sim.view(native=False, open_browser=False) as one, sim.view(native=False, open_browser=False) as other:
        assert one.url != other.url


class Browser(threading.Thread):
    """Acts on a page, while the simulation runs in another thread."""

    def __init__(self, url: str, act: Callable) -> None:
        super().__init__()
        self.url, self.act = url, act
        self.error: BaseException | None = None

    def run(self) -> None:
        from playwright.sync_api import sync_playwright

        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(self.url)
                page.wait_for_selector("text=running", timeout=90_000)
                self.act(page)
                browser.close()
        except BaseException as error:
            self.error = error


def run_with(view: aa.View, act: Callable) -> None:
    assert view.url is not None
    browser = Browser(view.url, act)
    browser.start()
    begin = time.monotonic()
    while browser.is_alive() and time.monotonic() - begin < 200:
        view.run(0.05)
    browser.join(1)
    if browser.error is not None:
        raise browser.error
    assert not browser.is_alive()


def wait_for(holds: Callable, page) -> None:
    begin = time.monotonic()
    while not holds():
        assert time.monotonic() - begin < 30, "it never happens"
        page.wait_for_timeout(50)


def drag(page, slider: int, distance: float) -> float:
    """Drag the slider of a joint by some pixels; return its final position, which is later than the mouse."""
    thumb = page.locator(".mantine-Slider-thumb").nth(slider)
    box = thumb.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + distance, y, steps=5)
    page.mouse.up()
    before, same = math.nan, 0
    while same < 3:
        page.wait_for_timeout(100)
        now = float(thumb.get_attribute("aria-valuenow") or "nan")
        before, same = now, same + 1 if now == before else 0
    return before


def scene(page) -> np.ndarray:
    from PIL import Image

    left, top, right, bottom = SCENE
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)[top:bottom, left:right]


@needs_browser
@pytest.mark.slow
def test_robot_moves_where_a_slider_is_dragged(sim) -> None:
    arm = aa.Articulation("/World/Arm")
    actuators = aa.ArticulationActuators("/World/Arm")

    def act(page) -> None:
        first = settled_scene(page)
        value = drag(page, 0, -25.0)
        assert value < -0.3
        wait_for(lambda: target() == pytest.approx(value, abs=1e-4), page)
        wait_for(lambda: abs(arm.get_dof_positions().numpy()[0, 0] - value) < 0.3 * abs(value), page)
        changed = np.abs(first - settled_scene(page)).max(axis=2) > 40
        # a robot's part of the picture, much less than all of it
        assert 0.005 < changed.mean() < 0.5

    def target() -> float:
        return float(arm.get_dof_position_targets().numpy()[0, 0])

    with sim.view(native=False, open_browser=False) as view:
        run_with(view, act)
        steps = sim.step_count
        view.run(0.1)
        assert view.is_running and sim.step_count > steps
    actuators.close()


def settled_scene(page) -> np.ndarray:
    before = scene(page)
    for _ in range(30):
        page.wait_for_timeout(500)
        now = scene(page)
        if np.abs(now - before).max() < 40 and now.min() < 120:
            return now
        before = now
    raise AssertionError("the scene never settles")


@needs_browser
@pytest.mark.slow
def test_buttons_and_selectors_do_what_they_say() -> None:
    with aa.Simulation(two_robots(ROBOTS / "arm_2dof.usda", "/World/Arm"), num_envs=12) as sim:
        sim.play()
        robots = [aa.Articulation(f"/World/{name}") for name in ("Left", "Right")]
        actuators = [aa.ArticulationActuators(robot.paths) for robot in robots]

        def targets() -> np.ndarray:
            """Positions of the shoulders: a row per robot, a column per environment."""
            return np.array([robot.get_dof_position_targets().numpy()[:, 0] for robot in robots])

        def act(page) -> None:
            expected = np.zeros((2, 12))
            told = lambda text: page.wait_for_selector(f"text={text}", timeout=30_000)  # noqa: E731

            def drag_and_see(robot: int, env: int, distance: float) -> None:
                expected[robot, env] = drag(page, 0, distance)
                assert abs(expected[robot, env]) > 0.2
                wait_for(lambda: np.allclose(targets(), expected, atol=1e-4), page)

            drag_and_see(0, 0, 20.0)
            wait_for(lambda: robots[0].get_dof_positions().numpy()[0, 0] > 0.1, page)
            page.get_by_role("button", name="pause").click()
            told("paused")
            time_then, steps = sim.time, sim.step_count
            told(f"{time_then:.2f} s")
            page.wait_for_timeout(300)
            assert (sim.time, sim.step_count) == (time_then, steps)
            page.get_by_role("button", name="step").click()
            wait_for(lambda: sim.step_count == steps + 1, page)
            page.wait_for_timeout(300)
            assert sim.step_count == steps + 1
            # reset, and still paused
            page.get_by_role("button", name="reset").click()
            wait_for(lambda: not robots[0].get_dof_positions().numpy()[0].any(), page)
            expected[:] = targets()
            told("paused")
            # the other robot, while paused
            page.locator(".mantine-Select-input[value$=Left]").click()
            page.get_by_role("option").filter(has_text="Right").click()
            wait_for(lambda: view._live.robot == 1, page)
            page.wait_for_timeout(300)
            drag_and_see(1, 0, -20.0)
            # an environment of two digits, typed in sequence, with the same robot
            number = page.locator(".mantine-NumberInput-input").first
            # immediately, and each key to this field, even if the rest of the page changes
            number.fill("1")
            wait_for(lambda: view._live.env == 1, page)
            page.wait_for_timeout(300)
            number.press("1")
            wait_for(lambda: (view._live.env, view._live.robot) == (11, 1), page)
            page.wait_for_timeout(300)
            drag_and_see(1, 11, 25.0)
            # one out of range
            for key in ("End", "5"):
                number.press(key)
            page.wait_for_timeout(300)
            assert view._live.env == 11
            page.get_by_role("button", name="continue").click()
            told("running")
            wait_for(lambda: robots[1].get_dof_positions().numpy()[11, 0] > 0.1, page)

        with sim.view(native=False, open_browser=False) as view:
            run_with(view, act)
        for one in actuators:
            one.close()


def test_what_somebody_gives_is_kept_until_it_is_heard() -> None:
    """Viser stores a value at once and reports it later; updates of the page in between do not revert it."""
    with aa.Simulation(two_robots(ROBOTS / "arm_2dof.usda", "/World/Arm"), num_envs=3) as sim:
        sim.play()
        _actuators = aa.ArticulationActuators(["/World/envs/env_.*/Left", "/World/envs/env_.*/Right"])
        with sim.view(native=False, open_browser=False) as view:
            page = view._screen
            view.sync()
            for name, value in (("_robot", page._robot.options[1]), ("_env", 2), ("_sliders", -0.5)):
                handle = page._sliders[0] if name == "_sliders" else getattr(page, name)
                before = handle.value
                # as on a message
                handle._impl.value = value
                time.sleep(0.15)
                view.sync()
                assert handle.value == value != before
                (told,) = handle._impl.update_cb
                told(SimpleNamespace(client=object(), target=handle))
                view.sync()
                assert handle.value == value
            assert (view._live.robot, view._live.env) == (1, 2)
            assert aa.Articulation("/World/envs/env_.*/Right").get_dof_position_targets().numpy()[2, 0] == -0.5


def settled(view: aa.View | None, holds: Callable) -> bool:
    begin = time.monotonic()
    while not (is_so := holds()) and time.monotonic() - begin < 20:
        if view is not None:
            view.sync()
        time.sleep(0.02)
    return bool(is_so)


class Visitor:
    """A client of the page's server that behaves as a browser."""

    def __init__(self, view: aa.View, origin: str | None = None, host: str | None = None) -> None:
        import viser
        from websockets.sync.client import connect

        self._decompress = importlib.import_module("zstandard").ZstdDecompressor().decompress
        self._packing = importlib.import_module("msgspec").msgpack
        assert view.url is not None
        server, _, port = view.url.removeprefix("http://").partition(":")
        said = {"subprotocols": [f"viser-v{viser.__version__}"], "max_size": None, "origin": origin}
        line = socket.create_connection((server, int(port)))
        self.line = connect(f"ws://{host or f'{server}:{port}'}", sock=line, **said)
        self.handles: dict[str, dict] = {}
        self.told: list[str] = []
        self.hear()
        camera = {"position": (1.0, 0.0, 0.0), "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0)}
        lens = {"fov": 1.0, "near": 0.1, "far": 9.0, "image_height": 9, "image_width": 9}
        self.say("ViewerCameraMessage", **camera, **lens, wxyz=(1.0, 0.0, 0.0, 0.0))
        page = view._screen
        assert settled(None, lambda: page.is_watched)

    def hear(self, until: str = "ReplayDoneMessage") -> None:
        heard = ""
        while heard != until:
            data = self.line.recv(timeout=20)
            assert isinstance(data, bytes)
            size = int.from_bytes(data[8:16], "little")
            for message in self._packing.decode(self._decompress(data[16 : 16 + size]))["messages"]:
                heard = until if message["type"] == until else heard
                if "label" in message.get("props", {}):
                    self.handles[message["props"]["label"]] = message
                if message["type"] == "NotificationShowMessage":
                    self.told.append(message["props"]["body"])

    def give(self, label: str, value, what: str = "value") -> None:
        self.say("GuiUpdateMessage", uuid=self.handles[label]["uuid"], updates={what: value})

    def say(self, kind: str, **fields) -> None:
        self.line.send(self._packing.encode({"type": kind, **fields}))

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.line.close()


@pytest.fixture
def view(sim: aa.Simulation):
    actuators = aa.ArticulationActuators("/World/Arm")
    with sim.view(native=False, open_browser=False) as made:
        yield made
    actuators.close()


def target() -> float:
    return float(aa.Articulation("/World/Arm").get_dof_position_targets().numpy()[0, 0])


@cases("origin", "https://evil.example", "http://127.0.0.1:1", "null")
def test_web_page_of_somebody_else_is_refused(view, origin) -> None:
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as caught:
        Visitor(view, origin)
    assert caught.value.response.status_code == 403
    assert f"Origin = {origin!r}: must be the view's own page".encode() in caught.value.response.body


def test_name_that_somebody_else_lets_point_here_is_refused(view) -> None:
    from websockets.exceptions import InvalidStatus

    assert view.url is not None
    refused(InvalidStatus, lambda: Visitor(view, "http://evil.example", "evil.example"), "403")
    with pytest.raises(HTTPError, match="403") as caught:
        urlopen(Request(view.url, headers={"Host": "evil.example"}), timeout=10)
    assert b"Host = 'evil.example': must be an address, localhost or the name of an allowed host" in caught.value.read()


@cases("of", "own page", "no browser", "localhost", "allowed host")
def test_own_page_moves_the_robot(sim, of) -> None:
    with sim.view(native=False, open_browser=False, allowed_hosts="Proxy.example") as view:
        assert view.url is not None
        port = view.url.rpartition(":")[2]
        origins = {"own page": view.url, "no browser": None, "localhost": f"http://localhost:{port}"}
        host = "proxy.example" if of == "allowed host" else None
        with Visitor(view, origins.get(of, "https://proxy.example"), host) as visitor:
            visitor.give("shoulder [rad]", -0.5)
            assert settled(view, lambda: target() == -0.5)


@cases(
    "label, value, message",
    ("shoulder [rad]", math.nan, "target of shoulder = nan: must be finite in single precision"),
    ("kp", math.nan, "kp of shoulder = nan: must be finite and >= 0"),
    ("kp", math.inf, "kp of shoulder = inf: must be finite and >= 0"),
    ("kp", -1e30, "kp of shoulder = -1e+30: must be finite and >= 0"),
    ("kp", 1e39, "kp of shoulder = 1e+39: must be finite and >= 0 in single precision"),
    ("kd", -1.0, "kd of shoulder = -1.0: must be finite and >= 0"),
    ("simulation", "close", "request = 'close': must be one of ['pause', 'step'"),
)
def test_value_out_of_range_is_told_on_the_page(sim, view, label, value, message) -> None:
    before = [view._live.gain(0, name) for name in ("kp", "kd")]
    with Visitor(view) as visitor:
        visitor.give(label, value)
        page = view._screen
        assert settled(None, lambda: not view._requests.empty())
        view.sync()
        visitor.hear("NotificationShowMessage")
        assert visitor.told[0].startswith(message)
        assert (target(), [view._live.gain(0, name) for name in ("kp", "kd")]) == (0.0, before)
        sliders = {"shoulder [rad]": page._sliders[0], **page._gains}
        if label in sliders:
            assert settled(view, lambda: sliders[label].value in (0.0, *before))
        sim.step()
    assert view.is_running


def test_ends_of_a_slider_are_not_what_a_page_says(view) -> None:
    with Visitor(view) as visitor:
        visitor.give("shoulder [rad]", 1e6, "max")
        visitor.give("shoulder [rad]", 100.0)
        assert settled(view, lambda: target() == 2.5)


def test_page_that_is_spoilt_is_closed_and_the_loop_goes_on(sim, view, caplog) -> None:
    with Visitor(view) as visitor:
        visitor.give("shoulder [rad]", 5, "gui_api")
        assert settled(None, lambda: not view._requests.empty())
        view.sync()
        aa.Articulation("/World/Arm").set_dof_position_targets(0.3)
        assert settled(view, lambda: not view.is_running)
    assert "the live view at http://127.0.0.1" in caplog.text and "is closed" in caplog.text
    sim.step()
    view.sync()


def test_server_that_asks_nobody_is_not_opened(sim, monkeypatch) -> None:
    """A viser with another server would answer everybody."""
    from isaacsim.core.experimental.actuators.tools.viewing import web

    monkeypatch.setattr(web, "websockets", SimpleNamespace(asyncio=SimpleNamespace(server=SimpleNamespace(serve=None))))
    with pytest.raises(HostError, match=r"viser .*: must serve by websockets.asyncio.server.serve. Install viser"):
        sim.view(native=False, open_browser=False)


def test_hosts_that_are_allowed_are_names(sim) -> None:
    with pytest.raises(ValueError, match="allowed_hosts: 'http://proxy': must be the name of a host"):
        sim.view(native=False, open_browser=False, allowed_hosts=["http://proxy"])


def test_missing_viser_is_told(sim, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "isaacsim.core.experimental.actuators.tools.viewing.web", raising=False)
    monkeypatch.setitem(sys.modules, "viser", None)
    refused(ModuleNotFoundError, lambda: sim.view(native=False), r"needs viser, .*pip install .*\[view\]")
