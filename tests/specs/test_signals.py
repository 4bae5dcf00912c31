"""The table of signals that laws may ask for."""

import math

from isaacsim.core.experimental.actuators.specs.signals import SIGNALS, SUMMED


def test_table() -> None:
    assert list(SIGNALS) == [signal.name for signal in SIGNALS.values()]
    assert all(name.isidentifier() and signal.words for name, signal in SIGNALS.items())
    assert not any(math.isnan(signal.neutral) for signal in SIGNALS.values())
    assert [name for name, signal in SIGNALS.items() if signal.is_unbounded] == ["supply_voltage"]


def test_totals_add_up_what_laws_may_publish() -> None:
    """A total begins at 0, and so do its terms."""
    totals = [signal for signal in SIGNALS.values() if signal.total_of]
    assert [(signal.name, signal.total_of) for signal in totals] == [
        ("robot_power", "power"),
        ("robot_losses", "loss_power"),
        ("robot_effort", "effort_magnitude"),
    ]
    assert {signal.total_of for signal in totals} == SUMMED
    for signal in totals:
        part = SIGNALS[signal.total_of]
        assert not part.total_of and part.unit == signal.unit and part.neutral == signal.neutral == 0.0
