"""Kit's applications: Isaac Sim and plain Kit, and the events both have."""
