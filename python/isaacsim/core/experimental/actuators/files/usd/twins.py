"""Compare the actuator prims of robots with those of the robot that they are like.

Most robots of a stage are alike. The cheapest comparison comes first: prims that USD composes of the same specs are
not read; the actuators of a scope are compared as the text that layers write of it; only those that are neither are
compared value by value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pxr import Sdf, Usd

from .discover import targets_of
from .schema import TARGETS, applied_schemas, is_actuator

# what composes a prim of specs that stand elsewhere
_ARCS = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


@dataclass(frozen=True)
class _Said:
    """Values, names of properties, schemas and targets of an actuator prim."""

    values: dict[str, object]
    names: list[str]
    schemas: list[str]
    targets: list[tuple[str, str]]


@dataclass(frozen=True)
class _Written:
    """Text of a scope in each layer, the strongest first, and the names of the actuators in it."""

    layers: list[Sdf.Layer]
    texts: list[str]
    names: frozenset[str]


class Original:
    """The robot that others are like; each of its prims is read once for all of them.

    Args:
        stage: The stage.
        path: Path of its articulation root.
    """

    def __init__(self, stage: Usd.Stage, path: str) -> None:
        self.stage, self.path = stage, path
        self._said: dict[str, _Said] = {}
        self._written: dict[str, _Written] = {}
        self._stacks: dict[str, _Stack] = {}

    def prim(self, path: str) -> Usd.Prim:
        """Return a prim of the robot."""
        return self.stage.GetPrimAtPath(path)

    def said(self, path: str) -> _Said:
        """Return the opinions of an actuator prim."""
        if path not in self._said:
            prim = self.prim(path)
            values = {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes()}
            names = prim.GetAuthoredPropertyNames()
            self._said[path] = _Said(values, names, applied_schemas(prim), targets_of(prim))
        return self._said[path]

    def stack(self, path: str) -> _Stack:
        """Return the specs of a prim."""
        if path not in self._stacks:
            self._stacks[path] = _Stack.of(self.prim(path))
        return self._stacks[path]

    def written(self, scope: str) -> _Written:
        """Return what layers write of a scope of actuators at its own path.

        It names none of them where the same text may mean something else at another robot.
        """
        if scope not in self._written:
            actuators, stack = self.prim(scope).GetAllChildren(), self.stack(scope)
            texts = [spec.GetAsText() for spec in stack.own] if all(map(_is_written_here, actuators)) else []
            # a text of several lines may look like a prim
            is_plain = texts and not any(quotes in text for text in texts for quotes in ('"""', "'''"))
            names = frozenset(one.GetName() for one in actuators if is_plain)
            self._written[scope] = _Written(stack.layers, texts, names)
        return self._written[scope]


