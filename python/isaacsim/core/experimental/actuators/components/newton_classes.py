"""Components and whole actuators of newton.actuators, of any version from 1.2 on, taken as ours.

newton's classes have our names and parameters, some of them new names since 1.6: `DrivePD` is `ControllerPD`. A
component of newton's is adopted: it gets a class, made here, that is a subclass of ours and of the one it had. So it
stays the object that was given, and the whole of our machinery applies to it.

    computation is newton's         class (ours, theirs)        the engines run the law
    computation is the user's own   class (theirs, our family)  its methods run, called as newton calls them

Those methods take the same arguments in all these versions, but for `custom_inputs` (from 1.7 on), which are arrays of
the control object that a component asks for by name. newton is not imported, which takes seconds: its classes are told
by their names, and a class of newton's is looked up only once the program has imported it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Sequence
from typing import Any

import warp as wp

from . import catalogue
from .base import Clamping, Component, Controller
from .delay import Delay

_FAMILIES = {"Controller": Controller, "Clamping": Clamping, "Delay": Delay}
_KINDS = {"drive": "controller"}

# what newton's base classes leave to a component, by family
_OWED = {Controller: ("compute", "is_stateful"), Clamping: ("modify_forces",)}
# what a subclass may override without another computation, as far as methods without underscores go
_HARMLESS = {"resolve_arguments", "is_graphable", "SHARED_PARAMS"}
_HOOKS = {"__getattr__", "__getattribute__", "__setattr__"}


def adopt(component: Any) -> Any:
    """Make a component of newton's one of ours, and return it; anything else is returned as it is.

    Raises:
        ValueError: It cannot be used.
    """
    adopted = stand_in(component)
    if adopted is not component:
        vars(component).update(vars(adopted))
        component.__class__ = type(adopted)
    return component


def stand_in(component: Any) -> Any:
    """Return what `adopt` would make of a component, which stays as it is; anything else is returned itself.

    Raises:
        ValueError: It cannot be used.
    """
    own = type(component)
    if (origin := _origin(own)) is None:
        return component
    theirs, ours = origin
    native = ours not in _OWED and not _computes_itself(component, theirs, ours)
    made = _adopting(own, theirs, ours, native)
    values = dict(vars(component))
    if native:
        values |= vars(ours(**_arguments(values, ours)))
    elif ours is Delay:
        values["max_delay"] = values.get("buf_depth", 1)
    adopted = object.__new__(made)
    vars(adopted).update(values)
    return adopted


def dressed(one: Any) -> Any:
    """Return a component or actuator of ours that is an instance of newton's class for it too, see `dual`."""
    one.__class__ = dual(type(one))
    return one


def dual(ours: type) -> type:
    """The class that is one of our own, built-in component or `Actuator`, and newton's class for it too.

    Ours itself where newton.actuators was not imported yet, or where that version has no such class.
    """
    peer = sys.modules.get("newton.actuators")
    is_component = catalogue.is_built_in(ours)
    if peer is None or not (is_component or ours.__name__ == "Actuator"):
        return ours
    theirs = peer_of(ours.__name__, peer)
    if theirs is None:
        return ours
    return _adopting(theirs, theirs, ours, True) if is_component else _dual_actuator(ours, theirs)


def peer_of(name: str, peer: Any) -> Any:
    """The class that `newton.actuators` of any version has for one of ours by name; None where it has none."""
    # not by getattr: names of before warn
    for theirs, found in vars(peer).items():
        if catalogue.name_here(theirs) == name and isinstance(found, type) and _is_newtons(found):
            return found
    return None


def parts_of(actuator: Any) -> tuple[Any, list[Any], Any] | None:
    """Control law, limits and delay of a whole actuator of newton's, of any version; None for anything else.

    Raises:
        ValueError: It computes in a way that ours do not.
    """
    if not any(base.__name__ == "Actuator" and _is_newtons(base) for base in type(actuator).__mro__):
        return None
    held = vars(actuator)
    if "Implicit" in type(held.get("_effort_mode")).__name__:
        raise ValueError(
            "the effort mode of this newton actuator is implicit: must be explicit. Call set_effort_mode_explicit()."
        )
    return held["drive"] if "drive" in held else held["controller"], list(held["clamping"]), held["delay"]


def component_class(given: Any) -> Any:
    """Return a class of newton's, or a user's subclass of one, as a class of ours; anything else as it is."""
    origin = _origin(given) if isinstance(given, type) else None
    if origin is None:
        return given
    theirs, ours = origin
    return _adopting(given, theirs, ours, given is theirs and ours not in _OWED)


def register_inputs(builder: Any, names: Sequence[str]) -> None:
    """Let the controls of the model that a newton `ModelBuilder` makes have these arrays, one number per joint axis."""
    if "newton" not in sys.modules or not hasattr(builder, "add_custom_attribute"):
        raise TypeError(f"builder = {builder!r}: must be a ModelBuilder of newton. Give one.")
    model = sys.modules["newton"].Model
    where = {
        "frequency": model.AttributeFrequency.JOINT_DOF,
        "assignment": model.AttributeAssignment.CONTROL,
    }
    for name in names:
        builder.add_custom_attribute(builder.CustomAttribute(name=name, dtype=wp.float32, default=0.0, **where))


def own_computation(component: Any) -> bool:
    """Whether a component is one of newton's, or of its subclasses, that computes by its own methods."""
    return any(_is_newtons(base) for base in type(component).__mro__) and getattr(component, "_runs_as", None) is None


