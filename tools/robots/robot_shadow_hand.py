"""A right hand of 24 joints and 20 motors, four of them on tendons of two joints, in MJCF.

Frames, ranges, masses, damping, armature, friction, gains and limits are those of the Shadow hand in gymnasium-robotics
1.4.2, `envs/assets/hand` (Apache-2.0), itself from `sr_description` of Shadow Robot. Joints have the numbers of Shadow,
from the tip, where that file has one less. J0 is the tendon of a finger over its last two joints, J1 + J2, and J2 is
never less than J1, as in Shadow's technical specification. Shapes, and inertias that follow from them, the springs that
open these joints, and the bar are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SPRING = 0.3
"""Of each joint of a J0 tendon [N·m/rad]: the tendon of the extensors."""


@dataclass(frozen=True)
class Part:
    """A link, and the joint that moves it.

    Args:
        name: Of the link.
        joint: Of the joint.
        axis: Of the joint.
        range: Of the joint [rad].
        mass: Of the link [kg].
        length: Of the link along z [m]; 0 for a knuckle.
        radius: Of its capsule [m].
        limit: Of the motor [N·m]; 0 for a joint of a tendon.
        place: More attributes of the link.
    """

    name: str
    joint: str
    axis: str
    range: str
    mass: float
    length: float = 0.0
    radius: float = 0.008
    limit: float = 0.9
    place: str = ""


def finger(name: str, place: str) -> list[Part]:
    """The links of a finger from the palm on."""
    prefix = name.upper()
    return [
        Part(f"{name}_knuckle", f"{prefix}J4", "0 1 0", "-0.349 0.349", 0.008, place=place),
        Part(f"{name}_proximal", f"{prefix}J3", "1 0 0", "0 1.571", 0.014, 0.045, 0.01),
        Part(f"{name}_middle", f"{prefix}J2", "1 0 0", "0 1.571", 0.012, 0.025, 0.00805, 0.0),
        Part(f"{name}_distal", f"{prefix}J1", "1 0 0", "0 1.571", 0.010, 0.024, 0.00705, 0.0),
    ]


FINGERS = {
    "ff": finger("ff", 'pos="0.033 0 0.095"'),
    "mf": finger("mf", 'pos="0.011 0 0.099"'),
    "rf": finger("rf", 'pos="-0.011 0 0.095"'),
    "lf": [
        Part(
            *("lf_metacarpal", "LFJ5", "0.571 0 0.821", "0 0.785", 0.075, 0.03, 0.01),
            place='pos="-0.017 0 0.044"',
        ),
        *finger("lf", 'pos="-0.017 0 0.044"'),
    ],
    "th": [
        Part(
            "th_base",
            "THJ5",
            "0 0 -1",
            "-1.047 1.047",
            0.010,
            limit=2.3722,
            place='pos="0.034 -0.009 0.029" quat="0.924 0 0.382 0"',
        ),
        Part("th_proximal", "THJ4", "1 0 0", "0 1.222", 0.016, 0.038, 0.013, 1.45),
        Part("th_hub", "THJ3", "1 0 0", "-0.209 0.209", 0.002, radius=0.006, limit=0.99),
        Part("th_middle", "THJ2", "0 1 0", "-0.524 0.524", 0.016, 0.032, 0.011, 0.99),
        Part("th_distal", "THJ1", "0 1 0", "-1.571 0", 0.016, 0.0267, 0.00918, 0.81),
    ],
}
WRIST = (
    Part("wrist", "WRJ2", "0 1 0", "-0.489 0.14", 0.3, 0.01, 0.015, 4.785, 'pos="0 0 0.256"'),
    Part("palm", "WRJ1", "1 0 0", "-0.698 0.489", 0.3, limit=2.175, place='pos="0 0 0.034"'),
)
PALM = (
    '<geom type="box" pos="0.011 0 0.038" size="0.032 0.0111 0.049" mass="0.24"/>',
    '<geom type="box" pos="-0.032 0 0.014" size="0.011 0.0111 0.025" mass="0.06"/>',
)
BAR = '<geom name="bar" class="bar" type="cylinder" fromto="-0.055 -0.032 0.413 0.06 -0.032 0.413" size="0.02"/>'


def joint_of(part: Part) -> str:
    """The element of a joint."""
    more = ' class="wrist"' if part.joint.startswith("WR") else "" if part.limit else f' stiffness="{SPRING}"'
    return f'<joint name="{part.joint}" axis="{part.axis}" range="{part.range}"{more}/>'


def chain(parts: Sequence[Part], indent: str, start: str = "") -> list[str]:
    """Lines of links of which each holds the next, `start` being where the first one is."""
    if not parts:
        return []
    part, *others = parts
    place = part.place or start
    size = f'type="capsule" fromto="0 0 0 0 0 {part.length:g}"' if part.length else 'type="sphere"'
    return [
        f'{indent}<body name="{part.name}"{f" {place}" if place else ""}>',
        f"{indent}  {joint_of(part)}",
        f'{indent}  <geom {size} size="{part.radius:g}" mass="{part.mass:g}"/>',
        *chain(others, f"{indent}  ", f'pos="0 0 {part.length:g}"' if part.length else ""),
        f"{indent}</body>",
    ]


def text() -> str:
    """The file."""
    first, palm = WRIST
    bodies = [line for parts in FINGERS.values() for line in chain(parts, " " * 10)]
    single = [part for part in (*WRIST, *(one for parts in FINGERS.values() for one in parts)) if part.limit]
    tendons = [name.upper() for name in FINGERS if name != "th"]

    def servo(name: str, of: str, most: float) -> str:
        stiffness = 5 if name.startswith("WR") else 1
        return f'    <position name="A_{name}" {of} kp="{stiffness}" forcerange="-{most:g} {most:g}"/>'

    pair = '<joint joint="{0}J2" coef="1"/><joint joint="{0}J1" coef="{1}"/></fixed>'
    return "\n".join(
        [
            "<!-- A right hand with the published figures of the Shadow Dexterous Hand around a bar; our own shapes.",
            "     Written by tools/robots/write_robots.py from the tables beside it; change those, not this file. -->",
            '<mujoco model="shadow_hand">',
            '  <compiler angle="radian" autolimits="true"/>',
            '  <option timestep="0.001" cone="elliptic" impratio="10"/>',
            "  <default>",
            '    <geom contype="1" conaffinity="2" condim="4" friction="1 0.01 0.001" rgba="0.92 0.92 0.9 1"/>',
            '    <joint damping="0.1" armature="0.001" frictionloss="0.001"/>',
            '    <default class="wrist"><joint damping="0.5" armature="0.005"/></default>',
            '    <default class="bar"><geom contype="2" conaffinity="1" rgba="0.55 0.57 0.6 1"/></default>',
            "  </default>",
            "  <worldbody>",
            '    <light pos="0.3 -0.6 1.2" dir="-0.2 0.4 -0.8"/>',
            f"    {BAR}",
            '    <body name="hand">',
            '      <geom type="capsule" fromto="0 0 0 0 0 0.24" size="0.035" mass="4" contype="0"/>',
            *chain([first], "      ")[:-1],
            f'        <body name="{palm.name}" {palm.place}>',
            f"          {joint_of(palm)}",
            *(f"          {shape}" for shape in PALM),
            *bodies,
            "        </body>",
            "      </body>",
            "    </body>",
            "  </worldbody>",
            "  <tendon>",
            *(f'    <fixed name="{name}J0">{pair.format(name, 1)}' for name in tendons),
            *(f'    <fixed name="{name}J2_over_J1" range="0 1.571">{pair.format(name, -1)}' for name in tendons),
            "  </tendon>",
            "  <actuator>",
            *(servo(part.joint, f'joint="{part.joint}"', part.limit) for part in single),
            *(servo(f"{name}J0", f'tendon="{name}J0"', 0.7245) for name in tendons),
            "  </actuator>",
            "</mujoco>",
            "",
        ]
    )
