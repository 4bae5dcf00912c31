"""`Page`: a live view as a web page, by viser."""

from __future__ import annotations

import atexit
import contextlib
import functools
import html
import io
import logging
import math
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import numpy as np
import viser
import websockets.asyncio.server
from viser import uplot
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from ...base.errors import HostError
from ..plots.units import BOTH, Units, are_mixed, heading, units_of
from .live import HISTORY, Effort, Joint, Live
from .visitors import host_names, refusal

_log = logging.getLogger(__name__)
Ask = Callable[..., None]
_Chart = viser.GuiUplotHandle
_Value = TypeVar("_Value")
_Handle = TypeVar("_Handle", bound=viser.GuiInputHandle[Any])

# panels of numbers and charts are drawn less often than robots [s of wall clock]
_PANEL_PERIOD = 1 / 10
# time after a change by the user in which a slider is not updated [s of wall clock]
_HANDS_OFF = 0.5
_GHOST = (240, 150, 40)
_BLUE, _RED, _GRAY, _BAND, _ORANGE = "#2b6cb0", "#d63031", "#5f6b77", "#cfd8e2", "#c46a10"
# viser leaves no room beside the scroll bar, breaks long names, and writes labels in a light gray: names have the width
# of those of the bars, in one line, and their slider tells a long one
_NAMES = 38
_STYLE = (
    "<style>"
    ".mantine-ScrollArea-content:has(.live-view)>*{padding-right:.4em;box-sizing:border-box}"
    # on a phone, the lower half of the page
    "@media(max-width:36em){.mantine-Paper-root:has(.live-view){width:100%!important;max-height:50%!important}"
    ".mantine-ScrollArea-content:has(.live-view)>*{width:100%!important}}"
    f"div:has(>.mantine-Text-root>label){{width:{_NAMES}%!important}}"
    ".mantine-Text-root:has(>label){color:#3b4652!important;letter-spacing:0!important;font-size:.8em!important;"
    "white-space:nowrap;overflow:hidden;text-overflow:ellipsis}"
    # breaks a line in spite of nowrap
    ".mantine-Text-root:has(>label) wbr{display:none}"
    ".mantine-Slider-markLabel{color:#5f6b77}"
    ".live-row{display:flex;align-items:center;gap:.5em;font-size:.8em;line-height:1.6;"
    "padding:0 var(--mantine-spacing-xs);font-variant-numeric:tabular-nums}"
    ".live-text{font-size:.8em;padding:0 var(--mantine-spacing-xs) .3em}"
    "</style>"
)
# narrowest picture that shows all robots, width per height
_NARROWEST = 0.25
# longest name that fits on one line of a docked panel [characters]
_LONG = 20
_POINTS = 200
_BUTTONS = ("pause", "step", "reset")
_CONTINUE = "continue"
# smallest range of a chart, of the limits of the motor, so that noise stays small
_FLAT = 0.02
# duration of messages about failed requests [s]
_MESSAGE_PERIOD = 10.0
# time for the last words of a page [s]
_LAST = 0.2
# of requests that are no page's, which say nothing where nobody listens
_requests = logging.getLogger(f"{__name__}.requests")
_requests.addHandler(logging.NullHandler())
# for opening one page at a time
_opening = threading.Lock()


