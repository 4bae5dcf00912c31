"""The laws in C99: all functions of the laws that a header may have, in an order in which a compiler reads them."""

import re

from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.tools.export.c_laws import functions
from isaacsim.core.experimental.actuators.tools.export.c_stage import LINES


def test_laws_of_carried_kinds_have_twins() -> None:
    """All functions of each law, but of networks and of the delay in steps, which is no law."""
    for law in catalogue.laws():
        if law.kind in LINES and law.component.LAW is not None:
            one = law.component
            called = (one.LAW, one.PREPARE, one.MOTOR, one.FELT, one.TICK)
            assert {one.func.__name__ for one in called if one is not None} <= set(functions()), law.name


def test_nothing_of_cpp_is_left() -> None:
    """Types, templates and constants are those of C, and each text returns what its head says."""
    for name, (results, text) in functions().items():
        returned = f"@values_{results}" if results > 1 else "float"
        assert text.startswith(f"static inline {returned} @{name}("), name
        assert not re.search(r"\bauto\b|\bV\b|splat|Values|kNaN|kInfinity|template|<V>", text), name
        assert max(map(len, text.splitlines())) <= 118, name
