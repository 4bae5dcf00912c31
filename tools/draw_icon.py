"""Render `data/icon.svg` and `data/preview.svg` to the pictures that Kit shows, `icon.png` and `preview.png`.

./python.sh -m pip install resvg-py && ./python.sh tools/draw_icon.py
"""

from __future__ import annotations

from pathlib import Path

import resvg_py

DATA = Path(__file__).resolve().parents[1] / "data"


def drawn(name: str) -> bytes:
    """Return the PNG of a picture."""
    from matplotlib.font_manager import findfont

    source = str(DATA / f"{name}.svg")
    # Matplotlib includes the font
    font = {"font_files": [findfont("DejaVu Sans")], "font_family": "DejaVu Sans", "skip_system_fonts": True}
    return bytes(resvg_py.svg_to_bytes(svg_path=source, resources_dir=str(DATA), **font))


if __name__ == "__main__":
    for name in ("icon", "preview"):
        (DATA / f"{name}.png").write_bytes(drawn(name))
        print(DATA / f"{name}.png")
