"""What MuJoCo warns of, which it would write to a file in the working directory."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import mujoco


@contextlib.contextmanager
def warnings_to(handler: Callable[[str], None]) -> Iterator[None]:
    """Give `handler` what MuJoCo warns of meanwhile; afterwards warnings go to where they went before."""
    former = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(handler)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(former)


def ignore(message: str) -> None:
    """Do nothing with a warning."""
