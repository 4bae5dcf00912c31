"""The version, readable without the package."""

__version__ = "0.9.0"
