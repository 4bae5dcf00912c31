"""Efforts of the end of the step, with the mass matrix of the robot."""
