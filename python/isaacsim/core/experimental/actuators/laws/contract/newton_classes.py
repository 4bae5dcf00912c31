"""Components and actuators of newton.actuators, from version 1.2 on, used as components of this package.

newton's classes have our names and parameters; some have new names since 1.6: `DrivePD` is `ControllerPD`. A component
of newton is *adopted*: its class becomes a generated subclass of our class and of its own class. It stays the same
object, and this package treats it like one of its own components.

    computation of newton     class (ours, theirs)        the engines run the law
    computation of the user   class (theirs, our family)  its methods run, with newton's arguments

The methods have the same arguments in all these versions, except `custom_inputs` (from 1.7 on), arrays of the control
object that a component requests by name. This module does not import newton, which takes seconds: it recognizes classes
by their names, and looks up classes of newton only if the program has imported it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import warp as wp

from ..delay import Delay
from . import catalogue
from .base import Clamping, Component, Controller

_Object = TypeVar("_Object")

_FAMILIES = {"Controller": Controller, "Clamping": Clamping, "Delay": Delay}
_KINDS = {"drive": "controller"}

# abstract methods of newton's base classes, by family
_ABSTRACT = {Controller: ("compute", "is_stateful"), Clamping: ("modify_forces",)}
# public members that a subclass may override without changing the computation
_HARMLESS = {"resolve_arguments", "is_graphable", "SHARED_PARAMS"}
_HOOKS = {"__getattr__", "__getattribute__", "__setattr__"}


def adopt(component: object) -> object:
    """Adopt a component of newton in place, and return it; return other objects unchanged."""
    adopted = adopted_copy(component)
    if adopted is not component:
        vars(component).update(vars(adopted))
        component.__class__ = type(adopted)
    return component


def adopted_copy(component: object) -> object:
    """Return an adopted copy of a component of newton, which stays unchanged; return other objects themselves."""
    own = type(component)
    if (origin := _origin(own)) is None:
        return component
    theirs, ours = origin
    native = ours not in _ABSTRACT and not _computes_itself(component, theirs, ours)
    made = _adopting(own, theirs, ours, native)
    values = dict(vars(component))
    if native:
        values |= vars(ours(**_arguments(values, ours)))
    elif ours is Delay:
        values["max_delay"] = values.get("buf_depth", 1)
    adopted = object.__new__(made)
    vars(adopted).update(values)
    return adopted


def as_newton_instance(one: _Object) -> _Object:
    """Make one of our components or actuators also an instance of newton's class, see `dual_class`, and return it."""
    one.__class__ = dual_class(type(one))
    return one


def dual_class(ours: type) -> type:
    """Return a subclass of one of our classes, a built-in component or `Actuator`, and of newton's class of that name.

    Return our class itself if newton.actuators is not imported, or if its version has no such class.
    """
    peer = sys.modules.get("newton.actuators")
    is_component = catalogue.is_built_in(ours)
    if peer is None or not (is_component or ours.__name__ == "Actuator"):
        return ours
    theirs = peer_of(ours.__name__, peer)
    if theirs is None:
        return ours
    return _adopting(theirs, theirs, ours, True) if is_component else _dual_actuator(ours, theirs)


def peer_of(name: str, peer: object) -> Any:
    """Return the class of `newton.actuators` for the name of one of ours; None if the version has none."""
    # not by getattr, which warns of deprecated names
    for theirs, found in vars(peer).items():
        if catalogue.name_here(theirs) == name and isinstance(found, type) and _is_newtons(found):
            return found
    return None


def parts_of(actuator: object) -> tuple[Any, list[Any], Any] | None:
    """Return control law, limits and delay of an actuator of newton; None for other objects."""
    if not any(base.__name__ == "Actuator" and _is_newtons(base) for base in type(actuator).__mro__):
        return None
    held = vars(actuator)
    if "Implicit" in type(held.get("_effort_mode")).__name__:
        raise ValueError(
            "the effort mode of this newton actuator is implicit: must be explicit. Call set_effort_mode_explicit()."
        )
    return held["drive"] if "drive" in held else held["controller"], list(held["clamping"]), held["delay"]


