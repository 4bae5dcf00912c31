"""PyTorch's pickles read as data: their values, and that they can do nothing else."""

import struct

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks.torch_formats import unpickle
from refusals import cases, refused
from torch_archives import Object, Raw, Writer, name
from torch_corpus import bad_pickles


def loaded(value):
    writer = Writer()
    return unpickle.load(writer.pickle(value), lambda key: writer.storages[int(key)])


@cases("value", None, True, 3, -70_000, 1 << 40, 2.5, "ä", (1, (2, "b")), [1, []], {"a": {"b": None}, 3: ()})
def test_plain_values(value) -> None:
    assert loaded(value) == value


def test_tensors_keep_shape_and_layout() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = loaded({"a": array, "b": np.array(2.5), "c": np.array([1, -2])})
    np.testing.assert_array_equal(found["a"], array)
    assert (found["a"].dtype, found["b"].shape, found["c"].tolist()) == (np.float32, (), [1, -2])
    assert not found["a"].flags.writeable
    writer = Writer()
    turned = writer.tensor(array, size=(3, 2), stride=(1, 3))
    part = writer.tensor(array, size=(2,), stride=(3,), offset=1)
    turned_array, part_array = unpickle.load(
        writer.pickle((Raw(turned), Raw(part))), lambda key: writer.storages[int(key)]
    )
    np.testing.assert_array_equal(turned_array, array.T)
    assert part_array.tolist() == [1, 4]


@cases(
    "kind, content, expected",
    ("HalfStorage", np.float16([1.5, -2]).tobytes(), [1.5, -2.0]),
    ("BFloat16Storage", struct.pack("<HH", 0x3FC0, 0xC000), [1.5, -2.0]),
    ("BoolStorage", b"\1\0", [True, False]),
    ("CharStorage", b"\1\xfe", [1, -2]),
)
def test_types_of_numbers(kind, content, expected) -> None:
    storage = Raw(Writer().value(("storage", Raw(name("torch", kind)), "0", "cuda:0", 2)) + b"Q")
    arguments = Writer().value((storage, 0, (2,), (1,), False, None))
    data = b"\x80\x02" + name("torch._utils", "_rebuild_tensor_v2") + arguments + b"R."
    assert unpickle.load(data, lambda key: content).tolist() == expected


def test_objects_become_records() -> None:
    found = loaded(Object("__torch__.a.B", gain=2.0, inner=Object("__torch__.C", n=1)))
    assert isinstance(found, unpickle.Record) and isinstance(found.attributes["inner"], unpickle.Record)
    assert (found.type, found.attributes["gain"]) == ("__torch__.a.B", 2.0)
    assert found.attributes["inner"].type == "__torch__.C"


def test_the_list_of_names_is_closed() -> None:
    assert unpickle.find_class("torch", "FloatStorage") == unpickle.StorageType("FloatStorage")
    assert unpickle.find_class("__torch__.os", "system") == unpickle.RecordType("__torch__.os.system")
    assert {module for module, _ in unpickle.FUNCTIONS} == {"torch._utils", "torch.jit._pickle", "collections"}
    for module, member in [
        *(("os", "system"), ("builtins", "eval"), ("builtins", "getattr"), ("torch", "load"), ("torch", "nn.Module")),
        *(("torch.storage", "_load_from_bytes"), ("__torch__evil", "x"), ("", ""), ("collections", "defaultdict")),
        *(("torch._utils", "_rebuild_tensor"), ("numpy.core.multiarray", "_reconstruct"), ("torch.jit", "load")),
    ]:
        with pytest.raises(NetworkError, match="pickle names"):
            unpickle.find_class(module, member)


def test_a_name_that_is_no_text_is_refused() -> None:
    refused(NetworkError, lambda: unpickle.load(b"\x80\x04)K\x01\x93.", lambda key: b""), "no text")


def test_a_storage_is_read_once() -> None:
    kinds = ("FloatStorage", "IntStorage", "ByteStorage")
    told = [Raw(Writer().value(("storage", Raw(name("torch", kind)), "7", "cpu", 1)) + b"Q") for kind in kinds]
    read: list[str] = []
    unpickle.load(Writer().pickle(told), lambda key: (read.append(key), b"\0" * 8)[1])
    assert read == ["7"]


BAD = bad_pickles()


@cases("bad", *BAD)
def test_what_a_pickle_must_not_do(bad) -> None:
    data, told = BAD[bad]
    refused(NetworkError, lambda: unpickle.load(data, lambda key: b""), told)


def test_metadata_is_json() -> None:
    plain = unpickle.json_of({"a": [1, (2.5, None)], "b": np.array([1.0, 2.0])})
    assert plain == {"a": [1, [2.5, None]], "b": [1.0, 2.0]}
    loop = []
    loop.append(loop)
    wide = []
    for _ in range(40):
        wide = [wide, wide]
    for value in (loop, wide, {1: 2}, unpickle.Record("__torch__.M"), {"a": object()}):
        with pytest.raises(NetworkError, match="metadata"):
            unpickle.json_of(value)
