"""Vibration of joints: predicted from gains, inertia and step, and detected in recordings."""
