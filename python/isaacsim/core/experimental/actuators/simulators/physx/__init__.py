"""PhysX as embedded physics, from the `ovphysx` wheel: the physics of Isaac Sim without Kit."""
