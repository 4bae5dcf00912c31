"""Registry of node types and their classes. Only the running program can add to it; a stage cannot."""

from __future__ import annotations

from ....specs.arguments import require_type
from ..nodes.OgnArticulationActuators import OgnArticulationActuators
from ..omnigraph.database import Database, make_database, node_database
from ..omnigraph.ogn_file import NodePorts
from .kit_nodes import KIT_NODES

_databases: dict[str, type[Database]] = {}


def register_node_type(name: str, node_class: type) -> None:
    """Let graphs use a node type; registering it again replaces the class.

    Args:
        name: What `node:type` says in the stage.
        node_class: Has a static method `compute(db) -> bool`, as in Kit. Its ports are in the `.ogn` file beside its
            module, of the same name, or in its own attribute `PORTS`.

    Raises:
        TypeError: It is no name, or no class.
        ValueError: The name is that of a shipped node type, or the class is no node's.
        FileNotFoundError: There are no `PORTS` and no `.ogn` file.

    Example:
        >>> from isaacsim.core.experimental.actuators.extension.action_graphs import runner
        >>> class Double:
        ...     PORTS = runner.NodePorts(inputs={"number": ("double", 1.0)}, outputs={"result": "double"})
        ...
        ...     @staticmethod
        ...     def compute(db):
        ...         db.outputs.result = 2 * db.inputs.number
        ...         return True
        >>> runner.register_node_type("my.extension.Double", Double)
    """
    require_type("name", name, str, "the name of a node type")
    require_type("node_class", node_class, type, "a class")
    if name in _SHIPPED:
        raise ValueError(f"node type {name!r}: is a shipped one. Choose a name that begins with that of your project.")
    if not callable(getattr(node_class, "compute", None)):
        raise ValueError(f"{node_class.__name__}: must have a static method compute(db) -> bool. Add one.")
    _databases[name] = _database(name, node_class)


def known_node_types() -> list[str]:
    """Names of all node types."""
    return sorted(_databases)


def database_of(node_type: str) -> type[Database]:
    """The database class of a node type; KeyError if it is not known."""
    return _databases[node_type]


def _database(name: str, node_class: type) -> type[Database]:
    """Return a database class made from the ports that a class lists, else from its file."""
    ports: NodePorts | None = getattr(node_class, "PORTS", None)
    if ports is None:
        return node_database(node_class)
    made = make_database(f"{node_class.__name__}Database", ports.describe(name))
    made.register(node_class)
    return made


_SHIPPED = {"isaacsim.core.experimental.actuators.ArticulationActuators": OgnArticulationActuators, **KIT_NODES}
_databases.update({name: _database(name, node_class) for name, node_class in _SHIPPED.items()})