def kind_of(kind: Any) -> Any:
    """The name that a kind of component has here, of our enumeration or of newton's."""
    return _KINDS.get(kind.value, kind.value)


def _is_newtons(some: type) -> bool:
    return some.__module__.partition(".")[0] == "newton"


def _origin(own: type) -> tuple[type, Any] | None:
    """The nearest class of newton's that a class is or inherits from and that we know, and ours for it.

    None for a class that is ours already, and for one of anybody else.
    """
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


def _computes_itself(component: Any, theirs: type, ours: Any) -> bool:
    """Whether anything that newton's class computes with was replaced, in a subclass or on the object."""
    mro = type(component).__mro__
    names = {name for base in mro[: mro.index(theirs)] for name in vars(base)}
    overridden = {name for name in names if not name.startswith("__") and (hasattr(theirs, name))} - _HARMLESS
    shadowed = {name for name in vars(component) if callable(getattr(theirs, name, None))}
    return bool(overridden or shadowed or names & {*_HOOKS, *ours.PARAMETERS})


@functools.cache
def _adopting(own: type, theirs: type, ours: Any, native: bool) -> type:
    """Return the class of adopted components of class `own`.

    Raises:
        ValueError: They lack a method that newton leaves to them.
    """
    family = next(family for family in _FAMILIES.values() if issubclass(ours, family))
    owed = [name for name in _OWED.get(ours, ()) if getattr(own, name) is getattr(theirs, name)]
    if owed:
        raise ValueError(f"{own.__name__} does not override {owed}: must do so, as newton asks. Write these methods.")
    named = ours if _is_newtons(own) and native else own
    members = {"__module__": named.__module__, "__doc__": own.__doc__}
    members |= _native_members(own, ours) if native else _computing_members(own, ours, family)
    return type(named.__name__, (ours, own) if native else (own, family), members)


def _native_members(own: type, ours: Any) -> dict[str, Any]:
    """Members of a class whose law the engines run."""
    # one kernel for the law, however many classes have it
    kernel = {"kernel": ours.kernel} if hasattr(ours, "kernel") else {}
    overridden = {name: getattr(own, name) for name in _HARMLESS if not _is_newtons(own) and hasattr(own, name)}
    return {"_runs_as": ours} | kernel | overridden


def _computing_members(own: type, ours: Any, family: type) -> dict[str, Any]:
    """Members of a class whose own methods run."""
    # states of newton's networks are (layers, N, hidden size) or (steps, N)
    is_network = any(_is_newtons(base) and "Neural" in base.__name__ for base in own.__mro__)
    methods = _DELAY if family is Delay else _TABLE if hasattr(own, "_read_lookup_table") else {}
    return {"PARAMETERS": ours.PARAMETERS} | ({"STATE_AXIS": 1} if is_network else {}) | methods


@functools.cache
def _dual_actuator(ours: type, theirs: type) -> type:
    # from 1.6 on newton has a descriptor `controller`, which would hide the attribute of that name
    hidden = {name: None for name, one in vars(theirs).items() if hasattr(one, "__set__") and name not in dir(ours)}
    members = {"__module__": ours.__module__, "__doc__": ours.__doc__, "set_effort_mode_implicit": _refuse_implicit}
    return type(ours.__name__, (ours, theirs), hidden | members)


def _refuse_implicit(self: Any, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(f"{self!r}: effort modes must be explicit here. Make an Actuator of newton for this one.")


def _arguments(values: dict[str, Any], ours: Any) -> dict[str, Any]:
    """What one of our classes is made of, from the attributes that newton's object has."""
    given = {name: values.get(name) for name in inspect.signature(ours).parameters}
    if ours is Delay:
        given["max_delay"] = values.get("buf_depth")
    elif ours.CURVES:
        given = {"lookup_table_path": values.get("_lookup_table_path")}
        if given["lookup_table_path"] is None:
            given |= dict(zip(("lookup_positions", "lookup_efforts"), _table_of(values), strict=True))
    return given


def _table_of(values: dict[str, Any]) -> list[Any]:
    """Positions and efforts of newton's limit over positions, which are arrays once it was finalized."""
    names = {"_positions_tuple": "lookup_positions", "_efforts_tuple": "lookup_efforts"}
    found = [
        values.get(before) if values.get(before) is not None else values.get(after) for before, after in names.items()
    ]
    return [one.numpy().tolist() if isinstance(one, wp.array) else one for one in found]


def _update_state(self: Any, *arguments: Any) -> None:
    # newton copies one row only, and relies on the others being those of two steps ago
    now, after = arguments[-2:]
    if after is not None and after is not now:
        for name, before in vars(now).items():
            if isinstance(before, wp.array):
                wp.copy(getattr(after, name), before)
    _own_class(self).update_state(self, *arguments)


def _finalize(self: Any, device: Any, num_actuators: int) -> None:
    # newton forgets the table once it is on a device
    if getattr(self, "lookup_positions", None) is not None:
        self._positions_tuple, self._efforts_tuple = _table_of(vars(self))
    _own_class(self).finalize(self, device, num_actuators)


def _own_class(component: Any) -> Any:
    """The class that an adopted component with a computation of its own had before."""
    return type(component).__mro__[1]


_DELAY = {"update_state": _update_state}
_TABLE = {"finalize": _finalize}
