"""How everything is drawn: one style, and pictures of plain numbers."""
