"""ROS 2 bags: folders with `metadata.yaml`, and single files `.mcap` and `.db3`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...extras import needs

METADATA = "metadata.yaml"
"""File that the folder of a bag has."""


@dataclass(frozen=True)
class Topic:
    """A topic of a bag.

    Args:
        kind: Type of its messages, such as `sensor_msgs/msg/JointState`.
        count: Number of messages.
    """

    kind: str
    count: int


class Bag:
    """A ROS 2 bag that is open, see `opened`.

    Args:
        path: The folder or file.
        reader: Reader of rosbags.
        store: Types of messages.
    """

    def __init__(self, path: Path, reader: Any, store: Any) -> None:
        self._path, self._reader, self._store = path, reader, store
        with _parsing(path):
            found = {one.topic: Topic(one.msgtype, 0) for one in reader.connections}
            for one in reader.connections:
                found[one.topic] = Topic(one.msgtype, found[one.topic].count + one.msgcount)
        self._topics = found

    @property
    def topics(self) -> dict[str, Topic]:
        """Topics by name, also those without messages."""
        return dict(self._topics)

    def messages(self, topic: str) -> list[tuple[int, Any]]:
        """Return the messages of a topic, each with the time at which it was recorded [ns].

        Args:
            topic: Name of one of `topics`.

        Raises:
            ValueError: A message is broken, or its type is neither one of ROS 2 nor described in the bag.
        """
        with _parsing(self._path):
            wanted = [one for one in self._reader.connections if one.topic == topic]
            for one in wanted:
                self._learn(one)
            return [
                (time, self._store.deserialize_cdr(data, one.msgtype))
                for one, time, data in self._reader.messages(connections=wanted)
            ]

    def _learn(self, connection: Any) -> None:
        """Add the type of a connection from its description in the bag, unless ROS 2 has it."""
        from rosbags.interfaces import MessageDefinitionFormat  # pyright: ignore[reportMissingImports]
        from rosbags.typesys import get_types_from_msg  # pyright: ignore[reportMissingImports]

        if connection.msgtype not in self._store.fielddefs:
            if connection.msgdef.format != MessageDefinitionFormat.MSG:
                raise ValueError(f"{connection.topic} has {connection.msgtype}, which the bag does not describe")
            described = get_types_from_msg(connection.msgdef.data, connection.msgtype)
            known = self._store.fielddefs
            self._store.register({name: one for name, one in described.items() if name not in known})


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Bag]:
    """Open a bag for a `with` block.

    Args:
        path: The folder of a bag, or a file `.mcap` or `.db3`.

    Raises:
        ValueError: It is no bag, or a broken one.
        OSError: There is no such file.
        ModuleNotFoundError: rosbags is missing.
    """
    with needs("A ROS 2 bag", "bags"):
        from rosbags.rosbag2 import Reader  # pyright: ignore[reportMissingImports]
        from rosbags.typesys import Stores, get_typestore  # pyright: ignore[reportMissingImports]
    with _parsing(path):
        reader = Reader(path)
        reader.open()
    try:
        # the types read here are alike in all releases of ROS 2
        yield Bag(path, reader, get_typestore(Stores.LATEST))
    finally:
        reader.close()


@contextlib.contextmanager
def _parsing(path: Path) -> Iterator[None]:
    """Turn what rosbags raises on broken files, errors of many kinds, into one that names the file."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        words = f"{error!s:.300}".rstrip(".") or type(error).__name__
        raise ValueError(f"{path}: {words}: must be a whole ROS 2 bag. Record it again, or repair it.") from error
