"""The version, readable without the package."""

__version__ = "1.0.0"