class Page:
    """A web page with robots, their targets, and the efforts of their motors; `ask` takes requests from any thread."""

    def __init__(self, live: Live, ask: Ask, host: str, port: int, allowed_hosts: Sequence[str] = ()) -> None:
        self._ask = ask
        with _quietly():
            with _opening, _checking(host, host_names(allowed_hosts)) as checked:
                server = viser.ViserServer(host=host, port=port, label="live view", verbose=False)
            if not checked:
                server.stop()
                raise HostError(
                    f"viser {viser.__version__}: must serve by websockets.asyncio.server.serve. Install viser 1.1."
                )
            self._server = server
        self.url: str | None = f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"
        """Address."""
        self.is_open = True
        """True until it is closed."""
        server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
        server.gui.main_panel.dock_right()
        server.scene.set_up_direction("+z")
        # the default environment would be downloaded
        server.scene.configure_environment_map(None)
        server.scene.add_light_hemisphere(
            "/light", sky_color=(255, 255, 255), ground_color=(190, 190, 195), intensity=1.6
        )
        server.gui.set_panel_label("live view")
        self._nodes: list[viser.SceneNodeHandle] = []
        self._all: Any = None
        self._env: viser.GuiInputHandle[float] | None = None
        self._robot: viser.GuiDropdownHandle[str] | None = None
        self._panel: viser.GuiFolderHandle | None = None
        self._drawing: object = None
        self._choices: object = None
        self._subject: object = None
        self._panel_shown = -math.inf
        # of each handle the time of the last change by the user, and the last value known here; of sliders ends and
        # step too, as a page can change those of the handle
        self._moved: dict[int, float] = {}
        self._known: dict[int, object] = {}
        self._ranges: dict[int, tuple[float, float, float]] = {}
        self._ghost_wanted = True
        self._chosen = 0
        self._show(live, False)
        server.on_client_connect(self._place_camera)
        # a program that ends says so, too
        self._at_exit = functools.partial(_call, weakref.WeakMethod(self.close))
        atexit.register(self._at_exit)

    @property
    def is_watched(self) -> bool:
        """True while a page is open."""
        return bool(self._server.get_clients())

    def show(self, live: Live, paused: bool) -> None:
        """Show the current state; a page that fails is closed."""
        try:
            self._show(live, paused)
        except Exception:
            # a page can write to all of viser's state of it; the loop of the user continues
            _log.exception("the live view at %s is closed: it cannot be shown any more", self.url)
            self.close()

    def tell(self, message: str) -> None:
        """Show why a request failed."""
        for client in self._server.get_clients().values():
            client.add_notification("Not done", message, color="red", auto_close_seconds=_MESSAGE_PERIOD)

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
            if time.monotonic() - self._panel_shown >= _PANEL_PERIOD:
                self._panel_shown = time.monotonic()
                self._fill_panel(live, paused)

    def close(self) -> None:
        """Stop the server."""
        if self.is_open:
            self.is_open = False
            atexit.unregister(self._at_exit)
            with _quietly():
                if clients := self._server.get_clients():
                    self._status.content = _status("", f"<b style='color:{_RED}'>the program has ended</b>")
                    for client in clients.values():
                        client.add_notification(
                            "Ended", "The program has ended.", color="gray", auto_close_seconds=None
                        )
                    self._server.flush()
                    time.sleep(_LAST)
                self._server.stop()

    # the scene

    def _draw(self, live: Live) -> None:
        """Build the scene."""
        self._drawing = drawing = live.drawing
        scene = self._server.scene
        for node in self._nodes:
            node.remove()
        self._nodes = []
        self._bodies, self._ghosts = {}, {}
        (low, high), ground = drawing.box, drawing.ground
        size = float(np.linalg.norm(high - low))
        cell = 10.0 ** round(math.log10(size / 10))
        grid = scene.add_grid(
            "/ground",
            position=(0.0, 0.0, ground),
            infinite_grid=True,
            fade_distance=20 * size,
            cell_size=cell,
            section_size=10 * cell,
            cell_color=(226, 230, 234),
            section_color=(185, 192, 200),
            shadow_opacity=0.25,
        )
        self._nodes.append(grid)
        # its own shadows would be speckled on double-sided meshes
        add_mesh = functools.partial(scene.add_mesh_simple, side="double", receive_shadow=False)
        for number, piece in enumerate(drawing.pieces):
            red, green, blue, opacity = piece.color
            color = round(255 * red), round(255 * green), round(255 * blue)
            frame = self._frame(self._bodies, f"/body/{piece.body}", piece.body)
            seen = None if opacity >= 1 else opacity
            add_mesh(f"{frame}/{number}", piece.vertices, piece.faces, color=color, opacity=seen)
            if piece.robot:
                frame = self._frame(self._ghosts, f"/target/{piece.body}", piece.body)
                mesh = f"{frame}/{number}", piece.ghost, piece.faces
                add_mesh(*mesh, color=_GHOST, opacity=0.35, cast_shadow=False)
        self._view_of = (low + high) / 2, size
        for client in self._server.get_clients().values():
            self._place_camera(client)

    def _frame(self, frames: dict[int, viser.FrameHandle], name: str, body: int) -> str:
        """Return the name of the frame of a body, created on first use."""
        if body not in frames:
            frames[body] = self._server.scene.add_frame(name, show_axes=False)
            self._nodes.append(frames[body])
        return name

    def _place_camera(self, client: viser.ClientHandle) -> None:
        middle, size = self._view_of
        camera = client.camera
        # a page can claim to have no height
        aspect = camera.image_width / max(camera.image_height, 1)
        camera.position, camera.look_at = _camera(middle, size, aspect, camera.fov)

    # the panel

    def _build_choices(self, live: Live) -> None:
        """Make the buttons, and the choice of environment and robot."""
        if self._all is not None:
            self._all.remove()
        gui = self._server.gui
        self._panel = self._subject = self._env = self._robot = None
        self._all = gui.add_folder(None)
        with self._all:
            gui.add_html(_STYLE)
            self._status = gui.add_html("")
            self._buttons = gui.add_button_group("simulation", _BUTTONS)
            # the button that continues is the one that pauses
            words = {_CONTINUE: _BUTTONS[0]}
            self._buttons.on_click(lambda event: self._ask(words.get(event.target.value, event.target.value)))
            if live.envs > 1:
                last = live.envs - 1
                self._env = gui.add_number("environment", live.env, min=0, max=last, step=1)
                # typed numbers may be out of range
                self._listen(self._env, lambda env: self._ask("select", min(max(int(env), 0), last), live.robot))
            if len(live.robots) > 1:
                self._robot = gui.add_dropdown("robot", live.robots, initial_value=live.robots[live.robot])
                self._listen(self._robot, lambda path: self._ask("select", live.env, _index(live.robots, path)))
            self._listen(gui.add_checkbox("show targets", self._ghost_wanted), self._want_ghost)
            self._base = gui.add_checkbox("hold the base", False, visible=False)
            self._listen(self._base, lambda wanted: self._ask("hold_base", bool(wanted)))

    def _build_panel(self, live: Live) -> None:
        """Make sliders and charts of the shown robot."""
        if self._panel is not None:
            self._panel.remove()
        gui = self._server.gui
        if self._robot is not None and list(self._robot.options) != live.robots:
            self._robot.options = live.robots
        driven = [at for at, joint in enumerate(live.joints) if joint.driven]
        self._chosen = next(iter(driven), 0)
        self._scales: dict[int, float] = {}
        with self._all:
            self._panel = panel = gui.add_folder(None)
        with panel:
            with gui.add_folder(heading("efforts", "effort", _turns(live, driven)), visible=bool(driven)):
                self._bars = gui.add_html("")
                gui.add_html(_legend([live.joints[at] for at in driven]))
            everything = range(len(live.joints))
            with gui.add_folder(heading("position targets", "position", _turns(live, everything))):
                self._sliders = [self._slider(live, column) for column in everything]
            self._gains: dict[str, viser.GuiSliderHandle[float]] = {}
            if driven:
                names = [live.joints[at].name for at in driven]
                # the chart and the gains of one motor, which can be chosen
                with gui.add_folder("one motor"):
                    self._choice = gui.add_dropdown("joint", names, initial_value=names[0])
                    self._listen(self._choice, lambda name: self._choose(live, name))
                    self._key, self._chart = self._add_chart(*_curves(False, BOTH.effort))
                    self._motion_key, self._motion = self._add_chart(*_motions(BOTH.position))
                    self._pipeline = gui.add_html("")
                    self._gain_folder = gui.add_folder(None)
                    self._add_gains(live)
        self._panel_shown = -math.inf

    def _slider(self, live: Live, column: int) -> viser.GuiSliderHandle[float]:
        joint, now = live.joints[column], float(live.targets()[column])
        lower, upper = min(joint.lower, now), max(joint.upper, now)
        step = _step(upper - lower)
        lower, upper = math.ceil(lower / step) * step, math.floor(upper / step) * step
        lower, upper = round(lower, _digits(step)), round(upper, _digits(step))
        if upper - lower < step:
            upper = lower + step
        unit = f" [{_units(live, [column]).position}]" if are_mixed(_turns(live, range(len(live.joints)))) else ""
        label = joint.name + unit
        hint = label if len(label) > _LONG else None
        slider = self._server.gui.add_slider(label, lower, upper, step, round(now, _digits(step)), hint=hint)
        self._ranges[id(slider)] = lower, upper, step

        def ask(value: float) -> None:
            if joint.driven:
                self._chosen = column
            # typed numbers may be out of range
            self._ask("set_target", column, min(max(float(value), lower), upper))

        return self._listen(slider, ask)

    def _add_chart(self, key: str, series: tuple[uplot.Series, ...]) -> tuple[viser.GuiHtmlHandle, _Chart]:
        """Return the key of a chart, and the chart."""
        nothing = np.zeros(2)
        scales = {"x": uplot.Scale(time=False, range=(-HISTORY, 0.0))}
        axes = (uplot.Axis(label="time [s]", labelSize=18, size=30), uplot.Axis(size=54, space=24))
        shown = self._server.gui.add_html(key)
        chart = self._server.gui.add_uplot(
            (nothing,) * len(series),
            series,
            scales=scales,
            axes=axes,
            legend=uplot.Legend(show=False),
            height=160,
            # the uppermost number needs half a line
            padding=(10, 12, 0, 0),
        )
        return shown, chart

    def _add_gains(self, live: Live) -> None:
        """Replace the sliders by those for the gains of the chosen joint."""
        for slider in self._gains.values():
            slider.remove()
        column = self._gains_of = self._chosen
        self._gains = {}
        self._key.content, series = _curves(live.joints[column].passive, _units(live, [column]).effort)
        self._motion_key.content, _ = _motions(_units(live, [column]).position)
        if len(series) != len(self._chart.series):
            self._chart.data = (np.zeros(2),) * len(series)
            self._chart.series = series
        stages = " → ".join(live.joints[column].stages)
        self._pipeline.content = f"<div class='live-text'>{stages}</div>"
        with self._gain_folder:
            for name in live.joints[column].gains:
                now = live.gain(column, name)
                top = 4 * now if now > 0 else 1.0
                step = _step(top)
                # single precision has no more digits
                top = max(float(f"{top:.6g}"), step)
                slider = self._server.gui.add_slider(name, 0.0, top, step, round(now, _digits(step)))
                self._ranges[id(slider)] = 0.0, top, step

                def ask(value: float, name: str = name) -> None:
                    self._ask("set_gain", column, name, float(value))

                self._gains[name] = self._listen(slider, ask)

    def _fill_panel(self, live: Live, paused: bool) -> None:
        """Show the current numbers."""
        word = f"<b style='color:{_RED}'>paused</b>" if paused else "running"
        self._status.content = _status(live.title, f"{live.time:.2f} s, {word}")
        options = (_CONTINUE, *_BUTTONS[1:]) if paused else _BUTTONS
        if tuple(self._buttons.options) != options:
            self._buttons.options = options
        self._fill_choices(live)
        for slider, value in zip(self._sliders, live.targets(), strict=True):
            self._follow(slider, float(value))
        if efforts := live.efforts():
            self._fill_bars(live, efforts)
        if any(joint.driven for joint in live.joints):
            self._set(self._choice, live.joints[self._chosen].name)
            if self._chosen != self._gains_of:
                self._add_gains(live)
            for name, gain in self._gains.items():
                self._follow(gain, live.gain(self._chosen, name))
            least = _FLAT * self._scales.get(self._chosen, 0.0)
            _draw_curves(self._chart, live.history(self._chosen), least)
            shown = live.joints[self._chosen]
            _draw_curves(self._motion, live.motion(self._chosen), _FLAT * (shown.upper - shown.lower))

    def _fill_choices(self, live: Live) -> None:
        """Show what is held, and the environment and robot that are shown."""
        if self._base.visible != live.is_floating:
            self._base.visible = live.is_floating
        self._set(self._base, live.is_held)
        if self._env is not None:
            self._set(self._env, live.env)
        if self._robot is not None:
            self._set(self._robot, live.robots[live.robot])

    def _fill_bars(self, live: Live, efforts: Sequence[Effort]) -> None:
        """Show the efforts of all motors."""
        with_units = are_mixed(_turns(live, [effort.column for effort in efforts]))
        units = [f" {_units(live, [effort.column]).effort}" if with_units else "" for effort in efforts]
        is_warm = any(effort.temperature is not None for effort in efforts)
        rows = zip(efforts, units, strict=True)
        self._bars.content = "".join(self._bar(live.joints[one.column], one, unit, is_warm) for one, unit in rows)

    def _bar(self, joint: Joint, effort: Effort, unit: str, is_warm: bool) -> str:
        """HTML of name, effort in its envelope, friction below, and temperature, if any `is_warm`; red if limited."""
        friction = 0.0 if effort.friction is None else effort.friction
        ends = [abs(end) for end in (effort.lower, effort.upper) if math.isfinite(end)]
        scale = max([self._scales.get(effort.column, 0.0), *ends, abs(effort.motor), abs(friction), 1e-9])
        self._scales[effort.column] = scale
        low, high = _place_of(effort.lower, scale), _place_of(effort.upper, scale)
        color = _RED if effort.limited_by else _BLUE
        digits = min(max(2 - math.floor(math.log10(scale)), 1), 6)
        hint = f"{html.escape(joint.name)}: {html.escape(effort.limited_by) or 'not limited'}"
        if effort.friction is not None:
            hint += f"; friction {friction:z.{digits}f}"
        word = f" <i style='color:{_GRAY}'>sticks</i>" if effort.sticking else ""
        return (
            f"<div class='live-row' title='{hint}'>"
            f"<span style='width:{_NAMES}%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap'>"
            f"{html.escape(joint.name)}{word}</span>"
            "<span style='flex:1;position:relative;height:.9em;background:#f4f6f8'>"
            f"<i style='position:absolute;left:{low:.1f}%;width:{high - low:.1f}%;height:100%;background:{_BAND}'></i>"
            f"{_strip(effort.motor / scale, color, 'height:100%')}"
            f"{_strip(friction / scale, _ORANGE, 'bottom:0;height:30%') if friction else ''}"
            "<i style='position:absolute;left:50%;width:1px;height:100%;background:#777'></i></span>"
            f"<span style='min-width:17%;text-align:right;white-space:nowrap;color:{color}'>"
            f"{effort.motor:z.{digits}f}{unit}</span>{_temperature(joint, effort) if is_warm else ''}</div>"
        )

    # callbacks of the page, in other threads

    def _listen(self, handle: _Handle, ask: Callable[[Any], None]) -> _Handle:
        """Make a request on a change by the user; changes by the program are none."""

        def changed(event: viser.GuiEvent[_Handle]) -> None:
            if event.client is not None:
                self._moved[id(handle)] = time.monotonic()
                value = self._known[id(handle)] = event.target.value
                ask(value)

        self._known[id(handle)] = handle.value
        handle.on_update(changed)
        return handle

    def _follow(self, handle: viser.GuiInputHandle[float], value: float) -> None:
        """Show a value of the program, unless the user holds the slider."""
        lower, upper, step = self._ranges[id(handle)]
        value = min(max(value, lower), upper)
        # NaN is never close
        if not abs(handle.value - value) <= step:
            self._set(handle, round(value, _digits(step)))

    def _set(self, handle: viser.GuiInputHandle[_Value], value: _Value) -> None:
        # a new value of the user, not yet passed to `changed`, must not be lost
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


