"""Write everything that is generated and checked in. A test says when this was forgotten.

./python.sh tools/generate.py            write what has changed
./python.sh tools/generate.py --check    only name it; the exit status is 1 if there is any
"""

from __future__ import annotations

import sys
from pathlib import Path

import laws_header
import limits_page
import node_pages
import public_names
import python_api
import usd_schemas

# each has a function `outputs`, which returns text by path
PIECES = (laws_header, public_names, python_api, node_pages, limits_page, usd_schemas)


def stale() -> dict[Path, str]:
    """What the files should say that do not say it, by path."""
    wanted = {path: text for piece in PIECES for path, text in piece.outputs().items()}
    return {path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}


def main() -> int:
    """Write or name what is stale."""
    found, check = stale(), "--check" in sys.argv[1:]
    for path, text in found.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{'stale' if check else 'written'}: {path}")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
