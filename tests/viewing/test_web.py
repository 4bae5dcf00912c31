"""The web page in a browser without a window: a slider is dragged, and the robot moves."""

from __future__ import annotations

import io
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
from places import ROBOTS

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
# where robots are on the page, left of the panel and below what the browser warns of
SCENE = (320, 160, 940, 800)


@pytest.fixture
def sim() -> Iterator[Simulation]:
    """The arm, which plays."""
    with Simulation(ROBOTS / "arm_2dof.usda") as made:
        made.play()
        yield made


def test_page_is_served_until_it_is_closed(sim: Simulation, capsys: pytest.CaptureFixture[str]) -> None:
    """Its address is told where no browser is opened; a view of nothing that is driven works."""
    with sim.view(native=False, port=8123, open_browser=False) as view:
        assert capsys.readouterr().out == f"live view: {view.url}\n"
        assert view.url is not None and view.url in repr(view)
        with urlopen(view.url, timeout=10) as page:
            assert page.status == 200
        view.run(0.2)
        assert view.is_running
    assert not view.is_running
    with pytest.raises(OSError):
        urlopen("http://127.0.0.1:8123", timeout=2)


def test_two_pages_have_two_ports(sim: Simulation) -> None:
    """The next that is free."""
    with sim.view(native=False, open_browser=False) as one, sim.view(native=False, open_browser=False) as other:
        assert one.url != other.url


class Browser(threading.Thread):
    """Looks at a page and drags a slider, while the simulation runs in another thread.

    Args:
        url: Of the page.
        slider: Number of the slider.
        distance: How far it is dragged [pixels].
    """

    def __init__(self, url: str, slider: int, distance: float) -> None:
        super().__init__()
        self.url, self.slider, self.distance = url, slider, distance
        self.pictures: list[np.ndarray] = []
        self.value = float("nan")
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do it."""
        try:
            self._look()
        except BaseException as error:
            self.error = error

    def _look(self) -> None:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(self.url)
            page.wait_for_selector("text=running", timeout=90_000)
            page.wait_for_timeout(4000)
            self.pictures.append(_picture(page))
            thumb = page.locator(".mantine-Slider-thumb").nth(self.slider)
            box = thumb.bounding_box()
            assert box is not None
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + self.distance, y, steps=5)
            page.mouse.up()
            page.wait_for_timeout(3000)
            self.value = float(thumb.get_attribute("aria-valuenow") or "nan")
            self.pictures.append(_picture(page))
            # the tab is closed while the simulation runs
            browser.close()


def _picture(page: Any) -> np.ndarray:
    """The page as it is, left of the panel."""
    from PIL import Image

    left, top, right, bottom = SCENE
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)[top:bottom, left:right]


@needs_browser
def test_robot_moves_where_a_slider_is_dragged(sim: Simulation) -> None:
    """On the page and in the simulation, which goes on when the tab is closed."""
    arm = Articulation("/World/Arm")
    actuators = ArticulationActuators("/World/Arm")
    before = float(arm.get_dof_positions().numpy()[0, 0])
    with sim.view(native=False, open_browser=False) as view:
        assert view.url is not None
        browser = Browser(view.url, slider=0, distance=-25.0)
        browser.start()
        begin = time.monotonic()
        while browser.is_alive() and time.monotonic() - begin < 200:
            view.run(0.05)
        browser.join(1)
        if browser.error is not None:
            raise browser.error
        steps = sim.step_count
        view.run(0.1)
        assert view.is_running and sim.step_count > steps
    actuators.close()
    after = float(arm.get_dof_positions().numpy()[0, 0])
    target = float(arm.get_dof_position_targets().numpy()[0, 0])
    assert browser.value < -0.3 and target == pytest.approx(browser.value, abs=1e-4)
    assert abs(after - target) < 0.3 * abs(before - target)
    first, second = browser.pictures
    changed = np.abs(first - second).max(axis=2) > 40
    # a robot's part of the picture, and far from all of it
    assert 0.005 < changed.mean() < 0.5


def test_missing_viser_is_told(sim: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.delitem(sys.modules, "isaacsim.core.experimental.actuators.viewing.web", raising=False)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs viser, .*articulation-actuators\[view\]"):
        sim.view(native=False)
