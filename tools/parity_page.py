"""Write the tables of `docs/Parity.md`: what `python -m benchmarks.parity` prints, with all peers installed.

./python.sh tools/parity_page.py
"""

from __future__ import annotations

import datetime
import platform
import sys
from pathlib import Path

from isaacsim.core.experimental.actuators.base.version import __version__
from isaacsim.core.experimental.actuators.tools.commands.answer import Answer, Table
from isaacsim.core.experimental.actuators.tools.commands.show import text_of
from public_names import filled

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.parity.__main__ import answer

PAGE = Path(__file__).resolve().parents[1] / "docs" / "Parity.md"
START, END = "<!-- generated: output -->\n", "<!-- end of generated -->"


def page(found: Answer, day: datetime.date) -> str:
    """Return the page with the tables and notes of an answer."""
    said = (
        f"Version {__version__}, {platform.system()} {platform.machine()}, Python {platform.python_version()}, {day}."
    )
    tables = [_markdown(table) for table in found.tables if table.rows]
    notes = "\n".join(f"- {note}" for note in found.notes)
    return filled(PAGE, PAGE.read_text("utf-8"), START, "\n\n".join([said, *tables, notes]) + "\n", END)


def _markdown(table: Table) -> str:
    lines = [list(table.columns.values()), ["---"] * len(table.columns)]
    rows = table.rows if table.shown is None else table.shown
    lines += [[text_of(row.get(key)).replace("|", "\\|") for key in table.columns] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("| --- ", "|---").replace("|--- |", "|---|") for cells in lines)


def main() -> int:
    """Write the page, unless a peer is missing or a law differs without an explanation."""
    found = answer(hidden=True)
    missing = [row for table in found.tables if table.name == "missing" for row in table.rows]
    if missing:
        print("Not written, as these peers are missing:")
        print(*(f"{row['peer']}: {row['reason']}. Run `{row['install']}`." for row in missing), sep="\n")
        return 1
    PAGE.write_text(page(found, datetime.date.today()), encoding="utf-8")
    return int(found.is_wrong)


if __name__ == "__main__":
    sys.exit(main())
