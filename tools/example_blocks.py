"""Write the code of examples into the pages that show it: `<!-- from FILE: PART -->` stands before such a block.

A part is what `# docs: begin PART` and `# docs: end PART` enclose in the file; without a part, it is the whole file.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^(<!-- from (\S+?)(?:: (\w+))? -->\n```\w+\n)(.*?)^```$", re.DOTALL | re.MULTILINE)


def outputs() -> dict[Path, str]:
    """Return the pages with updated blocks."""
    pages = (ROOT / "docs").rglob("*.md")
    return {page: BLOCK.sub(_filled, text) for page in pages if BLOCK.search(text := page.read_text("utf-8"))}


def _filled(block: re.Match[str]) -> str:
    """Return a block with the code of its file.

    Raises:
        ValueError: The file lacks the part.
    """
    start, file, part, _ = block.groups()
    code = (ROOT / file).read_text("utf-8")
    if part is not None:
        found = re.search(rf"^ *# docs: begin {part}\n(.*?)^ *# docs: end {part}$", code, re.DOTALL | re.MULTILINE)
        if found is None:
            raise ValueError(f"{file}: it lacks the part {part} of a page: mark it with `# docs: begin {part}`.")
        code = found[1]
    return f"{start}{textwrap.dedent(code).strip()}\n```"
