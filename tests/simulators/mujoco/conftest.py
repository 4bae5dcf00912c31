"""Fixtures of the tests of the MuJoCo host."""

import mujoco
import pytest


@pytest.fixture
def heard():
    """Messages that a warning handler installed by another program received from MuJoCo."""
    messages: list[str] = []
    mujoco.set_mju_user_warning(messages.append)
    yield messages
    mujoco.set_mju_user_warning(None)
