"""`Page`: a live view as a web page, by viser."""

from __future__ import annotations

import contextlib
import html
import io
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Any

import numpy as np
import viser
import websockets.asyncio.server
from viser import uplot

from ..errors import HostError
from .live import HISTORY, Effort, Live
from .visitors import host_names, refusal

_log = logging.getLogger(__name__)
Ask = Callable[..., None]

# panels of numbers and charts are drawn less often than robots [s of wall clock]
_PANEL_PERIOD = 1 / 10
# a slider that somebody moves is left alone that long [s of wall clock]
_HANDS_OFF = 0.5
_GHOST = (240, 150, 40)
_BLUE, _RED, _GRAY, _BAND = "#2b6cb0", "#d63031", "#8a95a1", "#dfe5ec"
_POINTS = 200
# what of a motor's limits a chart shows at least, so that noise looks like none
_FLAT = 0.02
# how long something that was not done is told [s]
_TOLD = 10.0
# one page is opened at a time
_opening = threading.Lock()


class Page:
    """A web page with the robots, their targets, and what their motors do.

    Args:
        live: What is shown.
        ask: Takes what is asked for, from any thread.
        host: Address it is served at.
        port: Port; the next one that is free where it is taken.
        allowed_hosts: Names of hosts by which it may be reached, or whose pages may reach it, besides this address.
    """

    def __init__(self, live: Live, ask: Ask, host: str, port: int, allowed_hosts: Sequence[str] = ()) -> None:
        self._ask = ask
        with _quietly():
            self._server = server = _open_server(host, port, host_names(allowed_hosts))
        self.url: str | None = f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"
        """Address."""
        self.is_open = True
        """Whether it is served still."""
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        server.gui.main_panel.dock_right()
        server.scene.set_up_direction("+z")
        # the usual surroundings are fetched from elsewhere
        server.scene.configure_environment_map(None)
        server.scene.add_light_hemisphere(
            "/light", sky_color=(255, 255, 255), ground_color=(190, 190, 195), intensity=1.6
        )
        server.gui.set_panel_label("live view")
        self._nodes: list[Any] = []
        self._all: Any = None
        self._env: Any = None
        self._robot: Any = None
        self._panel: Any = None
        self._drawing: Any = None
        self._choices: Any = None
        self._subject: Any = None
        self._panel_shown = -math.inf
        # of each handle: when somebody moved it, and the value that the program knows of; of sliders the ends and the
        # step too, for a page can change what stands in the handle
        self._moved: dict[int, float] = {}
        self._known: dict[int, Any] = {}
        self._ranges: dict[int, tuple[float, float, float]] = {}
        self._ghost_wanted = True
        self._chosen = 0
        self._show(live, False)
        server.on_client_connect(self._place_camera)

    @property
    def is_watched(self) -> bool:
        """Whether a page is open somewhere."""
        return bool(self._server.get_clients())

    def show(self, live: Live, paused: bool) -> None:
        """Show what is now; a page that cannot be shown is closed."""
        try:
            self._show(live, paused)
        except Exception:
            # a page can write into everything that viser holds of what is on it; the loop is somebody else's
            _log.exception("the live view at %s is closed: it cannot be shown any more", self.url)
            self.close()

    def tell(self, message: str) -> None:
        """Say that something asked for was not done."""
        for client in self._server.get_clients().values():
            client.add_notification("Not done", message, color="red", auto_close_seconds=_TOLD)

    def _show(self, live: Live, paused: bool) -> None:
        if live.drawing is not self._drawing:
            self._draw(live)
        choices = live.drawing, live.envs, len(live.robots)
        if choices != self._choices:
            self._choices = choices
            self._build_choices(live)
        subject = live.drawing, live.env, live.robot, tuple(live.robots), tuple(live.joints)
        if subject != self._subject:
            self._subject = subject
            self._build_panel(live)
        with self._server.atomic():
            self._move(live)
            if time.monotonic() - self._panel_shown >= _PANEL_PERIOD:
                self._panel_shown = time.monotonic()
                self._fill_panel(live, paused)

    def close(self) -> None:
        """Serve no more."""
        if self.is_open:
            self.is_open = False
            with _quietly():
                self._server.stop()

    # the scene

    def _draw(self, live: Live) -> None:
        """Put everything there is into the scene."""
        self._drawing, scene = live.drawing, self._server.scene
        for node in self._nodes:
            node.remove()
        self._nodes = []
        self._bodies, self._ghosts = {}, {}
        (low, high), ground = self._drawing.box, self._drawing.ground
        size = float(np.linalg.norm(high - low))
        cell = 10.0 ** round(math.log10(size / 10))
        grid: dict[str, Any] = {
            "cell_size": cell,
            "section_size": 10 * cell,
            "cell_color": (226, 230, 234),
            "section_color": (185, 192, 200),
        }
        place: dict[str, Any] = {"position": (0.0, 0.0, ground), "infinite_grid": True, "fade_distance": 20 * size}
        self._nodes.append(scene.add_grid("/ground", **grid, **place, shadow_opacity=0.25))
        for number, piece in enumerate(self._drawing.pieces):
            red, green, blue, opacity = piece.color
            # shadows of its own would be speckled on what is seen from both sides
            shape: dict[str, Any] = {"faces": piece.faces, "side": "double", "receive_shadow": False}
            color = tuple(round(255 * part) for part in (red, green, blue))
            frame = self._frame(self._bodies, f"/body/{piece.body}", piece.body)
            seen = None if opacity >= 1 else opacity
            scene.add_mesh_simple(f"{frame}/{number}", piece.vertices, **shape, color=color, opacity=seen)
            if piece.robot:
                frame = self._frame(self._ghosts, f"/target/{piece.body}", piece.body)
                scene.add_mesh_simple(
                    f"{frame}/{number}", piece.ghost, **shape, color=_GHOST, opacity=0.35, cast_shadow=False
                )
        middle, away = (low + high) / 2, np.array([1.0, -1.0, 0.55])
        self._camera = middle + 1.15 * size * away / np.linalg.norm(away), middle
        for client in self._server.get_clients().values():
            self._place_camera(client)

    def _frame(self, frames: dict[int, Any], name: str, body: int) -> str:
        """Name of the frame of a body, which is made if it is not there."""
        if body not in frames:
            frames[body] = self._server.scene.add_frame(name, show_axes=False)
            self._nodes.append(frames[body])
        return name

    def _place_camera(self, client: viser.ClientHandle) -> None:
        client.camera.position, client.camera.look_at = self._camera

    def _move(self, live: Live) -> None:
        """Put the bodies where they are, and the ghosts where they shall be."""
        poses = live.poses()
        for body, frame in self._bodies.items():
            _place(frame, poses[body])
        targets, away = live.target_poses(), live.drawing.away()
        for body, frame in self._ghosts.items():
            is_seen = self._ghost_wanted and bool(away[body])
            if frame.visible != is_seen:
                frame.visible = is_seen
            if is_seen:
                _place(frame, targets[body])

    # the panel

    def _build_choices(self, live: Live) -> None:
        """Make buttons, and what chooses what is looked at."""
        if self._all is not None:
            self._all.remove()
        gui = self._server.gui
        self._panel = self._subject = self._env = self._robot = None
        self._all = gui.add_folder(None)
        with self._all:
            self._status = gui.add_html("")
            buttons = gui.add_button_group(" ", ("pause", "step", "reset"))
            buttons.on_click(lambda event: self._ask(event.target.value))
            if live.envs > 1:
                last = live.envs - 1
                self._env = gui.add_number("environment", live.env, min=0, max=last, step=1)
                # what is typed may be beyond it
                self._listen(self._env, lambda env: self._ask("select", min(max(int(env), 0), last), live.robot))
            if len(live.robots) > 1:
                self._robot = gui.add_dropdown("robot", live.robots, initial_value=live.robots[live.robot])
                self._listen(self._robot, lambda path: self._ask("select", live.env, _index(live.robots, path)))
            self._listen(gui.add_checkbox("show targets", self._ghost_wanted), self._want_ghost)

    def _build_panel(self, live: Live) -> None:
        """Make sliders and charts of the robot that is shown."""
        if self._panel is not None:
            self._panel.remove()
        gui = self._server.gui
        if self._robot is not None and list(self._robot.options) != live.robots:
            self._robot.options = live.robots
        self._chosen = next((at for at, joint in enumerate(live.joints) if joint.driven), 0)
        self._scales: dict[int, float] = {}
        with self._all:
            self._panel = gui.add_folder(None)
        with self._panel:
            with gui.add_folder("efforts [N·m or N]", visible=any(joint.driven for joint in live.joints)):
                self._bars = gui.add_html("")
            with gui.add_folder("position targets [rad or m]"):
                self._sliders = [self._slider(live, column) for column in range(len(live.joints))]
            self._gains: dict[str, Any] = {}
            driven = [joint.name for joint in live.joints if joint.driven]
            if driven:
                with gui.add_folder("one motor"):
                    name = live.joints[self._chosen].name
                    self._choice = gui.add_dropdown("joint", driven, initial_value=name)
                    self._listen(self._choice, lambda name: self._choose(live, name))
                    self._chart = self._add_chart()
                    self._pipeline = gui.add_html("")
                    self._gain_folder = gui.add_folder(None)
                    self._add_gains(live)
        self._panel_shown = -math.inf

    def _slider(self, live: Live, column: int) -> Any:
        joint, now = live.joints[column], float(live.targets()[column])
        lower, upper = min(joint.lower, now), max(joint.upper, now)
        step = _step(upper - lower)
        lower, upper = math.ceil(lower / step) * step, math.floor(upper / step) * step
        lower, upper = round(lower, _digits(step)), round(upper, _digits(step))
        if upper - lower < step:
            upper = lower + step
        slider = self._server.gui.add_slider(joint.name, lower, upper, step, round(now, _digits(step)))
        self._ranges[id(slider)] = lower, upper, step

        def ask(value: float) -> None:
            if joint.driven:
                self._chosen = column
            # what is typed may be beyond it
            self._ask("set_target", column, min(max(float(value), lower), upper))

        return self._listen(slider, ask)

    def _add_chart(self) -> Any:
        nothing = np.zeros(2)
        series = (
            uplot.Series(),
            uplot.Series(label="computed", stroke=_GRAY, width=1.5, dash=(4, 3)),
            uplot.Series(label="applied", stroke=_BLUE, width=2),
        )
        scales = {"x": uplot.Scale(time=False, range=(-HISTORY, 0.0))}
        axes = (uplot.Axis(label="time [s]", labelSize=18, size=30), uplot.Axis(size=44))
        options: dict[str, Any] = {"scales": scales, "axes": axes, "legend": uplot.Legend(show=False), "height": 150}
        key = f"<b style='color:{_BLUE}'>applied</b>, and <span style='color:{_GRAY}'>- - computed</span>"
        self._server.gui.add_html(f"<div style='font-size:.8em;padding:0 .6em'>effort [N·m or N]: {key}</div>")
        return self._server.gui.add_uplot((nothing,) * 3, series, **options)

    def _add_gains(self, live: Live) -> None:
        """Sliders for the gains of the chosen joint, in place of those of another."""
        for slider in self._gains.values():
            slider.remove()
        column = self._gains_of = self._chosen
        self._gains = {}
        stages = " → ".join(live.joints[column].stages)
        self._pipeline.content = f"<div style='font-size:.8em;padding:0 .6em'>{stages}</div>"
        with self._gain_folder:
            for name in live.joints[column].gains:
                now = live.gain(column, name)
                top = 4 * now if now > 0 else 1.0
                step = _step(top)
                slider = self._server.gui.add_slider(name, 0.0, round(top, 6), step, round(now, _digits(step)))
                self._ranges[id(slider)] = 0.0, round(top, 6), step

                def ask(value: float, name: str = name) -> None:
                    self._ask("set_gain", column, name, float(value))

                self._gains[name] = self._listen(slider, ask)

    def _fill_panel(self, live: Live, paused: bool) -> None:
        """Put the numbers of now into it."""
        word = f"<b style='color:{_RED}'>paused</b>" if paused else "running"
        self._status.content = f"<div style='padding:0 .8em .3em'>{live.time:.2f} s, {word}</div>"
        if self._env is not None:
            self._set(self._env, live.env)
        if self._robot is not None:
            self._set(self._robot, live.robots[live.robot])
        for slider, value in zip(self._sliders, live.targets(), strict=True):
            self._follow(slider, float(value))
        efforts = live.efforts()
        if efforts:
            self._bars.content = "".join(self._bar(live.joints[effort.column].name, effort) for effort in efforts)
        if any(joint.driven for joint in live.joints):
            self._set(self._choice, live.joints[self._chosen].name)
            if self._chosen != self._gains_of:
                self._add_gains(live)
            for name, slider in self._gains.items():
                self._follow(slider, live.gain(self._chosen, name))
            time_before, *curves = live.history(self._chosen)
            if len(time_before) > 1:
                every = slice(None, None, -(-len(time_before) // _POINTS))
                ends = np.array([min(map(np.min, curves)), max(map(np.max, curves))])
                least = _FLAT * self._scales.get(self._chosen, 0.0)
                pad = max(0.05 * np.ptp(ends), least, 1e-9)
                span = uplot.Scale(range=(float(ends[0] - pad), float(ends[1] + pad)))
                self._chart.scales = {**(self._chart.scales or {}), "y": span}
                self._chart.data = tuple(np.asarray(array[every], float) for array in (time_before, *curves))

    def _bar(self, name: str, effort: Effort) -> str:
        """A line of HTML: name, effort within the envelope, number; red where it is limited."""
        ends = [abs(end) for end in (effort.lower, effort.upper) if math.isfinite(end)]
        scale = max([self._scales.get(effort.column, 0.0), *ends, abs(effort.applied), 1e-9])
        self._scales[effort.column] = scale
        low, high, now = (
            50 + 50 * float(np.clip(x / scale, -1, 1)) for x in (effort.lower, effort.upper, effort.applied)
        )
        color = _RED if effort.limited_by else _BLUE
        digits = min(max(2 - math.floor(math.log10(scale)), 0), 6)
        left, width = min(50.0, now), abs(now - 50)
        return (
            "<div style='display:flex;align-items:center;font-size:.8em;line-height:1.6;padding:0 .6em' "
            f"title='{html.escape(effort.limited_by) or 'not limited'}'>"
            "<span style='width:38%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap'>"
            f"{html.escape(name)}</span>"
            "<span style='flex:1;position:relative;height:.9em;background:#f4f6f8'>"
            f"<i style='position:absolute;left:{low:.1f}%;width:{high - low:.1f}%;height:100%;background:{_BAND}'></i>"
            f"<i style='position:absolute;left:{left:.1f}%;width:{width:.1f}%;height:100%;background:{color}'></i>"
            "<i style='position:absolute;left:50%;width:1px;height:100%;background:#777'></i></span>"
            f"<span style='width:20%;text-align:right;color:{color}'>{effort.applied:z.{digits}f}</span></div>"
        )

    # from the page; other threads run these

    def _listen(self, handle: Any, ask: Callable[[Any], None]) -> Any:
        """Ask when somebody changes a value on the page; what the program changes is no request."""

        def changed(event: viser.GuiEvent[Any]) -> None:
            if event.client is not None:
                self._moved[id(handle)] = time.monotonic()
                value = self._known[id(handle)] = event.target.value
                ask(value)

        self._known[id(handle)] = handle.value
        handle.on_update(changed)
        return handle

    def _follow(self, handle: Any, value: float) -> None:
        """Show a value that the program has set, unless somebody holds what shows it."""
        lower, upper, step = self._ranges[id(handle)]
        value = min(max(value, lower), upper)
        # NaN is not near anything
        if not abs(handle.value - value) <= step:
            self._set(handle, round(value, _digits(step)))

    def _set(self, handle: Any, value: Any) -> None:
        # a value that somebody has just given, of which `changed` will hear, must not be lost
        is_held = time.monotonic() - self._moved.get(id(handle), -math.inf) < _HANDS_OFF
        known = self._known[id(handle)]
        is_heard = handle.value == known or (handle.value != handle.value and known != known)
        if not is_held and is_heard and known != value:
            self._known[id(handle)] = value
            handle.value = value

    def _want_ghost(self, wanted: bool) -> None:
        self._ghost_wanted = wanted

    def _choose(self, live: Live, name: str) -> None:
        self._chosen = next((at for at, joint in enumerate(live.joints) if joint.name == name), self._chosen)


def _step(span: float) -> float:
    """A power of ten that divides a range finely."""
    return 10.0 ** math.floor(math.log10(max(span, 1e-6) / 200))


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step)))


