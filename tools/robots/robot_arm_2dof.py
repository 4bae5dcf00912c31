"""Arm with one revolute and one prismatic joint: both types of units in one robot."""

from __future__ import annotations

from robot_spec import DARK_GREY, STEEL, WHITE, Box, Joint, Link, Robot, Rod

SHOULDER_HEIGHT = 0.8
"""[m]."""
BOOM_LENGTH = 0.5
"""Shoulder to the carriage's inner stop [m]."""
TRAVEL = 0.4
"""Of the carriage [m]."""

ROBOT = Robot(
    file="arm_2dof",
    name="Arm",
    documentation=(
        "Two-joint arm on a fixed base: `shoulder` turns about +Y, `extension` slides along the arm.\n"
        "At position zero the arm points along +X; a positive shoulder angle lowers it.\n"
        "Own figures: boom 2 kg, carriage 1 kg, travel 0.4 m; no drive gains."
    ),
    base_position=(0.0, 0.0, SHOULDER_HEIGHT),
    links=(
        Link(
            "base",
            5.0,
            (0.0, 0.0, -0.3),
            (0.2, 0.2, 0.05, 0.0, 0.0, 0.0),
            (
                Box((0.0, 0.0, -SHOULDER_HEIGHT + 0.02), (0.30, 0.30, 0.04), DARK_GREY),
                Rod((0.0, 0.0, -SHOULDER_HEIGHT + 0.02), (0.0, 0.0, -0.08), 0.04, DARK_GREY),
                Rod((0.0, -0.06, 0.0), (0.0, 0.06, 0.0), 0.06, DARK_GREY, round_ends=False),
            ),
        ),
        # a slender rod, m l²/12 across its length
        Link(
            "boom",
            2.0,
            (BOOM_LENGTH / 2, 0.0, 0.0),
            (0.002, 0.042, 0.042, 0.0, 0.0, 0.0),
            (Rod((0.0, 0.0, 0.0), (BOOM_LENGTH, 0.0, 0.0), 0.045, WHITE),),
        ),
        # the rod retracts into the boom, so its mass sits behind the tip
        Link(
            "carriage",
            1.0,
            (-0.1, 0.0, 0.0),
            (0.001, 0.015, 0.015, 0.0, 0.0, 0.0),
            (
                Rod((-TRAVEL, 0.0, 0.0), (0.08, 0.0, 0.0), 0.025, STEEL),
                Box((0.10, 0.0, 0.0), (0.04, 0.08, 0.08), DARK_GREY),
            ),
        ),
    ),
    joints=(
        Joint("shoulder", "base", "boom", "Y", limits=(-2.5, 2.5), max_effort=60.0),
        Joint(
            "extension",
            "boom",
            "carriage",
            "X",
            xyz=(BOOM_LENGTH, 0.0, 0.0),
            prismatic=True,
            limits=(0.0, TRAVEL),
            max_effort=100.0,
        ),
    ),
)
