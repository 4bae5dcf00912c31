"""Stages, actuator prims, articulation roots and joints; the only folder that imports pxr."""