def _camera(middle: np.ndarray, size: float, aspect: float, fov: float) -> tuple[np.ndarray, np.ndarray]:
    """Return position and target [m] of a camera that sees all robots; the panel covers half of a narrow picture."""
    narrow = min(max(aspect, _NARROWEST), 1.0)
    away, distance = np.array([1.0, -1.0, 0.55]), 1.15 * size / narrow
    lower = 0.5 * distance * math.tan(fov / 2) if narrow < 1 else 0.0
    return middle + distance * away / np.linalg.norm(away), middle - [0.0, 0.0, lower]


def _turns(live: Live, columns: Iterable[int]) -> list[bool | None]:
    """Return which of some joints turn."""
    return [live.joints[column].turns for column in columns]


def _units(live: Live, columns: Iterable[int]) -> Units:
    """Return the units that some joints share."""
    return units_of(_turns(live, columns))


def _legend(joints: Iterable[Joint]) -> str:
    """Return HTML that explains the colors of the bars of some joints."""
    joints = list(joints)
    words = [(_BAND, "allowed at this speed"), (_BLUE, "motor"), (_RED, "motor, limited")]
    if any(joint.passive for joint in joints):
        words.append((_ORANGE, "friction"))
    square = "display:inline-block;width:.7em;height:.7em"
    keys = [
        f"<span style='white-space:nowrap'><i style='{square};background:{color}'></i> {word}</span>"
        for color, word in words
    ]
    if any(joint.derating is not None for joint in joints):
        keys.append("<span style='white-space:nowrap'>°C: winding</span>")
    return (
        f"<div class='live-text' style='display:flex;flex-wrap:wrap;gap:0 1em;color:{_GRAY};padding-top:.3em'>"
        f"{''.join(keys)}</div>"
    )


