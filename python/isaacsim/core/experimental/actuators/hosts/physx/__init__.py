"""PhysX as embedded physics, from the `ovphysx` wheel: the engine of Isaac Sim without Kit."""
