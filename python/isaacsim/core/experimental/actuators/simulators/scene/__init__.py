"""Physics of a stage, read by USD's own parser into plain data."""