def _temperature(joint: Joint, effort: Effort) -> str:
    """Return HTML of the temperature of a winding, red where it derates its motor; of room for one without."""
    words, hint, color = "", "", _GRAY
    if joint.derating is not None and effort.temperature is not None:
        start, end = joint.derating
        words, color = f"{effort.temperature:.0f} °C", _RED if effort.temperature > start else _GRAY
        ends = f"; less effort from {start:.6g} °C to {end:.6g} °C" if math.isfinite(start) else ""
        hint = f" title='winding of {html.escape(joint.name)}{ends}'"
    return f"<span style='width:14%;text-align:right;white-space:nowrap;color:{color}'{hint}>{words}</span>"


def _curves(passive: bool, unit: str) -> tuple[str, tuple[uplot.Series, ...]]:
    """Return the key of the chart as HTML, and its series: time, computed and applied effort, or motor and friction."""
    name = "motor" if passive else "applied"
    key = f"<b style='color:{_BLUE}'>{name}</b>, <span style='color:{_GRAY}'>- - computed</span>"
    series = [
        uplot.Series(),
        uplot.Series(label="computed", stroke=_GRAY, width=1.5, dash=(4, 3)),
        uplot.Series(label=name, stroke=_BLUE, width=2),
    ]
    if passive:
        key = f"<b style='color:{_BLUE}'>{name}</b>, <b style='color:{_ORANGE}'>friction</b>{key.partition('</b>')[2]}"
        series.append(uplot.Series(label="friction", stroke=_ORANGE, width=2))
    return f"<div class='live-text'>effort [{unit}]: {key}</div>", tuple(series)


