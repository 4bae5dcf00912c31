"""What may be released as which tag."""

import subprocess
import sys
from pathlib import Path

import pytest
from check_release import VERSION_FILE, objections
from places import REPOSITORY
from refusals import cases


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of version 1.2.3 with its section of the changelog."""
    for name, text in ((VERSION_FILE, '__version__ = "1.2.3"\n'), ("docs/CHANGELOG.md", "## [1.2.3] - 2026-01-02\n")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_own_version_may_be_released(root) -> None:
    assert objections("v1.2.3", root) == []


@cases("tag", "v1.2.4", "1.2.3", "v1.2.3rc1")
def test_other_tags_may_not(root, tag) -> None:
    (said,) = objections(tag, root)
    assert f"tag = {tag}: must be v1.2.3" in said


@cases("heading", "## [Unreleased]", "## [1.2.30] - 2026-01-02", "## [1.2.3]", "## [1x2.3] - 2026-01-02")
def test_changelog_must_tell_of_it(root, heading) -> None:
    (root / "docs" / "CHANGELOG.md").write_text(f"{heading}\n")
    (said,) = objections("v1.2.3", root)
    assert "must have a section '## [1.2.3] - YYYY-MM-DD'" in said


def test_version_of_this_tree_is_read() -> None:
    from isaacsim.core.experimental.actuators.base.version import __version__

    assert objections(f"v{__version__}", REPOSITORY) == []


@cases("tags, code", (["v{}"], 0), (["v0.0.1"], 1), ([], 1))
def test_exit_code_tells(tags, code) -> None:
    from isaacsim.core.experimental.actuators.base.version import __version__

    command = [
        sys.executable,
        str(REPOSITORY / "tools" / "check_release.py"),
        *(tag.format(__version__) for tag in tags),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, bool(done.stderr)) == (code, code == 1)
