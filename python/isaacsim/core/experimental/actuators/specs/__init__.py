"""Plain data that flows from a robot file to the pipeline; standard library only."""
