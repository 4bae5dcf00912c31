"""Check that a tag can be released: `python tools/check_release.py v1.0.0`. It needs no installed package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = "python/isaacsim/core/experimental/actuators/base/version.py"


def objections(tag: str, root: Path = ROOT) -> list[str]:
    """Return the reasons against a release of the tree at `root` as `tag`."""
    found = re.search(r'^__version__ = "(.+)"$', (root / VERSION_FILE).read_text("utf-8"), re.MULTILINE)
    version = found[1] if found else "?"
    against = []
    if tag != f"v{version}":
        against.append(f"tag = {tag}: must be v{version}, as {VERSION_FILE} has it. Change one of them.")
    changes = (root / "docs" / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}$", changes, re.MULTILINE):
        against.append(f"docs/CHANGELOG.md: must have a section '## [{version}] - YYYY-MM-DD'. Write it.")
    return against


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit("\n".join(objections(sys.argv[1])) or None)
