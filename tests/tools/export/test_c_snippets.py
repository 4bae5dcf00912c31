"""What a header has besides laws: all that it uses, and nothing else."""

import re

from isaacsim.core.experimental.actuators.tools.export.c_snippets import library, used_by


def test_what_is_used_comes_first() -> None:
    """Each text stands behind those of the names in it."""
    known: set[str] = set()
    for name, text in library().items():
        assert set(re.findall(r"@(\w+)", text)) - known <= {name, "DEPTH"}, name
        known.add(name)


def test_only_what_is_used() -> None:
    """Directly or by another one."""
    found = used_by(["x = @table_at(table, 0.0f);"])
    assert found == [library()[name] for name in ("curve_value", "table", "table_at")]
    assert used_by(["int x;"]) == []
