"""Settings of Sphinx:  ./repo.sh docs."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "Articulation Actuators"
author = "Articulation Actuators developers"
version = release = tomllib.loads((ROOT / "config" / "extension.toml").read_text("utf-8"))["package"]["version"]
# no date: the same sources give the same pages
project_copyright = f"{author}. Not affiliated with NVIDIA"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
add_module_names = False
toc_object_entries_show_parents = "hide"
# single backticks in docstrings are code
default_role = "code"
highlight_language = "none"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

autosummary_generate = False
autodoc_default_options = {"members": True, "member-order": "bysource"}
# types stand with the words about each argument
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
python_use_unqualified_type_names = True
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
# errors of Python have no page here
nitpick_ignore_regex = [("py:class", r".*")]
nitpick_ignore = [("py:exc", name) for name in ("Exception", "KeyError", "RuntimeError", "TypeError", "ValueError")]

html_theme = "furo"
html_title = f"{project} {version}"
html_logo = "../data/icon.png"
html_favicon = "../data/icon.png"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False


def setup(app):
    """Keep a property's first line whole: napoleon takes what stands before a colon for its type."""

    def replace(old, new):
        def change(app, what, name, obj, options, lines):
            if what == "property":
                lines[0] = lines[0].replace(old, new)

        return change

    # napoleon itself runs at 500
    app.connect("autodoc-process-docstring", replace(":", "\0"), priority=400)
    app.connect("autodoc-process-docstring", replace("\0", ":"), priority=600)
