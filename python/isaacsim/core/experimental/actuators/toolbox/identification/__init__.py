"""Identification of motors from logs of a robot."""
