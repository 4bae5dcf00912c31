"""Draw the pictures of the extension: icon.svg, icon.png and preview.png.

    python tools/draw_icon.py            # needs Pillow; writes the three files into data/

The icon is one list of shapes in a 256 x 256 square (`icon_shapes`), written once as SVG and once as supersampled
pixels, so both files show the same drawing. The preview puts that icon over three cards, one per component of a
pipeline: delay, controller, clamping. Pillow is imported only where pixels are drawn; the SVG needs the standard
library alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

FOLDER = Path(__file__).resolve().parents[1] / "data"
ICON_SIZE = 256
PREVIEW_SIZE = (960, 540)
SUPERSAMPLE = 4  # pixels are drawn this many times finer, then averaged

# palette: deep blue ground, teal actuator, white links, amber for the effort
GROUND_TOP = "#123C5E"
GROUND_BOTTOM = "#081D33"
LINK = "#E9F2F7"
LINK_SHADE = "#B7CCDA"
TEAL = "#17B2A6"
TEAL_DARK = "#0B6E78"
HUB = "#0A2540"
EFFORT = "#FFB648"
CARD = "#0F3352"
CARD_EDGE = "#1F5478"
AXIS = "#3E7396"
TEXT = "#F2F8FB"
TEXT_SOFT = "#9CC3D5"

Point = tuple[float, float]


# shapes: plain data with two ways to appear


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    center: Point
    radius: float
    fill: str

    def svg(self) -> str:
        """Return the SVG element."""
        (x, y) = self.center
        return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(self.radius)}" fill="{self.fill}"/>'

    def paint(self, canvas: ImageDraw.ImageDraw, scale: float) -> None:
        """Draw onto a canvas of `scale` pixels per unit."""
        (x, y), r = self.center, self.radius
        canvas.ellipse([(x - r) * scale, (y - r) * scale, (x + r) * scale, (y + r) * scale], fill=self.fill)


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str

    def svg(self) -> str:
        """Return the SVG element."""
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in self.points)
        return f'<polygon points="{points}" fill="{self.fill}"/>'

    def paint(self, canvas: ImageDraw.ImageDraw, scale: float) -> None:
        """Draw onto a canvas of `scale` pixels per unit."""
        canvas.polygon([(x * scale, y * scale) for x, y in self.points], fill=self.fill)


@dataclass(frozen=True)
class Arc:
    """A stroked circular arc with a round start; angles in degrees, counter-clockwise from +x, y upwards."""

    center: Point
    radius: float
    start: float
    end: float
    width: float
    stroke: str

    def svg(self) -> str:
        """Return the SVG element."""
        (x0, y0), (x1, y1) = (_polar(self.center, self.radius, angle) for angle in (self.start, self.end))
        large = int(abs(self.end - self.start) > 180.0)
        clockwise = int(self.end < self.start)
        path = f"M{_number(x0)} {_number(y0)}A{_number(self.radius)} {_number(self.radius)} 0 {large} {clockwise} "
        return (
            f'<path d="{path}{_number(x1)} {_number(y1)}" fill="none" stroke="{self.stroke}" '
            f'stroke-width="{_number(self.width)}"/>' + Disc((x0, y0), self.width / 2.0, self.stroke).svg()
        )

    def paint(self, canvas: ImageDraw.ImageDraw, scale: float) -> None:
        """Draw onto a canvas of `scale` pixels per unit."""
        count = 96
        angles = [self.start + (self.end - self.start) * i / count for i in range(count + 1)]
        outer = [_polar(self.center, self.radius + self.width / 2.0, angle) for angle in angles]
        inner = [_polar(self.center, self.radius - self.width / 2.0, angle) for angle in reversed(angles)]
        Polygon(tuple(outer + inner), self.stroke).paint(canvas, scale)
        Disc(_polar(self.center, self.radius, self.start), self.width / 2.0, self.stroke).paint(canvas, scale)


Shape = Disc | Polygon | Arc


def icon_shapes() -> list[Shape]:
    """Return the icon, back to front: two links, the actuator between them, the arrow of its effort."""
    joint: Point = (116.0, 128.0)
    foot: Point = (66.0, 216.0)
    tip: Point = (211.0, 160.0)

    shapes: list[Shape] = []

    # lower link, in shade, and upper link, both thicker at the joint
    shapes += _link(foot, 19.0, joint, 36.0, LINK_SHADE)
    shapes += _link(joint, 36.0, tip, 19.0, LINK)
    shapes += [Disc(tip, 8.0, HUB), Disc(foot, 8.0, HUB)]

    # actuator: gap to the links, housing with its bolts, rotor, shaft
    shapes += [Disc(joint, 54.0, HUB), Disc(joint, 47.0, TEAL)]
    shapes += [Disc(_polar(joint, 38.0, 30.0 + 60.0 * bolt), 3.2, TEAL_DARK) for bolt in range(6)]
    shapes += [Disc(joint, 28.0, TEAL_DARK), Disc(joint, 13.0, LINK)]

    # effort: an arc that turns the upper link
    shapes += _arc_arrow(joint, radius=80.0, start=206.0, tip_angle=22.0, width=15.0, head=22.0, color=EFFORT)
    return shapes


def _link(a: Point, radius_a: float, b: Point, radius_b: float, fill: str) -> list[Shape]:
    """Return a link whose sides are the outer tangents of two circles."""
    heading = math.atan2(b[1] - a[1], b[0] - a[0])
    lean = math.acos((radius_a - radius_b) / math.dist(a, b))
    sides = [
        (center[0] + radius * math.cos(heading + side * lean), center[1] + radius * math.sin(heading + side * lean))
        for side, ends in ((1.0, ((a, radius_a), (b, radius_b))), (-1.0, ((b, radius_b), (a, radius_a))))
        for center, radius in ends
    ]
    return [Disc(a, radius_a, fill), Disc(b, radius_b, fill), Polygon(tuple(sides), fill)]


def _arc_arrow(
    center: Point, *, radius: float, start: float, tip_angle: float, width: float, head: float, color: str
) -> list[Shape]:
    """Return a clockwise arc that ends in an arrow head of half-width `head`, its tip at `tip_angle`."""
    # the head is as long as 1.4 times its half-width, measured along the arc
    base = tip_angle + math.degrees(1.4 * head / radius)
    points = (
        _polar(center, radius + head, base),
        _polar(center, radius, tip_angle),
        _polar(center, radius - head, base),
    )
    return [Arc(center, radius, start, base - 1.0, width, color), Polygon(points, color)]


def _polar(center: Point, radius: float, degrees: float) -> Point:
    """Return the point at an angle, y downwards as in pictures."""
    angle = math.radians(degrees)
    return (center[0] + radius * math.cos(angle), center[1] - radius * math.sin(angle))


def _number(value: float) -> str:
    """Return a coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


