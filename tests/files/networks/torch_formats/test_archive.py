"""Entries of PyTorch's archives."""

from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks.torch_formats.archive import Archive, entry_names
from refusals import refused
from torch_archives import zipped


def test_entries_without_their_folder() -> None:
    data = zipped({"data.pkl": b"x", "data/0": b"yz"})
    archive = Archive(data)
    assert entry_names(data) == archive.names() == ["data.pkl", "data/0"]
    assert archive.read("data/0") == b"yz" and "data/1" not in archive
    refused(NetworkError, lambda: archive.read("data/1"), "no 'data/1'")
    assert entry_names(b"PK\3\4 and nothing") == entry_names(b"\x80\x02.") == []
    refused(NetworkError, lambda: Archive(data, max_bytes=2), "at most 2")
