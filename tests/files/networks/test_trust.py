"""Permissions of the host program: by path, until revoked, and the errors without one."""

import gc
import sys
from weakref import WeakValueDictionary

import pytest
from isaacsim.core.experimental.actuators import ControllerNeuralMLP, allow_checkpoints, trust_checkpoints
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import load, trust
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint, read_checkpoint
from isaacsim.core.experimental.actuators.files.networks.trust import CONVERT, is_trusted, roots
from neural_twin import random_network, write_network
from refusals import cases, refused
from torch_archives import state_dict
from torch_corpus import bad_archives
from torch_stand_in import StandIn, run_by_torch, unknown_file, unrecognised

NETWORK = random_network("mlp", 2)
__all__ = ["run_by_torch"]


@pytest.fixture(autouse=True)
def _no_permission_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_given", [])
    # nor shared networks of other tests
    monkeypatch.setattr(load, "_known", WeakValueDictionary())


def test_folder_and_what_lies_below_it(tmp_path) -> None:
    (tmp_path / "nets" / "inner").mkdir(parents=True)
    (tmp_path / "nets-other").mkdir()
    assert not is_trusted(tmp_path / "nets" / "a.pt")
    trust_checkpoints([tmp_path / "nets"])
    assert is_trusted(tmp_path / "nets" / "a.pt") and is_trusted(str(tmp_path / "nets" / "inner" / "b.pt"))
    assert is_trusted(tmp_path / "nets-other" / ".." / "nets" / "a.pt")
    for other in ("nets-other/a.pt", "a.pt", "nets/../a.pt"):
        assert not is_trusted(tmp_path / other)


def test_a_single_path_is_one_path(tmp_path) -> None:
    (tmp_path / "a.pt").touch()
    assert trust_checkpoints(str(tmp_path / "a.pt")).paths == (str(tmp_path / "a.pt"),)
    assert is_trusted(tmp_path / "a.pt") and not is_trusted(tmp_path / "b.pt")


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_links_are_resolved(tmp_path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "outside.pt").touch()
    (tmp_path / "link").symlink_to("nets")
    (tmp_path / "nets" / "away.pt").symlink_to(tmp_path / "outside.pt")
    (tmp_path / "in.pt").symlink_to(tmp_path / "nets" / "a.pt")
    trust_checkpoints([tmp_path / "link"])
    assert is_trusted(tmp_path / "nets" / "a.pt") and is_trusted(tmp_path / "in.pt")
    assert not is_trusted(tmp_path / "nets" / "away.pt")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    assert not is_trusted(tmp_path / "outside.pt")


def test_permission_ends_where_it_is_taken_back(tmp_path) -> None:
    (tmp_path / "a.pt").touch()
    first = trust_checkpoints([tmp_path / "a.pt"])
    with trust_checkpoints([tmp_path]) as second:
        assert is_trusted(tmp_path / "b.pt") and "trusted" in repr(second)
    assert is_trusted(tmp_path / "a.pt") and not is_trusted(tmp_path / "b.pt")
    first.revoke()
    first.revoke()
    assert not is_trusted(tmp_path / "a.pt") and roots() == []


def test_permission_to_name_is_none_to_run(tmp_path) -> None:
    (tmp_path / "named").mkdir()
    (tmp_path / "run").mkdir()
    allow_checkpoints([tmp_path / "named"])
    trust_checkpoints([tmp_path / "run"])
    assert roots() == [str(tmp_path / "named"), str(tmp_path / "run")]
    assert not is_trusted(tmp_path / "named" / "a.pt") and is_trusted(tmp_path / "run" / "a.pt")


@cases("permit", trust_checkpoints, allow_checkpoints)
def test_path_that_leads_nowhere_permits_nothing(permit, tmp_path) -> None:
    assert callable(permit)
    refused(FileNotFoundError, lambda: permit([tmp_path, tmp_path / "none"]), "must be there")
    refused(ValueError, lambda: permit(""), "must not be empty")
    assert roots() == []


