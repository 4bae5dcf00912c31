"""The joints that are put beside each other: every law of the table with every choice it has, in every effort mode.

They are derived from the tables: the laws of `catalogue.LAWS`, the fields of their configs with bounds and choices, and
`combination_problems`, which says what a law needs beside itself. Values are random and valid, the same in every run.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.contract.base import Component
from isaacsim.core.experimental.actuators.specs.combinations import misfits
from isaacsim.core.experimental.actuators.specs.configs import Config, ForeignConfig
from isaacsim.core.experimental.actuators.specs.effort_modes import _MODES as MODES
from isaacsim.core.experimental.actuators.specs.fields import Parameter, parameters_of, violations
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.specs.signals import SIGNALS
from isaacsim.core.experimental.actuators.specs.stages import KINDS, kind_of, parts_of
from neural_twin import random_network, write_network
from own_components import OwnController
from pair_covering import combinations_of_three
from valid_configs import left_out

Stage = Config | Callable[[int], Component]
"""A config, or a function from the number of robots to a component."""

NETWORKS: dict[str, dict] = {
    "mlp": {"inputs": 6, "input_idx": [0, 1, 3]},
    "lstm": {"inputs": 2},
    "gru": {
        "inputs": 2,
        "input_columns": ["velocity", "position_error"],
        "normalization": {
            "inputs": {
                "mean": {"velocity": 0.1, "position_error": -0.2},
                "std": {"velocity": 2.0, "position_error": 0.5},
            },
            "targets": {"mean": {"torque": 0.5}, "std": {"torque": 6.0}},
        },
    },
}
"""By kind of network its number of inputs, and what its file says besides."""


@dataclasses.dataclass(frozen=True, eq=False)
class Joint:
    name: str
    axes: tuple[tuple[Stage, ...], ...]

    def __repr__(self) -> str:
        return self.name

    def rng(self, *of: int) -> np.random.Generator:
        return np.random.default_rng([zlib.crc32(self.name.encode()), *of])

    def motors(self, names: Sequence[str], robots: int) -> list[list]:
        def made(stage: Stage):
            if not isinstance(stage, Config):
                return stage(robots)
            return dataclasses.replace(stage, joints=list(names)) if isinstance(stage, aa.LinkageConfig) else stage

        return [[made(stage) for stage in stages] for stages in self.axes]

    @functools.cached_property
    def components(self) -> list[type[Component]]:
        found: list[type[Component]] = []
        for stage in itertools.chain(*self.axes):
            if isinstance(stage, aa.NeuralControlConfig):
                found.append(catalogue.class_of(stage, load_checkpoint(stage.model_path)))
                continue
            found.append(catalogue.class_of(stage) if isinstance(stage, Config) else type(stage(1)))
        return found

    @property
    def asks_number(self) -> bool:
        """True if a law has random numbers by the number of its joint, so by how many joints there are before it."""
        return any("joint_number" in one.ASKS for one in self.components)

    def has_choice(self, name: str) -> bool:
        return any(bool(getattr(stage, name, False)) for stage in itertools.chain(*self.axes))

    def sums(self, other: Joint) -> bool:
        """True if a law gets a sum over the robot to which `other` adds, such as the power of all its motors."""
        asked = {SIGNALS[name].total_of for one in self.components for name in one.ASKS} - {""}
        return bool(asked.intersection(name for one in other.components for name in one.PUBLISHES))

    @property
    def kernel(self) -> tuple[object, ...]:
        return tuple(sorted(one.__name__ for one in self.components)), len(self.axes)

    @property
    def is_linkage(self) -> bool:
        return any(KINDS[one.KIND].couples for one in self.components)

    @property
    def mode(self) -> str:
        found = [stage for stage in self.axes[0] if isinstance(stage, aa.ImplicitConfig)]
        return MODES[1 + found[0].in_engine] if found else MODES[0]

    def in_mode(self, mode: str) -> Joint:
        if mode == MODES[0]:
            return self
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        # an idle shaft has the mode of the motors of its linkage
        axes = tuple(
            axis if at and len(axis) == 1 else (*axis, valid(aa.ImplicitConfig, rng, in_engine=mode == MODES[2]))
            for at, axis in enumerate(self.axes)
        )
        return Joint(f"{self.name}, {mode}", axes)


def number(described: Parameter, rng: np.random.Generator):
    if described.choices or described.type == "bool":
        return described.fallback
    if described.fallback is not None and rng.random() < 0.2:
        # often the value with which the law leaves something out
        return described.fallback
    most = min(described.upper, _SIZES.get(described.unit.split(" or ")[0], 3.0))
    if described.type == "int":
        return int(rng.integers(max(described.lower, 0.0), max(most, described.lower) + 1))
    if described.lower == -math.inf:
        return float(rng.normal())
    # between a tenth of the size and all of it
    size = most * 10.0 ** -rng.random()
    return float(max(size, described.lower * 1.5) if described.lower > 0.0 else size)


_SIZES = {"s": 0.03, "physics steps": 3.0, "Hz": 150.0, "H": 0.01, "1/K": 0.01, "kg·m²": 0.3, "V": 20.0, "°C": 120.0}
_SIZES |= {"rad": 0.05, "rad/s": 8.0}
"""Largest values, by unit, of those that are not of the order of one."""


def table(rng: np.random.Generator, lowest: float) -> tuple[list[float], list[float]]:
    return (lowest + np.cumsum(rng.uniform(0.1, 1.0, 4))).tolist(), rng.uniform(0.5, 5.0, 4).tolist()


def valid(config: type[Config], rng: np.random.Generator, **given):
    described = parameters_of(config)
    for _ in range(300):
        values = {name: number(one, rng) if one.of_law else one.fallback for name, one in described.items()}
        if columns := [name for name, one in described.items() if one.type == "float[]"]:
            least = described[columns[0]].lower
            values |= zip(columns, table(rng, -2.0 if least == -math.inf else 0.0), strict=False)
        if "assumed_inertia" in values:
            # unknown, it is a fault
            values["assumed_inertia"] = float(rng.uniform(0.05, 0.5))
        made = config(**values | given)
        made = config(**values | left_out(made) | given)
        if not violations(made, ""):
            return made
    raise ValueError(f"{config.__name__}: no valid values were found. Say in `number` how large they are.")


@wp.func
def followed(
    position: float, velocity: float, position_target: float, velocity_target: float, feedforward: float, dt: float,
    level: float, gain: float,
):  # fmt: skip
    now = 0.9 * level + gain * (position_target - position) - 0.1 * velocity
    return now + feedforward + 0.01 * velocity_target, now


class ControllerOfUser(aa.Controller):
    """A law that a program brings along: it runs on Warp."""

    PARAMETERS = ("gain",)
    STATE = ("level",)
    LAW = followed


@functools.cache
def networks() -> Path:
    folder = Path(tempfile.mkdtemp())
    for kind, said in NETWORKS.items():
        words = {"model_type": kind, **{name: value for name, value in said.items() if name != "inputs"}}
        write_network(folder / f"{kind}.safetensors", random_network(kind, said["inputs"]), words)
    return folder


Axes = tuple[tuple[Config, ...], ...]
"""Configs of each joint."""


def variants(law: catalogue.Law):
    """What a law is like: its name, and configs with random values, for each choice that it has."""
    config = law.config
    name = config.__name__.removesuffix("Config")
    if law.by_network:
        for kind in law.by_network:
            made = config(networks() / f"{kind}.safetensors")  # pyright: ignore[reportCallIssue]
            yield f"{name}({kind})", lambda _rng, made=made: ((made,),)
    elif KINDS[law.kind].couples:
        four_bar = aa.LinkageConfig.four_bar("a", 0.05, 0.2, 0.06, 0.2, 0.7, 2.5, nodes=9)
        first, second = aa.LinkageConfig.differential("a", "b", 1.5)
        yield f"{name}(2)", lambda _rng: ((first,), (second,))
        yield f"{name}(table)", lambda _rng: ((four_bar,),)
    else:
        given: list[dict] = [{}]
        for field, one in parameters_of(config).items():
            values = one.choices or ((False, True) if one.type == "bool" and one.of_law else ())
            given += [{field: value} for value in values[1:]]
        for some in given:
            said = "".join(f"({field}={value})" for field, value in some.items())
            yield f"{name}{said}", lambda rng, some=some: ((valid(config, rng, **some),),)


def completed(name: str, stages: tuple[Config, ...], rng: np.random.Generator) -> tuple[Stage, ...]:
    """The stages of a motor with these: a PD controller where there is none, and what the rules want besides."""
    if not any(kind_of(stage) == "controller" for stage in stages):
        stages = (valid(aa.PDControlConfig, rng), *stages)
    laws = (law for law in catalogue.LAWS if law.name and not KINDS[law.kind].couples)
    partners = [(), *(make(rng)[0] for law in laws for _, make in variants(law))]
    base = [stages, stages[1:]] if kind_of(stages[0]) == "controller" and len(stages) > 1 else [stages]
    for partner, given in itertools.product(partners, base):
        kinds = [kind_of(stage) for stage in (*given, *partner)]
        if len(kinds) != len({*kinds}) or "controller" not in kinds:
            continue
        if not problems_of((*given, *partner)):
            return (*given, *partner)
    raise ValueError(f"{name}: no stage was found that it can stand beside.")


def named_stages(joints: Sequence[Joint], robots: int) -> tuple[list[str], list[list]]:
    names = [f"j{at}" for at in range(sum(len(joint.axes) for joint in joints))]
    found: list[list] = []
    for joint in joints:
        found += joint.motors(names[len(found) : len(found) + len(joint.axes)], robots)
    return names, found


def motors_of(names: Sequence[str], stages: Sequence[list]):
    if all(isinstance(one, Config) for some in stages for one in some):
        return dict(zip(names, stages, strict=True))
    return [(aa.ActuatorConfig(**parts_of(some)), name) for some, name in zip(stages, names, strict=True)]


# what an error says of stages that a plan refuses; another error is a fault
_REFUSALS = (
    *("must be left out", "has limits or a delay and no controller"),
    *("before a linkage: must be a rigid gear", "asks for inertia or load before"),
)


@functools.cache
def refused(joint: Joint) -> bool:
    """True if a joint cannot be made, as an error says: its stages do not go together."""
    names, stages = named_stages([joint], 1)
    try:
        aa.ActuatedArrays(names, motors_of(names, stages)).close()
    except (TypeError, ValueError) as error:
        return any(one in str(error) for one in _REFUSALS)
    return False


def problems_of(stages: Sequence[Config]) -> list[str]:
    return misfits(motor_of(list(stages)), "joint")


def varied(joint: Joint, other: Joint, robots: int) -> Joint:
    def both(stage: Stage, others: Sequence[Stage]) -> Stage:
        another = next((one for one in others if type(one) is type(stage)), None)
        # the motors of a linkage are alike in all robots
        if not isinstance(stage, Config) or another is None or joint.is_linkage:
            return stage
        values = {
            name: np.array([getattr(stage, name)] + [getattr(another, name)] * (robots - 1))
            for name, one in parameters_of(stage).items()
            if one.type in ("float", "int") and one.of_law
        }
        return dataclasses.replace(stage, **values)

    pairs = zip(joint.axes, other.axes, strict=True)
    axes = [tuple(both(stage, others) for stage in stages) for stages, others in pairs]
    # some values that are good one by one are not for all robots of a motor
    configs = [[stage for stage in axis if isinstance(stage, Config)] for axis in axes]
    return joint if any(some and problems_of(some) for some in configs) else Joint(joint.name, tuple(axes))


@functools.cache
def all_joints(seed: int = 0) -> tuple[Joint, ...]:
    """A joint for each law and choice, those that a gear turns, passive ones, and those of laws of a user's own."""
    found: list[Joint] = []
    for law in catalogue.LAWS:
        if law.config is ForeignConfig or law.kind == "effort_mode":
            # it has no law of its own; modes are those of all joints
            continue
        for at, (name, make) in enumerate(variants(law)):
            rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
            axes = make(rng)
            whole = tuple(completed(name, axis, rng) for axis in axes)
            found.append(Joint(name, whole))
            if KINDS[law.kind].alone:
                found.append(Joint(f"{name} alone", axes))
            geared = *whole[0], valid(aa.TransmissionConfig, rng, ratio=-3.0, efficiency=1.0)
            kinds = [kind_of(stage) for stage in geared]
            if at == 0 and not law.by_network and not KINDS[law.kind].is_before_joint and not problems_of(geared):
                assert kinds.count("transmission") == 1, name
                found.append(Joint(f"{name} geared", (geared,)))

    def parameter(robots: int, value: float = 2.0) -> wp.array:
        return wp.full(robots, value, dtype=wp.float32, device="cpu")

    def of_user(robots: int) -> Component:
        return ControllerOfUser(parameter(robots))

    def of_arrays(robots: int) -> Component:
        return OwnController(*(parameter(robots, value) for value in (2.0, 3.0, 0.5, 1.0)))

    # one motor that pulls at two joints, of which the other has an idle shaft
    cable = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.5}, unilateral=True)
    idle = aa.LinkageConfig(["a", "b"], [0.5, -1.0])
    motor = aa.PDControlConfig(3.0, 0.2), aa.MaxEffortClampingConfig(1.5), cable
    found.append(Joint("tendon", (motor, (idle,))))
    rope = aa.ShaftFrictionConfig(0.1, 0.02, 0.2, assumed_inertia=0.2), aa.ShaftInertiaConfig(0.3, 0.2)
    found.append(Joint("tendon with rotor", ((*motor, *rope), (idle,))))
    return *found, Joint("law of a user", ((of_user,),)), Joint("law of arrays", ((of_arrays,),))


