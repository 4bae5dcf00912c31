"""Warnings of MuJoCo, which it would write to a file in the working directory."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import sys
import weakref
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


class Mute:
    """Drops warnings of MuJoCo while `on`, in one handler that stays: setting it at each step would be slow."""

    def __init__(self) -> None:
        self.on = False
        """True while warnings are dropped."""
        # a simulation may be gone without a stop
        self._users: weakref.WeakSet[object] = weakref.WeakSet()
        self._former: Callable[[str], None] | None = None
        self._handler = self._handle

    def acquire(self, user: object) -> None:
        """Be the handler until this one and all others are released, or gone."""
        self._users.add(user)
        if (current := mujoco.get_mju_user_warning()) is not self._handler:
            self._former = current
            mujoco.set_mju_user_warning(self._handler)

    def release(self, user: object) -> None:
        """Restore the former handler, unless another was set meanwhile."""
        self._users.discard(user)
        if not self._users and mujoco.get_mju_user_warning() is self._handler:
            mujoco.set_mju_user_warning(self._former)

    def _handle(self, message: str) -> None:
        if self.on:
            return
        if self._former is not None:
            self._former(message)
        else:
            # as MuJoCo does, which also writes a file
            print(f"WARNING: {message}", file=sys.stderr)


MUTE = Mute()
"""The one that all simulations share."""
