"""The OmniGraph node, and what it needs where there is no OmniGraph."""
