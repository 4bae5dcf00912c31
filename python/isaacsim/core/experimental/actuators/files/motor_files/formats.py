"""Text of a file to plain data and back, by the ending of its name.

Only data is read: no tags, no references, no key twice. Size and depth of the data are bounded. An error of a library
becomes one `ValueError`. PyYAML and tomli-w come with the extra `files`.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...base.extras import needs

# the largest humanoid with a table per joint is far below
MAX_BYTES = 128 * 1024
# motors, motor, clamping, clamp, table, number
MAX_DEPTH = 8
# PyYAML needs a tenth of a millisecond for each key and value
MAX_YAML_NODES = 10_000
ENDINGS = (".yaml", ".yml", ".toml", ".json")

# numbers and words of YAML 1.2: PyYAML reads 1e-3 as text, on as a boolean, and 1:30 and 012 as other numbers
_CORE_SCHEMA = {
    "null": (r"null|~|", "n~", None),
    "bool": (r"true|false", "tf", None),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789", int),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
        "-+.0123456789",
        lambda text: float(text.replace(".inf", "inf").replace(".nan", "nan")),
    ),
}


def parse(text: str, ending: str) -> object:
    """The plain data of a text: dictionaries, lists, strings, numbers, booleans and None.

    A `ValueError` says that it is no data of that format, has a key twice, or nests too deep; an `ImportError` that the
    library of the format is missing.
    """
    try:
        plain = _PARSERS[ending](text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level: list[object] = [plain]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
            # a number of many digits takes long to print
            elif isinstance(one, int) and one.bit_length() > 64:
                raise ValueError("has an integer of more than 64 bits: no value is that large. Correct it.")
        level = below
    if level:
        raise ValueError(_TOO_DEEP)
    return plain


def render(plain: object, ending: str) -> str:
    """A text of which `parse` makes the same data; an `ImportError` if the library of the format is missing."""
    return _RENDERERS[ending](plain)


_TOO_DEEP = f"nests too deep: must be at most {MAX_DEPTH} levels. Write motors by pattern."


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"has the key {key[:200]!r} twice: must be there once. Remove one.")
        found[key] = value
    return found


def _render_json(plain: object) -> str:
    return json.dumps(_infinity_as_text(plain), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _infinity_as_text(plain: object) -> object:
    """Return the same with infinity as text, which JSON does not have."""
    if isinstance(plain, dict):
        return {key: _infinity_as_text(value) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_infinity_as_text(value) for value in plain]
    return "inf" if plain == math.inf else plain


def _parse_toml(text: str) -> object:
    import tomllib

    # its time grows with the square of the parts of a dotted key
    if re.search(rf"(?:\.[^.,\n]*){{{_MAX_DOTS}}}", text):
        raise ValueError(f"has a key of {_MAX_DOTS} parts: must be at most {MAX_DEPTH}. Shorten it.")
    return tomllib.loads(text)


def _render_toml(plain: Mapping[str, object]) -> str:
    with needs("a TOML file", "files"):
        import tomli_w
    return tomli_w.dumps(plain)


def _parse_yaml(text: str) -> object:
    yaml = _yaml()
    try:
        return yaml.load(text, Loader=_yaml_classes()[0])
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{', '.join(filter(None, (error.context, error.problem)))}{place}.") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{' '.join(str(error).split())}.") from None


def _render_yaml(plain: object) -> str:
    yaml = _yaml()
    # innermost mappings on one line: `controller: {law: pd, kp: 80.0}`
    return yaml.dump(plain, Dumper=_yaml_classes()[1], sort_keys=False, allow_unicode=True, width=math.inf)


# complexity 15 is that of the methods: the classes derive from PyYAML's, which may be missing
@functools.cache
def _yaml_classes() -> tuple[Any, Any]:
    """Return PyYAML's safe loader and dumper, with the words of YAML 1.2, without references and repeated keys."""
    yaml = _yaml()

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, object] = {}  # noqa: RUF012
        nodes = depth = 0

        def compose_node(self, parent: object, index: object) -> object:
            self.nodes += 1
            if self.nodes > MAX_YAML_NODES:
                raise ValueError(f"has more than {MAX_YAML_NODES} keys and values: write numbers by pattern, or JSON.")
            if self.depth > MAX_DEPTH:
                raise ValueError(_TOO_DEEP)
            event = self.peek_event()
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise yaml.composer.ComposerError(
                    None, None, "has an anchor or alias: references are not followed, write the value itself",
                    event.start_mark,
                )  # fmt: skip
            if getattr(event, "tag", None):
                raise yaml.composer.ComposerError(
                    None, None, "has a tag: files of motors are plain data, remove it", event.start_mark
                )
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> object:
            seen: set[object] = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise yaml.constructor.ConstructorError(None, None, "has a key that is no text", key.start_mark)
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"has the key {key.value[:200]!r} twice: remove one", key.start_mark
                    )
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    class Dumper(yaml.SafeDumper):
        yaml_implicit_resolvers: dict[str, object] = {}  # noqa: RUF012

        def ignore_aliases(self, data: object) -> bool:
            return True

        def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
            is_flat = not any(isinstance(item, dict | list) for item in sequence)
            return super().represent_sequence(tag, sequence, is_flat or flow_style)

        def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
            node = super().represent_mapping(tag, mapping, flow_style)
            # each stage of a motor is one line
            node.flow_style = "law" in mapping or not any(isinstance(one, dict | list) for one in mapping.values())
            return node

    for name, (pattern, first, construct) in _CORE_SCHEMA.items():
        tag = f"tag:yaml.org,2002:{name}"
        for one in (Loader, Dumper):
            one.add_implicit_resolver(tag, re.compile(rf"(?:{pattern})\Z"), [*first, *([""] if name == "null" else [])])
        if construct:
            Loader.add_constructor(tag, lambda loader, node, construct=construct: construct(node.value))
    return Loader, Dumper


def _yaml() -> ModuleType:
    with needs("a YAML file", "files"):
        import yaml
    return yaml


_MAX_DOTS = 100
_parse_json = functools.partial(json.loads, object_pairs_hook=_once)
_PARSERS = {".yaml": _parse_yaml, ".yml": _parse_yaml, ".toml": _parse_toml, ".json": _parse_json}
_RENDERERS = {".yaml": _render_yaml, ".yml": _render_yaml, ".toml": _render_toml, ".json": _render_json}
