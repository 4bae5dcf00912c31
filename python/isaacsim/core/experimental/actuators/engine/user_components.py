"""Actuators from the configs and components of a program: validated, adopted, moved to the right device.

Components stay the objects of the program. A component that already serves a joint, of this wrapper or of another open
one, is copied with its current values.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import warp as wp

from ..base.errors import NotCopied, shown
from ..laws.contract import catalogue, newton_classes
from ..specs.arguments import require_type
from ..specs.combinations import others_together
from ..specs.configs import Config
from ..specs.dry_friction import is_dry
from ..specs.effort_modes import EffortModes, in_effort_mode
from ..specs.engine_friction import unattached_problems
from ..specs.gear_losses import with_losses
from ..specs.motors import motor_of, problems_of
from ..specs.stages import NAMED, AnyStage
from .actuator import Actuator
from .entry import ActuatorConfig, ActuatorEntry, check_config, give_rotor
from .motors import Fit
from .plan import check_parameters

_Given = TypeVar("_Given")


def in_joint_order(pairs: Sequence[tuple[_Given, str]], names: Sequence[str], where: str) -> list[tuple[_Given, str]]:
    """Return actuators in the order of their joints."""
    require_type("actuators", pairs, Sequence, "a list of pairs of an actuator and a joint name")
    for pair in pairs:
        if not (isinstance(pair, Sequence) and len(pair) == 2 and isinstance(pair[1], str)):
            raise TypeError(f"actuators: {shown(pair)}: must be a pair of an actuator and a joint name. Give one.")
    driven = [name for _, name in pairs]
    for position, name in enumerate(driven):
        if name not in names:
            raise ValueError(f"joint {name!r}: not in {where}. Available: {list(names)}.")
        if (count := list(names).count(name)) > 1:
            raise ValueError(f"joint {name!r} is found {count} times in {where}.")
        if name in driven[:position]:
            raise ValueError(f"joint {name!r} is given two actuators. Give each joint one.")
    return sorted(pairs, key=lambda pair: list(names).index(pair[1]))


def entries_from_configs(
    pairs: Sequence[tuple[object, str]], num_robots: int, device: wp.DeviceLike, effort_mode: EffortModes | None = None
) -> list[ActuatorEntry]:
    """Return the entries of Python configs, or of actuators of this package or newton, each for a joint by name."""
    names = [name for _, name in pairs]
    configs = [_config_of(given, name, num_robots) for given, name in pairs]
    configs = in_effort_mode(configs, [[name] for name in names], effort_mode)
    pairs = _built(list(zip(configs, names, strict=True)), num_robots, device)
    for config, dof_name in pairs:
        check_config(config)
        # a component that is in use has parameters in a plan: check a copy with arrays
        known = config.each(lambda one: newton_classes.adopted_copy(_outside_plans(one)))
        check_parameters(ActuatorEntry(dof_name, (dof_name,), **known), num_robots)
    taken: set[int] = set()
    return [
        ActuatorEntry(dof_name, (dof_name,), **config.each(lambda one: _adopted(one, taken, device)))
        for config, dof_name in pairs
    ]


def _config_of(given: object, dof_name: str, num_robots: int) -> ActuatorConfig:
    """Return a config itself, or the config of an actuator, without its indices and names of arrays."""
    own = isinstance(given, Actuator)
    if isinstance(given, ActuatorConfig):
        return given
    parts: Any = [getattr(given, name) for name in (*NAMED, "others")] if own else newton_classes.parts_of(given)
    if parts is None:
        if not all(hasattr(given, name) for name in NAMED):
            raise TypeError(f"actuator {dof_name!r} = {shown(given)}: must be an Actuator or ActuatorConfig. Make one.")
        return ActuatorConfig(*(getattr(given, name) for name in NAMED))
    _require_for_set(given, dof_name, num_robots)
    return ActuatorConfig(*parts)


def _require_for_set(given: AnyStage, dof_name: str, num_robots: int) -> None:
    if getattr(given, "requires_grad", False):
        raise ValueError(
            f"actuator {dof_name!r} has requires_grad = True: must be stepped by itself to have gradients on a tape. "
            "Make it without; ActuatedArrays takes requires_grad for all of its own."
        )
    if isinstance(given, Actuator) and given.effort_mode != "explicit":
        raise ValueError(
            f"actuator {dof_name!r}: its effort mode is implicit: must be explicit. Call set_effort_mode_explicit()."
        )
    if len(given.indices) != num_robots:
        raise ValueError(
            f"actuator {dof_name!r} has {len(given.indices)} joints: must have {num_robots}, one per robot. Make one "
            "for this joint."
        )


def _built(
    pairs: Sequence[tuple[ActuatorConfig, str]], num_robots: int, device: wp.DeviceLike
) -> list[tuple[ActuatorConfig, str]]:
    problems: list[str] = []

    def built(part: object, dof_name: str) -> object:
        if not isinstance(part, Config):
            return part
        fit = Fit([dof_name], num_robots, f"actuator {dof_name!r}", problems)
        network, fits = fit.network(part), fit.config(part)
        return (
            part if problems else newton_classes.as_newton_instance(catalogue.build(fits, num_robots, device, network))
        )

    for config, dof_name in pairs:
        plain = [stage for stage in config.stages if isinstance(stage, Config)]
        subject = f"actuator {dof_name!r}"
        problems += problems_of(motor_of(plain), subject) or unattached_problems(plain, subject)
        problems += _friction_beside_losses(config, subject)
    made: list[tuple[ActuatorConfig, str]] = []
    for config, dof_name in pairs:
        # a gear given as a component has no losses
        ordered = [catalogue.in_order(some or ()) for some in (config.clamping, others_together(config))]
        sorted_config = dataclasses.replace(config, clamping=ordered[0], others=ordered[1])
        made.append((ActuatorConfig(**sorted_config.each(functools.partial(built, dof_name=dof_name))), dof_name))
        if not problems:
            give_rotor(made[-1][0].others, config)
    if problems:
        raise ValueError("\n".join(problems))
    return made


def _friction_beside_losses(config: ActuatorConfig, subject: str) -> list[str]:
    """Return what is wrong between a gear with losses and friction that is given as a component."""
    own = [one for one in config.others or () if not isinstance(one, Config) and any(map(is_dry, one.PARAMETERS))]
    if not own or len(with_losses(config)) == len(config.others):
        return []
    return [
        f"{subject} has {type(own[0]).__name__} and a transmission with losses: must have a FrictionConfig, which "
        "takes both. Use that, or set the efficiencies to 1."
    ]


def release(components: Iterable[object]) -> None:
    """Remove the components of a closed wrapper from its plans, so that another wrapper can use them."""
    for component in components:
        remove_from_plan(component, component)


def _adopted(component: object, taken: set[int], device: wp.DeviceLike) -> object:
    """Return a component, or a copy if it is in use, as a component of this package with its arrays on the device."""
    free = _outside_plans(component)
    if free is component and id(component) in taken:
        free = shallow_copy(component)
    taken.add(id(component))
    component = newton_classes.adopt(free)
    for name, value in vars(component).items():
        if isinstance(value, wp.array) and value.device != wp.get_device(device):
            vars(component)[name] = value.to(device)
    return component


def _outside_plans(component: _Given) -> _Given:
    """Return a component that no wrapper uses: the component itself, or a copy with its current values."""
    if not getattr(component, "_in_use", False):
        return component
    return remove_from_plan(shallow_copy(component), component)


def remove_from_plan(component: _Given, original: AnyStage) -> _Given:
    """Give a component arrays with the current values of its original, remove it from any plan, and return it."""
    if (source := original.parameter_source) is not None:
        vars(component).update({name: source.copied(original, name) for name in original.PARAMETERS})
    for name in ("parameter_source", "_in_use"):
        vars(component).pop(name, None)
    return component


def shallow_copy(component: _Given) -> _Given:
    """Return a component with the same attributes, also of a class that refuses copies."""
    kind = type(component)
    if kind.__reduce__ is not NotCopied.__reduce__ or hasattr(kind, "__copy__"):
        return copy.copy(component)
    other = object.__new__(kind)
    vars(other).update(vars(component))
    return other