@functools.cache
def choices() -> dict[str, dict[str, Callable[[np.random.Generator], Axes]]]:
    """By kind what a joint may have of it, by name: variants of its laws, or nothing, first."""
    found: dict[str, dict[str, Callable[[np.random.Generator], Axes]]] = {}
    for kind, line in KINDS.items():
        of_kind = [variants(law) for law in catalogue.LAWS if law.kind == kind and law.config is not ForeignConfig]
        named = dict(itertools.chain(*of_kind))
        if line.couples:
            # a joint by itself
            named = {name: make for name, make in named.items() if len(make(np.random.default_rng())) == 1}
        found[kind] = named if kind == "controller" else {"": lambda _rng: ((),), **named}
    return found


def factors() -> list[str]:
    return [kind for kind, line in KINDS.items() for _ in range(1 + line.many)]


def of_choices(row: Sequence[str], seed: int = 0) -> Joint:
    name = ", ".join(one for one in row if one)
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    stages = [stage for kind, one in zip(factors(), row, strict=True) for stage in choices()[kind][one](rng)[0]]
    return Joint(name, (tuple(stages),))


@functools.cache
def joints_of_three(seed: int = 0, other: int = 0) -> tuple[tuple[Joint, ...], int]:
    """Joints on which each three choices of different kinds are together, and the number of threes that cannot be."""
    rows, impossible = _rows_of_three(seed)
    joints = (of_choices(row, seed + other) for row in rows)
    return tuple(joint for joint in joints if not refused(joint)), impossible


@functools.cache
def _rows_of_three(seed: int) -> tuple[list[tuple[str, ...]], int]:
    kinds = [list(choices()[kind]) for kind in factors()]
    for place, kind in enumerate(factors()):
        if kind in factors()[:place]:
            # as the second one of a kind every second law, without its choices
            kinds[place] = [one for one in kinds[place] if "(" not in one][::2]
    first = [some[0] for some in kinds]

    @functools.cache
    def are_refused(*two: tuple[int, str]) -> bool:
        row = list(first)
        for place, choice in two:
            row[place] = choice
        joint = of_choices(row, seed)
        return not problems_of(joint.axes[0]) and refused(joint)

    def is_allowed(row: Sequence[str]) -> bool:
        more = [(place, one) for place, one in enumerate(row) if one != first[place]]
        if any(are_refused(*two) for two in itertools.combinations(more, 2)):
            return False
        (stages,) = of_choices(row, seed).axes
        return len({*map(type, stages)}) == len(stages) and not problems_of(stages)  # pyright: ignore

    rows, impossible = combinations_of_three(kinds, is_allowed, seed)
    return rows, len(impossible)
