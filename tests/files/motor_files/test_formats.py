"""Files are plain data: small, flat, unique keys, no tags and no references; any violation is one error."""

import builtins
import sys

import pytest
from isaacsim.core.experimental.actuators.files.motor_files import formats
from isaacsim.core.experimental.actuators.files.motor_files.formats import parse, render
from refusals import cases, refused


@cases(
    "text, value",
    *(("1e-3", 0.001), ("1.e3", 1000.0), (".5", 0.5), ("-.inf", -float("inf")), (".inf", float("inf"))),
    *(("on", "on"), ("yes", "yes"), ("1:30", "1:30"), ("012", "012"), ("0x10", "0x10"), ("1_000", "1_000")),
    *(("7", 7), ("-7", -7), ("true", True), ("~", None), ("", None), ("2020-01-01", "2020-01-01"), ("<<", "<<")),
)
def test_yaml_reads_words_and_numbers_as_yaml_1_2_does(text, value) -> None:
    """PyYAML reads 1e-3 as text, `on` as true and 1:30 as ninety."""
    found = parse(f"a: {text}", ".yaml")["a"]
    assert found == value and type(found) is type(value)
    assert parse(render({"a": value}, ".yaml"), ".yaml") == {"a": value}


HOSTILE = {
    "deep list": (".yaml", "[" * 20_000, "nests too deep"),
    "deep flow": (".yaml", "{a: " * 20_000, "nests too deep"),
    "ten levels": (".yaml", "[" * 10 + "]" * 10, "nests too deep"),
    "deep keys": (".yaml", "? " * 20_000, "nests too deep"),
    "many": (".yaml", "[" + "a," * 50_000 + "]", "more than 10000 keys and values"),
    "many keys": (".yaml", "".join(f"k{index}: 1\n" for index in range(6_000)), "more than 10000 keys and values"),
    "bomb": (".yaml", "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "anchor or alias.*in line 1"),
    "reference to itself": (".yaml", "&a [*a]", "anchor or alias"),
    "alias": (".yaml", "a: *b", "anchor or alias"),
    "python": (".yaml", "a: !!python/object/apply:os.system [ls]", "has a tag.*in line 1"),
    "tag": (".yaml", "a: !!float 1", "has a tag"),
    "yaml key twice": (".yaml", "a: 1\nb: 2\na: 3", "the key 'a' twice.*in line 3"),
    "key that is a list": (".yaml", "? [a]\n: 1", "has a key that is no text"),
    "two documents": (".yaml", "a: 1\n---\nb: 2", "another document"),
    "unfinished": (".yaml", "a: [1", "line 1"),
    "control characters": (".yaml", "a: \x01", "special characters are not allowed"),
    "yaml digits": (".yaml", "a: " + "9" * 20_000, "Exceeds the limit"),
    "json deep": (".json", "[" * 60_000, "nests too deep"),
    "json key twice": (".json", '{"a": {"b": 1, "b": 2}}', "the key 'b' twice"),
    "json digits": (".json", "9" * 60_000, "Exceeds the limit"),
    "json large": (".json", "[18446744073709551616]", "more than 64 bits"),
    "json comment": (".json", "{} // no", "Extra data"),
    "toml deep": (".toml", "a=" + "[" * 60_000, "nests too deep"),
    "toml dots": (".toml", "a." * 60_000 + "a = 1", "key of 100 parts"),
    "toml key twice": (".toml", "a = 1\na = 2", "overwrite"),
    "toml digits": (".toml", "a = 0x" + "f" * 60_000, "more than 64 bits"),
}


@cases("ending, text, message", *HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_one_error(ending, text, message) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse(text, ending)
    assert len(str(caught.value)) < 400


def test_many_numbers_in_a_line_of_toml_are_no_long_key() -> None:
    numbers = [0.5] * 1000
    assert parse(f"a = {numbers}", ".toml") == {"a": numbers}


@cases("ending, library", (".yaml", "yaml"), (".yml", "yaml"), (".toml", "tomli_w"))
def test_a_missing_library_is_named_with_its_extra(ending, library, monkeypatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments, **named):
        if name in ("yaml", "tomli_w"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *arguments, **named)

    formats._yaml_classes.cache_clear()
    for one in ("yaml", "tomli_w"):
        monkeypatch.delitem(sys.modules, one, raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    refused(ImportError, lambda: render({}, ending), rf"needs {library}, .*pip install .*\[files\]'")
    assert parse(render({"a": 1}, ".json"), ".json") == {"a": 1} and parse("a = 1", ".toml") == {"a": 1}
