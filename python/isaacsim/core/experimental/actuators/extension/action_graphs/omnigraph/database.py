"""Database of a node without OmniGraph: a class made from the node's `.ogn` file.

In Kit, OmniGraph generates such a class; this one has the same members, so that a node runs here unchanged.
"""

from __future__ import annotations

import enum
import inspect
import traceback
import weakref
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .ogn_file import NodeDescription, read_ogn


class Severity(enum.IntEnum):
    """Severity of a message, as in `omni.graph.core`."""

    INFO = 0
    WARNING = 1
    ERROR = 2


class ReadOnlyError(AttributeError):
    """A node wrote to one of its inputs."""


class Node:
    """Stands for a node of a graph: the path of its prim, and the messages of its last run."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._count = 0
        self._messages: list[tuple[Severity, str]] = []
        self._before: list[tuple[Severity, str]] = []

    def get_prim_path(self) -> str:
        """Path of the prim that describes the node."""
        return self._path

    def get_compute_count(self) -> int:
        """Number of runs of the node."""
        return self._count

    def get_compute_messages(self, severity: Severity) -> list[str]:
        """Messages of the node's last run."""
        return [text for level, text in self._messages if level == severity]

    def log_compute_message(self, severity: Severity, message: str) -> bool:
        """Record a message once; return True if it was recorded before, in this run or the previous one."""
        said = (severity, message)
        known = said in self._messages
        if not known:
            self._messages.append(said)
        return known or said in self._before

    def begin_compute(self) -> None:
        """Count a run and start a new list of messages."""
        self._count += 1
        self._before, self._messages = self._messages, []


class Ports:
    """A group of ports as attributes, `db.inputs.stepDt`, `db.outputs.efforts_size`; inputs and arrays read-only."""

    def __init__(self, database: Database, group: str) -> None:
        # plain attributes are the ports
        vars(self).update(_database=database, _group=group)

    def __getattr__(self, name: str) -> Any:
        full_name, sized = self._find(name)
        value = self._database.read(full_name)
        return len(value) if sized else value

    def __setattr__(self, name: str, value: object) -> None:
        full_name, sized = self._find(name)
        if self._group == "inputs":
            where = self._database.node.get_prim_path()
            raise ReadOnlyError(f"<{where}>.{full_name}: a node cannot set its inputs. Set an output or a state.")
        port = self._database.DESCRIPTION.ports[full_name]
        self._database.write(full_name, port.type.zeros(value) if sized else value)

    def _find(self, name: str) -> tuple[str, bool]:
        """Return the full name of a port, and whether its size is meant."""
        ports = self._database.DESCRIPTION.ports
        if (full_name := f"{self._group}:{name}") in ports:
            return full_name, False
        full_name = full_name.removesuffix("_size")
        if name.endswith("_size") and full_name in ports and ports[full_name].type.is_array:
            return full_name, True
        known = [port.name for port in self._database.DESCRIPTION.group(self._group)]
        raise AttributeError(f"{self._group}:{name}: no such port. Available: {known}.")


