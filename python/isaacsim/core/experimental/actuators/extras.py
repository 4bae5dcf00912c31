"""What extras bring, and what to say to who misses it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

# by the names that are imported; pyproject.toml has the distributions
_USD = ("pxr", "newton_usd_schemas")
LIBRARIES = {
    "usd": _USD,
    "sim": (*_USD, "mujoco"),
    "physx": (*_USD, "ovphysx", "ovstage"),
    "newton": ("newton",),
    "nets": ("onnx",),
    "files": ("yaml", "tomli_w"),
    "parquet": ("pyarrow",),
    "rerun": ("rerun",),
    "examples": ("matplotlib", "rich"),
    "cli": (*_USD, "mujoco", "tyro", "matplotlib", "rich"),
    "view": (*_USD, "mujoco", "viser"),
    "train": ("torch", "matplotlib", "rich"),
    "gym": (*_USD, "mujoco", "gymnasium", "matplotlib", "rich"),
    "ray": ("ray",),
}


@contextlib.contextmanager
def needs(subject: str, extra: str, error: type[Exception] = ModuleNotFoundError) -> Iterator[None]:
    """Turn an import that fails inside a `with` block into the command that installs the extra.

    Args:
        subject: What the libraries are for, the first words of the message.
        extra: Name of the extra that brings them.
        error: What is raised instead.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in LIBRARIES[extra]:
            raise
        raised = error(
            f"{subject} needs {missing.name}, which is not installed. "
            f"Run `pip install 'articulation-actuators[{extra}]'`."
        )
        if isinstance(raised, ImportError):
            raised.name = missing.name
        raise raised from missing
