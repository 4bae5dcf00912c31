"""The version, where whoever needs it does not need the package."""

__version__ = "0.9.0"
