"""Comparison of two simulations of the same robot: where their motions part, and what makes them part."""
