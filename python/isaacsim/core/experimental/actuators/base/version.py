"""The version, readable without the package."""

__version__ = "1.1.0"
