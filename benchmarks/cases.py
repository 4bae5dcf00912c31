"""Cases of a run, and the options that select them."""

from __future__ import annotations

import argparse
import itertools
from typing import TYPE_CHECKING

from .problem import PIPELINES, ROBOTS, SIZES

if TYPE_CHECKING:
    from .measure import Case

# pipelines of the public actuator: stateless, a state of the controller, a state of the delay
OBJECT_PIPELINES = ("PD+max", "PID+max", "delay+PD+max")
OBJECT_SIZES = (1, 1024)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the options that `chosen` reads, and the block time."""
    parser.add_argument("--quick", action="store_true", help="fewer robots, sizes and rounds: less than two minutes")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, help="12of19 drives 12 of 19 joints, 12free floats")
    parser.add_argument("--sizes", nargs="+", type=robot_count, metavar="N", help="numbers of robots")
    parser.add_argument("--pipelines", nargs="+", choices=PIPELINES)
    parser.add_argument("--block-ms", type=float, default=2.0, metavar="MS", help="minimum time of a block")


def robot_count(text: str) -> int:
    """Return a number of robots from an option."""
    if (size := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{size} must be >= 1.")
    return size


def chosen(options: argparse.Namespace) -> list[Case]:
    """Return the selected cases, in the order of measurement."""
    # imports the measured libraries
    from .measure import Case

    quick = options.quick
    robots = options.robots or (["12", "12free"] if quick else list(ROBOTS))
    sizes = options.sizes or ([1, 1024, 4096, 16384] if quick else list(SIZES))
    pipelines = options.pipelines or list(PIPELINES)
    fixed = [robot for robot in robots if not ROBOTS[robot].floating]
    # a floating base only matters with physics: on arrays it equals one of the others
    free = [robot for robot in robots if ROBOTS[robot].floating]
    ticked = [pipeline for pipeline in pipelines if not quick or pipeline == "PD+max"]
    # a simulation of many robots takes seconds to build
    small = [size for size in sizes if options.sizes or not quick or size <= 1024]
    in_one = [pipeline for pipeline in OBJECT_PIPELINES if pipeline in pipelines]
    in_one_robots = [robot for robot in fixed if options.robots or robot == "12"]
    in_one_sizes = [size for size in sizes if options.sizes or size in OBJECT_SIZES]
    plan = [
        ("engine", fixed, [False, True], pipelines, sizes),
        ("arrays", fixed, [False, True], ticked, sizes),
        ("mujoco", free, [False], ticked, small),
        ("actuator", in_one_robots, [False], in_one, in_one_sizes),
    ]
    return [
        Case(section, robot, size, pipeline, per_robot)
        for section, some, parameters, laws, counts in plan
        for robot, per_robot, pipeline, size in itertools.product(some, parameters, laws, counts)
    ]
