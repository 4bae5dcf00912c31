"""Laws of peers beside ours: the same random states through both, and where they differ."""
