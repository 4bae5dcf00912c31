"""Folders that tests look into."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TESTS = REPOSITORY / "tests"
ROBOTS = REPOSITORY / "data" / "robots"
