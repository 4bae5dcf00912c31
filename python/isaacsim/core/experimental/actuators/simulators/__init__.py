"""Sources of articulations and physics events: one file per simulator, behind three protocols."""
