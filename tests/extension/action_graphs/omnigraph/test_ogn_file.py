"""`.ogn` files that hold no node, or a wrong one."""

import re

from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_file import parse_ogn
from refusals import cases, refused


@cases(
    "text, message",
    ('{"a.A": {"description": "a"}, "a.B": {"description": "b"}}', "a.ogn: 2 nodes: must hold exactly one"),
    ('{"a.A": {"description": "a", "inputs": {"x": {"description": "x"}}}}', "a.ogn: inputs:x: 'type'"),
    (
        '{"a.A": {"description": "a", "inputs": {"x": {"type": "int", "default": "1", "description": "x"}}}}',
        "a.ogn: inputs:x: '1': must be int",
    ),
)
def test_wrong_file_is_refused_with_the_place(text, message) -> None:
    refused(ValueError, lambda: parse_ogn(text, "a.ogn"), re.escape(message))
