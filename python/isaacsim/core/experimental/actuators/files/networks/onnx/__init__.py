"""Networks in ONNX files, read as data with the `onnx` package and written with it.

Operators and their meaning: `docs/Operators.md` of the repository `onnx/onnx`. Every node, attribute and initializer of
a file is honored, or the file is refused.
"""

from __future__ import annotations

from .reader import NAMES as NAMES
from .reader import matches as matches
from .reader import read as read
from .writer import write as write
