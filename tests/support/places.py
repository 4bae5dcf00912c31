"""Folders that tests look into."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TESTS = REPOSITORY / "tests"
ROBOTS = REPOSITORY / "data" / "robots"
LOGS = REPOSITORY.parent / "shared" / "data"
"""Logs of real robots, which are not part of the repository; tests that read them skip where they are absent."""
