"""Run the notebook and store what its cells show, without Jupyter: `./python.sh tools/notebook.py`.

A cell shows what it prints and its last expression: a picture of a figure, the text of anything else.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[1] / "standalone_examples" / "first_motor.ipynb"


def shown(content: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Run the cells of a notebook one after the other, and return the outputs of each that has code."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_outputs("".join(cell["source"]), names) for cell in content["cells"] if cell["cell_type"] == "code"]


def _outputs(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(code)
    *first, last = tree.body
    tree.body, shows = (first, last.value) if isinstance(last, ast.Expr) else (tree.body, ast.Constant(None))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value: Any = eval(compile(ast.fix_missing_locations(ast.Expression(shows)), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if text := printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=80)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["<Figure>"]}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    elif value is not None:
        data = {"text/plain": str(value).splitlines(keepends=True)}
        found.append({"output_type": "execute_result", "metadata": {}, "execution_count": None, "data": data})
    return found


def main() -> None:
    """Write the outputs into the notebook."""
    content = json.loads(NOTEBOOK.read_text("utf-8"))
    outputs = iter(shown(content))
    for number, cell in enumerate(cell for cell in content["cells"] if cell["cell_type"] == "code"):
        cell["outputs"], cell["execution_count"] = next(outputs), number + 1
    NOTEBOOK.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
