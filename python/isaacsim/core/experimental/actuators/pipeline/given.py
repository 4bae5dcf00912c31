"""Components that a program gives become those of actuators: checked, adopted, on the right device.

They stay the objects that were given. One that already serves a joint, of this wrapper or of another open one, is
copied, with the values it has now.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import warp as wp

from ..components import catalogue, newton_classes
from ..errors import NotCopied
from ..specs.arguments import require_type
from ..specs.configs import Config
from ..specs.engine_friction import unattached_problems
from ..specs.fields import shown
from ..specs.motors import motor_of, problems_of
from ..specs.stages import NAMED
from .actuator import Actuator
from .entry import ActuatorConfig, ActuatorEntry, check_config
from .motors import Fit
from .plan import check_parameters


def in_joint_order(pairs: Sequence[tuple[Any, str]], names: Sequence[str], where: str) -> list[tuple[Any, str]]:
    """Return actuators by the places of their joints.

    Args:
        pairs: Actuators, and the names of the joints they drive.
        names: Names of all joints.
        where: What errors call all of them.

    Raises:
        ValueError: A name is unknown, ambiguous or given twice.
    """
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


def entries_from_configs(pairs: Sequence[tuple[Any, str]], num_robots: int, device: Any) -> list[ActuatorEntry]:
    """Return the actuators of Python configs, or whole ones, ours or newton's, each on the joint of that name.

    Raises:
        ValueError: A config cannot be used, or an array does not fit the robots; nothing has been changed then.
    """
    pairs = _built([(_config_of(given, name, num_robots), name) for given, name in pairs], num_robots, device)
    for config, dof_name in pairs:
        check_config(config)
        # what takes a place among robots has an array of its own for it
        known = config.each(lambda one: newton_classes.stand_in(_apart(one)))
        check_parameters(ActuatorEntry(dof_name, (dof_name,), **known), num_robots)
    taken: set[int] = set()
    return [
        ActuatorEntry(dof_name, (dof_name,), **config.each(lambda one: _taken_in(one, taken, device)))
        for config, dof_name in pairs
    ]


def _config_of(given: Any, dof_name: str, num_robots: int) -> ActuatorConfig:
    """A config as it is, and that of a whole actuator, whose arrays and indices are those of another simulation.

    Raises:
        ValueError: The actuator cannot be used, or is for another number of robots.
    """
    own = isinstance(given, Actuator)
    if isinstance(given, ActuatorConfig):
        return given
    parts: Any = [getattr(given, name) for name in (*NAMED, "others")] if own else newton_classes.parts_of(given)
    if parts is None:
        if not all(hasattr(given, name) for name in NAMED):
            raise TypeError(f"actuator {dof_name!r} = {shown(given)}: must be an Actuator or ActuatorConfig. Make one.")
        return ActuatorConfig(*(getattr(given, name) for name in NAMED))
    if getattr(given, "requires_grad", False):
        raise ValueError(
            f"actuator {dof_name!r} has requires_grad = True: must be stepped by itself to have gradients on a tape. "
            "Make it without; ActuatedArrays takes requires_grad for all of its own."
        )
    if len(given.indices) != num_robots:
        raise ValueError(
            f"actuator {dof_name!r} has {len(given.indices)} joints: must have {num_robots}, one per robot. Make one "
            "for this joint."
        )
    return ActuatorConfig(*parts)


def _built(
    pairs: Sequence[tuple[ActuatorConfig, str]], num_robots: int, device: Any
) -> list[tuple[ActuatorConfig, str]]:
    """The same actuators, with components in place of plain configs.

    Raises:
        ValueError: Listing every value of them that cannot be used.
    """
    problems: list[str] = []

    def built(part: Any, dof_name: str) -> Any:
        if not isinstance(part, Config):
            return part
        fit = Fit([dof_name], num_robots, f"actuator {dof_name!r}", problems)
        network, fits = fit.network(part), fit.config(part)
        return part if problems else newton_classes.dressed(catalogue.build(fits, num_robots, device, network))

    for config, dof_name in pairs:
        plain = [stage for stage in config.stages if isinstance(stage, Config)]
        subject = f"actuator {dof_name!r}"
        problems += problems_of(motor_of(plain), subject) or unattached_problems(plain, subject)
    made: list[tuple[ActuatorConfig, str]] = []
    for config, dof_name in pairs:
        ordered = [catalogue.in_order(some or ()) for some in (config.clamping, config.others)]
        sorted_config = dataclasses.replace(config, clamping=ordered[0], others=ordered[1])
        made.append((ActuatorConfig(**sorted_config.each(functools.partial(built, dof_name=dof_name))), dof_name))
    if problems:
        raise ValueError("\n".join(problems))
    return made


def release(components: Iterable[Any]) -> None:
    """Give components whose wrapper was closed arrays of their own, so that another one can take them as they are."""
    for component in components:
        set_free(component, component)


def _taken_in(component: Any, taken: set[int], device: Any) -> Any:
    """A component, or its copy, as one of ours with its arrays on the device."""
    free = _apart(component)
    if free is component and id(component) in taken:
        free = twin(component)
    taken.add(id(component))
    component = newton_classes.adopt(free)
    for name, value in vars(component).items():
        if isinstance(value, wp.array) and value.device != wp.get_device(device):
            vars(component)[name] = value.to(device)
    return component


def _apart(component: Any) -> Any:
    """A component that no wrapper runs: it, or a copy with the values it has now."""
    if not getattr(component, "_in_use", False):
        return component
    return set_free(twin(component), component)


def set_free(component: Any, original: Any) -> Any:
    """Return a component that nobody runs: it, with the values that its original has now."""
    vars(component).update(_own_arrays(original))
    for name in ("parameter_source", "_in_use"):
        vars(component).pop(name, None)
    return component


def twin(component: Any) -> Any:
    """Return another component with the attributes of this one, which users cannot copy; arrays are shared."""
    kind = type(component)
    if kind.__reduce__ is not NotCopied.__reduce__ or hasattr(kind, "__copy__"):
        return copy.copy(component)
    other = object.__new__(kind)
    vars(other).update(vars(component))
    return other


def _own_arrays(component: Any) -> dict[str, wp.array]:
    """Parameters that a plan holds, copied into arrays of the component's own."""
    if component.parameter_source is None:
        return {}
    return {name: component.parameter_source.copied(component, name) for name in component.PARAMETERS}