def _index(options: Sequence[str], value: Any) -> int:
    """Number of an option, that after the last one for what is none."""
    return options.index(value) if value in options else len(options)


def _open_server(host: str, port: int, allowed: set[str]) -> viser.ViserServer:
    """Serve a page that answers nobody whom `refusal` refuses.

    Raises:
        HostError: viser serves in another way than known, and would answer everybody.
    """
    with _opening, _looking(host, allowed) as looked:
        server = viser.ViserServer(host=host, port=port, label="live view", verbose=False)
    if not looked:
        server.stop()
        raise HostError(f"viser {viser.__version__}: must serve by websockets.asyncio.server.serve. Install viser 1.1.")
    return server


@contextlib.contextmanager
def _looking(own: str, allowed: set[str]) -> Iterator[list[Any]]:
    """Let servers that viser opens meanwhile look at each request first: viser takes nothing that does so.

    Gives a list, with an entry for each of them.
    """
    module: Any = websockets.asyncio.server
    serve, looked = module.serve, []

    def checked(handler: Any, *arguments: Any, process_request: Any = None, **options: Any) -> Any:
        def look(connection: Any, request: Any) -> Any:
            hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
            told = refusal(hosts, origins, own, allowed)
            if told is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{told}\n")
            return process_request and process_request(connection, request)

        if not handler.__module__.startswith("viser."):
            return serve(handler, *arguments, process_request=process_request, **options)
        looked.append(handler)
        return serve(handler, *arguments, process_request=look, **options)

    module.serve = checked
    try:
        yield looked
    finally:
        module.serve = serve


def _quietly() -> contextlib.redirect_stdout[io.StringIO]:
    """Keep to itself what viser prints however it is told not to."""
    return contextlib.redirect_stdout(io.StringIO())


def _place(frame: Any, pose: np.ndarray) -> None:
    frame.position, frame.wxyz = pose[:3], pose[3:]