class Database:
    """The values of one node, which takes messages; `node_database` makes a subclass for each node type."""

    DESCRIPTION: ClassVar[NodeDescription]
    NODE_TYPE_CLASS: ClassVar[Any]
    # states of the node class by node, then by instance; None for all instances
    _states: ClassVar[weakref.WeakKeyDictionary[object, dict[int | None, object]]]

    def __init__(self, node: Any, graph_instance_id: int = 0) -> None:
        self.node = node
        self.graph_instance_id = graph_instance_id
        self._values: dict[str, object] = {}
        for name, port in self.DESCRIPTION.ports.items():
            self.write(name, port.default)
        self.inputs, self.outputs, self.state = (Ports(self, group) for group in ("inputs", "outputs", "state"))

    # values, for the runner of the node

    def read(self, name: str) -> Any:
        """Return the value of a port, named in full: `outputs:faults` for instance."""
        return self._values[name]

    def write(self, name: str, value: object) -> None:
        """Set a port, named in full; arrays are copied; ValueError if the value is not of the port's type."""
        try:
            converted = self.DESCRIPTION.ports[name].type.convert(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"<{self.node.get_prim_path()}>.{name} = {error}") from error
        if isinstance(converted, np.ndarray):
            converted.setflags(write=not name.startswith("inputs:"))
        self._values[name] = converted

    def evaluate(self, *fired: str) -> bool:
        """Run the node as OmniGraph does, with some execution inputs pulsed; return False after an error."""
        self.node.begin_compute()
        for name, port in self.DESCRIPTION.ports.items():
            if port.type.base == "execution":
                self.write(name, port.group == "inputs" and port.name in fired)
        try:
            return bool(self.NODE_TYPE_CLASS.compute(self))
        except Exception as error:
            self.log_error(f"compute raised: {type(error).__name__}: {error}\n{traceback.format_exc()}")
            return False

    # variables of the graph, where the node is part of one

    def get_variable(self, name: str) -> Any:
        """Return the value of a variable."""
        return self.node.variables.read(name)

    def set_variable(self, name: str, value: object) -> None:
        """Set a variable."""
        self.node.variables.write(name, value)

    # state of the node

    @property
    def per_instance_state(self) -> Any:
        """State of the node class for this instance."""
        return self.get_internal_state(self.node, self.graph_instance_id)

    @property
    def internal_state(self) -> Any:
        """Older name of `per_instance_state`."""
        return self.per_instance_state

    @property
    def shared_state(self) -> Any:
        """State of the node class for all instances of the node."""
        return self.shared_internal_state(self.node)

    @classmethod
    def register(cls, node_class: type) -> None:
        """Set the class that implements the node."""
        cls.NODE_TYPE_CLASS = node_class

    @classmethod
    def get_internal_state(cls, node: object, graph_instance_id: int | None) -> Any:
        """Return the state of the node class for an instance, made on first use."""
        states = cls._states.setdefault(node, {})
        if graph_instance_id not in states:
            states[graph_instance_id] = cls.NODE_TYPE_CLASS.internal_state()
        return states[graph_instance_id]

    @classmethod
    def per_instance_internal_state(cls, node: object) -> Any:
        """Return the state of the node class for the first instance."""
        return cls.get_internal_state(node, 0)

    @classmethod
    def shared_internal_state(cls, node: object) -> Any:
        """Return the state of the node class for all instances of a node."""
        return cls.get_internal_state(node, None)

    @classmethod
    def release_instance(cls, node: object, graph_instance_id: int = 0) -> None:
        """Notify the node class that an instance is deleted, then drop its state."""
        try:
            if (release := getattr(cls.NODE_TYPE_CLASS, "release_instance", None)) is not None:
                release(node, graph_instance_id)
        finally:
            cls._states.get(node, {}).pop(graph_instance_id, None)

    # messages

    def log_error(self, message: str, add_context: bool = True) -> None:
        """Log why the node failed."""
        self._log(Severity.ERROR, message, add_context)

    def log_warning(self, message: str, add_context: bool = True) -> None:
        """Log a warning."""
        self._log(Severity.WARNING, message, add_context)

    log_warn = log_warning

    def log_info(self, message: str, add_context: bool = True) -> None:
        """Log an information."""
        self._log(Severity.INFO, message, add_context)

    def _log(self, severity: Severity, message: str, add_context: bool) -> None:
        context = f"<{self.node.get_prim_path()}>: " if add_context else ""
        self.node.log_compute_message(severity, context + message)


def make_database(name: str, description: NodeDescription, base: type[Database] = Database) -> type[Database]:
    """Return a database class for nodes of a description, with no states yet."""
    return type(name, (base,), {"DESCRIPTION": description, "_states": weakref.WeakKeyDictionary()})


@cache
def _database_of(file: Path) -> type[Database]:
    return make_database(f"{file.stem}Database", read_ogn(file))


def node_database(node_class: type) -> type[Database]:
    """Return the database class of a node class, made from the `.ogn` file beside it."""
    made = _database_of(Path(inspect.getfile(node_class)).with_suffix(".ogn"))
    made.register(node_class)
    return made
