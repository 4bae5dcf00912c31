"""The only folder that knows pxr: stages, actuator prims, articulation roots and joints."""
