"""Robots tried out: targets to follow, what came of it, and what a motor can give."""
