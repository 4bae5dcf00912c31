"""Pendulum: a robot with a closed-form motion."""

from __future__ import annotations

from robot_spec import DARK_GREY, STEEL, WHITE, Ball, Box, Joint, Link, Robot, Rod

PIVOT_HEIGHT = 1.0
"""[m]."""
LENGTH = 0.5
"""Pivot to center of mass [m]."""

ROBOT = Robot(
    file="pendulum",
    name="Pendulum",
    documentation=(
        "Pendulum on a fixed base: one revolute joint about +Y, hanging straight down at position zero.\n"
        "Own figures: bob of 1 kg with its center of mass 0.5 m below the pivot; no limits, no drive gains."
    ),
    base_position=(0.0, 0.0, PIVOT_HEIGHT),
    links=(
        Link(
            "base",
            1.0,
            (0.0, 0.0, 0.0),
            (0.01, 0.01, 0.01, 0.0, 0.0, 0.0),
            (Box((0.0, 0.0, 0.0), (0.10, 0.06, 0.06), DARK_GREY),),
        ),
        Link(
            "bob",
            1.0,
            (0.0, 0.0, -LENGTH),
            (0.01, 0.01, 0.01, 0.0, 0.0, 0.0),
            (
                Rod((0.0, 0.0, 0.0), (0.0, 0.0, -LENGTH), 0.012, WHITE),
                Ball((0.0, 0.0, -LENGTH), 0.05, STEEL),
            ),
        ),
    ),
    joints=(Joint("hinge", "base", "bob", "Y"),),
)