class Twins:
    """Prims of one robot, by those of the original: their paths differ by what stands before a common ending.

    Args:
        original: The robot that it is like.
        robot: Path of the robot's articulation root.
    """

    def __init__(self, original: Original, robot: str) -> None:
        self.stage, self._original = original.stage, original
        self._old, self._new = _parted(original.path, robot)
        self.prim = self.stage.GetPrimAtPath(self._new)
        """The uppermost prim that is the robot's own."""
        # by path of a parent of actuators: True if all are alike, and the names of those that are
        self._composed_alike: dict[str, bool] = {}
        self._written_alike: dict[str, Collection[str]] = {}

    def path(self, path: str) -> str:
        """Path of the robot's prim for one of the original."""
        inside = path == self._old or path.startswith(f"{self._old.rstrip('/')}/")
        return self._new + path[len(self._old.rstrip("/")) :] if inside else path

    def prim_of(self, path: str) -> Usd.Prim:
        """The robot's prim for one of the original."""
        return self.stage.GetPrimAtPath(self.path(path))

    def differ(self, path: str) -> bool:
        """Return True if the robot has an actuator prim of its own for one of the original, unlike it."""
        parent, _, name = path.rpartition("/")
        if parent not in self._composed_alike:
            self._composed_alike[parent] = any(map(self._is_composed_alike, self._down_to(parent)))
        if self._composed_alike[parent]:
            return False
        if parent not in self._written_alike:
            self._written_alike[parent] = self._names_written_alike(parent)
        if name in self._written_alike[parent]:
            return False
        new = self.prim_of(path)
        is_own = bool(new) and self.path(path) != path
        return is_own and not (new.IsDefined() and new.IsActive() and self._repeats(path, new))

    def _down_to(self, path: str) -> Iterator[str]:
        """Yield the paths from the original's uppermost prim down to `path`."""
        if self._old != "/":
            yield self._old
        at = path.find("/", len(self._old.rstrip("/")) + 1)
        while at > 0:
            yield path[:at]
            at = path.find("/", at + 1)
        yield path or "/"

    def _is_composed_alike(self, path: str) -> bool:
        """Return True if USD composes a prim, with all below, of the same specs as far as actuators go."""
        old, new = self._original.prim(path), self.prim_of(path)
        if not old or not new:
            return False
        if new.IsInstance() and old.IsInstance():
            return new.GetPrototype() == old.GetPrototype()
        return _Stack.of(new).composes_as(self._original.stack(path))

    def _names_written_alike(self, parent: str) -> Collection[str]:
        """Return the names of the actuators below a prim of which layers write the same, each at its own paths."""
        written, new = self._original.written(parent), self.prim_of(parent)
        if not written.names or not new or not new.IsDefined():
            return ()
        stack = _Stack.of(new)
        if stack.elsewhere != self._original.stack(parent).elsewhere or stack.layers != written.layers:
            return ()
        names = written.names
        places = f"<{self._old.rstrip('/')}/", f"<{self._new.rstrip('/')}/"
        for spec, text in zip(stack.own, written.texts, strict=True):
            mine, theirs = spec.GetAsText(), text.replace(*places)
            if mine != theirs:
                names &= _alike(mine, theirs)
        return names

    def _repeats(self, path: str, new: Usd.Prim) -> bool:
        """Return True if a prim has the opinions of that of the original, for its own joints."""
        said = self._original.said(path)
        return all(new.GetAttribute(name).Get() == value for name, value in said.values.items()) and (
            new.GetAuthoredPropertyNames() == said.names
            and applied_schemas(new) == said.schemas
            and [(self.path(joint), axis) for joint, axis in said.targets] == targets_of(new)
        )


@dataclass(frozen=True)
class _Stack:
    """The specs of a prim, the strongest first: those at its own path, and those from elsewhere."""

    own: list[Sdf.PrimSpec]
    elsewhere: list[Sdf.PrimSpec]

    @classmethod
    def of(cls, prim: Usd.Prim) -> _Stack:
        """Return the specs of a prim."""
        specs, path = prim.GetPrimStack(), prim.GetPath()
        return cls([spec for spec in specs if spec.path == path], [spec for spec in specs if spec.path != path])

    @property
    def layers(self) -> list[Sdf.Layer]:
        """The layers of the specs at its own path."""
        return [spec.layer for spec in self.own]

    def composes_as(self, other: _Stack) -> bool:
        """Return True if USD composes two prims, with all below, of the same specs as far as actuators go."""
        if not self.elsewhere or _says_something(self.own):
            return False
        return self.elsewhere == [*other.own, *other.elsewhere] or (
            self.elsewhere == other.elsewhere and not _says_something(other.own)
        )


def _says_something(specs: Sequence[Sdf.PrimSpec]) -> bool:
    """Return True if specs may say something of an actuator, or have prims below that may."""
    return any(spec.nameChildren or spec.variantSets or spec.HasInfo("active") for spec in specs)


def _is_written_here(actuator: Usd.Prim) -> bool:
    """Return True if the specs of an actuator at its own path are all that robots may have of it for themselves."""
    arcs = any(spec.HasInfo(arc) for spec in _Stack.of(actuator).own for arc in _ARCS)
    targets = actuator.GetRelationship(TARGETS)
    is_forwarded = bool(targets) and targets.GetTargets() != targets.GetForwardedTargets()
    return is_actuator(actuator) and not (arcs or is_forwarded or actuator.GetAllChildren())


def _alike(one: str, other: str) -> set[str]:
    """Return the names of the prims that are the same in the texts of two scopes."""
    theirs = set(_prims_in(other))
    return {text.split('"', 2)[1] for text in _prims_in(one) if text in theirs}


def _prims_in(text: str) -> list[str]:
    """Return the text of each prim in the text of a scope: type, name in quotes, and what follows."""
    return text.split("\n    def ")[1:]


def _parted(original: str, robot: str) -> tuple[str, str]:
    """Return two paths without their common ending: `/World` and `/World/envs/env_3` of `/World/Arm` and its copy."""
    old, new = original.split("/"), robot.split("/")
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        del old[-1], new[-1]
    return "/".join(old) or "/", "/".join(new) or "/"
