"""`ArticulationActuators`, the OmniGraph node, and the entry point of the extension in Kit."""

from __future__ import annotations

from .entry import Extension as Extension
