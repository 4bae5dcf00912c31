"""Policies for the walking quadrupeds of `actuators/Quadruped-v0`."""