def _motions(unit: str) -> tuple[str, tuple[uplot.Series, ...]]:
    """Return the key of the chart of a position as HTML, and its series: time, target and position."""
    key = f"<b style='color:{_BLUE}'>position</b>, <span style='color:{_ORANGE}'>- - target</span>"
    target = uplot.Series(label="target", stroke=_ORANGE, width=1.5, dash=(4, 3))
    series = uplot.Series(), uplot.Series(label="position", stroke=_BLUE, width=2), target
    return f"<div class='live-text'>position [{unit}]: {key}</div>", series


def _draw_curves(chart: _Chart, found: Sequence[np.ndarray], least: float) -> None:
    """Show times and curves, over a range that is not smaller than twice the least."""
    time_before, *curves = found
    if len(time_before) > 1:
        every = slice(None, None, -(-len(time_before) // _POINTS))
        ends = np.array([min(map(np.min, curves)), max(map(np.max, curves))])
        pad = max(0.05 * np.ptp(ends), least, 1e-9)
        span = uplot.Scale(range=(float(ends[0] - pad), float(ends[1] + pad)))
        chart.scales = {**(chart.scales or {}), "y": span}
        chart.data = tuple(np.asarray(array[every], float) for array in found)


def _status(title: str, words: str) -> str:
    """Return HTML of the name of what is shown, and how it is."""
    return (
        "<div class='live-view' style='padding:0 var(--mantine-spacing-xs) .5em;font-variant-numeric:tabular-nums'>"
        f"<b>{html.escape(title)}</b>{'<br>' if title else ''}{words}</div>"
    )


def _call(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    """Call a method of an object that is still there."""
    if (found := method()) is not None:
        found()


def _place_of(effort: float, scale: float) -> float:
    """Return the place of an effort along a bar [%]."""
    return 50 + 50 * float(np.clip(effort / scale, -1, 1))


def _strip(share: float, color: str, style: str) -> str:
    """Return HTML of a part of a bar, from its middle to a share of half of it, -1 … 1."""
    end = _place_of(share, 1.0)
    left, width = min(50.0, end), abs(end - 50)
    return f"<i style='position:absolute;left:{left:.1f}%;width:{width:.1f}%;{style};background:{color}'></i>"


def _step(span: float) -> float:
    """Return the largest power of ten that divides a range finely."""
    return 10.0 ** math.floor(math.log10(max(span, 1e-6) / 200))


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step)))


