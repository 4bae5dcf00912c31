"""The laws: one file each, scalar function first, component class below it."""
