"""Readers and writers of USD, motor files and networks; code in a file is never run."""
