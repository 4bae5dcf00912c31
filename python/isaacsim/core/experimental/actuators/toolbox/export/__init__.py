"""Motors of a robot for other systems: a file a target, and what each target cannot say, by joint."""
