"""Watch a simulation while it runs: robots, their targets, and their motors' efforts, in a window or a web page."""
