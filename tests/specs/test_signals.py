"""The table of signals that laws may ask for."""

from __future__ import annotations

import math

from isaacsim.core.experimental.actuators.specs.signals import SIGNALS


def test_table() -> None:
    """Names are those of the lines, each a word of the language; every neutral value is a number."""
    assert list(SIGNALS) == [signal.name for signal in SIGNALS.values()]
    assert all(name.isidentifier() and signal.words for name, signal in SIGNALS.items())
    assert all(math.isfinite(signal.neutral) for signal in SIGNALS.values())
