"""Where articulations and physics events come from: one file per simulator, behind three protocols."""
