"""Action graphs outside Kit: reads the `OmniGraph` prims of a USD stage and runs them in a `Simulation`.

actuators run data/graphs/pd_from_usd.usda
"""

from ....base.extras import needs
from ..omnigraph.ogn_file import NodePorts as NodePorts

with needs("Action graphs", "sim"):
    from .graph import Graph as Graph
    from .graph import GraphError as GraphError
    from .load import load_graphs as load_graphs
    from .load import register_node_type as register_node_type
    from .runner import GraphRunner as GraphRunner

__all__ = ["Graph", "GraphError", "GraphRunner", "NodePorts", "load_graphs", "register_node_type"]
