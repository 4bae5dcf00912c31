"""Tools for robots and their actuators: inspect, record, plot, test and train them, and the console command.

The rest of the package works without these rooms. Its public methods that open one import it when they are called.
"""
