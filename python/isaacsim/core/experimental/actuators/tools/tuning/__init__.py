"""Gains of a robot with their margins over poses, and what bounds them."""
