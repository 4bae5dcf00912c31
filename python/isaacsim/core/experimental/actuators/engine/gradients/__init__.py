"""Gradients of a step."""
