"""Stands in for OmniGraph where there is none: attribute types, `.ogn` files, and what a node reads and writes.

Nodes run on it unchanged. It knows nothing of graphs, see `graphs`, and Kit does not load it.
"""
