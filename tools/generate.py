"""Write every generated file that is checked in. A test fails when one is stale.

./python.sh tools/generate.py            write what has changed
./python.sh tools/generate.py --check    only list stale files; the exit status is 1 if there are any
"""

from __future__ import annotations

import sys
from pathlib import Path

import api_pages
import example_blocks
import export_page
import laws_header
import limits_page
import node_pages
import public_names
import python_api
import usd_schemas

# each module has a function `outputs` that returns text by path
PIECES = (
    laws_header,
    api_pages,
    public_names,
    python_api,
    node_pages,
    limits_page,
    export_page,
    example_blocks,
    usd_schemas,
)


def stale() -> dict[Path, str]:
    """Return the expected text of each file that differs, by path."""
    wanted = {path: text for piece in PIECES for path, text in piece.outputs().items()}
    return {path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}


def main() -> int:
    """Write or list stale files."""
    found, check = stale(), "--check" in sys.argv[1:]
    for path, text in found.items():
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"{'stale' if check else 'written'}: {path}")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
