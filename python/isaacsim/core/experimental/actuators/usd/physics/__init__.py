"""What a stage says of physics, read by USD's own parser into plain data."""