def component_class(given: object) -> Any:
    """Return the class of adopted components of a class of newton, or of a user's subclass; return others unchanged."""
    origin = _origin(given) if isinstance(given, type) else None
    if origin is None:
        return given
    theirs, ours = origin
    return _adopting(given, theirs, ours, given is theirs and ours not in _ABSTRACT)


def register_inputs(builder: Any, names: Sequence[str]) -> None:
    """Register custom inputs with a newton `ModelBuilder`: control arrays with one number per joint axis."""
    if "newton" not in sys.modules or not hasattr(builder, "add_custom_attribute"):
        raise TypeError(f"builder = {builder!r}: must be a ModelBuilder of newton. Give one.")
    model = sys.modules["newton"].Model
    where = {"frequency": model.AttributeFrequency.JOINT_DOF, "assignment": model.AttributeAssignment.CONTROL}
    for name in names:
        builder.add_custom_attribute(builder.CustomAttribute(name=name, dtype=wp.float32, default=0.0, **where))


def own_computation(component: object) -> bool:
    """Return True if a component of newton, or of a subclass, computes by its own methods."""
    return any(_is_newtons(base) for base in type(component).__mro__) and getattr(component, "_runs_as", None) is None


def is_network(own: type) -> bool:
    """Return True for a class of newton's networks, or a subclass of one."""
    return any(_is_newtons(base) and "Neural" in base.__name__ for base in own.__mro__)


def kind_of(kind: Enum) -> Any:
    """Return our name of a kind of component, from a member of our enumeration or of newton's."""
    return _KINDS.get(kind.value, kind.value)


def _is_newtons(some: type) -> bool:
    return some.__module__.partition(".")[0] == "newton"


def _origin(own: type) -> tuple[type, type[Component]] | None:
    """Return newton's first known class among the bases of a class, and ours for it; None for others."""
    if issubclass(own, Component):
        return None
    for theirs in own.__mro__:
        name = catalogue.name_here(theirs.__name__)
        if not _is_newtons(theirs):
            continue
        if law := next((law for law in catalogue.laws() if law.name == name), None):
            return theirs, law.component
        if name in _FAMILIES:
            return theirs, _FAMILIES[name]
    return None


def _computes_itself(component: object, theirs: type, ours: type[Component]) -> bool:
    """Return True if a subclass or the object overrides members that newton's class computes with."""
    mro = type(component).__mro__
    names = {name for base in mro[: mro.index(theirs)] for name in vars(base)}
    overridden = {name for name in names if not name.startswith("__") and (hasattr(theirs, name))} - _HARMLESS
    shadowed = {name for name in vars(component) if callable(getattr(theirs, name, None))}
    return bool(overridden or shadowed or names & {*_HOOKS, *ours.PARAMETERS})


@functools.cache
def _adopting(own: type, theirs: type, ours: type[Component], native: bool) -> type:
    family = next(family for family in _FAMILIES.values() if issubclass(ours, family))
    abstract = [name for name in _ABSTRACT.get(ours, ()) if getattr(own, name) is getattr(theirs, name)]
    if abstract:
        raise NotImplementedError(
            f"{own.__name__} does not override {abstract}: must do so, as newton asks. Write these methods."
        )
    named = ours if _is_newtons(own) and native else own
    members = {"__module__": named.__module__, "__doc__": own.__doc__}
    members |= _native_members(own, ours) if native else _computing_members(own, ours, family)
    return type(named.__name__, (ours, own) if native else (own, family), members)


