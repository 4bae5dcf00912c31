"""From components to efforts: actuators, the plan they compile into, the engine that runs it."""