# the icon as SVG and as pixels


def icon_svg() -> str:
    """Return the text of icon.svg."""
    body = "\n".join(f"  {shape.svg()}" for shape in icon_shapes())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{ICON_SIZE}" height="{ICON_SIZE}" \
viewBox="0 0 {ICON_SIZE} {ICON_SIZE}">
  <title>A robot joint and the effort of its actuator</title>
  <defs>
    <linearGradient id="ground" x1="0" y1="0" x2="0" y2="1">
      <stop offset="0" stop-color="{GROUND_TOP}"/>
      <stop offset="1" stop-color="{GROUND_BOTTOM}"/>
    </linearGradient>
  </defs>
  <rect width="{ICON_SIZE}" height="{ICON_SIZE}" rx="56" fill="url(#ground)"/>
{body}
</svg>
"""


def icon_image(size: int = ICON_SIZE) -> Image.Image:
    """Return the icon as an RGBA image of `size` x `size` pixels, transparent outside its rounded square."""
    from PIL import Image, ImageDraw

    fine = size * SUPERSAMPLE
    scale = fine / ICON_SIZE
    image = _gradient((fine, fine), GROUND_TOP, GROUND_BOTTOM)
    canvas = ImageDraw.Draw(image)
    for shape in icon_shapes():
        shape.paint(canvas, scale)

    mask = Image.new("L", (fine, fine), 0)
    ImageDraw.Draw(mask).rounded_rectangle([0, 0, fine - 1, fine - 1], radius=56.0 * scale, fill=255)
    image.putalpha(mask)
    return image.resize((size, size), Image.Resampling.LANCZOS)


def _gradient(size: tuple[int, int], top: str, bottom: str) -> Image.Image:
    """Return an RGB image that fades from `top` to `bottom`."""
    from PIL import Image, ImageColor

    ends = ImageColor.getrgb(top), ImageColor.getrgb(bottom)
    column = Image.new("RGB", (1, size[1]))
    for y in range(size[1]):
        mix = y / (size[1] - 1)
        column.putpixel((0, y), tuple(round(a + (b - a) * mix) for a, b in zip(*ends, strict=True)))
    return column.resize(size)


# the preview: the icon, a title and one card per component of the pipeline


@dataclass(frozen=True)
class Card:
    """One stage: its name, one line of text, axes through `origin`, and two curves in a unit square with y upwards."""

    name: str
    text: str
    origin: Point
    before: tuple[Point, ...]
    after: tuple[Point, ...]


def preview_cards() -> list[Card]:
    """Return the three stages with their curves."""
    return [
        Card("delay", "command of k steps ago", (0.0, 0.0), _delay_steps(0.12), _delay_steps(0.42)),
        Card("controller", "kp · e + kd · de/dt", (0.0, 0.0), ((0.0, 0.68), (1.0, 0.68)), _pd_response()),
        Card(
            "clamping",
            "effort within ±max",
            (0.5, 0.5),
            ((0.0, 0.0), (1.0, 1.0)),
            ((0.0, 0.24), (0.24, 0.24), (0.76, 0.76), (1.0, 0.76)),
        ),
    ]


def _delay_steps(start: float) -> tuple[Point, ...]:
    """Return a command that jumps at `start` and again a little later, as a staircase over the unit square."""
    second = start + 0.26
    return ((0.0, 0.04), (start, 0.04), (start, 0.5), (second, 0.5), (second, 0.86), (1.0, 0.86))


def _pd_response() -> tuple[Point, ...]:
    """Return how an inertia under a PD law reaches its target: the underdamped step response, scaled to the plot."""
    frequency, damping, target = 15.0, 0.32, 0.68
    damped = frequency * math.sqrt(1.0 - damping**2)

    def position(time: float) -> float:
        swing = math.cos(damped * time) + damping * frequency / damped * math.sin(damped * time)
        return target * (1.0 - math.exp(-damping * frequency * time) * swing)

    return _sampled(position)


def _sampled(curve: Callable[[float], float], count: int = 160) -> tuple[Point, ...]:
    """Return a function as points over the unit interval."""
    return tuple((i / count, curve(i / count)) for i in range(count + 1))


def preview_image() -> Image.Image:
    """Return the preview: the icon and the title above the pipeline."""
    from PIL import Image, ImageDraw

    width, height = PREVIEW_SIZE
    scale = SUPERSAMPLE
    image = _gradient((width * scale, height * scale), GROUND_TOP, GROUND_BOTTOM)
    canvas = ImageDraw.Draw(image)

    # head: icon, title and what it is
    icon = icon_image(150 * scale)
    (left, top) = 48 * scale, 38 * scale
    image.paste(icon, (left, top), icon)
    rim = [left, top, left + icon.width - 1, top + icon.height - 1]
    canvas.rounded_rectangle(rim, radius=33 * scale, outline=CARD_EDGE, width=6)
    _text(canvas, (230.0, 96.0), "Articulation Actuators", 55.0, TEXT, scale, bold=0.8)
    _text(canvas, (232.0, 150.0), "Realistic joint actuators for robots described in USD", 27.0, TEXT_SOFT, scale)

    # pipeline: three cards, each with an arrow to the next
    card_width, card_height, gap, card_top = 258.0, 264.0, 45.0, 232.0
    for index, card in enumerate(preview_cards()):
        card_left = 48.0 + index * (card_width + gap)
        _card(canvas, card, (card_left, card_top), (card_width, card_height), scale)
        if index > 0:
            middle = card_top + card_height / 2.0
            _arrow(canvas, (card_left - gap + 7.0, middle), (card_left - 7.0, middle), scale)
    return image.resize(PREVIEW_SIZE, Image.Resampling.LANCZOS)


def _card(canvas: ImageDraw.ImageDraw, card: Card, corner: Point, size: Point, scale: float) -> None:
    """Draw one stage: a box with its name, its plot and its line of text."""
    (left, top), (width, height) = corner, size
    box = [left * scale, top * scale, (left + width) * scale, (top + height) * scale]
    canvas.rounded_rectangle(box, radius=18.0 * scale, fill=CARD, outline=CARD_EDGE, width=round(1.5 * scale))
    _text(canvas, (left + width / 2.0, top + 32.0), card.name, 29.0, TEXT, scale, anchor="mm", bold=0.4)
    _text(canvas, (left + width / 2.0, top + height - 28.0), card.text, 20.0, TEXT_SOFT, scale, anchor="mm")

    # plot area inside the card, unit square to pixels
    plot_left, plot_bottom, plot_width, plot_height = left + 30.0, top + height - 56.0, width - 60.0, height - 116.0

    def place(point: Point) -> Point:
        return (plot_left + point[0] * plot_width, plot_bottom - point[1] * plot_height)

    (x, y) = card.origin
    for axis in (((0.0, y), (1.0, y)), ((x, 0.0), (x, 1.0))):
        _stroke(canvas, [place(point) for point in axis], 2.0, AXIS, scale)
    _dashes(canvas, [place(point) for point in card.before], 3.0, EFFORT, scale)
    _stroke(canvas, [place(point) for point in card.after], 5.0, TEAL, scale)


def _stroke(canvas: ImageDraw.ImageDraw, points: list[Point], width: float, color: str, scale: float) -> None:
    """Draw a line with round joints and ends."""
    canvas.line([(x * scale, y * scale) for x, y in points], fill=color, width=round(width * scale))
    for point in points:
        Disc(point, width / 2.0, color).paint(canvas, scale)


def _dashes(canvas: ImageDraw.ImageDraw, points: list[Point], width: float, color: str, scale: float) -> None:
    """Draw a dashed line; the pattern runs on around corners."""
    dash, gap = 9.0, 8.0
    travelled = 0.0
    for a, b in itertools.pairwise(points):
        length = math.dist(a, b)
        start = -(travelled % (dash + gap))
        while start < length:
            ends = [max(start, 0.0), min(start + dash, length)]
            if ends[1] > ends[0]:
                piece = [(a[0] + (b[0] - a[0]) * s / length, a[1] + (b[1] - a[1]) * s / length) for s in ends]
                _stroke(canvas, piece, width, color, scale)
            start += dash + gap
        travelled += length


def _arrow(canvas: ImageDraw.ImageDraw, a: Point, b: Point, scale: float) -> None:
    """Draw a horizontal arrow from `a` to `b`."""
    head = 12.0
    _stroke(canvas, [a, (b[0] - head, b[1])], 5.0, TEXT_SOFT, scale)
    Polygon(((b[0] - 1.2 * head, b[1] - head), b, (b[0] - 1.2 * head, b[1] + head)), TEXT_SOFT).paint(canvas, scale)


def _text(
    canvas: ImageDraw.ImageDraw,
    position: Point,
    text: str,
    size: float,
    color: str,
    scale: float,
    *,
    anchor: str = "lm",
    bold: float = 0.0,
) -> None:
    """Write one line in Pillow's own font; `bold` widens every stroke by that much."""
    from PIL import ImageFont

    font = ImageFont.load_default(size * scale)
    at = (position[0] * scale, position[1] * scale)
    canvas.text(at, text, font=font, fill=color, anchor=anchor, stroke_width=bold * scale)


if __name__ == "__main__":
    (FOLDER / "icon.svg").write_text(icon_svg(), encoding="utf-8")
    icon_image().save(FOLDER / "icon.png", optimize=True)
    preview_image().save(FOLDER / "preview.png", optimize=True)
