"""The step: signals in, efforts out, state in, state out; one for native code, one for Warp, and what both share."""