def _index(options: Sequence[str], value: object) -> int:
    """Return the number of an option, one more than the last for an unknown one."""
    return options.index(value) if value in options else len(options)


@contextlib.contextmanager
def _checking(own: str, allowed: set[str]) -> Iterator[list[object]]:
    """Check requests to servers that viser opens in the block, listed in its value: viser has no option for it."""
    module: Any = websockets.asyncio.server
    serve, handlers = module.serve, []

    def serve_checked(
        handler: Callable[..., object],
        *arguments: object,
        process_request: Callable[[ServerConnection, Request], object] | None = None,
        **options: object,
    ) -> object:
        def check(connection: ServerConnection, request: Request) -> object:
            hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
            reason = refusal(hosts, origins, own, allowed)
            spoken = request.headers.get("Sec-WebSocket-Protocol", "")
            if spoken.startswith("viser-v") and spoken != f"viser-v{viser.__version__}":
                # of which viser would print a line
                reason = (
                    f"Sec-WebSocket-Protocol = {spoken!r}: must be that of viser {viser.__version__}. Reload the page."
                )
            if reason is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
            return process_request and process_request(connection, request)

        if not handler.__module__.startswith("viser."):
            return serve(handler, *arguments, process_request=process_request, **options)
        handlers.append(handler)
        return serve(handler, *arguments, process_request=check, **{"logger": _requests} | options)

    module.serve = serve_checked
    try:
        yield handlers
    finally:
        module.serve = serve


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppress the output of viser, which ignores its own option, and its warning of pages that were closed."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* on a closed connection")
        yield


def _place(frame: viser.FrameHandle, pose: np.ndarray) -> None:
    frame.position, frame.wxyz = pose[:3], pose[3:]
