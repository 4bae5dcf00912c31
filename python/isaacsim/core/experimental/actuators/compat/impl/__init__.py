"""Modules that programs import from inside the documented extension, by the names they have there."""
