"""Substitute for OmniGraph outside Kit: attribute types, `.ogn` files, and databases of nodes.

Nodes run on it unchanged. It knows nothing of graphs, see `runner`, and Kit does not load it.
"""
