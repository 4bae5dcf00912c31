"""Safetensors files are read back exactly, other programs read them, and damaged files give one error."""

import dataclasses
import json

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import safetensors
from isaacsim.core.experimental.actuators.laws.networks.network import Network
from network_oracle import evaluate
from refusals import cases, refused
from small_networks import NETWORKS, numbers

METADATA = {"model_type": "mlp", "input_idx": [0, 2], "pos_scale": 0.1, "note": "Größe"}


def assert_same(first: Network, second: Network) -> None:
    assert first.inputs == second.inputs and len(first.operations) == len(second.operations)
    for one, other in zip(first.operations, second.operations, strict=True):
        assert type(one) is type(other)
        for field in dataclasses.fields(one):
            a, b = getattr(one, field.name), getattr(other, field.name)
            assert a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else a == b


@cases("name", *NETWORKS)
def test_what_is_written_is_read_back_exactly(name) -> None:
    data = safetensors.write(NETWORKS[name], METADATA)
    network, metadata = safetensors.read(data)
    assert safetensors.matches(data) and metadata == METADATA
    assert_same(network, NETWORKS[name])


def test_the_library_reads_what_is_written() -> None:
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed: nothing to compare with")
    tensors = library.load(safetensors.write(NETWORKS["mlp"], {}))
    assert sorted(tensors) == ["1.bias", "1.weight", "3.bias", "3.weight"]
    np.testing.assert_array_equal(tensors["1.weight"], numbers(5, 6))


def file_of(header, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_tensors_by_name_are_read_as_a_state_dict_is() -> None:
    weights = {"0.weight": numbers(4, 2), "0.bias": numbers(4), "2.weight": numbers(1, 4), "2.bias": numbers(1)}
    header = {"__metadata__": {"activation": "tanh", "pos_scale": "0.5"}}
    at = 0
    for name, values in weights.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    network, metadata = safetensors.read(file_of(header, b"".join(values.tobytes() for values in weights.values())))
    assert metadata == {"activation": "tanh", "pos_scale": 0.5}
    x = numbers(7, 2, seed=4)
    by_hand = np.tanh(x @ weights["0.weight"].T.astype(float) + weights["0.bias"]) @ weights["2.weight"][0]
    np.testing.assert_allclose(evaluate(network, x)[0], by_hand + weights["2.bias"], rtol=1e-12)


def one(**said) -> dict:
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **said}}


BODY = np.ones(2, "<f4").tobytes()


@cases(
    "data, says",
    pytest.param(b"", "cut off", id="empty"),
    pytest.param(file_of(one())[:20], "cut off", id="header cut off"),
    pytest.param((2**63).to_bytes(8, "little") + b"{}", "cut off", id="header of 2^63 bytes"),
    pytest.param(file_of(one(), BODY[:7]), "must lie in the file", id="numbers cut off"),
    pytest.param(file_of(one(shape=[2**30, 2**30])), "must lie in the file", id="2^60 numbers"),
    pytest.param(file_of(one(shape=[2**30, 2**30], data_offsets=[0, 2**62])), "lie in the file", id="2^62 bytes"),
    pytest.param(file_of(one(shape=[-2]), BODY), "whole numbers", id="negative shape"),
    pytest.param(file_of(one(shape=[True, 2]), BODY), "whole numbers", id="shape of truths"),
    pytest.param(file_of(one(shape=None), BODY), "whole numbers", id="no shape"),
    pytest.param(file_of(one(data_offsets=[8, 0]), BODY), "must lie in the file", id="backwards"),
    pytest.param(file_of(one(data_offsets=[0, 8, 8]), BODY), "two offsets", id="three offsets"),
    pytest.param(file_of(one(dtype="I64")), "must be F16, F32, F64", id="whole numbers"),
    pytest.param(file_of(one(dtype=["F32"])), "must be F16, F32, F64", id="list of types"),
    pytest.param(file_of({**one(), "b": one()["a"]}, BODY), "overlap", id="overlapping"),
    pytest.param(file_of(one(), BODY + b"\0"), "leave gaps", id="more numbers"),
    pytest.param(file_of(b'{"a": 1, "a": 2}'), "comes twice", id="name twice"),
    pytest.param(file_of(b"[" * 100_000), "must be JSON", id="nested"),
    pytest.param(file_of(b'{"a": ' + b"1" * 5000 + b"}"), "must be JSON", id="long number"),
    pytest.param(file_of(b"[1]"), "must be an object", id="list"),
    pytest.param(file_of(b"\xff"), "must be JSON", id="not UTF-8"),
    pytest.param(file_of({"__metadata__": {"a": 1}}), "one of strings", id="metadata of numbers"),
)
def test_damaged_files_are_one_error(data, says) -> None:
    refused(NetworkError, lambda: safetensors.read(data), says)


@cases(
    "changed, says",
    ({"version": "2"}, "newer release"),
    ({"inputs": "true"}, "must list operations"),
    ({"network": "{}"}, "must list operations"),
    ({"network": "[]"}, "must be used"),
    ({"network": '[{"operation": ["Linear"]}]'}, "operation 1 is"),
    ({"network": '[{"operation": "__import__"}]'}, "operation 1 is"),
    ({"network": '[{"operation": "Slice", "source": 0, "start": 0, "stop": 1, "more": 1}]'}, "operation 1 is"),
    ({"network": '[{"operation": "Slice", "source": 0.0, "start": 0, "stop": 1}]'}, "operation 1 is"),
    ({"network": '[{"operation": "Linear", "source": 0, "weight": "c", "bias": "b"}]'}, "operation 1 is"),
    ({"metadata": "[]"}, "expected a JSON object"),
)
def test_operations_that_are_none_are_refused(changed, says) -> None:
    data = safetensors.write(NETWORKS["mlp"], {})
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    header["__metadata__"].update(changed)
    refused(NetworkError, lambda: safetensors.read(file_of(header, body)), says)


def test_metadata_that_are_no_json_are_not_written() -> None:
    refused(NetworkError, lambda: safetensors.write(NETWORKS["mlp"], {"a": float("nan")}), "must be JSON")
