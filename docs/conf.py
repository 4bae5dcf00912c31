"""Sphinx configuration for `./repo.sh docs`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "Articulation Actuators"
author = "Articulation Actuators developers"
version = release = tomllib.loads((ROOT / "config" / "extension.toml").read_text("utf-8"))["package"]["version"]
# no date, so that the build is reproducible
project_copyright = f"{author}. Not affiliated with NVIDIA"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
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
# types are in the description of each argument
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
python_use_unqualified_type_names = True
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
# Python's own exceptions have no page here
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
    """Connect the handlers of autodoc events."""
    # napoleon runs at 500 and takes the text before a colon for the type of a property
    app.connect("autodoc-process-docstring", _replace_in_properties(":", "\0"), priority=400)
    app.connect("autodoc-process-docstring", _replace_in_properties("\0", ":"), priority=600)
    app.connect("autodoc-process-signature", _hide_private_parameters)


def _replace_in_properties(old, new):
    """Return a handler that replaces a character in the first line of a property."""

    def change(app, what, name, obj, options, lines):
        if what == "property":
            lines[0] = lines[0].replace(old, new)

    return change


def _hide_private_parameters(app, what, name, obj, options, signature, returned):
    """Leave parameters with a leading underscore out of a signature."""
    return re.sub(r", \*(?=\))", "", re.sub(r", _\w+=[^,()]*", "", signature)) if signature else None, returned
