"""Kinds of joints, by name."""

import enum
from types import SimpleNamespace

from isaacsim.core.experimental.actuators.simulators.dof_properties import DofType
from isaacsim.core.experimental.actuators.simulators.joint_kinds import turning


class Foreign(enum.Enum):
    """The enumeration of Isaac Sim."""

    Rotation = 0
    Translation = 1
    Invalid = 2


def test_kinds_are_those_of_this_and_of_other_enumerations() -> None:
    """A joint that neither turns nor slides has an unknown kind."""
    own = SimpleNamespace(dof_types=[DofType.Rotation, DofType.Translation])
    foreign = SimpleNamespace(dof_types=list(Foreign))
    assert turning(own) == [True, False]
    assert turning(foreign) == [True, False, None]


def test_articulation_without_kinds_has_none() -> None:
    """Nothing is assumed of its joints."""
    assert turning(None) is None
    assert turning(SimpleNamespace(dof_names=["hip"])) is None
