"""Every target with every law: what is read back gives the same efforts, or what it lacks is named."""

import functools
import itertools
import math
from pathlib import Path

import pytest
from c_headers import needs_compiler, steps_alike
from isaacsim.core.experimental.actuators import FrictionConfig, MotorConfig, TimedDelayConfig
from isaacsim.core.experimental.actuators.base.values import shortest
from isaacsim.core.experimental.actuators.files.motor_files.files import plain_of
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from isaacsim.core.experimental.actuators.tools.export.c_carried import refused as refusals
from isaacsim.core.experimental.actuators.tools.export.losses import Loss
from isaacsim.core.experimental.actuators.tools.export.robot import FEATURES, ExportedJoint, joint_of
from isaacsim.core.experimental.actuators.tools.export.targets import TARGETS
from round_trip import DT, READERS, Row, difference, read_back, rows

# of MuJoCo's, which motors stand for
pytestmark = pytest.mark.filterwarnings("ignore:.*no joint drive stands for")
approx = functools.partial(pytest.approx, rel=1e-6)
# with numbers at which they differ from the joint's own friction by little, or not at all
MORE = [
    FrictionConfig(0.12, 0.25, assumed_inertia=0.05),
    FrictionConfig(0.12, 0.25, 0.2, 0.1, assumed_inertia=0.05),
    TimedDelayConfig(0.012),
]
DELAY = [parameters_of(TimedDelayConfig)[name].attribute for name in ("seconds", "steps")]


def all_rows(folder: Path) -> list[Row]:
    return [*rows(folder), *(Row(one.KIND, type(one).__name__, [[one]]) for one in MORE)]


def of_feature(joint: ExportedJoint, name: str, says: frozenset[str]):
    if name == "max_effort" and "dc_motor" not in says and math.isfinite(joint.largest_effort):
        return joint.largest_effort
    return joint.features.get(name)


def is_named(name: str, lost: list[Loss]) -> bool:
    return any(one.what.startswith(FEATURES[name]) for one in lost)


def numbers(*configs) -> dict:
    """Parameters of configs that are neither zero nor what the law has by itself, by class and name."""
    return {
        f"{type(config).__name__}.{name}": value
        for config in configs
        for name, described in parameters_of(config).items()
        # a delay in seconds and steps is a feature, one number of steps
        if described.of_law and name != "assumed_inertia" and described.attribute not in DELAY
        if (value := getattr(config, name)) not in (None, 0, (), [], described.word(described.fallback))
    }


def unnamed(joint: ExportedJoint, back: MotorConfig | None, named: list[Loss]) -> dict:
    assert joint.motor is not None
    kept = [back, *back.stages] if back else []
    sizes = (one.sizes.values() for one in named if one.joint is joint)
    said = [*numbers(*kept).values(), *itertools.chain.from_iterable(sizes)]
    said += [one for value in said if isinstance(value, list | tuple) for one in value]
    return {
        name: value
        for name, value in numbers(joint.motor, *joint.motor.stages).items()
        if not any(value == one or (is_number(value) and is_number(one) and one == approx(value)) for one in said)
    }


def is_number(value: object) -> bool:
    return isinstance(value, int | float)


@pytest.mark.parametrize("target", READERS)
@pytest.mark.slow
def test_nothing_is_silently_other(target, tmp_path) -> None:
    line, equal = TARGETS[target], set[str]()
    for row in all_rows(tmp_path):
        robot = row.robot
        lost, left, back = line.losses(robot), line.left(robot), read_back(robot, target, tmp_path)
        if target == "yaml":
            # up to single precision
            kept, wanted = (plain_of(motors, str(tmp_path), shortest) for motors in (back, robot.motors))
            assert not lost and kept == wanted
            continue
        for joint in robot.joints:
            found = joint_of(joint.name, False, back.get(joint.name), {}, DT, is_given=True)
            named = [one for one in lost + left if one.joint is joint]
            for name in joint.features.keys() | (found.features.keys() & line.says):
                wanted, value = (of_feature(one, name, line.says) for one in (joint, found))
                assert is_named(name, named) or value == (wanted and approx(wanted)), (row, name)
            assert not unnamed(joint, back.get(joint.name), named), row
        share = difference(robot, back)
        assert (share < 1e-6) or lost or left, (row, share)
        if share < 1e-6 and not (lost or left):
            equal.add(row.law)
    # those of the same law, and of friction without a curve
    limits = {"MaxEffortClampingConfig"}
    late = limits | {"DCMotorClampingConfig", "DelayConfig", "TimedDelayConfig", "FrictionConfig"}
    wanted = {"mjcf": limits | {"FrictionConfig"}, "ros2": limits, "lab": late, "mjlab": late}
    assert equal >= wanted.get(target, set())


@needs_compiler
@pytest.mark.slow
def test_a_header_has_the_bits_or_refuses_by_name(tmp_path) -> None:
    refused = 0
    for row in all_rows(tmp_path):
        if whys := [*refusals(row.robot.joints[0])]:
            refused += 1
            assert any(f"hinge: {row.kind} " in why for why in whys)
        else:
            steps_alike(row.robot, tmp_path, 50)
    assert 0 < refused < len(KINDS)
