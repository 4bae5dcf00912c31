"""The OmniGraph node, as Kit loads it."""
