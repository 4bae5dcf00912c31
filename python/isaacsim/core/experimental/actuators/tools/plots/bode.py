"""Bode plot of a control loop: magnitude and phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import BLUE, GREY, RED, THICK, THIN, caption, label_ends, panels

if TYPE_CHECKING:
    from .style import Figure


@dataclass(frozen=True)
class FrequencyResponse:
    """Frequency response of the loop of one joint, sampled at each computation of its controller.

    Frequencies ascend to half its rate [Hz]. The open loop is from error to feedback, the closed one from position
    target to position, with the command delay. Gains may grow by the gain margin until the joint vibrates; below 1 it
    does. It is at `phase_crossover` [Hz], where the phase of the open loop crosses −180°; the phase margin [deg] is at
    `gain_crossover` [Hz], where its magnitude falls below 1. The closed loop falls below −3 dB at `bandwidth` [Hz].
    None for what is not.
    """

    joint: str
    frequencies: np.ndarray
    open_loop: np.ndarray
    closed_loop: np.ndarray
    gain_margin: float
    phase_crossover: float | None
    phase_margin: float | None
    gain_crossover: float | None
    bandwidth: float | None


def draw_bode(found: FrequencyResponse) -> Figure:
    """Draw magnitude and phase of open and closed loop, with both margins."""
    drawn, (magnitude, phase) = panels(10, 7, f"{found.joint}: frequency response", rows=2)
    curves = {"open loop": (found.open_loop, BLUE), "target to position": (found.closed_loop, RED)}
    levels, phases = [], []
    for name, (values, color) in curves.items():
        level = 20 * np.log10(np.abs(values))
        turned = np.degrees(np.unwrap(np.angle(values)))
        # the phase of an integrator starts below zero
        turned -= 360.0 * np.ceil((turned[0] - 1.0) / 360.0)
        magnitude.semilogx(found.frequencies, level, color=color, linewidth=THICK)
        phase.semilogx(found.frequencies, turned, color=color, linewidth=THICK)
        levels.append((level, name, color))
        phases.append((turned, name, color))
    magnitude.axhline(0.0, color=GREY, linewidth=THIN)
    phase.axhline(-180.0, color=GREY, linewidth=THIN)
    caption(magnitude, "; ".join(_words(found)))
    beside: dict[str, Any] = {"textcoords": "offset points", "color": BLUE, "ha": "right"}
    if found.phase_crossover is not None:
        level = -20 * np.log10(found.gain_margin)
        magnitude.plot([found.phase_crossover] * 2, [level, 0.0], color=BLUE, linewidth=THIN, marker="_")
        # the open loop is above it: its magnitude falls with the frequency
        place = found.phase_crossover, min(level, 0.0)
        magnitude.annotate(f"gain margin {found.gain_margin:.3g}", place, (-4, -4), va="top", **beside)
    if found.phase_margin is not None and found.gain_crossover is not None:
        ends = [-180.0, found.phase_margin - 180.0]
        phase.plot([found.gain_crossover] * 2, ends, color=BLUE, linewidth=THIN, marker="_")
        place = found.gain_crossover, sum(ends) / 2
        phase.annotate(f"{found.phase_margin:.3g}°", place, (-6, 0), va="center", **beside)
    low, high = min(level.min() for level, *_ in levels), max(level.max() for level, *_ in levels)
    magnitude.set_ylim(max(low, -80.0) - 5, min(high, 80.0) + 5)
    phase.set_ylim(max(min(turned.min() for turned, *_ in phases), -720.0) - 15, 15)
    magnitude.set_ylabel("magnitude [dB]")
    phase.set_ylabel("phase [deg]")
    phase.set_xlabel("frequency [Hz]")
    label_ends(magnitude, levels)
    label_ends(phase, phases)
    return drawn


def _words(found: FrequencyResponse) -> list[str]:
    """Return the margins in words."""
    words = [f"Gain margin {found.gain_margin:.3g}" if found.gain_margin > 1 else "Vibrates"]
    if found.phase_margin is not None and found.gain_crossover is not None:
        words.append(f"phase margin {found.phase_margin:.3g}° at {found.gain_crossover:.3g} Hz")
    if found.bandwidth is not None:
        words.append(f"bandwidth {found.bandwidth:.3g} Hz (-3 dB)")
    return words