def _native_members(own: type, ours: type[Component]) -> dict[str, object]:
    # one kernel for all classes with the law
    found = getattr(ours, "kernel", None)
    kernel = {} if found is None else {"kernel": found}
    overridden = {name: getattr(own, name) for name in _HARMLESS if not _is_newtons(own) and hasattr(own, name)}
    return {"_runs_as": ours} | kernel | overridden


def _computing_members(own: type, ours: type[Component], family: type) -> Mapping[str, object]:
    methods = _METHODS.get(family, {}) | (_TABLE if hasattr(own, "_read_lookup_table") else {})
    # states of newton's networks are (layers, N, hidden size) or (steps, N)
    return {"PARAMETERS": ours.PARAMETERS} | ({"STATE_AXIS": 1} if is_network(own) else {}) | methods


@functools.cache
def _dual_actuator(ours: type, theirs: type) -> type:
    # newton has a descriptor `controller` from 1.6 on, which would hide the attribute
    hidden = {name: None for name, one in vars(theirs).items() if hasattr(one, "__set__") and name not in dir(ours)}
    members = {"__module__": ours.__module__, "__doc__": ours.__doc__}
    return type(ours.__name__, (ours, theirs), hidden | members)


def _arguments(values: Mapping[str, object], ours: type[Component]) -> dict[str, Any]:
    given = {name: values.get(name) for name in inspect.signature(ours).parameters}
    if ours is Delay:
        given["max_delay"] = values.get("buf_depth")
    elif ours.CURVES:
        given = {"lookup_table_path": values.get("_lookup_table_path")}
        if given["lookup_table_path"] is None:
            given |= dict(zip(("lookup_positions", "lookup_efforts"), _table_of(values), strict=True))
    return given


def _table_of(values: Mapping[str, object]) -> list[object]:
    """Return positions and efforts of newton's position-based limit, which are arrays after `finalize`."""
    names = {"_positions_tuple": "lookup_positions", "_efforts_tuple": "lookup_efforts"}
    found = [
        values.get(before) if values.get(before) is not None else values.get(after) for before, after in names.items()
    ]
    return [one.numpy().tolist() if isinstance(one, wp.array) else one for one in found]


def _update_state(self: object, *arguments: object) -> None:
    # newton copies one row only, and assumes that the others have the values of two steps ago
    now, after = arguments[-2:]
    if after is not None and after is not now:
        for name, before in vars(now).items():
            if isinstance(before, wp.array):
                wp.copy(getattr(after, name), before)
    _own_class(self).update_state(self, *arguments)


def _finalize(self: Any, device: wp.DeviceLike, num_actuators: int) -> None:
    # newton drops the table after copying it to a device
    if getattr(self, "lookup_positions", None) is not None:
        self._positions_tuple, self._efforts_tuple = _table_of(vars(self))
    _own_class(self).finalize(self, device, num_actuators)


def _state(self: object, num_actuators: int, device: wp.DeviceLike) -> Any:
    # newton's networks of Torch keep tensors, and replace them in each step
    state = _own_class(self).state(self, num_actuators, device)
    held = getattr(state, "__dict__", {})
    tensors = {name: one for name, one in held.items() if type(one).__module__.partition(".")[0] == "torch"}
    if tensors:
        state.__class__ = _with_tensors(type(state), tuple(tensors))
        for name, tensor in tensors.items():
            setattr(state, name, tensor)
    return state


@functools.cache
def _with_tensors(state: type, names: tuple[str, ...]) -> type:
    """Return the subclass of a state class that holds arrays, and shows those of these names as tensors of Torch."""
    # imported here: most programs have no network
    from ..networks.neural import StateArray

    members = {"__module__": state.__module__, "AS_TENSORS": True} | {name: StateArray() for name in names}
    return type(state.__name__, (state,), members)


def _own_class(component: object) -> Any:
    return type(component).__mro__[1]


_METHODS: dict[type, dict[str, object]] = {Delay: {"update_state": _update_state}, Controller: {"state": _state}}
_TABLE = {"finalize": _finalize}
