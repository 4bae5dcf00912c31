"""Conventions of brushless motors, and the DC winding that is equal to three phases.

    R_ph = R_ll/2                    of a star, between terminals;  a delta of R_Δ is a star of R_Δ/3:  R_ll = ⅔·R_Δ
    K_amp = 1.5·p·λ = K_rms/√2       torque per amplitude, and per effective value, of a phase current
    P = 1.5·Î²·R_ph = ¾·Î²·R_ll      copper loss of sine currents of amplitude Î

Sine commutation is the DC winding with K = K_amp, R = 1.5·R_ph and 1.5 times the q voltage, whose largest amplitude is
V_dc/√3 with space vectors: so the voltage is 1.5·V_dc/√3 = .866·V_dc. Without that factor the no-load speed is wrong.
Block commutation has the DC current in two phases at a time: K and R_ll of the data sheet as they are, factor 1.
Inductances go as resistances.
Source: J. F. Gieras, Permanent Magnet Motor Technology, 3rd ed. 2010, ch. 5; D. C. Hanselman, Brushless Permanent
Magnet Motor Design, 2003, ch. 10, for the two commutations.
"""

from __future__ import annotations

import math
from typing import Final, Literal

Windings = Literal["line_to_line", "phase"]
Connection = Literal["star", "delta"]
Constant = Literal["amplitude", "rms"]
Commutation = Literal["sine", "block"]

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "resistance_of": ("line_to_line", "phase"),
    "connection": ("star", "delta"),
    "constant_of": ("amplitude", "rms"),
    "commutation": ("sine", "block"),
}
"""Words of each convention."""

# of resistance and inductance, and of the voltage
_FACTORS: Final = {"sine": (0.75, math.sqrt(0.75)), "block": (1.0, 1.0)}


def equal_winding(
    torque_constant: float,
    resistance: float,
    voltage: float,
    inductance: float,
    *,
    resistance_of: str,
    connection: str,
    constant_of: str,
    commutation: str,
) -> dict[str, float]:
    """Return the numbers of the equal DC winding: K, R, L, its voltage, and DC current per ampere of the constant.

    Raises ValueError if a word is none of its convention, or block commutation has an effective value.
    """
    words = {
        "resistance_of": resistance_of,
        "connection": connection,
        "constant_of": constant_of,
        "commutation": commutation,
    }
    if odd := [
        f"{name} = {word!r}: must be one of {', '.join(map(repr, CHOICES[name]))}. Correct the word."
        for name, word in words.items()
        if word not in CHOICES[name]
    ]:
        raise ValueError("\n".join(odd))
    if commutation == "block" and constant_of == "rms":
        raise ValueError(
            "constant_of = 'rms' beside commutation = 'block': must be 'amplitude', as the current of blocks is that "
            "of the DC side. Correct either."
        )
    # between terminals
    lines = 1.0 if resistance_of == "line_to_line" else 2.0 if connection == "star" else 2.0 / 3.0
    of_lines, of_voltage = _FACTORS[commutation]
    equal = lines * of_lines
    per_amplitude = 1.0 / math.sqrt(2.0) if constant_of == "rms" else 1.0
    return {
        "torque_constant": torque_constant * per_amplitude,
        "resistance": resistance * equal,
        "inductance": inductance * equal,
        "voltage": voltage * of_voltage,
        "current": 1.0 / per_amplitude,
    }
