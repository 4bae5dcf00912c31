"""Actuators in a loop of one's own: no wrapper, no host, no USD."""
