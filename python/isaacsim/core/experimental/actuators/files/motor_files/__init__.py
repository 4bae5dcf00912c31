"""Motors in files: the same dictionary as in Python, written and read as YAML, TOML or JSON."""