# errors without permission name the problem and the remedy


@cases("name", *unrecognised())
def test_who_does_not_trust_is_told_what_and_how(name, run_by_torch) -> None:
    data, said = unrecognised()[name]
    told = refused(NetworkError, lambda: read_checkpoint(data, "knee.pt"))
    assert told.startswith("knee.pt: ") and said in told
    assert CONVERT in told and "trusted=True" in told and "trust_checkpoints([path])" in told
    assert run_by_torch == [] and isinstance(read_checkpoint(data, "knee.pt", trusted=True).network, StandIn)
    assert run_by_torch == [data]


@cases(
    "data",
    state_dict({"a.weight": random_network("mlp", 2).operations[0].weight}),
    bad_archives()["truncated"][0],
    b"\x80\x04.",
    b"",
    b"\x07\0\0\0\0\0\0\0{",
    ids=["tensors", "truncated", "pickle", "empty", "safetensors"],
)
def test_what_torch_cannot_run_either_is_never_handed_to_it(data, run_by_torch) -> None:
    for trusted in (False, True):
        with pytest.raises(NetworkError) as error:
            read_checkpoint(data, "knee", trusted=trusted)
        assert "trust" not in str(error.value)
    assert run_by_torch == []


def test_recognised_file_is_read_as_data_though_trusted(tmp_path, run_by_torch) -> None:
    path = write_network(tmp_path / "knee.safetensors", NETWORK, {})
    first = load_checkpoint(path, trusted=True)
    assert load_checkpoint(path) is first and not isinstance(first.network, StandIn)
    refused(NetworkError, lambda: load_checkpoint(path, {"input_idx": [0, 1]}, trusted=True), "input_idx")
    assert run_by_torch == []


def test_what_torch_runs_is_shared_among_those_who_trust_only(tmp_path, run_by_torch) -> None:
    path = unknown_file(tmp_path / "knee.pt")
    refused(NetworkError, lambda: load_checkpoint(path), "ldexp")
    trusted = load_checkpoint(path, trusted=True)
    assert isinstance(trusted.network, StandIn)
    for _ in range(2):
        refused(NetworkError, lambda: load_checkpoint(path), "ldexp")
        assert load_checkpoint(path, trusted=True) is trusted
        refused(NetworkError, lambda: load_checkpoint(path), "ldexp")
        assert run_by_torch == [path.read_bytes()]
    del trusted
    gc.collect()
    assert not [key for key in load._known if key[2]]


def test_path_grants_it_where_it_was_named(tmp_path, run_by_torch) -> None:
    path, copy = unknown_file(tmp_path / "nets" / "knee.pt"), unknown_file(tmp_path / "knee.pt")
    with trust_checkpoints([tmp_path / "nets"]):
        assert isinstance(load_checkpoint(path).network, StandIn)
        assert ControllerNeuralMLP(path).is_graphable() is False
        refused(ValueError, lambda: ControllerNeuralMLP(copy), r"knee\.pt: .*ldexp")
    refused(ValueError, lambda: ControllerNeuralMLP(path), r"knee\.pt: .*ldexp")
    assert ControllerNeuralMLP(copy, trusted=True).checkpoint.digest
    assert ControllerNeuralMLP(write_network(tmp_path / "a.safetensors", NETWORK, {})).is_graphable() is True


def test_arguments_of_a_prim_grant_nothing(tmp_path) -> None:
    path = unknown_file(tmp_path / "knee.pt")
    assert ControllerNeuralMLP.resolve_arguments({"model_path": path, "trusted": True}) == {"model_path": path}


def test_who_has_no_torch_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NetworkError, match=r"knee\.pt: .*needs torch, .*pip install .*\[train\]"):
        load_checkpoint(unknown_file(tmp_path / "knee.pt"), trusted=True)
